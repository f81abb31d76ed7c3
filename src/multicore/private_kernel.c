/*
 * private_kernel.c - the loop of coherent_stacks.h; compiled once per vector width.
 *
 * A reference makes four dependent memory accesses: the bucket of its line, its unit,
 * its record, its bit. The lines of a block are listed first, mostly without repeats,
 * and each of the four is prefetched some lines ahead. Units never move; the record
 * is read again when the reference is processed.
 */
#include "base/cpu.h"
#include "distance/count/accumulate.h"
#include "distance/exact/exact_state.h"
#include "multicore/coherent_stacks.h"

#define AHEAD_BUCKET RSC_PRIVATE_AHEAD
#define AHEAD_UNIT 22u
#define AHEAD_RECORD 14u
#define AHEAD_BIT 7u

#define ALWAYS static inline __attribute__((always_inline)) /* gcc drops calls of functions that only prefetch */

/* Lists the lines to look up, each with the reference it first comes with. */
ALWAYS void list_lookups(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references) {
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

ALWAYS void find_bucket(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                        uint32_t k) {
    const struct rsc_line_map *map = &stacks->copies.map;
    stacks->unit[k] = rsc_line_map_home(map, references->lines[stacks->index[k]]);
    __builtin_prefetch(map->buckets + stacks->unit[k]);
}

ALWAYS void find_unit(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    const struct rsc_line_map *map = &stacks->copies.map;
    uint64_t line = references->lines[stacks->index[k]];
    /* the table may have grown since: an old home leads to the right entry or to none */
    uint32_t where = rsc_line_map_where(map, line, stacks->unit[k]);
    stacks->unit[k] = where ? (where << 4) + (uint32_t)(line & 15) : 0; /* blocks are whole */
    __builtin_prefetch(map->units + stacks->unit[k]);
}

ALWAYS void find_record(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                        uint32_t k) {
    rsc_copies_prefetch(&stacks->copies, stacks->unit[k], references->who[stacks->index[k]] & ~RSC_PRIVATE_WRITES);
}

/* Selects an address without a branch: some bytes after `one`, which may be NULL if it is not selected, or `other`. */
ALWAYS const void *pick(int first, const void *one, size_t bytes, const void *other) {
    uintptr_t mask = -(uintptr_t)(first != 0);
    __asm__("" : "+r"(mask));
    return (const void *)((((uintptr_t)one + bytes) & mask) | ((uintptr_t)other & ~mask));
}

ALWAYS uint32_t slot_or_first(uint32_t state) {
    uint32_t mask = -(uint32_t)rsc_copy_holds(state);
    __asm__("" : "+r"(mask));
    return (state - 1) & mask;
}

/* Prefetches the place of a line in that state without testing whether it is
 * there, as the branch is unpredictable: if it is not, the address is one already
 * in cache. */
ALWAYS void expect_lift(const struct rsc_private_stack *stack, uint32_t state) {
    uint32_t slot = slot_or_first(state), old_index = rsc_rank_place(slot) << stack->old_time_wide;
    rsc_rank_prefetch(&stack->rank, slot);
    __builtin_prefetch(pick((slot < stack->compacted_slot) & (stack->old_time != NULL), stack->old_time,
                            old_index * sizeof(uint32_t), stack));
    __builtin_prefetch(pick(slot + 1 < stack->holes.top, stack->holes.level[0], (slot >> 6) * sizeof(uint64_t), stack),
                       1);
}

/* The same for a line about to be lost. */
ALWAYS void expect_hole(const struct rsc_private_stack *stack, uint32_t state) {
    __builtin_prefetch(pick(stack->holes.level_count != 0, stack->holes.level[0],
                            (slot_or_first(state) >> 6) * sizeof(uint64_t), stack),
                       1);
}

ALWAYS void find_bit(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references, uint32_t k) {
    uint32_t word = stacks->copies.map.units[stacks->unit[k]], who = references->who[stacks->index[k]];
    uint32_t number = who & ~RSC_PRIVATE_WRITES, entry;
    if (word & RSC_COPIES_DENSE) {
        const struct rsc_copy *copies = rsc_copies_dense(&stacks->copies, word);
        uint32_t room = rsc_copies_dense_room(word);
        if (__builtin_expect(number >= room, 0)) return;
        expect_lift(stacks->stacks[number], copies[number].state);
        if (!(who & RSC_PRIVATE_WRITES)) return;
        if (room > stacks->count) room = stacks->count;
        for (uint32_t other = 0; other < room; other++) expect_hole(stacks->stacks[other], copies[other].state);
        return;
    }
    const struct rsc_copy *copy = rsc_line_copies_find(&stacks->copies, word, number, &entry);
    if (!copy) return;
    __builtin_prefetch(&copy->used, 1);
    expect_lift(stacks->stacks[number], copy->state);
    if (!(who & RSC_PRIVATE_WRITES) || (word & RSC_COPIES_MANY)) return;
    uint32_t *head = rsc_copies_head(&stacks->copies, word);
    copy = rsc_copies_named(head);
    for (uint32_t bits = *head >> 8; bits; bits &= bits - 1) {
        entry = (uint32_t)__builtin_ctz(bits);
        expect_hole(stacks->stacks[head[1 + entry]], copy[entry].state);
    }
}

/* Prefetches the hole that the next line to come up will fill: it is only known now. */
ALWAYS void expect_top_hole(const struct rsc_private_stack *stack) {
    uint32_t slot = stack->holes.top - 1;
    if (!stack->holes.top) return;
    rsc_rank_prefetch(&stack->rank, slot);
    __builtin_prefetch(stack->holes.level[0] + (slot >> 6), 1);
}

/* Moves a line in the bitmap to the top. Returns its distance. */
ALWAYS uint32_t lift(struct rsc_private_stack *stack, uint32_t slot) {
    if (__builtin_expect(stack->holes.top > slot + 1, 0)) {
        uint32_t before = rsc_rank_before(&stack->rank, slot), top = stack->holes.top - 1;
        uint32_t distance = (uint32_t)stack->rank.set - 1 - before;
        rsc_rank_take(&stack->rank, top);
        rsc_holes_drop_top(&stack->holes);
        rsc_holes_add(&stack->holes, slot);
        expect_top_hole(stack);
        return distance;
    }
    uint32_t before = rsc_rank_take(&stack->rank, slot);
    return (uint32_t)stack->rank.set - before;
}

/* Puts a line that is not in the stack on top. */
ALWAYS void fill_top_hole(struct rsc_private_stack *stack) {
    if (!stack->holes.top) return;
    rsc_rank_take(&stack->rank, stack->holes.top - 1);
    rsc_holes_drop_top(&stack->holes);
    expect_top_hole(stack);
}

/* The result of a reference. */
struct yield {
    uint32_t rd;
    uint64_t ri;
    uint32_t last_tag;
};

/* The line used last, used again. */
ALWAYS void use_top(struct rsc_coherent_stacks *stacks, struct rsc_private_stack *stack, uint32_t tag, uint64_t bytes,
                    struct yield *yield) {
    *yield = (struct yield){0, 1, stack->top_tag};
    stack->top_repeated = 1;
    stack->now++;
    if (tag == stack->top_tag && !(bytes & ~stack->top_used)) return;
    uint32_t entry;
    struct rsc_copy *copy =
        rsc_line_copies_find(&stacks->copies, stacks->copies.map.units[stack->top_unit], stack->number, &entry);
    stack->top_tag = copy->tag = tag;
    stack->top_used = copy->used |= bytes;
}

/* Any other line, which moves to the top. Returns 0 or an error. */
ALWAYS int use_line(struct rsc_coherent_stacks *stacks, struct rsc_private_stack *stack, uint32_t unit, uint64_t line,
                    uint32_t tag, uint64_t bytes, struct yield *yield) {
    int status = 0;
    uint32_t entry;
    if (stack->top_repeated && (status = rsc_private_stack_move_top(stack, &stacks->copies)) < 0) return status;
    uint32_t slot = rsc_private_stack_slot(stack, &stacks->copies, stack->now, &status);
    if (__builtin_expect(status < 0, 0)) return status;
    struct rsc_copy *copy =
        rsc_line_copies_find(&stacks->copies, stacks->copies.map.units[unit], stack->number, &entry);
    uint32_t held = copy ? copy->state : 0;
    *yield = (struct yield){RSC_RD_COLD, 0, 0};
    if (rsc_copy_holds(held)) {
        yield->ri = stack->now - rsc_private_stack_time(stack, held - 1);
        yield->last_tag = copy->tag;
        yield->rd = lift(stack, held - 1);
        bytes |= copy->used;
    } else {
        if (held) {
            yield->rd = RSC_RD_INVALIDATED;
            rsc_sharing_miss(&stacks->sharing, line, held & RSC_COPY_TAKER, stack->number,
                             (held & RSC_COPY_LOST_FALSELY) != 0);
        } else {
            copy = rsc_private_add_copy(stacks, unit, stack->number, &status);
            if (!copy) return status;
            rsc_line_copies_find(&stacks->copies, stacks->copies.map.units[unit], stack->number, &entry);
        }
        fill_top_hole(stack);
        rsc_line_copies_hold(&stacks->copies, stacks->copies.map.units[unit], entry);
    }
    rsc_rank_set(&stack->rank, slot);
    *copy = (struct rsc_copy){slot + 1, tag, bytes};
    stack->top_line = line;
    stack->top_used = bytes;
    stack->top_tag = tag;
    stack->top_unit = unit;
    stack->now++;
    return 0;
}

/* Entries of a named record in the order of their stacks. Returns how many. */
ALWAYS uint32_t order_by_stack(const uint32_t *head, uint32_t bits, uint32_t *entries) {
    uint32_t count = 0;
    for (; bits; bits &= bits - 1) {
        uint32_t entry = (uint32_t)__builtin_ctz(bits), at = count++;
        for (; at && head[1 + entries[at - 1]] > head[1 + entry]; at--) entries[at] = entries[at - 1];
        entries[at] = entry;
    }
    return count;
}

/* Others lose a line that was written to, in the order of their stacks. Returns 0 or an error. */
ALWAYS int take_from_others(struct rsc_coherent_stacks *stacks, uint32_t unit, struct rsc_taking *taking) {
    uint32_t word = stacks->copies.map.units[unit], *head = rsc_copies_head(&stacks->copies, word), entry, bits;
    uint32_t entries[RSC_COPIES_NAMED];
    struct rsc_copy *copies;
    int status = 0;
    if (word & RSC_COPIES_DENSE) {
        copies = rsc_copies_dense(&stacks->copies, word);
        bits = rsc_copies_dense_holders(copies, rsc_copies_dense_room(word)) & ~(1u << taking->by);
        for (; bits && !status; bits &= bits - 1) {
            taking->from = (uint32_t)__builtin_ctz(bits);
            status = rsc_private_lose(stacks, unit, &copies[taking->from], taking);
        }
        return status;
    }
    rsc_line_copies_find(&stacks->copies, word, taking->by, &entry);
    if (__builtin_expect(word & RSC_COPIES_MANY, 0)) return rsc_private_take_many(stacks, unit, entry, taking);
    copies = rsc_copies_named(head);
    bits = *head >> 8 & ~(1u << entry);
    *head = (*head & 0xff) | 1u << (8 + entry);
    const uint32_t count = order_by_stack(head, bits, entries);
    for (uint32_t i = 0; i < count && !status; i++) {
        taking->from = head[1 + entries[i]];
        status = rsc_private_lose(stacks, unit, &copies[entries[i]], taking);
    }
    return status;
}

ALWAYS int private_block(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    uint32_t k = 0;
    list_lookups(stacks, references);
    for (uint32_t ahead = 0; ahead < AHEAD_BUCKET; ahead++) find_bucket(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_UNIT; ahead++) find_unit(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_RECORD; ahead++) find_record(stacks, references, ahead);
    for (uint32_t ahead = 0; ahead < AHEAD_BIT; ahead++) find_bit(stacks, references, ahead);
    for (uint32_t i = 0; i < references->count; i++) {
        uint32_t who = references->who[i], unit = 0, tag = references->tags ? references->tags[i] : 0;
        struct rsc_private_stack *stack = stacks->stacks[who & ~RSC_PRIVATE_WRITES];
        uint64_t line = references->lines[i];
        struct yield yield;
        int status = 0;
        if (stacks->source[i] == k) {
            find_bucket(stacks, references, k + AHEAD_BUCKET);
            find_unit(stacks, references, k + AHEAD_UNIT);
            find_record(stacks, references, k + AHEAD_RECORD);
            find_bit(stacks, references, k + AHEAD_BIT);
            k++;
        }
        if (line == stack->top_line && stack->top_unit) {
            unit = stack->top_unit;
            use_top(stacks, stack, tag, references->bytes[i], &yield);
        } else {
            unit = stacks->unit[stacks->source[i]];
            if (__builtin_expect(!unit, 0)) {
                unit = rsc_line_copies_unit(&stacks->copies, line, &status);
                if (!unit) return status;
                stacks->unit[stacks->source[i]] = unit;
            }
            status = use_line(stacks, stack, unit, line, tag, references->bytes[i], &yield);
            if (status < 0) return status;
        }
        rd[i] = yield.rd;
        if (ri) ri[i] = yield.ri;
        if (last_tag) last_tag[i] = yield.last_tag;
        if (!(who & RSC_PRIVATE_WRITES)) continue;
        struct rsc_taking taking = {
            .line = line, .by = stack->number, .writer = tag, .written = references->bytes[i], .reference = i};
        if ((status = take_from_others(stacks, unit, &taking)) < 0) return status;
    }
    return 0;
}

/* ---- the kernel's other half: compaction (private_stack.h) ---- */

#define AHEAD_MEMBER 16u

/* Each line needs three dependent accesses: each is prefetched. */
ALWAYS void renumber_lines(struct rsc_private_stack *stack, const struct rsc_line_copies *copies,
                           struct rsc_private_stack *with) {
    uint64_t count = stack->member_count;
    uint32_t entry, number = stack->number;
    for (uint64_t i = 0; i < count; i++) {
        if (i + 3 * AHEAD_MEMBER < count) __builtin_prefetch(copies->map.units + stack->members[i + 3 * AHEAD_MEMBER]);
        if (i + 2 * AHEAD_MEMBER < count) rsc_copies_prefetch(copies, stack->members[i + 2 * AHEAD_MEMBER], number);
        if (i + AHEAD_MEMBER < count) {
            const struct rsc_copy *soon =
                rsc_line_copies_find(copies, copies->map.units[stack->members[i + AHEAD_MEMBER]], number, &entry);
            rsc_rank_prefetch(&stack->rank, soon && rsc_copy_holds(soon->state) ? soon->state - 1 : 0);
        }
        struct rsc_copy *copy = rsc_line_copies_find(copies, copies->map.units[stack->members[i]], number, &entry);
        if (!copy || !rsc_copy_holds(copy->state)) continue;
        uint32_t slot = copy->state - 1, place = rsc_rank_before(&stack->rank, slot);
        copy->state = rsc_rank_slot(place) + 1;
        if (!with->old_time) continue;
        uint64_t time = rsc_private_stack_time(stack, slot);
        if (with->old_time_wide) ((uint64_t *)with->old_time)[place] = time;
        else ((uint32_t *)with->old_time)[place] = (uint32_t)time;
    }
}

ALWAYS void private_renumber(struct rsc_private_stack *stack, const struct rsc_line_copies *copies,
                             struct rsc_private_stack *with) {
    uint64_t slots = (uint64_t)stack->rank.line_count * 512;
    for (uint32_t slot = rsc_holes_next(&stack->holes, 0, slots); slot != UINT32_MAX;
         slot = rsc_holes_next(&stack->holes, slot + 1, slots))
        rsc_holes_add(&with->holes, rsc_rank_slot(rsc_rank_before(&stack->rank, slot)));
    renumber_lines(stack, copies, with);
}

/* ---- the bytes that references touch ---- */

/* The part of its line that each access touches: one bit per byte, or per 64th
 * part of a larger line. Without branches, so that it vectorises. */
ALWAYS void private_bytes(const struct rsc_private_columns *from, const uint64_t *restrict lines,
                          uint64_t *restrict bytes, uint32_t count, uint32_t line_shift) {
    uint32_t part_shift = line_shift > 6 ? line_shift - 6 : 0;
    uint64_t line_last = (1ull << line_shift) - 1;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = from->addr[from->index[i]], size = from->meta[from->index[i]] & 0xffffffff;
        uint64_t start = lines[i] << line_shift, end = start + line_last, last = address + (size ? size - 1 : 0);
        last = last < address || last > end ? end : last;
        uint64_t first = ((address > start ? address : start) - start) >> part_shift;
        bytes[i] = ~0ull >> (63 - (((last - start) >> part_shift) - first)) << first;
    }
}

int RSC_WIDE(rsc_private_run)(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                              uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return private_block(stacks, references, rd, ri, last_tag);
}

void RSC_WIDE(rsc_private_bytes)(const struct rsc_private_columns *from, const uint64_t *lines, uint64_t *bytes,
                                 uint32_t count, uint32_t line_shift) {
    private_bytes(from, lines, bytes, count, line_shift);
}

void RSC_WIDE(rsc_private_renumber)(struct rsc_private_stack *stack, const struct rsc_line_copies *copies,
                                    struct rsc_private_stack *with) {
    private_renumber(stack, copies, with);
}
