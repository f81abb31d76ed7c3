/*
 * line_copies.h - the copies of each line: which stacks have it or had it.
 *
 * A line's unit (base/line_map.h) refers to a *record*, which has a 16-byte entry for
 * every stack that ever used the line: its position in that stack, the tag of its last
 * use there, and the bytes used since it came. So a reference usually finds everything
 * in one cache line, and a write finds the other stacks' entries next to it.
 *
 * Records come from a pool, in sizes of 32, 64, 128 and 256 bytes, and move to the
 * next size as they grow:
 *   named   u32 head: class, entries << 4, and a bit << 8 for each entry that holds
 *           the line; u32 stack[n]; entries[n], aligned; n = 1, 3, 6 or 12
 *   dense   entries[n] by number of stack, n = 4 or 16: where only the first n stacks
 *           share the line. 256 bytes hold 16 of these but 12 named ones, and nothing
 *           is searched
 *   many    more than 12 stacks, not all of the first 16: a hash table by stack, not
 *           in the pool. A bitmap marks the entries that hold the line, so a write to
 *           a line that thousands had but few hold visits few
 */
#ifndef RSC_MULTICORE_LINE_COPIES_H
#define RSC_MULTICORE_LINE_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "base/line_map.h"

/* An entry. */
struct rsc_copy {
    uint32_t state; /* 0: none yet; slot + 1 in the stack's bitmap; or RSC_COPY_... */
    uint32_t tag;
    uint64_t used; /* bytes of the line: one bit per byte, or per 64th part */
};

/* States other than slot + 1: on its way to another slot; taken away, by whom, and whether falsely. */
#define RSC_COPY_MOVING 0x80000000u
#define RSC_COPY_LOST 0xC0000000u
#define RSC_COPY_LOST_FALSELY 0x20000000u
#define RSC_COPY_TAKER 0x000fffffu

#define RSC_COPIES_UNIT 32u /* bytes: the unit of record sizes */
#define RSC_COPIES_CLASSES 4u
#define RSC_COPIES_NAMED 12u /* entries of the largest named record */
#define RSC_DENSE_FEW 4u
#define RSC_DENSE_MOST 16u
/* Flags in a unit, beside the place in the pool: the record is dense; it has 16
 * entries rather than 4; or, without DENSE, the unit is the number of a large
 * record. */
#define RSC_COPIES_DENSE 0x40000000u
#define RSC_COPIES_MANY 0x80000000u

struct rsc_many_copies {
    uint32_t room; /* a power of two */
    uint32_t count, held_count;
    uint32_t *stack; /* + 1; 0: empty. One block with all below, owned */
    struct rsc_copy *copies;
    uint64_t *held; /* one bit per entry */
};

struct rsc_line_copies {
    struct rsc_line_map map; /* a unit: 0, a record of the pool with its kind, or RSC_COPIES_MANY | number */
    unsigned char *pool; /* [0] is not a record */
    uint64_t pool_used, pool_room; /* in RSC_COPIES_UNIT bytes */
    uint32_t free[RSC_COPIES_CLASSES]; /* freed records, linked through their second word; 0: none */
    struct rsc_many_copies *many;
    uint32_t many_count, many_room;
    uint64_t lines;
};

/* Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_line_copies_init(struct rsc_line_copies *copies);
void rsc_line_copies_free(struct rsc_line_copies *copies);
uint64_t rsc_line_copies_bytes(const struct rsc_line_copies *copies);

/* The unit of a line, added if it is new; 0: failed (see *status). */
uint32_t rsc_line_copies_unit(struct rsc_line_copies *copies, uint64_t line, int *status);

/* Adds an entry, with state 0, for a stack that has none, and returns it. NULL: *status is RSC_ENOMEM or RSC_ELIMIT. */
struct rsc_copy *rsc_line_copies_add(struct rsc_line_copies *copies, uint32_t unit, uint32_t stack, int *status);

/* ---- looking ---- */

static const uint8_t rsc_copies_room[RSC_COPIES_CLASSES] = {1, 3, 6, 12};
static const uint8_t rsc_copies_at[RSC_COPIES_CLASSES] = {16, 16, 32, 64}; /* bytes before the entries */

