/* replaced_files.c - see replaced_files.h. */
#include "cmd/replaced_files.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define LEAST 0.001        /* of all references, to be worth a warning */
#define OVERLAPS_MOST 1000 /* that are looked at for each row */

static int by_start(const void *left, const void *right) {
    const struct rsc_mapping_row *a = *(const struct rsc_mapping_row *const *)left;
    const struct rsc_mapping_row *b = *(const struct rsc_mapping_row *const *)right;
    return a->start < b->start ? -1 : a->start > b->start;
}

static uint64_t end_of(const struct rsc_mapping_row *map) { return map->start + map->bytes; }

/* Of the mappings, in order, those that overlap one of another file go to `kept`, which has room for twice as many. */
static size_t find_overlapping(const struct rsc_mapping_row *const *maps, size_t count,
                               const struct rsc_mapping_row **kept) {
    size_t found = 0;
    const struct rsc_mapping_row *reaches = NULL; /* of those so far, the one that ends last */
    for (size_t i = 0; i < count; i++) {
        const struct rsc_mapping_row *map = maps[i];
        if (reaches && map->start < end_of(reaches) && strcmp(map->path, reaches->path) != 0) {
            if (!found || kept[found - 1] != reaches) kept[found++] = reaches;
            kept[found++] = map;
        }
        if (!reaches || end_of(map) > end_of(reaches)) reaches = map;
    }
    return found;
}

/* Another file that was at the pc; NULL: none. */
static const char *earlier_at(const struct rsc_place *place, const struct rsc_mapping_row *const *maps, size_t count) {
    for (size_t i = 0; i < count && place->module; i++)
        if (place->pc - maps[i]->start < maps[i]->bytes && strcmp(maps[i]->path, place->module) != 0)
            return maps[i]->path;
    return NULL;
}

static void warn(const struct rsc_profile *profile, const struct rsc_mapping_row *const *maps, size_t count,
                 const struct rsc_log *log) {
    const char *earlier = NULL, *name = NULL;
    double references = 0;
    for (size_t i = 0; i < profile->code_count; i++) {
        const char *found = earlier_at(&profile->code[i].place, maps, count);
        if (!found) continue;
        references += (double)profile->code[i].references;
        if (!earlier) earlier = found, name = profile->code[i].place.module;
    }
    if (!earlier || references < LEAST * (double)profile->references) return;
    rsc_log_line(log, RSC_LOG_WARNING,
                 "%s was loaded where %s had been: up to %.3g %% of references may be under the names of the wrong one",
                 name, earlier, 100 * references / (double)profile->references);
}

int rsc_warn_of_replaced_files(const struct rsc_profile *profile, const struct rsc_log *log) {
    const size_t most = profile->mapping_count;
    size_t count = 0;
    if (!most) return 0;
    const struct rsc_mapping_row **maps = calloc(3 * most, sizeof *maps);
    if (!maps) return RSC_ENOMEM;
    for (size_t m = 0; m < most; m++) /* only programs and libraries have build ids */
        if (profile->mappings[m].build_id_bytes) maps[count++] = &profile->mappings[m];
    qsort(maps, count, sizeof *maps, by_start);
    const size_t found = find_overlapping(maps, count, maps + most);
    if (found) warn(profile, maps + most, found < OVERLAPS_MOST ? found : OVERLAPS_MOST, log);
    free(maps);
    return 0;
}
