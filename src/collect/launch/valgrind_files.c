/* valgrind_files.c - see valgrind_files.h. All files are in one folder, valgrind/, as Valgrind expects of its tools. */
#include "collect/launch/valgrind_files.h"

#include <limits.h>

#include "base/fail.h"
#include "collect/launch/launch.h"

const char *rsc_valgrind_tool_path(void) {
    static char path[PATH_MAX];
    return rsc_launch_own_file("valgrind/reusescope-amd64-linux", path);
}

const char *rsc_valgrind_launcher_path(void) {
    static char path[PATH_MAX];
    return rsc_launch_own_file("valgrind/launcher", path);
}

const char *rsc_valgrind_preload_path(void) {
    static char path[PATH_MAX];
    return rsc_launch_own_file("valgrind/libreusescope-heap.so", path);
}

int rsc_valgrind_check(struct rsc_error *error) {
    if (!rsc_valgrind_tool_path() || !rsc_valgrind_launcher_path())
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "valgrind/reusescope-amd64-linux is missing beside the tool: apt-get install valgrind, then "
                        "build it again (make)");
    return 0;
}
