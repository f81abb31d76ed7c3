/*
 * line_filter_kernel.c - the loop of line_filter.h, compiled once per width.
 *
 * A block of 64 accesses becomes 64-bit masks: those kept by their first line, those
 * that reach into a second line, those kept by that. Nothing is written for accesses
 * that are not kept. Blocks with an access of more than two lines, and the rest at
 * the end, go line by line.
 */
#include "base/cpu.h"
#include "distance/shards/line_filter.h"

#include <reusescope/trace.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

struct block_masks {
    uint64_t kept;     /* hash of the first line is within the limit */
    uint64_t crossing; /* touches more than one line */
    uint64_t spans;    /* all last - first, ored together */
    uint64_t meta_any, meta_all;
};

#if defined(__AVX512DQ__)

static inline __m512i last_8(__m512i start, __m512i meta, __m128i shift) {
    __m512i size = _mm512_and_si512(meta, _mm512_set1_epi64(0xffffffff));
    __m512i end = _mm512_add_epi64(
        start, _mm512_mask_sub_epi64(size, _mm512_test_epi64_mask(size, size), size, _mm512_set1_epi64(1)));
    end = _mm512_mask_mov_epi64(end, _mm512_cmplt_epu64_mask(end, start), _mm512_set1_epi64(-1));
    return _mm512_srl_epi64(end, shift);
}

static inline struct block_masks first_masks(const struct rsc_line_filter *filter, const uint64_t *addr,
                                             const uint64_t *meta) {
    const __m512i limit = _mm512_set1_epi64((int64_t)filter->limit),
                  offset = _mm512_set1_epi64((int64_t)filter->offset);
    const __m128i shift = _mm_cvtsi32_si128((int)filter->line_shift);
    __m512i spans = _mm512_setzero_si512(), any = spans, all = _mm512_set1_epi64(-1);
    struct block_masks masks = {0};
    for (uint32_t i = 0; i < RSC_FILTER_BLOCK; i += 8) {
        __m512i start = _mm512_loadu_si512(addr + i), line = _mm512_srl_epi64(start, shift);
        __m512i packed = _mm512_loadu_si512(meta + i), span = _mm512_sub_epi64(last_8(start, packed, shift), line);
        any = _mm512_or_si512(any, packed);
        all = _mm512_and_si512(all, packed);
        spans = _mm512_or_si512(spans, span);
        masks.crossing |= (uint64_t)_mm512_test_epi64_mask(span, span) << i;
        masks.kept |= (uint64_t)_mm512_cmple_epu64_mask(rsc_line_hash_8(line, offset), limit) << i;
    }
    masks.spans = (uint64_t)_mm512_reduce_or_epi64(spans);
    masks.meta_any = (uint64_t)_mm512_reduce_or_epi64(any);
    masks.meta_all = (uint64_t)_mm512_reduce_and_epi64(all);
    return masks;
}

#elif defined(__AVX2__)

static inline __m256i multiply_4(__m256i a, uint64_t factor) {
    __m256i b = _mm256_set1_epi64x((int64_t)factor), b_high = _mm256_set1_epi64x((int64_t)(factor >> 32));
    __m256i cross = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), b), _mm256_mul_epu32(a, b_high));
    return _mm256_add_epi64(_mm256_mul_epu32(a, b), _mm256_slli_epi64(cross, 32));
}

/* Where a > b, unsigned, as bits 0 to 3. */
static inline uint32_t above_4(__m256i a, __m256i b) {
    const __m256i sign = _mm256_set1_epi64x(INT64_MIN);
    __m256i above = _mm256_cmpgt_epi64(_mm256_xor_si256(a, sign), _mm256_xor_si256(b, sign));
    return (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(above));
}

static inline __m256i last_4(__m256i start, __m256i meta, __m128i shift) {
    const __m256i zero = _mm256_setzero_si256(), sign = _mm256_set1_epi64x(INT64_MIN);
    __m256i size = _mm256_blend_epi32(meta, zero, 0xaa);
    __m256i less = _mm256_add_epi64(_mm256_set1_epi64x(-1), _mm256_srli_epi64(_mm256_cmpeq_epi64(size, zero), 63));
    __m256i end = _mm256_add_epi64(start, _mm256_add_epi64(size, less));
    __m256i past = _mm256_cmpgt_epi64(_mm256_xor_si256(start, sign), _mm256_xor_si256(end, sign));
    return _mm256_srl_epi64(_mm256_or_si256(end, past), shift);
}

static inline struct block_masks first_masks(const struct rsc_line_filter *filter, const uint64_t *addr,
                                             const uint64_t *meta) {
    const __m256i limit = _mm256_set1_epi64x((int64_t)filter->limit);
    const __m256i offset = _mm256_set1_epi64x((int64_t)filter->offset);
    const __m128i shift = _mm_cvtsi32_si128((int)filter->line_shift);
    __m256i spans = _mm256_setzero_si256(), any = spans, all = _mm256_set1_epi64x(-1);
    struct block_masks masks = {0};
    for (uint32_t i = 0; i < RSC_FILTER_BLOCK; i += 4) {
        __m256i start = _mm256_loadu_si256((const __m256i *)(addr + i)), line = _mm256_srl_epi64(start, shift);
        __m256i packed = _mm256_loadu_si256((const __m256i *)(meta + i)), last = last_4(start, packed, shift);
        any = _mm256_or_si256(any, packed);
        all = _mm256_and_si256(all, packed);
        __m256i mixed = multiply_4(_mm256_add_epi64(line, offset), 0x9E3779B97F4A7C15ull);
        mixed = multiply_4(_mm256_xor_si256(mixed, _mm256_srli_epi64(mixed, 32)), 0xD6E8FEB86659FD93ull);
        __m256i same = _mm256_cmpeq_epi64(last, line);
        spans = _mm256_or_si256(spans, _mm256_sub_epi64(last, line));
        masks.crossing |= (uint64_t)(~(uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(same)) & 15) << i;
        masks.kept |= (uint64_t)(~above_4(mixed, limit) & 15) << i;
    }
    uint64_t parts[3][4];
    _mm256_storeu_si256((__m256i *)parts[0], spans);
    _mm256_storeu_si256((__m256i *)parts[1], any);
    _mm256_storeu_si256((__m256i *)parts[2], all);
    masks.spans = parts[0][0] | parts[0][1] | parts[0][2] | parts[0][3];
    masks.meta_any = parts[1][0] | parts[1][1] | parts[1][2] | parts[1][3];
    masks.meta_all = parts[2][0] & parts[2][1] & parts[2][2] & parts[2][3];
    return masks;
}

