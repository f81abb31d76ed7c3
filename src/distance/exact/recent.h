/*
 * recent.h - the recent filter: RD of lines near the top of the stack, by comparing
 * with all of them at once; included once per vector width.
 *
 * Lines stay in their lanes; `order` ranks them by last use. A hit has RD = lanes with
 * a higher order. A hit only changes one order, so hits do not wait for each other. A
 * miss replaces the line with the lowest order.
 *
 * Repeats of the line just used, frequent in programs, are answered first. Order is
 * 1..count at the beginning of a block and RSC_RECENT_LANES + 1 + i for a use by
 * reference i of it, so 16 bits are enough. `time` of a lane is updated at the end of
 * the block.
 *
 * Without vector compares, the filter holds one line: a repeat has RD 0.
 */
#ifndef RSC_DISTANCE_EXACT_RECENT_H
#define RSC_DISTANCE_EXACT_RECENT_H

#include <string.h>

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include "distance/exact/exact_state.h"
#include "distance/exact/line_runs.h"

#define ORDER_OF_BLOCK (RSC_RECENT_LANES + 1)

/* ---- repeats ---- */

/*
 * Answers all repeats of the line just used; lists the rest. The last line used is
 * that of lane `last` when the block begins.
 */
static inline __attribute__((always_inline)) void recent_repeats(struct rsc_exact *exact, const uint64_t *lines,
                                                                 const uint32_t *tags, uint32_t count, uint32_t *rd,
                                                                 uint64_t *ri, uint32_t *last_tag, int with_ri) {
    struct rsc_recent *recent = &exact->recent;
    struct rsc_unanswered *rest = &exact->unanswered;
    rest->line[0] = lines[0];
    rest->index[0] = 0;
    uint32_t first = !recent->count || lines[0] != recent->line[recent->last];
    rest->count = rsc_line_runs(lines, count, first, rest->line, rest->index);
    memset(rd, 0, count * sizeof *rd);
    if (with_ri)
        for (uint32_t i = 0; i < count; i++) ri[i] = 1;
    if (tags) {
        last_tag[0] = recent->tag[recent->last];
        memcpy(last_tag + 1, tags, (count - 1) * sizeof *tags);
    }
}

#if defined(__AVX2__)

/* ---- many lines ---- */

