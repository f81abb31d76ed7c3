/* own_code.c - see own_code.h. */
#include "report/own_code.h"

#include <string.h>

#include "profile/foreign_files.h"
#include "report/ranking.h"

/* `module`: that of the machine code, which also has what was inlined. */
static int is_own(const struct rsc_place *place, const char *module) {
    if (module && (!strncmp(module, "/usr/lib", 8) || !strncmp(module, "/lib", 4))) return 0;
    return rsc_place_has_line(place) && !rsc_file_is_foreign(place->file);
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
