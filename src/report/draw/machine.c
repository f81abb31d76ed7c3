/* machine.c - see machine.h. */
#include "report/draw/machine.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/numbers.h"
#include "base/sysfs_caches.h"

static int by_size(const void *left, const void *right) {
    const struct rsc_machine_level *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? -1 : 1;
    return a->level < b->level ? -1 : a->level > b->level;
}

void rsc_machine_read(struct rsc_machine *machine, const char *root) {
    struct rsc_sysfs_cache caches[RSC_SYSFS_CACHES_MAX];
    size_t count = rsc_sysfs_caches_read(caches, root);
    memset(machine, 0, sizeof *machine);
    for (size_t i = 0; i < count && machine->level_count < RSC_MACHINE_LEVELS_MAX; i++) {
        if (caches[i].type == 'I') continue;
        struct rsc_machine_level *level = &machine->levels[machine->level_count++];
        level->level = caches[i].level;
        level->size_bytes = caches[i].size_bytes;
        snprintf(level->name, sizeof level->name, "L%u%s", level->level, caches[i].type == 'D' ? "d" : "");
    }
    qsort(machine->levels, machine->level_count, sizeof machine->levels[0], by_size);
}

int rsc_machine_parse_size(const struct rsc_machine *machine, const char *text, size_t length, uint64_t *bytes) {
    if (!rsc_parse_u64(text, length, bytes)) return *bytes ? 0 : -1;
    for (size_t i = 0; i < machine->level_count; i++) {
        const struct rsc_machine_level *level = &machine->levels[i];
        if (length < 2 || length > strlen(level->name) || strncasecmp(level->name, text, length)) continue;
        *bytes = level->size_bytes;
        return 0;
    }
    return -1;
}
