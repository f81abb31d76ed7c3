/*
 * program_samples.h - makes a profile (finished_samples.h) from samples of one model that a running program finished
 * itself (runtime/recorder/asm_sampled.c). Call paths are not known.
 */
#ifndef RSC_MULTICORE_PROGRAM_SAMPLES_H
#define RSC_MULTICORE_PROGRAM_SAMPLES_H

#include "distance/engine_kind.h"
#include "runtime/sampler/sampler.h"

/* Takes columns of samples of any model, and events and threads. Made by rsc_program_samples_create(). */
extern const struct rsc_engine_kind rsc_program_samples;

/* `sampler` as in the program; `model`: RSC_MODEL_PRIVATE or RSC_MODEL_SHARED. */
int rsc_program_samples_create(void **state, const struct rsc_engine_options *options,
                               const struct rsc_sampler_options *sampler, uint32_t model, struct rsc_error *error);

#endif
