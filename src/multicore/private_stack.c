/* private_stack.c - set-up, growth and compaction of private_stack.h. */
#include "multicore/private_stack.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define PLACES_PER_LINE 8u /* as in exact_state.c */
#define PLACES_LEAST (1u << 13) /* there may be thousands of stacks that never have many lines */
#define AHEAD 16u

static uint64_t slots_of(const struct rsc_rank_bitmap *rank) { return (uint64_t)rank->line_count * 512; }

int rsc_private_stack_init(struct rsc_private_stack *stack, int no_ri, uint64_t places_least) {
    memset(stack, 0, sizeof *stack);
    stack->no_ri = no_ri;
    stack->places_least = places_least ? places_least : PLACES_LEAST;
    if (rsc_rank_init(&stack->rank, stack->places_least) < 0) return RSC_ENOMEM;
    stack->places = rsc_rank_places(&stack->rank);
    return 0;
}

void rsc_private_stack_free(struct rsc_private_stack *stack) {
    rsc_rank_free(&stack->rank);
    rsc_holes_free(&stack->holes);
    rsc_pages_free(stack->old_time, stack->old_time_bytes);
    free(stack->members);
    memset(stack, 0, sizeof *stack);
}

uint64_t rsc_private_stack_bytes(const struct rsc_private_stack *stack) {
    return rsc_rank_bytes(&stack->rank) + stack->holes.bytes + stack->old_time_bytes +
           stack->member_room * sizeof *stack->members;
}

int rsc_private_stack_add(struct rsc_private_stack *stack, uint32_t unit) {
    if (stack->member_count == stack->member_room) {
        uint64_t room = stack->member_room ? stack->member_room + stack->member_room / 2 : 64;
        uint32_t *members = realloc(stack->members, room * sizeof *members);
        if (!members) return RSC_ENOMEM;
        stack->members = members;
        stack->member_room = room;
    }
    stack->members[stack->member_count++] = unit;
    return 0;
}

/* Every line's new slot, and the time of its use by new place. Three accesses hang on each other: each is prefetched. */
static void renumber_lines(struct rsc_private_stack *stack, const struct rsc_line_copies *copies, uint64_t *new_time) {
    for (uint64_t i = 0; i < stack->member_count; i++) {
        struct rsc_copy copy;
        if (i + 3 * AHEAD < stack->member_count) __builtin_prefetch(copies->map.units + stack->members[i + 3 * AHEAD]);
        if (i + 2 * AHEAD < stack->member_count) {
            uint32_t word = copies->map.units[stack->members[i + 2 * AHEAD]];
            if (!(word & RSC_COPIES_MANY)) __builtin_prefetch(rsc_copies_dense(copies, word), 1);
        }
        if (i + AHEAD < stack->member_count &&
            rsc_line_copies_find(copies, copies->map.units[stack->members[i + AHEAD]], stack->number, &copy) &&
            *copy.state - 1 < RSC_COPY_TOP - 1)
            rsc_rank_prefetch(&stack->rank, *copy.state - 1);
        if (!rsc_line_copies_find(copies, copies->map.units[stack->members[i]], stack->number, &copy)) continue;
        uint32_t slot = *copy.state - 1;
        if (slot >= RSC_COPY_TOP - 1) continue;
        uint32_t place = rsc_rank_before(&stack->rank, slot);
        if (new_time) new_time[place] = rsc_private_stack_time(stack, slot);
        *copy.state = rsc_rank_slot(place) + 1;
    }
}

/* The same of holes, into a table of another size. */
static int renumber_holes(struct rsc_private_stack *stack, uint64_t slots) {
    struct rsc_holes old = stack->holes;
    if (!old.level_count) return 0;
    int status = rsc_holes_init(&stack->holes, slots);
    if (status < 0) {
        stack->holes = old;
        return status;
    }
    uint64_t old_slots = slots_of(&stack->rank);
    for (uint32_t slot = rsc_holes_next(&old, 0, old_slots); slot != UINT32_MAX;
         slot = rsc_holes_next(&old, slot + 1, old_slots))
        rsc_holes_add(&stack->holes, rsc_rank_slot(rsc_rank_before(&stack->rank, slot)));
    rsc_holes_free(&old);
    return 0;
}

int rsc_private_stack_compact(struct rsc_private_stack *stack, const struct rsc_line_copies *copies, uint64_t time) {
    uint64_t live = stack->rank.set, places = live * PLACES_PER_LINE;
    /* what was lost is looked at too */
    if (places < 2 * stack->member_count) places = 2 * stack->member_count;
    if (places < stack->places_least) places = stack->places_least;
    if (places > RSC_RANK_PLACES_MAX) places = RSC_RANK_PLACES_MAX;
    if (places < live + live / 4) return RSC_ELIMIT;

    uint64_t time_bytes = stack->no_ri ? 0 : (live + 1) * sizeof(uint64_t);
    uint64_t *new_time = NULL;
    struct rsc_rank_bitmap larger = {0};
    int status = 0;
    if (time_bytes && !(new_time = rsc_pages_new(time_bytes))) return RSC_ENOMEM;
    if (places > stack->places)
        status = rsc_rank_init(&larger, places + places / 2 > RSC_RANK_PLACES_MAX ? places : places + places / 2);
    if (!status) status = renumber_holes(stack, slots_of(larger.lines ? &larger : &stack->rank));
    if (status < 0) {
        rsc_rank_free(&larger);
        rsc_pages_free(new_time, time_bytes);
        return status;
    }
    renumber_lines(stack, copies, new_time);
    if (larger.lines) {
        rsc_rank_free(&stack->rank);
        stack->rank = larger;
    }
    rsc_rank_fill(&stack->rank, live);
    rsc_pages_free(stack->old_time, stack->old_time_bytes);
    stack->old_time = new_time;
    stack->old_time_bytes = time_bytes;
    stack->compacted = live;
    stack->compacted_slot = rsc_rank_slot((uint32_t)live);
    stack->time_of_place = time - live;
    stack->places = rsc_rank_places(&stack->rank);
    return 0;
}

int rsc_private_stack_expect_holes(struct rsc_private_stack *stack) {
    return stack->holes.level_count ? 0 : rsc_holes_init(&stack->holes, slots_of(&stack->rank));
}
