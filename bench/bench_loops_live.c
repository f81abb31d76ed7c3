/*
 * bench_loops_live.c - a recording of a kernel's threads beside what the models say
 * of its source; bench/loops-live makes the recordings.
 *
 *     bench_loops_live THREADS TRACE LOW HIGH KERNEL.c|KERNEL.loop [-DN=64 ...]
 *
 * Only accesses to LOW..HIGH, the kernel's arrays, count. Printed: the mean absolute
 * error of the shared curve, 8 points an octave, under each interleaving, and under the one
 * that `loops --like` takes from the recording; how long threads ran without another coming
 * between; and the diffusion of the lead of the first two: over windows in which each made
 * w references on average, the variance of what one made more than the other, per 2 w. Drift's only parameter is that number for long w.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "bench/measure.h"
#include "bench/numbers.h"
#include "loops/front/c_source.h"
#include "loops/model/loops_model.h"
#include "profile/profile_model.h"

#define LOOP_BYTES ((size_t)1 << 20)
#define WINDOWS 6
static const double window[WINDOWS] = {64, 256, 1024, 4096, 16384, 65536};

static void check(int status, const struct rsc_error *error) {
    if (status >= 0) return;
    fprintf(stderr, "bench: %s\n", error->message);
    exit(1);
}

/* The loop tree of C source, or of a .loop file, as text. */
static char *read_loops(const char *path, const struct rsc_c_options *options, size_t *bytes) {
    char *text = NULL;
    struct rsc_error error = {0};
    size_t length = strlen(path);
    if (length < 5 || strcmp(path + length - 5, ".loop")) {
        check(rsc_c_source_read(path, options, &text, bytes, &error), &error);
        return text;
    }
    FILE *file = fopen(path, "r");
    text = file ? malloc(LOOP_BYTES) : NULL;
    if (!text) {
        fprintf(stderr, "bench: cannot read %s\n", path);
        exit(1);
    }
    *bytes = fread(text, 1, LOOP_BYTES, file);
    fclose(file);
    return text;
}

struct lead {
    uint64_t made[2], started[WINDOWS];
    double before[WINDOWS], sum[WINDOWS], squares[WINDOWS], count[WINDOWS];
};

static void step(struct lead *lead, int thread) {
    lead->made[thread]++;
    uint64_t all = lead->made[0] + lead->made[1];
    double ahead = (double)lead->made[0] - (double)lead->made[1];
    for (int w = 0; w < WINDOWS; w++) {
        if ((double)(all - lead->started[w]) < 2 * window[w]) continue;
        double change = ahead - lead->before[w];
        lead->sum[w] += change;
        lead->squares[w] += change * change;
        lead->count[w]++;
        lead->before[w] = ahead;
        lead->started[w] = all;
    }
}

