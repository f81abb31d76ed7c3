/*
 * line_filter_kernel.h - the loop of line_filter.h, compiled once a width.
 *
 * A block of 64 accesses becomes 64-bit masks: which are kept by their first
 * line, which reach into a second one, which are kept by that. The loops have a
 * constant trip count and no branches, so that every compiler makes vectors of
 * them. Blocks with an access of more than two lines go line by line.
 */
#include "distance/line_filter.h"

#include <reusescope/trace.h>

/* Bit i: hash(lines[i]) is within the limit. */
static inline uint64_t kept_mask(const struct rsc_line_filter *filter, const uint64_t *lines) {
    const uint64_t limit = filter->limit, offset = filter->offset;
    uint64_t mask = 0;
    for (uint32_t i = 0; i < RSC_FILTER_BLOCK; i++)
        mask |= (uint64_t)(rsc_line_hash(lines[i], offset) <= limit) << i;
    return mask;
}

static inline void keep(const struct rsc_line_filter *filter, struct rsc_kept *kept, uint64_t line, uint64_t time,
                        uint32_t from) {
    uint32_t at = kept->count++;
    kept->line[at] = line;
    kept->hash[at] = rsc_line_hash(line, filter->offset);
    kept->time[at] = time;
    kept->from[at] = from;
}

/* A block whose accesses all touch one or two lines. */
static inline void filter_block(struct rsc_line_filter *filter, const uint64_t *lines, const uint64_t *last,
                                uint64_t crossing, uint32_t from, struct rsc_kept *kept) {
    uint64_t first_kept = kept_mask(filter, lines);
    uint64_t last_kept = crossing ? kept_mask(filter, last) & crossing : 0;
    uint64_t time = filter->references;
    for (uint64_t left = first_kept | last_kept; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        uint64_t at = time + i + (uint32_t)__builtin_popcountll(crossing & ((1ull << i) - 1));
        if (first_kept >> i & 1) keep(filter, kept, lines[i], at, from + i);
        if (last_kept >> i & 1) keep(filter, kept, last[i], at + 1, from + i);
    }
    filter->references += RSC_FILTER_BLOCK + (uint32_t)__builtin_popcountll(crossing);
}

static inline uint32_t filter_kernel(struct rsc_line_filter *filter, const uint64_t *addr, const uint64_t *meta,
                                     uint32_t first, uint32_t count, struct rsc_kept *kept) {
    const uint32_t shift = filter->line_shift;
    uint64_t lines[RSC_FILTER_BLOCK], last[RSC_FILTER_BLOCK];
    uint32_t i = first;
    while (i < count) {
        if (kept->room - kept->count < RSC_KEPT_ROOM_LEAST) return i;
        if (count - i >= RSC_FILTER_BLOCK && !filter->inside) {
            uint64_t spans = 0, crossing = 0;
            for (uint32_t j = 0; j < RSC_FILTER_BLOCK; j++) {
                uint64_t start = addr[i + j], size = (uint32_t)meta[i + j];
                uint64_t end = start + size - (size != 0);
                end |= -(uint64_t)(end < start); /* past the end of the address space: ends there */
                lines[j] = start >> shift;
                last[j] = end >> shift;
                uint64_t span = last[j] - lines[j];
                spans |= span;
                crossing |= (uint64_t)(span != 0) << j;
            }
            if (spans <= 1) {
                filter_block(filter, lines, last, crossing, i, kept);
                i += RSC_FILTER_BLOCK;
                continue;
            }
        }
        uint32_t stop = count - i < RSC_FILTER_BLOCK ? count : i + RSC_FILTER_BLOCK;
        while (i < stop) {
            if (!rsc_line_filter_access(filter, addr[i], meta[i], i, kept)) return i;
            i++;
        }
    }
    return i;
}
