/* references_kernel.c - see references.h. Nearly all accesses lie in one line: groups of these have no branches. */
#include "trace/references.h"

#define GROUP RSC_REFERENCES_GROUP
#define AHEAD 512u /* prefetch distance in accesses: the hardware prefetcher stops at page boundaries */

/* Cuts GROUP accesses if none of them crosses a line; else returns 0, and its output must be ignored. */
static inline int cut_group(const uint64_t *restrict addr, const uint64_t *restrict meta, uint32_t shift,
                            uint32_t first, uint64_t *restrict lines, uint32_t *restrict from) {
    const uint64_t within = (1ull << shift) - 1;
    uint64_t crossing = 0;
    for (uint32_t k = 0; k < GROUP; k++) {
        /* at least twice the line size if the access ends past its line, less if not (even for a size of 0) */
        crossing |= (addr[k] & within) + (uint32_t)meta[k] + within;
        lines[k] = addr[k] >> shift;
    }
    for (uint32_t k = 0; k < GROUP; k++) from[k] = first + k;
    for (uint32_t k = 0; k < GROUP; k += 8) {
        __builtin_prefetch(addr + AHEAD + k);
        __builtin_prefetch(meta + AHEAD + k);
    }
    return crossing >> shift >> 1 == 0;
}

uint32_t RSC_WIDE(rsc_references_cut)(const struct rsc_batch *batch, uint32_t shift, uint32_t first, uint32_t count,
                                      uint64_t *lines, uint32_t *from) {
    uint32_t done = 0;
    while (count - done >= GROUP && cut_group(batch->addr + first + done, batch->meta + first + done, shift,
                                              first + done, lines + done, from + done))
        done += GROUP;
    return done;
}
