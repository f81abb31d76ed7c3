/*
 * private_kernel.h - the loop of private_stacks.h; included once per vector width.
 *
 * A reference needs memory four times, each time hanging on the last: the bucket of
 * its line, its unit, its record, its bit. The lines of a block are listed first,
 * most of them once however often they come, and each of the four is prefetched so
 * many of them ahead. Units never move; what the record says is read again when the
 * turn of a reference comes.
 */
#ifndef RSC_MULTICORE_PRIVATE_KERNEL_H
#define RSC_MULTICORE_PRIVATE_KERNEL_H

#include "distance/accumulate.h"
#include "distance/exact_state.h"
#include "multicore/private_stacks.h"

#define AHEAD_BUCKET RSC_PRIVATE_AHEAD
#define AHEAD_UNIT 22u
#define AHEAD_RECORD 14u
#define AHEAD_BIT 7u

#define ALWAYS static inline __attribute__((always_inline)) /* gcc drops calls of functions that only prefetch */

/* Lists the lines to be looked up, each with the reference that it comes with first. */
ALWAYS void list_lookups(struct rsc_private_stacks *stacks, const struct rsc_private_references *references) {
    uint32_t listed = 0;
    stacks->block++;
    for (uint32_t i = 0; i < references->count; i++) {
        uint64_t line = references->lines[i];
        struct rsc_private_seen *seen = &stacks->seen[line * 0x9E3779B97F4A7C15ull >> (64 - RSC_PRIVATE_SEEN_BITS)];
        int known = (seen->line == line) & (seen->block == stacks->block);
        stacks->index[listed] = i;
        stacks->source[i] = (uint16_t)(known ? seen->listed : listed);
        seen->line = line;
        seen->block = stacks->block;
        seen->listed = stacks->source[i];
        listed += !known;
    }
    for (uint32_t k = 0; k < RSC_PRIVATE_AHEAD; k++) stacks->index[listed + k] = references->count - 1;
}

ALWAYS void find_bucket(struct rsc_private_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    const struct rsc_line_map *map = &stacks->copies.map;
    stacks->unit[k] = rsc_line_map_home(map, references->lines[stacks->index[k]]);
    __builtin_prefetch(map->buckets + stacks->unit[k]);
}

ALWAYS void find_unit(struct rsc_private_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    const struct rsc_line_map *map = &stacks->copies.map;
    uint64_t line = references->lines[stacks->index[k]];
    /* the table may have grown since: an old home leads to the right entry or to none */
    uint32_t where = rsc_line_map_where(map, line, stacks->unit[k]);
    stacks->unit[k] = where ? (where << 4) + (uint32_t)(line & 15) : 0; /* blocks are whole */
    __builtin_prefetch(map->units + stacks->unit[k]);
}

ALWAYS void find_record(struct rsc_private_stacks *stacks, uint32_t k) {
    uint32_t word = stacks->copies.map.units[stacks->unit[k]];
    if (__builtin_expect(word & RSC_COPIES_MANY, 0)) return;
    __builtin_prefetch(rsc_copies_dense(&stacks->copies, word), 1);
}

