/*
 * split.h - a trace cut in time: what one worker does with one chunk.
 *
 * The worker runs the chunk through a state of its own, which makes every first
 * use in it look cold, and remembers those first uses. They are then replayed into
 * the states of the chunks before, nearest first (exact_replay.h says why that is
 * exact). What a state holds gets its distance there and is counted; the rest
 * goes on to the next, and what is left in the end is cold.
 *
 * engine_chunks.c decides who does what when.
 */
#ifndef RSC_DISTANCE_PARALLEL_SPLIT_H
#define RSC_DISTANCE_PARALLEL_SPLIT_H

#include <stdatomic.h>

#include "distance/count/accumulate.h"
#include "distance/exact/exact_replay.h"
#include "distance/count/phase_grid.h"
#include "distance/parallel/reference_ring.h"

#define RSC_SPLIT_BLOCK 2048u

/* A stretch of the trace, and the state it leaves. */
struct rsc_chunk {
    struct rsc_exact state;
    uint64_t begin, end; /* reference numbers */
    struct rsc_reference_ring *ring;
    uint64_t threads; /* seen so far... */
    uint32_t kinds;   /* ...and kinds, by bits */
    int by_who;       /* more than one of either: ring->who is there */
};

/* A first use of its chunk; the lines stand apart, as rsc_exact_take_out() wants them. */
struct rsc_first_use {
    uint32_t above; /* distinct lines between it and the state to be asked next */
    uint32_t at;    /* reference number, from the chunk's begin */
    uint32_t who;   /* 0 where the chunk has no such column */
};

/* What a worker counts in and works with, chunk after chunk. */
struct rsc_split_worker {
    struct rsc_accumulator sum;
    struct rsc_phase_part phases;
    uint64_t cap; /* UINT64_MAX: none */
    uint64_t *first_line; /* first uses not yet found anywhere, in order; owned */
    struct rsc_first_use *first;
    uint32_t first_count, first_room;
    struct rsc_held_line *held; /* lines of a chunk that goes into the carried state; owned */
    uint64_t held_count, held_room;
    uint32_t rd[RSC_SPLIT_BLOCK], last_tag[RSC_SPLIT_BLOCK], who[RSC_SPLIT_BLOCK];
    uint64_t ri[RSC_SPLIT_BLOCK];
    struct rsc_replayed replayed[RSC_SPLIT_BLOCK];
};

/* Returns 0 or RSC_ENOMEM. A zeroed worker may always be freed. */
int rsc_split_worker_init(struct rsc_split_worker *worker, uint64_t rd_cap, uint32_t bins_per_octave);
void rsc_split_worker_free(struct rsc_split_worker *worker);

/*
 * Runs the chunk through its state, which is empty. Where the ring has tags, the
 * outcome of each reference (late_attribution.h) takes the place of its line; where
 * not, references are done with, and release(user, n) is called when
 * rsc_ring_release(n) is due. `grid` is NULL where no phases are asked for. Ends early when
 * *stop is set. Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_split_run(struct rsc_split_worker *worker, struct rsc_chunk *chunk, const struct rsc_phase_grid *grid,
                  void (*release)(void *user, uint64_t n), void *user, const atomic_int *stop);

/* Replays what is left of the chunk's first uses into an older state, whose times count from reference `origin`. */
void rsc_split_replay(struct rsc_split_worker *worker, struct rsc_chunk *chunk, struct rsc_exact *older,
                      uint64_t origin);

/* Lists what `older` still holds in worker->held, with times from the start of the trace. Returns 0 or RSC_ENOMEM. */
int rsc_split_list(struct rsc_split_worker *worker, struct rsc_chunk *older);

#endif
