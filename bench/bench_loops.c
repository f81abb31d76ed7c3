/*
 * bench_loops.c - the loop models beside the simulated truth and beside the paper's
 * model, on the kernels of examples/loops: paper 004's accuracy and speed tables.
 *
 *     bench_loops [FOLDER [accuracy[:T,...[:SCHEDULE]]|near|near-models|coverage|coverage-models|band|speed [KERNEL[:SIZES]...]]]
 *
 * Accuracy, at T = 4 and 64 threads and with the source's schedule unless others are given: mean absolute error (MAE) of the miss ratio curve against exact
 * simulation of the same interleaving, at 8 points an octave, and on the paper's
 * grid (37 sizes below 64 KiB, 16 to 1 MiB, 20 above; spread evenly in the
 * logarithm, since the paper gives only their number). `known`: the model asked is that of
 * the interleaving simulated; `drift`: the default is asked, whatever is simulated;
 * `paper`: racetrack with private intervals from 4 threads. Kernels marked `held`
 * were not looked at while models were made.
 * These are the models': small regions are not simulated whole.
 * Near: as asked, from 32 KiB to the footprint, as factors and as coverage of the error bars, over seeds of the model,
 * each against one of 4 draws of the interleaving; the same where sizes may be off by 5%, against the mean of the draws,
 * and of each draw against the others, which is what no model can do better than; near-models: of the models alone. Coverage: as near, over 200 seeds of the model and 20 draws of the
 * interleaving (not in `all`); coverage-models: of the models alone.
 * Band: how often the default's band holds what each interleaving gives.
 * Speed: processor time and elapsed time at large sizes, of the first answer and of a further number of threads (best
 * of 5), beside their bars.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "bench/numbers.h"
#include "loops/front/c_source.h"
#include "loops/model/loops_model.h"
#include "loops/model/oracle.h"

#define KERNELS_MAX 64
#define NEAR_SEEDS 8
#define NEAR_DRAWS 4
#define DRAWS_MOST 20
#define SIZE_OFF 1.05
#define WAYS 4

static const char *const ways[WAYS] = {"lockstep", "iid", "drift", "bursty:2000"};

struct kernel {
    char name[64], sort[32], small[128], large[128], half[16];
};

static struct kernel kernel[KERNELS_MAX];
static int kernels;
static int seeds = NEAR_SEEDS, draws = NEAR_DRAWS; /* of the model; of the interleaving simulated */
static int models_alone; /* small regions are sampled like large ones */
static const char *folder = "examples/loops";
static const char *schedule; /* of all loops; NULL: their own */

static void read_kernels(void) {
    char path[512], line[512];
    snprintf(path, sizeof path, "%s/KERNELS", folder);
    FILE *file = fopen(path, "r");
    if (!file) {
        fprintf(stderr, "bench: cannot open %s\n", path);
        exit(1);
    }
    while (kernels < KERNELS_MAX && fgets(line, sizeof line, file)) {
        struct kernel *k = &kernel[kernels];
        if (line[0] != '#' &&
            sscanf(line, "%63s %31s %127s %127s %15s", k->name, k->sort, k->small, k->large, k->half) == 5)
            kernels++;
    }
    fclose(file);
}

static void check(int status, const struct rsc_error *error, const char *what) {
    if (status >= 0) return;
    fprintf(stderr, "bench: %s: %s\n", what, error->message);
    exit(1);
}

static struct rsc_loop_program *load(const struct kernel *k, const char *sizes) {
    char path[512], flags[16][64];
    const char *list[16];
    size_t count = 0;
    snprintf(path, sizeof path, "%s/%s.c", folder, k->name);
    char copy[128];
    snprintf(copy, sizeof copy, "%s", sizes);
    for (char *part = strtok(copy, ","); part && count < 16; part = strtok(NULL, ",")) {
        snprintf(flags[count], sizeof flags[count], "-D%.60s", part);
        list[count] = flags[count];
        count++;
    }
    struct rsc_c_options options = {.flags = list, .flag_count = count};
    struct rsc_loop_program *program;
    struct rsc_error error = {0};
    char *text;
    size_t bytes;
    check(rsc_c_source_read(path, &options, &text, &bytes, &error), &error, k->name);
    check(rsc_loop_text_read(text, bytes, path, NULL, 0, &program, &error), &error, k->name);
    free(text);
    check(rsc_loop_layout(program, 64, &error), &error, k->name);
    return program;
}

