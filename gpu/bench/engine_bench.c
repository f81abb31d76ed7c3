/*
 * engine_bench.c - the library's engines on a file of addresses, from opening it to
 * the profile: the exact engine, the parallel one where this build has it, and the
 * gpu one (with REUSESCOPE_GPU_PLUGIN the path of the plugin). All profiles must be
 * the same.
 *
 *     engine_bench RAW64_FILE [WORKERS]
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <reusescope/engine.h>

#include "profile/profile_model.h"

#define BATCH (1u << 18)

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static uint64_t addr[BATCH], meta[BATCH];

/* NULL where this build has no such engine, or it fails. */
static struct rsc_profile *analyse(const char *path, const char *name, uint32_t workers, double *opening, double *seconds) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = name, .workers = workers, .attribute = 2};
    struct rsc_engine *engine;
    struct rsc_profile *profile = NULL;
    struct rsc_error error;
    FILE *file = fopen(path, "rb");
    if (!file) {
        perror(path);
        exit(1);
    }
    double start = now();
    int status = rsc_engine_new(&engine, &options, &error);
    *opening = now() - start;
    start = now();
    if (status == 0) {
        struct rsc_batch batch = {.addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
        while (status == 0 && (batch.count = (uint32_t)fread(addr, sizeof *addr, BATCH, file)) > 0)
            status = rsc_engine_push(engine, &batch, &error);
        if (status == 0) status = rsc_engine_finish(engine, &profile, &error);
        *seconds = now() - start;
        rsc_engine_free(engine);
    }
    if (status < 0) printf("    %-9s %s\n", name, error.message);
    fclose(file);
    return profile;
}

static int same(const struct rsc_profile *a, const struct rsc_profile *b) {
    return a->references == b->references && a->cold == b->cold && a->distinct == b->distinct &&
           a->rd_list_count == b->rd_list_count && a->ri_list_count == b->ri_list_count &&
           !memcmp(a->rd_list, b->rd_list, a->rd_list_count * sizeof *a->rd_list) &&
           !memcmp(a->ri_list, b->ri_list, a->ri_list_count * sizeof *a->ri_list);
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: engine_bench RAW64_FILE [WORKERS]\n");
        return 2;
    }
    const struct { const char *name; uint32_t workers; } engines[] = {
        {"exact", 1}, {"parallel", count > 2 ? (uint32_t)atoi(arguments[2]) : 1}, {"gpu", 1}, {"gpu", 1}};
    struct rsc_profile *truth = NULL;
    int wrong = 0;
    printf("%s, through the library\n", arguments[1]);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        double opening = 0, seconds = 0;
        struct rsc_profile *profile = analyse(arguments[1], engines[i].name, engines[i].workers, &opening, &seconds);
        if (!profile) continue;
        int differs = truth && !same(truth, profile);
        printf("    %-9s %u workers: %8.1f M refs/s, opened in %.3f s%s\n", engines[i].name, engines[i].workers,
               (double)profile->references / seconds / 1e6, opening, !truth ? "" : differs ? "  DIFFERENT" : ", the same profile");
        wrong |= differs;
        if (truth) rsc_profile_free(profile);
        else truth = profile;
    }
    rsc_profile_free(truth);
    return wrong;
}
