/* private_stack.c - set-up, growth and compaction of private_stack.h. */
#include "multicore/private_stack.h"

#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define PLACES_PER_LINE 8u /* as in exact_state.c */
#define PLACES_LEAST (1u << 16)
#define PLACES_LEAST_SMALL (1u << 13)
#define USED_LEAST 4096u

static uint64_t slots_of(const struct rsc_private_stack *stack) { return (uint64_t)stack->rank.line_count * 512; }

int rsc_private_stack_init(struct rsc_private_stack *stack, int small, int no_ri, uint64_t places_least) {
    memset(stack, 0, sizeof *stack);
    stack->no_ri = no_ri;
    stack->seen_line = UINT64_MAX; /* where it is a line, it is looked up when its turn comes */
    stack->places_least = places_least ? places_least : small ? PLACES_LEAST_SMALL : PLACES_LEAST;
    if ((small ? rsc_line_map_init_small(&stack->map) : rsc_line_map_init(&stack->map)) < 0 ||
        rsc_line_map_add_extra(&stack->map) < 0 || rsc_rank_init(&stack->rank, stack->places_least) < 0)
        goto no_memory;
    stack->used_room = small ? USED_LEAST : stack->map.unit_room;
    stack->used = small ? NULL : rsc_pages_reserve(stack->used_room * sizeof *stack->used);
    if (!stack->used) { /* little memory, or little address space: take little, and grow */
        stack->used_room = USED_LEAST;
        stack->used = rsc_pages_new(stack->used_room * sizeof *stack->used);
    }
    if (!stack->used) goto no_memory;
    stack->places = rsc_rank_places(&stack->rank);
    return 0;
no_memory:
    rsc_private_stack_free(stack);
    return RSC_ENOMEM;
}

void rsc_private_stack_free(struct rsc_private_stack *stack) {
    rsc_line_map_free(&stack->map);
    rsc_rank_free(&stack->rank);
    rsc_holes_free(&stack->holes);
    rsc_pages_free(stack->used, stack->used_room * sizeof *stack->used);
    rsc_pages_free(stack->old_time, stack->old_time_bytes);
    memset(stack, 0, sizeof *stack);
}

uint64_t rsc_private_stack_bytes(const struct rsc_private_stack *stack) {
    return rsc_line_map_bytes(&stack->map) + rsc_rank_bytes(&stack->rank) + stack->holes.bytes +
           stack->map.unit_count * sizeof *stack->used + stack->old_time_bytes;
}

uint32_t rsc_private_stack_add(struct rsc_private_stack *stack, uint64_t line, int *status) {
    uint32_t unit = rsc_line_map_add(&stack->map, line, status);
    if (!unit) return 0;
    if (stack->map.unit_count > stack->used_room) {
        uint64_t room = stack->map.unit_count + stack->map.unit_count / 2;
        uint64_t *used = rsc_pages_grow(stack->used, stack->used_room * sizeof *used, room * sizeof *used);
        if (!used) {
            *status = RSC_ENOMEM;
            return 0;
        }
        stack->used = used;
        stack->used_room = room;
    }
    for (uint32_t i = 0; i < stack->map.moved_count; i++) {
        stack->used[stack->map.moved_to[i]] = stack->used[stack->map.moved_from[i]];
        if (stack->top_unit == stack->map.moved_from[i]) stack->top_unit = stack->map.moved_to[i];
    }
    stack->version += stack->map.moved_count != 0;
    return unit;
}

/* Every line's new slot, and the time of its use by new place. */
static void renumber_lines(struct rsc_private_stack *stack, uint64_t *new_time) {
    uint32_t *units = stack->map.units;
    for (uint64_t unit = 0; unit < stack->map.unit_count; unit++) {
        uint32_t slot = units[unit] - 1;
        if (slot >= RSC_UNIT_OTHER - 1) continue;
        uint32_t place = rsc_rank_before(&stack->rank, slot);
        if (new_time) new_time[place] = rsc_private_stack_time(stack, slot);
        units[unit] = rsc_rank_slot(place) + 1;
    }
}

/* The same of holes, into a table of another size. Slots only ever get smaller and stay in order. */
static int renumber_holes(struct rsc_private_stack *stack, uint64_t slots) {
    struct rsc_holes old = stack->holes;
    if (!old.level_count) return 0;
    int status = rsc_holes_init(&stack->holes, slots);
    if (status < 0) {
        stack->holes = old;
        return status;
    }
    uint64_t old_slots = slots_of(stack);
    for (uint32_t slot = rsc_holes_next(&old, 0, old_slots); slot != UINT32_MAX;
         slot = rsc_holes_next(&old, slot + 1, old_slots))
        rsc_holes_add(&stack->holes, rsc_rank_slot(rsc_rank_before(&stack->rank, slot)));
    rsc_holes_free(&old);
    return 0;
}

int rsc_private_stack_compact(struct rsc_private_stack *stack, uint64_t time) {
    uint64_t live = stack->rank.set, places = live * PLACES_PER_LINE;
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
    if (!status) status = renumber_holes(stack, (uint64_t)(larger.lines ? larger.line_count : stack->rank.line_count) * 512);
    if (status < 0) {
        rsc_rank_free(&larger);
        rsc_pages_free(new_time, time_bytes);
        return status;
    }
    renumber_lines(stack, new_time);
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

int rsc_private_stack_make_hole(struct rsc_private_stack *stack, uint32_t slot) {
    if (!stack->holes.level_count && rsc_holes_init(&stack->holes, slots_of(stack)) < 0) return RSC_ENOMEM;
    rsc_holes_add(&stack->holes, slot);
    return 0;
}
