/*
 * bench_feather_bars.c - how often featherlight's error bars hold the truth:
 *
 *     bench_feather_bars FOLDER [dev|held [SEEDS [ACCESSES [SAMPLES [LINE [TRACE]]]]]]
 *
 * Of each trace in FOLDER/list (bench/featherlight-traces makes it) the first ACCESSES
 * (default 2,000,000) loads and stores are analysed with seeds 1 to SEEDS (default 500)
 * at a period that gives SAMPLES samples (default 5,000). A point is a size of 2 an
 * octave, from 1 word (or line: LINE is 8 or 64) to the footprint, at which the true miss ratio is not 0 or 1.
 * Printed: the share of (seed, point) pairs whose bar of 90 % holds the true miss
 * ratio, of those whose bar holds what the model makes of the exact intervals (the
 * sampling's share of the error alone), the mean half width, and how far estimates are off in the mean. With TRACE, of that trace
 * alone and point by point: the truth, what the model makes of the exact intervals, mean and standard
 * deviation of the estimates, mean bar, share held.
 */
#include <math.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "bench/measure.h"
#include "bench/numbers.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "profile/ri_models.h"

#define TRACES_MAX 200u

static uint64_t *addr, *meta, *pc;
static uint32_t count, most;
static int has_pc;
static uint32_t line_bytes = 8;

static void load(const char *path) {
    struct rsc_filter filter = RSC_FILTER_ALL;
    struct rsc_trace *trace;
    struct rsc_error error;
    const struct rsc_batch *batch;
    filter.kinds = RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE);
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &filter};
    need(rsc_trace_open(&trace, path, &options, &error), path);
    count = 0;
    while (count < most && rsc_trace_next(trace, &batch, &error) > 0)
        for (uint32_t i = 0; i < batch->count && count < most; i++, count++) {
            has_pc = batch->pc != NULL;
            addr[count] = batch->addr[i];
            meta[count] = batch->meta[i];
            pc[count] = has_pc ? batch->pc[i] : 0;
        }
    rsc_trace_close(trace);
}

static struct rsc_profile *analyse(const char *engine_name, uint64_t seed, uint32_t line) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = engine_name, .seed = seed, .line_bytes = line, .attribute = 2};
    struct rsc_batch batch = {
        .count = count, .addr = addr, .meta = meta, .pc = has_pc ? pc : NULL, .instructions = RSC_UNKNOWN};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    need(rsc_engine_new(&engine, &options, &error), engine_name);
    need(rsc_engine_push(engine, &batch, &error), "push");
    need(rsc_engine_finish(engine, &profile, &error), "finish");
    rsc_engine_free(engine);
    return profile;
}

static struct rsc_profile *model_of(const struct rsc_profile *exact) {
    struct rsc_ri_counts counts = {.ri = &exact->ri, .cold = exact->cold, .distinct = exact->distinct};
    struct rsc_profile *profile = rsc_profile_new();
    struct rsc_ri_model model;
    need(profile ? 0 : -1, "profile");
    profile->references = exact->references;
    profile->cold = profile->distinct = exact->cold;
    profile->made.line_bytes = line_bytes;
    need(rsc_ri_model_init(&model, RSC_RI_AET, &counts), "model");
    need(rsc_ri_model_rd(&model, &profile->rd), "model");
    need(rsc_profile_derive_mrc(profile), "curve");
    rsc_ri_model_free(&model);
    return profile;
}

static int holds(struct rsc_mrc_point point, double truth) {
    return truth >= point.low - 1e-12 && truth <= point.high + 1e-12;
}

/* A point of the curve, over all seeds. */
#define POINTS_MAX 128u
struct detail {
    uint64_t lines;
    double truth, model, sum, squares, low, high, held;
};
static struct detail details[POINTS_MAX];
static int is_detailed;

static void add_detail(uint32_t at, uint64_t lines, double truth, double model, struct rsc_mrc_point point) {
    struct detail *detail = &details[at < POINTS_MAX ? at : POINTS_MAX - 1];
    *detail = (struct detail){lines,
                              truth,
                              model,
                              detail->sum + point.miss_ratio,
                              detail->squares + point.miss_ratio * point.miss_ratio,
                              detail->low + point.low,
                              detail->high + point.high,
                              detail->held + holds(point, truth)};
}

