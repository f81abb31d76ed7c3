/*
 * engine_exact.c - the exact engine, one stack: the kernel (exact_state.h) turns lines
 * into distances; counting.h does everything before and after, in a second thread where
 * that may be and there is code to attribute to.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "distance/engine_kind.h"
#include "distance/exact/engine_exact.h"

static void exact_destroy(void *state) {
    struct rsc_exact_engine *engine = state;
    if (!engine) return;
    rsc_exact_free(&engine->exact);
    rsc_counting_free(&engine->counting);
    free(engine);
}

static int exact_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                        struct rsc_error *error) {
    (void)parameters;
    struct rsc_exact_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "exact engine");
    if (rsc_exact_init(&engine->exact, rsc_simd_best(), 0) < 0 ||
        rsc_counting_init(&engine->counting, options, 0) < 0) {
        exact_destroy(engine);
        return rsc_fail_memory(error, "exact engine");
    }
    if (engine->counting.no_ri) rsc_exact_leave_out_ri(&engine->exact);
    *state = engine;
    return 0;
}

static int explain(const struct rsc_exact_engine *engine, int status, struct rsc_error *error) {
    uint64_t lines = rsc_exact_distinct(&engine->exact);
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "exact engine: more than %llu distinct lines; take a larger --line",
                        (unsigned long long)lines);
    return rsc_fail(error, status, "out of memory (exact engine, %llu distinct lines, %llu MiB)",
                    (unsigned long long)lines, (unsigned long long)(engine->exact.peak_bytes >> 20));
}

static int exact_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_exact_engine *engine = state;
    struct rsc_counting *counting = &engine->counting;
    uint32_t count;
    if (engine->two_threads && batch->count) {
        engine->two_threads = 0;
        if (batch->pc && counting->tags.attribute != 2) rsc_counting_behind(counting);
    }
    int status = rsc_counting_begin(counting, batch, error);
    while (!status && (count = rsc_counting_next(counting)) > 0) {
        struct rsc_counting_block *block = counting->block;
        int failed = rsc_counting_tagged(counting)
                         ? rsc_exact_run_tagged(&engine->exact, counting->lines, block->tag, count, block->rd,
                                                block->ri, block->last_tag)
                         : rsc_exact_run(&engine->exact, counting->lines, count, block->rd, block->ri);
        status = failed < 0 ? explain(engine, failed, error) : rsc_counting_take(counting, error);
    }
    return status;
}

static int exact_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct rsc_exact_engine *engine = state;
    uint64_t distinct = rsc_exact_distinct(&engine->exact);
    *out = rsc_counting_profile(&engine->counting, distinct);
    if (!*out || rsc_profile_set_text(&(*out)->made.by, "exact") < 0 ||
        rsc_profile_set_text(&(*out)->made.model, "single") < 0 || rsc_counting_fill_code(&engine->counting, *out) < 0)
        return rsc_fail_memory(error, "profile");
    if (distinct)
        rsc_log_line(engine->counting.log, RSC_LOG_INFO,
                     "exact engine (%s): %.1f MiB at most, %.1f bytes per distinct line",
                     rsc_simd_name(rsc_simd_best()), (double)engine->exact.peak_bytes / (1 << 20),
                     (double)engine->exact.peak_bytes / (double)distinct);
    return 0;
}

static void exact_so_far(const void *state, struct rsc_so_far *so_far) {
    so_far->references = ((const struct rsc_exact_engine *)state)->counting.references;
    so_far->error = 0;
}

uint64_t rsc_exact_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines) {
    (void)parameters;
    return lines * (options->no_ri ? 24 : 40);
}

static void exact_watch(void *state, const struct rsc_distance_watch *watch) {
    ((struct rsc_exact_engine *)state)->counting.watch = *watch;
}

static void exact_two_threads(void *state) { ((struct rsc_exact_engine *)state)->two_threads = 1; }

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
    .watch = exact_watch,
    .two_threads = exact_two_threads,
};
