/* line_filter.c - set-up and slow path of line_filter.h. */
#include "distance/shards/line_filter.h"

#include <string.h>

#include <reusescope/trace.h>

void rsc_line_filter_init(struct rsc_line_filter *filter, enum rsc_simd simd, uint32_t line_shift, uint64_t seed,
                          uint64_t limit) {
    memset(filter, 0, sizeof *filter);
    filter->offset = rsc_line_offset(seed);
    filter->line_shift = line_shift;
    filter->limit = limit;
    filter->meta_all = UINT64_MAX;
    filter->run = RSC_WIDE_PICK(simd, rsc_line_filter_run);
}

int rsc_line_filter_access(struct rsc_line_filter *filter, uint64_t addr, uint64_t meta, uint32_t from,
                           struct rsc_kept *kept) {
    uint32_t size = rsc_meta_size(meta);
    uint64_t end = addr + (size ? size - 1 : 0);
    if (end < addr) end = UINT64_MAX;
    if (!filter->inside && !rsc_references_allow(&filter->wide_references, size, filter->line_shift)) return 1;
    uint64_t last = end >> filter->line_shift;
    uint64_t line = filter->inside ? filter->next_line : addr >> filter->line_shift;
    filter->inside = 0;
    filter->meta_any |= meta;
    filter->meta_all &= meta;
    for (;; line++) {
        if (kept->count == kept->room) {
            filter->inside = 1;
            filter->next_line = line;
            return 0;
        }
        uint64_t hash = rsc_line_hash(line, filter->offset);
        if (hash <= filter->limit) {
            uint32_t at = kept->count++;
            kept->line[at] = line;
            kept->hash[at] = hash;
            kept->time[at] = filter->references;
            kept->from[at] = from;
        }
        filter->references++;
        if (line == last) return 1;
    }
}
