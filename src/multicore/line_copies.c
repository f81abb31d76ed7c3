/* line_copies.c - makes records and lets them grow; see line_copies.h. */
#include "multicore/line_copies.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define POOL_RESERVED (1ull << 29) /* in RSC_COPIES_UNIT bytes: address space only */
#define POOL_LEAST 4096u
#define POOL_MOST (1ull << 30)
#define PREPARE 32u
#define MANY_LEAST 32u

_Static_assert(sizeof(struct rsc_copy) == 16, "records fit their sizes");

int rsc_line_copies_init(struct rsc_line_copies *copies) {
    memset(copies, 0, sizeof *copies);
    if (rsc_line_map_init(&copies->map) < 0) return RSC_ENOMEM;
    copies->map.whole_blocks = 1; /* units are stored elsewhere too: they must not move */
    copies->pool_room = POOL_RESERVED;
    copies->pool = rsc_pages_reserve(copies->pool_room * RSC_COPIES_UNIT);
    if (!copies->pool) { /* address space is limited: start small and grow */
        copies->pool_room = POOL_LEAST;
        copies->pool = rsc_pages_new(copies->pool_room * RSC_COPIES_UNIT);
    }
    if (!copies->pool) {
        rsc_line_copies_free(copies);
        return RSC_ENOMEM;
    }
    copies->pool_used = 8; /* place 0 means none; records of 256 bytes are aligned */
    return 0;
}

void rsc_line_copies_free(struct rsc_line_copies *copies) {
    rsc_line_map_free(&copies->map);
    rsc_pages_free(copies->pool, copies->pool_room * RSC_COPIES_UNIT);
    for (uint32_t i = 0; i < copies->many_count; i++) free(copies->many[i].held);
    free(copies->many);
    memset(copies, 0, sizeof *copies);
}

uint64_t rsc_line_copies_bytes(const struct rsc_line_copies *copies) {
    uint64_t bytes = rsc_line_map_bytes(&copies->map) + copies->pool_used * RSC_COPIES_UNIT;
    for (uint32_t i = 0; i < copies->many_count; i++) bytes += copies->many[i].room * (sizeof(struct rsc_copy) + 5ull);
    return bytes;
}

uint32_t rsc_line_copies_unit(struct rsc_line_copies *copies, uint64_t line, int *status) {
    return rsc_line_map_add(&copies->map, line, status);
}

/* ---- the pool ---- */

/* Returns 0 if there is none left. */
static uint32_t take_record(struct rsc_line_copies *copies, uint32_t class, int *status) {
    uint32_t units = 1u << class, record = copies->free[class];
    if (record) {
        copies->free[class] = rsc_copies_head(copies, record)[1];
        __builtin_prefetch(rsc_copies_head(copies, copies->free[class]), 1);
        return record;
    }
    uint64_t start = (copies->pool_used + units - 1) / units * units; /* aligned; the gaps waste a few records in all */
    if (start + units > copies->pool_room) {
        uint64_t room = copies->pool_room + copies->pool_room / 2;
        if (room > POOL_MOST) room = POOL_MOST;
        if (start + units > room) {
            *status = RSC_ELIMIT;
            return 0;
        }
        unsigned char *pool = rsc_pages_grow(copies->pool, copies->pool_room * RSC_COPIES_UNIT, room * RSC_COPIES_UNIT);
        if (!pool) {
            *status = RSC_ENOMEM;
            return 0;
        }
        copies->pool = pool;
        copies->pool_room = room;
    }
    for (uint64_t gap = copies->pool_used; gap < start; gap++) { /* single units, each a record of class 0 */
        rsc_copies_head(copies, (uint32_t)gap)[1] = copies->free[0];
        copies->free[0] = (uint32_t)gap;
    }
    copies->pool_used = start + units;
    /* untouched memory: prefetch that of the next few records */
    for (uint32_t k = 0; k < units; k += 2)
        __builtin_prefetch(copies->pool + (start + PREPARE + k) * RSC_COPIES_UNIT, 1);
    return (uint32_t)start;
}

static void give_record(struct rsc_line_copies *copies, uint32_t record, uint32_t class) {
    uint32_t *head = rsc_copies_head(copies, record);
    head[1] = copies->free[class];
    copies->free[class] = record & ~(RSC_COPIES_DENSE | RSC_COPIES_MANY);
}

