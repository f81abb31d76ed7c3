/*
 * count_bits.h - how many bits are set in many words.
 *
 * Not every x86-64 processor has the instruction for one word, so the compiler calls its library for each. This adds up
 * bytes instead, which compilers turn into vector code.
 */
#ifndef RSC_BASE_COUNT_BITS_H
#define RSC_BASE_COUNT_BITS_H

#include <stdint.h>

static inline uint64_t rsc_count_bits(const uint64_t *word, uint64_t count) {
    const uint64_t pairs = 0x5555555555555555, fours = 0x3333333333333333, bytes = 0x0f0f0f0f0f0f0f0f,
                   shorts = 0x00ff00ff00ff00ff;
    enum { TOGETHER = 31 }; /* words: their sums are at most 8 * 31 = 248, which a byte holds */
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count;) {
        uint64_t end = count - i < TOGETHER ? count : i + TOGETHER, in_bytes = 0;
        for (; i < end; i++) {
            uint64_t bits = word[i];
            bits -= bits >> 1 & pairs;
            bits = (bits & fours) + (bits >> 2 & fours);
            in_bytes += (bits + (bits >> 4)) & bytes;
        }
        in_bytes = (in_bytes & shorts) + (in_bytes >> 8 & shorts);
        sum += in_bytes * 0x0001000100010001 >> 48;
    }
    return sum;
}

#endif
