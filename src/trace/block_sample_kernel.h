/*
 * block_sample_kernel.h - the masks of block_sample.h, compiled once a width.
 *
 * A field of up to six bits is looked up in one word held in a register; a wider
 * one in memory. An access crosses when the distance of its start from its
 * boundary plus its size exceeds 2^low.
 */
#include "trace/block_sample.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#if defined(__AVX512DQ__)

static inline void block_masks(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                               uint64_t *kept, uint64_t *crossing) {
    const __m128i shift = _mm_cvtsi32_si128((int)sample->low);
    const __m512i field = _mm512_set1_epi64((int64_t)((1ull << sample->width) - 1)), one = _mm512_set1_epi64(1);
    const __m512i within = _mm512_set1_epi64((int64_t)((1ull << sample->low) - 1));
    const __m512i unit = _mm512_set1_epi64((int64_t)(1ull << sample->low)), six = _mm512_set1_epi64(63);
    const __m512i word = _mm512_set1_epi64((int64_t)sample->values[0]), size_bits = _mm512_set1_epi64(0xffffffff);
    const int small = sample->width <= 6;
    uint64_t keep = 0, cross = 0;
    for (uint32_t i = 0; i < RSC_SAMPLER_BLOCK; i += 8) {
        __m512i start = _mm512_loadu_si512(addr + i), size = _mm512_and_si512(_mm512_loadu_si512(meta + i), size_bits);
        __m512i value = _mm512_and_si512(_mm512_srl_epi64(start, shift), field), bits;
        if (small)
            bits = _mm512_srlv_epi64(word, value);
        else
            bits = _mm512_srlv_epi64(_mm512_i64gather_epi64(_mm512_srli_epi64(value, 6), sample->values, 8),
                                     _mm512_and_si512(value, six));
        keep |= (uint64_t)_mm512_test_epi64_mask(bits, one) << i;
        cross |= (uint64_t)_mm512_cmpgt_epu64_mask(_mm512_add_epi64(_mm512_and_si512(start, within), size), unit) << i;
    }
    *kept = keep;
    *crossing = cross;
}

#elif defined(__AVX2__)

static inline void block_masks(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                               uint64_t *kept, uint64_t *crossing) {
    const __m128i shift = _mm_cvtsi32_si128((int)sample->low);
    const __m256i field = _mm256_set1_epi64x((int64_t)((1ull << sample->width) - 1)), zero = _mm256_setzero_si256();
    const __m256i within = _mm256_set1_epi64x((int64_t)((1ull << sample->low) - 1));
    const __m256i unit = _mm256_set1_epi64x((int64_t)(1ull << sample->low)), six = _mm256_set1_epi64x(63);
    const __m256i word = _mm256_set1_epi64x((int64_t)sample->values[0]);
    const int small = sample->width <= 6;
    uint64_t keep = 0, cross = 0;
    for (uint32_t i = 0; i < RSC_SAMPLER_BLOCK; i += 4) {
        __m256i start = _mm256_loadu_si256((const __m256i *)(addr + i));
        __m256i size = _mm256_blend_epi32(_mm256_loadu_si256((const __m256i *)(meta + i)), zero, 0xaa);
        __m256i value = _mm256_and_si256(_mm256_srl_epi64(start, shift), field), bits;
        if (small)
            bits = _mm256_srlv_epi64(word, value);
        else
            bits = _mm256_srlv_epi64(
                _mm256_i64gather_epi64((const long long *)sample->values, _mm256_srli_epi64(value, 6), 8),
                _mm256_and_si256(value, six));
        /* The wanted bit to the sign. */
        keep |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(bits, 63))) << i;
        __m256i over = _mm256_cmpgt_epi64(_mm256_add_epi64(_mm256_and_si256(start, within), size), unit);
        cross |= (uint64_t)(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(over)) << i;
    }
    *kept = keep;
    *crossing = cross;
}

#else

static inline void block_masks(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                               uint64_t *kept, uint64_t *crossing) {
    const uint64_t unit = 1ull << sample->low;
    uint64_t keep = 0, cross = 0;
    for (uint32_t i = 0; i < RSC_SAMPLER_BLOCK; i++) {
        keep |= (uint64_t)rsc_block_sample_has(sample, addr[i]) << i;
        cross |= (uint64_t)((addr[i] & (unit - 1)) + (uint32_t)meta[i] > unit) << i;
    }
    *kept = keep;
    *crossing = cross;
}

#endif
