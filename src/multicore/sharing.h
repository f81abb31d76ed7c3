/*
 * sharing.h - the sharing matrix (which stack takes lines from which), and false sharing:
 * lines taken by writes to bytes that their holder did not use.
 *
 * Both are tables of fixed size by the space-saving rule (distance/count/space_saving.h),
 * except for the first stacks, whose cells are an array. A row of the matrix is a pair of
 * stacks, a row of the lines is an address; both count how often a line was taken and the
 * misses this caused, true and false. Each line also has the bytes that stacks used and the
 * most frequent pairs of places (tags) that took it from each other.
 */
#ifndef RSC_MULTICORE_SHARING_H
#define RSC_MULTICORE_SHARING_H

#include <stdint.h>

#include "distance/count/space_saving.h"
#include "profile/profile_model.h"

#define RSC_SHARING_CELLS 8192u /* 90 stacks that all share with each other */
#define RSC_SHARING_FEW 16u
#define RSC_SHARING_LINES 4096u
#define RSC_SHARING_LINES_KEPT 256u /* of a profile */

struct rsc_sharing_bytes {
    uint32_t stack;
    uint32_t writes; /* times it took the line, up to UINT32_MAX */
    uint64_t used;   /* one bit per byte, or per 64th part of a larger line */
};

struct rsc_sharing_pair {
    uint32_t writer, victim; /* tags */
    uint64_t taken;
};

struct rsc_sharing_line {
    struct rsc_sharing_bytes users[RSC_SHARING_USERS_MAX];
    struct rsc_sharing_pair pairs[RSC_SHARING_PLACES_MAX];
    uint32_t user_count, pair_count;
    uint64_t object; /* the object there, as numbered by objects.h; 0: not known */
};

/* A line was taken while its object was not known. */
struct rsc_sharing_pending {
    uint64_t line;
    uint32_t row, reference;
};

/* What a cell counts. */
enum { RSC_SHARING_TAKEN, RSC_SHARING_FALSE_TAKEN, RSC_SHARING_MISSED, RSC_SHARING_FALSE_MISSED, RSC_SHARING_COUNTS };

struct rsc_sharing {
    /* of the first stacks with each other, the most frequent case: in cache, and exact */
    uint64_t few[RSC_SHARING_FEW][RSC_SHARING_FEW][RSC_SHARING_COUNTS]; /* by, from */
    struct rsc_space_saving cells; /* of all others: by << 20 | from */
    struct rsc_space_saving table; /* by line */
    struct rsc_sharing_line *lines; /* by row of the table; owned */
    struct rsc_sharing_pending *pending; /* of this block; owned */
    uint32_t pending_count;
};

int rsc_sharing_init(struct rsc_sharing *sharing);
void rsc_sharing_free(struct rsc_sharing *sharing);

/* A line moves from one stack to another. */
struct rsc_taking {
    uint64_t line;
    uint32_t by, from;             /* stacks */
    uint32_t writer, victim;       /* tags of the write, and of the last use before it */
    uint64_t written, used;        /* bytes of both */
    uint32_t reference;            /* index of the write in its block */
};

/* Counts in the cell of two stacks. */
void rsc_sharing_count_cell(struct rsc_sharing *sharing, uint32_t by, uint32_t from, uint32_t what);
static inline void rsc_sharing_count(struct rsc_sharing *sharing, uint32_t by, uint32_t from, uint32_t what) {
    if (__builtin_expect((by | from) < RSC_SHARING_FEW, 1)) sharing->few[by][from][what]++;
    else rsc_sharing_count_cell(sharing, by, from, what);
}

/* Counts in the table by line: a line is taken falsely, or a stack comes back to one that was. */
void rsc_sharing_take_falsely(struct rsc_sharing *sharing, const struct rsc_taking *taking);
void rsc_sharing_miss_falsely(struct rsc_sharing *sharing, uint64_t line);

/* Counts a line that is taken. Returns whether falsely. */
static inline int rsc_sharing_take(struct rsc_sharing *sharing, const struct rsc_taking *taking) {
    int is_false = !(taking->written & taking->used);
    rsc_sharing_count(sharing, taking->by, taking->from, is_false ? RSC_SHARING_FALSE_TAKEN : RSC_SHARING_TAKEN);
    if (is_false) rsc_sharing_take_falsely(sharing, taking);
    return is_false;
}

/* Counts stack `from` coming back to a line that `by` had taken. */
static inline void rsc_sharing_miss(struct rsc_sharing *sharing, uint64_t line, uint32_t by, uint32_t from,
                                    int is_false) {
    rsc_sharing_count(sharing, by, from, is_false ? RSC_SHARING_FALSE_MISSED : RSC_SHARING_MISSED);
    if (is_false) rsc_sharing_miss_falsely(sharing, line);
}

/* Ends a block, of at most RSC_SHARING_LINES references: objects[i] is the object of reference i; NULL: not known. */
void rsc_sharing_name(struct rsc_sharing *sharing, const uint64_t *objects);

/* What a profile needs to know of stacks and tags. */
struct rsc_sharing_names {
    void *owner;
    void (*stack)(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid);
    uint64_t (*pc)(void *owner, uint32_t tag); /* NULL: no code is known */
    uint32_t line_shift;
};

/* Fills the rows, most misses first; objects[i] receives the object of row i. Returns 0 or RSC_ENOMEM. */
int rsc_sharing_fill(struct rsc_sharing *sharing, const struct rsc_sharing_names *names, struct rsc_profile *profile,
                     uint64_t objects[RSC_SHARING_LINES_KEPT]);

#endif
