/* own_file.c - see own_file.h. */
#include "base/own_file.h"

#include <dlfcn.h>
#include <link.h>
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
    struct link_map *map = NULL;
    /* The file that this code is in. The program has no name there; the name it was started by may be anything. */
    if (!dladdr1((const void *)(uintptr_t)&rsc_own_file, &self, (void **)&map, RTLD_DL_LINKMAP)) map = NULL;
    if (!realpath(map && map->l_name[0] ? map->l_name : "/proc/self/exe", folder)) return 0;
    char *slash = strrchr(folder, '/');
    if (slash) *slash = 0;
    for (size_t i = 0; i < sizeof places / sizeof *places; i++)
        if (snprintf(path, PATH_MAX, "%s%s/%s", folder, places[i], name) < PATH_MAX && access(path, R_OK) == 0)
            return 1;
    return 0;
}
