/* own_file.c - see own_file.h. */
#include "base/own_file.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int rsc_own_file(const char *name, char path[PATH_MAX]) {
    static const char *const places[] = {"", "/..", "/reusescope", "/../lib/reusescope",
                                         "/../" RSC_LIBDIR "/reusescope"};
    char folder[PATH_MAX];
    Dl_info self;
    /* The address of our own code; for a program started without a path, only /proc has the path. */
    if (!dladdr((const void *)(uintptr_t)&rsc_own_file, &self) || !self.dli_fname ||
        !realpath(strchr(self.dli_fname, '/') ? self.dli_fname : "/proc/self/exe", folder))
        return 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%s%s/%s", folder, places[i], name) < PATH_MAX && access(path, R_OK) == 0)
            return 1;
    return 0;
}
