/* truth_sample.c - see truth_sample.h. */
#include "distance/time/truth_sample.h"

#include <math.h>
#include <string.h>

#include "estimate/statistics.h"
#include "estimate/held_bar.h"
#include "estimate/jackknife.h"

#define PARTS RSC_SAMPLE_PARTS
#define LINES_SEEN_LEAST 8u /* sampled lines in a distance, for lines to judge it */
/* References judge larger sizes too, while those beyond the window contribute at most this share of the sampling
 * error. */
#define UNDECIDED_MOST 0.2

int rsc_truth_sample_init(struct rsc_truth_sample *sample, uint64_t seed) {
    memset(sample, 0, sizeof *sample);
    int status = rsc_truth_lines_init(&sample->line, seed);
    if (status == 0) status = rsc_window_sample_init(&sample->window, seed);
    if (status < 0) rsc_truth_sample_free(sample);
    return status;
}

void rsc_truth_sample_free(struct rsc_truth_sample *sample) {
    rsc_truth_lines_free(&sample->line);
    rsc_window_sample_free(&sample->window);
}

/* Sizes up to this are always judged by random references. */
static uint64_t window_lines(const struct rsc_truth_sample *sample) {
    return (uint64_t)LINES_SEEN_LEAST << sample->line.rate_shift;
}

int rsc_truth_sample_take(struct rsc_truth_sample *sample, struct rsc_last_use *last, uint64_t distinct_before,
                          const uint64_t *lines, const struct rsc_intervals *found) {
    struct rsc_line_uses uses = {
        lines,        found->sampled,          found->sampled_count,  NULL, last->now - found->count,
        found->count, (double)distinct_before, (double)last->distinct};
    rsc_truth_lines_take(&sample->line, &uses);
    last->rate_shift = sample->line.rate_shift;
    return rsc_window_sample_take(&sample->window, lines, found->ri, found->count, window_lines(sample));
}

int rsc_truth_sample_take_watched(struct rsc_truth_sample *sample, struct rsc_use_watch *watch, double distinct_before,
                                  const uint64_t *lines, uint32_t count, const struct rsc_watch_found *found) {
    struct rsc_line_uses uses = {found->line,        found->sampled, found->sampled_count, found->index,
                                 watch->now - count, count,          distinct_before,      rsc_use_watch_lines(watch)};
    rsc_truth_lines_take(&sample->line, &uses);
    watch->rate_shift = sample->line.rate_shift;
    return rsc_window_sample_take_bursts(&sample->window, lines, count, window_lines(sample));
}

/* ---- estimates ---- */

/* Turns counts per bin into counts of this bin and all above. */
static void sum_up(uint64_t *count, uint32_t bins) {
    for (uint32_t bin = bins - 1; bin-- > 0;) count[bin] += count[bin + 1];
}
static void sum_up_weighted(double *count, uint32_t bins) {
    for (uint32_t bin = bins - 1; bin-- > 0;) count[bin] += count[bin + 1];
}

/* A place in a histogram of tails: values >= some value, which is in `bin`, with `share` of the bin above it. */
struct cut {
    uint32_t bin;
    double share;
};

static struct cut cut_at(uint64_t value) {
    uint32_t bin = rsc_bin_of_fine(value);
    uint64_t lo = rsc_bin_lo(RSC_BINS_FINE, bin), hi = rsc_bin_hi(RSC_BINS_FINE, bin);
    return (struct cut){bin, ((double)(hi - value) + 1) / ((double)(hi - lo) + 1)};
}

static double tail(const uint64_t *sums, struct cut cut) {
    double above = (double)sums[cut.bin + 1];
    return above + cut.share * ((double)sums[cut.bin] - above);
}
static double tail_weighted(const double *sums, struct cut cut) {
    return sums[cut.bin + 1] + cut.share * (sums[cut.bin] - sums[cut.bin + 1]);
}

struct estimate {
    double value, error; /* references; error NaN: no estimate */
    double least; /* the weight of one sampled reference */
    double freedom;
    double undecided; /* references that may be counted wrongly: their intervals were not known for long enough */
};

