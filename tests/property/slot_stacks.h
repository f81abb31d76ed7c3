/*
 * slot_stacks.h - private and shared LRU stacks as the paper draws them: an array of
 * slots, top first, each a line or a hole. For property tests to compare with.
 */
#ifndef RSC_TESTS_SLOT_STACKS_H
#define RSC_TESTS_SLOT_STACKS_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define SLOT_HOLE UINT64_MAX
#define SLOT_NEW UINT64_MAX

struct slot_stack {
    uint64_t *slot;
    size_t count, room;
};

static inline size_t slot_find(const struct slot_stack *stack, uint64_t line) {
    size_t at = 0;
    while (at < stack->count && stack->slot[at] != line) at++;
    return at;
}

/* The line comes to the top. Returns its distance, or SLOT_NEW. */
static inline uint64_t slot_use(struct slot_stack *stack, uint64_t line) {
    size_t at = slot_find(stack, line), hole = slot_find(stack, SLOT_HOLE), was = at;
    int found = at < stack->count;
    if (!found && stack->count == stack->room) {
        stack->room = stack->room ? 2 * stack->room : 64;
        stack->slot = realloc(stack->slot, stack->room * sizeof *stack->slot);
        if (!stack->slot) abort();
    }
    if (hole < at) {
        /* the hole is filled from above; the old place of the line, if it had one, is the hole now */
        if (found) stack->slot[at] = SLOT_HOLE;
        at = hole;
    } else if (!found) {
        at = stack->count++;
    }
    memmove(stack->slot + 1, stack->slot, at * sizeof *stack->slot);
    stack->slot[0] = line;
    return found ? was : SLOT_NEW;
}

/* Another thread wrote it. Returns whether it was there. */
static inline int slot_take(struct slot_stack *stack, uint64_t line) {
    size_t at = slot_find(stack, line);
    if (at == stack->count) return 0;
    stack->slot[at] = SLOT_HOLE;
    return 1;
}

static inline void slot_free(struct slot_stack *stack) {
    free(stack->slot);
    *stack = (struct slot_stack){0};
}

#endif
