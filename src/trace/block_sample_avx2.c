/* block_sample_avx2.c - block_sample_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "trace/block_sample_kernel.h"

void rsc_block_masks_avx2(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                          uint64_t *kept, uint64_t *crossing) {
    block_masks(sample, addr, meta, kept, crossing);
}
#else
typedef int rsc_no_block_masks_avx2; /* an empty file is no C */
#endif
