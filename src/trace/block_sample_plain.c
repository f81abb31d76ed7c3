/* block_sample_plain.c - block_sample_kernel.h compiled for any machine. */
#include "trace/block_sample_kernel.h"

void rsc_block_masks_plain(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                           uint64_t *kept, uint64_t *crossing) {
    block_masks(sample, addr, meta, kept, crossing);
}
