/* machine_caches.c - see machine_caches.h. */
#include "simulate/cache/machine_caches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/sysfs_caches.h"

#define LINES_MOST 1000u /* of a file: /dev/zero has no end */

/* The kernel may report ways that do not divide a shared or sliced last level: use the nearest number that does. */
static uint32_t fitting_ways(const struct rsc_sysfs_cache *cache, uint32_t line) {
    uint64_t blocks = cache->size_bytes / line;
    uint32_t ways = cache->ways ? cache->ways : 16;
    while (ways > 1 && blocks % ways) ways--;
    return ways;
}

int rsc_machine_caches_add_this(struct rsc_sim_config *config, const char *root, struct rsc_error *error) {
    struct rsc_sysfs_cache caches[RSC_SYSFS_CACHES_MAX];
    size_t count = rsc_sysfs_caches_read(caches, root), added = 0;
    for (size_t i = 0; i < count; i++) {
        struct rsc_cache_config cache;
        char name[8], text[64];
        uint32_t line = caches[i].line_bytes ? caches[i].line_bytes : 64;
        if (caches[i].level > RSC_SIM_LEVELS_MAX) continue;
        snprintf(name, sizeof name, "l%u%s", caches[i].level % 10,
                 caches[i].level > 1 || caches[i].type == 'U' ? ""
                 : caches[i].type == 'I'                      ? "i"
                                                              : "d");
        snprintf(text, sizeof text, "%llu,%u,%u", (unsigned long long)caches[i].size_bytes,
                 fitting_ways(&caches[i], line), line);
        int status = rsc_cache_config_parse(&cache, name, text, error);
        if (!status) status = rsc_sim_config_add(config, &cache, error);
        if (status < 0) return status;
        added++;
    }
    return added ? 0 : rsc_fail(error, RSC_EUNSUPPORTED, "--machine this: the kernel reports no caches");
}

/* What a line "latencies published l1d=4 l2=12 memory=280" says. */
struct latencies {
    enum rsc_latencies from; /* RSC_LATENCIES_TYPICAL: there is no such line */
    unsigned line;
    size_t count;
    struct {
        char name[16];
        double cycles;
    } list[RSC_MACHINE_LEVELS_MAX + 2]; /* every cache, that of instructions too, and memory */
};

/* A machine file, as far as it has been read. */
struct machine_file {
    const char *path;
    struct rsc_sim_config *config;
    struct latencies latencies;
};

static int add_latency(struct latencies *latencies, const char *word) {
    const char *equals = strchr(word, '=');
    size_t length = equals ? (size_t)(equals - word) : 0;
    double cycles;
    if (!length || length >= sizeof latencies->list[0].name ||
        latencies->count == sizeof latencies->list / sizeof *latencies->list)
        return -1;
    for (size_t i = 0; i < latencies->count; i++)
        if (!strncasecmp(latencies->list[i].name, word, length) && !latencies->list[i].name[length]) return -1;
    if (rsc_parse_fraction(equals + 1, strlen(equals + 1), &cycles) < 0 || !(cycles > 0) || cycles > 1e6) return -1;
    memcpy(latencies->list[latencies->count].name, word, length);
    latencies->list[latencies->count].name[length] = 0;
    latencies->list[latencies->count++].cycles = cycles;
    return 0;
}

static int read_latencies(struct machine_file *file, char *rest, unsigned number, struct rsc_error *error) {
    struct latencies *latencies = &file->latencies;
    char *word = strtok_r(rest, " \t\r", &rest);
    *latencies = (struct latencies){.line = number};
    if (word && !strcmp(word, "published")) latencies->from = RSC_LATENCIES_PUBLISHED;
    if (word && !strcmp(word, "measured")) latencies->from = RSC_LATENCIES_MEASURED;
    int good = latencies->from != RSC_LATENCIES_TYPICAL;
    while (good && (word = strtok_r(NULL, " \t\r", &rest))) good = !add_latency(latencies, word);
    if (good) return 0;
    return rsc_fail(error, RSC_EFORMAT,
                    "%s: line %u: not latencies published|measured NAME=CYCLES ... memory=CYCLES, each name once",
                    file->path, number);
}

static int read_line(struct machine_file *file, char *line, unsigned number, struct rsc_error *error) {
    const char *path = file->path;
    struct rsc_sim_config *config = file->config;
    struct rsc_cache_config cache;
    struct rsc_error inner;
    char *name, *text, *rest;
    line[strcspn(line, "#\n")] = 0;
    name = strtok_r(line, " \t\r", &rest);
    if (!name) return 0;
    if (!strcmp(name, "latencies")) return read_latencies(file, rest, number, error);
    text = strtok_r(NULL, " \t\r", &rest);
    if (!text || strtok_r(NULL, " \t\r", &rest))
        return rsc_fail(error, RSC_EFORMAT, "%s: line %u: not NAME SIZE,WAYS,BLOCK[,WORD...]", path, number);
    int status;
    if (rsc_tlb_name_is(name)) {
        struct rsc_tlb_config tlb;
        status = rsc_tlb_config_parse(&tlb, name, text, &inner);
        if (!status) status = rsc_sim_config_add_tlb(config, &tlb, &inner);
    } else {
        status = rsc_cache_config_parse(&cache, name, text, &inner);
        if (!status) status = rsc_sim_config_add(config, &cache, &inner);
    }
    return status < 0 ? rsc_fail(error, RSC_EFORMAT, "%s: line %u: %.300s", path, number, inner.message) : 0;
}