static void print_details(double seeds) {
    printf("%12s %8s %8s %8s %8s %17s %7s\n", "words", "truth", "model", "mean", "sd", "bar", "held %");
    for (uint32_t i = 0; i < POINTS_MAX && details[i].lines; i++) {
        double mean = details[i].sum / seeds, variance = details[i].squares / seeds - mean * mean;
        printf("%12llu %8.4f %8.4f %8.4f %8.4f %8.4f %8.4f %7.1f\n", (unsigned long long)details[i].lines,
               details[i].truth, details[i].model, mean, sqrt(variance > 0 ? variance : 0), details[i].low / seeds,
               details[i].high / seeds, 100 * details[i].held / seeds);
    }
}

/* Returns the share of points held. */
static double measure(const char *path, const char *name, uint64_t seeds, uint64_t samples) {
    load(path);
    struct rsc_profile *exact = analyse("exact", 0, line_bytes), *model = model_of(exact);
    char engine[60];
    double points = 0, held = 0, held_model = 0, width = 0, off = 0;
    snprintf(engine, sizeof engine, "featherlight:period=%llu",
             (unsigned long long)(exact->references / samples ? exact->references / samples : 1));
    for (uint64_t seed = bench_seed(), end = seed + seeds; seed < end; seed++) {
        struct rsc_profile *profile = analyse(engine, seed, line_bytes);
        uint32_t at = 0;
        for (uint64_t lines = 1; lines < exact->distinct; lines = rsc_grid_next(lines, 2)) {
            double truth = rsc_profile_miss_ratio(exact, lines);
            if (truth <= 0 || truth >= 1) continue;
            struct rsc_mrc_point point = rsc_profile_mrc_at(profile, lines);
            points++;
            held += holds(point, truth);
            held_model += holds(point, rsc_profile_miss_ratio(model, lines));
            width += (point.high - point.low) / 2;
            off += fabs(point.miss_ratio - truth);
            if (is_detailed) add_detail(at++, lines, truth, rsc_profile_miss_ratio(model, lines), point);
        }
        rsc_profile_free(profile);
    }
    printf("%-20s %8.1f M  %6.1f %6.1f   %.4f %.4f\n", name, (double)exact->references / 1e6, 100 * held / points,
           100 * held_model / points, width / points, off / points);
    put_number("held", held / points, "%s", name);
    put_number("error", off / points, "%s", name);
    if (is_detailed) print_details((double)seeds);
    fflush(stdout);
    rsc_profile_free(exact);
    rsc_profile_free(model);
    return points > 0 ? held / points : 1;
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "build/bench/featherlight", *set = argc > 2 ? argv[2] : "held";
    uint64_t seeds = argc > 3 ? strtoull(argv[3], NULL, 10) : 500,
             samples = argc > 5 ? strtoull(argv[5], NULL, 10) : 5000;
    double shares[TRACES_MAX], sum = 0;
    uint32_t traces = 0;
    char path[4096], line[600], which[32], name[500];
    most = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 2000000;
    addr = malloc(most * sizeof *addr + 8), meta = malloc(most * sizeof *meta + 8), pc = malloc(most * sizeof *pc + 8);
    is_detailed = argc > 7;
    if (argc > 6) line_bytes = (uint32_t)strtoul(argv[6], NULL, 10);
    snprintf(path, sizeof path, "%s/list", folder);
    FILE *list = fopen(path, "r");
    if (!list || !addr || !meta || !pc || !seeds || !samples || !most) {
        fprintf(
            stderr,
            "usage: bench_feather_bars FOLDER [dev|held [SEEDS [ACCESSES [SAMPLES [LINE [TRACE]]]]]] (bench/featherlight-traces makes FOLDER)\n");
        return 1;
    }
    printf(
        "%s traces, lines of %u bytes, %llu samples, %llu seeds: share of bars of 90 %% that hold the truth, and the model's curve; mean half width; mean distance from the truth\n",
        set, line_bytes, (unsigned long long)samples, (unsigned long long)seeds);
    while (fgets(line, sizeof line, list)) {
        if (sscanf(line, "%31s %499s", which, name) != 2 || strcmp(which, set) || traces == TRACES_MAX) continue;
        if (is_detailed && strcmp(name, argv[7])) continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        sum += shares[traces++] = measure(path, name, seeds, samples);
    }
    fclose(list);
    qsort(shares, traces, sizeof *shares, by_value);
    if (traces) printf("mean %.1f %%, median %.1f %%\n", 100 * sum / traces, 100 * shares[traces / 2]);
    free(addr);
    free(meta);
    free(pc);
    return 0;
}
