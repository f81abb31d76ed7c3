/* simulator.c - see simulator.h and, for what a simulator consists of, simulator_state.h. */
#include "simulate/simulator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/simulator_state.h"
#include "trace/instruction_share.h"
#include "trace/references.h"

#define FILL_CHECK 1024u /* with warm_fill: accesses between checks of how full the last level is */

int rsc_sim_new(struct rsc_sim **out, const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                struct rsc_error *error) {
    struct rsc_sim *sim = calloc(1, sizeof *sim);
    *out = NULL;
    if (!sim) return rsc_fail_memory(error, "simulator");
    sim->config = *config;
    if (options) sim->options = *options;
    sim->instructions_known = 1;
    sim->counting = !sim->options.warm_accesses && !(sim->options.warm_fill > 0);
    int status = rsc_sim_build(sim, error);
    if (!status && !sim->options.slow) status = rsc_first_level_new(&sim->fast, sim, error);
    if (status < 0) {
        rsc_sim_free(sim);
        return status;
    }
    *out = sim;
    return 0;
}

void rsc_sim_free(struct rsc_sim *sim) {
    if (!sim) return;
    for (size_t i = 0; i < sim->stream_count; i++) {
        if (sim->pool) rsc_pool_wait(sim->pool);
        rsc_side_stream_free(&sim->streams[i].side);
    }
    rsc_first_level_free(sim->fast);
    rsc_tlbs_free(sim->tlbs);
    for (size_t i = 0; i < sim->segment_count; i++) {
        rsc_hierarchy_free(&sim->segments[i].hierarchy);
        rsc_request_list_free(&sim->segments[i].record);
    }
    rsc_pool_free(sim->pool);
    rsc_spaces_free(&sim->spaces);
    free(sim->rows);
    free(sim->levels);
    free(sim->configs);
    free(sim->windows);
    free(sim->window_counts);
    free(sim);
}

int rsc_sim_request_owner(const struct rsc_sim *sim, const struct rsc_request *request, uint64_t *pid) {
    if (!sim->spaces.pids) return 0;
    *pid = sim->spaces.pids[request->addr >> RSC_SPACE_SHIFT];
    return 1;
}

/* ---- accesses ---- */

/* A first segment without levels: everything is recorded for later, or goes to families beside it. */
static int pass_all(struct rsc_sim *sim, uint32_t first, uint32_t end, struct rsc_error *error) {
    struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    const struct rsc_hierarchy *next = sim->segment_count > 1 ? &sim->segments[1].hierarchy : NULL;
    for (uint32_t i = first; i < end && !hierarchy->status; i++) {
        struct rsc_request request;
        rsc_hierarchy_make_request(hierarchy, sim->batch, i, &request);
        if (request.kind >= RSC_KINDS || (next && next->entry[request.kind] < 0)) continue;
        hierarchy->left_out--;
        hierarchy->memory.request(hierarchy->memory.user, &request);
    }
    return rsc_hierarchy_fail(hierarchy, error);
}

static int feed(struct rsc_sim *sim, uint32_t first, uint32_t end, struct rsc_error *error) {
    struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    if (first >= end) return 0;
    if (sim->tlbs && rsc_tlbs_push(sim->tlbs, sim->batch, first, end) < 0) return rsc_fail_memory(error, "TLBs");
    if (!sim->config.count && !sim->config.all_count) return 0;
    if (!hierarchy->level_count) return pass_all(sim, first, end, error);
    if (sim->fast) return rsc_first_level_push(sim->fast, sim->batch, first, end, error);
    return rsc_hierarchy_push(hierarchy, sim->batch, first, end, error);
}

/* Completes the counts for everything pushed so far. */
static void settle(struct rsc_sim *sim) {
    if (sim->fast) rsc_first_level_flush(sim->fast);
    for (size_t i = 0; i < sim->stream_count; i++) rsc_side_flush(&sim->streams[i].side);
}

/* Starts counting the requests of a segment: in its own caches, those beside them, and the next segment. */
static void begin_counting(struct rsc_sim *sim, size_t s) {
    if (s == 0 && sim->fast) rsc_first_level_flush(sim->fast);
    if (s == 0 && sim->tlbs) rsc_tlbs_forget_counts(sim->tlbs);
    rsc_hierarchy_forget_counts(&sim->segments[s].hierarchy);
    for (size_t i = 0; i < sim->stream_count; i++)
        if (sim->streams[i].segment == (int)s) rsc_side_forget_counts(&sim->streams[i].side);
    if (s + 1 < sim->segment_count) sim->segments[s + 1].record.counted_from = sim->segments[s + 1].record.count;
}

