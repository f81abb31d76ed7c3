/* references.c - see references.h. Nearly all accesses lie in one line: groups of these use a loop without branches. */
#include "trace/references.h"

#include <assert.h>

#include "base/fail.h"

#define GROUP 32u
#define AHEAD 512u /* prefetch distance in accesses: the hardware prefetcher stops at page boundaries */

/* Cuts GROUP accesses from i on if none of them crosses a line; else returns 0, and its output must be ignored. */
static inline int fill_group(const struct rsc_batch *batch, uint32_t shift, uint32_t i, uint64_t *lines,
                             uint32_t *from) {
    const uint64_t within = (1ull << shift) - 1;
    uint64_t crossing = 0;
    for (uint32_t k = 0; k < GROUP; k++) {
        uint64_t addr = batch->addr[i + k], size = (uint32_t)batch->meta[i + k];
        /* at least twice the line size if the access ends past its line, less if not (even for a size of 0) */
        crossing |= (addr & within) + size + within;
        lines[k] = addr >> shift;
        from[k] = i + k;
    }
    for (uint32_t k = 0; k < GROUP; k += 8) {
        __builtin_prefetch(batch->addr + i + AHEAD + k);
        __builtin_prefetch(batch->meta + i + AHEAD + k);
    }
    return crossing >> shift >> 1 == 0;
}

uint32_t rsc_references_fill(struct rsc_reference_cursor *cursor, uint64_t *lines, uint32_t *from, uint32_t room) {
    const struct rsc_batch *batch = cursor->batch;
    const uint32_t shift = cursor->line_shift;
    uint32_t filled = 0, i = cursor->next;
    assert(shift < 64 && i <= batch->count);
    uint32_t slowly_until = 0; /* the group up to here has an access that crosses a line */
    while (filled < room && i < batch->count) {
        if (!cursor->resuming && i >= slowly_until && room - filled >= GROUP && batch->count - i >= GROUP) {
            if (fill_group(batch, shift, i, lines + filled, from + filled)) {
                filled += GROUP;
                i += GROUP;
                continue;
            }
            slowly_until = i + GROUP;
        }
        uint64_t addr = batch->addr[i];
        uint32_t size = rsc_meta_size(batch->meta[i]);
        uint64_t end = addr + (size ? size - 1 : 0);
        if (end < addr) end = UINT64_MAX;
        uint64_t line = cursor->resuming ? cursor->resume_line : addr >> shift;
        uint64_t last = end >> shift;
        cursor->resuming = 0;
        lines[filled] = line;
        from[filled++] = i;
        while (line < last && filled < room) {
            lines[filled] = ++line;
            from[filled++] = i;
        }
        if (line < last) {
            cursor->resuming = 1;
            cursor->resume_line = line + 1;
            break;
        }
        i++;
    }
    cursor->next = i;
    assert(filled <= room && i <= batch->count && (filled == room || i == batch->count));
    return filled;
}

int rsc_references_refuse(struct rsc_error *error) {
    return rsc_fail(error, RSC_ELIMIT,
                    "accesses of 1 MiB and more make over 2^30 references: larger lines make fewer (--line 4096), and "
                    "analyze --requests counts whole objects");
}

int rsc_references_limit(uint64_t *references, const struct rsc_batch *batch, uint32_t line_shift,
                         struct rsc_error *error) {
    uint64_t any = 0;
    for (uint32_t i = 0; i < batch->count; i++) any |= batch->meta[i];
    if (!((uint32_t)any >> RSC_WIDE_SHIFT)) return 0;
    for (uint32_t i = 0; i < batch->count; i++)
        if (!rsc_references_allow(references, rsc_meta_size(batch->meta[i]), line_shift))
            return rsc_references_refuse(error);
    return 0;
}
