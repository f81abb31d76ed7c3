/*
 * engine_bench.c - the library's engines on a file of addresses, from opening it to
 * the profile: the exact engine, the parallel one where this build has it, and the
 * gpu one (with REUSESCOPE_GPU_PLUGIN the path of the plugin). All profiles must be
 * the same. Then two engines of each kind take the file side by side, for lines of 64
 * and of 4096 bytes: they share the device. At the end private stacks of eight threads
 * that take turns of 50 references, a quarter of them writes.
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
static struct rsc_profile *analyse(const char *path, const char *name, const char *model, uint32_t workers,
                                   double *opening, double *seconds) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .model = model, .workers = workers, .attribute = 2};
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
           a->invalidated == b->invalidated && a->sharing_count == b->sharing_count &&
           a->false_sharing_count == b->false_sharing_count &&
           (!a->sharing_count || !memcmp(a->sharing, b->sharing, a->sharing_count * sizeof *a->sharing)) &&
           a->rd_list_count == b->rd_list_count && a->ri_list_count == b->ri_list_count &&
           !memcmp(a->rd_list, b->rd_list, a->rd_list_count * sizeof *a->rd_list) &&
           !memcmp(a->ri_list, b->ri_list, a->ri_list_count * sizeof *a->ri_list);
}

/* Two engines at once, as `analyze --line 64,4096` has them. Returns 0, or -1 where there is no such engine. */
static int analyse_two(const char *path, const char *name, struct rsc_profile *profiles[2]) {
    struct rsc_engine *engines[2] = {NULL, NULL};
    struct rsc_batch batch = {.addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    struct rsc_error error;
    FILE *file = fopen(path, "rb");
    int status = file ? 0 : -1;
    for (int i = 0; status == 0 && i < 2; i++) {
        struct rsc_engine_options options = {
            .struct_bytes = sizeof options, .engine = name, .attribute = 2, .line_bytes = i ? 4096 : 64};
        status = rsc_engine_new(&engines[i], &options, &error);
    }
    while (status == 0 && (batch.count = (uint32_t)fread(addr, sizeof *addr, BATCH, file)) > 0)
        for (int i = 0; status == 0 && i < 2; i++) status = rsc_engine_push(engines[i], &batch, &error);
    for (int i = 0; status == 0 && i < 2; i++) status = rsc_engine_finish(engines[i], &profiles[i], &error);
    for (int i = 0; i < 2; i++) rsc_engine_free(engines[i]);
    if (file) fclose(file);
    return status;
}

static int two_line_sizes(const char *path) {
    struct rsc_profile *exact[2] = {NULL, NULL}, *gpu[2] = {NULL, NULL};
    int wrong = 0;
    if (analyse_two(path, "exact", exact) == 0 && analyse_two(path, "gpu", gpu) == 0) {
        wrong = !same(exact[0], gpu[0]) || !same(exact[1], gpu[1]);
        printf("    lines of 64 and 4096 bytes side by side: %s\n", wrong ? "DIFFERENT" : "the same profiles");
    }
    for (int i = 0; i < 2; i++) {
        rsc_profile_free(exact[i]);
        rsc_profile_free(gpu[i]);
    }
    return wrong;
}

static int private_stacks(const char *path) {
    static const char *const names[] = {"exact", "gpu", "gpu"};
    struct rsc_profile *truth = NULL;
    int wrong = 0;
    for (uint32_t i = 0; i < BATCH; i++)
        meta[i] = rsc_meta(8, (i * 2654435761u) >> 30 ? RSC_READ : RSC_WRITE, i / 50 % 8);
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        double opening = 0, seconds = 0;
        struct rsc_profile *profile = analyse(path, names[i], "private", 1, &opening, &seconds);
        if (!profile) continue;
        int differs = truth && !same(truth, profile);
        printf("    %-9s private stacks of 8 threads: %8.1f M refs/s, %.0f %% invalidated%s\n", names[i],
               (double)profile->references / seconds / 1e6,
               100.0 * (double)profile->invalidated / (double)profile->references,
               !truth    ? ""
               : differs ? "  DIFFERENT"
                         : ", the same profile");
        wrong |= differs;
        if (truth) rsc_profile_free(profile);
        else truth = profile;
    }
    rsc_profile_free(truth);
    return wrong;
}

int main(int count, char **arguments) {
    if (count < 2) {
        fprintf(stderr, "usage: engine_bench RAW64_FILE [WORKERS]\n");
        return 2;
    }
    const struct {
        const char *name;
        uint32_t workers;
    } engines[] = {{"exact", 1}, {"parallel", count > 2 ? (uint32_t)atoi(arguments[2]) : 1}, {"gpu", 1}, {"gpu", 1}};
    struct rsc_profile *truth = NULL;
    int wrong = 0;
    printf("%s, through the library\n", arguments[1]);
    for (size_t i = 0; i < sizeof engines / sizeof *engines; i++) {
        double opening = 0, seconds = 0;
        struct rsc_profile *profile =
            analyse(arguments[1], engines[i].name, NULL, engines[i].workers, &opening, &seconds);
        if (!profile) continue;
        int differs = truth && !same(truth, profile);
        printf("    %-9s %u workers: %8.1f M refs/s, opened in %.3f s%s\n", engines[i].name, engines[i].workers,
               (double)profile->references / seconds / 1e6, opening,
               !truth    ? ""
               : differs ? "  DIFFERENT"
                         : ", the same profile");
        wrong |= differs;
        if (truth) rsc_profile_free(profile);
        else truth = profile;
    }
    rsc_profile_free(truth);
    wrong |= two_line_sizes(arguments[1]);
    return wrong | private_stacks(arguments[1]);
}
