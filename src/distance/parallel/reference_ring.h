/*
 * reference_ring.h - references between the thread that pushes them and the
 * workers that analyse them.
 *
 * Memory lies in *segments*; a table says which segment holds which stretch of the
 * trace. A segment is free again when all its references are done with, in
 * whatever order, and the one freed last is filled next: what is written stays
 * within the memory that references in flight need, however large the ring may
 * become. (A plain ring touches all of its memory before it comes round; clearing
 * those pages was a tenth of the processor time of a short trace, in the one thread
 * that all others wait for.)
 *
 * The caller has a lock: functions that say so are called with it held. What a
 * segment holds is the pushing thread's until the caller has told others of it, under
 * that lock, and theirs until they say that they are done.
 */
#ifndef RSC_DISTANCE_PARALLEL_REFERENCE_RING_H
#define RSC_DISTANCE_PARALLEL_REFERENCE_RING_H

#include <stdatomic.h>
#include <stdint.h>

#define RSC_RING_NOWHERE UINT32_MAX

struct rsc_reference_ring {
    /* Columns: reference n is at rsc_ring_index(n) of each. NULL: not there. */
    uint64_t *line;
    uint32_t *tag, *who;
    uint32_t shift;    /* a segment has 1 << shift references */
    uint32_t segments; /* a power of two */
    /* By number of a stretch of the trace (reference number >> shift), modulo segments: */
    uint32_t *place;      /* its segment; RSC_RING_NOWHERE: the entry is free */
    atomic_uint *to_be_read; /* references not yet done with */

    uint32_t *free; /* segments that were used before; the last is next */
    uint32_t free_count;
    uint32_t fresh;    /* segments from here on were never used... */
    uint32_t prepared; /* ...but those below this have their memory */
};

/* For 8 `references` or more, a power of two, 1 << shift of them to a segment. Returns 0 or RSC_ENOMEM. A zeroed ring may always be freed. */
int rsc_ring_init(struct rsc_reference_ring *ring, uint64_t references, uint32_t shift);
void rsc_ring_free(struct rsc_reference_ring *ring);

/* Another column of u32, zeroed. NULL: out of memory. */
uint32_t *rsc_ring_new_column(const struct rsc_reference_ring *ring);

static inline uint64_t rsc_ring_references(const struct rsc_reference_ring *ring) {
    return (uint64_t)ring->segments << ring->shift;
}

static inline uint64_t rsc_ring_index(const struct rsc_reference_ring *ring, uint64_t n) {
    uint64_t offset = n & ((1ull << ring->shift) - 1);
    return (uint64_t)ring->place[n >> ring->shift & (ring->segments - 1)] << ring->shift | offset;
}

/* References from n on that lie side by side. */
static inline uint64_t rsc_ring_run(const struct rsc_reference_ring *ring, uint64_t n) {
    return (1ull << ring->shift) - (n & ((1ull << ring->shift) - 1));
}

/* Lock held: a segment for the references from n on, which begin a stretch. Returns 0 when `most` are in use. */
int rsc_ring_begin(struct rsc_reference_ring *ring, uint64_t n, uint32_t most);

/*
 * References n to n + count - 1, of one stretch, are done with. Returns whether that
 * were the last of it: then rsc_ring_release(n) is due, with the lock held.
 */
static inline int rsc_ring_done(struct rsc_reference_ring *ring, uint64_t n, uint32_t count) {
    return atomic_fetch_sub(&ring->to_be_read[n >> ring->shift & (ring->segments - 1)], count) == count;
}
void rsc_ring_release(struct rsc_reference_ring *ring, uint64_t n);

/*
 * Lock held: a segment that will be used soon, within `ahead` of those used so far, and has no memory yet; or
 * RSC_RING_NOWHERE. Then, without the lock, rsc_ring_prepare() gives it memory, also while it is used already.
 */
uint32_t rsc_ring_next_to_prepare(struct rsc_reference_ring *ring, uint32_t ahead);
void rsc_ring_prepare(const struct rsc_reference_ring *ring, uint32_t segment);

#endif
