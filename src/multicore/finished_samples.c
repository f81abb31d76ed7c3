/* finished_samples.c - see finished_samples.h. */
#include "multicore/finished_samples.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/rounding.h"
#include "estimate/statistics.h"
#include "distance/count/accumulate.h"

int rsc_finished_samples_init(struct rsc_finished_samples *sum, double confidence, uint64_t rd_cap,
                              uint32_t bins_per_octave) {
    size_t fine = rsc_bins_count(RSC_BINS_FINE);
    double **arrays[] = {&sum->rd,      &sum->ri,        &sum->rd_least,      &sum->rd_most,
                         &sum->certain, &sum->maybe,     &sum->given_up,      &sum->pruned,
                         &sum->last,    &sum->ri_of_all, &sum->pruned_of_all, &sum->last_of_all};
    memset(sum, 0, sizeof *sum);
    sum->confidence = confidence;
    sum->z = rsc_normal_quantile(0.5 + confidence / 200);
    sum->rd_cap = rd_cap;
    sum->bins_per_octave = bins_per_octave;
    sum->kept_weighs = sum->kept_of_all_weighs = 1;
    int failed = rsc_burst_groups_init(&sum->groups) < 0 || rsc_burst_groups_init(&sum->groups_of_all) < 0;
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) {
        *arrays[i] = calloc(fine, sizeof **arrays[i]);
        failed |= !*arrays[i];
    }
    if (bins_per_octave) {
        sum->binned_count = rsc_bins_count(rsc_bins_per_octave(bins_per_octave));
        sum->rd_binned = calloc(sum->binned_count, sizeof *sum->rd_binned);
        sum->ri_binned = calloc(sum->binned_count, sizeof *sum->ri_binned);
        failed |= !sum->rd_binned || !sum->ri_binned;
    }
    if (!failed && rsc_sampled_sharing_init(&sum->sharing) == 0) return 0;
    rsc_finished_samples_free(sum);
    return RSC_ENOMEM;
}

void rsc_finished_samples_free(struct rsc_finished_samples *sum) {
    double *arrays[] = {
        sum->rd,     sum->ri,   sum->rd_least,  sum->rd_most,       sum->certain,     sum->maybe,     sum->given_up,
        sum->pruned, sum->last, sum->ri_of_all, sum->pruned_of_all, sum->last_of_all, sum->rd_binned, sum->ri_binned};
    for (size_t i = 0; i < sizeof arrays / sizeof *arrays; i++) free(arrays[i]);
    for (uint32_t i = 0; i < sum->thread_count; i++) free(sum->threads[i].rd);
    free(sum->threads);
    rsc_sampled_sharing_free(&sum->sharing);
    rsc_burst_groups_free(&sum->groups);
    rsc_burst_groups_free(&sum->groups_of_all);
    memset(sum, 0, sizeof *sum);
}

int rsc_finished_samples_see_thread(struct rsc_finished_samples *sum, uint32_t number) {
    uint32_t wanted = number < RSC_THREAD_ROWS_MAX ? number + 1 : RSC_THREAD_ROWS_MAX;
    if (wanted <= sum->thread_count) return 0;
    struct rsc_finished_row *rows = realloc(sum->threads, wanted * sizeof *rows);
    if (!rows) return RSC_ENOMEM;
    sum->threads = rows;
    while (sum->thread_count < wanted) {
        struct rsc_finished_row *row = &rows[sum->thread_count];
        *row = (struct rsc_finished_row){.tid = sum->thread_count};
        row->rd = calloc(rsc_bins_count(RSC_BINS_COARSE), sizeof *row->rd);
        if (!row->rd) return RSC_ENOMEM;
        sum->thread_count++;
    }
    return 0;
}

#define MEMORY_MAX 0x1p62 /* bytes: no program has used more, whatever it wrote over its ring */

/* ---- counting ---- */

