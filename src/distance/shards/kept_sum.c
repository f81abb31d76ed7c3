/* kept_sum.c - counts, and makes the final profile; see kept_sum.h. */
#include "distance/shards/kept_sum.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "distance/count/accumulate.h"
#include "profile/metrics.h"

#define AUDIT_CREDIT 2 /* blocks that may be summed per reuse */

int rsc_kept_sum_init(struct rsc_kept_sum *sum, uint64_t rd_cap, uint64_t seed) {
    uint32_t fine = rsc_bins_count(RSC_BINS_FINE);
    memset(sum, 0, sizeof *sum);
    sum->rd_cap = rd_cap;
    sum->draws = seed * 0xD1342543DE82EF95ull;
    sum->rd = calloc(fine, sizeof *sum->rd);
    sum->ri = calloc(fine, sizeof *sum->ri);
    if (!sum->rd || !sum->ri || rsc_line_groups_init(&sum->groups) < 0) {
        rsc_kept_sum_free(sum);
        return RSC_ENOMEM;
    }
    return 0;
}

void rsc_kept_sum_free(struct rsc_kept_sum *sum) {
    free(sum->rd);
    free(sum->ri);
    rsc_line_groups_free(&sum->groups);
    for (uint32_t i = 0; i < sum->thread_count; i++) free(sum->threads[i].rd);
    free(sum->threads);
    memset(sum, 0, sizeof *sum);
}

int rsc_kept_see_thread(struct rsc_kept_sum *sum, uint64_t number) {
    if (number + 1 > sum->threads_seen) sum->threads_seen = number + 1;
    uint32_t wanted = number < RSC_THREAD_ROWS_MAX ? (uint32_t)number + 1 : RSC_THREAD_ROWS_MAX;
    if (wanted <= sum->thread_count) return 0;
    struct rsc_kept_row *rows = realloc(sum->threads, wanted * sizeof *rows);
    if (!rows) return RSC_ENOMEM;
    sum->threads = rows;
    while (sum->thread_count < wanted) {
        struct rsc_kept_row *row = &rows[sum->thread_count];
        *row = (struct rsc_kept_row){.tid = sum->thread_count};
        row->rd = calloc(rsc_bins_count(RSC_BINS_COARSE), sizeof *row->rd);
        if (!row->rd) return RSC_ENOMEM;
        sum->thread_count++;
    }
    return 0;
}

void rsc_kept_split_threads(struct rsc_kept_sum *sum) {
    struct rsc_kept_row *first = &sum->threads[0];
    for (uint32_t bin = 0; bin < rsc_bins_count(RSC_BINS_FINE); bin++)
        if (sum->rd[bin] > 0) first->rd[rsc_bin_of_coarse(rsc_bin_lo(RSC_BINS_FINE, bin))] += sum->rd[bin];
    if (sum->capped > 0) first->rd[rsc_bin_of_coarse(sum->rd_cap)] += sum->capped;
    first->cold = sum->cold;
}

void rsc_kept_audit(struct rsc_kept_sum *sum, const struct rsc_sampled_stack *stack, uint32_t node, uint64_t distance) {
    struct rsc_line_audit *audit = rsc_line_audit_due(&sum->groups, distance, AUDIT_CREDIT);
    uint32_t above[RSC_LINE_GROUPS];
    if (!audit) return;
    audit->credit -= rsc_sampled_stack_groups_above(stack, node, above);
    for (uint32_t g = 0; g < RSC_LINE_GROUPS; g++) audit->above[g] += above[g];
    audit->count++;
}

/* ---- settling ---- */

void rsc_kept_settle(double *count, uint32_t bins, uint64_t total, struct rsc_histogram *into) {
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

static int fill_threads(struct rsc_kept_sum *sum, struct rsc_profile *profile) {
    if (rsc_profile_set_threads(profile, sum->thread_count) < 0) return RSC_ENOMEM;
    if (sum->thread_count == 1) rsc_kept_split_threads(sum);
    for (uint32_t i = 0; i < sum->thread_count; i++) {
        struct rsc_thread_row *row = &profile->threads[i];
        row->pid = sum->threads[i].pid;
        row->tid = sum->threads[i].tid;
        row->references = sum->threads[i].references;
        row->cold = round_within(sum->threads[i].cold, row->references);
        rsc_kept_settle(sum->threads[i].rd, row->rd.bin_count, row->references - row->cold, &row->rd);
    }
    profile->made.threads = sum->threads_seen;
    return 0;
}

/* The curve, and its bars. */
static int set_curve(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole, struct rsc_profile *profile) {
    if (rsc_profile_derive_mrc(profile) < 0) return RSC_ENOMEM;
    if (whole->rate >= 1 || !profile->mrc_count) return 0;
    const struct rsc_line_curve curve = {.rd = profile->rd.count,
                                         .ri = profile->ri.count,
                                         .bins = profile->rd.bin_count,
                                         .beyond = (double)profile->cold + (double)profile->rd_capped,
                                         .cold = (double)profile->cold,
                                         .references = (double)profile->references,
                                         .rate = whole->rate,
                                         .confidence = whole->confidence};
    struct rsc_line_bars bars;
    int status = rsc_line_bars_init(&bars, &sum->groups, &curve);
    for (size_t i = 0; !status && i < profile->mrc_count; i++) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        rsc_line_bar(&bars, (double)point->lines, point->miss_ratio, &point->low, &point->high);
    }
    rsc_line_bars_free(&bars);
    return status;
}

/* Splits cold references and those to lines that were taken, which were counted together; and sets the lines of all
 * stacks together. */
