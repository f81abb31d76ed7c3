/*
 * bench_accuracy.c - how far approximate engines are from the exact one.
 *
 *   bench_accuracy [-v] [-e ENGINE,...] [-n REFERENCES] [-s SEEDS] [TRACE...]
 *
 * A TRACE is a file (data references only), a generator's spec such as
 * "zipf,lines=100000,skew=0.9", or one of the patterns below; without any, all
 * that are listed in this file. Engines are whatever --engine takes.
 *
 * For each engine and trace: mean absolute error of the miss ratio curve against
 * exact, over sizes at 8 points per octave from 1 line to the footprint; its
 * largest error there; overlap of the RD histograms; earth mover's distance in
 * octaves; the share of those sizes at which the truth lies within low and high,
 * and how wide that is on average (all means over the seeds); speed of the best
 * run in references per second of CPU time, decoding not counted; peak memory beyond what was held before. Sizes at
 * which low = high = truth are left out of the coverage: there is nothing to cover.
 * -v also prints for every size: truth, mean estimate, mean low and high, coverage.
 */
#include <math.h>
#include <reusescope/reusescope.h>

#include "bench/patterns.h"
#include "profile/metrics.h"

#define PER_OCTAVE 8u
#define BATCH 65536u
#define ENGINES_MAX 16

static const char *const specs[] = {
    "uniform,lines=1000000",
    "zipf,lines=10000000,skew=0.99",
    "cyclic,lines=1000000",
    "uniform,lines=4",
    "zipf,lines=100000,skew=0.8",
    "stencil",
    "mix",
    "two-phases",
    "alternating",
    "twice",
    "back-and-forth",
    "drifting",
    "product",
};

/* ---- one run ---- */

static double cpu_seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double status_mib(const char *field) {
    FILE *file = fopen("/proc/self/status", "r");
    char line[200];
    double kib = 0;
    while (file && fgets(line, sizeof line, file))
        if (!strncmp(line, field, strlen(field))) kib = atof(line + strlen(field));
    if (file) fclose(file);
    return kib / 1024;
}

static void forget_peak(void) {
    FILE *file = fopen("/proc/self/clear_refs", "w");
    if (!file) return;
    fputs("5", file);
    fclose(file);
}

static struct rsc_profile *run(const char *name, uint64_t seed, double *seconds, double *mib) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = name, .seed = seed, .attribute = 2};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    forget_peak();
    double held = status_mib("VmRSS:"), start = cpu_seconds();
    if (rsc_engine_new(&engine, &options, &error) < 0) {
        fprintf(stderr, "bench: %s\n", error.message);
        exit(1);
    }
    for (uint64_t done = 0; done < access_count; done += BATCH) {
        struct rsc_batch batch = {.addr = addresses + done, .meta = metas + done, .instructions = RSC_UNKNOWN};
        batch.count = access_count - done < BATCH ? (uint32_t)(access_count - done) : BATCH;
        need(rsc_engine_push(engine, &batch, &error), name);
    }
    need(rsc_engine_finish(engine, &profile, &error), name);
    *seconds = cpu_seconds() - start;
    *mib = status_mib("VmHWM:") - held;
    rsc_engine_free(engine);
    return profile;
}

/* ---- comparison ---- */

#define SIZES_MAX 512
static int each_size;
static struct {
    double truth, estimate, low, high, covered;
    uint64_t lines;
} by_size[SIZES_MAX];

struct score {
    double mae, worst, overlap, emd, covered, width, seconds, mib;
};

