/*
 * bench_featherlight.c - how near featherlight comes to the truth, trace by trace:
 *
 *     bench_featherlight FOLDER [dev|held] [SAMPLES [SEEDS [all]]]
 *
 * reads FOLDER/list as bench/featherlight-traces leaves it. Every trace is scaled to
 * SAMPLES samples (default 8,000; 1 of references / SAMPLES loads and stores). Loads
 * and stores only, words of 8 bytes; `all` prints RI and RD accuracy of every ablation, too, for every trace; accuracy is paper 003's: 20 bins from 4 Ki, S,
 * S-hat and earth mover's distance, means over SEEDS seeds (default 5).
 *
 * The diagnosis follows the paper's figure 5. `model` is the same conversion made of
 * the exact intervals: what it lacks is the model's. What S-hat forgives and S does
 * not lies within a bin of the truth: binning. The rest is sampling.
 */
#include <math.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "bench/measure.h"
#include "bench/numbers.h"
#include "featherlight/simulated_pmu.h"
#include "profile/metrics.h"
#include "profile/ri_models.h"

static const char *const variants[] = {
    "", /* as it is by default */
    "registers=1",
    "registers=2",
    "registers=3",
    "attribution=proportional",
    "attribution=since-last",
    "attribution=inverse",
    "attribution=none",
    "replacement=naive,attribution=none",
    "replacement=naive",
    "skid=20,shadow=20",
    "spacing=fixed",
    "rd=shen",
};
#define VARIANTS (sizeof variants / sizeof *variants)
#define SEEDS_MAX 20u
#define TRACES_MAX 200u

struct accuracy {
    double s, hat, emd;
};

struct row {
    struct accuracy ri[VARIANTS], rd[VARIANTS], model;
};

static struct row rows[TRACES_MAX];
static uint32_t row_count;
static int print_all;

static struct rsc_trace *open_trace(const char *path) {
    struct rsc_filter filter = RSC_FILTER_ALL;
    struct rsc_trace *trace;
    struct rsc_error error;
    filter.kinds = RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE);
    struct rsc_trace_options options = {.struct_bytes = sizeof options, .filter = &filter};
    if (rsc_trace_open(&trace, path, &options, &error) < 0) {
        fprintf(stderr, "bench: %s\n", error.message);
        exit(1);
    }
    return trace;
}

static struct rsc_profile *exact_profile(const char *path) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = "exact", .line_bytes = 8, .attribute = 2};
    struct rsc_trace *trace = open_trace(path);
    struct rsc_profile *profile;
    struct rsc_error error;
    need(rsc_analyze_trace(trace, &options, &profile, &error), "exact engine");
    rsc_trace_close(trace);
    return profile;
}

/* Without error bars, which are most of the work. */
static struct rsc_simulated_pmu *make_pmu(const char *parameters, uint64_t period, uint64_t seed) {
    struct rsc_pmu_options options;
    struct rsc_simulated_pmu *pmu;
    struct rsc_error error;
    need(rsc_pmu_parse(&options, parameters[0] ? parameters : NULL, &error), parameters);
    options.period = period;
    options.estimate.seed = seed;
    options.estimate.no_bars = 1;
    need(rsc_simulated_pmu_new(&pmu, &options, &error), "engine");
    return pmu;
}

static void run_pmus(const char *path, struct rsc_simulated_pmu **pmus, struct rsc_profile **profiles, size_t count) {
    struct rsc_trace *trace = open_trace(path);
    const struct rsc_batch *batch;
    struct rsc_error error;
    int more;
    while ((more = rsc_trace_next(trace, &batch, &error)) > 0)
        for (size_t i = 0; i < count; i++) need(rsc_simulated_pmu_push(pmus[i], batch, &error), "push");
    need(more, "reading");
    rsc_trace_close(trace);
    for (size_t i = 0; i < count; i++) {
        need(rsc_simulated_pmu_finish(pmus[i], &profiles[i], &error), "finish");
        rsc_simulated_pmu_free(pmus[i]);
    }
}

static struct accuracy compare(const struct rsc_histogram *truth, const struct rsc_histogram *got) {
    double a[RSC_OCTAVE_SHARES], b[RSC_OCTAVE_SHARES];
    rsc_histogram_octave_shares(truth, a);
    rsc_histogram_octave_shares(got, b);
    return (struct accuracy){rsc_octave_accuracy(a, b), rsc_octave_accuracy_windowed(a, b), rsc_octave_emd(a, b)};
}

static void add(struct accuracy *sum, struct accuracy one, double share) {
    sum->s += one.s * share;
    sum->hat += one.hat * share;
    sum->emd += one.emd * share;
}

