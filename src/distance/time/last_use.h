/*
 * last_use.h - when was this line last used? One pass, as fast as memory allows.
 *
 * The table is base/line_map.h: 4 bytes a line where lines are neighbours, and a
 * scan of memory is a scan of it. Blocks are whole, so that no branch depends on
 * how many lines of one were used; a line far from all others costs 77 to 90
 * bytes. A lookup is two accesses, the second depending on the first;
 * last_use_kernel.c asks for each ahead of time.
 *
 * A line's unit holds the low bits of the time of its last use, counted from 1,
 * and a mark that there was one; 0: none yet. Once times are longer than that,
 * every unit gets a second number for their high bits. So intervals are exact
 * however long the trace is.
 *
 * The pass also lists the references to lines of the sample (truth_lines.h): those
 * whose hash begins with so many zeros. Hashing every line is cheaper than keeping
 * marks for them.
 */
#ifndef RSC_DISTANCE_TIME_LAST_USE_H
#define RSC_DISTANCE_TIME_LAST_USE_H

#include <stdint.h>

#include "base/cpu.h"
#include "base/line_map.h"
#include "distance/shards/line_choice.h"

#define RSC_LAST_USE_RUN 1024u /* most lines in one call */
#define RSC_LAST_USE_AHEAD 64u /* lines looked up ahead of their turn */
#define RSC_TIME_BITS 30u
#define RSC_TIME_MARK (1u << RSC_TIME_BITS) /* in a unit that holds a time */

/* What a run found, `count` references. */
struct rsc_intervals {
    uint64_t ri[RSC_LAST_USE_RUN];      /* interval since the use before; 0: first use */
    uint32_t sampled[RSC_LAST_USE_RUN]; /* which are in the sample, in order */
    uint32_t count, sampled_count;
    /* Those whose line is not that of the reference before; the others have interval 1. */
    uint32_t listed_count;
    uint32_t index[RSC_LAST_USE_RUN + 1]; /* of the listed; then `count` */
    uint64_t listed_ri[RSC_LAST_USE_RUN];
};

struct rsc_last_use {
    struct rsc_line_map map;
    uint64_t now;        /* references so far */
    uint64_t distinct;   /* lines so far */
    uint64_t offset;     /* of the sample's hash, from its seed */
    uint32_t rate_shift; /* a line is sampled if the top so many bits of its hash are 0 */
    uint32_t time_bits;  /* RSC_TIME_BITS; fewer in tests */
    uint64_t
        line[RSC_LAST_USE_RUN + RSC_LAST_USE_AHEAD]; /* of the listed; the last repeated, to be looked up in vain */
    uint32_t
        unit[RSC_LAST_USE_RUN + RSC_LAST_USE_AHEAD]; /* the same: first the bucket, then the unit, 0 if not known */
    int (*run)(struct rsc_last_use *, const uint64_t *, uint32_t, struct rsc_intervals *);
};

/* time_bits: 0 is the default, less than that for tests. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_last_use_init(struct rsc_last_use *last, enum rsc_simd simd, uint64_t seed, uint32_t time_bits);
void rsc_last_use_free(struct rsc_last_use *last);
uint64_t rsc_last_use_bytes(const struct rsc_last_use *last);

/* Takes `count` lines in order, RSC_LAST_USE_RUN at most. Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_last_use_run(struct rsc_last_use *last, const uint64_t *lines, uint32_t count, struct rsc_intervals *found);

/* Calls visit(context, line, time) with the last use, counted from 1, of every line. */
void rsc_last_use_visit(const struct rsc_last_use *last, void (*visit)(void *context, uint64_t line, uint64_t time),
                        void *context);

/* last_use_kernel.c for each width. */
typedef int rsc_last_use_run_fn(struct rsc_last_use *, const uint64_t *, uint32_t, struct rsc_intervals *);
RSC_WIDE_DECLARE(rsc_last_use_run_fn, rsc_last_use_run);

#endif
