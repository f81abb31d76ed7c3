/* gpu_losses.h - lost lines that the device found in private stacks, into the tables of sharing. */
#ifndef RSC_MULTICORE_GPU_LOSSES_H
#define RSC_MULTICORE_GPU_LOSSES_H

#include "distance/gpu/gpu_plugin.h"
#include "multicore/sharing.h"

/* Counts them in the order of the references, as coherent_stacks.h does; objects[i] is the object of outcome i, NULL: not
 * known. */
void rsc_gpu_count_losses(struct rsc_sharing *sharing, const struct rsc_gpu_outcomes *outcomes,
                          const uint64_t *objects);

#endif
