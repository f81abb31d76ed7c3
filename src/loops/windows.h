/*
 * windows.h - how many lines lie between two uses that are not far apart, seen by
 * going through parts of the run reference by reference.
 *
 * An average over a slice of the run (footprint.h) does not know where in the loop
 * body two uses lie, which for short intervals decides what is between them. So a
 * few windows of the interleaved stream, spread evenly over the run, are gone
 * through; an interval's distance is then that of a like interval of the same
 * reference seen in them.
 */
#ifndef RSC_LOOPS_WINDOWS_H
#define RSC_LOOPS_WINDOWS_H

#include "loops/crowd.h"

struct rsc_windows {
    uint32_t *first;    /* [references * bins + 1]: where the pairs of a reference and a bin of intervals start */
    uint32_t *interval; /* the pairs: interval and distance */
    uint32_t *distance;
};

/* Looks at the windows; the crowd says where threads are when one begins. *out is to be freed, also after a failure. */
int rsc_windows_look(struct rsc_windows *out, struct rsc_crowd *crowd, struct rsc_error *error);
void rsc_windows_free(struct rsc_windows *windows);

/* Draws a distance for an interval of a reference. Returns 0 where too few like it were seen. */
int rsc_windows_distance(const struct rsc_windows *windows, uint32_t reference, double interval, struct rsc_chance *chance,
                         double *distance);

#endif
