/*
 * engine_exact.c - the exact engine, one core: accesses are cut into lines, the
 * kernel turns lines into distances, the accumulator counts them. Blocks are
 * small enough for the three arrays between those steps to stay in L1 and L2.
 *
 * With attribution, accesses get tags first, and the kernel says whose use each
 * reference reuses. Whether that is wanted shows with the first accesses; until
 * then events are taken in as if it were.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"
#include "distance/count/attribution.h"
#include "distance/engine_kind.h"
#include "distance/exact/exact_state.h"
#include "distance/count/top_lines.h"
#include "trace/references.h"

#define BLOCK 2048u

struct exact_engine {
    struct rsc_exact exact;
    struct rsc_accumulator sum;
    uint32_t line_shift;
    const struct rsc_log *log;
    uint32_t attribute; /* as in the options; 1 or 2 once decided */
    struct rsc_attribution *attribution;
    struct rsc_top_lines top; /* wanted 0: none */
    uint64_t rd_cap;
    int no_ri;
    uint32_t *tags; /* by access of the batch */
    uint32_t tag_room;
    uint64_t lines[BLOCK];
    uint64_t ri[BLOCK];
    uint32_t rd[BLOCK];
    uint32_t from[BLOCK];
    uint32_t line_tags[BLOCK];
    uint32_t last_tag[BLOCK];
    uint64_t objects[BLOCK]; /* what each reference lies in, for top lines */
};

static void exact_destroy(void *state) {
    struct exact_engine *engine = state;
    if (!engine) return;
    rsc_exact_free(&engine->exact);
    rsc_accumulator_free(&engine->sum);
    rsc_attribution_free(engine->attribution);
    rsc_top_lines_free(&engine->top);
    free(engine->tags);
    free(engine);
}

static int exact_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                        struct rsc_error *error) {
    (void)parameters;
    struct exact_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "exact engine");
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    engine->attribute = options->attribute;
    engine->rd_cap = options->max_distance;
    engine->no_ri = options->no_ri != 0;
    if (rsc_exact_init(&engine->exact, rsc_simd_best(), 0) < 0 ||
        rsc_accumulator_init(&engine->sum, options->phases, options->max_distance, options->bins_per_octave) < 0 ||
        (options->top_lines && rsc_top_lines_init(&engine->top, options->top_lines, options->top_lines_bytes,
                                                  engine->line_shift, options->max_distance) < 0)) {
        exact_destroy(engine);
        return rsc_fail_memory(error, "exact engine");
    }
    if (engine->no_ri) rsc_exact_leave_out_ri(&engine->exact);
    *state = engine;
    return 0;
}

static int explain(const struct exact_engine *engine, int status, struct rsc_error *error) {
    uint64_t lines = rsc_exact_distinct(&engine->exact);
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "exact engine: more than %llu distinct lines; take a larger --line",
                        (unsigned long long)lines);
    return rsc_fail(error, status, "out of memory (exact engine, %llu distinct lines, %llu MiB)",
                    (unsigned long long)lines, (unsigned long long)(engine->exact.peak_bytes >> 20));
}

/* Makes or drops the attribution, as wanted, and gives the batch's accesses their tags. */
static int attribute(struct exact_engine *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    if (engine->attribute == 0 && batch->count) engine->attribute = batch->pc ? 1 : 2;
    if (engine->attribute == 2) {
        rsc_attribution_free(engine->attribution);
        engine->attribution = NULL;
        return 0;
    }
    if (!engine->attribution) {
        struct rsc_attribution_options options = {.rd_cap = engine->rd_cap};
        int status = rsc_attribution_new(&engine->attribution, &options, error);
        if (status < 0) return status;
        if (engine->top.wanted) rsc_attribution_keep_objects(engine->attribution, engine->objects);
    }
    if (batch->count > engine->tag_room) {
        free(engine->tags);
        engine->tags = malloc(batch->count * sizeof *engine->tags);
        engine->tag_room = engine->tags ? batch->count : 0;
        if (!engine->tags) return rsc_fail_memory(error, "tags");
    }
    if (rsc_attribution_tags(engine->attribution, batch, engine->tags) < 0) return rsc_fail_memory(error, "tags");
    return 0;
}

