/*
 * interleave.h - definitions shared by the simulated and the modelled interleavings.
 *
 * drift: a thread makes blocks of rsc_drift_block() references; the time of a block is
 * normal, with its length as mean and variance `diffusion` per reference (cut off at a
 * tenth of the mean). Within a block references are evenly spaced. A thread's lead
 * after n references thus has variance diffusion * n.
 */
#ifndef RSC_LOOPS_MODEL_INTERLEAVE_H
#define RSC_LOOPS_MODEL_INTERLEAVE_H

#include <math.h>

#include "loops/model/loops_model.h"

#define RSC_BURST_DEFAULT 2000.0
/* What fits threads on as many free cores: docs/measured/loops.md, "On free cores". Independent draws have 1. */
#define RSC_DIFFUSION_DEFAULT 30.0
/* "drift:recorded": of two threads recorded under QEMU. How it was obtained: docs/measured/loops.md, "Against recordings". */
#define RSC_DIFFUSION_RECORDED 8000.0

/* The block length that limits the standard deviation of a block's pace to a half. */
static inline double rsc_drift_block(const struct rsc_interleave *interleave) {
    return interleave->diffusion > 64 ? 4 * interleave->diffusion : 256;
}
/* Variance of a thread's progress in a time of `ago` from the start of a block, within which the pace is even. */
static inline double rsc_drift_variance(const struct rsc_interleave *interleave, double ago) {
    double block = rsc_drift_block(interleave);
    return interleave->diffusion * ago * (ago < block ? ago / block : 1);
}
/* The same from a moment anywhere in a block: part of the time is in the block after it. */
static inline double rsc_drift_variance_between(const struct rsc_interleave *interleave, double ago) {
    double block = rsc_drift_block(interleave);
    return interleave->diffusion * (ago < block ? ago * ago / block * (1 - ago / (3 * block)) : ago - block / 3);
}
/*
 * The time that a thread took for its last `references`, at a moment chosen without regard to it, beyond the usual time:
 * such moments fall into slow blocks more often, as these last longer.
 */
static inline double rsc_drift_slowness(const struct rsc_interleave *interleave, double references) {
    double block = rsc_drift_block(interleave), in_block = fmin(references, block);
    return interleave->diffusion / block * (in_block - in_block * in_block / (2 * block));
}

#endif
