/*
 * windows.h - distances of short intervals, measured by simulating parts of the run
 * reference by reference.
 *
 * An average over a slice of the run (footprint.h) does not know where in the loop
 * body two uses are, which for short intervals determines the lines between them. So
 * a few windows of the interleaved stream, spread evenly over the run, are simulated;
 * an interval's distance is then that of a similar interval of the same reference in
 * the windows.
 */
#ifndef RSC_LOOPS_MODEL_WINDOWS_H
#define RSC_LOOPS_MODEL_WINDOWS_H

#include "loops/model/crowd.h"

/* Mean error on half the kernels over four interleavings at 4 and 64 threads: 8 windows of 4096 references 0.47%, 16 of
   them 0.45%, 16 of 2048 0.49%, 4 of 4096 0.52%. */
#define RSC_WINDOWS 8u
#define RSC_WINDOW_REFERENCES 4096u

struct rsc_windows {
    uint32_t *first; /* [references * bins + 1]: where the pairs of a reference and a bin of intervals start */
    uint32_t *interval; /* the pairs: interval and distance */
    uint32_t *distance;
};

/* Simulates the windows; the crowd gives the threads' places at the start of each. Free *out, also after a failure. */
int rsc_windows_look(struct rsc_windows *out, struct rsc_crowd *crowd, struct rsc_error *error);
void rsc_windows_free(struct rsc_windows *windows);
/* The number of pairs of all references. */
uint32_t rsc_windows_pairs(const struct rsc_windows *windows, uint32_t reference_count);

/* Draws a distance for an interval of a reference. Returns 0 if there are too few similar pairs. */
int rsc_windows_distance(const struct rsc_windows *windows, uint32_t reference, double interval,
                         struct rsc_chance *chance, double *distance);

#endif
