/*
 * points.h - chooses the references to sample.
 *
 * The sample is stratified by reference: each REFERENCE of the region gets points in
 * proportion to its number of instances, but at least RSC_POINTS_LEAST, spread evenly
 * over its instances with a random offset in each part. Points do not depend on the
 * number of threads, so a further number needs no new ones; only for references that
 * every thread makes for itself is the thread drawn again.
 */
#ifndef RSC_LOOPS_SEARCH_POINTS_H
#define RSC_LOOPS_SEARCH_POINTS_H

#include "base/rng.h"
#include "loops/nest/nest.h"

#define RSC_POINTS_LEAST 16u

struct rsc_point {
    uint32_t reference, segment;
    int64_t iteration; /* of the shared loops; 0 if there are none */
    int64_t inside;    /* references before it in that iteration (or in the segment) */
    int64_t address;   /* thread 0's copy */
    double who;        /* 0..1: selects the thread, if every thread runs it */
    double weight;     /* instances it represents, in one run of the segments */
};

struct rsc_points {
    struct rsc_point *point;
    size_t count;
    uint64_t *references; /* instances of each reference in one run of the segments */
    uint32_t *first;      /* [reference_count + 1]: points are in order of reference */
    struct rsc_nest **
        alone; /* owned, by reference: the nest that numbers its instances, one for neighbours; NULL for a further set */
    uint32_t reference_count;
};

/* `samples` 0: every instance. Returns 0, RSC_ENOMEM, or RSC_ELIMIT for more than 2^28 points. */
int rsc_points_new(struct rsc_points *out, struct rsc_nest *nest, uint32_t region, uint64_t line_bytes,
                   uint32_t samples, uint64_t seed, struct rsc_error *error);
/* A further set of points, wanted[r] of reference r (or all it has). `from` must outlive the call alone. */
int rsc_points_draw(struct rsc_points *out, const struct rsc_points *from, struct rsc_nest *nest,
                    const uint64_t *wanted, uint64_t seed, struct rsc_error *error);
void rsc_points_free(struct rsc_points *points);

#endif
