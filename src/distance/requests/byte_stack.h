/*
 * byte_stack.h - objects with sizes, in order of last use: counts the bytes of other
 * objects used since an object's last use.
 *
 * Each use takes the next *slot*, a place in time; an object's size is in the slot of
 * its last use, every other slot holds 0. Bytes used since slot s = the sum of all
 * slots after s. A tree of sums computes this: at the bottom sixteen u32 sizes, one
 * cache line, then nodes of eight u64 sums, one cache line each. A use adds up the
 * entries after its old slot in one cache line per level, and subtracts its old size
 * from the same lines. When slots run out they are *compacted*: the objects are
 * renumbered 0, 1, 2... in order of last use.
 *
 * The size of an object is that of its latest use. Memory grows with distinct objects
 * only: the table (16 bytes per entry, 5/16 to 5/8 full), 8 bytes of old_time and 18
 * to 55 bytes of slots per object.
 */
#ifndef RSC_DISTANCE_REQUESTS_BYTE_STACK_H
#define RSC_DISTANCE_REQUESTS_BYTE_STACK_H

#include <stdint.h>

#include "base/u64_table.h"

#define RSC_BYTE_LEVELS_MAX 16
#define RSC_BYTES_COLD UINT64_MAX

struct rsc_byte_stack {
    struct rsc_u64_table table; /* object -> slot of its last use + 1 */
    uint32_t *size;             /* by slot */
    uint64_t *level[RSC_BYTE_LEVELS_MAX]; /* level[0]: a sum per 16 slots; level[k+1]: a sum per 8 of level[k] */
    uint32_t level_count;
    uint64_t slots; /* there are */
    uint64_t top;   /* the next use takes */
    uint64_t bytes; /* of all objects, by their latest sizes */
    uint64_t peak;  /* most of that */

    uint64_t now;           /* uses seen */
    uint64_t compacted;     /* objects at the last compaction: lower slots are old */
    uint64_t time_of_first; /* time of the first slot after those: from there on slots advance with time */
    uint64_t *old_time;     /* [slot below compacted]: time of that use */

    uint64_t slots_least;
    uint64_t peak_memory; /* bytes held at most */
};

/* `slots_least`: for tests that need frequent compaction; 0 is the default. Returns 0 or RSC_ENOMEM. */
int rsc_byte_stack_init(struct rsc_byte_stack *stack, uint64_t slots_least);
void rsc_byte_stack_free(struct rsc_byte_stack *stack); /* a zeroed struct may always be freed */

/*
 * Processes `count` uses in order; no size may be 0. Writes for each the bytes of
 * distinct other objects used since the object's last use (RSC_BYTES_COLD: a first
 * use) and the uses since then (0: a first use). Returns 0 or RSC_ENOMEM.
 */
int rsc_byte_stack_run(struct rsc_byte_stack *stack, const uint64_t *objects, const uint32_t *sizes, uint32_t count,
                       uint64_t *above, uint64_t *interval);

#endif
