/*
 * engine_exact.h - the state of the exact engine, for an engine whose numbers have been
 * the same so far (multicore/engine_private.c).
 */
#ifndef RSC_DISTANCE_EXACT_ENGINE_EXACT_H
#define RSC_DISTANCE_EXACT_ENGINE_EXACT_H

#include "distance/count/counting.h"
#include "distance/exact/exact_state.h"

struct rsc_exact_engine {
    struct rsc_exact exact;
    struct rsc_counting counting;
    int two_threads; /* may be; decided by the first accesses */
};

#endif
