/* sample_sum.c - counting and settling; see sample_sum.h. */
#include "distance/shards/sample_sum.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "distance/count/accumulate.h"
#include "profile/metrics.h"

/* What audits may cost: at first in each band of distance, and then for each reuse. */
#define AUDIT_CREDIT_FIRST 16384
#define AUDIT_CREDIT 2

int rsc_sample_sum_init(struct rsc_sample_sum *sum, uint64_t rd_cap, uint64_t seed) {
    uint32_t fine = rsc_bins_count(RSC_BINS_FINE);
    memset(sum, 0, sizeof *sum);
    sum->rd_cap = rd_cap;
    sum->draws = seed * 0xD1342543DE82EF95ull;
    sum->rd = calloc(fine, sizeof *sum->rd);
    sum->ri = calloc(fine, sizeof *sum->ri);
    sum->group_rd = calloc(RSC_SAMPLE_BINS, sizeof *sum->group_rd);
    sum->audits = calloc(RSC_SAMPLE_AUDITS, sizeof *sum->audits);
    if (!sum->rd || !sum->ri || !sum->group_rd || !sum->audits) {
        rsc_sample_sum_free(sum);
        return RSC_ENOMEM;
    }
    for (uint32_t i = 0; i < RSC_SAMPLE_AUDITS; i++) sum->audits[i].credit = AUDIT_CREDIT_FIRST;
    return 0;
}

void rsc_sample_sum_free(struct rsc_sample_sum *sum) {
    free(sum->rd);
    free(sum->ri);
    free(sum->group_rd);
    free(sum->audits);
    for (uint32_t i = 0; i < sum->thread_count; i++) free(sum->threads[i].rd);
    free(sum->threads);
    memset(sum, 0, sizeof *sum);
}

int rsc_sample_see_thread(struct rsc_sample_sum *sum, uint64_t number) {
    if (number + 1 > sum->threads_seen) sum->threads_seen = number + 1;
    uint32_t wanted = number < RSC_THREAD_ROWS_MAX ? (uint32_t)number + 1 : RSC_THREAD_ROWS_MAX;
    if (wanted <= sum->thread_count) return 0;
    struct rsc_sample_row *rows = realloc(sum->threads, wanted * sizeof *rows);
    if (!rows) return RSC_ENOMEM;
    sum->threads = rows;
    while (sum->thread_count < wanted) {
        struct rsc_sample_row *row = &rows[sum->thread_count];
        *row = (struct rsc_sample_row){.tid = sum->thread_count};
        row->rd = calloc(rsc_bins_count(RSC_BINS_COARSE), sizeof *row->rd);
        if (!row->rd) return RSC_ENOMEM;
        sum->thread_count++;
    }
    return 0;
}

void rsc_sample_split_threads(struct rsc_sample_sum *sum) {
    struct rsc_sample_row *first = &sum->threads[0];
    for (uint32_t bin = 0; bin < rsc_bins_count(RSC_BINS_FINE); bin++)
        if (sum->rd[bin] > 0) first->rd[rsc_bin_of_coarse(rsc_bin_lo(RSC_BINS_FINE, bin))] += sum->rd[bin];
    if (sum->capped > 0) first->rd[rsc_bin_of_coarse(sum->rd_cap)] += sum->capped;
    first->cold = sum->cold;
}

double rsc_sample_bin_edge(uint32_t bin) {
    if (!bin) return 0;
    return ldexp(1 + (bin - 1) % 8 / 8.0, (int)((bin - 1) / 8));
}

void rsc_sample_audit(struct rsc_sample_sum *sum, const struct rsc_sampled_stack *stack, uint32_t node,
                      uint64_t distance) {
    struct rsc_sample_audit *audit = &sum->audits[rsc_sample_audit_of(distance)];
    uint32_t above[RSC_STACK_GROUPS];
    audit->credit += AUDIT_CREDIT;
    if (audit->credit < 0) return;
    audit->credit -= rsc_sampled_stack_groups_above(stack, node, above);
    for (uint32_t g = 0; g < RSC_STACK_GROUPS; g++) audit->above[g] += above[g];
    audit->count++;
}

/* ---- settling ---- */

