/* subset_scale.c - see line_subset.h for what is done, and why. */
#include "distance/shards/subset_scale.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/statistics.h"

#define GROUPS RSC_SUBSET_GROUPS
#define FEW_KEPT 10.0  /* kept lines up to which the sample says too little about what it lacks, as there */
#define BLUR_WIDTH 1.5 /* standard deviations of a distance, to each side, as sample_error.c has it */

/* Where references with no other sampled line since their last use are put: shares, which sum to 1. */
struct cell_zero {
    double *fine, coarse[256];
};

struct scaling {
    const struct rsc_subset_facts *facts;
    struct cell_zero zero;
    double row_weight; /* references that one of a row stands for: no more in all than there were */
    uint32_t fine_count, coarse_count;
};

/* `mass` spread evenly over the whole numbers from `from` to before `to`. */
static void spread(double *counts, struct rsc_bins bins, uint32_t bin_count, double mass, double from, double to) {
    if (!(to > from) || to > 0x1p62) {
        counts[rsc_bin_of(bins, from < 0x1p62 ? (uint64_t)from : 1ull << 62)] += mass;
        return;
    }
    for (uint32_t bin = rsc_bin_of(bins, (uint64_t)from); bin < bin_count; bin++) {
        double lo = fmax(from, (double)rsc_bin_lo(bins, bin)), hi = fmin(to, (double)rsc_bin_hi(bins, bin) + 1);
        if (hi > lo) counts[bin] += mass * (hi - lo) / (to - from);
        if ((double)rsc_bin_hi(bins, bin) + 1 >= to) break;
    }
}

static int init_zero(struct scaling *scaling) {
    const struct rsc_histogram *ri = scaling->facts->zero_ri;
    double total = (double)rsc_histogram_total(ri), weight = 1 / scaling->facts->rate;
    scaling->zero.fine = calloc(scaling->fine_count, sizeof *scaling->zero.fine);
    if (!scaling->zero.fine) return RSC_ENOMEM;
    for (uint32_t bin = 0; total > 0 && bin < ri->bin_count; bin++) {
        if (!ri->count[bin]) continue;
        double interval = 0.5 * ((double)rsc_bin_lo(ri->bins, bin) + (double)rsc_bin_hi(ri->bins, bin));
        double share = (double)ri->count[bin] / total, to = fmax(1, floor(fmin(weight, interval)));
        spread(scaling->zero.fine, RSC_BINS_FINE, scaling->fine_count, share, 0, to);
        spread(scaling->zero.coarse, RSC_BINS_COARSE, scaling->coarse_count, share, 0, to);
    }
    if (!(total > 0)) scaling->zero.fine[0] = scaling->zero.coarse[0] = 1;
    return 0;
}

/* Distances of sampled lines, counted in those, as distances of all references. */
static void stretch(const struct scaling *scaling, const struct rsc_histogram *from, double *to, double rate,
                    double weight, const double *zero) {
    uint32_t count = from->bins.linear == RSC_BINS_FINE.linear ? scaling->fine_count : scaling->coarse_count;
    double cell = 1 / rate;
    for (uint32_t bin = 0; bin < from->bin_count; bin++) {
        if (!from->count[bin]) continue;
        double mass = (double)from->count[bin] * weight;
        double lo = (double)rsc_bin_lo(from->bins, bin), hi = (double)rsc_bin_hi(from->bins, bin) + 1;
        if (bin == 0 && zero)
            for (uint32_t i = 0; i < count; i++) to[i] += mass * zero[i];
        else spread(to, from->bins, count, mass, lo * cell, hi * cell);
    }
}

/* Whole numbers that sum to `total`; what is missing is put to the least, what is too much is taken from there. */
static void make_whole(const double *from, uint64_t *to, uint32_t count, uint64_t total, int adjust) {
    double carried = 0;
    uint64_t sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        carried += from[i];
        to[i] = carried > 0.5 ? (uint64_t)(carried + 0.5) : 0;
        carried -= (double)to[i];
        sum += to[i];
    }
    if (!adjust) return;
    if (sum < total) to[0] += total - sum;
    for (uint32_t i = 0; i < count && sum > total; i++) {
        uint64_t away = sum - total < to[i] ? sum - total : to[i];
        to[i] -= away;
        sum -= away;
    }
}