/* ---- accuracy ---- */

struct errors {
    double known[WAYS], drift[WAYS], paper[WAYS];
    double known_grid[WAYS], paper_grid[WAYS]; /* on the paper's grid */
};

static double curve_error(const struct rsc_loops_result *result, const struct rsc_oracle *truth) {
    double sum = 0;
    for (size_t g = 0; g < result->mrc_count; g++)
        sum += fabs(result->mrc[g].miss_ratio - rsc_oracle_miss_ratio(truth, result->mrc[g].lines));
    return 100 * sum / (double)result->mrc_count;
}

static double paper_grid_error(const struct rsc_loops_result *result, const struct rsc_oracle *truth) {
    static const struct {
        double from, to;
        int count;
    } part[] = {{64, 65536, 37}, {65536, 1 << 20, 16}, {1 << 20, 1 << 26, 20}};
    double sum = 0;
    int count = 0;
    for (int p = 0; p < 3; p++)
        for (int i = 0; i < part[p].count; i++, count++) {
            double bytes = part[p].from * pow(part[p].to / part[p].from, (i + 0.5) / part[p].count);
            uint64_t lines = (uint64_t)(bytes / 64);
            if (!lines) lines = 1;
            sum += fabs(rsc_loops_result_at(result, lines).miss_ratio - rsc_oracle_miss_ratio(truth, lines));
        }
    return 100 * sum / count;
}

static int measure(const struct rsc_loop_program *program, uint32_t region, uint32_t threads, struct errors *errors) {
    struct rsc_error error = {0};
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    options.band = options.private_view = 0;
    options.schedule = schedule;
    options.seed = bench_seed();
    options.whole_limit = 0;
    struct rsc_loops_analysis *analysis;
    struct rsc_nest *nest;
    struct rsc_plan *plan;
    struct rsc_interleave model;
    struct rsc_loops_result *paper, *drift, *known;
    check(rsc_loops_analysis_new(&analysis, program, region, &options, &error), &error, "analysis");
    check(rsc_nest_new(&nest, program, region, UINT32_MAX, 64, &error), &error, "nest");
    check(rsc_plan_new(&plan, nest, threads, schedule, &error), &error, "plan");
    rsc_interleave_parse(&model, "racetrack", &error);
    check(rsc_loops_analyse(analysis, threads, &model, &paper, &error), &error, "racetrack");
    rsc_interleave_parse(&model, "drift", &error);
    check(rsc_loops_analyse(analysis, threads, &model, &drift, &error), &error, "drift");
    for (int w = 0; w < WAYS; w++) {
        struct rsc_oracle truth;
        rsc_interleave_parse(&model, ways[w], &error);
        check(rsc_oracle_run(&truth, plan, &model, 64, 4 + bench_seed(), 0, NULL, NULL, &error), &error, ways[w]);
        check(rsc_loops_analyse(analysis, threads, &model, &known, &error), &error, ways[w]);
        if (truth.distinct != known->distinct || truth.references != known->references) {
            fprintf(stderr, "bench: counts are not exact\n");
            exit(1);
        }
        errors->known[w] = curve_error(known, &truth);
        errors->drift[w] = curve_error(drift, &truth);
        errors->paper[w] = curve_error(paper, &truth);
        errors->known_grid[w] = paper_grid_error(known, &truth);
        errors->paper_grid[w] = paper_grid_error(paper, &truth);
        if (getenv("CURVES"))
            for (size_t g = 0; g < known->mrc_count; g++)
                printf("%s %llu ours %.4f truth %.4f paper %.4f\n", ways[w], (unsigned long long)known->mrc[g].lines,
                       known->mrc[g].miss_ratio, rsc_oracle_miss_ratio(&truth, known->mrc[g].lines),
                       paper->mrc[g].miss_ratio);
        rsc_loops_result_free(known);
        rsc_oracle_free(&truth);
    }
    rsc_loops_result_free(paper);
    rsc_loops_result_free(drift);
    rsc_plan_free(plan);
    rsc_nest_free(nest);
    rsc_loops_analysis_free(analysis);
    return 0;
}