static uint32_t dense_class(uint32_t word) { return rsc_copies_dense_room(word) == RSC_DENSE_FEW ? 1 : 3; }

/* Moves a full named record into one of the next class. */
static int grow_named(struct rsc_line_copies *copies, uint32_t unit) {
    uint32_t old = copies->map.units[unit], class = *rsc_copies_head(copies, old) & 15;
    int status = 0;
    uint32_t record = take_record(copies, class + 1, &status);
    if (!record) return status;
    uint32_t *from = rsc_copies_head(copies, old), *to = rsc_copies_head(copies, record), count = *from >> 4 & 15;
    memcpy(to, from, (1 + count) * sizeof *to);
    *to += 1;
    memcpy(rsc_copies_named(to), rsc_copies_named(from), count * sizeof(struct rsc_copy));
    give_record(copies, old, class);
    copies->map.units[unit] = record;
    return 0;
}

/* Makes a named record, with only the first 4 or 16 stacks, dense. */
static int named_to_dense(struct rsc_line_copies *copies, uint32_t unit, uint32_t room) {
    int status = 0;
    uint32_t record = take_record(copies, room == RSC_DENSE_FEW ? 1 : 3, &status);
    if (!record) return status;
    uint32_t old = copies->map.units[unit], *head = rsc_copies_head(copies, old), count = *head >> 4 & 15;
    struct rsc_copy *to = rsc_copies_dense(copies, record), *from = rsc_copies_named(head);
    memset(to, 0, room * sizeof *to);
    for (uint32_t i = 0; i < count; i++) to[head[1 + i]] = from[i];
    give_record(copies, old, *head & 15);
    copies->map.units[unit] = record | RSC_COPIES_DENSE | (room == RSC_DENSE_FEW ? 0 : RSC_COPIES_MANY);
    return 0;
}

static uint32_t dense_count(const struct rsc_line_copies *copies, uint32_t word) {
    const struct rsc_copy *copy = rsc_copies_dense(copies, word);
    uint32_t count = 0, room = rsc_copies_dense_room(word);
    for (uint32_t i = 0; i < room; i++) count += copy[i].state != 0;
    return count;
}

/* Turns a dense record, of at most 11 entries, into a named one with room for one more. */
static int dense_to_named(struct rsc_line_copies *copies, uint32_t unit) {
    int status = 0;
    uint32_t old = copies->map.units[unit], room = rsc_copies_dense_room(old), count = 0;
    uint32_t class = dense_count(copies, old) < rsc_copies_room[2] ? 2 : 3;
    uint32_t record = take_record(copies, class, &status);
    if (!record) return status;
    uint32_t *head = rsc_copies_head(copies, record);
    *head = class;
    struct rsc_copy *from = rsc_copies_dense(copies, old), *to = rsc_copies_named(head);
    for (uint32_t stack = 0; stack < room; stack++) {
        if (!from[stack].state) continue;
        head[1 + count] = stack;
        to[count] = from[stack];
        if (rsc_copy_holds(from[stack].state)) *head |= 1u << (8 + count);
        count++;
    }
    *head |= count << 4;
    give_record(copies, old, dense_class(old));
    copies->map.units[unit] = record;
    return 0;
}

/* ---- large records ---- */

static int many_init(struct rsc_many_copies *many, uint32_t room) {
    uint64_t held_words = (room + 63) / 64 * 2; /* entries are aligned to 16 bytes */
    *many = (struct rsc_many_copies){.room = room};
    uint64_t *block = calloc(1, held_words * 8 + room * (sizeof *many->copies + sizeof *many->stack));
    if (!block) return RSC_ENOMEM;
    many->held = block;
    many->copies = (struct rsc_copy *)(block + held_words);
    many->stack = (uint32_t *)(many->copies + room);
    return 0;
}

static uint32_t many_put(struct rsc_many_copies *many, uint32_t stack, const struct rsc_copy *from) {
    uint32_t at = rsc_many_copies_find(many, stack);
    many->stack[at] = stack + 1;
    many->copies[at] = *from;
    many->count++;
    if (rsc_copy_holds(from->state)) {
        many->held[at >> 6] |= 1ull << (at & 63);
        many->held_count++;
    }
    return at;
}

