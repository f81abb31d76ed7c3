/* instruction_share.c - see instruction_share.h. */
#include "trace/instruction_share.h"

static uint64_t count_fetches(const struct rsc_batch *batch, uint32_t low, uint32_t high) {
    uint64_t fetches = 0;
    for (uint32_t i = low; i < high; i++) fetches += rsc_meta_kind(batch->meta[i]) == RSC_FETCH;
    return fetches;
}

int rsc_fetches_are_instructions(const struct rsc_batch *batch) {
    return batch->instructions <= batch->count && count_fetches(batch, 0, batch->count) == batch->instructions;
}

uint64_t rsc_instruction_share(const struct rsc_batch *batch, int by_fetches, uint64_t low, uint64_t high) {
    const unsigned __int128 all = batch->instructions;
    const uint32_t count = batch->count, end = high < count ? (uint32_t)high : count;
    if (batch->instructions == RSC_UNKNOWN || (!low && high >= count && high)) return batch->instructions;
    if (low >= high || low >= count) return 0;
    if (by_fetches) return count_fetches(batch, (uint32_t)low, end);
    return (uint64_t)(all * end / count - all * low / count);
}
