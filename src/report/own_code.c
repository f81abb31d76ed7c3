/* own_code.c - see own_code.h. */
#include "report/own_code.h"

#include <string.h>

#include "report/ranking.h"

static int starts_with_any(const char *text, const char *const *starts) {
    for (; *starts; starts++)
        if (!strncmp(text, *starts, strlen(*starts))) return 1;
    return 0;
}

/* `module`: that of the machine code, which also has what was inlined. */
static int is_own(const struct rsc_place *place, const char *module) {
    /* where distributions install headers and build libraries, and what Rust's library is compiled as */
    static const char *const foreign_files[] = {"/usr/", "/build/", "/rustc/", "../sysdeps/", NULL};
    static const char *const foreign_modules[] = {"/usr/lib", "/lib", NULL};
    static const char *const within[] = {"/include/c++/", "/.cargo/registry/", "/.rustup/", NULL};
    if (!rsc_place_has_line(place) || starts_with_any(place->file, foreign_files)) return 0;
    if (module && starts_with_any(module, foreign_modules)) return 0;
    for (const char *const *part = within; *part; part++)
        if (strstr(place->file, *part)) return 0;
    return 1;
}

const struct rsc_place *rsc_own_place(const struct rsc_code_row *row) {
    if (is_own(&row->place, row->place.module)) return &row->place;
    for (size_t i = 0; i < row->inlined_count; i++)
        if (is_own(&row->inlined_into[i], row->place.module)) return &row->inlined_into[i];
    return NULL;
}

const struct rsc_place *rsc_own_caller(const struct rsc_profile *profile, uint32_t context) {
    for (uint32_t steps = 0; context < profile->context_count && steps < profile->context_count; steps++) {
        const struct rsc_place *place = &profile->contexts[context].place;
        if (is_own(place, place->module)) return place;
        context = profile->contexts[context].parent;
    }
    return NULL;
}
