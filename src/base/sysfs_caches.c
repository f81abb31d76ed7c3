/*
 * sysfs_caches.c - see sysfs_caches.h.
 *
 * The kernel describes each cache of a processor in a folder index0, index1, ...
 * with one short text file per property: level "2", type "Unified", size "1280K".
 */
#include "base/sysfs_caches.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SYSFS "/sys/devices/system/cpu/cpu0/cache"
#define ANOTHER_MACHINE "REUSESCOPE_TEST_CACHES" /* for tests: a folder to read instead (tests/caches) */

/* Reads the first word of root/indexN/property; "" if there is none. */
static void read_property(const char *root, unsigned index, const char *property, char word[32]) {
    char path[512];
    word[0] = 0;
    if (snprintf(path, sizeof path, "%s/index%u/%s", root, index, property) >= (int)sizeof path) return;
    FILE *file = fopen(path, "re");
    if (!file) return;
    if (fscanf(file, "%31s", word) != 1) word[0] = 0;
    fclose(file);
}

/* Parses "48K" to bytes; 0 if it is not a size. */
static uint64_t parse_size(const char *word) {
    char *end;
    if (!isdigit((unsigned char)word[0])) return 0;
    uint64_t size = strtoull(word, &end, 10);
    unsigned shift = *end == 'K' ? 10 : *end == 'M' ? 20 : *end == 'G' ? 30 : 0;
    if (shift) end++;
    return *end || size > UINT64_MAX >> (shift + 10) ? 0 : size << shift;
}

size_t rsc_sysfs_caches_read(struct rsc_sysfs_cache caches[RSC_SYSFS_CACHES_MAX], const char *root) {
    size_t count = 0;
    if (!root) root = getenv(ANOTHER_MACHINE);
    if (!root) root = SYSFS;
    for (unsigned index = 0; index < RSC_SYSFS_CACHES_MAX; index++) {
        char level[32], type[32], size[32], ways[32], line[32];
        read_property(root, index, "level", level);
        read_property(root, index, "type", type);
        read_property(root, index, "size", size);
        read_property(root, index, "ways_of_associativity", ways);
        read_property(root, index, "coherency_line_size", line);
        struct rsc_sysfs_cache found = {
            .level = (unsigned)strtoul(level, NULL, 10),
            .type = !strcmp(type, "Data")          ? 'D'
                    : !strcmp(type, "Instruction") ? 'I'
                    : !strcmp(type, "Unified")     ? 'U'
                                                   : 0,
            .size_bytes = parse_size(size),
            .ways = (uint32_t)parse_size(ways),
            .line_bytes = (uint32_t)parse_size(line),
        };
        if (found.level < 1 || found.level > 9 || !found.size_bytes || !found.type) continue;
        caches[count++] = found;
    }
    return count;
}