/* A distance that is only known to within `off`. */
static void count_around(struct rsc_finished_samples *sum, double distance, double off, double weight) {
    uint32_t least = rsc_bin_of_fine((uint64_t)fmax(0, distance - off)),
             most = rsc_bin_of_fine((uint64_t)(distance + off));
    sum->rd_least[least] += weight;
    sum->rd_most[most] += weight;
    if (least == most) sum->certain[least] += weight;
    for (uint32_t bin = least; bin <= most; bin++) sum->maybe[bin] += weight;
}

/* At least that many lines were there at once: a stack grows only when it has no holes. */
static void see_distance(struct rsc_finished_samples *sum, const struct rsc_sample_record *record) {
    const uint64_t least = record->distance - (record->variance > 0 ? record->distance / 16 : 0);
    if (least > sum->farthest) sum->farthest = least;
}

static void count_reuse(struct rsc_finished_samples *sum, const struct rsc_sample_record *record) {
    double weight = record->weight;
    uint64_t distance = record->distance, interval = record->interval ? record->interval : 1;
    int capped = sum->rd_cap && distance >= sum->rd_cap;
    sum->ri[rsc_bin_of_fine(interval)] += weight;
    if (capped) sum->capped += weight;
    else sum->rd[rsc_bin_of_fine(distance)] += weight;
    count_around(sum, (double)distance, sum->z * sqrt(record->variance), weight);
    if (sum->rd_binned) {
        struct rsc_bins bins = rsc_bins_per_octave(sum->bins_per_octave);
        sum->rd_binned[rsc_bin_of(bins, capped ? sum->rd_cap : distance)] += weight;
        sum->ri_binned[rsc_bin_of(bins, interval)] += weight;
    }
    if (record->use.thread < sum->thread_count)
        sum->threads[record->use.thread].rd[rsc_bin_of_coarse(capped ? sum->rd_cap : distance)] += weight;
    sum->sketched += record->variance > 0;
    see_distance(sum, record);
}

static void tally_alike(struct rsc_sample_tally *tally, const struct rsc_sample_record *record, uint32_t burst,
                        uint64_t alike) {
    const double together = record->weight * (record->burst && burst ? burst : 1);
    const double weight = record->weight * (double)alike;
    tally->samples += alike;
    tally->weight += weight;
    tally->spread += weight * (record->weight - 1);
    tally->outcome[record->outcome] += weight;
    if (together > tally->largest) tally->largest = together;
}

static void tally(struct rsc_sample_tally *tally, const struct rsc_sample_record *record, uint32_t burst) {
    tally_alike(tally, record, burst, 1);
}

static double weigh_kept(struct rsc_judged_weight judged) {
    if (!(judged.kept > 0)) return judged.dropped > 0 ? 0 : 1;
    return (judged.kept + judged.dropped) / judged.kept;
}

void rsc_finished_samples_weigh_kept(struct rsc_finished_samples *sum, struct rsc_judged_weight own,
                                     struct rsc_judged_weight of_all) {
    sum->kept_weighs = weigh_kept(own);
    sum->kept_of_all_weighs = weigh_kept(of_all);
}

/* Counts a sample for the bars; what remains to be counted, or 0: nothing. */
static int judge(struct rsc_burst_groups *groups, double kept_weighs, const struct rsc_sample_record *record,
                 struct rsc_sample_record *rest) {
    *rest = *record;
    if (rest->outcome == RSC_SAMPLE_DROPPED && !(kept_weighs > 0)) rest->outcome = RSC_SAMPLE_PRUNED;
    rsc_burst_groups_add(groups, rest);
    if (rest->kept) rest->weight *= fmax(1, kept_weighs);
    return rest->outcome != RSC_SAMPLE_DROPPED && rest->outcome != RSC_SAMPLE_KEPT;
}

/* The place of its interval in a histogram. */
static double *wait_of(double *histogram, const struct rsc_sample_record *record) {
    return &histogram[rsc_bin_of_fine(record->interval ? record->interval : 1)];
}