static struct accuracy model_alone(const struct rsc_profile *exact) {
    struct rsc_ri_counts counts = {.ri = &exact->ri, .cold = exact->cold, .distinct = exact->distinct};
    struct rsc_ri_model model;
    struct rsc_histogram rd = {0};
    need(rsc_histogram_init(&rd, RSC_BINS_FINE), "histogram");
    need(rsc_ri_model_init(&model, RSC_RI_AET, &counts), "model");
    need(rsc_ri_model_rd(&model, &rd), "model");
    struct accuracy accuracy = compare(&exact->rd, &rd);
    rsc_ri_model_free(&model);
    rsc_histogram_free(&rd);
    return accuracy;
}

/* Where the bin of the paper ends (4 Ki, 8 Ki... words) up to which `share` of the reuses are. */
static double percentile(const struct rsc_histogram *rd, double share) {
    double shares[RSC_OCTAVE_SHARES], sum = 0;
    rsc_histogram_octave_shares(rd, shares);
    uint32_t bin = 0;
    while (bin + 1 < RSC_OCTAVE_SHARES && (sum += shares[bin]) < share) bin++;
    return 4096.0 * (double)(1ull << bin);
}

static void measure(const char *path, const char *name, uint64_t samples, uint32_t seeds) {
    struct row *row = &rows[row_count++];
    struct rsc_simulated_pmu *pmus[VARIANTS * SEEDS_MAX];
    struct rsc_profile *exact = exact_profile(path), *profiles[VARIANTS * SEEDS_MAX];
    uint64_t period = exact->references / samples;
    if (!period) period = 1;
    for (uint32_t v = 0; v < VARIANTS; v++)
        for (uint32_t s = 0; s < seeds; s++) pmus[v * seeds + s] = make_pmu(variants[v], period, s + bench_seed());
    run_pmus(path, pmus, profiles, VARIANTS * seeds);
    static const double shares[] = {0.70, 0.80, 0.90, 0.95};
    double percentiles[4];
    for (int i = 0; i < 4; i++) percentiles[i] = percentile(&profiles[0]->rd, shares[i]);
    for (uint32_t v = 0; v < VARIANTS; v++)
        for (uint32_t s = 0; s < seeds; s++) {
            add(&row->ri[v], compare(&exact->ri, &profiles[v * seeds + s]->ri), 1.0 / seeds);
            add(&row->rd[v], compare(&exact->rd, &profiles[v * seeds + s]->rd), 1.0 / seeds);
            rsc_profile_free(profiles[v * seeds + s]);
        }
    row->model = model_alone(exact);
    printf("%-20s %7.1f M %8llu  %6.2f %6.2f %6.3f   %6.2f %6.2f %6.3f   %6.2f %6.2f\n", name,
           (double)exact->references / 1e6, (unsigned long long)period, 100 * row->ri[0].s, 100 * row->ri[0].hat,
           row->ri[0].emd, 100 * row->rd[0].s, 100 * row->rd[0].hat, row->rd[0].emd, 100 * row->model.s,
           100 * row->model.hat);
    put_number("words", (double)exact->references, "%s", name);
    put_number("model S", row->model.s, "%s", name);
    put_number("model S-hat", row->model.hat, "%s", name);
    for (int i = 0; i < 4; i++) {
        char column[32];
        snprintf(column, sizeof column, "RD at %.0f %%", 100 * shares[i]);
        put_number(column, percentile(&exact->rd, shares[i]), "%s/exact", name);
        put_number(column, percentiles[i], "%s/estimated", name);
    }
    for (uint32_t v = 0; v < VARIANTS; v++) {
        const char *variant = v ? variants[v] : "default";
        put_number("RI S", row->ri[v].s, "%s/%s", name, variant);
        put_number("RI S-hat", row->ri[v].hat, "%s/%s", name, variant);
        put_number("RD S", row->rd[v].s, "%s/%s", name, variant);
        put_number("RD S-hat", row->rd[v].hat, "%s/%s", name, variant);
    }
    for (uint32_t v = 0; v < VARIANTS && print_all; v++)
        printf("  %-36s %6.2f %6.2f  EMD %.3f %.3f\n", variants[v][0] ? variants[v] : "as by default",
               100 * row->ri[v].s, 100 * row->rd[v].s, row->ri[v].emd, row->rd[v].emd);
    fflush(stdout);
    rsc_profile_free(exact);
}

