/*
 * pair_sums.h - sums up counts before they go to the tables of attribution_state.h.
 *
 * At any time a program uses few pairs, each at few distances and in few objects. So a
 * reference is counted by pair, bin of distance and object in a set-associative table: one
 * cache line, searched without a branch. A sum leaves for the tables when another needs
 * its place.
 */
#ifndef RSC_DISTANCE_COUNT_PAIR_SUMS_H
#define RSC_DISTANCE_COUNT_PAIR_SUMS_H

#include <stdint.h>

#include "distance/count/places.h"
#include "distance/count/tally.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define RSC_SUM_WAYS 4u

/* One cache line. */
struct rsc_sum_set {
    uint64_t key[RSC_SUM_WAYS]; /* 0: empty */
    uint32_t object[RSC_SUM_WAYS]; /* its number, see attribution_state.h */
    uint32_t count[RSC_SUM_WAYS];
};
_Static_assert(sizeof(struct rsc_sum_set) == 64, "a set is one cache line");

struct rsc_sum {
    uint64_t key;
    uint32_t object, count;
};
#define RSC_SUMS_LEAVING 64u /* taken together: each needs several cache lines */

/* Tags have at most this many bits. */
#define RSC_SUM_TAG_BITS 28u
_Static_assert(RSC_GROUPS_MOST << RSC_CHUNK_BITS == 1u << RSC_SUM_TAG_BITS, "every tag fits");
#define RSC_SUM_BIN_BITS 7u
#define RSC_SUM_USED (1ull << 63)

static inline uint64_t rsc_sum_key(uint32_t use, uint32_t reuse, uint32_t bin) {
    return RSC_SUM_USED | (uint64_t)use << (RSC_SUM_TAG_BITS + RSC_SUM_BIN_BITS) | (uint64_t)reuse << RSC_SUM_BIN_BITS |
           bin;
}
static inline uint32_t rsc_sum_bin(uint64_t key) { return (uint32_t)key & ((1u << RSC_SUM_BIN_BITS) - 1); }
static inline uint32_t rsc_sum_reuse(uint64_t key) {
    return (uint32_t)(key >> RSC_SUM_BIN_BITS) & ((1u << RSC_SUM_TAG_BITS) - 1);
}
static inline uint32_t rsc_sum_use(uint64_t key) {
    return (uint32_t)((key & ~RSC_SUM_USED) >> (RSC_SUM_TAG_BITS + RSC_SUM_BIN_BITS));
}

static inline uint64_t rsc_sum_pair(uint64_t key) { return (uint64_t)rsc_sum_use(key) << 32 | rsc_sum_reuse(key); }
static inline int rsc_sum_has_pair(uint64_t key) {
    return rsc_sum_bin(key) != RSC_TALLY_COLD && rsc_sum_bin(key) != RSC_TALLY_INVALIDATED;
}

/* shift: 64 - log2 of the number of sets */
static inline uint32_t rsc_sum_set_of(uint64_t key, uint32_t object, uint32_t shift) {
    return (uint32_t)((key + object) * 0x9E3779B97F4A7C15ull >> shift);
}

/* Bit w: way w has that key and object. */
static inline __attribute__((always_inline)) uint32_t rsc_sum_match(const struct rsc_sum_set *set, uint64_t key,
                                                                    uint32_t object) {
#if defined(__AVX2__)
    __m256i keys = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)(const void *)set->key),
                                      _mm256_set1_epi64x((long long)key));
    __m128i objects =
        _mm_cmpeq_epi32(_mm_loadu_si128((const __m128i *)(const void *)set->object), _mm_set1_epi32((int)object));
    return (uint32_t)(_mm256_movemask_pd(_mm256_castsi256_pd(keys)) & _mm_movemask_ps(_mm_castsi128_ps(objects)));
#else
    uint32_t match = 0;
    for (uint32_t way = 0; way < RSC_SUM_WAYS; way++)
        match |= (uint32_t)((set->key[way] == key) & (set->object[way] == object)) << way;
    return match;
#endif
}

#endif