/* Whether the kernel is among those asked for; "NAME:N=100,M=80" takes the place of its small sizes. */
static int chosen(int argc, char **argv, struct kernel *k) {
    if (argc <= 3) return 1;
    for (int i = 3; i < argc; i++) {
        size_t length = strcspn(argv[i], ":");
        if (strlen(k->name) != length || memcmp(argv[i], k->name, length)) continue;
        if (argv[i][length]) snprintf(k->small, sizeof k->small, "%s", argv[i] + length + 1);
        return 1;
    }
    return 0;
}

static void accuracy(int argc, char **argv, uint32_t threads) {
    printf("\nMAE of the miss ratio curve in percent, T=%u: known / drift / paper\n%-16s %-6s", threads, "loop",
           "half");
    for (int w = 0; w < WAYS; w++) printf(" %19s", ways[w]);
    printf("\n");
    struct errors sum[2] = {0}, one;
    double loops[2] = {0}, worst[2] = {0};
    for (int k = 0; k < kernels; k++) {
        if (!chosen(argc, argv, &kernel[k])) continue;
        int half = !strcmp(kernel[k].half, "held");
        struct rsc_loop_program *program = load(&kernel[k], kernel[k].small);
        for (uint32_t r = 0; r < program->region_count; r++) {
            measure(program, r, threads, &one);
            printf("%-16s %-6s", kernel[k].name, kernel[k].half);
            for (int w = 0; w < WAYS; w++) {
                printf("  %5.2f %5.2f %5.2f", one.known[w], one.drift[w], one.paper[w]);
                const char *row = kernel[k].name;
                put_number("known", one.known[w], "%s/%s/T=%u/%s/%u", row, kernel[k].half, threads, ways[w], r);
                put_number("default", one.drift[w], "%s/%s/T=%u/%s/%u", row, kernel[k].half, threads, ways[w], r);
                put_number("racetrack", one.paper[w], "%s/%s/T=%u/%s/%u", row, kernel[k].half, threads, ways[w], r);
                put_number("known, grid", one.known_grid[w], "%s/%s/T=%u/%s/%u", row, kernel[k].half, threads, ways[w],
                           r);
                put_number("racetrack, grid", one.paper_grid[w], "%s/%s/T=%u/%s/%u", row, kernel[k].half, threads,
                           ways[w], r);
                sum[half].known[w] += one.known[w];
                sum[half].drift[w] += one.drift[w];
                sum[half].paper[w] += one.paper[w];
                sum[half].known_grid[w] += one.known_grid[w];
                sum[half].paper_grid[w] += one.paper_grid[w];
                if (one.known[w] > worst[half]) worst[half] = one.known[w];
            }
            printf("\n");
            fflush(stdout);
            loops[half]++;
        }
        rsc_loop_program_free(program);
    }
    for (int half = 0; half < 2; half++) {
        if (!loops[half]) continue;
        double n = loops[half], unknown = 0, paper = 0;
        printf("%-16s %-6s", "mean", half ? "held" : "tuned");
        for (int w = 0; w < WAYS; w++) {
            printf("  %5.2f %5.2f %5.2f", sum[half].known[w] / n, sum[half].drift[w] / n, sum[half].paper[w] / n);
            unknown += sum[half].drift[w] / n / WAYS;
            paper += sum[half].paper[w] / n / WAYS;
        }
        printf("\n%-16s %-6s", "paper's grid", half ? "held" : "tuned");
        for (int w = 0; w < WAYS; w++)
            printf("  %5.2f     - %5.2f", sum[half].known_grid[w] / n, sum[half].paper_grid[w] / n);
        printf("\n%s half, T=%u: worst loop %.2f; interleaving unknown: drift %.2f, paper %.2f\n",
               half ? "held" : "tuned", threads, worst[half], unknown, paper);
    }
}