static int grow_many(struct rsc_many_copies *many) {
    struct rsc_many_copies larger;
    if (many_init(&larger, 2 * many->room) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < many->room; i++)
        if (many->stack[i]) many_put(&larger, many->stack[i] - 1, &many->copies[i]);
    free(many->held);
    *many = larger;
    return 0;
}

/* Turns a record of the pool that cannot grow into a hash table. */
static int pool_to_many(struct rsc_line_copies *copies, uint32_t unit) {
    if (copies->many_count == copies->many_room) {
        uint32_t room = copies->many_room ? 2 * copies->many_room : 64;
        struct rsc_many_copies *more = realloc(copies->many, room * sizeof *more);
        if (!more) return RSC_ENOMEM;
        copies->many = more;
        copies->many_room = room;
    }
    struct rsc_many_copies *many = &copies->many[copies->many_count];
    if (many_init(many, MANY_LEAST) < 0) return RSC_ENOMEM;
    uint32_t old = copies->map.units[unit], *head = rsc_copies_head(copies, old);
    int dense = (old & RSC_COPIES_DENSE) != 0;
    const struct rsc_copy *from = dense ? rsc_copies_dense(copies, old) : rsc_copies_named(head);
    for (uint32_t i = 0; i < (dense ? rsc_copies_dense_room(old) : *head >> 4 & 15); i++)
        if (from[i].state) many_put(many, dense ? i : head[1 + i], &from[i]);
    give_record(copies, old, dense ? dense_class(old) : *head & 15);
    copies->map.units[unit] = RSC_COPIES_MANY | copies->many_count++;
    return 0;
}

/* ---- adding ---- */

/* Whether all stacks of a named record are below `most`. */
static int named_below(const uint32_t *head, uint32_t most) {
    for (uint32_t i = 0; i < (*head >> 4 & 15); i++)
        if (head[1 + i] >= most) return 0;
    return 1;
}

/* Makes room for the stack in a record of the pool. */
static int make_room(struct rsc_line_copies *copies, uint32_t unit, uint32_t stack) {
    uint32_t word = copies->map.units[unit];
    if (word & RSC_COPIES_DENSE) {
        if (stack < rsc_copies_dense_room(word)) return 0;
        return dense_count(copies, word) < RSC_COPIES_NAMED ? dense_to_named(copies, unit) : pool_to_many(copies, unit);
    }
    uint32_t *head = rsc_copies_head(copies, word), count = *head >> 4 & 15;
    if (count < rsc_copies_room[*head & 15]) return 0;
    if (count == 1 && stack < RSC_DENSE_FEW && named_below(head, RSC_DENSE_FEW))
        return named_to_dense(copies, unit, RSC_DENSE_FEW);
    if (count == rsc_copies_room[1] && stack < RSC_DENSE_MOST && named_below(head, RSC_DENSE_MOST))
        return named_to_dense(copies, unit, RSC_DENSE_MOST);
    return count == RSC_COPIES_NAMED ? pool_to_many(copies, unit) : grow_named(copies, unit);
}

struct rsc_copy *rsc_line_copies_add(struct rsc_line_copies *copies, uint32_t unit, uint32_t stack, int *status) {
    uint32_t word = copies->map.units[unit];
    if (!word) {
        word = take_record(copies, 0, status);
        if (!word) return NULL;
        copies->map.units[unit] = word;
        *rsc_copies_head(copies, word) = 0;
        copies->lines++;
    } else if ((word & RSC_COPIES_DENSE) || !(word & RSC_COPIES_MANY)) {
        if ((*status = make_room(copies, unit, stack)) < 0) return NULL;
        word = copies->map.units[unit];
    }
    if (word & RSC_COPIES_DENSE) return rsc_copies_dense(copies, word) + stack; /* its state is 0 */
    if (word & RSC_COPIES_MANY) {
        struct rsc_many_copies *many = &copies->many[word & ~RSC_COPIES_MANY];
        struct rsc_copy empty = {0};
        if (2 * (many->count + 1) > many->room && grow_many(many) < 0) {
            *status = RSC_ENOMEM;
            return NULL;
        }
        return &many->copies[many_put(many, stack, &empty)];
    }
    uint32_t *head = rsc_copies_head(copies, word), entry = *head >> 4 & 15;
    *head += 1u << 4;
    head[1 + entry] = stack;
    struct rsc_copy *copy = rsc_copies_named(head) + entry;
    *copy = (struct rsc_copy){0};
    return copy;
}
