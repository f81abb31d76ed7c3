/*
 * bench_coverage.c - how often stated intervals hold the truth.
 *
 *   bench_coverage ENGINES SEEDS TRACE...
 *
 * ENGINES are any that print error bars, separated by commas (shards:0.01,hotl), and
 * lines:RATE for the estimate of `run --sample lines:RATE` from the same references. A
 * TRACE is a file (data accesses only), or SPEC@COUNT for a generated one
 * (zipf,lines=100K,skew=0.9@5M). The first 12 M accesses of a file count, or the number
 * after @ (app.rsct@4M).
 *
 * For each trace: the exact curve once, then each engine with seeds 1 to SEEDS, on
 * all processors. A point is a size of 8 per octave from 1 line to the footprint at
 * which the true miss ratio is neither 0 nor 1. Printed by band of lines kept
 * (size * rate; lines if the engine has no rate): the share of (seed,
 * point) pairs whose interval holds the truth, how the rest divides, and, relative
 * to the true miss ratio, bias, root mean square error and mean half width.
 *
 * In the environment, CONFIDENCE=95 sets another level than 90 %, and MODEL=private
 * uses private stacks for the trace's threads (else all accesses are of one thread).
 */
#include <math.h>
#include <reusescope/reusescope.h>
#include <string.h>
#include <unistd.h>

#include "base/line_hash.h"
#include "base/pool.h"
#include "bench/measure.h"
#include "distance/shards/sampled_exact.h"
#include "profile/profile_model.h"
#include "trace/generate/generate.h"

#define ACCESSES_MAX 12000000u
#define BATCH 65536u
#define BANDS 6
#define POINTS_MAX 512

static uint64_t *addr, *meta;
static uint32_t access_count;
static double confidence = 90;
static const char *model = "single";
static struct rsc_pool *pool;

struct band {
    double points, held, below, above, bias, square, width;
};

/* COUNT of NAME@COUNT, or the most there may be; `name` is set to what stands before. */
static uint32_t wanted(const char *text, char *name, size_t room) {
    const char *at = strrchr(text, '@');
    double count = at ? atof(at + 1) * (at[strlen(at) - 1] == 'M' ? 1e6 : 1) : ACCESSES_MAX;
    snprintf(name, room, "%.*s", at ? (int)(at - text) : (int)strlen(text), text);
    return count < ACCESSES_MAX ? (uint32_t)count : ACCESSES_MAX;
}

static void generate(const char *spec, uint32_t count) {
    struct rsc_generator *generator;
    struct rsc_error error;
    need(rsc_generator_new(&generator, spec, 1, &error), spec);
    rsc_generator_fill(generator, addr, meta, count);
    rsc_generator_free(generator);
    access_count = count;
}

static void load(const char *path, uint32_t most) {
    const struct rsc_filter data_only = {
        RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE), 0, NULL, 0, UINT64_MAX, 0, 0, 0, UINT64_MAX, 1};
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &data_only};
    struct rsc_trace *trace;
    const struct rsc_batch *batch;
    struct rsc_error error;
    access_count = 0;
    need(rsc_trace_open(&trace, path, &options, &error), path);
    while (access_count < most && rsc_trace_next(trace, &batch, &error) > 0) {
        uint32_t part = most - access_count < batch->count ? most - access_count : batch->count;
        memcpy(addr + access_count, batch->addr, part * sizeof *addr);
        uint64_t mask = strcmp(model, "single") ? UINT64_MAX : UINT32_MAX;
        for (uint32_t i = 0; i < part; i++) meta[access_count + i] = batch->meta[i] & mask;
        access_count += part;
    }
    rsc_trace_close(trace);
}

