/*
 * block_sample_kernel.h - the loop of block_sample.h, compiled once a width.
 *
 * Accesses go in groups. What is kept of a group moves to the front of a vector,
 * which is written behind what was kept before, without a branch. The loop stops
 * at a group in which an access has to be cut: it lies across a boundary, and its
 * first or its last byte is in the sample or it crosses more than one. With 64-byte
 * boundaries one group of eight in four has an access across one; looking at both
 * ends leaves one in thirty to be cut.
 *
 * A field of up to six bits is looked up in one word held in a register; a wider
 * one in memory.
 */
#include "trace/block_sample.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Of reads (0), writes (1) and fetches (2) only fetches have bit 33 of their meta set. */
#define FETCH_TO_SIGN (63 - 33)
_Static_assert(RSC_READ == 0 && RSC_WRITE == 1 && RSC_FETCH == 2, "one bit tells fetches");

#if defined(__AVX512DQ__)

#define GROUP 8u

/* Which of 8 block numbers are in the sample. */
static inline __mmask8 keep_8(const struct rsc_block_sample *sample, __m512i block) {
    const __m512i field = _mm512_set1_epi64((int64_t)((1ull << sample->width) - 1)), one = _mm512_set1_epi64(1);
    __m512i value = _mm512_and_si512(block, field), words = _mm512_set1_epi64((int64_t)sample->values[0]);
    if (sample->width > 6) words = _mm512_i64gather_epi64(_mm512_srli_epi64(value, 6), sample->values, 8);
    return _mm512_test_epi64_mask(_mm512_srlv_epi64(words, _mm512_and_si512(value, _mm512_set1_epi64(63))), one);
}

static inline uint32_t take_groups(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t i,
                                   uint32_t end, struct rsc_block_parts *parts, uint64_t *fetches) {
    const __m128i shift = _mm_cvtsi32_si128((int)sample->low);
    const __m512i one = _mm512_set1_epi64(1), size_bits = _mm512_set1_epi64(0xffffffff);
    const __m512i fetch_bit = _mm512_set1_epi64((int64_t)rsc_meta(0, RSC_FETCH, 0));
    uint64_t *addr = parts->addr + parts->count, *meta = parts->meta + parts->count, fetched = 0;
    uint64_t *pc = parts->pc + parts->count;
    for (; i + GROUP <= end; i += GROUP) {
        __m512i start = _mm512_loadu_si512(in->addr + i), packed = _mm512_loadu_si512(in->meta + i);
        __m512i more = _mm512_sub_epi64(_mm512_max_epu64(_mm512_and_si512(packed, size_bits), one), one);
        __m512i first = _mm512_srl_epi64(start, shift), last = _mm512_srl_epi64(_mm512_add_epi64(start, more), shift);
        __m512i span = _mm512_sub_epi64(last, first); /* past the end of the address space it is huge */
        __mmask8 keep = keep_8(sample, first), keep_last = keep_8(sample, last), cross = _mm512_test_epi64_mask(span, span);
        if (cross & (keep | keep_last | _mm512_cmpgt_epu64_mask(span, one))) break;
        uint32_t kept = (uint32_t)__builtin_popcount(keep);
        fetched += (uint32_t)__builtin_popcount(_mm512_test_epi64_mask(packed, fetch_bit));
        _mm512_storeu_si512(addr, _mm512_maskz_compress_epi64(keep, start));
        _mm512_storeu_si512(meta, _mm512_maskz_compress_epi64(keep, packed));
        if (in->pc) {
            _mm512_storeu_si512(pc, _mm512_maskz_compress_epi64(keep, _mm512_loadu_si512(in->pc + i)));
            pc += kept;
        }
        addr += kept;
        meta += kept;
    }
    parts->count = (uint32_t)(addr - parts->addr);
    *fetches += fetched;
    return i;
}

#else

#define GROUP 4u

#if defined(__AVX2__)

static inline uint32_t in_sample_4(const struct rsc_block_sample *sample, __m256i block) {
    __m256i value = _mm256_and_si256(block, _mm256_set1_epi64x((int64_t)((1ull << sample->width) - 1)));
    __m256i words = _mm256_set1_epi64x((int64_t)sample->values[0]);
    if (sample->width > 6)
        words = _mm256_i64gather_epi64((const long long *)sample->values, _mm256_srli_epi64(value, 6), 8);
    __m256i bits = _mm256_srlv_epi64(words, _mm256_and_si256(value, _mm256_set1_epi64x(63)));
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(bits, 63)));
}

/* Which of 4 are kept, as bits; -1 if one is to be cut. */
static inline int keep_4(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                         uint32_t *fetches) {
    const __m256i zero = _mm256_setzero_si256(), one = _mm256_set1_epi64x(1);
    const __m128i shift = _mm_cvtsi32_si128((int)sample->low);
    __m256i start = _mm256_loadu_si256((const __m256i *)addr), packed = _mm256_loadu_si256((const __m256i *)meta);
    __m256i size = _mm256_blend_epi32(packed, zero, 0xaa);
    __m256i more = _mm256_sub_epi64(size, _mm256_andnot_si256(_mm256_cmpeq_epi64(size, zero), one));
    __m256i first = _mm256_srl_epi64(start, shift), last = _mm256_srl_epi64(_mm256_add_epi64(start, more), shift);
    __m256i span = _mm256_sub_epi64(last, first); /* past the end of the address space it is huge: negative */
    uint32_t keep = in_sample_4(sample, first), keep_last = in_sample_4(sample, last);
    uint32_t same = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(span, zero)));
    uint32_t next = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(span, one)));
    if (~same & (keep | keep_last | ~next) & 15) return -1;
    *fetches = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(packed, FETCH_TO_SIGN)));
    return (int)keep;
}

#else

static inline int keep_4(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                         uint32_t *fetches) {
    int keep = 0, cut = 0;
    *fetches = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t size = (uint32_t)meta[i], end = addr[i] + size - (size != 0);
        uint64_t span = (end >> sample->low) - (addr[i] >> sample->low);
        int kept = rsc_block_sample_has(sample, addr[i]);
        keep |= kept << i;
        cut |= span && (kept || rsc_block_sample_has(sample, end) || span > 1);
        *fetches |= (uint32_t)(meta[i] << FETCH_TO_SIGN >> 63) << i;
    }
    return cut ? -1 : keep;
}

#endif

static inline uint32_t take_groups(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t i,
                                   uint32_t end, struct rsc_block_parts *parts, uint64_t *fetches) {
    uint32_t count = parts->count;
    for (; i + GROUP <= end; i += GROUP) {
        uint32_t fetched;
        int keep = keep_4(sample, in->addr + i, in->meta + i, &fetched);
        if (keep < 0) break;
        *fetches += (uint32_t)__builtin_popcount(fetched);
        for (uint32_t k = 0; k < GROUP; k++) { /* each is written; only what is kept stays */
            parts->addr[count] = in->addr[i + k];
            parts->meta[count] = in->meta[i + k];
            if (in->pc) parts->pc[count] = in->pc[i + k];
            count += (uint32_t)keep >> k & 1;
        }
    }
    parts->count = count;
    return i;
}

#endif
