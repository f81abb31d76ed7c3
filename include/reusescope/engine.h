/*
 * reusescope/engine.h - from references to a profile.
 *
 * An engine takes batches and ends in a profile:
 *
 *     struct rsc_engine_options options = {.struct_bytes = sizeof options};
 *     rsc_engine_new(&engine, &options, &error);
 *     while ((more = rsc_trace_next(trace, &batch, &error)) > 0)
 *         rsc_engine_push(engine, batch, &error);
 *     rsc_engine_finish(engine, &profile, &error);
 *
 * rsc_analyze_trace() is that loop. An engine belongs to one thread at a time.
 */
#ifndef REUSESCOPE_ENGINE_H
#define REUSESCOPE_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>
#include <reusescope/profile.h>
#include <reusescope/trace.h>

#ifdef __cplusplus
extern "C" {
#endif

/* A zero field selects the default. */
struct rsc_engine_options {
    size_t struct_bytes;       /* sizeof(struct rsc_engine_options) */
    const char *engine;        /* "exact", ..., or "NAME:PARAMETERS" as --engine takes it; default "auto" */
    const char *model; /* one stack over all threads: "single" (default), or "shared" when the recorded thread
                          order is real; "private": one stack per thread, kept coherent by invalidation; the
                          "requests" engine has its own model */
    uint32_t line_bytes; /* power of two, 1 to 4096; default 64; 1 for "requests", 8 for "featherlight" */
    uint32_t phases; /* number of parts to cut the run into; 0: none */
    uint64_t max_distance; /* put RD >= this into one open-ended bin; 0: no cap */
    uint32_t bins_per_octave; /* 1 to 64: also keep histograms with this many bins per octave; 0: none */
    uint32_t workers; /* analysis threads; default 1 */
    const struct rsc_log *log; /* must outlive the engine */
    uint32_t attribute; /* attribute to code and data: 0 if batches have pcs (default), 1 always, 2 never */
    uint32_t no_ri; /* 1: do not count reuse intervals (saves memory) */
    uint64_t seed; /* for engines that sample at random; 0 is a valid seed */
    double error; /* "auto": tolerated mean absolute error of the curve; 0: exact */
    double confidence; /* of error bars, in percent; default 90 */
    uint32_t top_lines; /* also report the lines with the most misses, up to 1024 of them; 0: none */
    uint32_t reserved; /* 0 */
    uint64_t top_lines_bytes; /* cache size for top_lines; default 32 KiB */
    const char *cores; /* "private": groups of threads that share a stack, as "0-1,2-3" (thread numbers in order of
                          appearance; "0+2" groups 0 and 2); ungrouped threads have their own stack. NULL: no groups */
};

struct rsc_engine;

/* Creates an engine; free *out with rsc_engine_free(). options may be NULL. */
RSC_API int rsc_engine_new(struct rsc_engine **out, const struct rsc_engine_options *options, struct rsc_error *error);

/*
 * Processes a batch; the caller keeps ownership. After a failure the engine can
 * only be freed.
 */
RSC_API int rsc_engine_push(struct rsc_engine *engine, const struct rsc_batch *batch, struct rsc_error *error);

/* Ends the analysis. The caller frees *out with rsc_profile_free(). */
RSC_API int rsc_engine_finish(struct rsc_engine *engine, struct rsc_profile **out, struct rsc_error *error);

/* Frees an engine, finished or not. NULL is allowed. */
RSC_API void rsc_engine_free(struct rsc_engine *engine);

/* Runs a whole trace through a new engine. */
RSC_API int rsc_analyze_trace(struct rsc_trace *trace, const struct rsc_engine_options *options,
                              struct rsc_profile **out, struct rsc_error *error);

#ifdef __cplusplus
}
#endif
#endif
