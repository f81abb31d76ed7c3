/*
 * line_runs.h - separates references to the line just used, which are frequent in
 * programs, from the rest of a block; included once per vector width.
 */
#ifndef RSC_DISTANCE_EXACT_LINE_RUNS_H
#define RSC_DISTANCE_EXACT_LINE_RUNS_H

#include <stdint.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/*
 * Lists where lines[1..count-1] differ from the line before, after the `listed` (0 or
 * 1) entries that the caller set for lines[0]. Returns the number of entries;
 * index[that number] is `count`: a run lasts until the next one begins. `line` and
 * `index` have room for count and count + 1.
 */
static inline __attribute__((always_inline)) uint32_t rsc_line_runs(const uint64_t *lines, uint32_t count,
                                                                    uint32_t listed, uint64_t *line, uint32_t *index) {
    uint32_t i = 1;
#if defined(__AVX512F__)
    for (; i + 8 <= count; i += 8) {
        __m512i here = _mm512_loadu_si512(lines + i), before = _mm512_loadu_si512(lines + i - 1);
        __mmask8 differs = _mm512_cmpneq_epi64_mask(here, before);
        __m256i number = _mm256_add_epi32(_mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7), _mm256_set1_epi32((int)i));
        _mm512_storeu_si512(line + listed, _mm512_maskz_compress_epi64(differs, here));
        _mm256_storeu_si256((__m256i *)(index + listed), _mm256_maskz_compress_epi32(differs, number));
        listed += (uint32_t)__builtin_popcount(differs);
    }
#endif
    for (; i < count; i++) {
        line[listed] = lines[i];
        index[listed] = i;
        listed += lines[i] != lines[i - 1];
    }
    index[listed] = count;
    return listed;
}

#endif