void rsc_finished_samples_take_shared(struct rsc_finished_samples *sum, const struct rsc_sample_record *sample) {
    struct rsc_sample_record record;
    if (!judge(&sum->groups_of_all, sum->kept_of_all_weighs, sample, &record)) return;
    tally(&sum->of_all, &record, sum->burst);
    if (record.outcome == RSC_SAMPLE_REUSED) {
        *wait_of(sum->ri_of_all, &record) += record.weight;
        see_distance(sum, &record);
    }
    if (record.outcome == RSC_SAMPLE_PRUNED) *wait_of(sum->pruned_of_all, &record) += record.weight;
    if (record.outcome == RSC_SAMPLE_LAST_TOUCH) *wait_of(sum->last_of_all, &record) += record.weight;
}

void rsc_finished_samples_take(struct rsc_finished_samples *sum, const struct rsc_sample_record *sample) {
    struct rsc_sample_record weighed, *record = &weighed;
    if (!judge(&sum->groups, sum->kept_weighs, sample, record)) return;
    double weight = record->weight;
    struct rsc_finished_row *row = record->use.thread < sum->thread_count ? &sum->threads[record->use.thread] : NULL;
    tally(&sum->tally, record, sum->burst);
    if (row) row->weight += weight;
    if (row && (record->outcome == RSC_SAMPLE_INVALIDATED || record->outcome == RSC_SAMPLE_TAKEN))
        row->invalidated += weight;
    if (record->outcome == RSC_SAMPLE_REUSED) count_reuse(sum, record);
    if (record->outcome == RSC_SAMPLE_PRUNED || record->outcome == RSC_SAMPLE_CENSORED)
        sum->given_up[rsc_bin_of_fine(record->distance)] += weight;
    if (record->outcome == RSC_SAMPLE_PRUNED) *wait_of(sum->pruned, record) += weight;
    if (record->outcome == RSC_SAMPLE_LAST_TOUCH) *wait_of(sum->last, record) += weight;
}

void rsc_finished_samples_take_unfinished(struct rsc_finished_samples *sum, const struct rsc_unfinished *unfinished,
                                          int of_all) {
    const uint64_t alike = unfinished->count;
    const int is_last = !unfinished->censored;
    struct rsc_sample_record record = {.outcome = is_last ? RSC_SAMPLE_LAST_TOUCH : RSC_SAMPLE_CENSORED,
                                       .kept = unfinished->kept,
                                       .weight = unfinished->weight};
    if (!alike) return;
    for (uint32_t group = 0; group < RSC_BURST_GROUPS; group++) { /* dealt as if they came one by one */
        struct rsc_sample_record part = record;
        part.weight *= (double)(alike / RSC_BURST_GROUPS + (group < alike % RSC_BURST_GROUPS));
        if (part.weight > 0) rsc_burst_groups_add(of_all ? &sum->groups_of_all : &sum->groups, &part);
    }
    if (record.kept) record.weight *= fmax(1, of_all ? sum->kept_of_all_weighs : sum->kept_weighs);
    tally_alike(of_all ? &sum->of_all : &sum->tally, &record, sum->burst, alike);
    const double weight = record.weight * (double)alike;
    if (is_last) *(of_all ? &sum->unfinished_of_all : &sum->unfinished) += weight;
    else if (!of_all) sum->given_up[rsc_bin_of_fine(0)] += weight;
}

/* ---- bars ---- */

static double size_of(const struct rsc_sample_tally *tally) {
    if (!(tally->weight > 0)) return 0;
    return tally->spread > 0 ? tally->weight * tally->weight / tally->spread : INFINITY;
}

double rsc_finished_samples_size(const struct rsc_finished_samples *sum) { return size_of(&sum->tally); }

