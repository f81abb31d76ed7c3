/*
 * bench_multicore.c - multicore reuse distance by sampling, against the exact one: the
 * columns of Tables 1 and 2 of Schuff, Kulkarni and Pai (PACT 2010), for bench/programs/multicore.
 *
 *   bench_multicore TOOL FOLDER [SIZE[:SECONDS] [THREADS [PERIOD [PROGRAM...]]]]
 *
 * Each program is built at -O2, plain and by `reusescope cc`, and run with THREADS (2 and
 * 4 when 0) at SIZE (1). Three methods, private and shared stacks each:
 *
 *   default  `run` as it is, both models in one run, against exact analyses of three others
 *   live   sampled in the running program, PERIOD references a sample (0: by itself),
 *          against the same; shared stacks in parallel and in sequential order
 *   lines  the same with 1 line in 64
 *   trace  sampled from a recorded trace, against the exact analysis of the same; not
 *          with SECONDS
 *
 * Each live row is run with three seeds; its spread is the difference between the best and the
 * worst accuracy. With SECONDS, slowdown and analysed of sampled references come from a longer run, in which the plain
 * program takes that long; there is no exact result for it. All other columns are for SIZE.
 *
 *   samples   finished; under 2,000 the row is marked and not part of means
 *   accuracy  1 - E/2 over 10 bins per octave and one for references without a distance;
 *             without and with the bin of distance 0; against the mean of the exact runs
 *   exact     the same of one exact run against the mean of the others, averaged: threads
 *             interleave differently in each run, so no sample can be expected to have more
 *   slowdown  processor time of tool and program together, over the plain program's
 *   analysed  references in analysis mode
 *   selection weight matching of the code that makes 75, 80, 90, 95 % of the misses, at
 *             the size where 10 % of reuses miss
 *   faster    than the exact analysis: all of it; and per reference analysed
 *
 * Processor time, not wall time: on few cores threads and analysis share them.
 */
#include <fcntl.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/numbers.h"
#include "bench/watched.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"
#include "profile/selection.h"

static const char *const all_programs[] = {"stencil",   "wave",     "cg",           "fft",      "multigrid",  "dense",
                                           "annealing", "pipeline", "transactions", "forkjoin", "falseshare", "graph"};
#define PROGRAMS (sizeof all_programs / sizeof *all_programs)
#define SAMPLES_LEAST 2000u
#define SEEDS 3
#define EXACT_RUNS 3 /* of which the mean is the truth */

static char folder[] = "/tmp/bench_multicore.XXXXXX";
static const char *tool;

/* ---- running things ---- */

/* Runs a command line in the folder, its output cut off; its processor time, with all it waited for. NaN if it fails. */
static double try_command(const char *command) {
    struct rusage usage;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        int null = open("/dev/null", O_WRONLY);
        dup2(null, STDOUT_FILENO);
        if (chdir(folder) != 0) _exit(126);
        setenv("OMP_WAIT_POLICY", "passive", 1); /* spinning would be measured as work */
        execl("/bin/sh", "sh", "-c", command, (char *)NULL);
        _exit(127);
    }
    return wait4(pid, &status, 0, &usage) == pid && status == 0 ? cpu_of(&usage) : NAN;
}

