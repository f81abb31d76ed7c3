/*
 * gpu_load.c - finds and loads the GPU plugin: neither tool nor library is linked
 * with CUDA, so both run without it.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "distance/gpu/gpu_load.h"

/* Next to the tool or library this code is in (a build tree), or in the library folder of its prefix. */
static int find_plugin(char *path) {
    static const char *const places[] = {"", "/..", "/reusescope", "/../lib/reusescope",
                                         "/../" RSC_LIBDIR "/reusescope"};
    char folder[PATH_MAX];
    Dl_info self;
    /* The address of our own code; for a program started without a path, only /proc has the path. */
    if (!dladdr((const void *)(uintptr_t)&rsc_gpu_load, &self) || !self.dli_fname ||
        !realpath(strchr(self.dli_fname, '/') ? self.dli_fname : "/proc/self/exe", folder))
        return 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%s%s/" RSC_GPU_PLUGIN_FILE, folder, places[i]) < PATH_MAX &&
            access(path, R_OK) == 0)
            return 1;
    return 0;
}

int rsc_gpu_load(const struct rsc_gpu_plugin **plugin, struct rsc_error *error) {
    char path[PATH_MAX];
    const char *wanted = getenv(RSC_GPU_PLUGIN_VARIABLE);
    if (wanted) {
        if (snprintf(path, sizeof path, "%s", wanted) >= (int)sizeof path)
            return rsc_fail(error, RSC_EINVAL, RSC_GPU_PLUGIN_VARIABLE ": a name that is too long");
    } else if (!find_plugin(path)) {
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
