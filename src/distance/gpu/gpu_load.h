/* gpu_load.h - the GPU plugin, loaded when first needed; see gpu_plugin.h. */
#ifndef RSC_DISTANCE_GPU_GPU_LOAD_H
#define RSC_DISTANCE_GPU_GPU_LOAD_H

#include <reusescope/error.h>

#include "distance/gpu/gpu_plugin.h"

/* For tests only: a plugin of another name, such as the one that emulates a device. */
#define RSC_GPU_PLUGIN_VARIABLE "REUSESCOPE_GPU_PLUGIN"

/* *plugin stays valid until the process ends. Returns 0, or RSC_EUNSUPPORTED if it is missing or has another
 * version. */
int rsc_gpu_load(const struct rsc_gpu_plugin **plugin, struct rsc_error *error);

#endif
