/*
 * ranks_load.c - finds and loads the MPI plugin: neither tool nor library is linked
 * with MPI, so both run without it.
 */
#include <dlfcn.h>
#include <stdint.h>

#include "base/fail.h"
#include "base/own_file.h"
#include "distance/ranks/ranks.h"

#define PLUGIN "libreusescope-mpi.so"

int rsc_ranks_of_mpi(struct rsc_ranks **ranks, struct rsc_error *error) {
    char path[PATH_MAX];
    *ranks = NULL;
    if (!rsc_own_file(PLUGIN, path))
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
