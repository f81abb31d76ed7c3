/* scale_rows.c - see scale_rows.h. */
#include "distance/shards/scale_rows.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profile/row_tables.h"

struct scaling {
    const struct rsc_row_scale *scale;
    double weight;               /* references represented by one of a row: at most the true total */
    uint32_t fine_count, coarse_count;
    /* Where to place references with no other sampled line since their last use: shares, which sum to 1. */
    double *zero_fine, zero_coarse[256];
    double *scaled; /* scratch: [fine_count] */
};

/* Spreads `mass` evenly over the integers from `from` to before `to`. */
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

static void set_zero(struct scaling *scaling) {
    const struct rsc_histogram *ri = scaling->scale->zero_ri;
    double total = (double)rsc_histogram_total(ri), cell = 1 / scaling->scale->rate;
    for (uint32_t bin = 0; total > 0 && bin < ri->bin_count; bin++) {
        if (!ri->count[bin]) continue;
        double interval = 0.5 * ((double)rsc_bin_lo(ri->bins, bin) + (double)rsc_bin_hi(ri->bins, bin));
        double share = (double)ri->count[bin] / total, to = fmax(1, floor(fmin(cell, interval)));
        spread(scaling->zero_fine, RSC_BINS_FINE, scaling->fine_count, share, 0, to);
        spread(scaling->zero_coarse, RSC_BINS_COARSE, scaling->coarse_count, share, 0, to);
    }
    if (!(total > 0)) scaling->zero_fine[0] = scaling->zero_coarse[0] = 1;
}

/* Scales distances in sampled lines to distances in lines, in place. Returns the number of references. */
static uint64_t stretch(const struct scaling *scaling, struct rsc_histogram *rd) {
    int is_fine = rd->bins.linear == RSC_BINS_FINE.linear;
    uint32_t count = is_fine ? scaling->fine_count : scaling->coarse_count;
    const double *zero = is_fine ? scaling->zero_fine : scaling->zero_coarse;
    double *scaled = scaling->scaled, cell = 1 / scaling->scale->rate, carried = 0;
    uint64_t total = 0;
    if (!rd->count) return 0;
    assert(rd->bin_count == count);
    memset(scaled, 0, count * sizeof *scaled);
    for (uint32_t bin = 0; bin < count; bin++) {
        if (!rd->count[bin]) continue;
        double mass = (double)rd->count[bin] * scaling->weight;
        double lo = (double)rsc_bin_lo(rd->bins, bin), hi = (double)rsc_bin_hi(rd->bins, bin) + 1;
        if (bin) spread(scaled, rd->bins, count, mass, lo * cell, hi * cell);
        else
            for (uint32_t i = 0; i < count; i++) scaled[i] += mass * zero[i];
    }
    for (uint32_t bin = 0; bin < count; bin++) { /* integers of about the same sum */
        carried += scaled[bin];
        rd->count[bin] = carried > 0.5 ? (uint64_t)(carried + 0.5) : 0;
        carried -= (double)rd->count[bin];
        total += rd->count[bin];
    }
    if (!scaling->scale->rd_cap) return total;
    uint32_t cap = rsc_bin_of(rd->bins, scaling->scale->rd_cap);
    for (uint32_t bin = cap + 1; bin < count; bin++) {
        rd->count[cap] += rd->count[bin];
        rd->count[bin] = 0;
    }
    return total;
}

static uint64_t times(const struct scaling *scaling, uint64_t count) {
    return (uint64_t)((double)count * scaling->weight + 1e-6);
}

/* Removes a row's excess over its references from the smallest distances. */
static void fit_row(struct rsc_histogram *rd, uint64_t reused, uint64_t most) {
    for (uint32_t i = 0; i < rd->bin_count && reused > most; i++) {
        uint64_t away = reused - most < rd->count[i] ? reused - most : rd->count[i];
        rd->count[i] -= away;
        reused -= away;
    }
}

static void scale_counts(const struct scaling *scaling, struct rsc_row_counts row) {
    uint64_t reused = stretch(scaling, row.rd), none = 0;
    *row.references = times(scaling, *row.references);
    if (row.error) *row.error = times(scaling, *row.error);
    if (row.cold) none += *row.cold = times(scaling, *row.cold);
    if (row.invalidated) none += *row.invalidated = times(scaling, *row.invalidated);
    fit_row(row.rd, reused, *row.references - (none < *row.references ? none : *row.references));
}

