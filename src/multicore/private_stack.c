/* private_stack.c - set-up, growth and compaction of private_stack.h. */
#include "multicore/private_stack.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define PLACES_PER_LINE 8u /* as in exact_state.c */
#define PLACES_LEAST (1u << 13) /* there may be thousands of stacks with few lines */

static uint64_t slots_of(const struct rsc_rank_bitmap *rank) { return (uint64_t)rank->line_count * 512; }

int rsc_private_stack_init(struct rsc_private_stack *stack, rsc_private_renumber_fn *renumber, int no_ri,
                           uint64_t places_least) {
    memset(stack, 0, sizeof *stack);
    stack->renumber = renumber;
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

int rsc_private_stack_compact(struct rsc_private_stack *stack, const struct rsc_line_copies *copies, uint64_t time) {
    uint64_t live = stack->rank.set, places = live * PLACES_PER_LINE;
    /* lost lines are visited too */
    if (places < 2 * stack->member_count) places = 2 * stack->member_count;
    if (places < stack->places_least) places = stack->places_least;
    if (places > RSC_RANK_PLACES_MAX) places = RSC_RANK_PLACES_MAX;
    if (places < live + live / 4) return RSC_ELIMIT;

    struct rsc_private_stack new = {.old_time_wide = time > UINT32_MAX};
    uint64_t time_bytes = stack->no_ri ? 0 : (live + 1) * (new.old_time_wide ? sizeof(uint64_t) : sizeof(uint32_t));
    int status = 0;
    if (time_bytes && !(new.old_time = rsc_pages_new(time_bytes))) return RSC_ENOMEM;
    if (places > stack->places)
        status = rsc_rank_init(&new.rank, places + places / 2 > RSC_RANK_PLACES_MAX ? places : places + places / 2);
    if (!status && stack->holes.level_count)
        status = rsc_holes_init(&new.holes, slots_of(new.rank.lines ? &new.rank : &stack->rank));
    if (status < 0) {
        rsc_rank_free(&new.rank);
        rsc_pages_free(new.old_time, time_bytes);
        return status;
    }
    stack->renumber(stack, copies, &new);
    rsc_holes_free(&stack->holes);
    stack->holes = new.holes;
    if (new.rank.lines) {
        rsc_rank_free(&stack->rank);
        stack->rank = new.rank;
    }
    rsc_rank_fill(&stack->rank, live);
    assert(stack->rank.set == live && live <= stack->member_count);
    rsc_pages_free(stack->old_time, stack->old_time_bytes);
    stack->old_time = new.old_time;
    stack->old_time_wide = new.old_time_wide;
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