/* A row's histogram, in place. Returns its new total. */
static uint64_t stretch_row(const struct scaling *scaling, struct rsc_histogram *histogram) {
    int is_fine = histogram->bins.linear == RSC_BINS_FINE.linear;
    uint32_t count = is_fine ? scaling->fine_count : scaling->coarse_count;
    double *scaled = calloc(count, sizeof *scaled);
    if (!scaled || !histogram->count) { /* without memory: the counts alone */
        free(scaled);
        return 0;
    }
    stretch(scaling, histogram, scaled, scaling->facts->rate, scaling->row_weight,
            is_fine ? scaling->zero.fine : scaling->zero.coarse);
    make_whole(scaled, histogram->count, count, 0, 0);
    free(scaled);
    return rsc_histogram_total(histogram);
}

static uint64_t times(const struct scaling *scaling, uint64_t count) {
    return (uint64_t)llround((double)count / scaling->facts->rate);
}

static uint64_t row_times(const struct scaling *scaling, uint64_t count) {
    return (uint64_t)((double)count * scaling->row_weight + 1e-6);
}

/* What a row counts too much, against the references it has, is taken from the least distances. */
static void fit_row(struct rsc_histogram *rd, uint64_t reused, uint64_t most) {
    for (uint32_t i = 0; i < rd->bin_count && reused > most; i++) {
        uint64_t away = reused - most < rd->count[i] ? reused - most : rd->count[i];
        rd->count[i] -= away;
        reused -= away;
    }
}

/* A row's counts. */
static void scale_row(const struct scaling *scaling, uint64_t *references, uint64_t *cold, uint64_t *invalidated,
                      struct rsc_histogram *rd) {
    uint64_t reused = stretch_row(scaling, rd), none = 0;
    *references = row_times(scaling, *references);
    if (cold) none += *cold = row_times(scaling, *cold);
    if (invalidated) none += *invalidated = row_times(scaling, *invalidated);
    fit_row(rd, reused, *references - (none < *references ? none : *references));
}

static void scale_rows(const struct scaling *scaling, struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        scale_row(scaling, &row->references, &row->cold, &row->invalidated, &row->rd);
    }
    for (size_t i = 0; i < profile->phase_count; i++) {
        struct rsc_phase_row *row = &profile->phases[i];
        row->first = row_times(scaling, row->first);
        scale_row(scaling, &row->references, &row->cold, &row->invalidated, &row->rd);
    }
    for (size_t i = 0; i < profile->kind_count; i++) {
        struct rsc_kind_row *row = &profile->kinds[i];
        scale_row(scaling, &row->references, &row->cold, &row->invalidated, &row->rd_fine);
        memset(row->rd.count, 0, row->rd.bin_count * sizeof *row->rd.count); /* the same, in wider bins */
        for (uint32_t bin = 0; bin < row->rd_fine.bin_count; bin++)
            rsc_histogram_add(&row->rd, rsc_bin_lo(RSC_BINS_FINE, bin), row->rd_fine.count[bin]);
    }
    for (size_t i = 0; i < profile->code_count; i++) {
        struct rsc_code_row *row = &profile->code[i];
        row->error = row_times(scaling, row->error);
        scale_row(scaling, &row->references, &row->cold, &row->invalidated, &row->rd);
    }
    for (size_t i = 0; i < profile->object_count; i++) {
        struct rsc_object_row *row = &profile->objects[i];
        row->error = row_times(scaling, row->error);
        scale_row(scaling, &row->references, &row->cold, &row->invalidated, &row->rd);
    }
    for (size_t i = 0; i < profile->pair_count; i++) {
        struct rsc_pair_row *row = &profile->pairs[i];
        row->error = row_times(scaling, row->error);
        scale_row(scaling, &row->references, NULL, NULL, &row->rd);
    }
}

/* ---- error bars ---- */

/* References that miss in a cache whose size is the lower edge of each fine bin; one more at the end. */
static double *tails(const double *rd, uint32_t count, double beyond) {
    double *tail = malloc((count + 1u) * sizeof *tail);
    if (!tail) return NULL;
    tail[count] = beyond;
    for (uint32_t i = count; i-- > 0;) tail[i] = tail[i + 1] + rd[i];
    return tail;
}

static double tail_at(const double *tail, uint32_t count, double size) {
    if (size <= 0) return tail[0];
    if (size >= 0x1p62) return tail[count];
    uint32_t bin = rsc_bin_of_fine((uint64_t)size);
    double lo = (double)rsc_bin_lo(RSC_BINS_FINE, bin), hi = (double)rsc_bin_hi(RSC_BINS_FINE, bin) + 1;
    return tail[bin] + (tail[bin + 1] - tail[bin]) * (size - lo) / (hi - lo);
}

