/*
 * exact_kernel.c - the loop of the exact engine; compiled once per vector width.
 *
 * Where the recent filter pays, a block goes through it first; where it does not,
 * exact_steps.h has another loop. References that the filter, or a search for
 * repeats, does not answer need three dependent memory accesses: bucket, unit, bitmap
 * line. Each is prefetched for later references while earlier ones are processed.
 *
 * `tags` and `last_tag` are both NULL or both set. Like with_ri they are constants
 * where this is inlined, so a loop without them does not test them.
 */
#include "base/cpu.h"
#include "distance/exact/exact_steps.h"
#include "distance/exact/recent.h"

/* Prefetch distances: the bucket, the unit, the bit. Two thirds and 5/3 of these were equal within noise. */
#define AHEAD_BUCKET RSC_EXACT_AHEAD
#define AHEAD_UNIT 14u
#define AHEAD_BIT 7u

/* The filter is turned off where it answers less than 1/8 of a block beyond repeats, and tried again after this many
 * blocks. */
#define RECENT_PAYS(answered, count) ((answered) >= (count) / 8)
#define RECENT_REST 64u
#define REPEATS_PAY 8u /* the same for the search for repeats */

#define UNIT_ABSENT UINT32_MAX

/* always_inline, here and below: gcc drops calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void find_bucket(struct rsc_exact *exact, uint32_t k) {
    uint32_t home = rsc_line_map_home(&exact->map, exact->unanswered.line[k]);
    exact->unanswered.unit[k] = home;
    __builtin_prefetch(exact->map.buckets + home);
}

static inline __attribute__((always_inline)) void find_unit(struct rsc_exact *exact, uint32_t k, int tagged) {
    uint64_t line = exact->unanswered.line[k];
    struct rsc_line_bucket *bucket;
    uint32_t entry;
    int found = rsc_line_map_find(&exact->map, line, exact->unanswered.unit[k], &bucket, &entry);
    uint32_t where = found ? bucket->where[entry] : 0, first = where << 4, unit = first + (uint32_t)(line & 15);
    if (__builtin_expect(where >> 30 != RSC_UNITS_FULL, 0)) {
        /* A block of one other line soon becomes a trio: that line's unit, which moves, is needed too. */
        first = rsc_line_map_first_unit(where);
        unit = where >> 30 == RSC_UNITS_TRIO                                   ? 0
               : where >> 30 == RSC_UNITS_SINGLE && bucket->key[entry] == line ? first
                                                                               : UNIT_ABSENT;
    }
    exact->unanswered.unit[k] = unit;
    __builtin_prefetch(exact->map.units + first, 1);
    if (tagged) __builtin_prefetch(exact->map.extra + first, 1);
}

static inline __attribute__((always_inline)) void find_bit(struct rsc_exact *exact, uint32_t k, int with_ri) {
    uint32_t unit = exact->unanswered.unit[k];
    if (__builtin_expect(unit == UNIT_ABSENT, 0)) return;
    if (__builtin_expect(!unit, 0)) { /* one of a trio, whose header is in cache by now */
        uint64_t line = exact->unanswered.line[k];
        uint32_t where = rsc_line_map_where(&exact->map, line, rsc_line_map_home(&exact->map, line));
        unit = where ? rsc_line_map_unit(&exact->map, line, where) : 0;
        exact->unanswered.unit[k] = unit ? unit : UNIT_ABSENT;
        if (!unit) return;
    }
    uint32_t slot = exact->map.units[unit] - 1;
    if (slot >= RSC_UNIT_OTHER - 1) return;
    rsc_rank_prefetch(&exact->rank, slot);
    if (with_ri && slot < exact->compacted_slot) __builtin_prefetch(exact->old_time + rsc_rank_place(slot));
}

