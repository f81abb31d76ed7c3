/* private_stacks.c - making stacks, and what concerns more than one; see private_stacks.h. */
#include "multicore/private_stacks.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

/* Stacks that take address space ahead, as the exact engine does; those after them begin small. */
#define LARGE_STACKS 64u

int rsc_private_stacks_init(struct rsc_private_stacks *stacks, enum rsc_simd simd, int no_ri, uint64_t places_least) {
    memset(stacks, 0, sizeof *stacks);
    stacks->no_ri = no_ri;
    stacks->places_least = places_least;
    stacks->run_block = rsc_private_run_plain;
#if defined(__x86_64__)
    if (simd == RSC_SIMD_AVX2) stacks->run_block = rsc_private_run_avx2;
    if (simd == RSC_SIMD_AVX512) stacks->run_block = rsc_private_run_avx512;
#else
    (void)simd;
#endif
    if (rsc_holders_init(&stacks->holders) == 0 && rsc_sharing_init(&stacks->sharing) == 0) return 0;
    rsc_private_stacks_free(stacks);
    return RSC_ENOMEM;
}

void rsc_private_stacks_free(struct rsc_private_stacks *stacks) {
    for (uint32_t i = 0; i < stacks->count; i++) {
        rsc_private_stack_free(stacks->stacks[i]);
        free(stacks->stacks[i]);
    }
    free(stacks->stacks);
    rsc_holders_free(&stacks->holders);
    rsc_sharing_free(&stacks->sharing);
    memset(stacks, 0, sizeof *stacks);
}

uint64_t rsc_private_stacks_bytes(const struct rsc_private_stacks *stacks) {
    uint64_t bytes = rsc_holders_bytes(&stacks->holders);
    for (uint32_t i = 0; i < stacks->count; i++) bytes += rsc_private_stack_bytes(stacks->stacks[i]);
    return bytes;
}

uint32_t rsc_private_stacks_add(struct rsc_private_stacks *stacks, uint32_t thread, uint64_t pid, uint64_t tid) {
    if (stacks->count == stacks->room) {
        uint32_t room = stacks->room ? 2 * stacks->room : 16;
        struct rsc_private_stack **more = realloc(stacks->stacks, room * sizeof *more);
        if (!more) return UINT32_MAX;
        stacks->stacks = more;
        stacks->room = room;
    }
    struct rsc_private_stack *stack = malloc(sizeof *stack);
    if (!stack || rsc_private_stack_init(stack, stacks->count >= LARGE_STACKS, stacks->no_ri, stacks->places_least) < 0) {
        free(stack);
        return UINT32_MAX;
    }
    stack->thread = thread;
    stack->pid = pid;
    stack->tid = tid;
    stacks->stacks[stacks->count] = stack;
    return stacks->count++;
}

int rsc_private_stacks_run(struct rsc_private_stacks *stacks, const struct rsc_private_references *references,
                           uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return references->count ? stacks->run_block(stacks, references, rd, ri, last_tag) : 0;
}

/* The line that `from` used last goes into its bitmap, where it can become a hole. */
static int settle(struct rsc_private_stack *from) {
    uint64_t time = from->now - 1, place = time - from->time_of_place;
    if (place >= from->places) {
        int status = rsc_private_stack_compact(from, time);
        if (status < 0) return status;
        place = from->compacted;
    }
    uint32_t slot = rsc_rank_slot((uint32_t)place);
    rsc_rank_set(&from->rank, slot);
    from->map.units[from->top_unit] = slot + 1;
    from->top_unit = 0;
    return 0;
}

/* Stack `taking->from` loses the line. */
static int lose(struct rsc_private_stacks *stacks, struct rsc_taking *taking) {
    struct rsc_private_stack *from = stacks->stacks[taking->from];
    uint32_t unit = rsc_private_stack_find(from, taking->line);
    if (unit == from->top_unit) {
        int status = settle(from);
        if (status < 0) return status;
    }
    if (rsc_private_stack_make_hole(from, from->map.units[unit] - 1) < 0) return RSC_ENOMEM;
    taking->victim = from->map.extra[unit] & ~RSC_HELD_BY_OTHERS;
    taking->used = from->used[unit];
    int is_false = rsc_sharing_take(&stacks->sharing, taking);
    from->map.units[unit] = RSC_UNIT_LOST | (is_false ? RSC_UNIT_LOST_FALSELY : 0) | taking->by;
    return 0;
}

int rsc_private_take(struct rsc_private_stacks *stacks, uint32_t stack, uint32_t unit, struct rsc_taking *taking) {
    int status = 0;
    uint32_t *word = rsc_holders_word(&stacks->holders, taking->line, &status);
    if (!word) return status;
    if (*word & RSC_HOLDERS_LISTED) {
        const struct rsc_holder_list *list = &stacks->holders.lists[*word & ~RSC_HOLDERS_LISTED];
        for (uint32_t i = 0; i < list->count && !status; i++) {
            taking->from = list->stacks[i];
            if (taking->from != stack) status = lose(stacks, taking);
        }
    } else {
        for (uint32_t bits = *word; bits && !status; bits &= bits - 1) {
            taking->from = (uint32_t)__builtin_ctz(bits);
            if (taking->from != stack) status = lose(stacks, taking);
        }
    }
    if (!status) status = rsc_holders_set_only(&stacks->holders, word, stack);
    stacks->stacks[stack]->map.extra[unit] &= ~RSC_HELD_BY_OTHERS;
    return status;
}

int rsc_private_join(struct rsc_private_stacks *stacks, uint32_t stack, uint32_t unit, uint64_t line) {
    int status = 0;
    uint32_t *word = rsc_holders_word(&stacks->holders, line, &status);
    if (!word) return status;
    if (*word) {
        uint32_t only = rsc_holders_only(*word, &stacks->holders);
        if (only != UINT32_MAX) {
            struct rsc_private_stack *other = stacks->stacks[only];
            other->map.extra[rsc_private_stack_find(other, line)] |= RSC_HELD_BY_OTHERS;
        }
        stacks->stacks[stack]->map.extra[unit] |= RSC_HELD_BY_OTHERS;
    }
    return rsc_holders_add(&stacks->holders, word, stack);
}
