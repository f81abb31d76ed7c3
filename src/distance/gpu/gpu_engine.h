/* gpu_engine.h - what the gpu engine and the one of private stacks (multicore/engine_gpu_private.c) have in common. */
#ifndef RSC_DISTANCE_GPU_GPU_ENGINE_H
#define RSC_DISTANCE_GPU_GPU_ENGINE_H

#include "distance/engine_kind.h"

/* The engines' parameters, and the device they name. */
int rsc_gpu_parse(void *parameters, const char *text, struct rsc_error *error);
uint32_t rsc_gpu_device(const void *parameters);

/* Bytes that the host takes where the distance of every reference comes back, `each` a reference of a chunk. */
uint64_t rsc_gpu_outcomes_memory(uint64_t lines, uint64_t each);

#endif