/* The line with that unit, last used at `time`, leaves the filter for the bitmap. */
static inline __attribute__((always_inline)) int leave_recent(struct rsc_exact *exact, uint32_t unit, uint64_t time,
                                                              uint32_t tag, int tagged) {
    uint64_t place = time - exact->time_of_place;
    if (__builtin_expect(place >= exact->places, 0)) {
        int status = rsc_exact_compact(exact, time);
        if (status < 0) return status;
        place = exact->compacted;
    }
    uint32_t slot = rsc_rank_slot((uint32_t)place);
    rsc_rank_set(&exact->rank, slot);
    exact->map.units[unit] = slot + 1;
    if (tagged) exact->map.extra[unit] = tag;
    return 0;
}

/* A reference that the filter did not answer, with `above` lines in the filter. Returns its unit in *unit. */
static inline __attribute__((always_inline)) int answer(struct rsc_exact *exact, uint32_t k, uint64_t time,
                                                        uint32_t above, uint32_t *rd, uint64_t *ri, uint32_t *last_tag,
                                                        uint32_t *unit_out) {
    uint32_t unit = exact->unanswered.unit[k];
    uint32_t held = unit == UNIT_ABSENT ? RSC_UNIT_OTHER : exact->map.units[unit];
    if (__builtin_expect(held >= RSC_UNIT_OTHER, 0)) { /* new, or moved since it was looked up */
        int status;
        unit = rsc_exact_add(exact, exact->unanswered.line[k], &status);
        if (!unit) return status;
        held = exact->map.units[unit];
    }
    *unit_out = unit;
    exact->map.units[unit] = RSC_UNIT_OTHER;
    if (__builtin_expect(held == 0, 0)) {
        exact->distinct++;
        *rd = RSC_RD_COLD;
        if (ri) *ri = 0;
        if (last_tag) *last_tag = 0;
        return 0;
    }
    if (ri) *ri = time - rsc_exact_time(exact, held - 1);
    if (last_tag) *last_tag = exact->map.extra[unit];
    uint32_t before = rsc_rank_take(&exact->rank, held - 1);
    *rd = above + (uint32_t)exact->rank.set - before;
    return 0;
}

static inline __attribute__((always_inline)) int exact_block(struct rsc_exact *exact, const uint64_t *lines,
                                                             const uint32_t *tags, uint32_t count, uint32_t *rd,
                                                             uint64_t *ri, uint32_t *last_tag, int with_ri,
                                                             int single) {
    struct rsc_unanswered *rest = &exact->unanswered;
    struct rsc_recent *recent = &exact->recent;
    uint32_t n = rest->count;
    int status = 0;
    for (uint32_t k = n; n && k < n + RSC_EXACT_AHEAD; k++) rest->line[k] = rest->line[n - 1];
    for (uint32_t k = 0; n && k < AHEAD_BUCKET; k++) find_bucket(exact, k);
    for (uint32_t k = 0; n && k < AHEAD_UNIT; k++) find_unit(exact, k, tags != NULL);
    for (uint32_t k = 0; n && k < AHEAD_BIT; k++) find_bit(exact, k, with_ri);
    for (uint32_t k = 0; k < n; k++) {
        find_bucket(exact, k + AHEAD_BUCKET);
        find_unit(exact, k + AHEAD_UNIT, tags != NULL);
        find_bit(exact, k + AHEAD_BIT, with_ri);
        uint32_t i = rest->index[k], unit = 0;
        uint32_t above = single ? recent->count : rest->above[k];
        status =
            answer(exact, k, exact->now + i, above, &rd[i], with_ri ? &ri[i] : NULL, tags ? &last_tag[i] : NULL, &unit);
        if (status < 0) return status;
        if (single) {
            if (__builtin_expect(recent->count, 1))
                status = leave_recent(exact, recent->unit[0], exact->now + i - 1,
                                      !tags ? 0
                                      : i   ? tags[i - 1]
                                            : recent->tag[0],
                                      tags != NULL);
            recent->unit[0] = unit;
            recent->count = 1;
        } else {
            uint32_t lane = rest->lane[k];
            if (rest->leaves[k])
                status = leave_recent(exact, recent->unit[lane], rest->left_time[k], tags ? rest->left_tag[k] : 0,
                                      tags != NULL);
            recent->unit[lane] = unit;
        }
        if (status < 0) return status;
    }
    rsc_line_map_reuse(&exact->map);
    if (single) {
        recent->line[0] = lines[count - 1];
        recent->time[0] = exact->now + count - 1;
        recent->order[0] = 1;
        recent->last = 0;
        if (tags) recent->tag[0] = tags[count - 1];
    }
    exact->now += count;
    return 0;
}

