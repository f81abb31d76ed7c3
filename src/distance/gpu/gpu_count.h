/*
 * gpu_count.h - counts what the device does not: by thread, kind and phase, in a second
 * binning, and by code and data.
 *
 * The device gives every reference its outcome (struct rsc_gpu_outcomes), in order, a chunk
 * at a time and some chunks after the reference was pushed. Until then its thread and kind
 * are kept here, and its batch in late_attribution.h. A chunk is counted on all cores, while
 * the device computes the next one; attribution to code needs the references in order, and
 * has a thread of its own.
 */
#ifndef RSC_DISTANCE_GPU_GPU_COUNT_H
#define RSC_DISTANCE_GPU_GPU_COUNT_H

#include <pthread.h>

#include "base/pool.h"
#include "distance/count/accumulate.h"
#include "distance/count/late_attribution.h"
#include "distance/count/phase_grid.h"
#include "distance/engine_kind.h"
#include "distance/gpu/gpu_plugin.h"

struct rsc_gpu_count {
    struct rsc_accumulator *sum; /* the engine's: rows are made there, everything is added to it at the end */
    struct rsc_late_tags tags;
    struct rsc_pool *pool; /* NULL: nothing is counted here */
    struct gpu_worker *worker; /* owned */
    uint32_t workers;
    pthread_mutex_t lock; /* for grid and status */
    struct rsc_phase_grid grid;
    uint32_t *who; /* rsc_meta_who() of references without outcome, in order; owned */
    size_t who_first, who_count, who_room; /* the first is at who_first */
    uint64_t counted; /* references before the first of them */
    const struct rsc_gpu_outcomes *taking;
    uint64_t *outcomes; /* the chunk that is attributed; owned */
    size_t outcome_count, outcome_room;
    int keep_objects;
    uint64_t *objects; /* of its references, as numbered by objects.h; owned */
    int status; /* the first failure */
};

/* Whether options ask for more than the device counts, whatever the trace is like. */
int rsc_gpu_count_wanted(const struct rsc_engine_options *options);

/* `count` is zeroed but for its tags and keep_objects. `sum` has what was counted before, and belongs to the caller. Returns 0 or an
 * error; may be freed either way, and without it. */
int rsc_gpu_count_init(struct rsc_gpu_count *count, struct rsc_accumulator *sum,
                       const struct rsc_engine_options *options, struct rsc_error *error);
void rsc_gpu_count_free(struct rsc_gpu_count *count);

/* Keeps who made the next references. Returns 0 or RSC_ENOMEM. */
int rsc_gpu_count_expect(struct rsc_gpu_count *count, const uint32_t *who, size_t references);

/* Counts the outcomes of the oldest references; for struct rsc_gpu_watch, `context` is the rsc_gpu_count. */
int rsc_gpu_count_take(void *context, const struct rsc_gpu_outcomes *outcomes);

/* The objects of the chunk just taken, with keep_objects; waits for them. NULL: not known. Returns 0 or RSC_ENOMEM. */
int rsc_gpu_count_objects(struct rsc_gpu_count *count, const uint64_t **objects);

/* After all outcomes: adds everything to the accumulator. Returns 0 or RSC_ENOMEM. */
int rsc_gpu_count_end(struct rsc_gpu_count *count);

#endif