static void add_score(struct score *sum, const struct rsc_profile *truth, const struct rsc_profile *got) {
    double covered = 0, width = 0, worst = 0;
    size_t points = 0, judged = 0;
    sum->mae += rsc_profile_mrc_error_octaves(truth, got, PER_OCTAVE, NULL);
    for (uint64_t lines = 1; lines <= truth->distinct; lines = rsc_grid_next(lines, PER_OCTAVE)) {
        struct rsc_mrc_point point = rsc_profile_mrc_at(got, lines);
        double ratio = rsc_profile_miss_ratio(truth, lines), slack = 1e-9;
        worst = fmax(worst, fabs(ratio - point.miss_ratio));
        width += point.high - point.low;
        if (points < SIZES_MAX) {
            by_size[points].lines = lines;
            by_size[points].truth += ratio;
            by_size[points].estimate += point.miss_ratio;
            by_size[points].low += point.low;
            by_size[points].high += point.high;
            by_size[points].covered += ratio >= point.low - slack && ratio <= point.high + slack;
        }
        points++;
        if (point.high - point.low < slack && fabs(ratio - point.miss_ratio) < slack) continue;
        covered += ratio >= point.low - slack && ratio <= point.high + slack;
        judged++;
    }
    sum->worst += worst;
    sum->covered += judged ? covered / (double)judged : NAN;
    sum->width += width / (double)points;
    sum->overlap += rsc_profile_overlap(truth, got);
    sum->emd += rsc_histogram_emd_octaves(&truth->rd, &got->rd);
}

static void compare(const char *trace, char *const *engines, size_t engine_count, uint64_t seeds) {
    double seconds, mib, truth_mib;
    make_trace(trace, 1);
    struct rsc_profile *truth = run("exact", 0, &seconds, &truth_mib);
    const char *base = strrchr(trace, '/') ? strrchr(trace, '/') + 1 : trace;
    printf("%s: %llu references, %llu lines, cold %.4f; exact %.1f M/s, %.1f MiB\n", base,
           (unsigned long long)truth->references, (unsigned long long)truth->distinct,
           (double)truth->cold / (double)truth->references, (double)truth->references / seconds / 1e6, truth_mib);
    for (size_t i = 0; i < engine_count; i++) {
        struct score sum = {.seconds = INFINITY};
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            struct rsc_profile *got = run(engines[i], seed, &seconds, &mib);
            add_score(&sum, truth, got);
            sum.seconds = fmin(sum.seconds, seconds);
            sum.mib = fmax(sum.mib, mib);
            rsc_profile_free(got);
        }
        double n = (double)seeds;
        printf("  %-16s MAE %.5f  worst %.4f  overlap %.4f  EMD %.4f  covered %.3f  width %.5f  %6.1f M/s  %.1f MiB\n",
               engines[i], sum.mae / n, sum.worst / n, sum.overlap / n, sum.emd / n, sum.covered / n, sum.width / n,
               (double)truth->references / sum.seconds / 1e6, sum.mib);
        for (size_t size = 0; each_size && size < SIZES_MAX && by_size[size].lines; size++)
            printf("    %10llu lines  %.5f  estimate %.5f  %.5f to %.5f  covered %.2f\n",
                   (unsigned long long)by_size[size].lines, by_size[size].truth / n, by_size[size].estimate / n,
                   by_size[size].low / n, by_size[size].high / n, by_size[size].covered / n);
        memset(by_size, 0, sizeof by_size);
        fflush(stdout);
    }
    rsc_profile_free(truth);
}

int main(int argc, char **argv) {
    char usual[] = "statstack,aet,hotl,shen", *list = usual, *engines[ENGINES_MAX];
    uint64_t seeds = 1;
    size_t engine_count = 0;
    int option;
    while ((option = getopt(argc, argv, "ve:n:s:")) != -1) {
        if (option == 'e') list = optarg;
        else if (option == 'v') each_size = 1;
        else if (option == 'n') access_most = strtoull(optarg, NULL, 10);
        else if (option == 's') seeds = strtoull(optarg, NULL, 10);
        else return 2;
    }
    for (char *name = strtok(list, ","); name && engine_count < ENGINES_MAX; name = strtok(NULL, ","))
        engines[engine_count++] = name;
    addresses = malloc(access_most * sizeof *addresses);
    metas = malloc(access_most * sizeof *metas);
    if (!addresses || !metas || !seeds || !engine_count) return 1;
    for (size_t i = 0; optind == argc && i < sizeof specs / sizeof *specs; i++)
        compare(specs[i], engines, engine_count, seeds);
    for (int i = optind; i < argc; i++) compare(argv[i], engines, engine_count, seeds);
    free(addresses);
    free(metas);
    return 0;
}
