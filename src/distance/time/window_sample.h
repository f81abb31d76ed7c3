/*
 * window_sample.h - true distances of references taken at random times.
 *
 * The intervals of the last references (the *window*) are kept in a ring. Between two
 * uses of a line, at s and t, a reference at j is the first one to its line if and
 * only if its own interval reaches back to s or further. So the distance is
 *     the number of j between s and t with interval(j) >= j - s,
 * one compare each. So the distance of any single reference whose interval lies in
 * the window can be computed. A reference with a longer interval has at least as many
 * lines above it as the window holds, and is counted there: the window is long enough
 * for the sizes that are judged, and for some 1000 lines; the number of undecided
 * references at larger sizes is known.
 *
 * One reference is drawn from each range of `gap` references, and represents them.
 * Evenly spread samples miss no phase of the trace, and are nearly independent,
 * unlike those of a burst. Ranges get longer if comparing would cost more than a
 * small share of the pass.
 *
 * The first 65,536 references are all known, from an exact analysis.
 *
 * If the pass only knows the intervals of a sample (use_watch.h), the window is
 * filled in bursts, by a small table of the lines used since the burst began.
 */
#ifndef RSC_DISTANCE_TIME_WINDOW_SAMPLE_H
#define RSC_DISTANCE_TIME_WINDOW_SAMPLE_H

#include <stdint.h>

#include "base/rng.h"
#include "distance/exact/exact_state.h"
#include "distance/time/last_use.h"
#include "distance/time/truth_lines.h"

#define RSC_SAMPLE_FIRST 65536u

/* When a line was last used, counted from 1; a time before the burst: free. */
struct rsc_recent_use {
    uint64_t line, time;
};

struct rsc_window_sample {
    struct rsc_rng rng;
    struct rsc_exact exact; /* of the first references */
    uint64_t now;           /* references processed */
    uint64_t first;         /* of those, at the beginning, all exact */
    int32_t *interval;      /* [window], by number % window, less 1; INT32_MAX: a first use, or longer; owned */
    uint64_t window;        /* a power of two */
    uint64_t held_from;     /* first reference whose interval is in the ring, unless overwritten */
    uint64_t gap;           /* references per sample */
    uint64_t sample_at;     /* the next sampled reference ... */
    uint64_t stretch_end;   /* ... and the start of the next range */
    uint64_t samples;
    uint64_t compared;      /* intervals, so far */
    uint64_t lines_at, lines_in_window; /* lines in the window when the trace was at lines_at */
    uint32_t bin_count;
    uint64_t *first_ri, *first_rd; /* [fine bin]; owned, as is what follows */
    double *part_ri, *part_rd;     /* [part][fine bin]: of samples, weighted; sample i is in part i % parts */
    double *beyond; /* [fine bin]: of the same, those with intervals longer than the window, by the distance counted */
    double part_references[RSC_SAMPLE_PARTS];
    double squares; /* sum of all samples' weights */
    /* bursts, if not all intervals are known: of `window` references, one in each period */
    struct rsc_recent_use *recent; /* [2 * window], by hash of the line; owned; NULL: no burst yet */
    uint64_t recent_room;
    uint64_t burst_from, period_end;
    uint64_t bursts; /* periods begun */
    uint64_t burst_least; /* references from a burst's beginning to its first sample, at least */
    uint32_t burst_taken; /* samples of this burst */
    uint32_t rd_found[RSC_LAST_USE_RUN];
    uint64_t ri_found[RSC_LAST_USE_RUN];
};

/* Returns 0 or RSC_ENOMEM. A zeroed sample may always be freed. */
int rsc_window_sample_init(struct rsc_window_sample *sample, uint64_t seed);
void rsc_window_sample_free(struct rsc_window_sample *sample);

/*
 * Processes `count` references (RSC_LAST_USE_RUN at most) with their true intervals;
 * distances of up to `wanted` lines will be judged. Returns 0, RSC_ENOMEM or
 * RSC_ELIMIT.
 */
int rsc_window_sample_take(struct rsc_window_sample *sample, const uint64_t *lines, const uint64_t *ri, uint32_t count,
                           uint64_t wanted);

/*
 * The same without true intervals; after this, do not call the above. Intervals are
 * recomputed within bursts, and references of the second half of each are drawn.
 * Those of one burst are in one part.
 */
int rsc_window_sample_take_bursts(struct rsc_window_sample *sample, const uint64_t *lines, uint32_t count,
                                  uint64_t wanted);

#endif
