/*
 * use_watch.h - reuse intervals of a random sample of uses: each is watched until
 * its line is used again.
 *
 * One of every `gap` uses is drawn, of any line: a hot line is drawn in proportion to its uses, so the result does not
 * depend on whether it is in the sample, as it does when lines are sampled. Consecutive uses of a line (interval 1) are
 * known without a table; only the last use of each such run may be drawn.
 *
 * The table fits in the second level cache. All references are looked up, but nearly all of them only in the tags: 8
 * bits of hash for each of the eight places of a bucket, one 64-bit word, which eight lanes gather and compare at once.
 *
 * With a bound on watched uses, every second one is dropped when there are more (or when a small gap has given enough
 * samples), and the gap doubles: later counts weigh twice as much. So every use is counted at the end of its interval
 * with probability 1/gap, with the gap of that time. Uses still watched at the end are the last of their lines; their
 * number times the gap estimates the number of lines.
 */
#ifndef RSC_DISTANCE_TIME_USE_WATCH_H
#define RSC_DISTANCE_TIME_USE_WATCH_H

#include <stdint.h>

#include "base/cpu.h"
#include "base/histogram.h"
#include "base/rng.h"
#include "distance/time/last_use.h"
#include "distance/shards/line_choice.h"

#define RSC_WATCH_PLACES 8u /* of a bucket */
#define RSC_WATCH_STRETCHES 64u

/* The results of a run. */
struct rsc_watch_found {
    uint32_t listed_count;                    /* references whose line is not that of the one before */
    uint64_t line[RSC_LAST_USE_RUN + 1];      /* of the listed */
    uint32_t index[RSC_LAST_USE_RUN + 1];     /* of the listed, among the references; then how many those were */
    uint32_t ended_count;                     /* listed ones that ended a watch, in no order */
    uint32_t ended[RSC_LAST_USE_RUN];         /* which */
    uint64_t ended_ri[RSC_LAST_USE_RUN];      /* and its interval */
    uint32_t sampled_count;                   /* listed ones to lines of the line sample, in order */
    uint32_t sampled[RSC_LAST_USE_RUN];
};

struct rsc_use_watch {
    struct rsc_rng rng;
    uint64_t *tags;         /* [bucket]: one byte per place, 0: free; owned */
    uint64_t *line, *time;  /* [bucket * RSC_WATCH_PLACES + place]; owned */
    uint32_t bucket_mask;   /* buckets, less 1 */
    uint64_t offset;        /* of the hash, from its seed */
    uint32_t rate_shift;    /* of the line sample: see last_use.h */
    uint64_t now;           /* references so far */
    uint64_t uses;          /* listed references; and the lines taken over */
    uint64_t before;        /* line of the last reference */
    int has_before;
    double gap;             /* uses per watched use */
    double stretch_end;     /* of the present gap, in uses seen by runs ... */
    uint64_t seen;          /* ... this many ... */
    uint64_t draw_at;       /* ... and the one that is drawn; UINT64_MAX: none yet */
    uint64_t watched, most; /* most: 0 is no bound */
    uint64_t *ended;        /* [fine bin]: intervals with the present gap; owned */
    double *weighted;       /* [fine bin]: those before, times their gaps; owned */
    uint64_t ended_total;   /* sum of `ended` ... */
    double weighted_total;  /* ... and of `weighted` */
    uint64_t ended_sum;     /* the sum of all intervals, with the present gap ... */
    double weighted_sum;    /* ... and before */
    uint64_t samples;       /* ended so far, with any gap */
    uint64_t *epoch;        /* [fine bin]: ended in this epoch, a part of the trace; owned */
    uint64_t epoch_drawn;   /* uses drawn in it */
    double *variance;       /* [fine bin]: see rsc_use_watch_variance(); owned */
    uint32_t stretches;     /* of the trace: the i-th ends with ... */
    uint64_t stretch_now[RSC_WATCH_STRETCHES], stretch_uses[RSC_WATCH_STRETCHES]; /* ... this many of each */
    uint64_t stretch_least; /* references of one; doubles when there are too many */
    uint32_t candidates[RSC_LAST_USE_RUN + 8];
    int (*run)(struct rsc_use_watch *, const uint64_t *, uint32_t, struct rsc_watch_found *);
};