/* What each group alone says of all references. */
static int group_tails(const struct scaling *scaling, double **tail) {
    int status = 0;
    double *scaled = malloc(scaling->fine_count * sizeof *scaled);
    if (!scaled) return RSC_ENOMEM;
    for (uint32_t g = 0; g < GROUPS; g++) {
        const struct rsc_profile *group = scaling->facts->groups[g];
        double rate = scaling->facts->rate / GROUPS;
        memset(scaled, 0, scaling->fine_count * sizeof *scaled);
        stretch(scaling, &group->rd, scaled, rate, 1 / rate, NULL);
        tail[g] = tails(scaled, scaling->fine_count, (double)(group->cold + group->invalidated) / rate);
        if (!tail[g]) status = RSC_ENOMEM;
    }
    free(scaled);
    return status;
}

/*
 * Which part of the references that the sample lacks, or has too many of, would miss in any cache: as references of groups
 * that follow another thread's write go with all of theirs. With private stacks a few lines that threads share can make most
 * references, and nearly all the misses of large caches.
 */
static double invalidated_share(const struct rsc_profile *const *groups) {
    double mean_invalidated = 0, mean_references = 0, both = 0, squares = 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        mean_invalidated += (double)groups[g]->invalidated / GROUPS;
        mean_references += (double)groups[g]->references / GROUPS;
    }
    for (uint32_t g = 0; g < GROUPS; g++) {
        double more = (double)groups[g]->references - mean_references;
        both += more * ((double)groups[g]->invalidated - mean_invalidated);
        squares += more * more;
    }
    return squares > 0 ? fmin(1, fmax(0, both / squares)) : 0;
}

static int set_bars(const struct scaling *scaling, struct rsc_profile *profile, const double *rd) {
    const struct rsc_subset_facts *facts = scaling->facts;
    const uint32_t count = scaling->fine_count;
    double *group[GROUPS] = {NULL}, references = (double)profile->references;
    double none = (double)(profile->cold + profile->invalidated), *whole = tails(rd, count, none), *late = NULL;
    double *ri = calloc(count, sizeof *ri);
    for (uint32_t i = 0; ri && i < count; i++) ri[i] = (double)facts->ri->count[i] / facts->rate;
    if (ri) late = tails(ri, count, (double)profile->cold);
    int status = whole && late && rsc_profile_derive_mrc(profile) == 0 ? group_tails(scaling, group) : RSC_ENOMEM;
    const double invalidated = invalidated_share(facts->groups);
    double quantile = rsc_student_quantile(0.5 + facts->confidence / 200, GROUPS - 1);
    for (size_t i = 0; !status && i < profile->mrc_count; i++) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        double size = (double)point->lines, mean = 0, squares = 0;
        for (uint32_t g = 0; g < GROUPS; g++) mean += tail_at(group[g], count, size) / GROUPS;
        for (uint32_t g = 0; g < GROUPS; g++) squares += pow(tail_at(group[g], count, size) - mean, 2);
        double half = quantile * sqrt((1 - facts->rate) * squares / (GROUPS - 1) / GROUPS) / references;
        double blur = BLUR_WIDTH * sqrt(size * (1 - facts->rate) / facts->rate);
        /* what is reused before so many references have passed hits for sure */
        double sure = (tail_at(late, count, size + 1) + (double)profile->invalidated) / references;
        double left = fmin(tail_at(whole, count, size - blur) / references, fmax(sure, point->miss_ratio));
        /* Small caches miss a few hot lines too. Whether the sample has its share of those is known from the number
         * of references: what it lacks was taken for hits, which they need not be (sample_error.c). */
        double few = fmin(1, fmax(0, 2 - size * facts->rate / FEW_KEPT)), share = fmax(few, invalidated);
        double lacking = share * (1 - (double)facts->kept / facts->rate / references);
        point->low = fmax(0, fmin(point->miss_ratio, tail_at(whole, count, size + blur) / references) - half);
        /* A sum over few lines is skewed, and looks surest when it is too small: up it is a factor (sample_error.c). */
        double up = point->miss_ratio > 0 ? fmax(point->miss_ratio, left) * exp(fmin(50, half / point->miss_ratio))
                                          : left + half;
        point->high = fmin(1, fmax(point->miss_ratio, up) + fmax(0, lacking));
        point->low = fmax(0, point->low + fmin(0, lacking));
    }
    for (uint32_t g = 0; g < GROUPS; g++) free(group[g]);
    free(whole);
    free(late);
    free(ri);
    return status;
}

/* ---- all of it ---- */

