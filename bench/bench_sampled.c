/*
 * bench_sampled.c - sampled private and shared stacks against exact ones, on identical traces.
 *
 *   bench_sampled ENGINES TRACE...       accuracy, code selection, speed
 *   bench_sampled coverage SEEDS SPEC@COUNT...   how often 90 % bars hold the truth
 *
 * ENGINES are parameters of the engine "sampled" divided by semicolons, "-" for none
 * (-;period=1000;lines=1/64). A TRACE is a file; traces with pcs of several threads are
 * what this is about (reusescope cc, run --trace). Without arguments: generated ones.
 *
 * Columns as in tables 1 and 2 of paper 000: samples (a figure from fewer than 5,000 is
 * marked * and counts in no mean), accuracy 1 - E/2 over 10 bins an octave, references
 * without a distance being one more bin, with and without distance 0, the fraction of
 * references in analysis mode, and weight and key matching of the instructions that have
 * 75, 80, 90 and 95 % of the misses where 10 % of reuses miss. Speed is processor time of
 * one thread for the whole analysis, reading included, exact / sampled, best of REPEATS
 * (environment; 3).
 */
#include <math.h>
#include <reusescope/reusescope.h>
#include <string.h>
#include <unistd.h>

#include "bench/measure.h"
#include "bench/numbers.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "profile/selection.h"
#include "trace/generate/generate.h"

#define SAMPLES_LEAST 5000u

static const double covers[4] = {0.75, 0.80, 0.90, 0.95};

struct figures {
    double count, accuracy, without_zero, analysed, speed, curve, weight[4], key[4];
    double selections; /* of traces with code */
};

static struct rsc_profile *analyse(const char *path, const char *engine, const char *model, double *seconds) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = engine, .model = model, .seed = bench_seed()};
    struct rsc_trace_options reading = {.struct_bytes = sizeof reading};
    int lines = strstr(engine, "lines=") != NULL;
    struct rsc_profile *profile = NULL;
    struct rsc_trace *trace;
    struct rsc_error error;
    options.bins_per_octave = lines ? 0 : 10;
    *seconds = INFINITY;
    int repeats = getenv("REPEATS") ? atoi(getenv("REPEATS")) : 3;
    for (int i = 0; i < repeats || !profile; i++) {
        double start = cpu_seconds_now();
        rsc_profile_free(profile);
        need(rsc_trace_open(&trace, path, &reading, &error), path);
        if (rsc_analyze_trace(trace, &options, &profile, &error) < 0) {
            fprintf(stderr, "bench: %s: %s\n", path, error.message);
            exit(1);
        }
        rsc_trace_close(trace);
        *seconds = fmin(*seconds, cpu_seconds_now() - start);
    }
    return profile;
}

/* A number of made.sampling: what stands before `unit`. */
static double told(const struct rsc_profile *profile, const char *unit) {
    const char *text = profile->made.sampling ? profile->made.sampling : "", *at = strstr(text, unit);
    if (!at) return NAN;
    while (at > text && strchr("0123456789.e+-", at[-1])) at--;
    return atof(at);
}

static void select_code(const struct rsc_profile *exact, const struct rsc_profile *sampled, double *weight,
                        double *key) {
    struct rsc_selection truth, estimate;
    uint64_t size = rsc_selection_size(exact, 0.10);
    need(rsc_selection_make(&truth, exact, size), "selection");
    need(rsc_selection_make(&estimate, sampled, size), "selection");
    for (int y = 0; y < 4; y++) {
        struct rsc_matching matching;
        need(rsc_selection_match(&truth, &estimate, rsc_selection_cover(&truth, covers[y]), &matching), "selection");
        weight[y] = matching.weight;
        key[y] = matching.key;
    }
    rsc_selection_free(&truth);
    rsc_selection_free(&estimate);
}

