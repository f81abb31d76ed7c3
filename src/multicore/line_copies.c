/* line_copies.c - making records and letting them grow; see line_copies.h. */
#include "multicore/line_copies.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define POOL_RESERVED (1ull << 29) /* in RSC_COPIES_UNIT bytes: address space only */
#define POOL_LEAST 4096u
#define POOL_MOST (1ull << 30)
#define MANY_LEAST 32u

_Static_assert(16 + 8 * 1 <= 32 && 40 + 8 * 3 <= 64 && 80 + 8 * 6 <= 128 && 152 + 8 * 12 <= 256, "records fit their sizes");

int rsc_line_copies_init(struct rsc_line_copies *copies) {
    memset(copies, 0, sizeof *copies);
    if (rsc_line_map_init(&copies->map) < 0) return RSC_ENOMEM;
    copies->map.whole_blocks = 1; /* units are kept elsewhere too: none may move */
    copies->pool_room = POOL_RESERVED;
    copies->pool = rsc_pages_reserve(copies->pool_room * RSC_COPIES_UNIT);
    if (!copies->pool) { /* address space is limited: take little, and grow */
        copies->pool_room = POOL_LEAST;
        copies->pool = rsc_pages_new(copies->pool_room * RSC_COPIES_UNIT);
    }
    if (!copies->pool) {
        rsc_line_copies_free(copies);
        return RSC_ENOMEM;
    }
    copies->pool_used = 8; /* place 0 is none; records of 256 bytes are aligned */
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
    for (uint32_t i = 0; i < copies->many_count; i++) bytes += copies->many[i].room * 21ull;
    return bytes;
}

uint32_t rsc_line_copies_unit(struct rsc_line_copies *copies, uint64_t line, int *status) {
    return rsc_line_map_add(&copies->map, line, status);
}

/* ---- the pool ---- */