/* How many more references miss by their intervals than really do, estimated by the lines. */
static struct estimate residual_by_lines(const struct rsc_truth_lines *line, struct cut rd, struct cut ri) {
    double predicted = 0, by_part[PARTS], without[PARTS];
    for (uint32_t part = 0; part < PARTS; part++)
        predicted += by_part[part] = tail(line->ri + (size_t)part * line->bin_count, ri);
    double value = predicted - tail(line->rd + (size_t)PARTS * line->bin_count, rd);
    for (uint32_t part = 0; part < PARTS; part++) {
        double true_misses = tail(line->rd + (size_t)part * line->bin_count, rd);
        without[part] = (predicted - by_part[part] - true_misses) * PARTS / (PARTS - 1);
    }
    double missed = 1 - 1 / (double)(1ull << line->rate_shift); /* no sampling error when all are sampled */
    double least = line->rate_shift ? (double)(1ull << line->rate_shift) : 0;
    return (struct estimate){value, rsc_jackknife_error(without, PARTS) * sqrt(missed), least, PARTS - 1, 0};
}

/* The same by random references, for a trace of this many. */
static struct estimate residual_by_windows(const struct rsc_window_sample *window, struct cut rd, struct cut ri,
                                           uint64_t references) {
    double first = tail(window->first_ri, ri) - tail(window->first_rd, rd);
    if (window->first == references) return (struct estimate){first, 0, 0, PARTS - 1, 0};
    uint32_t parts = window->samples < PARTS ? (uint32_t)window->samples : PARTS;
    if (parts < 3) return (struct estimate){0, NAN, 0, 1, INFINITY};
    double residual = 0, of = 0, by_part[PARTS], without[PARTS];
    for (uint32_t part = 0; part < parts; part++) {
        by_part[part] = tail_weighted(window->part_ri + (size_t)part * window->bin_count, ri) -
                        tail_weighted(window->part_rd + (size_t)part * window->bin_count, rd);
        residual += by_part[part];
        of += window->part_references[part];
    }
    double rest = (double)(references - window->first);
    for (uint32_t part = 0; part < parts; part++)
        without[part] = rest * (residual - by_part[part]) / (of - window->part_references[part]);
    /* the weight of a reference found by chance, as a wrongly predicted one would be */
    double least = rest / of * window->squares / of;
    double undecided = rest / of * (window->beyond[0] - tail_weighted(window->beyond, rd));
    if (rsc_bin_lo(RSC_BINS_FINE, ri.bin) > window->burst_least) undecided = INFINITY;
    return (struct estimate){first + rest * residual / of, rsc_jackknife_error(without, parts), least, parts - 1.0,
                             undecided};
}

/* Intervals at or above a value, queried in descending order. */
struct descent {
    const struct rsc_histogram *histogram;
    uint32_t at; /* bins from here on are in the sum */
    uint64_t sum;
};

static double descend_to(struct descent *descent, struct cut cut) {
    while (descent->at > cut.bin + 1) descent->sum += descent->histogram->count[--descent->at];
    return (double)descent->sum + cut.share * (double)descent->histogram->count[cut.bin];
}

/* Distances are counted in sampled lines and scaled to all lines, whose number may be off by this share. */
static double error_sideways(const struct rsc_truth_lines *line, uint64_t lines, double share) {
    const uint64_t *rd = line->rd + (size_t)PARTS * line->bin_count;
    uint64_t off = (uint64_t)((double)lines * share + 0.5);
    return off && off < lines ? (tail(rd, cut_at(lines - off)) - tail(rd, cut_at(lines + off))) / 2 : 0;
}

static double variance_at(const struct rsc_interval_chance *chance, struct cut ri) {
    return chance->variance[ri.share < 0.5 ? ri.bin + 1 : ri.bin];
}

/* At one size, if intervals are those of a sample. */
struct shared {
    double variance; /* of the number of intervals long enough to miss, and of the part due to the number of lines */
    double with_model; /* its correlation with the former, which the model's number has too */
};

/* `sideways`: the error of the true ratio if the lines are off by one standard deviation; the same error moves both. */
static struct shared shared_chance(const struct rsc_interval_chance *chance, struct cut ri, double misses,
                                   double sideways) {
    double intervals = variance_at(chance, ri), both = 0;
    if (chance->cold_error > 0)
        both = sideways * rsc_watch_left_covariance(&chance->left, fmin(1, misses / chance->uses)) / chance->cold_error;
    struct shared shared = {intervals + sideways * sideways + 2 * both, 0};
    if (intervals > 0) shared.with_model = (intervals + both) / sqrt(intervals);
    return shared;
}

