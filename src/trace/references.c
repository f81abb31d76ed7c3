/* references.c - see references.h. Nearly all accesses lie in one line: that case is the loop. */
#include "trace/references.h"

#define GROUP 16u

/* Cuts GROUP accesses if each lies in one line; else returns 0. Without branches, so that it becomes vector code. */
static int fill_group(const struct rsc_batch *batch, uint32_t first, uint32_t shift, uint64_t *lines, uint32_t *from) {
    const uint64_t *addr = batch->addr + first, *meta = batch->meta + first;
    uint64_t line_bytes = 1ull << shift, crossing = 0;
    for (uint32_t k = 0; k < GROUP; k++) {
        lines[k] = addr[k] >> shift;
        /* negative, so with the top bit set, when the access ends behind its line */
        crossing |= line_bytes - (addr[k] & (line_bytes - 1)) - (meta[k] & UINT32_MAX);
    }
    for (uint32_t k = 0; k < GROUP; k++) from[k] = first + k;
    return crossing >> 63 == 0;
}

uint32_t rsc_references_fill(struct rsc_reference_cursor *cursor, uint64_t *lines, uint32_t *from, uint32_t room) {
    const struct rsc_batch *batch = cursor->batch;
    const uint32_t shift = cursor->line_shift;
    uint32_t filled = 0, i = cursor->next, one_by_one = i; /* until this access */
    while (filled < room && i < batch->count) {
        if (i >= one_by_one && !cursor->resuming && room - filled >= GROUP && batch->count - i >= GROUP) {
            if (fill_group(batch, i, shift, lines + filled, from + filled)) {
                filled += GROUP;
                i += GROUP;
                continue;
            }
            one_by_one = i + GROUP;
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
    return filled;
}