void rsc_wilson(double p, double n, double z, double *low, double *high) {
    if (isinf(n)) {
        *low = *high = p;
        return;
    }
    *low = 0;
    *high = 1;
    if (!(n > 0)) return;
    double shrink = 1 + z * z / n, centre = (p + z * z / (2 * n)) / shrink;
    double half = z / shrink * sqrt(p * (1 - p) / n + z * z / (4 * n * n));
    /* at the ends, rounding must not exclude the true value */
    *low = p <= 0 ? 0 : fmax(0, centre - half);
    *high = p >= 1 ? 1 : fmin(1, centre + half);
}

/* Sums from each bin to the last, into a copy with one more entry; NULL: out of memory. */
static double *tails_of(const double *count, uint32_t bins) {
    double *tail = calloc(bins + 1ull, sizeof *tail);
    for (uint32_t bin = bins; tail && bin-- > 0;) tail[bin] = tail[bin + 1] + count[bin];
    return tail;
}

static double within(double value) { return fmin(1, fmax(0, value)); }

static int draw_curve(const struct rsc_finished_samples *sum, struct rsc_profile *profile) {
    uint32_t bins = profile->rd.bin_count;
    if (rsc_profile_derive_mrc(profile) < 0) return RSC_ENOMEM;
    double *rd = tails_of(sum->rd, bins), *least = tails_of(sum->rd_least, bins), *most = tails_of(sum->rd_most, bins);
    double *given_up = tails_of(sum->given_up, bins), size = rsc_finished_samples_size(sum), low, high, unused;
    double *effect = calloc(bins + 1ull, sizeof *effect), *unneeded = calloc(bins, sizeof *unneeded);
    int failed = !rd || !least || !most || !given_up || !effect || !unneeded;
    if (!failed) rsc_burst_effects(&sum->groups, size, unneeded, effect);
    if (!failed) effect[bins] = 1;
    const double *outcome = sum->tally.outcome, weight = sum->tally.weight;
    double known = weight - outcome[RSC_SAMPLE_CENSORED], pruned = outcome[RSC_SAMPLE_PRUNED];
    double always =
        outcome[RSC_SAMPLE_INVALIDATED] + outcome[RSC_SAMPLE_TAKEN] + outcome[RSC_SAMPLE_LAST_TOUCH] + sum->capped;
    for (size_t i = 0; !failed && i < profile->mrc_count; i++) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        uint32_t bin = rsc_bin_of_fine(point->lines);
        bin += rsc_bin_lo(RSC_BINS_FINE, bin) != point->lines; /* the last point, inside of a bin that hits */
        point->miss_ratio = known > 0 ? within((rd[bin] + always + pruned) / known) : 1;
        rsc_wilson(weight > 0 ? within((least[bin] + given_up[bin] + always) / weight) : 0, size / effect[bin], sum->z,
                   &low, &unused);
        rsc_wilson(weight > 0 ? within((most[bin] + always + pruned + outcome[RSC_SAMPLE_CENSORED]) / weight) : 1,
                   size / effect[bin], sum->z, &unused, &high);
        point->low = fmin(low, point->miss_ratio);
        point->high = fmax(high, point->miss_ratio);
    }
    free(rd);
    free(least);
    free(most);
    free(given_up);
    free(effect);
    free(unneeded);
    return failed ? RSC_ENOMEM : 0;
}

static int draw_bins(const struct rsc_finished_samples *sum, struct rsc_profile *profile) {
    double size = rsc_finished_samples_size(sum), references = (double)profile->references, low, high, unused;
    const double weight = sum->tally.weight;
    if (isinf(size) || !(weight > 0)) return 0;
    if (rsc_profile_set_bars(profile) < 0) return RSC_ENOMEM;
    double *effect = calloc(profile->rd.bin_count, sizeof *effect),
           *unneeded = calloc(profile->rd.bin_count, sizeof *unneeded);
    int failed = !effect || !unneeded;
    if (!failed) rsc_burst_effects(&sum->groups, size, effect, unneeded);
    for (uint32_t bin = 0; !failed && bin < profile->rd.bin_count; bin++) {
        uint64_t count = profile->rd.count[bin];
        if (!count) continue;
        rsc_wilson(within(sum->certain[bin] / weight), size / effect[bin], sum->z, &low, &unused);
        rsc_wilson(within(sum->maybe[bin] / weight), size / effect[bin], sum->z, &unused, &high);
        uint64_t least = (uint64_t)(low * references), most = (uint64_t)ceil(high * references);
        profile->rd_low.count[bin] = least < count ? least : count;
        profile->rd_high.count[bin] = most > count ? (most < profile->references ? most : profile->references) : count;
    }
    free(effect);
    free(unneeded);
    return failed ? RSC_ENOMEM : 0;
}

