/* engine_parallel.h - what tests may turn on the parallel engine that users may not. */
#ifndef RSC_DISTANCE_ENGINE_PARALLEL_H
#define RSC_DISTANCE_ENGINE_PARALLEL_H

#include <stdint.h>

/* Makes all chunks (but the last) this long, and the ring just large enough. `state` is that of
 * rsc_engine_parallel.create(); call before the first push. */
void rsc_parallel_set_chunk(void *state, uint32_t references);

#endif