ALWAYS void find_bit(struct rsc_private_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    uint32_t word = stacks->copies.map.units[stacks->unit[k]], who = references->who[stacks->index[k]];
    const struct rsc_private_stack *stack = stacks->stacks[who & ~RSC_PRIVATE_WRITES];
    struct rsc_copy copy;
    if (!stacks->unit[k]) return;
    if (rsc_line_copies_find(&stacks->copies, word, stack->number, &copy)) {
        uint32_t slot = *copy.state - 1;
        __builtin_prefetch(copy.used, 1);
        if (slot < RSC_COPY_TOP - 1) {
            rsc_rank_prefetch(&stack->rank, slot);
            if (slot < stack->compacted_slot && stack->old_time) __builtin_prefetch(stack->old_time + rsc_rank_place(slot));
            if (stack->holes.top) __builtin_prefetch(stack->holes.level[0] + (slot >> 6), 1);
        }
    }
    if (!(who & RSC_PRIVATE_WRITES) || (word & RSC_COPIES_MANY)) return;
    /* those that will lose it */
    if (word & RSC_COPIES_DENSE) {
        const uint32_t *state = rsc_copies_dense(&stacks->copies, word);
        for (uint32_t other = 0; other < RSC_DENSE_STACKS; other++)
            if (other != stack->number && state[other] - 1 < RSC_COPY_TOP - 1 && stacks->stacks[other]->holes.level_count)
                __builtin_prefetch(stacks->stacks[other]->holes.level[0] + ((state[other] - 1) >> 6), 1);
        return;
    }
    const uint32_t *head = rsc_copies_head(&stacks->copies, word), *ids = head + 1 + rsc_copies_room[*head & 15];
    for (uint32_t bits = *head >> 8; bits; bits &= bits - 1) {
        uint32_t entry = (uint32_t)__builtin_ctz(bits), slot = head[1 + entry] - 1;
        const struct rsc_private_stack *other = stacks->stacks[ids[entry]];
        if (other->holes.level_count && slot < RSC_COPY_TOP - 1)
            __builtin_prefetch(other->holes.level[0] + (slot >> 6), 1);
    }
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

/* What a reference yields. */
struct yield {
    uint32_t rd;
    uint64_t ri;
    uint32_t last_tag;
};

/* The line used last, used again. */
ALWAYS struct yield use_top(struct rsc_private_stacks *stacks, struct rsc_private_stack *stack, uint32_t tag,
                            uint64_t bytes, struct rsc_copy *copy) {
    uint32_t word = stacks->copies.map.units[stack->top_unit];
    if (word & RSC_COPIES_DENSE)
        rsc_copy_of_dense(rsc_copies_dense(&stacks->copies, word), stack->top_entry, copy);
    else if (__builtin_expect(word & RSC_COPIES_MANY, 0))
        rsc_copy_of_many(&stacks->copies.many[word & ~RSC_COPIES_MANY], stack->top_entry, copy);
    else
        rsc_copy_of_small(rsc_copies_head(&stacks->copies, word), stack->top_entry, copy);
    struct yield yield = {0, 1, *copy->tag};
    *copy->tag = tag;
    *copy->used |= bytes;
    stack->now++;
    return yield;
}

/* Any other line, which goes to the top. Returns 0 or an error. */
ALWAYS int use_line(struct rsc_private_stacks *stacks, struct rsc_private_stack *stack, uint32_t unit, uint64_t line,
                    uint32_t tag, uint64_t bytes, struct rsc_copy *copy, struct yield *yield) {
    int status = rsc_private_stack_settle(stack, &stacks->copies);
    if (status < 0) return status;
    if (!rsc_line_copies_find(&stacks->copies, stacks->copies.map.units[unit], stack->number, copy) &&
        (status = rsc_private_add_copy(stacks, unit, stack->number, copy)) < 0)
        return status;
    uint32_t held = *copy->state;
    *yield = (struct yield){RSC_RD_COLD, 0, 0};
    if (__builtin_expect(held - 1 < RSC_COPY_TOP - 1, 1)) {
        yield->ri = stack->now - rsc_private_stack_time(stack, held - 1);
        yield->last_tag = *copy->tag;
        yield->rd = lift(stack, held - 1);
        *copy->used |= bytes;
    } else {
        if (held) {
            yield->rd = RSC_RD_INVALIDATED;
            rsc_sharing_miss(&stacks->sharing, line, held & RSC_COPY_TAKER, stack->number,
                             (held & RSC_COPY_LOST_FALSELY) != 0);
        }
        fill_top_hole(stack);
        *copy->used = bytes;
        rsc_line_copies_hold(&stacks->copies, stacks->copies.map.units[unit], copy->entry);
    }
    *copy->state = RSC_COPY_TOP;
    *copy->tag = tag;
    stack->top_unit = unit;
    stack->top_entry = copy->entry;
    stack->top_line = line;
    stack->now++;
    return 0;
}

ALWAYS int private_block(struct rsc_private_stacks *stacks, const struct rsc_private_references *references,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    uint32_t k = 0;
    list_lookups(stacks, references);
    for (uint32_t ahead = 0; ahead < AHEAD_BUCKET; ahead++) find_bucket(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_UNIT; ahead++) find_unit(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_RECORD; ahead++) find_record(stacks, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_BIT; ahead++) find_bit(stacks, references, ahead);
    for (uint32_t i = 0; i < references->count; i++) {
        uint32_t who = references->who[i], unit = 0, tag = references->tags ? references->tags[i] : 0;
        struct rsc_private_stack *stack = stacks->stacks[who & ~RSC_PRIVATE_WRITES];
        uint64_t line = references->lines[i];
        struct rsc_copy copy;
        struct yield yield;
        int status = 0;
        if (stacks->source[i] == k) {
            find_bucket(stacks, references, k + AHEAD_BUCKET);
            find_unit(stacks, references, k + AHEAD_UNIT);
            find_record(stacks, k + AHEAD_RECORD);
            find_bit(stacks, references, k + AHEAD_BIT);
            k++;
        }
        if (line == stack->top_line && stack->top_unit) {
            unit = stack->top_unit;
            yield = use_top(stacks, stack, tag, references->bytes[i], &copy);
        } else {
            unit = stacks->unit[stacks->source[i]];
            if (__builtin_expect(!unit, 0)) {
                unit = rsc_line_copies_unit(&stacks->copies, line, &status);
                if (!unit) return status;
                stacks->unit[stacks->source[i]] = unit;
            }
            status = use_line(stacks, stack, unit, line, tag, references->bytes[i], &copy, &yield);
            if (status < 0) return status;
        }
        rd[i] = yield.rd;
        if (ri) ri[i] = yield.ri;
        if (last_tag) last_tag[i] = yield.last_tag;
        if (!(who & RSC_PRIVATE_WRITES) ||
            !rsc_line_copies_others(&stacks->copies, stacks->copies.map.units[unit], copy.entry))
            continue;
        struct rsc_taking taking = {.line = line, .by = stack->number, .writer = tag, .written = references->bytes[i],
                                    .reference = i};
        if ((status = rsc_private_take(stacks, unit, copy.entry, &taking)) < 0) return status;
    }
    return 0;
}

#endif
