/*
 * holes.h - the holes of a stack: slots whose lines were taken away.
 *
 * Holes appear anywhere, but only the topmost (the latest slot) disappears: a line
 * that comes to the top fills it. A bitmap over slots, with higher-level bitmaps of
 * the words that are not 0, finds the next hole in one step per level; the topmost is
 * always known.
 */
#ifndef RSC_MULTICORE_HOLES_H
#define RSC_MULTICORE_HOLES_H

#include <stdint.h>

#define RSC_HOLES_LEVELS_MAX 6 /* 64^6 slots: more than rank_bitmap.h supports */

struct rsc_holes {
    uint64_t *level[RSC_HOLES_LEVELS_MAX]; /* one block; [0]: one bit per slot; [k]: one bit per word of level[k - 1] */
    uint32_t level_count; /* 0: nothing allocated, and no holes */
    uint32_t top; /* the latest slot with a hole + 1; 0: none */
    uint64_t bytes;
};

/* Makes room for `slots`, no holes. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_holes_init(struct rsc_holes *holes, uint64_t slots);
void rsc_holes_free(struct rsc_holes *holes);

/* The first hole from `slot` on, or UINT32_MAX. Slow: for renumbering. */
uint32_t rsc_holes_next(const struct rsc_holes *holes, uint32_t slot, uint64_t slots);

/* Neither function tests whether the levels above need updating: the branch is unpredictable, and always writing
 * costs less. */

static inline void rsc_holes_add(struct rsc_holes *holes, uint32_t slot) {
    holes->top = slot >= holes->top ? slot + 1 : holes->top;
    for (uint32_t k = 0, at = slot; k < holes->level_count; k++, at >>= 6)
        holes->level[k][at >> 6] |= 1ull << (at & 63);
}

/* Removes the topmost hole, which must exist. */
static inline void rsc_holes_drop_top(struct rsc_holes *holes) {
    uint32_t at = holes->top - 1, levels = holes->level_count;
    uint64_t gone = 1, word = 0;
    for (uint32_t k = 0; k < levels; k++, at >>= 6) {
        word = holes->level[k][at >> 6] &= ~(gone << (at & 63));
        gone = !word;
    }
    if (!word) { /* the one word of the highest level */
        holes->top = 0;
        return;
    }
    at = 0;
    for (uint32_t k = levels; k--;) at = at << 6 | (63 - (uint32_t)__builtin_clzll(holes->level[k][at]));
    holes->top = at + 1;
}

#endif
