/* references.c - see references.h. */
#include "trace/references.h"

#include <assert.h>

#include "base/fail.h"
#include "base/word_bits.h"

uint32_t rsc_references_fill(struct rsc_reference_cursor *cursor, uint64_t *lines, uint32_t *from, uint32_t room) {
    const struct rsc_batch *batch = cursor->batch;
    const uint32_t shift = cursor->line_shift;
    uint32_t filled = 0, i = cursor->next;
    assert(shift < 64 && i <= batch->count);
    uint32_t slowly_until = 0; /* an access before this one crosses a line */
    while (filled < room && i < batch->count) {
        if (!cursor->resuming && i >= slowly_until) {
            uint32_t left = batch->count - i < room - filled ? batch->count - i : room - filled;
            uint32_t cut = cursor->cut(batch, shift, i, left, lines + filled, from + filled);
            filled += cut;
            i += cut;
            slowly_until = i + RSC_REFERENCES_GROUP;
            if (cut == left) break;
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

void rsc_references_start(struct rsc_reference_cursor *cursor, const struct rsc_batch *batch, uint32_t line_shift) {
    *cursor = (struct rsc_reference_cursor){
        .batch = batch, .line_shift = line_shift, .cut = RSC_WIDE_PICK(rsc_simd_best(), rsc_references_cut)};
}

int rsc_references_refuse(struct rsc_error *error) {
    return rsc_fail(error, RSC_ELIMIT,
                    "accesses of 1 MiB and more make over 2^30 references: larger lines make fewer (--line 4096), and "
                    "analyze --requests counts whole objects");
}

int rsc_references_limit(uint64_t *references, const struct rsc_batch *batch, uint32_t line_shift,
                         struct rsc_error *error) {
    if (!((uint32_t)rsc_word_bits(batch->meta, batch->count).any >> RSC_WIDE_SHIFT)) return 0;
    for (uint32_t i = 0; i < batch->count; i++)
        if (!rsc_references_allow(references, rsc_meta_size(batch->meta[i]), line_shift))
            return rsc_references_refuse(error);
    return 0;
}
