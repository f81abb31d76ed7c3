/*
 * block_sample_kernel.c - the loop of block_sample.h, compiled once per width.
 *
 * 64 accesses become two masks: which lie in the sample, and which must be cut
 * (those that cross a boundary with the first or the last byte in the sample, or
 * cross more than one). Only the accesses in a mask are then processed.
 *
 * A field of up to six bits is looked up in one word in a register; a wider one in
 * memory.
 */
#include "base/cpu.h"
#include "trace/block_sample.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

/* Only fetches (2) have bit 33 of their meta set; reads (0) and writes (1) do not. */
#define FETCH_TO_SIGN (63 - 33)
_Static_assert(RSC_READ == 0 && RSC_WRITE == 1 && RSC_FETCH == 2, "one bit tells fetches");

struct block_masks {
    uint64_t kept, cut, fetches;
};

#if defined(__AVX512DQ__)

/* Which of 8 block numbers are in the sample. */
static inline __mmask8 keep_8(const struct rsc_block_sample *sample, __m512i block) {
    const __m512i field = _mm512_set1_epi64((int64_t)((1ull << sample->width) - 1)), one = _mm512_set1_epi64(1);
    __m512i value = _mm512_and_si512(block, field);
    if (sample->width <= 6)
        return _mm512_test_epi64_mask(_mm512_srlv_epi64(_mm512_set1_epi64((int64_t)sample->values[0]), value), one);
    __m512i words = _mm512_i64gather_epi64(_mm512_srli_epi64(value, 6), sample->values, 8);
    return _mm512_test_epi64_mask(_mm512_srlv_epi64(words, _mm512_and_si512(value, _mm512_set1_epi64(63))), one);
}

#define AHEAD 512u /* prefetch distance in accesses: a batch is larger than the L1 and L2 caches */

static inline struct block_masks masks_of(const struct rsc_block_sample *sample, const uint64_t *addr,
                                          const uint64_t *meta) {
    const __m128i shift = _mm_cvtsi32_si128((int)sample->low);
    const __m512i one = _mm512_set1_epi64(1), size_bits = _mm512_set1_epi64(0xffffffff);
    const __m512i fetch_bit = _mm512_set1_epi64((int64_t)rsc_meta(0, RSC_FETCH, 0));
    const __m512i granule = _mm512_set1_epi64((int64_t)(1ull << sample->low)), within = _mm512_sub_epi64(granule, one);
    struct block_masks masks = {0, 0, 0};
    for (uint32_t i = 0; i < RSC_SAMPLER_BLOCK; i += 8) {
        __m512i start = _mm512_loadu_si512(addr + i), packed = _mm512_loadu_si512(meta + i);
        __m512i size = _mm512_max_epu64(_mm512_and_si512(packed, size_bits), one);
        __m512i first = _mm512_srl_epi64(start, shift);
        __mmask8 keep = keep_8(sample, first);
        __mmask8 cut = _mm512_cmpgt_epu64_mask(_mm512_add_epi64(_mm512_and_si512(start, within), size), granule);
        __builtin_prefetch(addr + i + AHEAD);
        __builtin_prefetch(meta + i + AHEAD);
        if (__builtin_expect(cut, 0)) {
            __m512i last = _mm512_srl_epi64(_mm512_add_epi64(start, _mm512_sub_epi64(size, one)), shift);
            __m512i span = _mm512_sub_epi64(last, first); /* past the end of the address space it is huge */
            cut &= keep | keep_8(sample, last) | _mm512_cmpgt_epu64_mask(span, one);
        }
        masks.kept |= (uint64_t)keep << i;
        masks.cut |= (uint64_t)cut << i;
        masks.fetches |= (uint64_t)_mm512_test_epi64_mask(packed, fetch_bit) << i;
    }
    return masks;
}

#else

#if defined(__AVX2__)