#if defined(__AVX512BW__)
#define RECENT_WIDTH 32u
struct recent_lanes {
    __m512i line[4], order;
};
static inline __attribute__((always_inline)) void recent_load(struct recent_lanes *lanes,
                                                              const struct rsc_recent *recent) {
    for (int k = 0; k < 4; k++) lanes->line[k] = _mm512_loadu_si512(recent->line + 8 * k);
    lanes->order = _mm512_loadu_si512(recent->order);
}
/* Bit of the lane that holds the line. Lanes not in use have order 0 and are masked by the caller. */
static inline __attribute__((always_inline)) uint32_t recent_match(const struct recent_lanes *lanes, uint64_t line) {
    __m512i wanted = _mm512_set1_epi64((long long)line);
    __mmask16 low = _mm512_kunpackb(_mm512_cmpeq_epi64_mask(lanes->line[1], wanted),
                                    _mm512_cmpeq_epi64_mask(lanes->line[0], wanted));
    __mmask16 high = _mm512_kunpackb(_mm512_cmpeq_epi64_mask(lanes->line[3], wanted),
                                     _mm512_cmpeq_epi64_mask(lanes->line[2], wanted));
    return _mm512_kunpackw(high, low);
}
static inline __attribute__((always_inline)) uint32_t recent_newer(const struct recent_lanes *lanes, uint16_t order) {
    return (uint32_t)__builtin_popcount(_mm512_cmpgt_epu16_mask(lanes->order, _mm512_set1_epi16((short)order)));
}
static inline __attribute__((always_inline)) void recent_set_order(struct recent_lanes *lanes, uint32_t lane,
                                                                   uint16_t order) {
    lanes->order = _mm512_mask_mov_epi16(lanes->order, (__mmask32)1 << lane, _mm512_set1_epi16((short)order));
}
static inline __attribute__((always_inline)) uint32_t recent_oldest(const struct recent_lanes *lanes) {
    __m256i half = _mm256_min_epu16(_mm512_castsi512_si256(lanes->order), _mm512_extracti64x4_epi64(lanes->order, 1));
    __m128i quarter = _mm_min_epu16(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
    short least = (short)_mm_extract_epi16(_mm_minpos_epu16(quarter), 0);
    return (uint32_t)__builtin_ctz(_mm512_cmpeq_epi16_mask(lanes->order, _mm512_set1_epi16(least)));
}
static inline __attribute__((always_inline)) void recent_set_line(struct recent_lanes *lanes, uint32_t lane,
                                                                  uint64_t line) {
    __m512i value = _mm512_set1_epi64((long long)line);
    uint32_t bit = 1u << lane;
    for (int k = 0; k < 4; k++) lanes->line[k] = _mm512_mask_mov_epi64(lanes->line[k], (__mmask8)(bit >> 8 * k), value);
}
#else
#define RECENT_WIDTH 16u
struct recent_lanes {
    __m256i line[4], order;
};
static inline __attribute__((always_inline)) void recent_load(struct recent_lanes *lanes,
                                                              const struct rsc_recent *recent) {
    for (int k = 0; k < 4; k++) lanes->line[k] = _mm256_loadu_si256((const __m256i *)(recent->line + 4 * k));
    lanes->order = _mm256_loadu_si256((const __m256i *)recent->order);
}
static inline __attribute__((always_inline)) uint32_t recent_match(const struct recent_lanes *lanes, uint64_t line) {
    __m256i wanted = _mm256_set1_epi64x((long long)line);
    uint32_t match = 0;
    for (int k = 0; k < 4; k++)
        match |= (uint32_t)_mm256_movemask_pd(_mm256_castsi256_pd(_mm256_cmpeq_epi64(lanes->line[k], wanted))) << 4 * k;
    return match;
}
static inline __attribute__((always_inline)) uint32_t recent_newer(const struct recent_lanes *lanes, uint16_t order) {
    __m256i newer = _mm256_cmpgt_epi16(lanes->order, _mm256_set1_epi16((short)order));
    return (uint32_t)__builtin_popcount((uint32_t)_mm256_movemask_epi8(newer)) / 2;
}
static inline __attribute__((always_inline)) void recent_set_order(struct recent_lanes *lanes, uint32_t lane,
                                                                   uint16_t order) {
    const __m256i number = _mm256_setr_epi16(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    __m256i here = _mm256_cmpeq_epi16(number, _mm256_set1_epi16((short)lane));
    lanes->order = _mm256_blendv_epi8(lanes->order, _mm256_set1_epi16((short)order), here);
}
static inline __attribute__((always_inline)) uint32_t recent_oldest(const struct recent_lanes *lanes) {
    __m128i half = _mm_min_epu16(_mm256_castsi256_si128(lanes->order), _mm256_extracti128_si256(lanes->order, 1));
    short least = (short)_mm_extract_epi16(_mm_minpos_epu16(half), 0);
    __m256i here = _mm256_cmpeq_epi16(lanes->order, _mm256_set1_epi16(least));
    return (uint32_t)__builtin_ctz((uint32_t)_mm256_movemask_epi8(here)) / 2;
}
static inline __attribute__((always_inline)) void recent_set_line(struct recent_lanes *lanes, uint32_t lane,
                                                                  uint64_t line) {
    const __m256i number = _mm256_setr_epi64x(0, 1, 2, 3);
    __m256i value = _mm256_set1_epi64x((long long)line);
    for (int k = 0; k < 4; k++) {
        __m256i here = _mm256_cmpeq_epi64(number, _mm256_set1_epi64x((long long)lane - 4 * k));
        lanes->line[k] = _mm256_blendv_epi8(lanes->line[k], value, here);
    }
}
#endif

/* Resets orders to 1..count, and keeps times: before a block. */
static inline __attribute__((always_inline)) void recent_begin(struct rsc_recent *recent) {
    struct recent_lanes lanes;
    uint16_t rank[RSC_RECENT_LANES];
    recent_load(&lanes, recent);
    for (uint32_t lane = 0; lane < recent->count; lane++)
        rank[lane] = (uint16_t)(recent->count - recent_newer(&lanes, recent->order[lane]));
    memcpy(recent->order, rank, recent->count * sizeof *rank);
}

/* The last use of the line in a lane, during a block that began at `start`. */
static inline __attribute__((always_inline)) uint64_t recent_time(const struct rsc_recent *recent, uint32_t lane,
                                                                  uint64_t start) {
    uint32_t order = recent->order[lane];
    return order >= ORDER_OF_BLOCK ? start + (order - ORDER_OF_BLOCK) : recent->time[lane];
}

/* Answers what it can of the list of recent_repeats(), and lists the rest. Returns how many it answered. */
static inline __attribute__((always_inline)) uint32_t recent_answer(struct rsc_exact *exact, const uint32_t *tags,
                                                                    uint32_t *rd, uint64_t *ri, uint32_t *last_tag,
                                                                    int with_ri) {
    struct rsc_recent *recent = &exact->recent;
    struct rsc_unanswered *rest = &exact->unanswered;
    struct recent_lanes lanes;
    uint32_t listed = 0, in_use = recent->count, lane = recent->last, n = rest->count;
    uint32_t used = in_use >= 32 ? ~0u : (1u << in_use) - 1;
    uint64_t start = exact->now;
    recent_begin(recent);
    if (rest->index[0]) { /* the block begins with repeats of the line before */
        recent->order[lane] = (uint16_t)(ORDER_OF_BLOCK + rest->index[0] - 1);
        if (tags) recent->tag[lane] = tags[rest->index[0] - 1];
    }
    recent_load(&lanes, recent);
    for (uint32_t k = 0; k < n; k++) {
        uint64_t line = rest->line[k];
        uint32_t i = rest->index[k], end = rest->index[k + 1] - 1; /* of the run of repeats that begins here */
        uint32_t match = recent_match(&lanes, line) & used;
        uint16_t order = (uint16_t)(ORDER_OF_BLOCK + end);
        if (match) {
            lane = (uint32_t)__builtin_ctz(match);
            rd[i] = recent_newer(&lanes, recent->order[lane]);
            if (with_ri) ri[i] = start + i - recent_time(recent, lane, start);
            if (tags) last_tag[i] = recent->tag[lane];
        } else {
            rest->leaves[listed] = in_use == RECENT_WIDTH;
            rest->above[listed] = (uint8_t)in_use;
            if (in_use == RECENT_WIDTH) {
                lane = recent_oldest(&lanes);
                rest->left_time[listed] = recent_time(recent, lane, start);
                if (tags) rest->left_tag[listed] = recent->tag[lane];
            } else {
                lane = in_use++;
                used = used << 1 | 1;
            }
            recent_set_line(&lanes, lane, line);
            recent->line[lane] = line;
            rest->line[listed] = line;
            rest->index[listed] = i;
            rest->lane[listed++] = (uint8_t)lane;
        }
        recent_set_order(&lanes, lane, order);
        recent->order[lane] = order;
        if (tags) recent->tag[lane] = tags[end];
    }
    for (uint32_t k = 0; k < in_use; k++) recent->time[k] = recent_time(recent, k, start);
    recent->last = lane;
    recent->count = in_use;
    rest->count = listed;
    return n - listed;
}
#else
#define RECENT_WIDTH 1u
#endif

#endif