static void compare(const char *path, const char *engine, const char *model, const struct rsc_profile *exact,
                    double exact_seconds, struct figures *mean) {
    double seconds, weight[4] = {NAN, NAN, NAN, NAN}, key[4] = {NAN, NAN, NAN, NAN};
    struct rsc_profile *sampled = analyse(path, engine, model, &seconds);
    const char *slash = strrchr(path, '/');
    double samples = told(sampled, " samples"), analysed = told(sampled, " % analysed");
    double accuracy = rsc_profile_accuracy(exact, sampled, 0), without_zero = rsc_profile_accuracy(exact, sampled, 1);
    double curve = rsc_profile_mrc_error_octaves(exact, sampled, 8, NULL);
    int counts = !(samples < SAMPLES_LEAST); /* a sample of lines has no such number */
    if (exact->code_count && sampled->code_count) select_code(exact, sampled, weight, key);
    printf("%-22.22s %-8s%8.0f%s%8.1f%8.1f%8.1f%8.2f%8.2f  ", slash ? slash + 1 : path, model, samples,
           counts ? " " : "*", 100 * accuracy, 100 * without_zero, analysed, 100 * curve, exact_seconds / seconds);
    for (int y = 0; y < 4 && weight[0] == weight[0]; y++) {
        static const char *const columns[4] = {"selection 75", "selection 80", "selection 90", "selection 95"};
        printf("%6.1f/%-5.1f", 100 * weight[y], 100 * key[y]);
        put_number(columns[y], weight[y], "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    }
    printf("\n");
    put_number("samples", samples, "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    put_number("accuracy", accuracy, "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    put_number("accuracy without 0", without_zero, "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    put_number("analysed", analysed / 100, "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    put_number("curve error", curve, "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    put_number("speed", exact_seconds / seconds, "%s/%s/%s", slash ? slash + 1 : path, model, engine);
    fflush(stdout);
    if (counts) {
        mean->count++;
        mean->accuracy += accuracy;
        mean->without_zero += without_zero;
        mean->analysed += analysed;
        mean->curve += curve;
        mean->speed += log(exact_seconds / seconds);
        if (weight[0] == weight[0]) {
            mean->selections++;
            for (int y = 0; y < 4; y++) mean->weight[y] += weight[y], mean->key[y] += key[y];
        }
    }
    rsc_profile_free(sampled);
}

static void print_mean(const char *model, const struct figures *mean) {
    printf("%-22s %-8s%8.0f %8.1f%8.1f%8.1f%8.2f%8.2f  ", "mean", model, mean->count,
           100 * mean->accuracy / mean->count, 100 * mean->without_zero / mean->count, mean->analysed / mean->count,
           100 * mean->curve / mean->count, exp(mean->speed / mean->count));
    for (int y = 0; y < 4 && mean->selections > 0; y++)
        printf("%6.1f/%-5.1f", 100 * mean->weight[y] / mean->selections, 100 * mean->key[y] / mean->selections);
    printf("\n");
}

static void run_accuracy(char *engines, char **paths, int count) {
    static const char *const models[] = {"private", "shared"};
    for (char *parameter = strtok(engines, ";"); parameter; parameter = strtok(NULL, ";")) {
        char engine[200];
        struct figures means[2] = {{0}};
        snprintf(engine, sizeof engine, "sampled%s%s", strcmp(parameter, "-") ? ":" : "",
                 strcmp(parameter, "-") ? parameter : "");
        printf("\n%s\n%-22s %-8s%8s %8s%8s%8s%8s%8s   weight/key matching at 75, 80, 90, 95 %%\n", engine, "trace",
               "model", "samples", "acc. %", "not 0 %", "anal. %", "curve %", "speed");
        for (int i = 0; i < count; i++)
            for (int m = 0; m < 2; m++) {
                double seconds;
                struct rsc_profile *exact = analyse(paths[i], "exact", models[m], &seconds);
                compare(paths[i], engine, models[m], exact, seconds, &means[m]);
                rsc_profile_free(exact);
            }
        for (int m = 0; m < 2; m++) print_mean(models[m], &means[m]);
    }
}

/* ---- coverage ---- */

static uint64_t *addr, *meta;

static struct rsc_profile *analyse_memory(uint32_t count, const char *engine_name, const char *model, uint64_t seed) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = engine_name, .model = model, .seed = seed};
    struct rsc_batch batch = {.count = count, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    need(rsc_engine_new(&engine, &options, &error), engine_name);
    need(rsc_engine_push(engine, &batch, &error), engine_name);
    need(rsc_engine_finish(engine, &profile, &error), engine_name);
    rsc_engine_free(engine);
    return profile;
}

static int holds(const struct rsc_count_bar *bar, uint64_t count) {
    return bar->is_known && bar->low <= count && count <= bar->high;
}

/* Misses of threads on lines that others took. */
static void cover_sharing(const struct rsc_profile *exact, const struct rsc_profile *profile, double *cells,
                          double *held) {
    for (size_t i = 0; i < exact->sharing_count; i++)
        for (size_t k = 0; k < profile->sharing_count; k++) {
            const struct rsc_sharing_row *one = &exact->sharing[i], *row = &profile->sharing[k];
            if (row->by_tid != one->by_tid || row->from_tid != one->from_tid) continue;
            *cells += 1;
            *held += row->bars.misses.low <= one->misses && one->misses <= row->bars.misses.high;
        }
}

static void cover(const char *spec, uint32_t count, const char *engine, const char *model, int seeds) {
    double points = 0, held = 0, bins = 0, bins_held = 0, bias = 0;
    double totals = 0, totals_held = 0, cells = 0, cells_held = 0;
    struct rsc_profile *exact = analyse_memory(count, "exact", model, 0);
    for (int seed = 1; seed <= seeds; seed++) {
        struct rsc_profile *profile = analyse_memory(count, engine, model, (uint64_t)seed);
        /* of lines, from 10 kept ones on, as bench_coverage.c counts them */
        for (double size = strstr(engine, "lines=") ? 160 : 1; size <= (double)exact->distinct; size *= exp2(1 / 8.0)) {
            double truth = rsc_profile_mrc_at(exact, (uint64_t)size).miss_ratio;
            struct rsc_mrc_point got = rsc_profile_mrc_at(profile, (uint64_t)size);
            if (truth <= 0.002 || truth >= 0.998) continue;
            points++;
            held += got.low <= truth && truth <= got.high;
            bias += got.miss_ratio - truth;
        }
        totals += 3;
        totals_held += holds(&profile->bars.invalidated, exact->invalidated) || !exact->invalidated;
        totals_held += holds(&profile->bars.cold, exact->cold) + holds(&profile->bars.distinct, exact->distinct);
        cover_sharing(exact, profile, &cells, &cells_held);
        for (uint32_t bin = 0; rsc_profile_has_bars(profile) && bin < exact->rd.bin_count; bin++) {
            if ((double)exact->rd.count[bin] < 0.002 * (double)exact->references) continue;
            bins++;
            /* a bin that no sample fell into has no bar: it misses */
            bins_held += profile->rd_low.count[bin] <= exact->rd.count[bin] &&
                         exact->rd.count[bin] <= profile->rd_high.count[bin];
        }
        rsc_profile_free(profile);
    }
    rsc_profile_free(exact);
    printf("%-48s %-8s %-22s%8.1f%8.1f%9.4f%10.1f%11.1f\n", spec, model, engine, 100 * held / points,
           100 * bins_held / bins, bias / points, 100 * totals_held / totals, 100 * cells_held / cells);
    fflush(stdout);
}

static void run_coverage(int seeds, char **specs, int count) {
    static const char *const engines[] = {"sampled:period=100,prune=off", "sampled:period=100", "sampled:lines=1/16"};
    printf("%-48s %-8s %-22s%8s%8s%9s%10s%11s\n", "trace", "model", "engine", "curve %", "bins %", "bias", "totals %",
           "sharing %");
    for (int i = 0; i < count; i++) {
        char spec[200];
        const char *at = strrchr(specs[i], '@');
        uint32_t accesses = at ? (uint32_t)atof(at + 1) : 300000;
        struct rsc_generator *generator;
        struct rsc_error error;
        snprintf(spec, sizeof spec, "%.*s", at ? (int)(at - specs[i]) : 199, specs[i]);
        addr = realloc(addr, accesses * sizeof *addr);
        meta = realloc(meta, accesses * sizeof *meta);
        if (!addr || !meta) exit(1);
        need(rsc_generator_new(&generator, spec, 11, &error), spec);
        rsc_generator_fill(generator, addr, meta, accesses);
        rsc_generator_free(generator);
        for (size_t e = 0; e < 3; e++)
            for (int m = 0; m < 2; m++) cover(spec, accesses, engines[e], m ? "shared" : "private", seeds);
    }
    free(addr);
    free(meta);
}

/* Traces of several threads, without code, in a folder of their own. */
static void generate(const char *spec, const char *path) {
    enum { COUNT = 3000000 };
    struct rsc_trace_writer_options options = {.struct_bytes = sizeof options};
    struct rsc_trace_writer *writer;
    struct rsc_generator *generator;
    struct rsc_error error;
    uint64_t *a = malloc(COUNT * sizeof *a), *m = malloc(COUNT * sizeof *m);
    if (!a || !m) exit(1);
    need(rsc_generator_new(&generator, spec, 5, &error), spec);
    rsc_generator_fill(generator, a, m, COUNT);
    struct rsc_batch batch = {.count = COUNT, .addr = a, .meta = m, .instructions = RSC_UNKNOWN};
    need(rsc_trace_writer_open(&writer, path, &options, &error), path);
    need(rsc_trace_writer_push(writer, &batch, &error), path);
    need(rsc_trace_writer_finish(writer, &error), path);
    rsc_trace_writer_close(writer);
    rsc_generator_free(generator);
    free(a);
    free(m);
}

int main(int argc, char **argv) {
    if (argc > 3 && !strcmp(argv[1], "coverage")) {
        run_coverage(atoi(argv[2]), argv + 3, argc - 3);
        return 0;
    }
    if (argc > 2) {
        run_accuracy(argv[1], argv + 2, argc - 2);
        return 0;
    }
    char folder[] = "/tmp/bench_sampled.XXXXXX", files[3][64], *paths[3], engines[] = "-;period=500;lines=1/64";
    static const char *const specs[] = {"zipf,lines=50K,skew=0.9,threads=4,write=0.2",
                                        "stencil,lines=20K,threads=4,write=0.3",
                                        "uniform,lines=20K,threads=4,write=0.1"};
    if (!mkdtemp(folder)) return 1;
    for (int i = 0; i < 3; i++) {
        snprintf(files[i], sizeof files[i], "%s/%.*s.rsct", folder, (int)strcspn(specs[i], ","), specs[i]);
        generate(specs[i], paths[i] = files[i]);
    }
    run_accuracy(engines, paths, 3);
    char *covered[] = {"zipf,lines=3000,skew=0.9,threads=4,write=0.2@200000"};
    printf("\n");
    run_coverage(40, covered, 1);
    for (int i = 0; i < 3; i++) unlink(files[i]);
    rmdir(folder);
    return 0;
}
