/*
 * rsct_stretch_kernel.c - a stretch of accesses, one at a time or, with AVX-512, eight
 * at a time, and the fetches among codes; see rsct_stretch.h. No branch depends on the data.
 */
#include "trace/native/rsct_stretch.h"

#include <reusescope/trace.h>
#include <string.h>

#include "trace/native/varint.h"

static const uint8_t *one_by_one(const struct rsct_codes *codes, const uint8_t *code, const uint8_t *deltas,
                                 uint64_t last[4], uint64_t thread_bits, uint64_t *addr, uint64_t *meta,
                                 uint32_t count) {
    uint64_t now[4];
    memcpy(now, last, sizeof now);
    for (uint32_t i = 0; i < count; i++) {
        const struct rsct_code_row *row = &codes->row[code[i]];
        uint64_t zigzag;
        memcpy(&zigzag, deltas, 8);
        deltas += row->bytes;
        uint64_t here = now[row->kind] + rsc_unzigzag(zigzag & row->mask);
        now[row->kind] = here + row->advance;
        addr[i] = here;
        meta[i] = row->meta | thread_bits;
    }
    memcpy(last, now, sizeof now);
    return deltas;
}

#if defined(__AVX512VBMI__)
#include <immintrin.h>

_Static_assert(RSC_READ == 0 && RSC_WRITE == 1 && RSC_FETCH == 2, "one bit tells writes, one fetches");

/* Lane i: the sum of lanes 0..i. */
static inline __m512i sums(__m512i x) {
    const __m512i zero = _mm512_setzero_si512();
    x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 7));
    x = _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 6));
    return _mm512_add_epi64(x, _mm512_alignr_epi64(x, zero, 4));
}

/* Byte i of `bytes` in all bytes of lane i. */
static inline __m512i spread(uint64_t bytes) {
    const __m512i places =
        _mm512_set_epi64(0x0707070707070707, 0x0606060606060606, 0x0505050505050505, 0x0404040404040404,
                         0x0303030303030303, 0x0202020202020202, 0x0101010101010101, 0);
    return _mm512_shuffle_epi8(_mm512_set1_epi64((long long)bytes), places);
}

/* The last lane, in every lane. */
static inline __m512i last_lane(__m512i x) { return _mm512_permutexvar_epi64(_mm512_set1_epi64(7), x); }