/* A distance is less than its interval: a line used again within as many references as there are lines is certainly
 * a hit. */
static double misses_most(struct descent *descent, const struct rsc_interval_chance *chance, double cold,
                          uint64_t lines, double reach) {
    struct cut late = cut_at(lines + 1);
    late.share = 1; /* the interval's position in its bin is not known */
    double most = cold + descend_to(descent, late);
    return chance ? most + reach * sqrt(variance_at(chance, late)) : most;
}

static void sum_up_sample(struct rsc_truth_sample *sample) {
    struct rsc_truth_lines *line = &sample->line;
    struct rsc_window_sample *window = &sample->window;
    uint32_t bins = line->bin_count;
    for (uint32_t part = 0; part <= PARTS; part++) {
        sum_up(line->rd + (size_t)part * bins, bins);
        if (part == PARTS) break;
        sum_up(line->ri + (size_t)part * bins, bins);
        sum_up_weighted(window->part_ri + (size_t)part * bins, bins);
        sum_up_weighted(window->part_rd + (size_t)part * bins, bins);
    }
    sum_up_weighted(window->beyond, bins);
    sum_up(window->first_ri, bins);
    sum_up(window->first_rd, bins);
}

void rsc_truth_sample_bands(struct rsc_truth_sample *sample, const struct rsc_ri_model *model,
                            const struct rsc_interval_chance *chance, double confidence, struct rsc_profile *profile) {
    struct rsc_truth_lines *line = &sample->line;
    struct rsc_window_sample *window = &sample->window;
    sum_up_sample(sample);
    double references = (double)profile->references, cold = (double)profile->cold;
    double cold_spread = chance ? rsc_normal_quantile(0.5 + confidence / 200) * chance->cold_error : 0;
    double cold_low = chance ? fmax(cold - cold_spread, chance->cold_known) : cold;
    struct rsc_held_level level = {0};
    struct descent whole = {model->counts.ri, model->counts.ri->bin_count, 0}, late = whole;
    for (size_t i = profile->mrc_count; i-- > 0;) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        if (point->lines >= profile->distinct) { /* cold ones only */
            point->low = cold_low / references;
            point->high = fmin(cold + cold_spread, references) / references;
            continue;
        }
        struct cut rd = cut_at(point->lines), ri = cut_at(rsc_ri_model_threshold(model, point->lines));
        double predicted = cold + descend_to(&whole, ri);
        struct estimate truth = residual_by_windows(window, rd, ri, profile->references);
        int by_windows = window->first == profile->references || point->lines <= window_lines(sample);
        /* with all lines sampled, those have no sampling error */
        if (line->rate_shift && truth.undecided <= UNDECIDED_MOST * hypot(truth.error, truth.least)) by_windows = 1;
        if (!by_windows) truth = residual_by_lines(line, rd, ri);
        truth.value = predicted - truth.value;
        if (truth.freedom != level.freedom) rsc_held_level_set(&level, confidence / 100, truth.freedom);
        /* Even if no sampled reference was predicted wrongly, the next one might be. The
         * interval alone decides whether a distance is 0, so there nothing can be wrong. */
        if (point->lines > 1) truth.error = hypot(truth.error, truth.least);
        double correlation = 0, own = 1;
        if (chance) {
            double sideways = by_windows ? 0 : error_sideways(line, point->lines, chance->cold_error / cold);
            struct shared shared = shared_chance(chance, ri, predicted, sideways);
            double residual = truth.error * truth.error;
            truth.error = sqrt(residual + shared.variance);
            if (truth.error > 0) {
                correlation = shared.with_model / truth.error;
                own = residual / (residual + shared.variance);
            }
        }
        double low = cold_low, high = references,
               most = misses_most(&late, chance, cold, point->lines, level.normal[1]);
        if (!isnan(truth.error))
            rsc_held_bar(point->miss_ratio * references, truth.value,
                         rsc_held_reach(&level, correlation, own) * truth.error, &low, &high);
        point->low = fmin(fmax(low, cold_low) / references, point->miss_ratio);
        point->high = fmax(fmin(high, fmin(most, references)) / references, point->miss_ratio);
    }
}
