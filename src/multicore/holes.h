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
    uint64_t *level[RSC_HOLES_LEVELS_MAX]; /* level[0]: a bit a slot; level[k]: a bit a word of level[k - 1]; in one block */
    uint32_t level_count;                  /* 0: nothing allocated, and no holes */
    uint32_t top;                          /* the latest slot with a hole + 1; 0: none */
    uint64_t bytes;
};

/* Room for `slots`, no holes. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_holes_init(struct rsc_holes *holes, uint64_t slots);
void rsc_holes_free(struct rsc_holes *holes);

/* The first hole from `slot` on, or UINT32_MAX; slow: for renumbering. */
uint32_t rsc_holes_next(const struct rsc_holes *holes, uint32_t slot, uint64_t slots);

static inline void rsc_holes_add(struct rsc_holes *holes, uint32_t slot) {
    if (slot >= holes->top) holes->top = slot + 1;
    uint32_t at = slot;
    for (uint32_t k = 0; k < holes->level_count; k++, at >>= 6) {
        uint64_t *word = &holes->level[k][at >> 6], before = *word;
        *word = before | 1ull << (at & 63);
        if (before) return; /* those above know */
    }
}

/* Takes the topmost hole away; there is one. */
static inline void rsc_holes_drop_top(struct rsc_holes *holes) {
    uint32_t at = holes->top - 1, k = 0;
    for (;; k++, at >>= 6) {
        if (k == holes->level_count) {
            holes->top = 0;
            return;
        }
        uint64_t *word = &holes->level[k][at >> 6];
        *word &= ~(1ull << (at & 63));
        if (!*word) continue;
        at = (at & ~63u) | (63 - (uint32_t)__builtin_clzll(*word));
        break;
    }
    while (k--) at = at << 6 | (63 - (uint32_t)__builtin_clzll(holes->level[k][at]));
    holes->top = at + 1;
}

#endif
