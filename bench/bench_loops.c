/*
 * bench_loops.c - the loop models beside the simulated truth and the paper's model:
 * accuracy and speed tables.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bench/measure.h"
#include "loops/interleave.h"
#include "loops/loop_text.h"
#include "loops/loops_model.h"
#include "loops/oracle.h"

static struct rsc_loop_program *load(const char *path) {
    FILE *file = fopen(path, "rb");
    static char text[1 << 20];
    struct rsc_error error = {0};
    struct rsc_loop_program *program = NULL;
    if (!file) { fprintf(stderr, "bench: cannot open %s\n", path); exit(1); }
    size_t bytes = fread(text, 1, sizeof text, file);
    fclose(file);
    if (rsc_loop_text_read(text, bytes, path, NULL, 0, &program, &error) < 0 || rsc_loop_layout(program, 64, &error) < 0) {
        fprintf(stderr, "bench: %s\n", error.message);
        exit(1);
    }
    return program;
}

static double mae(const struct rsc_loops_result *result, const struct rsc_oracle *truth) {
    double sum = 0;
    for (size_t g = 0; g < result->mrc_count; g++)
        sum += fabs(result->mrc[g].miss_ratio - rsc_oracle_miss_ratio(truth, result->mrc[g].lines));
    return 100 * sum / (double)result->mrc_count;
}

int main(int argc, char **argv) {
    static const char *const kinds[] = {"lockstep", "iid", "drift", "bursty:2000"};
    struct rsc_error error = {0};
    int verbose = getenv("V") != NULL;
    for (int t = 0; t < 2; t++) {
        uint32_t threads = t ? 64 : 4;
        double sums[4] = {0}, paper[4] = {0}, def[4] = {0};
        printf("T=%u  %-18s", threads, "kernel");
        for (int k = 0; k < 4; k++) printf(" %11s: ours def paper", kinds[k]);
        printf("\n");
        for (int i = 1; i < argc; i++) {
            struct rsc_loop_program *program = load(argv[i]);
            struct rsc_loops_options options = RSC_LOOPS_OPTIONS_DEFAULT;
            options.band = options.private_view = 0;
            struct rsc_loops_analysis *analysis;
            if (rsc_loops_analysis_new(&analysis, program, 0, &options, &error) < 0) { printf("%s\n", error.message); continue; }
            struct rsc_nest *nest;
            struct rsc_plan *plan;
            need(rsc_nest_new(&nest, program, 0, UINT32_MAX, 64, &error), "nest");
            need(rsc_plan_new(&plan, nest, threads, NULL, &error), "plan");
            struct rsc_interleave racetrack, drift;
            rsc_interleave_parse(&racetrack, "racetrack", &error);
            rsc_interleave_parse(&drift, "drift", &error);
            struct rsc_loops_result *result, *race, *normal;
            need(rsc_loops_analyse(analysis, threads, &racetrack, &race, &error), error.message);
            need(rsc_loops_analyse(analysis, threads, &drift, &normal, &error), error.message);
            const char *name = strrchr(argv[i], '/') ? strrchr(argv[i], '/') + 1 : argv[i];
            printf("T=%u  %-18s", threads, name);
            double time = 0;
            for (int k = 0; k < 4; k++) {
                struct rsc_interleave interleave;
                need(rsc_interleave_parse(&interleave, kinds[k], &error), error.message);
                struct rsc_oracle truth;
                need(rsc_oracle_run(&truth, plan, &interleave, 64, 5, 0, NULL, NULL, &error), error.message);
                need(rsc_loops_analyse(analysis, threads, &interleave, &result, &error), error.message);
                if (truth.distinct != result->distinct || truth.references != result->references)
                    printf("[cold %llu != %llu, refs %llu %llu]", (unsigned long long)result->distinct, (unsigned long long)truth.distinct, (unsigned long long)result->references, (unsigned long long)truth.references);
                double e = mae(result, &truth), p = mae(race, &truth), d = mae(normal, &truth);
                printf("        %6.2f %6.2f %6.2f", e, d, p);
                sums[k] += e; paper[k] += p; def[k] += d;
                time += result->seconds;
                if (verbose)
                    for (size_t g = 0; g < result->mrc_count; g++)
                        printf("\n%s %llu ours %.4f truth %.4f paper %.4f", kinds[k], (unsigned long long)result->mrc[g].lines, result->mrc[g].miss_ratio, rsc_oracle_miss_ratio(&truth, result->mrc[g].lines), race->mrc[g].miss_ratio);
                rsc_loops_result_free(result);
                rsc_oracle_free(&truth);
            }
            printf("  %.1f ms\n", 250 * time);
            rsc_loops_result_free(race);
            rsc_loops_result_free(normal);
            rsc_plan_free(plan);
            rsc_nest_free(nest);
            rsc_loops_analysis_free(analysis);
            rsc_loop_program_free(program);
        }
        printf("T=%u  %-18s", threads, "mean");
        for (int k = 0; k < 4; k++) printf("        %6.2f %6.2f %6.2f", sums[k] / (argc - 1), def[k] / (argc - 1), paper[k] / (argc - 1));
        printf("\n");
    }
    return 0;
}