/* As a rebuilt program hands over what it keeps: cut into lines of 64 bytes, with what was left out before it. */
static struct rsc_profile *analyse_lines(const char *rate, uint64_t seed) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .seed = seed, .confidence = confidence, .attribute = 2};
    struct rsc_line_choice choice;
    struct rsc_sampled_exact *subset;
    struct rsc_profile *profile;
    struct rsc_error error;
    uint64_t *kept_addr = malloc(BATCH * sizeof *kept_addr), *kept_meta = malloc(BATCH * sizeof *kept_meta);
    uint64_t *skipped = malloc(BATCH * sizeof *skipped), left_out = 0;
    struct rsc_batch batch = {.addr = kept_addr, .meta = kept_meta, .instructions = RSC_UNKNOWN};
    struct rsc_sampled_whole whole = {.accesses = access_count};
    if (!kept_addr || !kept_meta || !skipped || rsc_line_choice_parse(&choice, rate, seed) < 0) exit(1);
    need(rsc_sampled_exact_new(&subset, &options, &choice, rate, &error), rate);
    for (uint32_t i = 0; i < access_count; i++) {
        uint64_t last = addr[i] + (rsc_meta_size(meta[i]) ? rsc_meta_size(meta[i]) - 1 : 0);
        for (uint64_t line = addr[i] / 64; line <= last / 64; line++, whole.references++) {
            if (rsc_line_hash(line, choice.offset) > choice.limit) {
                left_out++;
                continue;
            }
            kept_addr[batch.count] = line * 64;
            kept_meta[batch.count] = rsc_meta(1, rsc_meta_kind(meta[i]), 0);
            skipped[batch.count++] = left_out;
            left_out = 0;
            if (batch.count < BATCH) continue;
            need(rsc_sampled_exact_push(subset, &batch, skipped, &error), rate);
            batch.count = 0;
        }
    }
    need(rsc_sampled_exact_push(subset, &batch, skipped, &error), rate);
    need(rsc_sampled_exact_finish(subset, &whole, &profile, &error), rate);
    rsc_sampled_exact_free(subset);
    free(kept_addr);
    free(kept_meta);
    free(skipped);
    return profile;
}

