/*
 * bench_auto.c - how often `--engine auto --error E` stays within E, and the time it saves.
 *
 *   bench_auto [-v] [-u] [-n REFERENCES] [-s SEEDS] [-r REPEATS] [TRACE...]
 *
 * Each TRACE (a file, a generator's spec or a pattern of patterns.h; those below
 * unless given) is analysed exactly and with each E. As in `reusescope analyze` of
 * a file, a result with too wide error bars is repeated exactly, and that time counts.
 * Prints the engine picked, the true mean absolute error of the miss ratio curve (8
 * sizes per octave), CPU time against the exact engine, and at the end how many cases
 * were within E, with the second run and without it (as for pipes and running
 * programs), and the least speed of the cases that stayed exact. Times are the best of
 * REPEATS (1), alternating. -v prints each case. -u first takes the cases below that were held out
 * while the engine's margins were chosen.
 */
#include <math.h>
#include <reusescope/reusescope.h>

#include "bench/patterns.h"
#include "engine/engine_auto.h"
#include "engine/engine_spec.h"
#include "profile/metrics.h"

#define BATCH 16384u

static const double errors[] = {0.05, 0.02, 0.01, 0.005};
#define ERRORS (sizeof errors / sizeof *errors)

static const char *const cases[] = {
    "uniform,lines=4",
    "uniform,lines=10K",
    "uniform,lines=200K",
    "uniform,lines=1M",
    "zipf,lines=100K,skew=0.8",
    "zipf,lines=1M,skew=0.6",
    "zipf,lines=1M,skew=0.99",
    "zipf,lines=4M,skew=0.9",
    "zipf,lines=1M,skew=1.2",
    "cyclic,lines=1K",
    "cyclic,lines=200K",
    "cyclic,lines=1M",
    "cyclic,lines=300K,threads=3",
    "stencil,lines=200K",
    "stencil,lines=1M",
    "chase,lines=100K",
    "chase,lines=1M",
    "stride,lines=500K",
    "mix,lines=50K",
    "mix,lines=300K",
    "mix,lines=1M",
    "two-phases",
    "alternating",
    "twice",
    "back-and-forth",
    "drifting",
    "product",
    "late-loop",
    "growing",
};

static const char *const unseen[] = {
    "uniform,lines=100",
    "uniform,lines=30K",
    "uniform,lines=60K",
    "uniform,lines=120K",
    "uniform,lines=350K",
    "uniform,lines=700K",
    "uniform,lines=2M",
    "zipf,lines=50K,skew=1.1",
    "zipf,lines=150K,skew=0.7",
    "zipf,lines=300K,skew=0.5",
    "zipf,lines=300K,skew=1",
    "zipf,lines=600K,skew=0.8",
    "zipf,lines=2M,skew=0.7",
    "zipf,lines=2M,skew=1.05",
    "zipf,lines=3M,skew=1.3",
    "zipf,lines=6M,skew=0.85",
    "zipf,lines=8M,skew=1",
    "cyclic,lines=20K",
    "cyclic,lines=70K",
    "cyclic,lines=120K",
    "cyclic,lines=500K",
    "cyclic,lines=150K,threads=2",
    "cyclic,lines=400K,threads=5",
    "stencil,lines=60K",
    "stencil,lines=120K",
    "stencil,lines=400K",
    "stencil,lines=700K",
    "chase,lines=40K",
    "chase,lines=250K",
    "chase,lines=600K",
    "chase,lines=120K,threads=4",
    "stride,lines=90K",
    "stride,lines=250K",
    "stride,lines=1M",
    "mix,lines=80K",
    "mix,lines=120K",
    "mix,lines=180K",
    "mix,lines=500K",
    "mix,lines=700K",
    "mix,lines=2M",
};

static struct rsc_profile *run(const char *name, double allowed, uint64_t seed, double *seconds) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = name, .seed = seed, .attribute = 2, .error = allowed};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    double start = cpu_seconds_now();
    need(rsc_engine_new(&engine, &options, &error), name);
    rsc_engine_expect(engine, access_count);
    for (uint64_t done = 0; done < access_count; done += BATCH) {
        struct rsc_batch batch = {.addr = addresses + done, .meta = metas + done, .instructions = RSC_UNKNOWN};
        batch.count = access_count - done < BATCH ? (uint32_t)(access_count - done) : BATCH;
        need(rsc_engine_push(engine, &batch, &error), name);
    }
    need(rsc_engine_finish(engine, &profile, &error), name);
    *seconds = cpu_seconds_now() - start;
    rsc_engine_free(engine);
    return profile;
}

