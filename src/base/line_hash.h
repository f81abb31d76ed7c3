/* line_hash.h - the hash that selects sampled lines, both in the analysis and inside a watched program. */
#ifndef RSC_BASE_LINE_HASH_H
#define RSC_BASE_LINE_HASH_H

#include <stdint.h>

#define RSC_LINE_HASH_FIRST 0x9E3779B97F4A7C15ull
#define RSC_LINE_HASH_SECOND 0xD6E8FEB86659FD93ull

/* Two rounds of multiplication: every bit of the line affects the high bits, which are compared with the limit. */
static inline uint64_t rsc_line_hash(uint64_t line, uint64_t offset) {
    uint64_t mixed = (line + offset) * RSC_LINE_HASH_FIRST;
    mixed ^= mixed >> 32;
    return mixed * RSC_LINE_HASH_SECOND;
}

#endif
