/*
 * coherent_stacks.h - exact reuse distances with one stack per thread or group of
 * threads: each line is in the stack of every thread that used it since another one
 * last wrote to it.
 *
 * A line's record (line_copies.h) holds its position in every stack. A reference
 * finds its own stack's entry there; a write also finds the stacks that must lose the
 * line.
 */
#ifndef RSC_MULTICORE_COHERENT_STACKS_H
#define RSC_MULTICORE_COHERENT_STACKS_H

#include <stdint.h>

#include "base/cpu.h"
#include "multicore/line_copies.h"
#include "multicore/private_stack.h"
#include "multicore/sharing.h"

#define RSC_PRIVATE_BLOCK 2048u
#define RSC_PRIVATE_AHEAD 32u /* how far ahead lines are prefetched */
#define RSC_PRIVATE_SEEN_BITS 9u

/* References, in order. */
struct rsc_private_references {
    const uint64_t *lines;
    const uint32_t *who;   /* stack, and RSC_PRIVATE_WRITES */
    const uint64_t *bytes; /* of the line: one bit per byte, or per 64th part */
    const uint32_t *tags;  /* NULL: none */
    uint32_t count;
};
#define RSC_PRIVATE_WRITES 0x80000000u

/* The columns of a batch, and which of its accesses each reference comes from. */
struct rsc_private_columns {
    const uint64_t *addr, *meta;
    const uint32_t *index;
};

struct rsc_coherent_stacks;
typedef int rsc_private_run_fn(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                               uint32_t *rd, uint64_t *ri, uint32_t *last_tag);

/* The bytes of its line that each reference touches: one bit per byte, or per 64th part. */
typedef void rsc_private_bytes_fn(const struct rsc_private_columns *from, const uint64_t *lines, uint64_t *bytes,
                                  uint32_t count, uint32_t line_shift);

struct rsc_coherent_stacks {
    struct rsc_private_stack **stacks; /* owned, as is each stack */
    uint32_t count, room;
    struct rsc_line_copies copies;
    struct rsc_sharing sharing;
    rsc_private_run_fn *run_block;
    rsc_private_bytes_fn *bytes_of;
    rsc_private_renumber_fn *renumber;
    int no_ri;
    uint64_t places_least;
    /* of the current block: the distinct lines to look up ahead, by the reference
     * each first comes with, and their units; and for each reference the index of its
     * line (private_kernel.c) */
    uint32_t index[RSC_PRIVATE_BLOCK + RSC_PRIVATE_AHEAD + 1];
    uint32_t unit[RSC_PRIVATE_BLOCK + RSC_PRIVATE_AHEAD];
    uint16_t source[RSC_PRIVATE_BLOCK];
    struct rsc_private_seen {
        uint64_t line;
        uint32_t block, listed;
    } seen[1u << RSC_PRIVATE_SEEN_BITS];
    uint32_t block; /* blocks so far */
};

/* `places_least`: 0, or a small number for tests that need frequent compaction. Returns 0 or RSC_ENOMEM. */
int rsc_coherent_stacks_init(struct rsc_coherent_stacks *stacks, enum rsc_simd simd, int no_ri, uint64_t places_least);
void rsc_coherent_stacks_free(struct rsc_coherent_stacks *stacks);
uint64_t rsc_coherent_stacks_bytes(const struct rsc_coherent_stacks *stacks);

/* Adds a stack. Returns its number, or UINT32_MAX when out of memory. */
uint32_t rsc_coherent_stacks_add(struct rsc_coherent_stacks *stacks);

/*
 * Writes for each of at most RSC_PRIVATE_BLOCK references its RD (RSC_RD_COLD for the
 * stack's first use of the line, RSC_RD_INVALIDATED if the line was taken since the last
 * use), its RI in references of the stack (0 for either; NULL: not wanted) and the tag of
 * the stack's last use before (NULL: not wanted). Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_coherent_stacks_run(struct rsc_coherent_stacks *stacks, const struct rsc_private_references *references,
                            uint32_t *rd, uint64_t *ri, uint32_t *last_tag);

/* The kernel per width, and its rarely called functions. */
RSC_WIDE_DECLARE(rsc_private_run_fn, rsc_private_run);
RSC_WIDE_DECLARE(rsc_private_bytes_fn, rsc_private_bytes);
RSC_WIDE_DECLARE(rsc_private_renumber_fn, rsc_private_renumber);

/* Adds an entry for a stack that never had the line; NULL: *status is RSC_ENOMEM or RSC_ELIMIT. */
struct rsc_copy *rsc_private_add_copy(struct rsc_coherent_stacks *stacks, uint32_t unit, uint32_t stack, int *status);

/* All entries of a large record except `own` lose the line of that unit, in the order of their stacks. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_private_take_many(struct rsc_coherent_stacks *stacks, uint32_t unit, uint32_t own, struct rsc_taking *taking);

/* Stack `taking->from` loses the line of this copy. Returns 0 or RSC_ENOMEM. */
static inline int rsc_private_lose(struct rsc_coherent_stacks *stacks, uint32_t unit, struct rsc_copy *copy,
                                   struct rsc_taking *taking) {
    struct rsc_private_stack *from = stacks->stacks[taking->from];
    if (__builtin_expect(!from->holes.level_count, 0) && rsc_private_stack_expect_holes(from) < 0) return RSC_ENOMEM;
    if (unit == from->top_unit) from->top_unit = from->top_repeated = 0;
    rsc_holes_add(&from->holes, copy->state - 1);
    taking->victim = copy->tag;
    taking->used = copy->used;
    uint32_t is_false = (uint32_t)rsc_sharing_take(&stacks->sharing, taking);
    copy->state = RSC_COPY_LOST | (is_false ? RSC_COPY_LOST_FALSELY : 0) | taking->by;
    return 0;
}

#endif
