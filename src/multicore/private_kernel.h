/*
 * private_kernel.h - the loop of private_stacks.h; included once per vector width.
 *
 * As in distance/exact_kernel.h a reference needs memory three times, each time
 * hanging on the last: its bucket, its unit, its bit. References that do not repeat
 * their stack's last one are listed first, and each of the three is prefetched so
 * many of them ahead. What was found out ahead may be outdated when its turn comes:
 * units move when their neighbours are added, which the stack's version tells.
 */
#ifndef RSC_MULTICORE_PRIVATE_KERNEL_H
#define RSC_MULTICORE_PRIVATE_KERNEL_H

#include "distance/accumulate.h"
#include "distance/exact_state.h"
#include "multicore/private_stacks.h"

#define AHEAD_BUCKET RSC_PRIVATE_AHEAD
#define AHEAD_UNIT 14u
#define AHEAD_BIT 7u

#define UNIT_ABSENT UINT32_MAX
#define ALWAYS static inline __attribute__((always_inline))

ALWAYS struct rsc_private_stack *stack_of(struct rsc_private_stacks *stacks, uint32_t who) {
    return stacks->stacks[who & ~RSC_PRIVATE_WRITES];
}

/* Lists what has to be looked up: all but repeats of the stack's line before. */
ALWAYS uint32_t list_lookups(struct rsc_private_stacks *stacks, const struct rsc_private_references *references) {
    uint32_t listed = 0;
    for (uint32_t i = 0; i < references->count; i++) {
        struct rsc_private_stack *stack = stack_of(stacks, references->who[i]);
        stacks->index[listed] = i;
        listed += references->lines[i] != stack->seen_line;
        stack->seen_line = references->lines[i];
    }
    for (uint32_t k = 0; k < RSC_PRIVATE_AHEAD; k++) stacks->index[listed + k] = references->count - 1;
    return listed;
}

ALWAYS void find_bucket(struct rsc_private_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    uint32_t i = stacks->index[k];
    const struct rsc_line_map *map = &stack_of(stacks, references->who[i])->map;
    uint32_t home = rsc_line_map_home(map, references->lines[i]);
    stacks->unit[k] = home;
    __builtin_prefetch(map->buckets + home);
}

ALWAYS void find_unit(struct rsc_private_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    uint32_t i = stacks->index[k];
    const struct rsc_private_stack *stack = stack_of(stacks, references->who[i]);
    uint64_t line = references->lines[i];
    /* the table may have grown since: an old home leads to the right entry or to none */
    uint32_t where = rsc_line_map_where(&stack->map, line, stacks->unit[k]);
    uint32_t first = rsc_line_map_first_unit(where), unit = UNIT_ABSENT;
    if (where >> 30 == RSC_UNITS_FULL) unit = first + (uint32_t)(line & 15);
    else if (where >> 30 == RSC_UNITS_SINGLE) unit = first;
    else if (where) unit = 0; /* one of a trio, whose header has to come first */
    stacks->unit[k] = unit;
    stacks->version[k] = stack->version;
    uint32_t near = unit == UNIT_ABSENT ? 0 : unit ? unit : first;
    __builtin_prefetch(stack->map.units + near, 1);
    __builtin_prefetch(stack->map.extra + near, 1);
    __builtin_prefetch(stack->used + near, 1);
}

ALWAYS void find_bit(struct rsc_private_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    uint32_t unit = stacks->unit[k], i = stacks->index[k];
    const struct rsc_private_stack *stack = stack_of(stacks, references->who[i]);
    if (unit == UNIT_ABSENT) return;
    if (__builtin_expect(!unit, 0)) {
        unit = rsc_private_stack_find(stack, references->lines[i]);
        stacks->unit[k] = unit ? unit : UNIT_ABSENT;
        stacks->version[k] = stack->version;
        if (!unit) return;
    }
    uint32_t slot = stack->map.units[unit] - 1;
    if (slot >= RSC_UNIT_OTHER - 1) return;
    rsc_rank_prefetch(&stack->rank, slot);
    if (slot < stack->compacted_slot && stack->old_time) __builtin_prefetch(stack->old_time + rsc_rank_place(slot));
    if (stack->holes.top) __builtin_prefetch(stack->holes.level[0] + (slot >> 6), 1);
}

/* The line used last goes into the bitmap. */
ALWAYS int settle_top(struct rsc_private_stack *stack) {
    if (__builtin_expect(!stack->top_unit, 0)) return 0;
    uint64_t time = stack->now - 1, place = time - stack->time_of_place;
    if (__builtin_expect(place >= stack->places, 0)) {
        int status = rsc_private_stack_compact(stack, time);
        if (status < 0) return status;
        place = stack->compacted;
    }
    uint32_t slot = rsc_rank_slot((uint32_t)place);
    rsc_rank_set(&stack->rank, slot);
    stack->map.units[stack->top_unit] = slot + 1;
    stack->top_unit = 0;
    return 0;
}

