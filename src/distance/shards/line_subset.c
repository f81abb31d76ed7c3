/* line_subset.c - see line_subset.h. How counts are scaled: subset_scale.c. */
#include "distance/shards/line_subset.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/u64_table.h"
#include "distance/shards/line_filter.h"
#include "distance/shards/subset_scale.h"

#define GROUPS RSC_SUBSET_GROUPS

/* A clock by which intervals are counted: the run's, or a thread's. */
struct clock {
    uint64_t now;            /* references */
    uint64_t last_line;      /* of the last one kept, plus 1 */
    struct rsc_u64_table last; /* line -> time of its last use, plus 1 */
};

struct rsc_line_subset {
    struct rsc_engine_options options;
    struct rsc_subset_choice choice;
    const char *text;
    uint32_t shift;
    int by_thread; /* stacks are private */
    struct rsc_engine *whole, *groups[GROUPS];
    struct clock *clocks; /* one, or by thread number; owned */
    uint32_t clock_count;
    uint64_t kept;
    struct rsc_histogram ri;      /* RSC_BINS_FINE */
    struct rsc_histogram zero_ri; /* RSC_BINS_FINE: of references with no other sampled line since their last use */
    /* A group's part of a batch: */
    uint64_t *addr[GROUPS], *meta[GROUPS];
    uint32_t count[GROUPS], room;
};

int rsc_subset_choose(struct rsc_subset_choice *choice, const char *text, uint64_t seed) {
    size_t length = strlen(text);
    const char *slash = strchr(text, '/');
    double over = 1;
    if (!slash && length && text[length - 1] == '%') {
        over = 100;
        length--;
    }
    if (slash && rsc_parse_fraction(slash + 1, strlen(slash + 1), &over) < 0) return -1;
    if (rsc_parse_fraction(text, slash ? (size_t)(slash - text) : length, &choice->rate) < 0 || !(over > 0)) return -1;
    choice->rate /= over;
    if (!(choice->rate >= 1e-9 && choice->rate < 1)) return -1;
    choice->limit = (uint64_t)(choice->rate * 0x1p64) - 1;
    choice->offset = rsc_line_offset(seed);
    return 0;
}

void rsc_line_subset_free(struct rsc_line_subset *subset) {
    if (!subset) return;
    rsc_engine_free(subset->whole);
    for (uint32_t g = 0; g < GROUPS; g++) {
        rsc_engine_free(subset->groups[g]);
        free(subset->addr[g]);
        free(subset->meta[g]);
    }
    for (uint32_t i = 0; i < subset->clock_count; i++) rsc_u64_table_free(&subset->clocks[i].last);
    free(subset->clocks);
    rsc_histogram_free(&subset->ri);
    rsc_histogram_free(&subset->zero_ri);
    free(subset);
}

static int refuse(const struct rsc_engine_options *options, struct rsc_error *error) {
    if (options->top_lines)
        return rsc_fail(error, RSC_EINVAL, "a sample of lines cannot tell which lines miss most (--top-lines)");
    if (options->max_distance) return rsc_fail(error, RSC_EINVAL, "a sample of lines needs no --max-distance");
    return 0;
}

int rsc_line_subset_new(struct rsc_line_subset **out, const struct rsc_engine_options *options,
                        const struct rsc_subset_choice *choice, const char *text, struct rsc_error *error) {
    *out = NULL;
    int status = refuse(options, error);
    if (status < 0) return status;
    struct rsc_line_subset *subset = calloc(1, sizeof *subset);
    if (!subset) return rsc_fail_memory(error, "sample");
    subset->options = *options;
    subset->choice = *choice;
    subset->text = text;
    if (!subset->options.line_bytes) subset->options.line_bytes = 64;
    if (!(subset->options.confidence > 0)) subset->options.confidence = 90;
    subset->shift = (uint32_t)__builtin_ctz(subset->options.line_bytes);
    subset->by_thread = options->model && !strcmp(options->model, "private");
    struct rsc_engine_options inner = subset->options;
    inner.engine = "exact";
    inner.no_ri = 1;
    inner.bins_per_octave = 0;
    inner.error = 0;
    status = rsc_engine_new(&subset->whole, &inner, error);
    inner.attribute = 2;
    inner.phases = 0;
    for (uint32_t g = 0; !status && g < GROUPS; g++) status = rsc_engine_new(&subset->groups[g], &inner, error);
    if (!status &&
        (rsc_histogram_init(&subset->ri, RSC_BINS_FINE) < 0 || rsc_histogram_init(&subset->zero_ri, RSC_BINS_FINE) < 0))
        status = rsc_fail_memory(error, "sample");
    if (status < 0) {
        rsc_line_subset_free(subset);
        return status;
    }
    *out = subset;
    return 0;
}

/* ---- references ---- */