static void split_cold(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole, double more,
                       struct rsc_profile *profile) {
    profile->invalidated = round_within(sum->invalidated + more, profile->cold);
    profile->cold -= profile->invalidated;
    if (!whole->lines) return;
    profile->distinct = round_within((double)whole->lines / whole->rate, profile->cold + 1);
    /* the curve extends as far as all of them together might reach */
    while (profile->mrc_count > 1 && profile->mrc[profile->mrc_count - 1].lines > profile->distinct)
        profile->mrc_count--;
}

static struct rsc_count_bar count_bar(uint64_t count, double low, double high, uint64_t most) {
    uint64_t least = low > 0 ? (uint64_t)low : 0, top = high < (double)most ? (uint64_t)ceil(high) : most;
    return (struct rsc_count_bar){1, least < count ? least : count, top > count ? top : count};
}

/* Bars of the totals; of one stack, where nothing is invalidated, first touches are the lines. */
static void set_total_bars(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole,
                           struct rsc_profile *profile) {
    double low, high, kept = (double)whole->lines, distinct = (double)profile->distinct;
    struct rsc_line_totals totals;
    if (whole->rate >= 1 || !whole->lines || !profile->references) return;
    rsc_line_totals(&sum->groups, (double)whole->references, whole->rate, whole->confidence, &totals);
    double reach = rsc_line_total_reach(distinct, kept, whole->rate, whole->confidence);
    profile->bars.distinct =
        count_bar(profile->distinct, fmax(kept, distinct - reach), distinct + reach, profile->references);
    rsc_line_count_bar((double)profile->cold, (double)profile->cold, totals.cold, 1 / whole->rate, whole->confidence,
                       &low, &high);
    profile->bars.cold = count_bar(profile->cold, low, high, profile->references);
    if (sum->invalidated <= 0 && !whole->several_stacks) return;
    rsc_line_count_bar((double)profile->invalidated, (double)profile->invalidated, totals.invalidated,
                       (double)profile->references / kept, whole->confidence, &low, &high);
    profile->bars.invalidated =
        count_bar(profile->invalidated, low - totals.less, high + totals.more, profile->references);
}

int rsc_kept_fill(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole, struct rsc_profile *profile) {
    uint32_t bins = profile->rd.bin_count;
    double *rd = malloc(2 * bins * sizeof *rd), *ri = rd + bins;
    if (!rd) return RSC_ENOMEM;
    memcpy(rd, sum->rd, bins * sizeof *rd); /* settling modifies its input */
    memcpy(ri, sum->ri, bins * sizeof *ri);
    memset(profile->rd.count, 0, bins * sizeof *profile->rd.count);
    memset(profile->ri.count, 0, bins * sizeof *profile->ri.count);
    double more = fmax(rsc_line_groups_taken_more(&sum->groups, (double)whole->references), -sum->invalidated);
    profile->made.line_bytes = whole->line_bytes;
    profile->accesses = whole->accesses;
    profile->references = whole->references;
    profile->cold = round_within(sum->cold + more, whole->references);
    /* a stream with references has at least one line, even if the sample has none */
    if (!profile->cold && whole->references) profile->cold = 1;
    profile->invalidated = 0;
    profile->distinct = whole->held + profile->cold;
    profile->rd_cap = sum->rd_cap;
    profile->rd_capped = round_within(sum->capped, whole->references - profile->cold);
    uint64_t reuses = whole->references - profile->cold;
    rsc_kept_settle(rd, bins, reuses - profile->rd_capped, &profile->rd);
    /* the least interval is 1: bin 0 stays empty */
    rsc_kept_settle(ri, bins, reuses, &profile->ri);
    profile->ri.count[1] += profile->ri.count[0];
    profile->ri.count[0] = 0;
    free(rd);
    int status = set_curve(sum, whole, profile);
    if (!status) split_cold(sum, whole, more, profile);
    if (!status) set_total_bars(sum, whole, profile);
    return status;
}

double rsc_kept_error(const struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole) {
    struct rsc_profile *profile = rsc_profile_new();
    double error = NAN;
    if (profile && rsc_kept_fill(sum, whole, profile) == 0) error = rsc_profile_stated_error(profile);
    rsc_profile_free(profile);
    return error;
}

struct rsc_profile *rsc_kept_profile(struct rsc_kept_sum *sum, const struct rsc_kept_whole *whole) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile || fill_threads(sum, profile) < 0 || rsc_kept_fill(sum, whole, profile) < 0) {
        rsc_profile_free(profile);
        return NULL;
    }
    return profile;
}

int rsc_kept_describe(struct rsc_profile *profile, const struct rsc_kept_whole *whole, uint64_t kept, uint64_t seed) {
    char text[256];
    double lines = (double)kept, distinct = (double)profile->distinct;
    double spread = rsc_line_total_reach(distinct, lines, whole->rate, whole->confidence);
    if (whole->rate >= 1) return 0; /* nothing is left out */
    if (!profile->bars.distinct.is_known) { /* of one stack: first touches are the lines */
        profile->bars.distinct =
            count_bar(profile->distinct, fmax(lines, distinct - spread), distinct + spread, profile->references);
        profile->bars.cold = count_bar(profile->cold, (double)profile->cold - spread, (double)profile->cold + spread,
                                       profile->references);
    }
    snprintf(text, sizeof text, "lines by hash, rate %.6g, seed %llu, %.0f kept; %g %% bars; distinct %.0f to %.0f",
             whole->rate, (unsigned long long)seed, lines, whole->confidence, fmax(lines, distinct - spread),
             distinct + spread);
    return rsc_profile_set_text(&profile->made.sampling, text) < 0 ? RSC_ENOMEM : 0;
}
