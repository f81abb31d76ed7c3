/*
 * interleave.h - what the simulated and the modelled interleavings have in common.
 *
 * drift: a thread makes blocks of RSC_DRIFT_BLOCK references; the time each block
 * takes is normal around its length with variance `diffusion` per reference (cut
 * off at a tenth of the mean). Within a block references are evenly spaced. A
 * thread's lead after n references thus has variance diffusion * n.
 */
#ifndef RSC_LOOPS_INTERLEAVE_H
#define RSC_LOOPS_INTERLEAVE_H

#include "loops/loops_model.h"

#define RSC_DRIFT_BLOCK 256.0
#define RSC_BURST_DEFAULT 2000.0
/* Where it comes from: docs/loops.md, "Against reality". */
#define RSC_DIFFUSION_DEFAULT 1.0

#endif