static int by_value(const void *left, const void *right) {
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* Of the number that lies `offset` bytes into each row. */
static double quantile(size_t offset, double share) {
    double values[TRACES_MAX];
    for (uint32_t i = 0; i < row_count; i++) memcpy(&values[i], (const char *)&rows[i] + offset, sizeof *values);
    qsort(values, row_count, sizeof *values, by_value);
    double at = share * (row_count - 1);
    uint32_t low = (uint32_t)at;
    return low + 1 < row_count ? values[low] + (at - low) * (values[low + 1] - values[low]) : values[low];
}

/* Paper 003, figure 5: traces of low RD accuracy, by cause; and what the average trace loses to what. */
static void diagnose(void) {
    uint32_t low = 0, binning = 0, model = 0, sampling = 0;
    double lost = 0, by_model = 0, by_binning = 0;
    for (uint32_t i = 0; i < row_count; i++) {
        const struct row *row = &rows[i];
        lost += 1 - row->rd[0].s;
        by_binning += row->rd[0].hat - row->rd[0].s;
        by_model += fmin(1 - row->model.hat, 1 - row->rd[0].hat);
        if (row->rd[0].s >= 0.9) continue;
        low++;
        if (row->rd[0].hat >= 0.9) binning++;
        else if (row->model.s < 0.9) model++;
        else sampling++;
    }
    printf(
        "RD accuracy under 90 %%: %u of %u traces: %u by binning (S-hat is 90 %% or more), %u by the model, %u by sampling\n",
        low, row_count, binning, model, sampling);
    put_number("traces", row_count, "diagnosis");
    put_number("low", low, "diagnosis");
    put_number("binning", binning, "diagnosis");
    put_number("model", model, "diagnosis");
    put_number("sampling", sampling, "diagnosis");
    if (row_count)
        printf(
            "lost on average: %.2f points, of which within a bin of the truth %.2f, by the model %.2f, by sampling %.2f\n",
            100 * lost / row_count, 100 * by_binning / row_count, 100 * by_model / row_count,
            100 * (lost - by_binning - by_model) / row_count);
}

int main(int argc, char **argv) {
    const char *folder = argc > 1 ? argv[1] : "build/bench/featherlight", *set = argc > 2 ? argv[2] : "held";
    uint64_t samples = argc > 3 ? strtoull(argv[3], NULL, 10) : 8000;
    uint32_t seeds = argc > 4 ? (uint32_t)strtoul(argv[4], NULL, 10) : 5;
    print_all = argc > 5 && !strcmp(argv[5], "all");
    char path[4096], line[600], which[32], name[500];
    snprintf(path, sizeof path, "%s/list", folder);
    FILE *list = fopen(path, "r");
    if (!list || !samples || !seeds || seeds > SEEDS_MAX) {
        fprintf(
            stderr,
            "usage: bench_featherlight FOLDER [dev|held] [SAMPLES [SEEDS [all]]] (bench/featherlight-traces makes FOLDER)\n");
        return 1;
    }
    printf("%s traces, %llu samples each, 4 registers; percent, mean of %u seeds\n", set, (unsigned long long)samples,
           seeds);
    printf("%-20s %9s %8s  %-21s   %-21s   %-13s\n", "", "", "", "RI", "RD", "RD of exact RI");
    printf("%-20s %9s %8s  %6s %6s %6s   %6s %6s %6s   %6s %6s\n", "trace", "words", "period", "S", "S-hat", "EMD", "S",
           "S-hat", "EMD", "S", "S-hat");
    while (fgets(line, sizeof line, list)) {
        if (sscanf(line, "%31s %499s", which, name) != 2 || strcmp(which, set) || row_count == TRACES_MAX) continue;
        snprintf(path, sizeof path, "%s/%s", folder, name);
        measure(path, name, samples, seeds);
    }
    fclose(list);
    printf("\n%-36s  %-13s  %-13s  %s\n", "medians", "RI", "RD", "lower quartile");
    printf("%-36s  %6s %6s  %6s %6s  %6s %6s\n", "", "S", "EMD", "S", "EMD", "RI", "RD");
    for (uint32_t v = 0; v < VARIANTS && row_count; v++) {
        size_t ri = (size_t)((char *)&rows[0].ri[v] - (char *)&rows[0]),
               rd = (size_t)((char *)&rows[0].rd[v] - (char *)&rows[0]);
        size_t emd = offsetof(struct accuracy, emd);
        printf("%-36s  %6.2f %6.3f  %6.2f %6.3f  %6.2f %6.2f\n", v ? variants[v] : "as by default",
               100 * quantile(ri, 0.5), quantile(ri + emd, 0.5), 100 * quantile(rd, 0.5), quantile(rd + emd, 0.5),
               100 * quantile(ri, 0.25), 100 * quantile(rd, 0.25));
        put_number("RI S", quantile(ri, 0.5), "median/%s", v ? variants[v] : "default");
        put_number("RD S", quantile(rd, 0.5), "median/%s", v ? variants[v] : "default");
        put_number("RI S, lower quartile", quantile(ri, 0.25), "median/%s", v ? variants[v] : "default");
        put_number("RD S, lower quartile", quantile(rd, 0.25), "median/%s", v ? variants[v] : "default");
    }
    diagnose();
    return 0;
}