/* ---- the profile ---- */

static double sum_of(const double *count, uint32_t bins) {
    double sum = 0;
    for (uint32_t bin = 0; bin < bins; bin++) sum += count[bin];
    return sum;
}

/* Fills a histogram with `total` counts in the proportion of `count`. */
static void spread_out(const double *count, struct rsc_histogram *into, uint64_t total) {
    double sum = sum_of(count, into->bin_count);
    struct rsc_running_round rounding = {0, sum > 0 ? (double)total / sum : 0, 0, total};
    uint32_t last = 0;
    for (uint32_t bin = 0; bin < into->bin_count; bin++) {
        into->count[bin] = rsc_round_next(&rounding, count[bin]);
        if (count[bin] > 0) last = bin;
    }
    if (sum > 0) into->count[last] += total - rounding.given;
}

/* How long samples waited, by interval: those reused, given up, and never reused. */
struct waits {
    const struct rsc_sample_tally *tally;
    const double *reused, *pruned, *last;
    double unfinished; /* of those never reused, the ones whose wait is not known */
    double stacks;     /* whose own references intervals count; 1 if those of all threads */
};

/*
 * The weight of last touches: those seen, and of the pruned ones the share that last touches have among samples that
 * waited for longer. Last touches near the end of a run did not wait for long, and say nothing about those. How many of the
 * unfinished ones these are follows from the share of samples that still wait after each interval, as one reference of
 * each stack is that far from its end. Where no sample is known to have waited for longer, either may be true.
 */
static double last_touches(const struct waits *waits, uint32_t bins) {
    const double never = waits->tally->outcome[RSC_SAMPLE_LAST_TOUCH], all = waits->tally->weight;
    double waiting = waits->unfinished, more = 0;
    for (uint32_t bin = 0; bin < bins; bin++) waiting += waits->reused[bin] + waits->pruned[bin] + waits->last[bin];
    double reused = 0, last = 0, early = 0;
    for (uint32_t bin = 0; bin < bins; bin++) reused += waits->reused[bin], last += waits->last[bin];
    for (uint32_t bin = 0; bin < bins && waiting > 0; bin++) {
        const double longer = last + fmax(0, waits->unfinished - early);
        more += waits->pruned[bin] * (reused + longer > 0 ? longer / (reused + longer) : 0.5);
        if (bin + 1 < bins)
            early += waits->stacks * waiting / all *
                     (double)(rsc_bin_lo(RSC_BINS_FINE, bin + 1) - rsc_bin_lo(RSC_BINS_FINE, bin));
        waiting -= waits->reused[bin] + waits->pruned[bin] + waits->last[bin];
        reused = fmax(0, reused - waits->reused[bin]);
        last = fmax(0, last - waits->last[bin]);
    }
    return never + more;
}

/* The bar of a number of references: at least those of weight `least`, at most `most`, of `size` samples in effect. */
static struct rsc_count_bar bar_of(const struct rsc_finished_samples *sum, const struct rsc_sample_tally *tally,
                                   double size, double least, double most, uint64_t references) {
    double low, high, unused;
    if (!(tally->weight > 0)) return (struct rsc_count_bar){1, 0, references};
    rsc_wilson(within(least / tally->weight), size, sum->z, &low, &unused);
    rsc_wilson(within(most / tally->weight), size, sum->z, &unused, &high);
    low *= (double)references;
    high *= (double)references;
    /* of every reference sampled, whole numbers are left, but for rounding */
    if (isinf(size)) return (struct rsc_count_bar){1, (uint64_t)llround(low), (uint64_t)llround(high)};
    return (struct rsc_count_bar){1, (uint64_t)low, (uint64_t)ceil(high)};
}