/* gap: 1 or more. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_use_watch_init(struct rsc_use_watch *watch, enum rsc_simd simd, uint64_t seed, double gap, uint64_t most);
void rsc_use_watch_free(struct rsc_use_watch *watch);
uint64_t rsc_use_watch_bytes(const struct rsc_use_watch *watch);

/* Continues from a table of all last uses: each is watched with probability 1/gap,
 * or less if that would exceed half of `most`. Returns 0 or RSC_ENOMEM. */
int rsc_use_watch_follow(struct rsc_use_watch *watch, const struct rsc_last_use *last);

/* Processes `count` lines in order, RSC_LAST_USE_RUN at most. Returns 0 or RSC_ENOMEM. */
int rsc_use_watch_run(struct rsc_use_watch *watch, const uint64_t *lines, uint32_t count,
                      struct rsc_watch_found *found);

/*
 * The number of uses drawn from is known (`uses`), so the sample is scaled to it:
 * returns the factor, near 1, for all counts; and the resulting number of lines.
 */
double rsc_use_watch_scale(const struct rsc_use_watch *watch);
double rsc_use_watch_lines(const struct rsc_use_watch *watch);

/*
 * By fine bin: the variance of the scaled number of uses with an interval in a lower
 * bin. One use is drawn per gap, so only variation within a part of the trace is
 * sampling error, not variation between parts: it is summed over epochs of 1024
 * draws. The watch owns the array.
 */
const double *rsc_use_watch_variance(struct rsc_use_watch *watch);

/* The mean interval; 0: none has ended. */
double rsc_use_watch_mean(const struct rsc_use_watch *watch);

/*
 * The uses still watched, by time of drawing: in each part of the trace, some of
 * those drawn are the last of their lines, which adds sampling error only if not all
 * or none are.
 */
struct rsc_watch_left {
    double gap;
    uint32_t stretches;
    double drawn[RSC_WATCH_STRETCHES + 1], count[RSC_WATCH_STRETCHES + 1];
};
void rsc_use_watch_left(const struct rsc_use_watch *watch, struct rsc_watch_left *left);

/*
 * The covariance of the number of lines with the number of uses that have an interval
 * beyond some length (last uses have an infinite one), if the latter are this share
 * of all uses. 0: the variance of the number of lines alone.
 */
double rsc_watch_left_covariance(const struct rsc_watch_left *left, double share);

/* Calls visit(context, line, time) with the time, counted from 1, of every watched use. */
void rsc_use_watch_visit(const struct rsc_use_watch *watch, void (*visit)(void *context, uint64_t line, uint64_t time),
                         void *context);

/* ---- of the table; for the kernel ---- */

static inline uint32_t rsc_watch_bucket(const struct rsc_use_watch *watch, uint64_t hash) {
    return (uint32_t)(hash >> 20) & watch->bucket_mask;
}
static inline uint64_t rsc_watch_tag(uint64_t hash) {
    uint64_t tag = hash >> 8 & 0xff;
    return tag ? tag : 1;
}
/* The zero bytes of a word, as their top bits; above the first one there may be false ones. */
static inline uint64_t rsc_zero_bytes(uint64_t word) {
    return (word - 0x0101010101010101ull) & ~word & 0x8080808080808080ull;
}

typedef int rsc_use_watch_run_fn(struct rsc_use_watch *, const uint64_t *, uint32_t, struct rsc_watch_found *);
RSC_WIDE_DECLARE(rsc_use_watch_run_fn, rsc_use_watch_run);

/* Begins to watch the use of `line` at `time`; dropped if its bucket is full. Returns 0 or RSC_ENOMEM. */
int rsc_use_watch_add(struct rsc_use_watch *watch, uint64_t line, uint64_t time);

/* The next use to be drawn, from here on. */
void rsc_use_watch_draw(struct rsc_use_watch *watch);

#endif