static void begin_segment(void *user) {
    struct rsc_segment *segment = user;
    begin_counting(segment->sim, (size_t)(segment - segment->sim->segments));
}

/* Whether the last primary level is filled to warm_fill. */
static int full_enough(struct rsc_sim *sim) {
    const struct rsc_hierarchy *hierarchy = &sim->segments[0].hierarchy;
    if (sim->fast) rsc_first_level_flush(sim->fast);
    if (!hierarchy->level_count) return 1;
    struct rsc_level_counts counts = rsc_level_total(&hierarchy->levels[hierarchy->level_count - 1]);
    return counts.blocks && (double)counts.blocks_at_end >= sim->options.warm_fill * (double)counts.blocks;
}

/* Serves accesses while warming up; *first is where counting starts, or the end of the batch. */
static int warm(struct rsc_sim *sim, uint32_t *first, struct rsc_error *error) {
    uint32_t count = sim->batch->count;
    int status = 0;
    while (!status && !sim->counting && *first < count) {
        uint64_t left = sim->options.warm_accesses - sim->seen;
        if (sim->options.warm_fill > 0) left = FILL_CHECK - sim->seen % FILL_CHECK;
        uint32_t end = left < count - *first ? *first + (uint32_t)left : count;
        status = feed(sim, *first, end, error);
        sim->seen += end - *first;
        *first = end;
        sim->counting = sim->options.warm_fill > 0 ? sim->seen % FILL_CHECK == 0 && full_enough(sim)
                                                   : sim->seen == sim->options.warm_accesses;
        if (sim->counting) begin_counting(sim, 0);
    }
    return status;
}

/* ---- windows ---- */

static int end_window(struct rsc_sim *sim, struct rsc_error *error) {
    size_t width = 2 * sim->row_count;
    if (sim->window_count == sim->window_room) {
        size_t room = sim->window_room ? 2 * sim->window_room : 64;
        struct rsc_sim_window *windows = realloc(sim->windows, room * sizeof *windows);
        if (windows) sim->windows = windows;
        uint64_t *counts = realloc(sim->window_counts, room * width * sizeof *counts);
        if (counts) sim->window_counts = counts;
        if (!windows || !counts) return rsc_fail_memory(error, "windows");
        sim->window_room = room;
    }
    uint64_t before = sim->window_count * sim->options.window_accesses;
    sim->windows[sim->window_count] = (struct rsc_sim_window){
        .first = sim->seen - (sim->accesses - before),
        .accesses = sim->accesses - before,
        .instructions = sim->instructions_known ? sim->instructions - sim->window_instructions : RSC_UNKNOWN,
    };
    settle(sim);
    for (size_t row = 0; row < sim->row_count; row++) {
        struct rsc_level_counts counts = rsc_sim_row_counts(sim, row);
        sim->window_counts[sim->window_count * width + 2 * row] = rsc_kinds_sum(counts.accesses);
        sim->window_counts[sim->window_count * width + 2 * row + 1] = rsc_kinds_sum(counts.misses);
    }
    sim->window_instructions = sim->instructions;
    sim->window_count++;
    return 0;
}

int rsc_sim_push(struct rsc_sim *sim, const struct rsc_batch *batch, struct rsc_error *error) {
    uint32_t first = 0;
    sim->batch = batch;
    int status = rsc_references_limit(&sim->wide_references, batch, 6, error);
    if (!status) status = warm(sim, &first, error);
    if (sim->counting && batch->instructions == RSC_UNKNOWN) sim->instructions_known &= !batch->count;
    if (sim->counting && !batch->count && batch->instructions != RSC_UNKNOWN) sim->instructions += batch->instructions;
    const int by_fetches = (first || sim->options.window_accesses) && rsc_fetches_are_instructions(batch);
    while (!status && first < batch->count) {
        uint64_t length = sim->options.window_accesses, left = length ? length - sim->accesses % length : UINT64_MAX;
        uint32_t end = left < batch->count - first ? first + (uint32_t)left : batch->count;
        status = feed(sim, first, end, error);
        sim->seen += end - first;
        sim->accesses += end - first;
        if (batch->instructions != RSC_UNKNOWN)
            sim->instructions += rsc_instruction_share(batch, by_fetches, first, end);
        if (!status && length && sim->accesses % length == 0) status = end_window(sim, error);
        first = end;
    }
    return status;
}

