/* private_stacks.c - making stacks, and what concerns more than one; see private_stacks.h. */
#include "multicore/private_stacks.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

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
    if (rsc_line_copies_init(&stacks->copies) == 0 && rsc_sharing_init(&stacks->sharing) == 0) return 0;
    rsc_private_stacks_free(stacks);
    return RSC_ENOMEM;
}

void rsc_private_stacks_free(struct rsc_private_stacks *stacks) {
    for (uint32_t i = 0; i < stacks->count; i++) {
        rsc_private_stack_free(stacks->stacks[i]);
        free(stacks->stacks[i]);
    }
    free(stacks->stacks);
    rsc_line_copies_free(&stacks->copies);
    rsc_sharing_free(&stacks->sharing);
    memset(stacks, 0, sizeof *stacks);
}

uint64_t rsc_private_stacks_bytes(const struct rsc_private_stacks *stacks) {
    uint64_t bytes = rsc_line_copies_bytes(&stacks->copies);
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
    if (!stack || rsc_private_stack_init(stack, stacks->no_ri, stacks->places_least) < 0) {
        free(stack);
        return UINT32_MAX;
    }
    stack->number = stacks->count;
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

/* The line on top of a stack has another entry number. */
static void top_moved(void *owner, uint32_t stack, uint32_t entry) {
    struct rsc_private_stacks *stacks = owner;
    stacks->stacks[stack]->top_entry = entry;
}

int rsc_private_add_copy(struct rsc_private_stacks *stacks, uint32_t unit, uint32_t stack, struct rsc_copy *copy) {
    int status = rsc_line_copies_add(&stacks->copies, unit, stack, top_moved, stacks, copy);
    return status < 0 ? status : rsc_private_stack_add(stacks->stacks[stack], unit);
}

/* Stack `taking->from` loses the line, which is this copy. */
static int lose(struct rsc_private_stacks *stacks, uint32_t unit, const struct rsc_copy *copy, struct rsc_taking *taking) {
    struct rsc_private_stack *from = stacks->stacks[taking->from];
    int status = rsc_private_stack_expect_holes(from);
    if (!status && unit == from->top_unit) status = rsc_private_stack_settle(from, &stacks->copies);
    if (status < 0) return status;
    rsc_holes_add(&from->holes, *copy->state - 1);
    taking->victim = *copy->tag;
    taking->used = *copy->used;
    int is_false = rsc_sharing_take(&stacks->sharing, taking);
    *copy->state = RSC_COPY_LOST | (is_false ? RSC_COPY_LOST_FALSELY : 0) | taking->by;
    return 0;
}

static int take_from_dense(struct rsc_private_stacks *stacks, uint32_t unit, uint32_t own, struct rsc_taking *taking) {
    uint32_t *record = rsc_copies_dense(&stacks->copies, stacks->copies.map.units[unit]);
    for (uint32_t stack = 0; stack < RSC_DENSE_STACKS; stack++) {
        struct rsc_copy copy;
        if (stack == own || !rsc_copy_holds(record[stack])) continue;
        rsc_copy_of_dense(record, stack, &copy);
        taking->from = stack;
        int status = lose(stacks, unit, &copy, taking);
        if (status < 0) return status;
    }
    return 0;
}

static int take_from_many(struct rsc_private_stacks *stacks, uint32_t unit, uint32_t own, struct rsc_taking *taking) {
    struct rsc_many_copies *many = &stacks->copies.many[stacks->copies.map.units[unit] & ~RSC_COPIES_MANY];
    for (uint32_t word = 0; word < (many->room + 63) / 64; word++) {
        for (uint64_t bits = many->held[word]; bits; bits &= bits - 1) {
            uint32_t entry = word * 64 + (uint32_t)__builtin_ctzll(bits);
            struct rsc_copy copy;
            if (entry == own) continue;
            rsc_copy_of_many(many, entry, &copy);
            taking->from = many->stack[entry] - 1;
            int status = lose(stacks, unit, &copy, taking);
            if (status < 0) return status;
        }
        many->held[word] = word == own >> 6 ? 1ull << (own & 63) : 0;
    }
    many->held_count = 1;
    return 0;
}

int rsc_private_take(struct rsc_private_stacks *stacks, uint32_t unit, uint32_t own, struct rsc_taking *taking) {
    uint32_t word = stacks->copies.map.units[unit];
    if (word & RSC_COPIES_DENSE) return take_from_dense(stacks, unit, own, taking);
    if (word & RSC_COPIES_MANY) return take_from_many(stacks, unit, own, taking);
    uint32_t *head = rsc_copies_head(&stacks->copies, word);
    const uint32_t *stack = head + 1 + rsc_copies_room[*head & 15];
    for (uint32_t bits = *head >> 8 & ~(1u << own); bits; bits &= bits - 1) {
        struct rsc_copy copy;
        rsc_copy_of_small(head, (uint32_t)__builtin_ctz(bits), &copy);
        taking->from = stack[copy.entry];
        int status = lose(stacks, unit, &copy, taking);
        if (status < 0) return status;
    }
    *head = (*head & 0xff) | 1u << (8 + own);
    return 0;
}
