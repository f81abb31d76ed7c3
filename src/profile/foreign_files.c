/* foreign_files.c - see foreign_files.h. */
#include "profile/foreign_files.h"

#include <string.h>

int rsc_file_is_foreign(const char *file) {
    /* where distributions install headers and build libraries, and what Rust's library and what it uses are compiled as */
    static const char *const starts[] = {"/usr/", "/build/", "/rustc/", "/rust/deps/", "../sysdeps/"};
    static const char *const within[] = {"/include/c++/", "/.cargo/registry/", "/.rustup/"};
    for (size_t i = 0; i < sizeof starts / sizeof *starts; i++)
        if (!strncmp(file, starts[i], strlen(starts[i]))) return 1;
    for (size_t i = 0; i < sizeof within / sizeof *within; i++)
        if (strstr(file, within[i])) return 1;
    return 0;
}
