/* references.c - see references.h. Nearly all accesses lie in one line: that case is the loop. */
#include "trace/references.h"

uint32_t rsc_references_fill(struct rsc_reference_cursor *cursor, uint64_t *lines, uint32_t *from, uint32_t room) {
    const struct rsc_batch *batch = cursor->batch;
    const uint32_t shift = cursor->line_shift;
    uint32_t filled = 0, i = cursor->next;
    while (filled < room && i < batch->count) {
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
