/* sampled_exact.c - see sampled_exact.h. */
#include "distance/shards/sampled_exact.h"

#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/u64_table.h"
#include "distance/count/accumulate.h"
#include "distance/engine_kind.h"
#include "distance/shards/kept_sum.h"
#include "distance/shards/scale_rows.h"

#define AUDIT_CREDIT 4 /* table entries that may be examined per reuse */

/* When a stack last used its lines, in its own references, kept or not. */
struct clock {
    uint64_t now;
    struct rsc_u64_table last; /* line -> reference of its last use, from 1 */
};

struct rsc_sampled_exact {
    struct rsc_engine_options options;
    struct rsc_line_choice choice;
    double weight; /* 1/rate */
    const char *text;
    /* A stack's clock counts the references a thread skipped when its next
     * reference comes: too late for the intervals of other threads of the stack,
     * if any. */
    int exact_intervals;
    struct rsc_engine *exact;
    struct rsc_kept_sum sum;
    struct clock *clocks; /* by stack; owned */
    uint32_t clock_count;
    struct rsc_u64_table lines; /* all of them, of any stack */
    uint64_t kept; /* references */
    struct rsc_histogram zero_ri; /* RSC_BINS_FINE: intervals of references at distance 0 */
    const uint64_t *skipped; /* of the batch being pushed */
};

void rsc_sampled_exact_free(struct rsc_sampled_exact *sampled) {
    if (!sampled) return;
    rsc_engine_free(sampled->exact);
    rsc_kept_sum_free(&sampled->sum);
    for (uint32_t i = 0; i < sampled->clock_count; i++) rsc_u64_table_free(&sampled->clocks[i].last);
    free(sampled->clocks);
    rsc_u64_table_free(&sampled->lines);
    rsc_histogram_free(&sampled->zero_ri);
    free(sampled);
}

static int take_block(void *context, const struct rsc_distance_block *block);

int rsc_sampled_exact_new(struct rsc_sampled_exact **out, const struct rsc_engine_options *options,
                          const struct rsc_line_choice *choice, const char *text, struct rsc_error *error) {
    *out = NULL;
    if (options->top_lines)
        return rsc_fail(error, RSC_EINVAL, "a sample of lines cannot find the lines that miss most (--top-lines)");
    struct rsc_sampled_exact *sampled = calloc(1, sizeof *sampled);
    if (!sampled) return rsc_fail_memory(error, "sample of lines");
    sampled->options = *options;
    sampled->choice = *choice;
    sampled->weight = 1 / choice->rate;
    sampled->text = text;
    sampled->exact_intervals = options->model && !strcmp(options->model, "private") && !options->cores;
    if (!sampled->options.line_bytes) sampled->options.line_bytes = 64;
    if (!(sampled->options.confidence > 0)) sampled->options.confidence = 90;
    struct rsc_engine_options inner = sampled->options;
    inner.engine = "exact";
    inner.no_ri = 1; /* its intervals would be in kept references */
    inner.bins_per_octave = 0;
    inner.max_distance = 0;
    inner.error = 0;
    int status = rsc_engine_new(&sampled->exact, &inner, error);
    if (!status &&
        (rsc_kept_sum_init(&sampled->sum, options->max_distance, options->seed) < 0 ||
         rsc_u64_table_init(&sampled->lines, 64) < 0 || rsc_histogram_init(&sampled->zero_ri, RSC_BINS_FINE) < 0))
        status = rsc_fail_memory(error, "sample of lines");
    if (status < 0) {
        rsc_sampled_exact_free(sampled);
        return status;
    }
    rsc_engine_watch(sampled->exact, &(struct rsc_distance_watch){take_block, sampled});
    *out = sampled;
    return 0;
}

/* ---- references ---- */

static int make_clocks(struct rsc_sampled_exact *sampled, uint32_t count) {
    if (count <= sampled->clock_count) return 0;
    uint32_t room = sampled->clock_count ? sampled->clock_count : 1;
    while (room < count) room *= 2;
    struct clock *clocks = realloc(sampled->clocks, room * sizeof *clocks);
    if (!clocks) return RSC_ENOMEM;
    memset(clocks + sampled->clock_count, 0, (room - sampled->clock_count) * sizeof *clocks);
    sampled->clocks = clocks;
    while (sampled->clock_count < room)
        if (rsc_u64_table_init(&clocks[sampled->clock_count++].last, 64) < 0) return RSC_ENOMEM;
    return 0;
}

