/* word_bits.h - which bits are set in some of many words, and in which they differ. */
#ifndef RSC_BASE_WORD_BITS_H
#define RSC_BASE_WORD_BITS_H

#include <stdint.h>

#include "base/cpu.h"

struct rsc_word_bits {
    uint64_t any;    /* set in a word */
    uint64_t differ; /* not the same in all words */
};

typedef struct rsc_word_bits rsc_word_bits_of(const uint64_t *words, uint32_t count);
RSC_WIDE_DECLARE(rsc_word_bits_of, rsc_word_bits_run); /* word_bits_kernel.c */

static inline struct rsc_word_bits rsc_word_bits(const uint64_t *words, uint32_t count) {
    return RSC_WIDE_PICK(rsc_simd_best(), rsc_word_bits_run)(words, count);
}

#endif