static int run_tagged(struct exact_engine *engine, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) engine->line_tags[i] = engine->tags[engine->from[i]];
    return rsc_exact_run_tagged(&engine->exact, engine->lines, engine->line_tags, count, engine->rd, engine->ri,
                                engine->last_tag);
}

static int exact_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct exact_engine *engine = state;
    struct rsc_reference_cursor cursor;
    uint32_t count;
    int status = attribute(engine, batch, error);
    if (status < 0) return status;
    if (rsc_accumulator_see_threads(&engine->sum, batch) < 0) return rsc_fail_memory(error, "thread rows");
    engine->sum.accesses += batch->count;
    rsc_references_start(&cursor, batch, engine->line_shift);
    while ((count = rsc_references_fill(&cursor, engine->lines, engine->from, BLOCK)) > 0) {
        status = engine->attribution ? run_tagged(engine, count)
                                     : rsc_exact_run(&engine->exact, engine->lines, count, engine->rd, engine->ri);
        if (status < 0) return explain(engine, status, error);
        if (rsc_accumulate(&engine->sum, batch, engine->from, engine->rd, engine->no_ri ? NULL : engine->ri, count) < 0)
            return rsc_fail_memory(error, "phases");
        if (engine->attribution && rsc_attribution_count(engine->attribution, batch, engine->from, engine->tags,
                                                         engine->rd, engine->last_tag, count) < 0)
            return rsc_fail_memory(error, "attribution");
        if (engine->top.wanted)
            rsc_top_lines_count(&engine->top, engine->lines, engine->rd, engine->attribution ? engine->objects : NULL,
                                count);
    }
    return 0;
}

static int fill_lines(struct exact_engine *engine, struct rsc_profile *profile) {
    uint64_t objects[RSC_TOP_LINES_MAX];
    if (!engine->top.wanted) return 0;
    int status = rsc_top_lines_fill(&engine->top, profile, objects);
    return status || !engine->attribution ? status : rsc_attribution_name_lines(engine->attribution, profile, objects);
}

static int exact_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct exact_engine *engine = state;
    uint64_t distinct = rsc_exact_distinct(&engine->exact);
    *out = rsc_accumulator_profile(&engine->sum, distinct);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "exact") < 0 ||
        rsc_profile_set_text(&(*out)->made.model, "single") < 0 || fill_lines(engine, *out) < 0 ||
        (engine->attribution && rsc_attribution_fill(engine->attribution, *out) < 0))
        return rsc_fail_memory(error, "profile");
    if (distinct)
        rsc_log_line(engine->log, RSC_LOG_INFO, "exact engine (%s): %.1f MiB at most, %.1f bytes per distinct line",
                     rsc_simd_name(rsc_simd_best()), (double)engine->exact.peak_bytes / (1 << 20),
                     (double)engine->exact.peak_bytes / (double)distinct);
    if (engine->sum.threads_seen > engine->sum.thread_count)
        rsc_log_line(engine->log, RSC_LOG_WARNING, "%llu threads; only the first %u have rows of their own",
                     (unsigned long long)engine->sum.threads_seen, engine->sum.thread_count);
    return 0;
}

static void exact_so_far(const void *state, struct rsc_so_far *so_far) {
    so_far->references = ((const struct exact_engine *)state)->sum.references;
    so_far->error = 0;
}

uint64_t rsc_exact_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    (void)parameters;
    return lines * (options->no_ri ? 24 : 40);
}

const struct rsc_engine_kind rsc_engine_exact = {
    .name = "exact",
    .what = "every distance, bit for bit; one core",
    .can = RSC_CAN_PHASES | RSC_CAN_CAP | RSC_CAN_BINS | RSC_CAN_ATTRIBUTE | RSC_CAN_NO_RI | RSC_CAN_TOP_LINES,
    .memory = rsc_exact_memory,
    .create = exact_create,
    .push = exact_push,
    .finish = exact_finish,
    .destroy = exact_destroy,
    .so_far = exact_so_far,
};