/* The entry of a line, added with value 0 if new. NULL: out of memory. */
static struct rsc_u64_entry *entry_of(struct rsc_u64_table *table, uint64_t line) {
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return NULL;
    struct rsc_u64_entry *entry = rsc_u64_table_find(table, line);
    if (!entry->value) {
        entry->key = line;
        table->used++;
    }
    return entry;
}

/* The groups of the lines that a stack used since `then`, if that can be afforded. */
static void audit(struct rsc_sampled_exact *sampled, const struct rsc_u64_table *last, uint64_t then,
                  uint64_t distance) {
    struct rsc_line_audit *audit = rsc_line_audit_due(&sampled->sum.groups, distance, AUDIT_CREDIT);
    if (!audit) return;
    audit->credit -= (int64_t)last->mask + 1;
    for (uint64_t i = 0; i <= last->mask; i++)
        if (last->entries[i].value > then) {
            uint64_t hash = rsc_line_hash(last->entries[i].key, sampled->choice.offset);
            audit->above[rsc_hash_group(hash, RSC_LINE_GROUPS)]++;
        }
    audit->count++;
}

/* A reference to a kept line, after `skipped` others of its stack. */
static int take_reference(struct rsc_sampled_exact *sampled, uint64_t line, uint32_t stack, uint32_t rd,
                          uint64_t skipped) {
    if (stack >= sampled->clock_count && make_clocks(sampled, stack + 1) < 0) return RSC_ENOMEM;
    struct clock *clock = &sampled->clocks[stack];
    struct rsc_u64_entry *entry = entry_of(&clock->last, line);
    if (!entry) return RSC_ENOMEM;
    uint32_t group = rsc_hash_group(rsc_line_hash(line, sampled->choice.offset), RSC_LINE_GROUPS);
    uint64_t then = entry->value;
    entry->value = clock->now += skipped + 1;
    assert((rd == UINT32_MAX) == !then);
    if (rd == UINT32_MAX) {
        struct rsc_u64_entry *known = entry_of(&sampled->lines, line);
        if (!known) return RSC_ENOMEM;
        known->value = 1;
        rsc_kept_miss(&sampled->sum, sampled->weight, group);
        return 0;
    }
    if (rd == RSC_RD_INVALIDATED) {
        rsc_kept_invalidated(&sampled->sum, sampled->weight, group);
        return 0;
    }
    uint64_t interval = clock->now - then;
    uint64_t below = rd == 0 || sampled->exact_intervals ? interval : UINT64_MAX;
    uint64_t distance = rsc_kept_reuse(&sampled->sum, rd, interval, below, sampled->weight, group);
    if (rd) audit(sampled, &clock->last, then, distance);
    else rsc_histogram_add(&sampled->zero_ri, interval, 1);
    return 0;
}

static int take_block(void *context, const struct rsc_distance_block *block) {
    struct rsc_sampled_exact *sampled = context;
    int status = 0;
    for (uint32_t i = 0; !status && i < block->count; i++) {
        assert(!i || block->from[i] != block->from[i - 1]); /* none across lines */
        status =
            take_reference(sampled, block->lines[i], block->stack[i], block->rd[i], sampled->skipped[block->from[i]]);
    }
    return status;
}

int rsc_sampled_exact_push(struct rsc_sampled_exact *sampled, const struct rsc_batch *batch, const uint64_t *skipped,
                           struct rsc_error *error) {
    sampled->skipped = skipped;
    sampled->kept += batch->count;
    return rsc_engine_push(sampled->exact, batch, error);
}

/* ---- the profile ---- */

uint64_t rsc_sampled_exact_lines(const struct rsc_sampled_exact *sampled) { return sampled->lines.used; }

static struct rsc_kept_whole sample_whole(const struct rsc_sampled_exact *sampled,
                                          const struct rsc_sampled_whole *whole) {
    return (struct rsc_kept_whole){.accesses = whole->accesses,
                                   .references = whole->references,
                                   .rate = sampled->choice.rate,
                                   .confidence = sampled->options.confidence,
                                   .line_bytes = sampled->options.line_bytes,
                                   .lines = sampled->lines.used,
                                   .several_stacks = sampled->clock_count > 1};
}

double rsc_sampled_exact_error(const struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole) {
    struct rsc_kept_whole sample = sample_whole(sampled, whole);
    return rsc_kept_error(&sampled->sum, &sample);
}

