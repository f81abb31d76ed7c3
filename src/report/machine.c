/*
 * machine.c - cache sizes from sysfs.
 *
 * The kernel describes each cache of a processor in a folder index0, index1, ...
 * with one short text file a property: level "2", type "Unified", size "1280K".
 */
#include "report/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSFS "/sys/devices/system/cpu/cpu0/cache"

/* The first word of root/indexN/property; "" if there is none. */
static void read_property(const char *root, unsigned index, const char *property, char word[32]) {
    char path[512];
    word[0] = 0;
    if (snprintf(path, sizeof path, "%s/index%u/%s", root, index, property) >= (int)sizeof path) return;
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (fscanf(file, "%31s", word) != 1) word[0] = 0;
    fclose(file);
}

/* "48K" in bytes; 0 for what is no size. */
static uint64_t parse_size(const char *word) {
    char *end;
    if (!isdigit((unsigned char)word[0])) return 0;
    uint64_t size = strtoull(word, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift) end++;
    return *end || size > UINT64_MAX >> (shift + 10) ? 0 : size << shift;
}

static int by_size(const void *left, const void *right) {
    const struct rsc_machine_level *a = left, *b = right;
    if (a->size_bytes != b->size_bytes) return a->size_bytes < b->size_bytes ? -1 : 1;
    return a->level < b->level ? -1 : a->level > b->level;
}

void rsc_machine_read(struct rsc_machine *machine, const char *root) {
    memset(machine, 0, sizeof *machine);
    if (!root) root = SYSFS;
    for (unsigned index = 0; index < 16 && machine->level_count < RSC_MACHINE_LEVELS_MAX; index++) {
        char level[32], type[32], size[32];
        read_property(root, index, "level", level);
        read_property(root, index, "type", type);
        read_property(root, index, "size", size);
        struct rsc_machine_level found = {.level = (unsigned)strtoul(level, NULL, 10), .size_bytes = parse_size(size)};
        int data = !strcmp(type, "Data"), unified = !strcmp(type, "Unified");
        if (found.level < 1 || found.level > 9 || !found.size_bytes || (!data && !unified)) continue;
        snprintf(found.name, sizeof found.name, "L%u%s", found.level, data ? "d" : "");
        machine->levels[machine->level_count++] = found;
    }
    qsort(machine->levels, machine->level_count, sizeof machine->levels[0], by_size);
}
