/*
 * last_use.h - finds when a line was last used, in one pass, as fast as memory
 * allows.
 *
 * The table is base/line_map.h: 4 bytes per line where lines are neighbours, and a
 * scan of memory is a scan of the table. Blocks are whole, so no branch depends on
 * how many of their lines were used; an isolated line costs 77 to 90 bytes. A lookup
 * is two dependent accesses; last_use_kernel.c prefetches both.
 *
 * A line's unit holds the low bits of the time of its last use, counted from 1, and a
 * mark that there was one; 0: none yet. When times outgrow these bits, every unit
 * gets a second number for the high bits. So intervals are exact for traces of any
 * length.
 *
 * The pass also lists the references to lines of the sample (truth_lines.h): those
 * whose hash begins with enough zeros. Hashing every line is cheaper than storing
 * marks.
 */
#ifndef RSC_DISTANCE_TIME_LAST_USE_H
#define RSC_DISTANCE_TIME_LAST_USE_H

#include <stdint.h>

#include "base/cpu.h"
#include "base/line_map.h"
#include "distance/shards/line_choice.h"

#define RSC_LAST_USE_RUN 1024u /* most lines in one call */
#define RSC_LAST_USE_AHEAD 64u /* lines looked up ahead */
#define RSC_TIME_BITS 30u
#define RSC_TIME_MARK (1u << RSC_TIME_BITS) /* in a unit that holds a time */

/* The results of a run of `count` references. */
struct rsc_intervals {
    uint64_t ri[RSC_LAST_USE_RUN];      /* interval since the use before; 0: first use */
    uint32_t sampled[RSC_LAST_USE_RUN]; /* those in the sample, in order */
    uint32_t count, sampled_count;
    /* References whose line differs from the one before; the others have interval 1. */
    uint32_t listed_count;
    uint32_t index[RSC_LAST_USE_RUN + 1]; /* of the listed; then `count` */
    uint64_t listed_ri[RSC_LAST_USE_RUN];
};

struct rsc_last_use {
    struct rsc_line_map map;
    uint64_t now;        /* references so far */
    uint64_t distinct;   /* lines so far */
    uint64_t offset;     /* of the sample's hash, from its seed */
    uint32_t rate_shift; /* a line is sampled if this many top bits of its hash are 0 */
    uint32_t time_bits;  /* RSC_TIME_BITS; fewer in tests */
    uint64_t line[RSC_LAST_USE_RUN + RSC_LAST_USE_AHEAD]; /* of the listed; the last repeated, for lookups past it */
    uint32_t
        unit[RSC_LAST_USE_RUN + RSC_LAST_USE_AHEAD]; /* the same: first the bucket, then the unit, 0 if not known */
    int (*run)(struct rsc_last_use *, const uint64_t *, uint32_t, struct rsc_intervals *);
};

/* time_bits: 0 is the default, smaller for tests. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_last_use_init(struct rsc_last_use *last, enum rsc_simd simd, uint64_t seed, uint32_t time_bits);
void rsc_last_use_free(struct rsc_last_use *last);
uint64_t rsc_last_use_bytes(const struct rsc_last_use *last);

/* Processes `count` lines in order, RSC_LAST_USE_RUN at most. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_last_use_run(struct rsc_last_use *last, const uint64_t *lines, uint32_t count, struct rsc_intervals *found);

/* Calls visit(context, line, time) with the last use, counted from 1, of every line. */
void rsc_last_use_visit(const struct rsc_last_use *last, void (*visit)(void *context, uint64_t line, uint64_t time),
                        void *context);

/* last_use_kernel.c per width. */
typedef int rsc_last_use_run_fn(struct rsc_last_use *, const uint64_t *, uint32_t, struct rsc_intervals *);
RSC_WIDE_DECLARE(rsc_last_use_run_fn, rsc_last_use_run);

#endif