static int set_binned(struct rsc_profile *profile, uint32_t per_octave) {
    if (!per_octave) return 0;
    if (rsc_profile_set_bins(profile, per_octave) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < profile->rd.bin_count; i++) { /* fine bins are exact or narrow: by their middle */
        uint64_t lo = rsc_bin_lo(RSC_BINS_FINE, i), hi = rsc_bin_hi(RSC_BINS_FINE, i), middle = lo + (hi - lo) / 2;
        if (profile->rd.count[i]) rsc_histogram_add(&profile->rd_binned, middle, profile->rd.count[i]);
        if (profile->ri.count[i]) rsc_histogram_add(&profile->ri_binned, middle, profile->ri.count[i]);
    }
    return 0;
}

static int describe(const struct rsc_subset_facts *facts, struct rsc_profile *profile, uint64_t lines) {
    char by[80], sampling[320];
    double spread_lines =
        rsc_normal_quantile(0.5 + facts->confidence / 200) * sqrt((1 - facts->rate) * (double)lines) / facts->rate;
    snprintf(by, sizeof by, "lines:%.60s", facts->text);
    snprintf(
        sampling, sizeof sampling,
        "lines by hash, rate %.6g, seed %llu, %llu lines and %llu references kept; %g %% bars; distinct %.0f to %.0f",
        facts->rate, (unsigned long long)facts->seed, (unsigned long long)lines, (unsigned long long)facts->kept,
        facts->confidence, fmax((double)lines, (double)profile->distinct - spread_lines),
        (double)profile->distinct + spread_lines);
    return rsc_profile_set_text(&profile->made.by, by) < 0 ||
                   rsc_profile_set_text(&profile->made.sampling, sampling) < 0
               ? RSC_ENOMEM
               : 0;
}

int rsc_subset_scale(struct rsc_profile *profile, const struct rsc_subset_facts *facts) {
    struct scaling scaling = {
        .facts = facts, .fine_count = rsc_bins_count(RSC_BINS_FINE), .coarse_count = rsc_bins_count(RSC_BINS_COARSE)};
    uint64_t lines = profile->distinct, all = facts->whole->references;
    double *rd = calloc(scaling.fine_count, sizeof *rd), *ri = calloc(scaling.fine_count, sizeof *ri);
    int status = rd && ri ? init_zero(&scaling) : RSC_ENOMEM;
    if (status < 0) goto out;
    scaling.row_weight = facts->kept && (double)all / (double)facts->kept < 1 / facts->rate
                             ? (double)all / (double)facts->kept
                             : 1 / facts->rate;
    scale_rows(&scaling, profile);
    for (size_t i = 0; i < profile->thread_count; i++) { /* these are known */
        struct rsc_thread_row *row = &profile->threads[i];
        if (!facts->whole->thread_references) break;
        row->references = facts->whole->thread_references(facts->whole->context, (uint32_t)i);
        if (row->cold > row->references) row->cold = row->references;
        if (row->invalidated > row->references - row->cold) row->invalidated = row->references - row->cold;
        fit_row(&row->rd, rsc_histogram_total(&row->rd), row->references - row->cold - row->invalidated);
    }
    stretch(&scaling, &profile->rd, rd, facts->rate, 1 / facts->rate, scaling.zero.fine);
    profile->accesses = facts->whole->accesses;
    profile->references = all;
    profile->distinct = times(&scaling, lines);
    profile->cold = times(&scaling, profile->cold);
    profile->invalidated = times(&scaling, profile->invalidated);
    if (profile->cold > all) profile->cold = all;
    if (profile->invalidated > all - profile->cold) profile->invalidated = all - profile->cold;
    uint64_t reused = all - profile->cold - profile->invalidated;
    make_whole(rd, profile->rd.count, scaling.fine_count, reused, 1);
    double intervals = (double)rsc_histogram_total(facts->ri), each = 1 / facts->rate; /* never more than were reused */
    if (intervals * each > (double)reused) each = (double)reused / intervals;
    for (uint32_t i = 0; i < scaling.fine_count; i++) ri[i] = facts->no_ri ? 0 : (double)facts->ri->count[i] * each;
    make_whole(ri, profile->ri.count, scaling.fine_count, 0, 0);
    for (uint32_t i = 0; i < scaling.fine_count; i++) rd[i] = (double)profile->rd.count[i];
    status = set_bars(&scaling, profile, rd);
    if (!status) status = set_binned(profile, facts->bins_per_octave);
    if (!status) status = describe(facts, profile, lines);
    if (!status) status = rsc_profile_seal(profile);
out:
    free(scaling.zero.fine);
    free(rd);
    free(ri);
    return status;
}