static inline uint32_t *rsc_copies_head(const struct rsc_line_copies *copies, uint32_t word) {
    return (uint32_t *)(copies->pool + (uint64_t)(word & ~(RSC_COPIES_DENSE | RSC_COPIES_MANY)) * RSC_COPIES_UNIT);
}

static inline struct rsc_copy *rsc_copies_named(uint32_t *head) {
    return (struct rsc_copy *)((unsigned char *)head + rsc_copies_at[*head & 15]);
}

static inline struct rsc_copy *rsc_copies_dense(const struct rsc_line_copies *copies, uint32_t word) {
    return (struct rsc_copy *)rsc_copies_head(copies, word);
}

static inline uint32_t rsc_copies_dense_room(uint32_t word) {
    return word & RSC_COPIES_MANY ? RSC_DENSE_MOST : RSC_DENSE_FEW;
}

/* Prefetches where a stack's entry is first looked for. always_inline: gcc drops calls of functions that only
 * prefetch. */
static inline __attribute__((always_inline)) void rsc_copies_prefetch(const struct rsc_line_copies *copies,
                                                                      uint32_t unit, uint32_t stack) {
    uint32_t word = copies->map.units[unit], dense = word & RSC_COPIES_DENSE;
    if (__builtin_expect((word & RSC_COPIES_MANY) && !dense, 0)) return;
    __builtin_prefetch(
        (unsigned char *)rsc_copies_head(copies, word) + (dense ? (stack & 15) * sizeof(struct rsc_copy) : 0), 1);
}

/* Whether the line is in the stack's bitmap. */
static inline int rsc_copy_holds(uint32_t state) { return state - 1 < RSC_COPY_MOVING - 1; }

/* The entries of a dense record that hold the line: one bit each. */
static inline uint32_t rsc_copies_dense_holders(const struct rsc_copy *copies, uint32_t room) {
    uint32_t holders = 0;
    for (uint32_t i = 0; i < RSC_DENSE_FEW; i++) holders |= (uint32_t)rsc_copy_holds(copies[i].state) << i;
    if (room == RSC_DENSE_FEW) return holders;
    for (uint32_t i = RSC_DENSE_FEW; i < RSC_DENSE_MOST; i++) holders |= (uint32_t)rsc_copy_holds(copies[i].state) << i;
    return holders;
}

/* The entry of a stack in a hash table, or its free place. */
static inline uint32_t rsc_many_copies_find(const struct rsc_many_copies *many, uint32_t stack) {
    uint32_t at = (stack * 0x9E3779B1u >> 7) & (many->room - 1);
    while (many->stack[at] && many->stack[at] != stack + 1) at = (at + 1) & (many->room - 1);
    return at;
}

/* The entry of a stack in the unit's record, valid until an entry is added; NULL: none. *entry: its number. */
static inline struct rsc_copy *rsc_line_copies_find(const struct rsc_line_copies *copies, uint32_t word, uint32_t stack,
                                                    uint32_t *entry) {
    *entry = stack;
    if (word & RSC_COPIES_DENSE) {
        struct rsc_copy *copy = rsc_copies_dense(copies, word) + stack;
        return __builtin_expect(stack >= rsc_copies_dense_room(word), 0) || !copy->state ? NULL : copy;
    }
    if (__builtin_expect(word & RSC_COPIES_MANY, 0)) {
        const struct rsc_many_copies *many = &copies->many[word & ~RSC_COPIES_MANY];
        *entry = rsc_many_copies_find(many, stack);
        return many->stack[*entry] ? &many->copies[*entry] : NULL;
    }
    if (__builtin_expect(!word, 0)) return NULL;
    uint32_t *head = rsc_copies_head(copies, word), count = *head >> 4 & 15;
    for (uint32_t i = 0; i < count; i++) {
        if (head[1 + i] != stack) continue;
        *entry = i;
        return rsc_copies_named(head) + i;
    }
    return NULL;
}

/* Marks that the entry holds the line from now on; its state is set, too. */
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

#endif
