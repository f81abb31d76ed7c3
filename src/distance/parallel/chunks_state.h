/*
 * chunks_state.h - the parallel engine in chunks, from the inside: engine_chunks.c (what it is, pushing),
 * chunks_work.c (chunks and the workers that take them).
 */
#ifndef RSC_DISTANCE_PARALLEL_CHUNKS_STATE_H
#define RSC_DISTANCE_PARALLEL_CHUNKS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/pool.h"
#include "distance/count/late_attribution.h"
#include "distance/parallel/split.h"

/* References pushed, or attributed, before the other side is told. */
#define PUBLISH 16384u

struct chunks_slot {
    struct rsc_chunk chunk;
    uint32_t progress; /* 1: run, 1 + t: replayed into t states, window + 2: complete */
    int used;          /* the state must be emptied first */
};

struct chunks_engine {
    const struct rsc_log *log;
    int no_ri;
    uint32_t workers, window;
    uint64_t fixed_chunk; /* 0: chunks adapt */
    struct rsc_pool *pool;
    struct rsc_split_worker *worker; /* `workers` of them */
    struct chunks_slot *slot;               /* workers + window; chunk k is in slot k modulo that */

    /* the pushing thread's own */
    struct rsc_accumulator sum; /* accesses and names of threads; everything at the end */
    uint64_t pushed;            /* references written */
    struct rsc_late_tags tags;
    uint32_t from[RSC_SPLIT_BLOCK];

    /* whose turn it is in the order of chunks: that worker's own */
    struct rsc_exact carried;
    struct rsc_phase_grid grid;

    atomic_int stop;                   /* failed, or being destroyed */

    pthread_mutex_t lock; /* for all that follows, and each slot's progress */
    pthread_cond_t progressed;
    pthread_cond_t freed; /* room in the ring, or a worker ended */
    struct rsc_reference_ring ring;
    uint64_t threads;                  /* seen so far... */
    uint32_t kinds;                    /* ...and kinds, by bits */
    int by_who;                        /* more than one of either: ring.who is there and filled */
    uint64_t filled, taken, completed; /* references; pushed >= filled >= taken >= completed */
    uint64_t attributed;               /* references; <= completed */
    uint64_t chunks;                   /* taken */
    uint64_t longest, enough;          /* a chunk may be; see chunk_length() */
    uint32_t running;                  /* workers at work... */
    uint32_t preparing;                /* ...and preparing segments */
    uint32_t *idle;                    /* the others: numbers of idle_count workers */
    uint32_t idle_count;
    uint64_t left_at_end;              /* references that waited when the end came */
    int ended, attributing;
    struct rsc_error error; /* the first; valid if status < 0 */
    int status;
};

static inline struct chunks_slot *slot_of(struct chunks_engine *engine, uint64_t chunk) {
    return &engine->slot[chunk % (engine->workers + engine->window)];
}

/* ---- chunks_work.c ---- */

/* The lock is held: segments that may be in use. */
uint32_t rsc_chunks_in_flight(const struct chunks_engine *engine);

/* The lock is held: whether the caller is to start another worker; it counts as running then. */
int rsc_chunks_wants_worker(struct chunks_engine *engine);
void rsc_chunks_submit_worker(struct chunks_engine *engine);

#endif
