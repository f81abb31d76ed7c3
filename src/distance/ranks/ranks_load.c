/*
 * ranks_load.c - finds and loads the MPI plugin: neither tool nor library is linked
 * with MPI, so both run without it.
 */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "distance/ranks/ranks.h"

#define PLUGIN "libreusescope-mpi.so"

/* Next to the tool or library this code is in (a build tree), or in the library folder of its prefix. */
static int find_plugin(char *path) {
    static const char *const places[] = {"", "/..", "/reusescope", "/../lib/reusescope",
                                         "/../" RSC_LIBDIR "/reusescope"};
    char folder[PATH_MAX];
    Dl_info self;
    /* The address of our own code; for a program started without a path, only /proc has the path. */
    if (!dladdr((const void *)(uintptr_t)&rsc_ranks_of_mpi, &self) || !self.dli_fname ||
        !realpath(strchr(self.dli_fname, '/') ? self.dli_fname : "/proc/self/exe", folder))
        return 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%s%s/" PLUGIN, folder, places[i]) < PATH_MAX && access(path, R_OK) == 0) return 1;
    return 0;
}

int rsc_ranks_of_mpi(struct rsc_ranks **ranks, struct rsc_error *error) {
    char path[PATH_MAX];
    *ranks = NULL;
    if (!find_plugin(path))
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "engine mpi: " PLUGIN
                        " is missing: apt-get install libopenmpi-dev openmpi-bin, then build again (make)");
    /* Global: MPI loads its own components, which need its symbols. It is never unloaded. */
    void *library = dlopen(path, RTLD_NOW | RTLD_GLOBAL | RTLD_NODELETE);
    if (!library)
        return rsc_fail(error, RSC_EUNSUPPORTED, "engine mpi: the MPI library cannot be loaded: %s", dlerror());
    rsc_mpi_plugin_open_t *open_ranks = (rsc_mpi_plugin_open_t *)(uintptr_t)dlsym(library, "rsc_mpi_plugin_open");
    if (!open_ranks) return rsc_fail(error, RSC_EUNSUPPORTED, "engine mpi: %s is not the plugin of this tool", path);
    return open_ranks(RSC_MPI_PLUGIN_VERSION, ranks, error);
}