/* ---- where caches are: from 32 KiB to the footprint ---- */

#define NEAR_LINES 512u /* 32 KiB */

/* The mean of `count` draws. */
static double true_ratio(const struct rsc_oracle *truth, int count, double lines) {
    double sum = 0;
    for (int d = 0; d < count; d++) sum += rsc_oracle_miss_ratio(&truth[d], (uint64_t)lines);
    return sum / count;
}

/* The largest factor between curve and truth, either way, where sizes may be off by a factor of `off`. */
static double curve_factor(const struct rsc_loops_result *result, const struct rsc_oracle *truth, int count,
                           double off) {
    double worst = 1;
    for (size_t g = 0; g < result->mrc_count; g++) {
        const struct rsc_mrc_point *at = &result->mrc[g];
        if (at->lines < NEAR_LINES) continue;
        double most = true_ratio(truth, count, (double)at->lines / off),
               least = true_ratio(truth, count, ceil((double)at->lines * off));
        worst = fmax(worst, fmax(at->miss_ratio / most, least / at->miss_ratio));
    }
    return worst;
}

/* The largest factor between two draws at the sizes of the curve. */
static double draws_factor(const struct rsc_loops_result *result, const struct rsc_oracle *a,
                           const struct rsc_oracle *b) {
    double worst = 1;
    for (size_t g = 0; g < result->mrc_count; g++) {
        if (result->mrc[g].lines < NEAR_LINES) continue;
        double ratio = rsc_oracle_miss_ratio(a, result->mrc[g].lines) / rsc_oracle_miss_ratio(b, result->mrc[g].lines);
        worst = fmax(worst, fmax(ratio, 1 / ratio));
    }
    return worst;
}

/* Sizes whose bar holds the truth; those where it is known (all lines fit) are left out. */
static void count_covered(const struct rsc_loops_result *result, const struct rsc_oracle *truth, double *sizes,
                          double *covered) {
    for (size_t g = 0; g < result->mrc_count; g++) {
        const struct rsc_mrc_point *at = &result->mrc[g];
        double ratio = rsc_oracle_miss_ratio(truth, at->lines);
        if (at->lines < NEAR_LINES || at->lines >= result->distinct) continue;
        ++*sizes;
        *covered += at->low - 1e-12 <= ratio && ratio <= at->high + 1e-12;
    }
}

struct near {
    double factor, sizes, covered, samples, milliseconds, results, within;
    double off_within, mean_within, mean_off_within, pairs, draws_within, draws_factor;
};