#else

static inline uint64_t last_line(const struct rsc_line_filter *filter, uint64_t addr, uint64_t meta) {
    uint64_t size = (uint32_t)meta, end = addr + size - (size != 0);
    return (end < addr ? UINT64_MAX : end) >> filter->line_shift; /* past the end of the address space: ends there */
}

static inline struct block_masks first_masks(const struct rsc_line_filter *filter, const uint64_t *addr,
                                             const uint64_t *meta) {
    struct block_masks masks = {.meta_all = UINT64_MAX};
    for (uint32_t i = 0; i < RSC_FILTER_BLOCK; i++) {
        masks.meta_any |= meta[i];
        masks.meta_all &= meta[i];
        uint64_t line = addr[i] >> filter->line_shift, span = last_line(filter, addr[i], meta[i]) - line;
        masks.spans |= span;
        masks.crossing |= (uint64_t)(span != 0) << i;
        masks.kept |= (uint64_t)(rsc_line_hash(line, filter->offset) <= filter->limit) << i;
    }
    return masks;
}

#endif

static inline void keep(const struct rsc_line_filter *filter, struct rsc_kept *kept, uint64_t line, uint64_t time,
                        uint32_t from) {
    uint32_t at = kept->count++;
    kept->line[at] = line;
    kept->hash[at] = rsc_line_hash(line, filter->offset);
    kept->time[at] = time;
    kept->from[at] = from;
}

/* A block whose accesses all touch one or two lines; `from` is its first access. */
static inline void keep_block(struct rsc_line_filter *filter, const uint64_t *addr, const struct block_masks *masks,
                              uint32_t from, struct rsc_kept *kept) {
    const uint32_t shift = filter->line_shift;
    const uint64_t crossing = masks->crossing, time = filter->references;
    uint64_t second = 0; /* kept by their second line */
    for (uint64_t left = crossing; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        uint64_t hash = rsc_line_hash((addr[i] >> shift) + 1, filter->offset);
        second |= (uint64_t)(hash <= filter->limit) << i;
    }
    for (uint64_t left = masks->kept | second; left; left &= left - 1) {
        uint32_t i = (uint32_t)__builtin_ctzll(left);
        uint64_t at = time + i + (uint32_t)__builtin_popcountll(crossing & ((1ull << i) - 1));
        if (masks->kept >> i & 1) keep(filter, kept, addr[i] >> shift, at, from + i);
        if (second >> i & 1) keep(filter, kept, (addr[i] >> shift) + 1, at + 1, from + i);
    }
    filter->references += RSC_FILTER_BLOCK + (uint32_t)__builtin_popcountll(crossing);
}

/*
 * Accesses ahead whose columns are prefetched. The processor's own prefetch stops at
 * pages: with this, shards:0.01 is 1.14 times as fast; 128 and 1024 accesses gained
 * about half of that.
 */
#define AHEAD 512u

/* always_inline: gcc drops calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void fetch_ahead(const uint64_t *addr, const uint64_t *meta) {
    for (uint32_t i = 0; i < RSC_FILTER_BLOCK; i += 8) {
        __builtin_prefetch(addr + AHEAD + i);
        __builtin_prefetch(meta + AHEAD + i);
    }
}

static inline uint32_t filter_kernel(struct rsc_line_filter *filter, const uint64_t *addr, const uint64_t *meta,
                                     uint32_t first, uint32_t count, struct rsc_kept *kept) {
    uint32_t i = first;
    while (i < count) {
        if (kept->room - kept->count < RSC_KEPT_ROOM_LEAST) return i;
        if (count - i >= RSC_FILTER_BLOCK && !filter->inside) {
            struct block_masks masks = first_masks(filter, addr + i, meta + i);
            fetch_ahead(addr + i, meta + i);
            if (masks.spans <= 1) {
                keep_block(filter, addr + i, &masks, i, kept);
                filter->meta_any |= masks.meta_any;
                filter->meta_all &= masks.meta_all;
                i += RSC_FILTER_BLOCK;
                continue;
            }
        }
        uint32_t stop = count - i < RSC_FILTER_BLOCK ? count : i + RSC_FILTER_BLOCK;
        while (i < stop) {
            if (!rsc_line_filter_access(filter, addr[i], meta[i], i, kept)) return i;
            i++;
        }
    }
    return i;
}

uint32_t RSC_WIDE(rsc_line_filter_run)(struct rsc_line_filter *filter, const uint64_t *addr, const uint64_t *meta,
                                       uint32_t first, uint32_t count, struct rsc_kept *kept) {
    return filter_kernel(filter, addr, meta, first, count, kept);
}