static struct rsc_count_bar last_touch_bar(const struct rsc_finished_samples *sum, const struct rsc_sample_tally *tally,
                                           const struct rsc_burst_groups *groups, uint64_t references) {
    double least = tally->outcome[RSC_SAMPLE_LAST_TOUCH], size = size_of(tally);
    size /= rsc_burst_effect(groups, RSC_SAMPLE_LAST_TOUCH, size);
    /* many are at the end of the run, where the period is longest */
    if (tally->largest > 1 && tally->weight / tally->largest < size) size = tally->weight / tally->largest;
    return bar_of(sum, tally, size, least,
                  least + tally->outcome[RSC_SAMPLE_TAKEN] + tally->outcome[RSC_SAMPLE_PRUNED] +
                      tally->outcome[RSC_SAMPLE_CENSORED],
                  references);
}

static void include(struct rsc_count_bar *bar, uint64_t value) {
    if (value < bar->low) bar->low = value;
    if (value > bar->high) bar->high = value;
}

/*
 * Distinct lines: each has one last touch by any thread. Private samples show those of each thread: their sum, which the
 * footprint does not exceed.
 */
static void fill_distinct(const struct rsc_finished_samples *sum, struct rsc_profile *profile) {
    struct rsc_total_bars *bars = &profile->bars;
    const uint32_t bins = profile->rd.bin_count;
    const double references = (double)profile->references;
    double scale = sum->tally.weight > 0 ? references / sum->tally.weight : 0;
    const struct waits own = {&sum->tally, sum->ri,         sum->pruned,
                              sum->last,   sum->unfinished, sum->is_private ? fmax(1, sum->thread_count) : 1};
    const struct waits of_all = {&sum->of_all,     sum->ri_of_all,         sum->pruned_of_all,
                                 sum->last_of_all, sum->unfinished_of_all, 1};
    double lines = scale * last_touches(&own, bins);
    const uint64_t least = profile->references ? sum->farthest + 1 : 0;
    bars->distinct = bars->cold;
    if (sum->of_all.weight > 0) {
        bars->distinct = last_touch_bar(sum, &sum->of_all, &sum->groups_of_all, profile->references);
        if (bars->distinct.high > bars->cold.high) bars->distinct.high = bars->cold.high;
        lines = fmin(lines, references / sum->of_all.weight * last_touches(&of_all, bins));
    } else if (sum->is_private && sum->thread_count > 1) {
        bars->distinct.low = least; /* private samples alone */
    }
    if (bars->distinct.low < least) bars->distinct.low = least;
    if (bars->distinct.high < bars->distinct.low) bars->distinct.high = bars->distinct.low;
    lines = fmin(lines, MEMORY_MAX / (double)profile->made.line_bytes);
    profile->distinct = (uint64_t)llround(lines);
    if (profile->distinct < least) profile->distinct = least;
    include(&bars->distinct, profile->distinct);
}

