/*
 * accumulate_kernel.c - adds distances and intervals to the histograms of accumulate.h; compiled once per vector width.
 *
 * Up to half of a program's references repeat the line just used, and their counters would be the same two all the
 * time, each increment waiting for the one before. So the bins of many references are computed together, repeats and
 * references without a distance are counted by comparing, and only the others increment counters.
 */
#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#include "distance/count/accumulate.h"

#define CHUNK 512u
#define SPARE 16u /* written after the last one */

/* A reference in a word: bin of its distance, kind, bin of its interval. */
#define KIND_SHIFT 12
#define RI_SHIFT 16
#define REPEAT (1u << RI_SHIFT) /* distance 0, interval 1 */
#define COLD (UINT32_MAX << RI_SHIFT)
#define INVALIDATED (COLD - (1u << RI_SHIFT))
#define WITHOUT_KIND(word) ((word) & ~((RSC_KIND_SLOTS - 1) << KIND_SHIFT))

/*
 * As rsc_bin_of_fine(). Such a bin is the exponent of the value and six more bits, the top of its float, which is exact
 * below 2^24. Masks, not conditions: the compiler makes vectors of this.
 */
static inline __attribute__((always_inline)) uint32_t bin_of(uint32_t value) {
    const uint32_t high = 0u - (value >= 1u << 24), low = 0u - (value < 1024);
    const union {
        float value;
        uint32_t bits;
    } top = {.value = (float)(int32_t)(((value >> 8) & high) | (value & ~high))};
    const uint32_t above = (top.bits >> 17) - ((127u + 10) << 6) + 1024 + ((8u << 6) & high);
    return (value & low) | (above & ~low);
}

static void add_intervals(const uint64_t *restrict ri, uint32_t *restrict word, uint32_t count) {
    uint64_t large = 0;
    for (uint32_t i = 0; i < count; i++) {
        word[i] |= bin_of((uint32_t)ri[i]) << RI_SHIFT;
        large |= ri[i];
    }
    if (!(large >> 32)) return;
    for (uint32_t i = 0; i < count; i++) word[i] = (word[i] & (REPEAT - 1)) | rsc_bin_of_fine(ri[i]) << RI_SHIFT;
}

static void add_kinds(const uint32_t *restrict who, uint32_t *restrict word, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t kind = who[i] & 0xff, most = RSC_KIND_SLOTS - 1;
        word[i] |= (kind < most ? kind : most) << KIND_SHIFT;
    }
}

static void words_of(const uint32_t *restrict who, const uint32_t *restrict rd, const uint64_t *restrict ri,
                     uint32_t cap, uint32_t *restrict word, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) word[i] = bin_of(rd[i] < cap ? rd[i] : cap);
    if (ri) add_intervals(ri, word, count);
    else
        for (uint32_t i = 0; i < count; i++) word[i] |= (uint32_t)(word[i] == 0) << RI_SHIFT;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t cold = 0u - (rd[i] == UINT32_MAX), taken = 0u - (rd[i] == RSC_RD_INVALIDATED);
        word[i] = (word[i] & ~(cold | taken)) | (COLD & cold) | (INVALIDATED & taken);
    }
    if (who) add_kinds(who, word, count);
}

/* How many are that word. */
static uint32_t count_equal(const uint32_t *word, uint32_t wanted, uint32_t count) {
    uint32_t equal = 0;
    for (uint32_t i = 0; i < count; i++) equal += word[i] == wanted;
    return equal;
}

/* Those that increment counters. Returns how many. */
static uint32_t keep_others(const uint32_t *restrict word, uint32_t *restrict kept, uint32_t count) {
    uint32_t n = 0, i = 0;
#if defined(__AVX512F__)
    const __m512i kindless = _mm512_set1_epi32((int)WITHOUT_KIND(UINT32_MAX));
    for (; i + 16 <= count; i += 16) {
        const __m512i words = _mm512_loadu_si512(word + i), plain = _mm512_and_si512(words, kindless);
        const __mmask16 others = _mm512_cmplt_epu32_mask(words, _mm512_set1_epi32((int)INVALIDATED)) &
                                 _mm512_cmpneq_epi32_mask(plain, _mm512_set1_epi32((int)REPEAT));
        _mm512_storeu_si512(kept + n, _mm512_maskz_compress_epi32(others, words));
        n += (uint32_t)__builtin_popcount(others);
    }
#endif
    uint32_t is_other[CHUNK];
    for (uint32_t k = i; k < count; k++) is_other[k] = (word[k] < INVALIDATED) & (WITHOUT_KIND(word[k]) != REPEAT);
    for (; i < count; i++) {
        kept[n] = word[i];
        n += is_other[i];
    }
    return n;
}

/* `with_ri` and `by_kind` are constants where this is inlined. */
static inline __attribute__((always_inline)) void increment(struct rsc_accumulator *sum, const uint32_t *kept,
                                                            uint32_t count, int with_ri, int by_kind) {
    uint64_t *const rd_count = sum->rd.count, *const ri_count = sum->ri.count, *kinds[RSC_KIND_SLOTS];
    for (uint32_t k = 0; k < RSC_KIND_SLOTS; k++) kinds[k] = sum->kinds[k].rd.count;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t bin = kept[i] & ((1u << KIND_SHIFT) - 1);
        rd_count[bin]++;
        if (with_ri) ri_count[kept[i] >> RI_SHIFT]++;
        if (by_kind) kinds[kept[i] >> KIND_SHIFT & (RSC_KIND_SLOTS - 1)][bin]++;
    }
}

static void count_chunk(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd, const uint64_t *ri,
                        uint32_t count) {
    uint32_t word[CHUNK], kept[CHUNK + SPARE];
    words_of(who, rd, ri, sum->rd_cap && sum->rd_cap < UINT32_MAX ? (uint32_t)sum->rd_cap : UINT32_MAX, word, count);
    const uint32_t others = keep_others(word, kept, count);
    for (uint32_t left = count - others, kind = 0; left && kind < RSC_KIND_SLOTS; kind++) {
        struct rsc_kind_counts *row = &sum->kinds[kind];
        const uint32_t repeats = count_equal(word, REPEAT | kind << KIND_SHIFT, count);
        const uint32_t cold = left > repeats ? count_equal(word, COLD | kind << KIND_SHIFT, count) : 0;
        const uint32_t taken = left > repeats + cold ? count_equal(word, INVALIDATED | kind << KIND_SHIFT, count) : 0;
        left -= repeats + cold + taken;
        sum->rd.count[0] += repeats;
        if (ri) sum->ri.count[1] += repeats;
        sum->cold += cold;
        sum->invalidated += taken;
        if (!who) continue;
        if (repeats) row->rd.count[0] += repeats;
        row->cold += cold;
        row->invalidated += taken;
    }
    if (ri && who) increment(sum, kept, others, 1, 1);
    else if (ri) increment(sum, kept, others, 1, 0);
    else if (who) increment(sum, kept, others, 0, 1);
    else increment(sum, kept, others, 0, 0);
}

void RSC_WIDE(rsc_accumulate_values)(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd,
                                     const uint64_t *ri, uint32_t count) {
    for (uint32_t done = 0, part; done < count; done += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        count_chunk(sum, who ? who + done : NULL, rd + done, ri ? ri + done : NULL, part);
    }
}
