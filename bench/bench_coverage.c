/*
 * bench_coverage.c - how often stated intervals hold the truth.
 *
 *   bench_coverage ENGINE SEEDS TRACE...
 *
 * ENGINE is one that draws lines by hash (shards:0.01, shards-max:4K). A TRACE is
 * a file, of which data accesses are taken, or SPEC@COUNT for a generated one
 * (zipf,lines=100K,skew=0.9@5M). At most the first 12 M accesses count.
 *
 * For each trace: the exact curve once, then the engine with seeds 1 to SEEDS. A
 * point is a size of 8 an octave from 1 line to the footprint at which the
 * true miss ratio is neither 0 nor 1. Printed by band of lines kept (size * rate):
 * the share of (seed, point) pairs whose interval holds the truth, how the rest
 * divides, and, relative to the true miss ratio, bias, root mean square error and
 * mean half width.
 */
#include <math.h>
#include <reusescope/reusescope.h>
#include <string.h>

#include "bench/measure.h"
#include "profile/profile_model.h"
#include "trace/generate.h"

#define ACCESSES_MAX 12000000u
#define BATCH 65536u
#define BANDS 6
#define POINTS_MAX 512

static uint64_t *addr, *meta;
static uint32_t access_count;
static double confidence = 90;

struct band {
    double points, held, below, above, bias, square, width;
};

static void generate(const char *text) {
    const char *at = strchr(text, '@');
    char spec[256];
    struct rsc_generator *generator;
    struct rsc_error error;
    double count = atof(at + 1) * (at[strlen(at) - 1] == 'M' ? 1e6 : 1);
    snprintf(spec, sizeof spec, "%.*s", (int)(at - text), text);
    access_count = count < ACCESSES_MAX ? (uint32_t)count : ACCESSES_MAX;
    need(rsc_generator_new(&generator, spec, 1, &error), spec);
    rsc_generator_fill(generator, addr, meta, access_count);
    rsc_generator_free(generator);
}

static void load(const char *path) {
    const struct rsc_filter data_only = {RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE), 0, NULL, 0, UINT64_MAX, 0, 0,
                                         0, UINT64_MAX, 1};
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &data_only};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    access_count = 0;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (access_count < ACCESSES_MAX && rsc_trace_next(trace, &batch, &error) > 0) {
        uint32_t part = ACCESSES_MAX - access_count < batch->count ? ACCESSES_MAX - access_count : batch->count;
        memcpy(addr + access_count, batch->addr, part * sizeof *addr);
        for (uint32_t i = 0; i < part; i++) meta[access_count + i] = (uint32_t)batch->meta[i];
        access_count += part;
    }
    rsc_trace_close(trace);
}

static struct rsc_profile *analyse(const char *name, uint64_t seed) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = name, .seed = seed,
                                         .confidence = confidence};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) {
        fprintf(stderr, "bench: %s\n", error.message);
        exit(1);
    }
    for (uint32_t done = 0; done < access_count; done += BATCH) {
        struct rsc_batch batch = {.count = access_count - done < BATCH ? access_count - done : BATCH,
                                  .addr = addr + done, .meta = meta + done, .instructions = RSC_UNKNOWN};
        need(rsc_engine_push(engine, &batch, &error), name);
    }
    need(rsc_engine_finish(engine, &profile, &error), name);
    rsc_engine_free(engine);
    return profile;
}

static void note(struct band *band, struct rsc_mrc_point got, double truth) {
    /* exact ratios are rounded to a double, and so are bars that end on one */
    int below = got.low > truth * (1 + 1e-12), above = got.high < truth * (1 - 1e-12);
    band->points++;
    band->held += !below && !above;
    band->above += above; /* the truth lies above the interval */
    band->below += below;
    band->bias += got.miss_ratio / truth - 1;
    band->square += (got.miss_ratio / truth - 1) * (got.miss_ratio / truth - 1);
    band->width += (got.high - got.low) / 2 / truth;
}