static void fill_totals(const struct rsc_finished_samples *sum, struct rsc_profile *profile) {
    const double *outcome = sum->tally.outcome, weight = sum->tally.weight;
    struct rsc_running_round rounding = {0, weight > 0 ? (double)profile->references / weight : 0, 0,
                                         profile->references};
    for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++)
        profile->rd.count[bin] = rsc_round_next(&rounding, sum->rd[bin]);
    profile->rd_cap = sum->rd_cap;
    profile->rd_capped = rsc_round_next(&rounding, sum->capped);
    profile->invalidated = rsc_round_next(&rounding, outcome[RSC_SAMPLE_INVALIDATED] + outcome[RSC_SAMPLE_TAKEN]);
    profile->last_touch = rsc_round_next(&rounding, outcome[RSC_SAMPLE_LAST_TOUCH]);
    profile->pruned = rsc_round_next(&rounding, outcome[RSC_SAMPLE_PRUNED]);
    profile->censored = profile->references - rounding.given; /* all of it, if nothing was sampled */
    double shortfall = (double)profile->censored - outcome[RSC_SAMPLE_CENSORED] * rounding.scale;
    /* rounding may leave a remainder of one, which goes to the largest count */
    if (outcome[RSC_SAMPLE_CENSORED] == 0 && weight > 0 && shortfall > 0) {
        uint64_t *most = &profile->last_touch;
        for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++)
            if (profile->rd.count[bin] > *most) most = &profile->rd.count[bin];
        *most += profile->censored;
        profile->censored = 0;
    }
    uint64_t reuses = profile->rd_capped;
    for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++) reuses += profile->rd.count[bin];
    spread_out(sum->ri, &profile->ri, reuses);
    profile->bars.cold = last_touch_bar(sum, &sum->tally, &sum->groups, profile->references);
    const double size = size_of(&sum->tally);
    profile->bars.invalidated =
        bar_of(sum, &sum->tally, size / rsc_burst_effect(&sum->groups, RSC_SAMPLE_INVALIDATED, size),
               outcome[RSC_SAMPLE_INVALIDATED],
               outcome[RSC_SAMPLE_INVALIDATED] + outcome[RSC_SAMPLE_TAKEN] +
                   (sum->is_private ? outcome[RSC_SAMPLE_PRUNED] + outcome[RSC_SAMPLE_CENSORED] : 0),
               profile->references);
    include(&profile->bars.cold, profile->last_touch);
    include(&profile->bars.invalidated, profile->invalidated);
    fill_distinct(sum, profile);
}

static int fill_binned(const struct rsc_finished_samples *sum, struct rsc_profile *profile) {
    if (!sum->bins_per_octave) return 0;
    if (rsc_profile_set_bins(profile, sum->bins_per_octave) < 0) return RSC_ENOMEM;
    uint64_t reuses = rsc_histogram_total(&profile->rd) + profile->rd_capped;
    spread_out(sum->rd_binned, &profile->rd_binned, reuses);
    spread_out(sum->ri_binned, &profile->ri_binned, reuses);
    return 0;
}

static int fill_threads(const struct rsc_finished_samples *sum, struct rsc_profile *profile) {
    if (rsc_profile_set_threads(profile, sum->thread_count) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < sum->thread_count; i++) {
        const struct rsc_finished_row *from = &sum->threads[i];
        struct rsc_thread_row *row = &profile->threads[i];
        row->pid = from->pid;
        row->tid = from->tid;
        row->references = from->references;
        struct rsc_running_round rounding = {0, from->weight > 0 ? (double)from->references / from->weight : 0, 0,
                                             from->references};
        for (uint32_t bin = 0; bin < row->rd.bin_count; bin++)
            row->rd.count[bin] = rsc_round_next(&rounding, from->rd[bin]);
        row->invalidated = rsc_round_next(&rounding, from->invalidated);
        if (from->weight > 0) row->cold = from->references - rounding.given; /* the rest: last touches, or given up */
    }
    return 0;
}

struct rsc_profile *rsc_finished_samples_profile(struct rsc_finished_samples *sum, uint64_t accesses,
                                                 uint64_t references, uint64_t line_bytes) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return NULL;
    profile->made.line_bytes = line_bytes;
    profile->accesses = accesses;
    profile->references = references;
    fill_totals(sum, profile);
    if (fill_binned(sum, profile) < 0 || fill_threads(sum, profile) < 0 || draw_curve(sum, profile) < 0 ||
        draw_bins(sum, profile) < 0) {
        rsc_profile_free(profile);
        return NULL;
    }
    return profile;
}
