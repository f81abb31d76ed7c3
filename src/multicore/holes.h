/*
 * holes.h - where the holes of a stack are: slots that lines were taken from.
 *
 * Holes come anywhere, and only the topmost (the latest slot) ever goes: when a
 * line comes to the top it is filled. A bitmap over slots, with bitmaps above it
 * that say which words are not 0, finds the next one in as many steps as there are
 * levels; the topmost itself is always known.
 */
#ifndef RSC_MULTICORE_HOLES_H
#define RSC_MULTICORE_HOLES_H

#include <stdint.h>

#define RSC_HOLES_LEVELS_MAX 6 /* 64^6 slots: more than rank_bitmap.h has */

struct rsc_holes {
    uint64_t
        *level[RSC_HOLES_LEVELS_MAX]; /* level[0]: a bit a slot; level[k]: a bit a word of level[k - 1]; in one block */
    uint32_t level_count; /* 0: nothing allocated, and no holes */
    uint32_t top; /* the latest slot with a hole + 1; 0: none */
    uint64_t bytes;
};

/* Room for `slots`, no holes. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_holes_init(struct rsc_holes *holes, uint64_t slots);
void rsc_holes_free(struct rsc_holes *holes);

/* The first hole from `slot` on, or UINT32_MAX; slow: for renumbering. */
uint32_t rsc_holes_next(const struct rsc_holes *holes, uint32_t slot, uint64_t slots);

/* Neither of the two asks what the levels above need to be told: nobody could guess it, and telling them costs less. */

static inline void rsc_holes_add(struct rsc_holes *holes, uint32_t slot) {
    holes->top = slot >= holes->top ? slot + 1 : holes->top;
    for (uint32_t k = 0, at = slot; k < holes->level_count; k++, at >>= 6)
        holes->level[k][at >> 6] |= 1ull << (at & 63);
}

/* Takes the topmost hole away; there is one. */
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
