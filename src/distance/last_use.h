/*
 * last_use.h - when was this line last used? One pass, as fast as memory allows.
 *
 * Lines are hashed in blocks of 16 neighbours; a block has a leaf, 16 times side
 * by side in one cache line (two once times need 64 bits). Memory used in ranges
 * costs little more than 4 bytes a line, and a scan of it is a scan of the leaves;
 * a line that is far from all others costs about 100 bytes. A lookup is two
 * accesses, the second depending on the first: each is asked for ahead of time.
 *
 * Times are counted from 1, in 32 bits until they no longer fit; then all leaves
 * are widened once. So intervals are exact however long the trace is.
 *
 * Beside its leaf, a block's entry has a bit for each of its lines that is in the
 * sample of lines (truth_sample.h), so that finding the sampled references costs
 * the pass next to nothing.
 */
#ifndef RSC_DISTANCE_LAST_USE_H
#define RSC_DISTANCE_LAST_USE_H

#include <stdint.h>

#include "base/u64_table.h"

#define RSC_LAST_USE_RUN 1024u /* most lines in one call */

struct rsc_last_use {
    struct rsc_u64_table blocks; /* line / 16 -> sampled lines << 48 | leaf + 1 */
    uint32_t *narrow;            /* [leaf * 16 + line % 16]: time of last use, 0: none; NULL once widened */
    uint64_t *wide;
    uint64_t leaf_count, leaf_room;
    uint64_t now;         /* references so far */
    uint64_t distinct;    /* lines so far */
    uint64_t narrow_most; /* the last time that is kept in 32 bits */
    uint64_t seed;        /* of the sample */
    uint32_t rate_shift;  /* a line is sampled if the top so many bits of its hash are 0 */
    uint64_t where[RSC_LAST_USE_RUN];
};

/* narrow_most: less than the default (0) is for tests. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_last_use_init(struct rsc_last_use *last, uint64_t seed, uint64_t narrow_most);
void rsc_last_use_free(struct rsc_last_use *last);
uint64_t rsc_last_use_bytes(const struct rsc_last_use *last);

/*
 * Takes `count` lines in order, RSC_LAST_USE_RUN at most: ri[i] is the interval
 * since the use before, 0 for a first use. Writes the indices of those in the
 * sample to `sampled` (room for count) and how many to *sampled_count. Returns 0,
 * RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_last_use_run(struct rsc_last_use *last, const uint64_t *lines, uint32_t count, uint64_t *ri, uint32_t *sampled,
                     uint32_t *sampled_count);

/* Samples fewer lines from now on: those whose hash begins with rate_shift zeros. It may only grow. */
void rsc_last_use_sample_less(struct rsc_last_use *last, uint32_t rate_shift);

/* Calls visit(context, time) with the last use, counted from 1, of every line. */
void rsc_last_use_visit(const struct rsc_last_use *last, void (*visit)(void *context, uint64_t time), void *context);

/* A line's hash, good in all its bits (the finisher of splitmix64). */
static inline uint64_t rsc_sample_hash(uint64_t line, uint64_t seed) {
    uint64_t x = line + seed * 0x9E3779B97F4A7C15ull;
    x = (x ^ x >> 30) * 0xBF58476D1CE4E5B9ull;
    x = (x ^ x >> 27) * 0x94D049BB133111EBull;
    return x ^ x >> 31;
}
static inline int rsc_sample_has(uint64_t hash, uint32_t rate_shift) {
    return rate_shift == 0 || hash >> (64 - rate_shift) == 0;
}

#endif