static int read_file(struct machine_file *machine, FILE *file, struct rsc_error *error) {
    char line[512];
    const char *path = machine->path;
    size_t before = machine->config->count;
    int status = 0;
    for (unsigned number = 1; !status && fgets(line, sizeof line, file); number++)
        status = number <= LINES_MOST
                     ? read_line(machine, line, number, error)
                     : rsc_fail(error, RSC_EFORMAT, "%s: more than %u lines: not a list of caches", path, LINES_MOST);
    if (!status && ferror(file)) status = rsc_fail_errno(error, errno, path);
    if (!status && machine->config->count == before)
        status = rsc_fail(error, RSC_EFORMAT, "%s: no caches listed", path);
    return status;
}

/* Opens NAME.caches in a folder. NULL: *reason is why one that is there could not be opened, or stays as it is. */
static FILE *open_in(int *reason, const char *folder, const char *below, const char *name, char *path, size_t room) {
    if (!folder || !*folder) return NULL;
    if (snprintf(path, room, "%s%s/%s.caches", folder, below, name) >= (int)room) return NULL;
    FILE *file = fopen(path, "re");
    if (!file && errno != ENOENT && errno != ENOTDIR) *reason = errno;
    return file;
}

/* Finds and reads the file of a machine; `path` is where. */
static int find_and_read(struct machine_file *machine, const char *name, const char *installed, char path[4096],
                         struct rsc_error *error) {
    const size_t room = 4096;
    FILE *file;
    int reason = 0;
    if (strchr(name, '/')) {
        snprintf(path, room, "%s", name);
        file = fopen(path, "re");
        if (!file) return rsc_fail_errno(error, errno, path);
    } else {
        file = open_in(&reason, getenv("REUSESCOPE_MACHINES"), "", name, path, room);
        if (!file && !reason) file = open_in(&reason, getenv("HOME"), "/.config/reusescope/machines", name, path, room);
        if (!file && !reason) file = open_in(&reason, installed, "", name, path, room);
        if (reason) return rsc_fail_errno(error, reason, path);
        if (!file)
            return rsc_fail(
                error, RSC_EINVAL,
                "--machine %.60s: no such machine: this, a path, or NAME for NAME.caches (man reusescope-sim)", name);
    }
    machine->path = path;
    int status = read_file(machine, file, error);
    fclose(file);
    return status;
}

int rsc_machine_caches_add(struct rsc_sim_config *config, const char *name, const char *installed,
                           struct rsc_error *error) {
    char path[4096];
    struct machine_file file = {.config = config};
    if (!strcmp(name, "this")) return rsc_machine_caches_add_this(config, NULL, error);
    return find_and_read(&file, name, installed, path, error);
}

/* ---- for reports ---- */

static void take_levels(struct rsc_machine *machine, const struct rsc_sim_config *config) {
    for (size_t i = 0; i < config->count && machine->level_count < RSC_MACHINE_LEVELS_MAX; i++) {
        const struct rsc_cache_config *cache = &config->caches[i];
        /* of alternatives, the first */
        if (!(cache->kinds & RSC_KIND_BIT(RSC_READ)) || rsc_sim_config_primary(config, cache->name) != cache) continue;
        struct rsc_machine_level *level = &machine->levels[machine->level_count++];
        snprintf(level->name, sizeof level->name, "L%s", cache->name + 1);
        level->level = cache->level;
        level->size_bytes = cache->size_bytes;
    }
}

/* The cycles of a cache or of memory; 0: not in the list. */
static double cycles_of(const struct latencies *latencies, const char *name) {
    for (size_t i = 0; i < latencies->count; i++)
        if (!strcasecmp(latencies->list[i].name, name)) return latencies->list[i].cycles;
    return 0;
}

static int take_latencies(struct rsc_machine *machine, const struct machine_file *file, struct rsc_error *error) {
    const struct latencies *latencies = &file->latencies;
    const char *missing = cycles_of(latencies, "memory") > 0 ? NULL : "memory";
    if (latencies->from == RSC_LATENCIES_TYPICAL) return 0;
    for (size_t i = 0; i < machine->level_count && !missing; i++) {
        machine->levels[i].cycles = cycles_of(latencies, machine->levels[i].name);
        if (!(machine->levels[i].cycles > 0)) missing = machine->levels[i].name;
    }
    if (missing)
        return rsc_fail(error, RSC_EFORMAT, "%s: line %u: latencies of all data caches and memory are needed: no %s",
                        file->path, latencies->line, missing);
    machine->memory_cycles = cycles_of(latencies, "memory");
    machine->latencies = latencies->from;
    return 0;
}

int rsc_machine_named(struct rsc_machine *machine, const char *name, const char *installed, struct rsc_error *error) {
    struct rsc_sim_config config = {0};
    struct machine_file file = {.config = &config};
    char path[4096];
    const char *slash = strrchr(name, '/');
    if (!strcmp(name, "this")) {
        rsc_machine_read(machine, NULL);
        return machine->level_count ? 0
                                    : rsc_fail(error, RSC_EUNSUPPORTED, "--machine this: the kernel reports no caches");
    }
    int status = find_and_read(&file, name, installed, path, error);
    if (status < 0) return status;
    memset(machine, 0, sizeof *machine);
    snprintf(machine->name, sizeof machine->name, "%s", slash ? slash + 1 : name);
    char *suffix = strstr(machine->name, ".caches");
    if (suffix) *suffix = 0;
    take_levels(machine, &config);
    rsc_machine_settle(machine);
    if (!machine->level_count) return rsc_fail(error, RSC_EFORMAT, "%s: no caches for data listed", path);
    return take_latencies(machine, &file, error);
}
