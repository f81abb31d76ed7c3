/*
 * line_choice.h - decides which lines are in a sample; nothing else does.
 *
 * A line is chosen when hash(line, offset) <= limit: this depends only on the line, so
 * all references to a chosen line are kept and none of the others. The offset comes
 * from a seed, the limit from the rate. A reference to a chosen line then represents
 * 1/rate references. All line sampling uses this: the shards engines (line_filter.h),
 * exact engines over a sample (sampled_exact.h), the lines whose true distances
 * calibrate the time models (time/truth_lines.h), and a watched program, which gets
 * limit and offset (runtime/recorder/asm_lines.h).
 *
 * Further bits of the hash divide samples into groups: independent samples of equal
 * rate, whose spread gives the error bars.
 */
#ifndef RSC_DISTANCE_SHARDS_LINE_CHOICE_H
#define RSC_DISTANCE_SHARDS_LINE_CHOICE_H

#include <stdint.h>

#if defined(__AVX512DQ__)
#include <immintrin.h>
#endif

#include "base/line_hash.h"

struct rsc_line_choice {
    double rate;     /* above 0, up to 1 */
    uint64_t limit;  /* greatest hash chosen; UINT64_MAX: all lines */
    uint64_t offset; /* of the hash */
};

void rsc_line_choose(struct rsc_line_choice *choice, double rate, uint64_t seed);

/* "1/64", "0.01", "1%". Returns 0, or -1 unless 1e-9 <= rate < 1. */
int rsc_line_choice_parse(struct rsc_line_choice *choice, const char *rate, uint64_t seed);

/* The share of all hashes within a limit. */
double rsc_line_rate(uint64_t limit);

/* The hash offset of a seed. */
uint64_t rsc_line_offset(uint64_t seed);

/* Whether a hash is among the smallest 1/2^shift: for rates that are halved step by step. */
static inline int rsc_hash_in_share(uint64_t hash, uint32_t shift) { return shift == 0 || hash >> (64 - shift) == 0; }

/* Bits of a hash that are independent of whether it is small; count is a power of two, 2 to 2^32. */
static inline uint32_t rsc_hash_group(uint64_t hash, uint32_t count) {
    uint64_t mixed = (hash ^ hash >> 29) * 0xBF58476D1CE4E5B9ull;
    mixed = (mixed ^ mixed >> 32) * 0x94D049BB133111EBull;
    return (uint32_t)(mixed >> 32) & (count - 1);
}

#if defined(__AVX512DQ__)
/* rsc_line_hash() of eight lines, all with `offset`. */
static inline __m512i rsc_line_hash_8(__m512i line, __m512i offset) {
    __m512i mixed = _mm512_mullo_epi64(_mm512_add_epi64(line, offset), _mm512_set1_epi64((int64_t)RSC_LINE_HASH_FIRST));
    mixed = _mm512_xor_si512(mixed, _mm512_srli_epi64(mixed, 32));
    return _mm512_mullo_epi64(mixed, _mm512_set1_epi64((int64_t)RSC_LINE_HASH_SECOND));
}
#endif

#endif
