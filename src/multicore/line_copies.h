/*
 * line_copies.h - which stacks have a line, or had it: the copies of each line.
 *
 * A line's unit (base/line_map.h) names a *record*, which has an entry for every
 * stack that ever used the line: where it is in that stack, the tag of its last use
 * there, and the bytes used since it came. All that a reference needs, and all that
 * a write must know of others, so lies in one or two cache lines.
 *
 * Records of up to 12 entries come from a pool, in sizes of 32, 64, 128 and 256
 * bytes, from which they grow into one another. Where only the first four stacks
 * share a line its record is *dense*: an entry for each of them, without names, so
 * that it is just one cache line. A record with more than 12 ("many") is a hash table
 * by stack; a bitmap says which of its entries hold the line, so that a write to a
 * line that thousands have had but few hold looks at little.
 *
 * Layout of a small record of size class c with room for n = 1, 3, 6 or 12:
 *   u32  head: class, entries << 4, and a bit << 8 for each entry that holds the line
 *   u32  state[n], stack[n], tag[n];  u64 used[n], aligned
 * and of a dense one: u32 state[4], tag[4]; u64 used[4].
 */
#ifndef RSC_MULTICORE_LINE_COPIES_H
#define RSC_MULTICORE_LINE_COPIES_H

#include <stdint.h>

#include "base/line_map.h"

/* States of an entry beside slot + 1, where it is in the stack's bitmap: the line used last; taken away, by whom, and whether
 * falsely. 0: none. */
#define RSC_COPY_TOP 0x80000000u
#define RSC_COPY_LOST 0xC0000000u
#define RSC_COPY_LOST_FALSELY 0x20000000u
#define RSC_COPY_TAKER 0x000fffffu

#define RSC_COPIES_UNIT 32u /* bytes: what records are counted in */
#define RSC_COPIES_CLASSES 4u
#define RSC_COPIES_SMALL 12u      /* entries of the largest small record */
/* In a unit, beside the place in the pool: it is a dense record; or a number of a large one instead. */
#define RSC_COPIES_DENSE 0x40000000u
#define RSC_COPIES_MANY 0x80000000u
#define RSC_DENSE_STACKS 4u

struct rsc_many_copies {
    uint32_t room; /* a power of two */
    uint32_t count, held_count;
    uint32_t *stack; /* + 1; 0: empty. One block with all below, owned */
    uint32_t *state, *tag;
    uint64_t *used;
    uint64_t *held; /* a bit an entry */
};

struct rsc_line_copies {
    struct rsc_line_map map; /* a unit: 0, a record of the pool, with RSC_COPIES_DENSE or not, or RSC_COPIES_MANY | number */
    unsigned char *pool;     /* [0] is no record */
    uint64_t pool_used, pool_room; /* in RSC_COPIES_UNIT bytes */
    uint32_t free[RSC_COPIES_CLASSES]; /* records given back, strung through their second word; 0: none */
    struct rsc_many_copies *many;
    uint32_t many_count, many_room;
    uint64_t lines;
};

