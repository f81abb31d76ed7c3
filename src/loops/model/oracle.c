/* oracle.c - see oracle.h: a stream of all threads' references through the exact engine. */
#include "loops/model/oracle.h"

#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/grow.h"
#include "distance/exact/exact_state.h"
#include "loops/model/stream.h"

#define BLOCK 2048u

struct simulation {
    struct rsc_oracle *out;
    struct rsc_exact exact;
    size_t room; /* of out->reuses, while it counts reuses of each distance */
    uint64_t known; /* distances that it has */
    uint64_t line[BLOCK];
    uint32_t reference[BLOCK], thread[BLOCK];
    uint32_t rd[BLOCK];
    uint64_t ri[BLOCK];
};

static int measure(struct simulation *sim, uint32_t count) {
    struct rsc_oracle *out = sim->out;
    int status = rsc_exact_run(&sim->exact, sim->line, count, sim->rd, sim->ri);
    uint64_t distinct = rsc_exact_distinct(&sim->exact);
    if (status >= 0 && RSC_GROW(out->reuses, sim->room, distinct + 1)) status = RSC_ENOMEM;
    if (status < 0) return status;
    for (; sim->known <= distinct; sim->known++) out->reuses[sim->known] = 0;
    for (uint32_t i = 0; i < count; i++) {
        int cold = sim->rd[i] == RSC_RD_COLD;
        if (!cold) {
            out->reuses[sim->rd[i]]++;
            out->ri.count[rsc_bin_of_fine(sim->ri[i])]++;
        }
        if (!out->by_reference) continue;
        uint32_t by = sim->reference[i];
        out->count_by_reference[by]++;
        if (cold) out->cold_by_reference[by]++;
        else out->by_reference[by].count[rsc_bin_of_coarse(sim->rd[i])]++;
    }
    out->references += count;
    return 0;
}

static int run(struct simulation *sim, struct rsc_plan *plan, const struct rsc_interleave *interleave,
               uint64_t line_bytes, uint64_t seed, rsc_oracle_visit *visit, void *context, struct rsc_error *error) {
    struct rsc_stream *stream = NULL;
    int status = rsc_stream_new(&stream, plan, interleave, line_bytes, seed, plan->threads > 1, error);
    if (status < 0) return status;
    status = rsc_exact_init(&sim->exact, rsc_simd_best(), 0);
    while (status >= 0) {
        if (rsc_nest_stopped(plan->nest)) break;
        uint32_t count = rsc_stream_next(stream, sim->line, sim->reference, sim->thread, BLOCK);
        if (!count) break;
        for (uint32_t i = 0; visit && i < count && status >= 0; i++)
            if (visit(context, sim->thread[i], sim->line[i], sim->reference[i])) status = RSC_ELIMIT;
        if (status >= 0) status = measure(sim, count);
    }
    if (status >= 0) status = plan->nest->status;
    sim->out->distinct = rsc_exact_distinct(&sim->exact);
    for (uint64_t d = sim->known; d-- > 1;) sim->out->reuses[d - 1] += sim->out->reuses[d];
    rsc_exact_free(&sim->exact);
    rsc_stream_free(stream);
    if (status == RSC_ENOMEM) return rsc_fail_memory(error, "simulation of threads");
    if (status < 0) return rsc_fail(error, status, "%s: too large to be simulated", plan->nest->region->name);
    return 0;
}

int rsc_oracle_run(struct rsc_oracle *out, struct rsc_plan *plan, const struct rsc_interleave *interleave,
                   uint64_t line_bytes, uint64_t seed, int by_reference, rsc_oracle_visit *visit, void *context,
                   struct rsc_error *error) {
    memset(out, 0, sizeof *out);
    uint32_t references = plan->nest->reference_count;
    struct simulation *sim = calloc(1, sizeof *sim);
    int status = sim ? rsc_histogram_init(&out->ri, RSC_BINS_FINE) : RSC_ENOMEM;
    if (status >= 0 && by_reference) {
        out->reference_count = references;
        out->by_reference = calloc(references + 1, sizeof *out->by_reference);
        out->cold_by_reference = calloc(references + 1, sizeof *out->cold_by_reference);
        out->count_by_reference = calloc(references + 1, sizeof *out->count_by_reference);
        if (!out->by_reference || !out->cold_by_reference || !out->count_by_reference) status = RSC_ENOMEM;
        for (uint32_t i = 0; i < references && status >= 0; i++)
            status = rsc_histogram_init(&out->by_reference[i], RSC_BINS_COARSE);
    }
    if (status < 0) {
        free(sim);
        return rsc_fail_memory(error, "simulation of threads");
    }
    sim->out = out;
    status = run(sim, plan, interleave, line_bytes, seed, visit, context, error);
    free(sim);
    return status;
}

void rsc_oracle_free(struct rsc_oracle *oracle) {
    free(oracle->reuses);
    rsc_histogram_free(&oracle->ri);
    for (uint32_t i = 0; oracle->by_reference && i < oracle->reference_count; i++)
        rsc_histogram_free(&oracle->by_reference[i]);
    free(oracle->by_reference);
    free(oracle->cold_by_reference);
    free(oracle->count_by_reference);
    memset(oracle, 0, sizeof *oracle);
}

double rsc_oracle_miss_ratio(const struct rsc_oracle *oracle, uint64_t lines) {
    if (!oracle->references) return 0;
    uint64_t reuses = lines < oracle->distinct ? oracle->reuses[lines] : 0;
    return (double)(oracle->distinct + reuses) / (double)oracle->references;
}