static void scale_rows(const struct scaling *scaling, struct rsc_profile *profile) {
    static const struct rsc_row_table *const tables[] = {&rsc_row_table_threads, &rsc_row_table_phases,
                                                         &rsc_row_table_code, &rsc_row_table_objects,
                                                         &rsc_row_table_pairs};
    for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
        for (size_t i = 0; i < rsc_row_table_count(tables[t], profile); i++)
            scale_counts(scaling, rsc_row_counts(tables[t], rsc_row_table_row(tables[t], profile, i)));
    for (size_t i = 0; i < profile->phase_count; i++)
        profile->phases[i].first = times(scaling, profile->phases[i].first);
    for (size_t i = 0; i < profile->kind_count; i++) {
        struct rsc_kind_row *row = &profile->kinds[i];
        struct rsc_row_counts counts = rsc_row_counts(&rsc_row_table_kinds, row);
        counts.rd = &row->rd_fine;
        scale_counts(scaling, counts);
        memset(row->rd.count, 0, row->rd.bin_count * sizeof *row->rd.count); /* the same, in wider bins */
        for (uint32_t bin = 0; bin < row->rd_fine.bin_count; bin++)
            rsc_histogram_add(&row->rd, rsc_bin_lo(RSC_BINS_FINE, bin), row->rd_fine.count[bin]);
    }
}

/* Lines that stacks took from each other, and the misses this caused. */
static void scale_sharing(const struct scaling *scaling, struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->sharing_count; i++) {
        struct rsc_sharing_row *row = &profile->sharing[i];
        row->taken = times(scaling, row->taken);
        row->false_taken = times(scaling, row->false_taken);
        row->misses = times(scaling, row->misses);
        row->false_misses = times(scaling, row->false_misses);
        row->error = times(scaling, row->error);
    }
}

/* Adds rows for threads without kept references. */
static int add_threads(struct rsc_profile *profile, uint32_t count) {
    if (count <= profile->thread_count) return 0;
    struct rsc_thread_row *rows = realloc(profile->threads, count * sizeof *rows);
    if (!rows) return RSC_ENOMEM;
    profile->threads = rows;
    while (profile->thread_count < count) {
        struct rsc_thread_row *row = &rows[profile->thread_count];
        *row = (struct rsc_thread_row){.tid = profile->thread_count};
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE) < 0) return RSC_ENOMEM;
        profile->thread_count++;
    }
    return 0;
}

/* References of threads are known exactly. */
static void set_threads(const struct rsc_row_scale *scale, struct rsc_profile *profile) {
    for (size_t i = 0; scale->thread_references && i < profile->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->references = scale->thread_references(scale->context, (uint32_t)i);
        if (row->cold > row->references) row->cold = row->references;
        if (row->invalidated > row->references - row->cold) row->invalidated = row->references - row->cold;
        uint64_t reused = rsc_histogram_total(&row->rd), most = row->references - row->cold - row->invalidated;
        if (reused < most) row->rd.count[0] += most - reused;
        else fit_row(&row->rd, reused, most);
    }
}

int rsc_scale_rows(struct rsc_profile *profile, const struct rsc_row_scale *scale) {
    struct scaling scaling = {.scale = scale,
                              .weight = 1 / scale->rate,
                              .fine_count = rsc_bins_count(RSC_BINS_FINE),
                              .coarse_count = rsc_bins_count(RSC_BINS_COARSE)};
    assert(scaling.coarse_count <= sizeof scaling.zero_coarse / sizeof *scaling.zero_coarse);
    if (scale->kept && (double)scale->references / (double)scale->kept < scaling.weight)
        scaling.weight = (double)scale->references / (double)scale->kept;
    scaling.zero_fine = calloc(2 * scaling.fine_count, sizeof *scaling.zero_fine);
    if (!scaling.zero_fine) return RSC_ENOMEM;
    scaling.scaled = scaling.zero_fine + scaling.fine_count;
    set_zero(&scaling);
    scale_rows(&scaling, profile);
    scale_sharing(&scaling, profile);
    free(scaling.zero_fine);
    int status = add_threads(profile, scale->thread_count);
    if (!status) set_threads(scale, profile);
    return status;
}