/* Truth and model have the same interleaving, or, with the band, the model is the default; seeds differ. */
static void measure_near(const struct rsc_loop_program *program, uint32_t region, uint32_t threads, const char *way,
                         int band, struct near *sum, double bound) {
    struct rsc_error error = {0};
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    struct rsc_interleave model;
    struct rsc_nest *nest;
    struct rsc_plan *plan;
    struct rsc_oracle truths[DRAWS_MOST];
    options.band = band;
    options.private_view = 0;
    if (models_alone) options.whole_limit = 0;
    check(rsc_interleave_parse(&model, way, &error), &error, way);
    check(rsc_nest_new(&nest, program, region, UINT32_MAX, 64, &error), &error, "nest");
    check(rsc_plan_new(&plan, nest, threads, NULL, &error), &error, "plan");
    int drawn = strcmp(way, "lockstep") ? draws : 1;
    for (int d = 0; d < drawn; d++)
        check(rsc_oracle_run(&truths[d], plan, &model, 64, 5 + 1000 * (uint64_t)d, 0, NULL, NULL, &error), &error, way);
    if (band) check(rsc_interleave_parse(&model, "drift", &error), &error, "drift");
    for (int seed = 1; seed <= (band ? 2 : seeds); seed++) {
        const struct rsc_oracle *truth = &truths[seed % drawn];
        struct rsc_loops_analysis *analysis;
        struct rsc_loops_result *result;
        options.seed = (uint64_t)seed;
        check(rsc_loops_analysis_new(&analysis, program, region, &options, &error), &error, "analysis");
        double start = cpu_seconds_now();
        check(rsc_loops_analyse(analysis, threads, &model, &result, &error), &error, way);
        sum->milliseconds += 1e3 * (cpu_seconds_now() - start);
        double factor = curve_factor(result, truth, 1, 1);
        sum->off_within += curve_factor(result, truth, 1, SIZE_OFF) <= bound;
        sum->mean_within += curve_factor(result, truths, drawn, 1) <= bound;
        sum->mean_off_within += curve_factor(result, truths, drawn, SIZE_OFF) <= bound;
        for (int d = 1; d < drawn && seed == 1; d++, sum->pairs++) {
            double apart = draws_factor(result, &truths[d - 1], &truths[d]);
            sum->draws_within += apart <= bound;
            sum->draws_factor = fmax(sum->draws_factor, apart);
        }
        if (getenv("CURVES"))
            for (size_t g = 0; g < result->mrc_count; g++)
                if (result->mrc[g].lines >= NEAR_LINES)
                    printf("%s %d %llu ours %.5f (%.5f to %.5f) truth %.5f\n", way, seed,
                           (unsigned long long)result->mrc[g].lines, result->mrc[g].miss_ratio, result->mrc[g].low,
                           result->mrc[g].high, rsc_oracle_miss_ratio(truth, result->mrc[g].lines));
        sum->factor = fmax(sum->factor, factor);
        sum->within += factor <= bound;
        count_covered(result, truth, &sum->sizes, &sum->covered);
        sum->samples += (double)result->samples;
        sum->results++;
        rsc_loops_result_free(result);
        rsc_loops_analysis_free(analysis);
    }
    for (int d = 0; d < drawn; d++) rsc_oracle_free(&truths[d]);
    rsc_plan_free(plan);
    rsc_nest_free(nest);
}

static void print_near(const char *kernel, const char *way, const struct near *near) {
    double n = near->results;
    printf("%-16s %-11s %6.2f %5.0f%% %5.0f%% %5.0f%% %5.0f%% ", kernel, way, near->factor, 100 * near->within / n,
           100 * near->off_within / n, 100 * near->mean_within / n, 100 * near->mean_off_within / n);
    if (near->pairs) printf("%6.2f %5.0f%%", near->draws_factor, 100 * near->draws_within / near->pairs);
    else printf("%6s %6s", "-", "-");
    printf(" %5.0f%% %7.0f %6.1f\n", 100 * near->covered / fmax(near->sizes, 1), near->samples / n,
           near->milliseconds / n);
    fflush(stdout);
}

static void add_near(struct near *all, const struct near *one) {
    all->factor = fmax(all->factor, one->factor);
    all->within += one->within;
    all->off_within += one->off_within;
    all->mean_within += one->mean_within;
    all->mean_off_within += one->mean_off_within;
    all->pairs += one->pairs;
    all->draws_within += one->draws_within;
    all->draws_factor = fmax(all->draws_factor, one->draws_factor);
    all->results += one->results;
    all->sizes += one->sizes;
    all->covered += one->covered;
    all->milliseconds += one->milliseconds;
    all->samples += one->samples;
}

static void nearness(int argc, char **argv, uint32_t threads, double bound, int band) {
    printf(
        "\n%s: 32 KiB to the footprint, T=%u, %d seeds: worst factor; seeds within %.2f, if sizes may be off by 5%%, "
        "of the mean of draws, of it if sizes may be off; worst factor between two draws, and pairs within; sizes covered "
        "by 90%% bars; samples; ms\n%-16s %-11s %6s %6s %6s %6s %6s %6s %6s %6s %7s %6s\n",
        band ? "The default with its band" : "Interleaving known", threads, band ? 2 : seeds, bound, "loop",
        "interleaved", "worst", "within", "5%", "mean", "5%", "draws", "within", "covered", "samples", "ms");
    struct near all[WAYS] = {{0}};
    for (int k = 0; k < kernels; k++) {
        if (!chosen(argc, argv, &kernel[k])) continue;
        struct rsc_loop_program *program = load(&kernel[k], kernel[k].small);
        for (uint32_t r = 0; r < program->region_count; r++)
            for (int w = 0; w < WAYS; w++) {
                struct near one = {0};
                measure_near(program, r, threads, ways[w], band, &one, bound);
                print_near(kernel[k].name, ways[w], &one);
                add_near(&all[w], &one);
            }
        rsc_loop_program_free(program);
    }
    for (int w = 0; w < WAYS; w++) print_near("all", ways[w], &all[w]);
}

