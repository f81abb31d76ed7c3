/* word_bits_kernel.c - see word_bits.h. */
#include "base/word_bits.h"

struct rsc_word_bits RSC_WIDE(rsc_word_bits_run)(const uint64_t *words, uint32_t count) {
    uint64_t any = 0, all = UINT64_MAX;
    for (uint32_t i = 0; i < count; i++) {
        any |= words[i];
        all &= words[i];
    }
    return (struct rsc_word_bits){.any = any, .differ = count ? any & ~all : 0};
}
