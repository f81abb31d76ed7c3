/* coherent_stacks.c - makes stacks, and handles what concerns several of them; see coherent_stacks.h. */
#include "multicore/coherent_stacks.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

int rsc_coherent_stacks_init(struct rsc_coherent_stacks *stacks, enum rsc_simd simd, int no_ri, uint64_t places_least) {
    memset(stacks, 0, sizeof *stacks);
    stacks->no_ri = no_ri;
    stacks->places_least = places_least;
    stacks->run_block = RSC_WIDE_PICK(simd, rsc_private_run);
    stacks->bytes_of = RSC_WIDE_PICK(simd, rsc_private_bytes);
    stacks->renumber = RSC_WIDE_PICK(simd, rsc_private_renumber);
    if (rsc_line_copies_init(&stacks->copies) == 0 && rsc_sharing_init(&stacks->sharing) == 0) return 0;
    rsc_coherent_stacks_free(stacks);
    return RSC_ENOMEM;
}

void rsc_coherent_stacks_free(struct rsc_coherent_stacks *stacks) {
    for (uint32_t i = 0; i < stacks->count; i++) {
        rsc_private_stack_free(stacks->stacks[i]);
        free(stacks->stacks[i]);
    }
    free(stacks->stacks);
    rsc_line_copies_free(&stacks->copies);
    rsc_sharing_free(&stacks->sharing);
    memset(stacks, 0, sizeof *stacks);
}

uint64_t rsc_coherent_stacks_bytes(const struct rsc_coherent_stacks *stacks) {
    uint64_t bytes = rsc_line_copies_bytes(&stacks->copies);
    for (uint32_t i = 0; i < stacks->count; i++) bytes += rsc_private_stack_bytes(stacks->stacks[i]);
    return bytes;
}

uint32_t rsc_coherent_stacks_add(struct rsc_coherent_stacks *stacks) {
    if (stacks->count == stacks->room) {
        uint32_t room = stacks->room ? 2 * stacks->room : 16;
        struct rsc_private_stack **more = realloc(stacks->stacks, room * sizeof *more);
        if (!more) return UINT32_MAX;
        stacks->stacks = more;
        stacks->room = room;
    }
    struct rsc_private_stack *stack = malloc(sizeof *stack);
    if (!stack || rsc_private_stack_init(stack, stacks->renumber, stacks->no_ri, stacks->places_least) < 0) {
        free(stack);
        return UINT32_MAX;
    }
    stack->number = stacks->count;
    stacks->stacks[stacks->count] = stack;
    return stacks->count++;
}

int rsc_coherent_stacks_run(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                            uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return references->count ? stacks->run_block(stacks, references, rd, ri, last_tag) : 0;
}

struct rsc_copy *rsc_private_add_copy(struct rsc_coherent_stacks *stacks, uint32_t unit, uint32_t stack, int *status) {
    struct rsc_copy *copy = rsc_line_copies_add(&stacks->copies, unit, stack, status);
    if (!copy || (*status = rsc_private_stack_add(stacks->stacks[stack], unit)) < 0) return NULL;
    return copy;
}

static int earlier_stack(const void *left, const void *right) {
    uint64_t a = *(const uint64_t *)left, b = *(const uint64_t *)right;
    return (a > b) - (a < b);
}

int rsc_private_take_many(struct rsc_coherent_stacks *stacks, uint32_t unit, uint32_t own, struct rsc_taking *taking) {
    struct rsc_many_copies *many = &stacks->copies.many[stacks->copies.map.units[unit] & ~RSC_COPIES_MANY];
    uint32_t count = 0;
    int status = 0;
    if (many->held_count < 2) return 0;
    uint64_t *others = malloc(many->held_count * sizeof *others); /* stack, entry */
    if (!others) return RSC_ENOMEM;
    for (uint32_t word = 0; word < (many->room + 63) / 64; word++) {
        for (uint64_t bits = many->held[word]; bits; bits &= bits - 1) {
            uint32_t entry = word * 64 + (uint32_t)__builtin_ctzll(bits);
            if (entry != own) others[count++] = (uint64_t)(many->stack[entry] - 1) << 32 | entry;
        }
        many->held[word] = word == own >> 6 ? 1ull << (own & 63) : 0;
    }
    many->held_count = 1;
    qsort(others, count, sizeof *others, earlier_stack);
    for (uint32_t i = 0; i < count && !status; i++) {
        taking->from = (uint32_t)(others[i] >> 32);
        status = rsc_private_lose(stacks, unit, &many->copies[(uint32_t)others[i]], taking);
    }
    free(others);
    return status;
}