int main(int argc, char **argv) {
    struct rsc_error error = {0};
    uint32_t threads = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    if (argc < 6 || threads < 2 || threads > 4096) {
        fprintf(stderr, "usage: bench_loops_live THREADS TRACE LOW HIGH KERNEL.c [-DN=64 ...]\n");
        return 2;
    }
    argv++;
    argc--;
    struct rsc_filter filter = RSC_FILTER_ALL;
    filter.addr_low = strtoull(argv[2], NULL, 0);
    filter.addr_high = strtoull(argv[3], NULL, 0);
    filter.kinds = RSC_KIND_BIT(RSC_READ) | RSC_KIND_BIT(RSC_WRITE);
    struct rsc_trace_options trace_options = {.struct_bytes = sizeof trace_options, .filter = &filter};
    struct rsc_engine_options engine_options = {
        .struct_bytes = sizeof engine_options, .engine = "exact", .model = "shared", .line_bytes = 64};
    struct rsc_trace *trace;
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    check(rsc_trace_open(&trace, argv[1], &trace_options, &error), &error);
    check(rsc_engine_new(&engine, &engine_options, &error), &error);
    const struct rsc_batch *batch;
    struct lead lead = {0};
    int status, known[2] = {-1, -1};
    while ((status = rsc_trace_next(trace, &batch, &error)) > 0) {
        check(rsc_engine_push(engine, batch, &error), &error);
        for (uint32_t i = 0; i < batch->count; i++) {
            int thread = (int)rsc_meta_thread(batch->meta[i]);
            if (known[0] < 0 || known[0] == thread) known[0] = thread, step(&lead, 0);
            else if (known[1] < 0 || known[1] == thread) known[1] = thread, step(&lead, 1);
        }
    }
    check(status, &error);
    check(rsc_engine_finish(engine, &profile, &error), &error);
    rsc_engine_free(engine);
    rsc_trace_close(trace);
    struct rsc_profile_totals totals;
    rsc_profile_get_totals(profile, &totals);

    struct rsc_c_options options = {
        .flags = (const char *const *)argv + 5, .flag_count = (size_t)(argc - 5), .together = 1};
    struct rsc_loop_program *program;
    size_t bytes;
    char *text = read_loops(argv[4], &options, &bytes);
    check(rsc_loop_text_read(text, bytes, argv[4], NULL, 0, &program, &error), &error);
    free(text);
    check(rsc_loop_layout(program, 64, &error), &error);
    struct rsc_loops_options model_options = RSC_LOOPS_OPTIONS_DEFAULT;
    model_options.private_view = 0;
    struct rsc_loops_analysis *analysis;
    check(rsc_loops_analysis_new(&analysis, program, 0, &model_options, &error), &error);
    const struct rsc_turns *turns = &profile->turns;
    double run = (double)turns->accesses / (double)(turns->turns ? turns->turns : 1), at_once = 0;
    char like[40] = "drift"; /* nothing known */
    rsc_turns_nearest(turns, &at_once, like, sizeof like);
    const char *name = strrchr(argv[4], '/') ? strrchr(argv[4], '/') + 1 : argv[4];
    setvbuf(stdout, NULL, _IOFBF, BUFSIZ); /* a row at once: others may write theirs to the same place */
    printf("%-16s %9llu %9llu %6llu %6llu", name, (unsigned long long)totals.references,
           (unsigned long long)rsc_loops_references(analysis), (unsigned long long)totals.distinct,
           (unsigned long long)rsc_loops_distinct(analysis));
    char bursty[40];
    snprintf(bursty, sizeof bursty, "bursty:%.0f",
             fmax(run * (threads - 1) / threads, 1)); /* a turn may be followed by one of the same thread */
    const char *const ways[] = {"lockstep", "iid",      "drift",     bursty,      "racetrack",  "drift:recorded", like,
                                "drift:10", "drift:30", "drift:100", "drift:300", "drift:1000", "bursty:2000"};
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        struct rsc_interleave interleave;
        struct rsc_loops_result *result;
        check(rsc_interleave_parse(&interleave, ways[w], &error), &error);
        check(rsc_loops_analyse(analysis, threads, &interleave, &result, &error), &error);
        double sum = 0, inside = 0;
        for (size_t g = 0; g < result->mrc_count; g++) {
            double truth = rsc_profile_miss_ratio(profile, result->mrc[g].lines);
            sum += fabs(result->mrc[g].miss_ratio - truth);
            inside += truth >= result->mrc[g].low - 0.005 && truth <= result->mrc[g].high + 0.005;
        }
        printf(" %6.2f", 100 * sum / (double)result->mrc_count);
        put_number(w == 3 ? "bursty as seen" : w == 6 ? "like" : ways[w], sum / (double)result->mrc_count, "%s", name);
        if (w == 2) put_number("within the band", inside / (double)result->mrc_count, "%s", name);
        if (w == 2) printf(" (%3.0f%%)", 100 * inside / (double)result->mrc_count);
        rsc_loops_result_free(result);
    }
    printf(" | %.1f threads at once, turns of %.0f, like %s | diffusion", at_once, run, like);
    for (int w = 0; w < WINDOWS; w++) {
        double n = lead.count[w], mean = n > 0 ? lead.sum[w] / n : 0;
        if (n >= 8) printf(" %8.1f", (lead.squares[w] / n - mean * mean) / (2 * window[w]));
        else printf(" %8s", "-");
    }
    printf("\n");
    rsc_loops_analysis_free(analysis);
    rsc_loop_program_free(program);
    rsc_profile_free(profile);
    return 0;
}
