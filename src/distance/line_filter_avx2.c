/* line_filter_avx2.c - line_filter_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "distance/line_filter_kernel.h"

uint32_t rsc_line_filter_run_avx2(struct rsc_line_filter *filter, const uint64_t *addr, const uint64_t *meta,
                                uint32_t first, uint32_t count, struct rsc_kept *kept) {
    return filter_kernel(filter, addr, meta, first, count, kept);
}
#else
typedef int rsc_no_filter_avx2; /* an empty file is no C */
#endif