/* The second histograms, from the first, whose bins are exact or narrow: by their midpoints. */
static int set_binned(struct rsc_profile *profile, uint32_t per_octave) {
    if (!per_octave) return 0;
    if (rsc_profile_set_bins(profile, per_octave) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < profile->rd.bin_count; i++) {
        uint64_t lo = rsc_bin_lo(RSC_BINS_FINE, i), hi = rsc_bin_hi(RSC_BINS_FINE, i), middle = lo + (hi - lo) / 2;
        if (profile->rd.count[i]) rsc_histogram_add(&profile->rd_binned, middle, profile->rd.count[i]);
        if (profile->ri.count[i]) rsc_histogram_add(&profile->ri_binned, middle, profile->ri.count[i]);
    }
    return 0;
}

/* The total is corrected by how many of all references are to kept lines: what the stacks' rows say must not be more. */
static void fit_sharing(struct rsc_profile *profile) {
    double misses = 0;
    for (size_t i = 0; i < profile->sharing_count; i++) misses += (double)profile->sharing[i].misses;
    if (misses <= (double)profile->invalidated) return;
    const double share = (double)profile->invalidated / misses;
    for (size_t i = 0; i < profile->sharing_count; i++) {
        struct rsc_sharing_row *row = &profile->sharing[i];
        row->misses = (uint64_t)((double)row->misses * share);
        row->false_misses = (uint64_t)((double)row->false_misses * share);
    }
}

/* Each count of a row varies with the lines drawn as all invalidated references do. */
static void set_sharing_bars(const struct rsc_sampled_exact *sampled, const struct rsc_kept_whole *sample,
                             struct rsc_profile *profile) {
    struct rsc_line_totals totals;
    if (sample->rate >= 1 || !profile->sharing_count) return;
    rsc_line_totals(&sampled->sum.groups, (double)sample->references, sample->rate, sample->confidence, &totals);
    for (size_t i = 0; i < profile->sharing_count; i++) {
        struct rsc_sharing_row *row = &profile->sharing[i];
        const uint64_t counts[] = {row->taken, row->false_taken, row->misses, row->false_misses};
        struct rsc_count_range *const ranges[] = {&row->bars.taken, &row->bars.false_taken, &row->bars.misses,
                                                  &row->bars.false_misses};
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            double low, high;
            rsc_line_count_bar((double)counts[k], (double)profile->invalidated, totals.invalidated,
                               (double)profile->references / (double)sample->lines, sample->confidence, &low, &high);
            high = fmin(ceil(high), (double)profile->references);
            *ranges[k] = (struct rsc_count_range){
                low<(double)counts[k] ? (uint64_t)low : counts[k], high>(double) counts[k] ? (uint64_t)high
                                                                                           : counts[k]};
        }
    }
}

static int scale(const struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole,
                 struct rsc_profile *profile) {
    struct rsc_kept_whole sample = sample_whole(sampled, whole);
    const struct rsc_row_scale rows = {.rate = sampled->choice.rate,
                                       .references = whole->references,
                                       .kept = sampled->kept,
                                       .rd_cap = sampled->options.max_distance,
                                       .zero_ri = &sampled->zero_ri,
                                       .thread_references = whole->thread_references,
                                       .context = whole->context,
                                       .thread_count = whole->thread_count};
    char by[80];
    snprintf(by, sizeof by, "lines:%.60s", sampled->text);
    if (rsc_scale_rows(profile, &rows) < 0 || rsc_kept_fill(&sampled->sum, &sample, profile) < 0 ||
        rsc_profile_set_text(&profile->made.by, by) < 0 ||
        rsc_kept_describe(profile, &sample, sampled->lines.used, sampled->options.seed) < 0)
        return RSC_ENOMEM;
    fit_sharing(profile);
    set_sharing_bars(sampled, &sample, profile);
    if (sampled->options.no_ri) memset(profile->ri.count, 0, profile->ri.bin_count * sizeof *profile->ri.count);
    if (set_binned(profile, sampled->options.bins_per_octave) < 0) return RSC_ENOMEM;
    return rsc_profile_seal(profile);
}

int rsc_sampled_exact_finish(struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole,
                             struct rsc_profile **out, struct rsc_error *error) {
    int status = rsc_engine_finish(sampled->exact, out, error);
    if (!status && scale(sampled, whole, *out) < 0) status = rsc_fail_memory(error, "profile");
    if (status < 0) {
        rsc_profile_free(*out);
        *out = NULL;
    }
    return status;
}