static struct tally {
    unsigned cases, exact, again, kept, kept_once;
    double log_ratio, log_ratio_sampled, exact_least;
} tallies[ERRORS];

/* The best of `repeats` runs of the exact engine and of each E, alternating: other load slows all of them alike. */
static void time_case(uint64_t seed, uint64_t repeats, double *exact_seconds, double *seconds) {
    double once;
    for (uint64_t n = 0; n < repeats; n++) {
        rsc_profile_free(run("exact", 0, 0, &once));
        *exact_seconds = n && *exact_seconds < once ? *exact_seconds : once;
        for (size_t i = 0; i < ERRORS; i++) {
            rsc_profile_free(run("auto", errors[i], seed, &once));
            seconds[i] = n && seconds[i] < once ? seconds[i] : once;
        }
    }
}

static void try_case(const char *trace, uint64_t seed, uint64_t repeats, int each) {
    double exact_seconds = 0, best[ERRORS] = {0}, unused;
    make_trace(trace, seed);
    time_case(seed, repeats, &exact_seconds, best);
    struct rsc_profile *truth = run("exact", 0, 0, &unused);
    for (size_t i = 0; i < ERRORS; i++) {
        struct rsc_profile *got = run("auto", errors[i], seed, &unused);
        double seconds = best[i];
        double off = rsc_profile_mrc_error_octaves(truth, got, 8, NULL), stated = rsc_profile_stated_error(got);
        int sampled = got->made.sampling != NULL, again = !rsc_auto_kept_word(got, errors[i]);
        double ratio = exact_seconds / (seconds + (again ? exact_seconds : 0));
        tallies[i].cases++;
        tallies[i].exact += !sampled;
        if (!sampled && !(tallies[i].exact_least < ratio && tallies[i].exact > 1)) tallies[i].exact_least = ratio;
        tallies[i].again += again;
        tallies[i].kept_once += off <= errors[i];
        tallies[i].kept += again || off <= errors[i];
        tallies[i].log_ratio += log(ratio);
        if (sampled && !again) tallies[i].log_ratio_sampled += log(ratio);
        if (each)
            printf("%-30s seed %llu  E %.3f  %-20s MAE %.5f  stated %.5f%s%s  %5.2fx exact\n", trace,
                   (unsigned long long)seed, errors[i], got->made.by, off, stated, again ? "  done again" : "",
                   off > errors[i] ? "  PAST E" : "", ratio);
        rsc_profile_free(got);
    }
    fflush(stdout);
    rsc_profile_free(truth);
}

int main(int argc, char **argv) {
    uint64_t seeds = 2, repeats = 1;
    int option, each = 0, only_unseen = 0;
    access_most = 10000000;
    while ((option = getopt(argc, argv, "vun:s:r:")) != -1) {
        if (option == 'v') each = 1;
        else if (option == 'u') only_unseen = 1;
        else if (option == 'n') access_most = strtoull(optarg, NULL, 10);
        else if (option == 's') seeds = strtoull(optarg, NULL, 10);
        else if (option == 'r') repeats = strtoull(optarg, NULL, 10);
        else return 2;
    }
    addresses = malloc(access_most * sizeof *addresses);
    metas = malloc(access_most * sizeof *metas);
    if (!addresses || !metas || !seeds || !repeats) return 1;
    for (uint64_t seed = 1; seed <= seeds; seed++) {
        for (size_t i = 0; only_unseen && i < sizeof unseen / sizeof *unseen; i++)
            try_case(unseen[i], seed, repeats, each);
        for (size_t i = 0; !only_unseen && optind == argc && i < sizeof cases / sizeof *cases; i++)
            try_case(cases[i], seed, repeats, each);
        for (int i = optind; i < argc; i++) try_case(argv[i], seed, repeats, each);
    }
    for (size_t i = 0; i < ERRORS; i++) {
        const struct tally *t = &tallies[i];
        unsigned sampled = t->cases - t->exact - t->again;
        printf(
            "E %.3f: %u cases, %u exact, %u sampled, %u done again; within E %.1f %% (in one pass %.1f %%); speed against "
            "exact %.2fx, where sampled %.2fx, where exact at least %.2fx\n",
            errors[i], t->cases, t->exact, sampled, t->again, 100.0 * t->kept / t->cases,
            100.0 * t->kept_once / t->cases, exp(t->log_ratio / t->cases),
            sampled ? exp(t->log_ratio_sampled / sampled) : 1, t->exact ? t->exact_least : 1);
    }
    free(addresses);
    free(metas);
    return 0;
}
