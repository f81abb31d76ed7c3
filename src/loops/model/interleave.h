/*
 * interleave.h - what the simulated and the modelled interleavings have in common.
 *
 * drift: a thread makes blocks of rsc_drift_block() references; the time each block
 * takes is normal around its length with variance `diffusion` per reference (cut
 * off at a tenth of the mean). Within a block references are evenly spaced. A
 * thread's lead after n references thus has variance diffusion * n.
 */
#ifndef RSC_LOOPS_MODEL_INTERLEAVE_H
#define RSC_LOOPS_MODEL_INTERLEAVE_H

#include "loops/model/loops_model.h"

#define RSC_BURST_DEFAULT 2000.0
/* That of independent draws, the least that threads of their own will run apart. */
#define RSC_DIFFUSION_DEFAULT 1.0
/* "drift:recorded": of two threads recorded under QEMU. How it was obtained: docs/measured/loops.md, "Against recordings". */
#define RSC_DIFFUSION_RECORDED 8000.0

/* At most so fast or slow that a block's pace has a spread of a half. */
static inline double rsc_drift_block(const struct rsc_interleave *interleave) {
    return interleave->diffusion > 64 ? 4 * interleave->diffusion : 256;
}

#endif
