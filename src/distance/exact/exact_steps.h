/*
 * exact_steps.h - the loop for blocks where the recent filter does not pay; included once
 * per vector width, by exact_kernel.c.
 *
 * With an empty filter, a line's last use is its place in the trace: all bits of the block
 * can be set at once, and a line's new slot is known before its distance. The new bits
 * come after every slot searched, so they do not affect counts of bits before a slot;
 * lines in the stack are counted separately. So the block is processed in groups, in
 * steps. Each step is a small loop that overwrites the results of the one before in one
 * array, and prefetches for the next:
 *
 *   look_up   finds the line's block in its bucket
 *   find      finds the line's unit in the block
 *   exchange  takes the slot of the last use out of the unit, and puts in the new one
 *   answer    counts the bits before the old slot, and clears that bit
 *
 * No step branches on the reference; a first use has a dummy slot. Lines added in
 * `exchange` move units of neighbours that were already looked up: later steps detect this
 * and look again (rsc_line_map_reuse()).
 *
 * The first three steps only change the line map, the last only the bitmap: two threads
 * can do them, one several blocks ahead of the other (engine_stages.c).
 */
#ifndef RSC_DISTANCE_EXACT_EXACT_STEPS_H
#define RSC_DISTANCE_EXACT_EXACT_STEPS_H

#include <stddef.h>

#if defined(__AVX512DQ__)
#include <immintrin.h>
#endif

#include "distance/exact/exact_state.h"

/* References in a group. 16 and 64 were up to a tenth slower on uniform and zipf, about the noise. */
#define GROUP RSC_EXACT_GROUP

/* References to the line just used. */
static inline __attribute__((always_inline)) uint32_t count_repeats(const uint64_t *lines, uint32_t count) {
    uint32_t repeats = 0;
    for (uint32_t i = 1; i < count; i++) repeats += lines[i] == lines[i - 1];
    return repeats;
}

static inline __attribute__((always_inline)) void look_up(const struct rsc_line_map *map, const uint64_t *lines,
                                                          uint32_t *step, uint32_t count) {
    for (uint32_t k = 0; k < count; k++) {
        __builtin_prefetch(map->buckets + step[k + GROUP]);
        struct rsc_line_bucket *bucket;
        uint32_t entry, where = 0, first = 0;
        if (__builtin_expect(rsc_line_map_find(map, lines[k], step[k], &bucket, &entry), 1)) {
            where = bucket->where[entry];
            first = rsc_line_map_first_unit(where);
            /* A block of one other line: that line's unit, which will move soon, is needed, but no unit of this
             * line's. */
            where = where >> 30 == RSC_UNITS_SINGLE && bucket->key[entry] != lines[k] ? 0 : where;
        }
        step[k] = where;
        __builtin_prefetch(map->units + first, 1);
        if (map->extra) __builtin_prefetch(map->extra + first, 1);
    }
}

