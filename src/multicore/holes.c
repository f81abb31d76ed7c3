/* holes.c - see holes.h. */
#include "multicore/holes.h"

#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

int rsc_holes_init(struct rsc_holes *holes, uint64_t slots) {
    uint64_t words = 0, count[RSC_HOLES_LEVELS_MAX];
    memset(holes, 0, sizeof *holes);
    for (uint64_t here = (slots + 63) / 64;; here = (here + 63) / 64) {
        count[holes->level_count++] = here;
        words += here;
        if (here <= 1) break;
    }
    holes->bytes = words * sizeof(uint64_t);
    uint64_t *block = rsc_pages_new(holes->bytes);
    if (!block) {
        memset(holes, 0, sizeof *holes);
        return RSC_ENOMEM;
    }
    for (uint32_t k = 0; k < holes->level_count; block += count[k++]) holes->level[k] = block;
    return 0;
}

void rsc_holes_free(struct rsc_holes *holes) {
    rsc_pages_free(holes->level[0], holes->bytes);
    memset(holes, 0, sizeof *holes);
}

uint32_t rsc_holes_next(const struct rsc_holes *holes, uint32_t slot, uint64_t slots) {
    if (!holes->level_count) return UINT32_MAX;
    for (uint64_t word = slot >> 6; word < (slots + 63) / 64; word++) {
        uint64_t bits = holes->level[0][word];
        if (word == slot >> 6) bits &= ~0ull << (slot & 63);
        if (bits) return (uint32_t)(word << 6) + (uint32_t)__builtin_ctzll(bits);
    }
    return UINT32_MAX;
}