static int make_clocks(struct rsc_line_subset *subset, uint32_t count) {
    if (count <= subset->clock_count) return 0;
    uint32_t room = subset->clock_count ? subset->clock_count : 1;
    while (room < count) room *= 2;
    struct clock *clocks = realloc(subset->clocks, room * sizeof *clocks);
    if (!clocks) return RSC_ENOMEM;
    memset(clocks + subset->clock_count, 0, (room - subset->clock_count) * sizeof *clocks);
    subset->clocks = clocks;
    while (subset->clock_count < room)
        if (rsc_u64_table_init(&clocks[subset->clock_count++].last, 64) < 0) return RSC_ENOMEM;
    return 0;
}

static int take_interval(struct rsc_line_subset *subset, uint64_t line, uint64_t meta, uint64_t skipped) {
    uint32_t number = subset->by_thread ? rsc_meta_thread(meta) : 0;
    if (make_clocks(subset, number + 1) < 0) return RSC_ENOMEM;
    struct clock *clock = &subset->clocks[number];
    if (rsc_u64_table_needs_rebuild(&clock->last) && rsc_u64_table_rebuild(&clock->last) < 0) return RSC_ENOMEM;
    clock->now += skipped + 1;
    struct rsc_u64_entry *entry = rsc_u64_table_find(&clock->last, line);
    if (entry->value) {
        uint64_t interval = clock->now - (entry->value - 1);
        rsc_histogram_add(&subset->ri, interval, 1);
        if (clock->last_line == line + 1) rsc_histogram_add(&subset->zero_ri, interval, 1);
    } else {
        entry->key = line;
        clock->last.used++;
    }
    entry->value = clock->now + 1;
    clock->last_line = line + 1;
    return 0;
}

static int make_room(struct rsc_line_subset *subset, uint32_t count) {
    if (count <= subset->room) return 0;
    for (uint32_t g = 0; g < GROUPS; g++) {
        uint64_t *addr = realloc(subset->addr[g], count * sizeof *addr);
        if (addr) subset->addr[g] = addr;
        uint64_t *meta = realloc(subset->meta[g], count * sizeof *meta);
        if (meta) subset->meta[g] = meta;
        if (!addr || !meta) return RSC_ENOMEM;
    }
    subset->room = count;
    return 0;
}

int rsc_line_subset_push(struct rsc_line_subset *subset, const struct rsc_batch *batch, const uint64_t *skipped,
                         struct rsc_error *error) {
    if (make_room(subset, batch->count) < 0) return rsc_fail_memory(error, "sample");
    memset(subset->count, 0, sizeof subset->count);
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t line = batch->addr[i] >> subset->shift;
        if (take_interval(subset, line, batch->meta[i], skipped[i]) < 0) return rsc_fail_memory(error, "sample");
        uint32_t group = rsc_hash_group(rsc_line_hash(line, subset->choice.offset), GROUPS),
                 at = subset->count[group]++;
        subset->addr[group][at] = batch->addr[i];
        subset->meta[group][at] = batch->meta[i];
    }
    subset->kept += batch->count;
    int status = rsc_engine_push(subset->whole, batch, error);
    for (uint32_t g = 0; !status && g < GROUPS; g++) {
        struct rsc_batch part = {.count = subset->count[g],
                                 .addr = subset->addr[g],
                                 .meta = subset->meta[g],
                                 .threads = batch->threads,
                                 .thread_count = batch->thread_count,
                                 .instructions = RSC_UNKNOWN};
        status = rsc_engine_push(subset->groups[g], &part, error);
    }
    return status;
}

int rsc_line_subset_finish(struct rsc_line_subset *subset, const struct rsc_subset_whole *whole,
                           struct rsc_profile **out, struct rsc_error *error) {
    struct rsc_profile *profile = NULL, *groups[GROUPS] = {NULL};
    int status = rsc_engine_finish(subset->whole, &profile, error);
    *out = NULL;
    for (uint32_t g = 0; !status && g < GROUPS; g++) status = rsc_engine_finish(subset->groups[g], &groups[g], error);
    if (!status) {
        struct rsc_subset_facts facts = {.rate = subset->choice.rate,
                                         .seed = subset->options.seed,
                                         .text = subset->text,
                                         .confidence = subset->options.confidence,
                                         .kept = subset->kept,
                                         .bins_per_octave = subset->options.bins_per_octave,
                                         .no_ri = subset->options.no_ri != 0,
                                         .ri = &subset->ri,
                                         .zero_ri = &subset->zero_ri,
                                         .whole = whole,
                                         .groups = (const struct rsc_profile *const *)groups};
        status = rsc_subset_scale(profile, &facts);
        if (status < 0) status = rsc_fail_memory(error, "profile");
    }
    for (uint32_t g = 0; g < GROUPS; g++) rsc_profile_free(groups[g]);
    if (status < 0) rsc_profile_free(profile);
    else *out = profile;
    return status;
}
