/*
 * program_samples.h - samples that a running program has finished by itself (runtime/recorder/asm_sampled.c), of one
 * model, become a profile: finished_samples.h. Call paths are not known.
 */
#ifndef RSC_MULTICORE_PROGRAM_SAMPLES_H
#define RSC_MULTICORE_PROGRAM_SAMPLES_H

#include "distance/engine_kind.h"
#include "runtime/sampler/sampler.h"

/* Takes columns of samples of any model, and events and threads. Made by rsc_program_samples_create(). */
extern const struct rsc_engine_kind rsc_program_samples;

/* `sampler` as the program has it; `model`: RSC_MODEL_PRIVATE or RSC_MODEL_SHARED. */
int rsc_program_samples_create(void **state, const struct rsc_engine_options *options,
                               const struct rsc_sampler_options *sampler, uint32_t model, struct rsc_error *error);

#endif