/*
 * Adds what `count` lacks to its first bin, or takes what it has too much from
 * its first bins, so that it sums to `total`; then rounds, from the top, such that
 * the counts above any bin are off by less than one.
 */
static void settle(double *count, uint32_t bins, uint64_t total, struct rsc_histogram *into) {
    double sum = 0, above = 0;
    uint64_t given = 0;
    for (uint32_t bin = 0; bin < bins; bin++) sum += count[bin];
    double lacking = (double)total - sum;
    for (uint32_t bin = 0; bin < bins && lacking != 0; bin++) {
        double taken = lacking < -count[bin] ? -count[bin] : lacking;
        count[bin] += taken;
        lacking -= taken;
    }
    for (uint32_t bin = bins - 1; bin > 0; bin--) {
        above += count[bin];
        uint64_t rounded = above < (double)total ? (uint64_t)(above + 0.5) : total;
        if (rounded > total) rounded = total;
        into->count[bin] += rounded - given;
        given = rounded;
    }
    into->count[0] += total - given;
}

static uint64_t round_within(double value, uint64_t most) {
    return value < (double)most ? (uint64_t)(value + 0.5) : most;
}

static int fill_threads(struct rsc_sample_sum *sum, struct rsc_profile *profile) {
    if (rsc_profile_set_threads(profile, sum->thread_count) < 0) return RSC_ENOMEM;
    if (sum->thread_count == 1) rsc_sample_split_threads(sum);
    for (uint32_t i = 0; i < sum->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->pid = sum->threads[i].pid;
        row->tid = sum->threads[i].tid;
        row->references = sum->threads[i].references;
        row->cold = round_within(sum->threads[i].cold, row->references);
        settle(sum->threads[i].rd, row->rd.bin_count, row->references - row->cold, &row->rd);
    }
    profile->made.threads = sum->threads_seen;
    return 0;
}

double rsc_sample_error(const struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole) {
    struct rsc_profile *profile = rsc_profile_new();
    uint32_t bins = rsc_bins_count(RSC_BINS_FINE);
    double *counts = malloc(2 * bins * sizeof *counts), error = NAN;
    if (profile && counts) {
        /* settling changes what it settles */
        memcpy(counts, sum->rd, bins * sizeof *counts);
        memcpy(counts + bins, sum->ri, bins * sizeof *counts);
        profile->references = whole->references;
        profile->cold = round_within(sum->cold, whole->references);
        if (!profile->cold && whole->references) profile->cold = 1;
        profile->distinct = profile->cold;
        profile->rd_cap = sum->rd_cap;
        profile->rd_capped = round_within(sum->capped, whole->references - profile->cold);
        uint64_t reuses = whole->references - profile->cold;
        settle(counts, bins, reuses - profile->rd_capped, &profile->rd);
        settle(counts + bins, bins, reuses, &profile->ri);
        if (rsc_sample_bars(sum, whole, profile) == 0) error = rsc_profile_stated_error(profile);
    }
    free(counts);
    rsc_profile_free(profile);
    return error;
}

struct rsc_profile *rsc_sample_profile(struct rsc_sample_sum *sum, const struct rsc_sample_whole *whole) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return NULL;
    profile->made.line_bytes = whole->line_bytes;
    profile->accesses = whole->accesses;
    profile->references = whole->references;
    profile->cold = round_within(sum->cold, whole->references);
    /* a stream that has references has a line, whether the sample met one or not */
    if (!profile->cold && whole->references) profile->cold = 1;
    profile->distinct = profile->cold;
    profile->rd_cap = sum->rd_cap;
    profile->rd_capped = round_within(sum->capped, whole->references - profile->cold);
    if (fill_threads(sum, profile) < 0) goto failed;
    uint64_t reuses = whole->references - profile->cold;
    settle(sum->rd, profile->rd.bin_count, reuses - profile->rd_capped, &profile->rd);
    /* the least interval is 1: bin 0 stays empty */
    settle(sum->ri, profile->ri.bin_count, reuses, &profile->ri);
    profile->ri.count[1] += profile->ri.count[0];
    profile->ri.count[0] = 0;
    if (rsc_sample_bars(sum, whole, profile) < 0) goto failed;
    return profile;
failed:
    rsc_profile_free(profile);
    return NULL;
}