static void print_band(const char *name, const struct band *band) {
    if (!band->points) return;
    printf("  %-22s %8.0f points: held %5.1f%%  truth above %4.1f%% below %4.1f%%  bias %+6.2f%% rmse %6.2f%% half width %6.2f%%\n",
           name, band->points, 100 * band->held / band->points, 100 * band->above / band->points,
           100 * band->below / band->points, 100 * band->bias / band->points,
           100 * sqrt(band->square / band->points), 100 * band->width / band->points);
}

static void add_band(struct band *into, const struct band *from) {
    into->points += from->points;
    into->held += from->held;
    into->below += from->below;
    into->above += from->above;
    into->bias += from->bias;
    into->square += from->square;
    into->width += from->width;
}

static double covered(const char *engine, uint64_t seeds, const char *name) {
    static const char *const names[BANDS] = {"under 1 line kept", "1 to 10", "10 to 100", "100 to 1000", "1000 to 10^4", "10^4 up"};
    struct band bands[BANDS] = {{0}}, resolved = {0};
    uint64_t sizes[POINTS_MAX];
    double truths[POINTS_MAX], rate = 0;
    uint32_t points = 0;
    double start = seconds_now();
    struct rsc_profile *exact = analyse("exact", 0);
    for (uint32_t step = 0; step < POINTS_MAX; step++) {
        uint64_t size = (uint64_t)floor(exp2(step / 8.0));
        double truth = rsc_profile_mrc_at(exact, size).miss_ratio;
        if (size > exact->distinct || (points && sizes[points - 1] == size) || truth <= 0 || truth >= 1) continue;
        sizes[points] = size;
        truths[points++] = truth;
    }
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        struct rsc_profile *profile = analyse(engine, seed);
        const char *said = profile->made.sampling ? strstr(profile->made.sampling, "rate ") : NULL;
        rate = said ? atof(said + 5) : 1;
        for (uint32_t i = 0; i < points; i++) {
            double kept = (double)sizes[i] * rate;
            int band = kept < 1 ? 0 : (int)(1 + floor(log10(kept)));
            note(&bands[band < BANDS ? band : BANDS - 1], rsc_profile_mrc_at(profile, sizes[i]), truths[i]);
        }
        rsc_profile_free(profile);
    }
    printf("%s: %u accesses, %llu references, %llu lines, %u points; %s (last rate %g), %.0f s\n", name, access_count,
           (unsigned long long)exact->references, (unsigned long long)exact->distinct, points, engine, rate,
           seconds_now() - start);
    for (int i = 0; i < BANDS; i++) {
        print_band(names[i], &bands[i]);
        if (i >= 2) add_band(&resolved, &bands[i]);
    }
    print_band("all from 10 lines kept", &resolved);
    fflush(stdout);
    rsc_profile_free(exact);
    return resolved.points ? resolved.held / resolved.points : NAN;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: bench_coverage ENGINE SEEDS TRACE... (a file, or SPEC@COUNT)\n");
        return 2;
    }
    addr = malloc(ACCESSES_MAX * sizeof *addr);
    meta = malloc(ACCESSES_MAX * sizeof *meta);
    if (!addr || !meta) return 1;
    if (getenv("CONFIDENCE")) confidence = atof(getenv("CONFIDENCE"));
    double sum = 0;
    int count = 0;
    for (int i = 3; i < argc; i++) {
        if (strchr(argv[i], '@')) generate(argv[i]);
        else load(argv[i]);
        double share = covered(argv[1], strtoull(argv[2], NULL, 10), argv[i]);
        if (isnan(share)) continue;
        sum += share;
        count++;
    }
    printf("mean over %d traces, sizes from 10 lines kept: %.1f%% held at a stated %g%%\n", count, 100 * sum / count,
           confidence);
    free(addr);
    free(meta);
    return 0;
}