/* Where an entry is; until the record gets another entry. */
struct rsc_copy {
    uint32_t *state, *tag;
    uint64_t *used;
    uint32_t entry; /* its number in the record */
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_line_copies_init(struct rsc_line_copies *copies);
void rsc_line_copies_free(struct rsc_line_copies *copies);
uint64_t rsc_line_copies_bytes(const struct rsc_line_copies *copies);

/* The unit of a line, made if it is new; 0: none to be had (*status says why). */
uint32_t rsc_line_copies_unit(struct rsc_line_copies *copies, uint64_t line, int *status);

/*
 * Called for an entry whose number changes while its line is on top of its stack:
 * the stack keeps that number.
 */
typedef void rsc_copy_moved_fn(void *owner, uint32_t stack, uint32_t entry);

/* Gives a stack that has none an entry, with state 0. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_line_copies_add(struct rsc_line_copies *copies, uint32_t unit, uint32_t stack, rsc_copy_moved_fn *moved,
                        void *owner, struct rsc_copy *copy);

/* ---- looking ---- */

static const uint8_t rsc_copies_room[RSC_COPIES_CLASSES] = {1, 3, 6, 12};
static const uint8_t rsc_copies_used_at[RSC_COPIES_CLASSES] = {16, 40, 80, 152}; /* bytes into the record */

static inline uint32_t *rsc_copies_head(const struct rsc_line_copies *copies, uint32_t word) {
    return (uint32_t *)(copies->pool + (uint64_t)word * RSC_COPIES_UNIT);
}

static inline void rsc_copy_of_small(uint32_t *head, uint32_t entry, struct rsc_copy *copy) {
    uint32_t class = *head & 15, room = rsc_copies_room[class];
    copy->state = head + 1 + entry;
    copy->tag = head + 1 + 2 * room + entry;
    copy->used = (uint64_t *)((unsigned char *)head + rsc_copies_used_at[class]) + entry;
    copy->entry = entry;
}

static inline uint32_t *rsc_copies_dense(const struct rsc_line_copies *copies, uint32_t word) {
    return rsc_copies_head(copies, word & ~RSC_COPIES_DENSE);
}

static inline void rsc_copy_of_dense(uint32_t *record, uint32_t stack, struct rsc_copy *copy) {
    *copy = (struct rsc_copy){record + stack, record + RSC_DENSE_STACKS + stack,
                              (uint64_t *)(record + 2 * RSC_DENSE_STACKS) + stack, stack};
}

/* Does an entry in that state hold the line? */
static inline int rsc_copy_holds(uint32_t state) { return state - 1 <= RSC_COPY_TOP - 1; }

static inline void rsc_copy_of_many(const struct rsc_many_copies *many, uint32_t entry, struct rsc_copy *copy) {
    *copy = (struct rsc_copy){many->state + entry, many->tag + entry, many->used + entry, entry};
}

/* The entry of a stack in a hash table, or where it belongs. */
static inline uint32_t rsc_many_copies_find(const struct rsc_many_copies *many, uint32_t stack) {
    uint32_t at = (stack * 0x9E3779B1u >> 7) & (many->room - 1);
    while (many->stack[at] && many->stack[at] != stack + 1) at = (at + 1) & (many->room - 1);
    return at;
}

/* The entry of a stack in the record that a unit names (0: an empty one). Returns whether there is one. */
static inline int rsc_line_copies_find(const struct rsc_line_copies *copies, uint32_t word, uint32_t stack,
                                       struct rsc_copy *copy) {
    if (word & RSC_COPIES_DENSE) {
        if (__builtin_expect(stack >= RSC_DENSE_STACKS, 0)) return 0;
        rsc_copy_of_dense(rsc_copies_dense(copies, word), stack, copy);
        return *copy->state != 0;
    }
    if (__builtin_expect(word & RSC_COPIES_MANY, 0)) {
        const struct rsc_many_copies *many = &copies->many[word & ~RSC_COPIES_MANY];
        uint32_t at = rsc_many_copies_find(many, stack);
        rsc_copy_of_many(many, at, copy);
        return many->stack[at] != 0;
    }
    uint32_t *head = rsc_copies_head(copies, word), room = rsc_copies_room[*head & 15], count = *head >> 4 & 15;
    const uint32_t *stacks = head + 1 + room;
    for (uint32_t i = 0; i < count; i++) {
        if (stacks[i] != stack) continue;
        rsc_copy_of_small(head, i, copy);
        return 1;
    }
    return 0;
}

/* The entry, whose state is set to say so too, holds the line from now on. */
static inline void rsc_line_copies_hold(struct rsc_line_copies *copies, uint32_t word, uint32_t entry) {
    if (word & RSC_COPIES_DENSE) return;
    if (__builtin_expect(word & RSC_COPIES_MANY, 0)) {
        struct rsc_many_copies *many = &copies->many[word & ~RSC_COPIES_MANY];
        many->held_count += !(many->held[entry >> 6] >> (entry & 63) & 1);
        many->held[entry >> 6] |= 1ull << (entry & 63);
        return;
    }
    *rsc_copies_head(copies, word) |= 1u << (8 + entry);
}

/* Does any entry but this one, which does, hold the line? */
static inline int rsc_line_copies_others(const struct rsc_line_copies *copies, uint32_t word, uint32_t entry) {
    if (word & RSC_COPIES_DENSE) {
        const uint32_t *state = rsc_copies_dense(copies, word);
        uint32_t holders = 0;
        for (uint32_t i = 0; i < RSC_DENSE_STACKS; i++) holders += (uint32_t)rsc_copy_holds(state[i]);
        return holders > 1;
    }
    if (__builtin_expect(word & RSC_COPIES_MANY, 0)) return copies->many[word & ~RSC_COPIES_MANY].held_count > 1;
    return (*rsc_copies_head(copies, word) >> 8 & ~(1u << entry)) != 0;
}

#endif