/* A line in the bitmap comes to the top. Returns its distance. */
ALWAYS uint32_t lift(struct rsc_private_stack *stack, uint32_t slot) {
    if (__builtin_expect(stack->holes.top > slot + 1, 0)) {
        uint32_t before = rsc_rank_before(&stack->rank, slot), top = stack->holes.top - 1;
        uint32_t distance = (uint32_t)stack->rank.set - 1 - before;
        rsc_rank_take(&stack->rank, top);
        rsc_holes_drop_top(&stack->holes);
        rsc_holes_add(&stack->holes, slot);
        return distance;
    }
    uint32_t before = rsc_rank_take(&stack->rank, slot);
    return (uint32_t)stack->rank.set - before;
}

/* A line that is not in the stack comes to the top. */
ALWAYS void fill_top_hole(struct rsc_private_stack *stack) {
    if (!stack->holes.top) return;
    rsc_rank_take(&stack->rank, stack->holes.top - 1);
    rsc_holes_drop_top(&stack->holes);
}

ALWAYS int private_block(struct rsc_private_stacks *stacks, const struct rsc_private_references *references,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    uint32_t listed = list_lookups(stacks, references), k = 0;
    for (uint32_t ahead = 0; ahead < AHEAD_BUCKET; ahead++) find_bucket(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_UNIT; ahead++) find_unit(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_BIT; ahead++) find_bit(stacks, references, ahead);
    for (uint32_t i = 0; i < references->count; i++) {
        uint32_t number = references->who[i] & ~RSC_PRIVATE_WRITES, unit = UNIT_ABSENT, version = 0;
        struct rsc_private_stack *stack = stacks->stacks[number];
        uint64_t line = references->lines[i];
        uint32_t tag = references->tags ? references->tags[i] : 0;
        struct rsc_taking taking;
        int writes = (references->who[i] & RSC_PRIVATE_WRITES) != 0, status = 0, taken = 0;
        if (k < listed && stacks->index[k] == i) {
            find_bucket(stacks, references, k + AHEAD_BUCKET);
            find_unit(stacks, references, k + AHEAD_UNIT);
            find_bit(stacks, references, k + AHEAD_BIT);
            unit = stacks->unit[k];
            version = stacks->version[k];
            k++;
        }
        if (line == stack->top_line && stack->top_unit) {
            unit = stack->top_unit;
            uint32_t extra = stack->map.extra[unit];
            rd[i] = 0;
            if (ri) ri[i] = 1;
            if (last_tag) last_tag[i] = extra & ~RSC_HELD_BY_OTHERS;
            stack->map.extra[unit] = (extra & RSC_HELD_BY_OTHERS) | tag;
            stack->used[unit] |= references->bytes[i];
            stack->now++;
            if (!writes || !(extra & RSC_HELD_BY_OTHERS)) continue;
        } else {
            if ((status = settle_top(stack)) < 0) return status;
            if (unit == UNIT_ABSENT || version != stack->version) unit = rsc_private_stack_find(stack, line);
            if (__builtin_expect(!unit, 0)) unit = rsc_private_stack_add(stack, line, &status);
            if (__builtin_expect(!unit, 0)) return status;
            uint32_t held = stack->map.units[unit], extra = stack->map.extra[unit];
            stack->map.units[unit] = RSC_UNIT_TOP;
            stack->top_unit = unit;
            stack->top_line = line;
            if (__builtin_expect(held - 1 < RSC_UNIT_OTHER - 1, 1)) {
                if (ri) ri[i] = stack->now - rsc_private_stack_time(stack, held - 1);
                if (last_tag) last_tag[i] = extra & ~RSC_HELD_BY_OTHERS;
                rd[i] = lift(stack, held - 1);
                stack->map.extra[unit] = (extra & RSC_HELD_BY_OTHERS) | tag;
                stack->used[unit] |= references->bytes[i];
                stack->now++;
                if (!writes || !(extra & RSC_HELD_BY_OTHERS)) continue;
            } else {
                rd[i] = held ? RSC_RD_INVALIDATED : RSC_RD_COLD;
                if (ri) ri[i] = 0;
                if (last_tag) last_tag[i] = 0;
                if (held)
                    rsc_sharing_miss(&stacks->sharing, line, held & RSC_UNIT_TAKER, number,
                                     (held & RSC_UNIT_LOST_FALSELY) != 0);
                fill_top_hole(stack);
                stack->map.extra[unit] = tag;
                stack->used[unit] = references->bytes[i];
                stack->now++;
                taken = 1;
            }
        }
        /* the line comes to this stack, or is written while others may have it */
        if (writes) {
            taking = (struct rsc_taking){.line = line, .by = number, .writer = tag, .written = references->bytes[i],
                                         .reference = i};
            status = rsc_private_take(stacks, number, unit, &taking);
        } else if (taken) {
            status = rsc_private_join(stacks, number, unit, line);
        }
        if (status < 0) return status;
    }
    return 0;
}

#endif