/* Returns 0 where there is none to be had. */
static uint32_t take_record(struct rsc_line_copies *copies, uint32_t class, int *status) {
    uint32_t units = 1u << class, record = copies->free[class];
    if (record) {
        copies->free[class] = rsc_copies_head(copies, record)[1];
        return record;
    }
    uint64_t start = (copies->pool_used + units - 1) / units * units; /* aligned; what is passed over is a few records in all */
    if (start + units > copies->pool_room) {
        uint64_t room = copies->pool_room + copies->pool_room / 2;
        if (room > POOL_MOST) room = POOL_MOST;
        if (start + units > room) {
            *status = RSC_ELIMIT;
            return 0;
        }
        unsigned char *pool =
            rsc_pages_grow(copies->pool, copies->pool_room * RSC_COPIES_UNIT, room * RSC_COPIES_UNIT);
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
    return (uint32_t)start;
}

static void give_record(struct rsc_line_copies *copies, uint32_t record) {
    uint32_t *head = rsc_copies_head(copies, record), class = *head & 15;
    head[1] = copies->free[class];
    copies->free[class] = record;
}

static uint32_t *stacks_of(uint32_t *head) { return head + 1 + rsc_copies_room[*head & 15]; }

/* Moves a full small record into one of the next class. Entries keep their numbers. */
static int grow_small(struct rsc_line_copies *copies, uint32_t unit) {
    uint32_t old = copies->map.units[unit], class = *rsc_copies_head(copies, old) & 15;
    int status = 0;
    uint32_t record = take_record(copies, class + 1, &status);
    if (!record) return status;
    uint32_t *from = rsc_copies_head(copies, old), *to = rsc_copies_head(copies, record), count = *from >> 4 & 15;
    *to = *from + 1;
    for (uint32_t i = 0; i < count; i++) {
        struct rsc_copy a, b;
        rsc_copy_of_small(from, i, &a);
        rsc_copy_of_small(to, i, &b);
        *b.state = *a.state;
        *b.tag = *a.tag;
        *b.used = *a.used;
        stacks_of(to)[i] = stacks_of(from)[i];
    }
    give_record(copies, old);
    copies->map.units[unit] = record;
    return 0;
}

/* A line of one of the first four stacks comes to another of them. */
static int single_to_dense(struct rsc_line_copies *copies, uint32_t unit, rsc_copy_moved_fn *moved, void *owner) {
    int status = 0;
    uint32_t record = take_record(copies, 1, &status);
    if (!record) return status;
    uint32_t old = copies->map.units[unit], *from = rsc_copies_head(copies, old), *to = rsc_copies_head(copies, record);
    uint32_t stack = *stacks_of(from);
    struct rsc_copy a, b;
    memset(to, 0, 2 * RSC_COPIES_UNIT);
    rsc_copy_of_small(from, 0, &a);
    rsc_copy_of_dense(to, stack, &b);
    *b.state = *a.state;
    *b.tag = *a.tag;
    *b.used = *a.used;
    if (*a.state == RSC_COPY_TOP) moved(owner, stack, stack);
    give_record(copies, old);
    copies->map.units[unit] = RSC_COPIES_DENSE | record;
    return 0;
}

/* A line that the first four stacks share comes to another one: its record gets names, and room for two more. */
static int dense_to_small(struct rsc_line_copies *copies, uint32_t unit, rsc_copy_moved_fn *moved, void *owner) {
    int status = 0;
    uint32_t record = take_record(copies, 2, &status), count = 0;
    if (!record) return status;
    uint32_t old = copies->map.units[unit] & ~RSC_COPIES_DENSE;
    uint32_t *from = rsc_copies_head(copies, old), *to = rsc_copies_head(copies, record);
    *to = 2;
    for (uint32_t stack = 0; stack < RSC_DENSE_STACKS; stack++) {
        struct rsc_copy a, b;
        rsc_copy_of_dense(from, stack, &a);
        if (!*a.state) continue;
        rsc_copy_of_small(to, count, &b);
        *b.state = *a.state;
        *b.tag = *a.tag;
        *b.used = *a.used;
        stacks_of(to)[count] = stack;
        if (rsc_copy_holds(*a.state)) *to |= 1u << (8 + count);
        if (*a.state == RSC_COPY_TOP) moved(owner, stack, count);
        count++;
    }
    *to |= count << 4;
    *from = 1; /* its class, for those who take it next */
    give_record(copies, old);
    copies->map.units[unit] = record;
    return 0;
}

/* ---- large records ---- */

static int many_init(struct rsc_many_copies *many, uint32_t room) {
    uint64_t held_words = (room + 63) / 64;
    *many = (struct rsc_many_copies){.room = room};
    uint64_t *block = calloc(1, held_words * 8 + room * 20ull);
    if (!block) return RSC_ENOMEM;
    many->held = block;
    many->used = block + held_words;
    many->stack = (uint32_t *)(many->used + room);
    many->state = many->stack + room;
    many->tag = many->state + room;
    return 0;
}

static uint32_t many_put(struct rsc_many_copies *many, uint32_t stack, const struct rsc_copy *from, int held) {
    uint32_t at = rsc_many_copies_find(many, stack);
    many->stack[at] = stack + 1;
    many->state[at] = *from->state;
    many->tag[at] = *from->tag;
    many->used[at] = *from->used;
    many->count++;
    if (held) {
        many->held[at >> 6] |= 1ull << (at & 63);
        many->held_count++;
    }
    return at;
}

static int grow_many(struct rsc_many_copies *many, rsc_copy_moved_fn *moved, void *owner) {
    struct rsc_many_copies larger;
    if (many_init(&larger, 2 * many->room) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < many->room; i++) {
        struct rsc_copy from;
        if (!many->stack[i]) continue;
        rsc_copy_of_many(many, i, &from);
        uint32_t at = many_put(&larger, many->stack[i] - 1, &from, many->held[i >> 6] >> (i & 63) & 1);
        if (*from.state == RSC_COPY_TOP) moved(owner, many->stack[i] - 1, at);
    }
    free(many->held);
    *many = larger;
    return 0;
}

static int small_to_many(struct rsc_line_copies *copies, uint32_t unit, rsc_copy_moved_fn *moved, void *owner) {
    if (copies->many_count == copies->many_room) {
        uint32_t room = copies->many_room ? 2 * copies->many_room : 64;
        struct rsc_many_copies *more = realloc(copies->many, room * sizeof *more);
        if (!more) return RSC_ENOMEM;
        copies->many = more;
        copies->many_room = room;
    }
    struct rsc_many_copies *many = &copies->many[copies->many_count];
    if (many_init(many, MANY_LEAST) < 0) return RSC_ENOMEM;
    uint32_t old = copies->map.units[unit], *head = rsc_copies_head(copies, old), count = *head >> 4 & 15;
    for (uint32_t i = 0; i < count; i++) {
        struct rsc_copy from;
        rsc_copy_of_small(head, i, &from);
        uint32_t stack = stacks_of(head)[i], at = many_put(many, stack, &from, *head >> (8 + i) & 1);
        if (*from.state == RSC_COPY_TOP) moved(owner, stack, at);
    }
    give_record(copies, old);
    copies->map.units[unit] = RSC_COPIES_MANY | copies->many_count++;
    return 0;
}

/* ---- adding ---- */

/* Makes a record of the pool one that has room for the stack. */
static int make_room(struct rsc_line_copies *copies, uint32_t unit, uint32_t stack, rsc_copy_moved_fn *moved,
                     void *owner) {
    uint32_t word = copies->map.units[unit];
    if (word & RSC_COPIES_DENSE) return stack < RSC_DENSE_STACKS ? 0 : dense_to_small(copies, unit, moved, owner);
    uint32_t *head = rsc_copies_head(copies, word), count = *head >> 4 & 15;
    if (count < rsc_copies_room[*head & 15]) return 0;
    if (count == 1 && stack < RSC_DENSE_STACKS && *stacks_of(head) < RSC_DENSE_STACKS)
        return single_to_dense(copies, unit, moved, owner);
    return count == RSC_COPIES_SMALL ? small_to_many(copies, unit, moved, owner) : grow_small(copies, unit);
}

int rsc_line_copies_add(struct rsc_line_copies *copies, uint32_t unit, uint32_t stack, rsc_copy_moved_fn *moved,
                        void *owner, struct rsc_copy *copy) {
    uint32_t word = copies->map.units[unit], *head;
    int status = 0;
    if (!word) {
        word = take_record(copies, 0, &status);
        if (!word) return status;
        copies->map.units[unit] = word;
        *rsc_copies_head(copies, word) = 0;
        copies->lines++;
    } else if (!(word & RSC_COPIES_MANY)) {
        status = make_room(copies, unit, stack, moved, owner);
        if (status < 0) return status;
        word = copies->map.units[unit];
    }
    if (word & RSC_COPIES_DENSE) {
        rsc_copy_of_dense(rsc_copies_dense(copies, word), stack, copy); /* its state is 0 */
        return 0;
    }
    if (word & RSC_COPIES_MANY) {
        struct rsc_many_copies *many = &copies->many[word & ~RSC_COPIES_MANY];
        uint32_t nothing = 0;
        uint64_t none = 0;
        struct rsc_copy empty = {&nothing, &nothing, &none, 0};
        if (2 * (many->count + 1) > many->room && grow_many(many, moved, owner) < 0) return RSC_ENOMEM;
        rsc_copy_of_many(many, many_put(many, stack, &empty, 0), copy);
        return 0;
    }
    head = rsc_copies_head(copies, word);
    uint32_t entry = *head >> 4 & 15;
    *head += 1u << 4;
    stacks_of(head)[entry] = stack;
    rsc_copy_of_small(head, entry, copy);
    *copy->state = 0;
    return 0;
}