static double run(const char *format, ...) __attribute__((format(printf, 1, 2)));
static double run(const char *format, ...) {
    char command[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(command, sizeof command, format, arguments);
    va_end(arguments);
    double seconds = try_command(command);
    need(isnan(seconds) ? -1 : 0, command);
    return seconds;
}

static double least_of_three(const char *command) {
    double least = INFINITY;
    for (int i = 0; i < 3; i++) least = fmin(least, run("%s", command));
    return least;
}

/* Both models of a run: private first. */
struct result {
    struct rsc_profile **profiles;
    size_t count;
    double seconds;
};

static struct result load(const char *name, double seconds) {
    struct result result = {.seconds = seconds};
    struct rsc_error error;
    char path[256];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    need(rsc_profiles_load(path, &result.profiles, &result.count, &error), path);
    unlink(path);
    return result;
}
static void drop(struct result *result) { rsc_profiles_free(result->profiles, result->count); }

/* ---- how good ---- */

/* What estimates are compared with: one model of all exact runs. */
struct truth {
    const struct rsc_profile *runs[EXACT_RUNS];
    size_t count;
};

static struct truth truth_of(const struct result *exact, size_t count, size_t model) {
    struct truth truth = {.count = count};
    for (size_t run = 0; run < count; run++) {
        need(exact[run].count == 2 ? 0 : -1, "two models");
        truth.runs[run] = exact[run].profiles[model];
    }
    return truth;
}

static double accuracy(const struct truth *truth, const struct rsc_profile *estimate, int without_zero) {
    double value = rsc_profile_accuracy_of_runs(truth->runs, truth->count, estimate, without_zero);
    need(isnan(value) ? -1 : 0, "the same bins");
    return value;
}

/* Of a recorded trace there is one truth. */
static double exact_runs_agree(const struct truth *truth, int without_zero) {
    return truth->count < 2 ? 1 : rsc_profile_runs_agree(truth->runs, truth->count, without_zero);
}

static const double covers[4] = {0.75, 0.80, 0.90, 0.95};

/* Mean weight over the exact runs. */
static void select_code(const struct truth *truth, const struct rsc_profile *estimate, double weight[4]) {
    for (int i = 0; i < 4; i++) weight[i] = 0;
    for (size_t run = 0; run < truth->count; run++) {
        struct rsc_selection by_truth = {0}, by_estimate = {0};
        uint64_t size = rsc_selection_size(truth->runs[run], 0.10);
        need(rsc_selection_make(&by_truth, truth->runs[run], size), "selection");
        need(rsc_selection_make(&by_estimate, estimate, size), "selection");
        for (int i = 0; i < 4; i++) {
            struct rsc_matching matching;
            need(rsc_selection_match(&by_truth, &by_estimate, rsc_selection_cover(&by_truth, covers[i]), &matching),
                 "selection");
            weight[i] += matching.weight / (double)truth->count;
        }
        rsc_selection_free(&by_truth);
        rsc_selection_free(&by_estimate);
    }
}

/* The number before a word in `made.sampling`, such as "samples"; 0: it is not there. */
static double number_before(const struct rsc_profile *profile, const char *word) {
    const char *text = profile->made.sampling, *at = text ? strstr(text, word) : NULL;
    if (!at) return 0;
    while (at > text && at[-1] == ' ') at--;
    while (at > text &&
           (at[-1] == '.' || at[-1] == 'e' || at[-1] == '-' || at[-1] == '+' || (at[-1] >= '0' && at[-1] <= '9')))
        at--;
    return atof(at);
}

/* ---- rows and means ---- */

enum column {
    ACCURACY_WITHOUT_0,
    ACCURACY,
    AGREE_WITHOUT_0, /* exact runs among themselves */
    AGREE,
    SLOWDOWN,
    ANALYSED,
    SELECTION, /* four */
    FASTER = SELECTION + 4,
    ANALYSIS_FASTER,
    COLUMNS
};
static const char *const columns[COLUMNS] = {"accuracy without 0", "accuracy",     "exact runs agree without 0",
                                             "exact runs agree",   "slowdown",     "analysed",
                                             "selection 75",       "selection 80", "selection 90",
                                             "selection 95",       "faster",       "analysis faster"};

struct means { /* of a method at a number of threads */
    const char *name;
    int threads;
    double logs[COLUMNS];
    int count;
};
static struct means sums[32];
static size_t sum_count;

static struct means *means_of(const char *name, int threads) {
    for (size_t i = 0; i < sum_count; i++)
        if (sums[i].threads == threads && !strcmp(sums[i].name, name)) return &sums[i];
    need(sum_count < sizeof sums / sizeof *sums ? 0 : -1, "rows");
    sums[sum_count].name = name;
    sums[sum_count].threads = threads;
    return &sums[sum_count++];
}

static void head(void) {
    printf("%-13s %-2s %-24s %8s %7s %7s %7s %7s %8s %8s  %5s %5s %5s %5s %8s %8s\n", "program", "t", "method",
           "samples", "acc>0", "exact>0", "acc", "exact", "slowdown", "analysed", "s75", "s80", "s90", "s95", "faster",
           "analysis");
}

static void print_row(const char *program, int threads, const char *method, double samples,
                      const double value[COLUMNS]) {
    int few = samples < SAMPLES_LEAST;
    printf("%-13s %-2d %-24s %8.0f%s%6.1f%% %6.1f%% %6.1f%% %6.1f%% %7.1fx %7.1f%%  %5.1f %5.1f %5.1f %5.1f %7.1fx "
           "%7.1fx\n",
           program, threads, method, samples, few ? "*" : " ", 100 * value[ACCURACY_WITHOUT_0],
           100 * value[AGREE_WITHOUT_0], 100 * value[ACCURACY], 100 * value[AGREE], value[SLOWDOWN],
           100 * value[ANALYSED], 100 * value[SELECTION], 100 * value[SELECTION + 1], 100 * value[SELECTION + 2],
           100 * value[SELECTION + 3], value[FASTER], value[ANALYSIS_FASTER]);
    put_number("samples", samples, "%s/%d threads/%s", program, threads, method);
    for (int i = 0; i < COLUMNS; i++) put_number(columns[i], value[i], "%s/%d threads/%s", program, threads, method);
    fflush(stdout);
}

struct times {
    double plain, rebuilt, exact;
    double long_size, long_plain; /* 0: no longer runs */
    double long_slowdown, long_analysed; /* of the method at hand; 0: none */
};

static void compare(const char *program, int threads, const char *method, const struct truth *truth,
                    const struct rsc_profile *estimate, double seconds, const struct times *times) {
    double value[COLUMNS], references = 0;
    double samples =
        strstr(method, "lines") ? number_before(estimate, "references kept") : number_before(estimate, "samples");
    for (size_t run = 0; run < truth->count; run++)
        references += (double)truth->runs[run]->references / (double)truth->count;
    value[ACCURACY_WITHOUT_0] = accuracy(truth, estimate, 1);
    value[ACCURACY] = accuracy(truth, estimate, 0);
    value[AGREE_WITHOUT_0] = exact_runs_agree(truth, 1);
    value[AGREE] = exact_runs_agree(truth, 0);
    value[SLOWDOWN] = seconds / times->plain;
    value[ANALYSED] = strstr(method, "lines") ? 1 : number_before(estimate, "% analysed") / 100;
    select_code(truth, estimate, value + SELECTION);
    value[FASTER] = times->exact / seconds;
    double analysing = fmax(1e-3, seconds - times->rebuilt) / (references * fmax(value[ANALYSED], 1e-9));
    value[ANALYSIS_FASTER] = (times->exact - times->plain) / references / analysing;
    if (times->long_slowdown > 0) {
        value[SLOWDOWN] = times->long_slowdown;
        value[ANALYSED] = times->long_analysed;
    }
    print_row(program, threads, method, samples, value);
    if (samples < SAMPLES_LEAST) return;
    struct means *means = means_of(method, threads);
    for (int i = 0; i < COLUMNS; i++) means->logs[i] += log(fmax(value[i], 1e-3));
    means->count++;
}

static void compare_both(const char *program, int threads, const char *private_name, const char *shared_name,
                         const struct result *exact, size_t exact_count, const struct result *estimate,
                         const struct times *times) {
    const char *const names[2] = {private_name, shared_name};
    need(estimate->count == 2 ? 0 : -1, "two models");
    for (size_t model = 0; model < 2; model++) {
        struct truth truth = truth_of(exact, exact_count, model);
        compare(program, threads, names[model], &truth, estimate->profiles[model], estimate->seconds, times);
    }
}

/* ---- a program ---- */

/* One sampled run: its profile, and processor time. */
static struct result sample(const char *program, int threads, double size, double period, const char *model,
                            const char *ordering, int seed) {
    char rate[64] = "";
    if (period > 0) snprintf(rate, sizeof rate, "--sample 1/%.0f", period);
    double seconds =
        run("'%s' run -q --engine sampled:ordering=%s %s --seed %d --model %s --bins 10 -o r.data -- ./%s.rebuilt %d "
            "%g",
            tool, ordering, rate, seed, model, program, threads, size);
    return load("r.data", seconds);
}

static struct result live(const char *options, const char *program, int threads, double size) {
    double seconds = run("'%s' run -q --model both --bins 10 %s -o r.data -- ./%s.rebuilt %d %g", tool, options,
                         program, threads, size);
    return load("r.data", seconds);
}

static void one_model(const char *program, int threads, double size, double period, const char *model,
                      const char *ordering, const char *method, const struct truth *truth, struct times *times) {
    double least = 1, most = 0;
    times->long_slowdown = 0;
    if (times->long_size > 0) {
        struct result longer = sample(program, threads, times->long_size, period, model, ordering, 1);
        times->long_slowdown = longer.seconds / times->long_plain;
        times->long_analysed = number_before(longer.profiles[0], "% analysed") / 100;
        drop(&longer);
    }
    for (int seed = (int)bench_seed(), end = seed + SEEDS; seed < end; seed++) {
        struct result result = sample(program, threads, size, period, model, ordering, seed);
        double now = accuracy(truth, result.profiles[0], 0);
        least = fmin(least, now);
        most = fmax(most, now);
        compare(program, threads, method, truth, result.profiles[0], result.seconds, times);
        drop(&result);
    }
    printf("%-13s %-2d %-24s spread of accuracy over %d seeds: %.1f points\n", program, threads, method, SEEDS,
           100 * (most - least));
    times->long_slowdown = 0;
}

/* A program with few lines has no such sample: `run` refuses to make numbers of it. */
static void compare_lines(const char *program, int threads, double size, const struct result *exact,
                          const struct times *times) {
    char command[8192];
    snprintf(command, sizeof command,
             "'%s' run -q --model both --bins 10 --sample lines:1/64 -o r.data -- ./%s.rebuilt %d %g 2>lines.said",
             tool, program, threads, size);
    double seconds = try_command(command);
    if (isnan(seconds)) {
        if (system("grep -q 'too few to say anything' lines.said")) run("cat lines.said >&2; false"); /* it ends here */
        printf("%-13s %-2d %-24s no result (too few of its lines are in the sample)\n", program, threads, "lines:1/64");
        return;
    }
    struct result lines = load("r.data", seconds);
    compare_both(program, threads, "live private lines:1/64", "live shared lines:1/64", exact, EXACT_RUNS, &lines,
                 times);
    drop(&lines);
}

static void measure(const char *program, int threads, double size, double wanted, double period) {
    char command[256], rate[64] = "";
    struct times times = {0};
    snprintf(command, sizeof command, "./%s.plain %d %g", program, threads, size);
    times.plain = least_of_three(command);
    put_number("plain seconds", times.plain, "%s/%d threads", program, threads);
    snprintf(command, sizeof command, "./%s.rebuilt %d %g", program, threads, size);
    times.rebuilt = least_of_three(command);
    if (wanted > 0) {
        times.long_size = size * wanted / times.plain;
        times.long_plain = run("./%s.plain %d %g", program, threads, times.long_size);
        put_number("plain seconds, longer", times.long_plain, "%s/%d threads", program, threads);
    }
    struct result exact[EXACT_RUNS];
    for (int run = 0; run < EXACT_RUNS; run++) {
        exact[run] = live("--engine exact", program, threads, size);
        times.exact += exact[run].seconds / EXACT_RUNS;
    }
    struct truth private = truth_of(exact, EXACT_RUNS, 0), shared = truth_of(exact, EXACT_RUNS, 1);
    one_model(program, threads, size, period, "private", "parallel", "live private", &private, &times);
    one_model(program, threads, size, period, "shared", "parallel", "live shared parallel", &shared, &times);
    one_model(program, threads, size, period, "shared", "sequential", "live shared sequential", &shared, &times);
    for (int seed = (int)bench_seed(), end = seed + SEEDS; seed < end; seed++) {
        char options[32];
        snprintf(options, sizeof options, "--seed %d", seed);
        struct result usual = live(options, program, threads, size);
        compare_both(program, threads, "default private", "default shared", exact, EXACT_RUNS, &usual, &times);
        drop(&usual);
    }
    compare_lines(program, threads, size, exact, &times);
    for (int run = 0; run < EXACT_RUNS; run++) drop(&exact[run]);
    if (wanted > 0) return;

    run("'%s' run -q --no-analysis --trace t.rsct -- ./%s.rebuilt %d %g", tool, program, threads, size);
    times.exact = run("'%s' analyze -q --engine exact --model both --bins 10 -o r.data t.rsct", tool);
    exact[0] = load("r.data", times.exact);
    if (period > 0) snprintf(rate, sizeof rate, ",period=%.0f", period);
    double seconds =
        run("'%s' analyze -q --engine sampled:ordering=parallel%s --model both --bins 10 -o r.data t.rsct", tool, rate);
    struct result sampled = load("r.data", seconds);
    compare_both(program, threads, "trace private", "trace shared parallel", exact, 1, &sampled, &times);
    drop(&sampled);
    drop(&exact[0]);
    run("rm -f t.rsct");
}

static void build(const char *source_folder, const char *program) {
    run("gcc -O2 -g -w -fopenmp '%s/%s.c' -o %s.plain -lm -pthread", source_folder, program, program);
    run("'%s' cc -q gcc -O2 -g -w -fopenmp '%s/%s.c' -o %s.rebuilt -lm -pthread", tool, source_folder, program,
        program);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(
            stderr,
            "usage: bench_multicore TOOL bench/programs/multicore [SIZE[:SECONDS] [THREADS [PERIOD [PROGRAM...]]]]\n");
        return 2;
    }
    /* commands run in another folder */
    tool = realpath(argv[1], NULL);
    const char *sources = realpath(argv[2], NULL);
    if (!tool || !sources) {
        fprintf(stderr, "bench_multicore: %s: no such file\n", tool ? argv[2] : argv[1]);
        return 1;
    }
    double size = argc > 3 ? atof(argv[3]) : 1, period = argc > 5 ? atof(argv[5]) : 0;
    const char *seconds = argc > 3 ? strchr(argv[3], ':') : NULL;
    double wanted = seconds ? atof(seconds + 1) : 0;
    int threads = argc > 4 ? atoi(argv[4]) : 0;
    need(mkdtemp(folder) ? 0 : -1, "a folder in /tmp");
    head();
    for (size_t i = 0; i < (argc > 6 ? (size_t)argc - 6 : PROGRAMS); i++) {
        const char *program = argc > 6 ? argv[6 + i] : all_programs[i];
        build(sources, program);
        for (int t = 2; t <= 4; t += 2)
            if (!threads || threads == t) measure(program, t, size, wanted, period);
    }
    run("rm -rf %s", folder);
    printf("* fewer than %u samples: not part of the means\n\ngeometric means\n", SAMPLES_LEAST);
    for (size_t i = 0; i < sum_count; i++) {
        double value[COLUMNS];
        char name[32];
        for (int k = 0; k < COLUMNS; k++) value[k] = exp(sums[i].logs[k] / sums[i].count);
        snprintf(name, sizeof name, "mean of %d", sums[i].count);
        print_row(name, sums[i].threads, sums[i].name, SAMPLES_LEAST, value);
    }
    return 0;
}