static struct rsc_profile *analyse(const char *name, uint64_t seed) {
    if (!strncmp(name, "lines:", 6)) return analyse_lines(name + 6, seed);
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .model = model, .seed = seed, .confidence = confidence};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0) {
        fprintf(stderr, "bench: %s\n", error.message);
        exit(1);
    }
    for (uint32_t done = 0; done < access_count; done += BATCH) {
        struct rsc_batch batch = {.count = access_count - done < BATCH ? access_count - done : BATCH,
                                  .addr = addr + done,
                                  .meta = meta + done,
                                  .instructions = RSC_UNKNOWN};
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
    printf(
        "  %-22s %8.0f points: held %5.1f%%  truth above %4.1f%% below %4.1f%%  bias %+6.2f%% rmse %6.2f%% half width %6.2f%%\n",
        name, band->points, 100 * band->held / band->points, 100 * band->above / band->points,
        100 * band->below / band->points, 100 * band->bias / band->points, 100 * sqrt(band->square / band->points),
        100 * band->width / band->points);
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

/* Of one trace and engine; seeds share nothing but this, and each writes its own bands. */
struct trial {
    const char *engine;
    uint64_t sizes[POINTS_MAX];
    double truths[POINTS_MAX];
    uint32_t points;
    struct band (*bands)[BANDS]; /* by seed - 1 */
    double *rate;
};

static void try_seed(void *arg, size_t index) {
    struct trial *trial = arg;
    struct rsc_profile *profile = analyse(trial->engine, index + 1);
    const char *said = profile->made.sampling ? strstr(profile->made.sampling, "lines by hash, rate ") : NULL;
    trial->rate[index] = said ? atof(said + 20) : 1;
    for (uint32_t i = 0; i < trial->points; i++) {
        double kept = (double)trial->sizes[i] * trial->rate[index];
        int band = kept < 1 ? 0 : (int)(1 + floor(log10(kept)));
        note(&trial->bands[index][band < BANDS ? band : BANDS - 1], rsc_profile_mrc_at(profile, trial->sizes[i]),
             trial->truths[i]);
    }
    rsc_profile_free(profile);
}

static void find_points(struct trial *trial, const struct rsc_profile *exact) {
    for (uint32_t step = 0; step < POINTS_MAX; step++) {
        uint64_t size = (uint64_t)floor(exp2(step / 8.0));
        double truth = rsc_profile_mrc_at(exact, size).miss_ratio;
        if (size > exact->distinct || (trial->points && trial->sizes[trial->points - 1] == size)) continue;
        if (truth <= 0 || truth >= 1) continue;
        trial->sizes[trial->points] = size;
        trial->truths[trial->points++] = truth;
    }
}

/* Returns the share held from 10 lines on. */
static double covered(const char *engine, size_t seeds, const char *name, const struct rsc_profile *exact) {
    static const char *const names[BANDS] = {"under 1 line kept", "1 to 10",      "10 to 100",
                                             "100 to 1000",       "1000 to 10^4", "10^4 up"};
    struct trial trial = {.engine = engine};
    struct band total[BANDS] = {{0}}, resolved = {0};
    double start = seconds_now();
    trial.bands = calloc(seeds, sizeof *trial.bands);
    trial.rate = calloc(seeds, sizeof *trial.rate);
    if (!trial.bands || !trial.rate) exit(1);
    find_points(&trial, exact);
    rsc_pool_for(pool, seeds, try_seed, &trial);
    printf("%s: %u accesses, %llu references, %llu lines, %u points; %s (a rate %g), %.0f s\n", name, access_count,
           (unsigned long long)exact->references, (unsigned long long)exact->distinct, trial.points, engine,
           trial.rate[0], seconds_now() - start);
    for (int i = 0; i < BANDS; i++) {
        for (size_t seed = 0; seed < seeds; seed++) add_band(&total[i], &trial.bands[seed][i]);
        print_band(names[i], &total[i]);
        if (i >= 2) add_band(&resolved, &total[i]);
    }
    print_band("all from 10 lines kept", &resolved);
    fflush(stdout);
    free(trial.bands);
    free(trial.rate);
    return resolved.points ? resolved.held / resolved.points : NAN;
}

int main(int argc, char **argv) {
    char *engines[16], name[256];
    double sum[16] = {0};
    int engine_count = 0, count[16] = {0};
    struct rsc_error error;
    if (argc < 4) {
        fprintf(stderr, "usage: bench_coverage ENGINES SEEDS TRACE... (a file, or SPEC@COUNT)\n");
        return 2;
    }
    addr = malloc(ACCESSES_MAX * sizeof *addr);
    meta = malloc(ACCESSES_MAX * sizeof *meta);
    if (!addr || !meta) return 1;
    need(rsc_pool_new(&pool, 0, &error), "pool");
    if (getenv("CONFIDENCE")) confidence = atof(getenv("CONFIDENCE"));
    if (getenv("MODEL")) model = getenv("MODEL");
    for (char *part = strtok(argv[1], ","); part && engine_count < 16; part = strtok(NULL, ","))
        engines[engine_count++] = part;
    size_t seeds = strtoull(argv[2], NULL, 10);
    for (int i = 3; i < argc; i++) {
        uint32_t most = wanted(argv[i], name, sizeof name);
        if (access(name, F_OK) == 0) load(name, most);
        else generate(name, most);
        struct rsc_profile *exact = analyse("exact", 0);
        for (int e = 0; e < engine_count; e++) {
            double share = covered(engines[e], seeds, argv[i], exact);
            if (isnan(share)) continue;
            sum[e] += share;
            count[e]++;
        }
        rsc_profile_free(exact);
    }
    for (int e = 0; e < engine_count; e++)
        printf("%s: mean over %d traces, sizes from 10 lines kept: %.1f%% held at a stated %g%%\n", engines[e],
               count[e], 100 * sum[e] / count[e], confidence);
    rsc_pool_free(pool);
    free(addr);
    free(meta);
    return 0;
}
