/* block_sample_avx2.c - block_sample_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "trace/block_sample_kernel.h"

uint32_t rsc_block_take_avx2(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t first, uint32_t end,
                            struct rsc_block_parts *parts, uint64_t *fetches) {
    return take_blocks(sample, in, first, end, parts, fetches);
}
#else
typedef int rsc_no_block_take_avx2; /* an empty file is no C */
#endif