/* Whether neither the filter nor the search for repeats pays for the next block. Call once per block. */
static inline __attribute__((always_inline)) int goes_in_steps(struct rsc_exact *exact, const uint64_t *lines,
                                                               uint32_t count) {
    struct rsc_recent *recent = &exact->recent;
    if ((RECENT_WIDTH > 1 && !recent->one) || count_repeats(lines, count) > count / REPEATS_PAY) return 0;
    if (RECENT_WIDTH > 1 && recent->rest-- == 0) recent->one = 0;
    return 1;
}

static inline __attribute__((always_inline)) int exact_kernel(struct rsc_exact *exact, const uint64_t *lines,
                                                              const uint32_t *tags, uint32_t count, uint32_t *rd,
                                                              uint64_t *ri, uint32_t *last_tag, int with_ri) {
    struct rsc_recent *recent = &exact->recent;
    if (goes_in_steps(exact, lines, count)) return exact_steps(exact, lines, tags, count, rd, ri, last_tag, with_ri);
    recent_repeats(exact, lines, tags, count, rd, ri, last_tag, with_ri);
    if (RECENT_WIDTH == 1 || recent->one) {
        int status = exact_block(exact, lines, tags, count, rd, ri, last_tag, with_ri, 1);
        if (RECENT_WIDTH > 1 && recent->rest-- == 0) recent->one = 0;
        return status;
    }
#if defined(__AVX2__)
    uint32_t answered = recent_answer(exact, tags, rd, ri, last_tag, with_ri);
    int status = exact_block(exact, lines, tags, count, rd, ri, last_tag, with_ri, 0);
    if (status < 0 || RECENT_PAYS(answered, count)) return status;
    recent->one = 1;
    recent->rest = RECENT_REST;
    return rsc_exact_shrink_recent(exact, 1);
#endif
}

/* Visits units in the order of their numbers, with their bits prefetched; for compaction. */
static inline __attribute__((always_inline)) void exact_renumber(struct rsc_exact *exact, uint64_t *new_time) {
    uint32_t *units = exact->map.units;
    uint64_t count = exact->map.unit_count;
    for (uint64_t unit = 0; unit < count; unit++) {
        uint32_t soon = unit + AHEAD_UNIT < count ? units[unit + AHEAD_UNIT] - 1 : UINT32_MAX, slot = units[unit] - 1;
        if (soon < RSC_UNIT_OTHER - 1) rsc_rank_prefetch(&exact->rank, soon);
        if (slot >= RSC_UNIT_OTHER - 1) continue;
        uint32_t place = rsc_rank_before(&exact->rank, slot);
        if (new_time) new_time[place] = rsc_exact_time(exact, slot);
        units[unit] = rsc_rank_slot(place) + 1;
    }
}

/* The four kinds of run. */
static int run(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags, uint32_t count, uint32_t *rd,
               uint64_t *ri, uint32_t *last_tag) {
    if (exact->no_ri)
        return tags ? exact_kernel(exact, lines, tags, count, rd, NULL, last_tag, 0)
                    : exact_kernel(exact, lines, NULL, count, rd, NULL, NULL, 0);
    return tags ? exact_kernel(exact, lines, tags, count, rd, ri, last_tag, 1)
                : exact_kernel(exact, lines, NULL, count, rd, ri, NULL, 1);
}

#define RSC_EXACT_KERNEL         \
    {.run = run,                 \
     .renumber = exact_renumber, \
     .in_steps = goes_in_steps,  \
     .exchange = exchange_alone, \
     .answer = answer_alone,     \
     .intervals = tell_intervals}

const struct rsc_exact_kernel RSC_WIDE(rsc_exact) = RSC_EXACT_KERNEL;