static inline __attribute__((always_inline)) void find(const struct rsc_line_map *map, const uint64_t *lines,
                                                       uint32_t *step, uint32_t count) {
    uint32_t k = 0;
#if defined(__AVX512DQ__)
    const __m512i fifteen = _mm512_set1_epi32(15), two = _mm512_set1_epi32(2), ones = _mm512_set1_epi32(0x111);
    for (; k + 16 <= count; k += 16) {
        __m512i where = _mm512_loadu_si512(step + k), kind = _mm512_srli_epi32(where, 30);
        /* shifts of 32 and more, those of a `where` of 0, give 0 */
        __m512i first = _mm512_sllv_epi32(_mm512_and_si512(where, _mm512_set1_epi32(0x3fffffff)),
                                          _mm512_sub_epi32(_mm512_add_epi32(kind, kind), two));
        __m256i low = _mm512_cvtepi64_epi32(_mm512_loadu_si512(lines + k));
        __m256i high = _mm512_cvtepi64_epi32(_mm512_loadu_si512(lines + k + 8));
        __m512i offset = _mm512_and_si512(_mm512_inserti64x4(_mm512_castsi256_si512(low), high, 1), fifteen);
        __mmask16 full = _mm512_cmpeq_epi32_mask(kind, _mm512_set1_epi32(RSC_UNITS_FULL));
        __m512i unit = _mm512_mask_add_epi32(first, full, first, offset);
        __mmask16 trio = _mm512_cmpeq_epi32_mask(kind, two);
        if (trio) { /* rsc_line_trio_unit() */
            /* by 64 bits: a 32-bit index would be negative from 2^31 on */
            __m256i none = _mm256_setzero_si256();
            __m256i header_low = _mm512_mask_i64gather_epi32(
                none, (__mmask8)trio, _mm512_cvtepu32_epi64(_mm512_castsi512_si256(first)), map->units, 4);
            __m256i header_high = _mm512_mask_i64gather_epi32(
                none, (__mmask8)(trio >> 8), _mm512_cvtepu32_epi64(_mm512_extracti64x4_epi64(first, 1)), map->units, 4);
            __m512i header = _mm512_inserti64x4(_mm512_castsi256_si512(header_low), header_high, 1);
            __m512i differs = _mm512_xor_si512(header, _mm512_mullo_epi32(offset, ones));
            __m512i used = _mm512_and_si512(_mm512_srli_epi32(header, 12), _mm512_set1_epi32(3));
            __m512i in_use = _mm512_sub_epi32(_mm512_sllv_epi32(_mm512_set1_epi32(1), _mm512_slli_epi32(used, 2)),
                                              _mm512_set1_epi32(1));
            __m512i same = _mm512_andnot_si512(differs, _mm512_and_si512(_mm512_sub_epi32(differs, ones), in_use));
            __m512i place = _mm512_setzero_si512();
            for (int nth = 3; nth >= 1; nth--)
                place = _mm512_mask_mov_epi32(
                    place, _mm512_test_epi32_mask(same, _mm512_set1_epi32(8 << 4 * (nth - 1))), _mm512_set1_epi32(nth));
            __mmask16 has = _mm512_test_epi32_mask(place, place);
            unit = _mm512_mask_mov_epi32(unit, trio, _mm512_maskz_add_epi32(has, first, place));
        }
        _mm512_storeu_si512(step + k, unit);
    }
#endif
    for (; k < count; k++) step[k] = rsc_line_map_unit(map, lines[k], step[k]);
}

/* `slot` is that of the first of them. Returns 0 or an error. */
static inline __attribute__((always_inline)) int exchange(struct rsc_exact *exact, const uint64_t *lines,
                                                          uint32_t *step, uint32_t count, uint32_t slot,
                                                          const uint32_t *tags, uint32_t *last_tag, int with_ri,
                                                          int answered_here) {
    const uint32_t nowhere = rsc_rank_nowhere(&exact->rank), compacted_slot = exact->compacted_slot;
    find(&exact->map, lines, step, count);
    uint32_t *units = exact->map.units, first_uses = 0;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t unit = step[k], held = units[unit];
        if (__builtin_expect(held >= RSC_UNIT_OTHER, 0)) {
            int status;
            if (!(unit = rsc_line_map_add(&exact->map, lines[k], &status))) return status;
            units = exact->map.units;
            held = units[unit];
        }
        units[unit] = slot + 1;
        if (tags) {
            last_tag[k] = exact->map.extra[unit];
            exact->map.extra[unit] = tags[k];
        }
        if ((++slot & 511) == RSC_RANK_LINE_SLOTS) slot += 512 - RSC_RANK_LINE_SLOTS;
        uint32_t then = held ? held - 1 : nowhere;
        first_uses += !held;
        step[k] = then;
        if (answered_here) rsc_rank_prefetch(&exact->rank, then);
        if (answered_here && with_ri)
            __builtin_prefetch(
                (const void *)((uintptr_t)exact->old_time + (then < compacted_slot ? rsc_rank_place(then) : 0) *
                                                                sizeof *exact->old_time)); /* it may be NULL */
    }
    exact->distinct += first_uses;
    return 0;
}

