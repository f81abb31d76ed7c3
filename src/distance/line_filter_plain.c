/* line_filter_plain.c - line_filter_kernel.h for any machine. */
#include "distance/line_filter_kernel.h"

uint32_t rsc_line_filter_run_plain(struct rsc_line_filter *filter, const uint64_t *addr, const uint64_t *meta,
                                   uint32_t first, uint32_t count, struct rsc_kept *kept) {
    return filter_kernel(filter, addr, meta, first, count, kept);
}