const uint8_t *RSC_WIDE(rsct_stretch)(const struct rsct_codes *codes, const uint8_t *code, const uint8_t *deltas,
                                      uint64_t last[4], uint64_t thread_bits, uint64_t *addr, uint64_t *meta,
                                      uint32_t count) {
    const __m512i shape_low = _mm512_load_si512(codes->shape), shape_high = _mm512_load_si512(codes->shape + 64);
    const __m512i size_low = _mm512_load_si512(codes->size), size_high = _mm512_load_si512(codes->size + 64);
    const __m512i one = _mm512_set1_epi64(1), bytes = _mm512_set1_epi64(0x0706050403020100);
    const __m512i length_bits = _mm512_set1_epi8(15), thread = _mm512_set1_epi64((long long)thread_bits);
    const __m512i low_byte = _mm512_set1_epi64(255), kind_bits = _mm512_set1_epi64(3ll << 32);
    __m512i reads = _mm512_set1_epi64((long long)last[RSC_READ]),
            writes = _mm512_set1_epi64((long long)last[RSC_WRITE]);
    __m512i fetches = _mm512_set1_epi64((long long)last[RSC_FETCH]);
    uint32_t i = 0;
    const uint32_t eights = codes->by_vectors ? count & ~7u : 0;
    while (i < eights) {
        uint64_t eight;
        memcpy(&eight, code + i, 8);
        __m512i which = spread(eight), shape = _mm512_permutex2var_epi8(shape_low, which, shape_high);
        __m512i length = _mm512_and_si512(shape, length_bits);
        __m512i size = _mm512_and_si512(_mm512_permutex2var_epi8(size_low, which, size_high), low_byte);
        /* where each delta begins: the sum of the lengths before it, byte by byte */
        uint64_t ends = (uint64_t)_mm_cvtsi128_si64(_mm512_cvtepi64_epi8(length)) * 0x0101010101010101;
        __m512i from = _mm512_add_epi8(spread(ends << 8), bytes);
        __m512i zigzag =
            _mm512_maskz_permutexvar_epi8(_mm512_cmplt_epu8_mask(bytes, length), from, _mm512_loadu_si512(deltas));
        deltas += ends >> 56;
        __m512i delta = _mm512_xor_si512(_mm512_srli_epi64(zigzag, 1),
                                         _mm512_sub_epi64(_mm512_setzero_si512(), _mm512_and_si512(zigzag, one)));
        /* the kind is in bits 4 and 5 of every byte of its lane: it belongs at bit 32 */
        __m512i kind = _mm512_and_si512(_mm512_srli_epi64(shape, 4), kind_bits);
        __mmask8 write = _mm512_test_epi64_mask(kind, _mm512_set1_epi64(1ll << 32)),
                 fetch = _mm512_test_epi64_mask(kind, _mm512_set1_epi64(2ll << 32));

        __m512i read_sums = sums(_mm512_maskz_mov_epi64((__mmask8) ~(write | fetch), delta)),
                write_sums = sums(_mm512_maskz_mov_epi64(write, delta));
        __m512i here = _mm512_mask_add_epi64(_mm512_add_epi64(reads, read_sums), write, writes, write_sums);
        reads = _mm512_add_epi64(reads, last_lane(read_sums));
        writes = _mm512_add_epi64(writes, last_lane(write_sums));
        if (codes->has_fetches) { /* a fetch is predicted at the end of the previous one */
            __m512i fetch_sums = sums(_mm512_maskz_add_epi64(fetch, delta, size));
            here = _mm512_mask_add_epi64(here, fetch, fetches, _mm512_sub_epi64(fetch_sums, size));
            fetches = _mm512_add_epi64(fetches, last_lane(fetch_sums));
        }
        _mm512_storeu_si512(addr + i, here);
        _mm512_storeu_si512(meta + i, _mm512_or_si512(_mm512_or_si512(size, kind), thread));
        i += 8;
    }
    last[RSC_READ] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(reads));
    last[RSC_WRITE] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(writes));
    last[RSC_FETCH] = (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(fetches));
    return one_by_one(codes, code + i, deltas, last, thread_bits, addr + i, meta + i, count - i);
}

#else

const uint8_t *RSC_WIDE(rsct_stretch)(const struct rsct_codes *codes, const uint8_t *code, const uint8_t *deltas,
                                      uint64_t last[4], uint64_t thread_bits, uint64_t *addr, uint64_t *meta,
                                      uint32_t count) {
    return one_by_one(codes, code, deltas, last, thread_bits, addr, meta, count);
}

#endif

static uint64_t fetches_one_by_one(const struct rsct_codes *codes, const uint8_t *code, uint64_t count) {
    uint64_t fetches = 0;
    for (uint64_t i = 0; i < count; i++)
        fetches += codes->fetches[(code[i] & 15) | (code[i] >> 3 & 16)] >> (code[i] >> 4 & 7) & 1;
    return fetches;
}

#if defined(__AVX2__)
#include <immintrin.h>

uint64_t RSC_WIDE(rsct_fetches)(const struct rsct_codes *codes, const uint8_t *code, uint64_t count) {
    const __m256i low_codes = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)codes->fetches)),
                  high_codes = _mm256_broadcastsi128_si256(_mm_load_si128((const __m128i *)codes->fetches + 1));
    const __m256i bits = _mm256_set1_epi64x((long long)0x8040201008040201), low = _mm256_set1_epi8(15);
    uint64_t fetches = 0, i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i now = _mm256_loadu_si256((const __m256i *)(const void *)(code + i)), column = now & low;
        const __m256i row = _mm256_shuffle_epi8(bits, _mm256_srli_epi16(now, 4) & low);
        const __m256i set =
            _mm256_blendv_epi8(_mm256_shuffle_epi8(low_codes, column), _mm256_shuffle_epi8(high_codes, column), now);
        fetches += (uint64_t)__builtin_popcount((unsigned)_mm256_movemask_epi8(_mm256_cmpeq_epi8(set & row, row)));
    }
    return fetches + fetches_one_by_one(codes, code + i, count - i);
}

#else

uint64_t RSC_WIDE(rsct_fetches)(const struct rsct_codes *codes, const uint8_t *code, uint64_t count) {
    return fetches_one_by_one(codes, code, count);
}

#endif
