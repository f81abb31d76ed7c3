/*
 * gpu_load.c - finds and loads the GPU plugin: neither tool nor library is linked
 * with CUDA, so both run without it.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/own_file.h"
#include "distance/gpu/gpu_load.h"

int rsc_gpu_load(const struct rsc_gpu_plugin **plugin, struct rsc_error *error) {
    char path[PATH_MAX];
    const char *wanted = getenv(RSC_GPU_PLUGIN_VARIABLE);
    if (wanted) {
        if (snprintf(path, sizeof path, "%s", wanted) >= (int)sizeof path)
            return rsc_fail(error, RSC_EINVAL, RSC_GPU_PLUGIN_VARIABLE ": a name that is too long");
    } else if (!rsc_own_file(RSC_GPU_PLUGIN_FILE, path)) {
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "gpu engine: the plugin " RSC_GPU_PLUGIN_FILE
                        " is missing: build it where there is CUDA 12 or newer (make gpu)");
    }
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library) return rsc_fail(error, RSC_EUNSUPPORTED, "gpu engine: the plugin cannot be loaded: %s", dlerror());
    rsc_gpu_plugin_function get = (rsc_gpu_plugin_function)(uintptr_t)dlsym(library, RSC_GPU_PLUGIN_SYMBOL);
    *plugin = get ? get() : NULL;
    if (!*plugin || (*plugin)->version != RSC_GPU_PLUGIN_VERSION || (*plugin)->struct_bytes != sizeof **plugin)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "gpu engine: %s is not the plugin of this tool: build it again (make gpu)", path);
    return 0;
}
