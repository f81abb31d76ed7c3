/* machine.c - see machine.h. */
#include "base/machine.h"

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

/* Of recent servers at 2 to 4 GHz, as commonly published: by the level of a cache, and of memory. */
static const double typical_cycles[] = {0, 5, 15, 60};
#define TYPICAL_MEMORY_CYCLES 250

void rsc_machine_settle(struct rsc_machine *machine) {
    qsort(machine->levels, machine->level_count, sizeof machine->levels[0], by_size);
    size_t known = sizeof typical_cycles / sizeof *typical_cycles;
    for (size_t i = 0; i < machine->level_count; i++) {
        unsigned level = machine->levels[i].level;
        machine->levels[i].cycles = typical_cycles[level < known ? level : known - 1];
    }
    machine->memory_cycles = TYPICAL_MEMORY_CYCLES;
    machine->latencies = RSC_LATENCIES_TYPICAL;
}

const char *rsc_machine_called(const struct rsc_machine *machine) {
    return machine->name[0] && strcmp(machine->name, "this") ? machine->name : "this machine";
}

const char *rsc_latencies_words(const struct rsc_machine *machine) {
    static const char *const words[] = {"typical", "measured", "published"};
    return words[machine->latencies];
}

int rsc_machine_latency_path(char path[RSC_MACHINE_PATH]) {
    const char *folder = getenv("REUSESCOPE_MACHINES"), *home = getenv("HOME");
    int length = -1;
    if (folder && *folder) length = snprintf(path, RSC_MACHINE_PATH, "%s/this.latency", folder);
    else if (home && *home && !getenv("REUSESCOPE_TEST_CACHES")) /* a test's machine has not been measured */
        length = snprintf(path, RSC_MACHINE_PATH, "%s/.config/reusescope/machines/this.latency", home);
    return length > 0 && length < RSC_MACHINE_PATH ? 0 : -1;
}

int rsc_machine_read_latencies(struct rsc_machine *machine, const char *path) {
    double cycles[RSC_MACHINE_LEVELS_MAX] = {0}, memory = 0, value;
    char line[128], name[16];
    FILE *file = fopen(path, "re");
    if (!file) return 0;
    for (int lines = 0; lines < 100 && fgets(line, sizeof line, file); lines++) {
        if (sscanf(line, "%15s %lf", name, &value) != 2 || !(value > 0) || value > 1e6) continue;
        for (size_t i = 0; i < machine->level_count; i++)
            if (!strcasecmp(name, machine->levels[i].name)) cycles[i] = value;
        if (!strcmp(name, "memory")) memory = value;
    }
    fclose(file);
    for (size_t i = 0; i < machine->level_count; i++)
        if (!(cycles[i] > 0)) return 0;
    if (!(memory > 0)) return 0;
    for (size_t i = 0; i < machine->level_count; i++) machine->levels[i].cycles = cycles[i];
    machine->memory_cycles = memory;
    machine->latencies = RSC_LATENCIES_MEASURED;
    return 1;
}

double rsc_machine_cycles_beyond(const struct rsc_machine *machine, uint64_t bytes) {
    static const struct rsc_machine usual = {
        .levels = {{"L1d", 1, 64 << 10, 5}, {"L2", 2, 2 << 20, 15}, {"L3", 3, 32 << 20, 60}},
        .level_count = 3,
        .memory_cycles = TYPICAL_MEMORY_CYCLES};
    if (!machine || !machine->level_count) machine = &usual;
    for (size_t i = 0; i < machine->level_count; i++)
        if (machine->levels[i].size_bytes > bytes) return machine->levels[i].cycles;
    return machine->memory_cycles;
}

void rsc_machine_read(struct rsc_machine *machine, const char *root) {
    struct rsc_sysfs_cache caches[RSC_SYSFS_CACHES_MAX];
    size_t count = rsc_sysfs_caches_read(caches, root);
    memset(machine, 0, sizeof *machine);
    strcpy(machine->name, "this");
    for (size_t i = 0; i < count && machine->level_count < RSC_MACHINE_LEVELS_MAX; i++) {
        if (caches[i].type == 'I') continue;
        struct rsc_machine_level *level = &machine->levels[machine->level_count++];
        level->level = caches[i].level;
        level->size_bytes = caches[i].size_bytes;
        snprintf(level->name, sizeof level->name, "L%u%s", level->level, caches[i].type == 'D' ? "d" : "");
    }
    rsc_machine_settle(machine);
    char path[RSC_MACHINE_PATH];
    if (!root && !rsc_machine_latency_path(path)) rsc_machine_read_latencies(machine, path);
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
