/*
 * window_sample.h - true distances of references taken at random times.
 *
 * The intervals of the last so many references (the *window*) are kept in a ring.
 * Between two uses of a line, at s and t, a reference at j is the first one to its
 * line exactly if its own interval reaches back to s or further: the distance is
 *     the number of j between s and t with interval(j) >= j - s,
 * one compare for each. So any reference whose interval lies in the window can be
 * asked for its distance, alone. One with a longer interval has at least the
 * distance of the lines in the window, and is put there: the window is made long
 * enough for the sizes that are judged, and for some 1000 lines; how many references
 * are undecided at a larger size is known.
 *
 * One reference is drawn from each stretch of `gap` references, and stands for
 * them. Samples that are spread evenly over the trace miss no phase of it, and
 * hardly depend on each other, as those of a burst would. Stretches get longer
 * where comparing would cost more than a small share of the pass.
 *
 * The first 65,536 references are all known, from an exact analysis.
 *
 * Where the pass knows the intervals of a sample only (use_watch.h), the window is
 * filled in bursts, by a small table of what was used since the burst began.
 */
#ifndef RSC_DISTANCE_TIME_WINDOW_SAMPLE_H
#define RSC_DISTANCE_TIME_WINDOW_SAMPLE_H

#include <stdint.h>

#include "base/rng.h"
#include "distance/exact/exact_state.h"
#include "distance/time/last_use.h"
#include "distance/time/truth_lines.h"

#define RSC_SAMPLE_FIRST 65536u

/* When a line was last used, counted from 1; of a time before the burst: free. */
struct rsc_recent_use {
    uint64_t line, time;
};

struct rsc_window_sample {
    struct rsc_rng rng;
    struct rsc_exact exact; /* of the first references */
    uint64_t now;           /* references taken */
    uint64_t first;         /* of those, at the beginning, all known */
    int32_t *interval;      /* [window], by number % window, less 1; INT32_MAX: a first use, or longer; owned */
    uint64_t window;        /* a power of two */
    uint64_t held_from;     /* first reference whose interval is in the ring, if it has not been written over */
    uint64_t gap;           /* references a sample stands for */
    uint64_t sample_at;     /* the next sampled reference ... */
    uint64_t stretch_end;   /* ... and where the next stretch begins */
    uint64_t samples;
    uint64_t compared;      /* intervals, so far */
    uint64_t lines_at, lines_in_window; /* how many lines the window had when the trace was at lines_at */
    uint32_t bin_count;
    uint64_t *first_ri, *first_rd; /* [fine bin]; owned, as is what follows */
    double *part_ri, *part_rd;     /* [part][fine bin]: of samples, weighted; sample i is of part i % parts */
    double *beyond; /* [fine bin]: of the same, those with longer intervals than the window, by where they were put */
    double part_references[RSC_SAMPLE_PARTS];
    double squares; /* of all samples' weights, added up */
    /* bursts, once not all intervals are known: of `window` references, one in each period */
    struct rsc_recent_use *recent; /* [2 * window], by hash of the line; owned; NULL: no burst yet */
    uint64_t recent_room;
    uint64_t burst_from, period_end;
    uint64_t bursts; /* periods begun */
    uint64_t burst_least; /* references from the beginning of any burst to its first sample, at least */
    uint32_t burst_taken; /* samples of this burst */
    uint32_t rd_found[RSC_LAST_USE_RUN];
    uint64_t ri_found[RSC_LAST_USE_RUN];
};

/* Returns 0 or RSC_ENOMEM. A zeroed sample may always be freed. */
int rsc_window_sample_init(struct rsc_window_sample *sample, uint64_t seed);
void rsc_window_sample_free(struct rsc_window_sample *sample);

/*
 * Takes `count` references (RSC_LAST_USE_RUN at most) with their true intervals;
 * distances of up to `wanted` lines are to be judged. Returns 0, RSC_ENOMEM or
 * RSC_ELIMIT.
 */
int rsc_window_sample_take(struct rsc_window_sample *sample, const uint64_t *lines, const uint64_t *ri, uint32_t count,
                           uint64_t wanted);

/*
 * The same when true intervals are not known any more, not to be followed by the
 * above: they are found again within bursts, and references of the second half of
 * each are drawn. Those of one burst are of one part.
 */
int rsc_window_sample_take_bursts(struct rsc_window_sample *sample, const uint64_t *lines, uint32_t count,
                                  uint64_t wanted);

#endif
