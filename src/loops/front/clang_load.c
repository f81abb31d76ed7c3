/* clang_load.c - loads libclang 19 with dlopen. */
#include "loops/front/clang_load.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/fail.h"

#define ADDRESS_BYTES ((size_t)300 << 20) /* libclang and its libraries map as much */

static const char *const names[] = {"libclang-19.so.19", "libclang-19.so.1", "libclang-19.so",
                                    "/usr/lib/llvm-19/lib/libclang.so"};

/* Opens the library under one of its names. NULL: then reason says why one that is there could not be loaded, or is "". */
static void *open_library(char *reason, size_t room) {
    void *library = NULL;
    reason[0] = '\0';
    for (size_t i = 0; i < sizeof names / sizeof *names && !library; i++) {
        library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        const char *said = library ? NULL : dlerror();
        if (!library && !reason[0] && !(said && strstr(said, "No such file")))
            snprintf(reason, room, "%s", said ? said : "out of memory");
    }
    return library;
}

/* Whether there is no address space for it: the loader's words for that are the same as for files that cannot be mapped. */
static int lacks_memory(void) {
    void *room = mmap(NULL, ADDRESS_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (room == MAP_FAILED) return 1;
    munmap(room, ADDRESS_BYTES);
    return 0;
}

int rsc_clang_load(struct rsc_clang *clang, struct rsc_error *error) {
    char reason[300];
    void *library = open_library(reason, sizeof reason);
    if (!library && reason[0] && lacks_memory())
        return rsc_fail(error, RSC_ENOMEM, "out of memory (libclang 19 needs 0.3 GiB of address space: %s)", reason);
    if (!library && reason[0]) return rsc_fail(error, RSC_EIO, "libclang 19 cannot be loaded: %s", reason);
    if (!library)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "C source needs libclang 19: apt-get install libclang-19-dev (a .loop file needs none)");
#define TAKE(name)                                                                                                    \
    {                                                                                                                 \
        void *symbol = dlsym(library, "clang_" #name);                                                                \
        if (!symbol)                                                                                                  \
            return rsc_fail(error, RSC_EUNSUPPORTED, "libclang has no clang_" #name ": it is older than version 19"); \
        memcpy(&clang->name, &symbol, sizeof symbol);                                                                 \
    }
    RSC_CLANG_FUNCTIONS(TAKE)
#undef TAKE
    return 0;
}
