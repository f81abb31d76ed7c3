/* engine_parallel.h - what tests may turn on the parallel engine that users may not. */
#ifndef RSC_DISTANCE_ENGINE_PARALLEL_H
#define RSC_DISTANCE_ENGINE_PARALLEL_H

#include <stdint.h>

/* Gives each worker about so many references a round: whole lines of the bitmap, 448 references. `state` is that of
 * rsc_engine_parallel.create(); call before the first push. */
void rsc_parallel_set_slice(void *state, uint32_t references);

#endif