static inline __attribute__((always_inline)) void answer_levels(struct rsc_exact *exact, const uint32_t *step,
                                                                uint32_t count, uint32_t *rd, int look_ahead,
                                                                uint32_t levels) {
    const struct rsc_rank_bitmap rank = exact->rank;
    const uint32_t nowhere = rsc_rank_nowhere(&rank), before_all = exact->in_stack;
    uint32_t in_stack = before_all;
    for (uint32_t k = 0; k < count; k++) {
        if (look_ahead && k + GROUP < count) rsc_rank_prefetch(&rank, step[k + GROUP]);
        uint32_t before = rsc_rank_take_uncounted(&rank, step[k], levels);
        int first_use = step[k] == nowhere;
        rd[k] = first_use ? RSC_RD_COLD : in_stack - 1 - before;
        in_stack += (uint32_t)first_use;
    }
    exact->in_stack = in_stack;
    exact->rank.set -= count - (in_stack - before_all);
}

static inline __attribute__((always_inline)) void answer_slots(struct rsc_exact *exact, const uint32_t *step,
                                                               uint32_t count, uint32_t *rd, int look_ahead) {
    switch (exact->rank.level_count) {
    case 1: answer_levels(exact, step, count, rd, look_ahead, 1); return;
    case 2: answer_levels(exact, step, count, rd, look_ahead, 2); return;
    case 3: answer_levels(exact, step, count, rd, look_ahead, 3); return;
    default: answer_levels(exact, step, count, rd, look_ahead, exact->rank.level_count);
    }
}

/* `time` is that of the first of them. */
static inline __attribute__((always_inline)) void tell_intervals(const struct rsc_exact *exact, const uint32_t *step,
                                                                 uint32_t count, uint64_t time, uint64_t *ri) {
    static const uint64_t none[1];
    const uint64_t *old_times = exact->old_time ? exact->old_time : none;
    const uint64_t time_of_place = exact->time_of_place;
    const uint32_t nowhere = rsc_rank_nowhere(&exact->rank), compacted_slot = exact->compacted_slot;
    uint32_t k = 0;
#if defined(__AVX512DQ__)
    const __m512i from =
        _mm512_add_epi64(_mm512_setr_epi64(0, 1, 2, 3, 4, 5, 6, 7), _mm512_set1_epi64((long long)time));
    for (; k + 8 <= count; k += 8) {
        __m256i slot = _mm256_loadu_si256((const __m256i *)(step + k));
        __m256i place = _mm256_sub_epi32(slot, _mm256_slli_epi32(_mm256_srli_epi32(slot, 9), 6)); /* rsc_rank_place() */
        __mmask8 known = _mm256_cmpneq_epi32_mask(slot, _mm256_set1_epi32((int)nowhere));
        __mmask8 old = _mm256_cmplt_epu32_mask(slot, _mm256_set1_epi32((int)compacted_slot));
        __m512i then = _mm512_add_epi64(_mm512_cvtepu32_epi64(place), _mm512_set1_epi64((long long)time_of_place));
        if (old) then = _mm512_mask_i32gather_epi64(then, old, place, old_times, 8); /* places are below 2^31 */
        __m512i now = _mm512_add_epi64(from, _mm512_set1_epi64((long long)k));
        _mm512_storeu_si512(ri + k, _mm512_maskz_sub_epi64(known, now, then));
    }
#endif
    for (; k < count; k++) {
        uint32_t slot = step[k], place = rsc_rank_place(slot);
        uint64_t old = old_times[slot < compacted_slot ? place : 0];
        uint64_t then = slot < compacted_slot ? old : time_of_place + place;
        ri[k] = slot == nowhere ? 0 : time + k - then;
    }
}

