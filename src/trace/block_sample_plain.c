/* block_sample_plain.c - block_sample_kernel.h compiled for any machine. */
#include "trace/block_sample_kernel.h"

uint32_t rsc_block_take_plain(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t first, uint32_t end,
                            struct rsc_block_parts *parts, uint64_t *fetches) {
    return take_blocks(sample, in, first, end, parts, fetches);
}