/* ---- speed ---- */

#define FIRST_BAR 500.0 /* milliseconds from the source to the curves of one T */
#define RECTANGULAR_BAR 10.0
#define OTHER_BAR 50.0

/* Of all threads and of children: libclang parses in a thread of its own, and the compiler is asked for its headers. */
static double all_cpu_ms(void) {
    struct rusage own, children;
    getrusage(RUSAGE_SELF, &own);
    getrusage(RUSAGE_CHILDREN, &children);
    struct timeval part[4] = {own.ru_utime, own.ru_stime, children.ru_utime, children.ru_stime};
    double sum = 0;
    for (int i = 0; i < 4; i++) sum += 1e3 * (double)part[i].tv_sec + 1e-3 * (double)part[i].tv_usec;
    return sum;
}

/* Whether no loop's bounds have an outer variable. */
static int is_rectangular(const struct rsc_nest_node *node) {
    if (node->kind == RSC_NODE_LOOP && !node->fixed) return 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!is_rectangular(node->child[i])) return 0;
    return 1;
}

static const char *class_of(const struct rsc_loop_program *program, uint32_t region) {
    struct rsc_error error = {0};
    struct rsc_nest *nest;
    check(rsc_nest_new(&nest, program, region, UINT32_MAX, 64, &error), &error, "nest");
    int rectangular = is_rectangular(nest->root);
    rsc_nest_free(nest);
    return rectangular ? "rectangular" : "other";
}

/* Milliseconds: of all threads' processor time, and on the clock. */
struct took {
    double processor, elapsed;
};

static struct took took_since(double processor, double elapsed) {
    return (struct took){all_cpu_ms() - processor, 1e3 * seconds_now() - elapsed};
}

static struct took analyse_ms(struct rsc_loops_analysis *analysis, uint32_t threads, const char *name) {
    struct rsc_error error = {0};
    struct rsc_interleave drift;
    struct rsc_loops_result *result;
    rsc_interleave_parse(&drift, "drift", &error);
    double processor = all_cpu_ms(), elapsed = 1e3 * seconds_now();
    check(rsc_loops_analyse(analysis, threads, &drift, &result, &error), &error, name);
    struct took took = took_since(processor, elapsed);
    rsc_loops_result_free(result);
    return took;
}

static struct took least_of(struct took a, struct took b) {
    return (struct took){fmin(a.processor, b.processor), fmin(a.elapsed, b.elapsed)};
}