/* ---- results ---- */

/* Fills in the requests past the last level, from the last segment. */
static void fill_totals(struct rsc_sim *sim, struct rsc_sim_result *result) {
    const struct rsc_hierarchy *last = &sim->segments[sim->segment_count - 1].hierarchy;
    result->instructions = sim->instructions_known && sim->seen ? sim->instructions : RSC_UNKNOWN;
    result->accesses = sim->accesses;
    result->warm_accesses = sim->seen - sim->accesses;
    result->left_out = sim->segments[0].hierarchy.left_out;
    result->memory_reads = last->memory_reads;
    result->memory_writes = last->memory_writes;
    result->classified = sim->options.classify;
}

static int fill_windows(struct rsc_sim *sim, struct rsc_sim_result *result) {
    size_t rows = sim->row_count, cells = sim->window_count * rows;
    result->window_count = sim->window_count;
    if (!sim->window_count) return 0;
    result->windows = sim->windows;
    sim->windows = NULL;
    result->window_accesses = malloc(cells * sizeof *result->window_accesses);
    result->window_misses = malloc(cells * sizeof *result->window_misses);
    if (!result->window_accesses || !result->window_misses) return RSC_ENOMEM;
    for (size_t cell = 0; cell < cells; cell++) { /* from running totals to differences */
        const uint64_t *now = &sim->window_counts[2 * cell], *before = cell >= rows ? now - 2 * rows : NULL;
        result->window_accesses[cell] = now[0] - (before ? before[0] : 0);
        result->window_misses[cell] = now[1] - (before ? before[1] : 0);
    }
    return 0;
}

static int end_simulation(struct rsc_sim *sim, struct rsc_error *error) {
    uint64_t length = sim->options.window_accesses;
    int status = length && sim->accesses % length ? end_window(sim, error) : 0;
    if (status < 0) return status;
    settle(sim);
    sim->batch = NULL;
    for (size_t s = 0; s < sim->segment_count; s++) {
        struct rsc_segment *segment = &sim->segments[s];
        if (s) status = rsc_request_list_serve(&segment->record, &segment->hierarchy, begin_segment, segment);
        rsc_request_list_free(&segment->record);
        rsc_hierarchy_drain(&segment->hierarchy);
        if (!status) status = segment->hierarchy.status;
        if (status < 0) return rsc_fail_memory(error, "Belady's optimum keeps all requests of its level");
    }
    for (size_t i = 0; i < sim->stream_count; i++)
        if (rsc_side_finish(&sim->streams[i].side) < 0) return rsc_fail_memory(error, "caches");
    return 0;
}

int rsc_sim_finish(struct rsc_sim *sim, struct rsc_sim_result *result, struct rsc_error *error) {
    memset(result, 0, sizeof *result);
    if (!sim->counting && sim->options.warm_fill > 0)
        return rsc_fail(error, RSC_EINVAL,
                        "--warm-fill %g: the trace of %llu accesses does not fill the last level that far",
                        sim->options.warm_fill, (unsigned long long)sim->seen);
    if (!sim->counting)
        return rsc_fail(error, RSC_EINVAL, "--warm %llu: the trace has only %llu accesses",
                        (unsigned long long)sim->options.warm_accesses, (unsigned long long)sim->seen);
    int status = end_simulation(sim, error);
    if (status < 0) return status;
    fill_totals(sim, result);
    if (fill_windows(sim, result) < 0) return rsc_fail_memory(error, "windows");
    if (sim->tlbs && rsc_tlbs_result(sim->tlbs, result) < 0) return rsc_fail_memory(error, "results");
    result->levels = sim->levels;
    result->level_count = sim->row_count;
    sim->levels = NULL;
    unsigned first_level = result->level_count ? sim->configs[0].level : 0;
    int no_primary = !sim->config.count;
    for (size_t row = 0; row < result->level_count; row++) {
        struct rsc_sim_level_result *to = &result->levels[row];
        to->counts = rsc_sim_row_counts(sim, row);
        if (sim->configs[row].level == first_level && !to->alternative && !(no_primary && row))
            result->references += rsc_kinds_sum(to->counts.accesses);
    }
    if (!result->level_count) result->references = result->accesses;
    return 0;
}