static inline uint32_t in_sample_4(const struct rsc_block_sample *sample, __m256i block) {
    __m256i value = _mm256_and_si256(block, _mm256_set1_epi64x((int64_t)((1ull << sample->width) - 1)));
    __m256i words = _mm256_set1_epi64x((int64_t)sample->values[0]);
    if (sample->width > 6)
        words = _mm256_i64gather_epi64((const long long *)sample->values, _mm256_srli_epi64(value, 6), 8);
    __m256i bits = _mm256_srlv_epi64(words, _mm256_and_si256(value, _mm256_set1_epi64x(63)));
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(bits, 63)));
}

/* Which of 4 accesses are kept, and which must be cut, as bits. */
static inline uint32_t keep_4(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                              uint32_t *cut, uint32_t *fetches) {
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
    *cut = ~same & (keep | keep_last | ~next) & 15;
    *fetches = (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_slli_epi64(packed, FETCH_TO_SIGN)));
    return keep;
}

#else

static inline uint32_t keep_4(const struct rsc_block_sample *sample, const uint64_t *addr, const uint64_t *meta,
                              uint32_t *cut, uint32_t *fetches) {
    uint32_t keep = 0;
    *fetches = *cut = 0;
    for (uint32_t i = 0; i < 4; i++) {
        uint64_t size = (uint32_t)meta[i], end = addr[i] + size - (size != 0);
        uint64_t span = (end >> sample->low) - (addr[i] >> sample->low);
        uint32_t kept = (uint32_t)rsc_block_sample_has(sample, addr[i]);
        keep |= kept << i;
        if (span) *cut |= (kept | (uint32_t)rsc_block_sample_has(sample, end) | (span > 1)) << i;
        *fetches |= (uint32_t)(meta[i] << FETCH_TO_SIGN >> 63) << i;
    }
    return keep;
}

#endif

static inline struct block_masks masks_of(const struct rsc_block_sample *sample, const uint64_t *addr,
                                          const uint64_t *meta) {
    struct block_masks masks = {0, 0, 0};
    for (uint32_t i = 0; i < RSC_SAMPLER_BLOCK; i += 4) {
        uint32_t cut, fetches;
        masks.kept |= (uint64_t)keep_4(sample, addr + i, meta + i, &cut, &fetches) << i;
        masks.cut |= (uint64_t)cut << i;
        masks.fetches |= (uint64_t)fetches << i;
    }
    return masks;
}

#endif

static inline uint32_t take_blocks(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t i,
                                   uint32_t end, struct rsc_block_parts *parts, uint64_t *fetches) {
    uint64_t *addr = parts->addr, *meta = parts->meta, *pc = parts->pc;
    uint32_t count = parts->count;
    for (; i + RSC_SAMPLER_BLOCK <= end; i += RSC_SAMPLER_BLOCK) {
        struct block_masks masks = masks_of(sample, in->addr + i, in->meta + i);
        if (masks.cut) { /* up to the access that must be cut */
            uint64_t before = (masks.cut & -masks.cut) - 1;
            masks.kept &= before;
            masks.fetches &= before;
        }
        *fetches += (uint64_t)__builtin_popcountll(masks.fetches);
        for (uint64_t left = masks.kept; left; left &= left - 1) {
            uint32_t at = i + (uint32_t)__builtin_ctzll(left);
            addr[count] = in->addr[at];
            meta[count] = in->meta[at];
            if (in->pc) pc[count] = in->pc[at];
            count++;
        }
        if (masks.cut) {
            i += (uint32_t)__builtin_ctzll(masks.cut);
            break;
        }
    }
    parts->count = count;
    return i;
}

uint32_t RSC_WIDE(rsc_block_take)(const struct rsc_block_sample *sample, const struct rsc_batch *in, uint32_t first,
                                  uint32_t end, struct rsc_block_parts *parts, uint64_t *fetches) {
    return take_blocks(sample, in, first, end, parts, fetches);
}
