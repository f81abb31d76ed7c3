/*
 * footprint.h - computes reuse distances from reuse intervals with known times.
 *
 * A reference at time x is the last one to its line before time e if its next use
 * is later than e. The lines used between s and e are therefore
 *     sum over x in s..e of P(forward interval at x > e - x).
 * One P for the whole run would be StatStack's and AET's model, which assumes that
 * every part of the run is like the whole. Here the run is cut into slices, each with
 * its own P, estimated from the samples whose earlier use is in the slice.
 */
#ifndef RSC_LOOPS_MODEL_FOOTPRINT_H
#define RSC_LOOPS_MODEL_FOOTPRINT_H

#include <stddef.h>
#include <stdint.h>

struct rsc_reuse_sample {
    double end;      /* time of the later use, in references */
    double interval; /* 1 or more; 0: a first use */
    double weight;   /* references it represents */
    double distance; /* output: other lines used in between */
};

/*
 * Fills `distance` of all samples with an interval. `length`: references of the run;
 * lines_in_all: its distinct lines; cut[cut_count]: preferred ends of slices (phases),
 * ascending; `slices`: approximate maximum number of slices. Returns 0 or RSC_ENOMEM.
 */
int rsc_footprint_distances(struct rsc_reuse_sample *sample, size_t count, double length, double lines_in_all,
                            const double *cut, size_t cut_count, uint32_t slices);

#endif
