/* machine_caches.c - see machine_caches.h. */
#include "simulate/cache/machine_caches.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
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

static int read_line(struct rsc_sim_config *config, char *line, const char *path, unsigned number,
                     struct rsc_error *error) {
    struct rsc_cache_config cache;
    struct rsc_error inner;
    char *name, *text, *rest;
    line[strcspn(line, "#\n")] = 0;
    name = strtok_r(line, " \t\r", &rest);
    if (!name) return 0;
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

static int read_file(struct rsc_sim_config *config, FILE *file, const char *path, struct rsc_error *error) {
    char line[512];
    size_t before = config->count;
    int status = 0;
    for (unsigned number = 1; !status && fgets(line, sizeof line, file); number++)
        status = number <= LINES_MOST
                     ? read_line(config, line, path, number, error)
                     : rsc_fail(error, RSC_EFORMAT, "%s: more than %u lines: not a list of caches", path, LINES_MOST);
    if (!status && ferror(file)) status = rsc_fail_errno(error, errno, path);
    if (!status && config->count == before) status = rsc_fail(error, RSC_EFORMAT, "%s: no caches listed", path);
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

int rsc_machine_caches_add(struct rsc_sim_config *config, const char *name, const char *installed,
                           struct rsc_error *error) {
    char path[4096];
    FILE *file;
    int reason = 0;
    if (!strcmp(name, "this")) return rsc_machine_caches_add_this(config, NULL, error);
    if (strchr(name, '/')) {
        snprintf(path, sizeof path, "%s", name);
        file = fopen(path, "re");
        if (!file) return rsc_fail_errno(error, errno, path);
    } else {
        file = open_in(&reason, getenv("REUSESCOPE_MACHINES"), "", name, path, sizeof path);
        if (!file && !reason)
            file = open_in(&reason, getenv("HOME"), "/.config/reusescope/machines", name, path, sizeof path);
        if (!file && !reason) file = open_in(&reason, installed, "", name, path, sizeof path);
        if (reason) return rsc_fail_errno(error, reason, path);
        if (!file)
            return rsc_fail(
                error, RSC_EINVAL,
                "--machine %.60s: no such machine: this, a path, or NAME for NAME.caches (man reusescope-sim)", name);
    }
    int status = read_file(config, file, path, error);
    fclose(file);
    return status;
}
