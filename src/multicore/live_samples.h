/*
 * live_samples.h - samples that a running program has finished by itself
 * (runtime/recorder/asm_sampled.c), of one model, become a profile: sampled_sum.h for the
 * distances, attribution for code, pairs and objects. Call paths are not known.
 */
#ifndef RSC_MULTICORE_LIVE_SAMPLES_H
#define RSC_MULTICORE_LIVE_SAMPLES_H

#include <reusescope/engine.h>

#include "runtime/sampler/sampler.h"

struct rsc_live_samples;

/* `sampler` as the program has it; `model`: RSC_MODEL_PRIVATE or RSC_MODEL_SHARED. */
int rsc_live_samples_new(struct rsc_live_samples **out, const struct rsc_engine_options *options,
                         const struct rsc_sampler_options *sampler, uint32_t model, struct rsc_error *error);
void rsc_live_samples_free(struct rsc_live_samples *live);

/* Events and threads of a batch without accesses, and samples of any model, their threads by number. */
int rsc_live_samples_push(struct rsc_live_samples *live, const struct rsc_batch *batch,
                          const struct rsc_sample_record *samples, size_t count, struct rsc_error *error);

/* What the program says of itself. */
struct rsc_live_whole {
    uint64_t references, analysed;
    uint64_t begun;      /* samples; those that were never finished are last touches */
    double begun_weight; /* references that they stand for */
    uint64_t (*thread_references)(const void *context, uint32_t number);
    const void *context;
};
int rsc_live_samples_finish(struct rsc_live_samples *live, const struct rsc_live_whole *whole, struct rsc_profile **out,
                            struct rsc_error *error);

#endif