/* One region: drift alone, with the band over other interleavings, and with the private view too, as the tool answers. */
static void speed_of(const struct kernel *of, const struct rsc_loop_program *program, uint32_t r, struct took source) {
    static const uint32_t counts[] = {4, 16, 64};
    struct rsc_error error = {0};
    struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
    struct rsc_loops_analysis *analysis[3];
    struct took first = {0}, least[3][3], more;
    double most = 0;
    const char *class = class_of(program, r);
    double bar = class[0] == 'r' ? RECTANGULAR_BAR : OTHER_BAR;
    for (int v = 0; v < 3; v++) {
        options.band = v >= 1;
        options.private_view = v >= 2;
        double processor = all_cpu_ms(), elapsed = 1e3 * seconds_now();
        check(rsc_loops_analysis_new(&analysis[v], program, r, &options, &error), &error, of->name);
        first = took_since(processor, elapsed);
        more = analyse_ms(analysis[v], 4, of->name);
        first.processor += source.processor + more.processor;
        first.elapsed += source.elapsed + more.elapsed;
    }
    printf("| `%s` | %.2g | %s | %.0f, %.0f%s |", of->name, (double)rsc_loops_references(analysis[0]), class,
           first.processor, first.elapsed, first.elapsed > FIRST_BAR ? " over" : "");
    put_number("ms", first.processor, "%s/%s/%s/first/%u", of->name, of->half, class, r);
    put_number("ms elapsed", first.elapsed, "%s/%s/%s/first/%u", of->name, of->half, class, r);
    for (int c = 0; c < 3; c++) {
        for (int v = 0; v < 3; v++) {
            static const char *const columns[3] = {"ms", "ms with the band", "ms with private"};
            least[c][v] = analyse_ms(analysis[v], counts[c], of->name);
            for (int repeat = 1; repeat < 5; repeat++)
                least[c][v] = least_of(least[c][v], analyse_ms(analysis[v], counts[c], of->name));
            put_number(columns[v], least[c][v].processor, "%s/%s/%s/T=%u/%u", of->name, of->half, class, counts[c], r);
        }
        put_number("ms elapsed with private", least[c][2].elapsed, "%s/%s/%s/T=%u/%u", of->name, of->half, class,
                   counts[c], r);
        printf(" %.1f / %.1f / %.1f, %.1f |", least[c][0].processor, least[c][1].processor, least[c][2].processor,
               least[c][2].elapsed);
        most = fmax(most, least[c][2].elapsed);
    }
    printf(" %.0f%s |\n", bar, most > bar ? " over" : "");
    fflush(stdout);
    for (int v = 0; v < 3; v++) rsc_loops_analysis_free(analysis[v]);
}

static void speed(int argc, char **argv) {
    printf(
        "\nMilliseconds at large sizes. First answer: source, first analysis and T = 4 as the tool answers, processor\n"
        "time, then elapsed; bar %.0f. A further T: processor time with drift alone / with the band / with the private\n"
        "view too, as the tool answers, then elapsed as it answers; bar %.0f for rectangular loops, %.0f for others.\n"
        "`over`: elapsed time above the bar, which says something where the machine is idle.\n\n"
        "| loop | references | class | first answer | T = 4 | T = 16 | T = 64 | bar |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n",
        FIRST_BAR, RECTANGULAR_BAR, OTHER_BAR);
    for (int k = 0; k < kernels; k++) {
        if (!chosen(argc, argv, &kernel[k])) continue;
        double processor = all_cpu_ms(), elapsed = 1e3 * seconds_now();
        struct rsc_loop_program *program = load(&kernel[k], kernel[k].large);
        struct took source = took_since(processor, elapsed);
        for (uint32_t r = 0; r < program->region_count; r++) speed_of(&kernel[k], program, r, source);
        rsc_loop_program_free(program);
    }
}

int main(int argc, char **argv) {
    const char *what = argc > 2 ? argv[2] : "all";
    if (argc > 1) folder = argv[1];
    struct rsc_error error = {0};
    if (rsc_c_source_check(&error) < 0) {
        printf("loops: %s\n", error.message);
        return 0;
    }
    read_kernels();
    int every = !strcmp(what, "all");
    models_alone = !strcmp(what, "near-models");
    int coverage = !strncmp(what, "coverage", 8);
    if (coverage) seeds = 200, draws = DRAWS_MOST;
    models_alone |= !strcmp(what, "coverage-models");
    if (every || models_alone || coverage || !strcmp(what, "near")) {
        nearness(argc, argv, 4, 1.25, 0);
        nearness(argc, argv, 64, 1.5, 0);
    }
    if (every || !strcmp(what, "band")) {
        nearness(argc, argv, 4, 1.25, 1);
        nearness(argc, argv, 64, 1.5, 1);
    }
    if (every || !strncmp(what, "accuracy", 8)) {
        const char *at = !every && what[8] == ':' ? what + 9 : "4,64", *colon = strchr(at, ':');
        schedule = colon ? colon + 1 : NULL;
        for (char *next; *at && *at != ':'; at = *next == ',' ? next + 1 : next) {
            uint32_t threads = (uint32_t)strtoul(at, &next, 10);
            if (next == at || !threads) need(-1, "list of threads");
            accuracy(argc, argv, threads);
        }
    }
    if (every || !strcmp(what, "speed")) speed(argc, argv);
    return 0;
}