/* A block whose first reference is at `time` gets its places. */
static inline __attribute__((always_inline)) void take_places(struct rsc_exact *exact, uint64_t time, uint32_t count) {
    exact->in_stack = (uint32_t)exact->rank.set;
    rsc_rank_set_range(&exact->rank, (uint32_t)(time - exact->time_of_place), count);
}

/* Finds each line's bucket; the first are prefetched. `step` has room for one more group, which is bucket 0's. */
static inline __attribute__((always_inline)) void find_buckets(struct rsc_exact *exact, const uint64_t *lines,
                                                               uint32_t *step, uint32_t count) {
    const struct rsc_line_map map = exact->map;
    for (uint32_t k = 0; k < count; k++) step[k] = rsc_line_map_home(&map, lines[k]);
    for (uint32_t k = count; k < count + GROUP; k++) step[k] = 0;
    for (uint32_t k = 0; k < GROUP; k++) __builtin_prefetch(map.buckets + step[k]);
}

#define PART(at) (count - (at) < GROUP ? count - (at) : GROUP)

/* All of it. */
static inline __attribute__((always_inline)) int exact_steps(struct rsc_exact *exact, const uint64_t *lines,
                                                             const uint32_t *tags, uint32_t count, uint32_t *rd,
                                                             uint64_t *ri, uint32_t *last_tag, int with_ri) {
    uint32_t *step = exact->unanswered.unit;
    int status = rsc_exact_make_room(exact, count);
    if (status < 0) return status;
    const uint32_t place = (uint32_t)(exact->now - exact->time_of_place);
    take_places(exact, exact->now, count);
    find_buckets(exact, lines, step, count);
    /* pipelined: a group is looked up, the one before it exchanged, the one before that answered */
    for (uint32_t at = 0; at < count + 2 * GROUP; at += GROUP) {
        uint32_t before = at - GROUP, first = at - 2 * GROUP;
        if (at < count) look_up(&exact->map, lines + at, step + at, PART(at));
        if (at >= GROUP && before < count) {
            status = exchange(exact, lines + before, step + before, PART(before), rsc_rank_slot(place + before),
                              tags ? tags + before : NULL, tags ? last_tag + before : NULL, with_ri, 1);
            if (status < 0) return status;
        }
        if (at >= 2 * GROUP && first < count) {
            answer_slots(exact, step + first, PART(first), rd + first, 0);
            if (with_ri) tell_intervals(exact, step + first, PART(first), exact->now + first, ri + first);
        }
    }
    rsc_line_map_reuse(&exact->map);
    exact->now += count;
    return 0;
}

/* Everything except the answers: rsc_exact_kernel's exchange(). */
static inline __attribute__((always_inline)) int exchange_alone(struct rsc_exact *exact, const uint64_t *lines,
                                                                uint32_t count, uint32_t *slots) {
    const uint32_t place = (uint32_t)(exact->now - exact->time_of_place);
    find_buckets(exact, lines, slots, count);
    for (uint32_t at = 0; at < count + GROUP; at += GROUP) {
        uint32_t before = at - GROUP;
        if (at < count) look_up(&exact->map, lines + at, slots + at, PART(at));
        if (at < GROUP || before >= count) continue;
        int status = exchange(exact, lines + before, slots + before, PART(before), rsc_rank_slot(place + before), NULL,
                              NULL, 0, 0);
        if (status < 0) return status;
    }
    rsc_line_map_reuse(&exact->map);
    exact->now += count;
    return 0;
}

#undef PART

/* Only the answers: rsc_exact_kernel's answer(). */
static inline __attribute__((always_inline)) void answer_alone(struct rsc_exact *exact, const uint32_t *slots,
                                                               uint32_t count, uint64_t time, uint32_t *rd) {
    take_places(exact, time, count);
    answer_slots(exact, slots, count, rd, 1);
}

#endif
