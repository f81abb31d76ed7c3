/*
 * oracle.c - see oracle.h.
 *
 * Each thread's references come from its walk in small buffers. An interleaving
 * says whose turn it is and for how many references; threads that are at a barrier
 * have no turns. Everything starts together in each phase.
 */
#include "loops/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/cpu.h"
#include "base/fail.h"
#include "base/rng.h"
#include "distance/exact_state.h"
#include "loops/interleave.h"
#include "loops/walk.h"

#define BUFFER 256u
#define BLOCK 2048u

struct runner {
    struct rsc_walk *walk;
    uint64_t line[BUFFER];
    uint32_t reference[BUFFER];
    uint32_t at, count;
    int ended; /* no more in this phase */
    double time, pace; /* drift: when its next reference is due, and time between two */
    double block_left;
};

struct simulation {
    struct rsc_plan *plan;
    struct rsc_oracle *out;
    struct rsc_exact exact;
    struct rsc_rng rng;
    const struct rsc_interleave *interleave;
    struct runner *runner;
    uint32_t *active; /* threads with references left in this phase */
    uint32_t active_count;
    uint32_t turn;
    uint64_t turn_left;
    rsc_oracle_visit *visit;
    void *context;
    uint32_t held;
    uint64_t line[BLOCK];
    uint32_t reference[BLOCK];
    uint32_t rd[BLOCK];
    uint64_t ri[BLOCK];
};

static int flush(struct simulation *sim) {
    struct rsc_oracle *out = sim->out;
    int status = rsc_exact_run(&sim->exact, sim->line, sim->held, sim->rd, sim->ri);
    if (status < 0) return status;
    for (uint32_t i = 0; i < sim->held; i++) {
        int cold = sim->rd[i] == RSC_RD_COLD;
        if (!cold) {
            out->rd.count[rsc_bin_of_fine(sim->rd[i])]++;
            out->ri.count[rsc_bin_of_fine(sim->ri[i])]++;
        }
        if (!out->by_reference) continue;
        uint32_t by = sim->reference[i];
        out->count_by_reference[by]++;
        if (cold) out->cold_by_reference[by]++;
        else out->by_reference[by].count[rsc_bin_of_coarse(sim->rd[i])]++;
    }
    out->references += sim->held;
    sim->held = 0;
    return 0;
}

/* Whether the thread has another reference in this phase. */
static int ready(struct runner *runner) {
    if (runner->at < runner->count) return 1;
    if (runner->ended) return 0;
    runner->count = rsc_walk_next(runner->walk, runner->line, runner->reference, BUFFER);
    runner->at = 0;
    runner->ended = !runner->count;
    return runner->count > 0;
}

static int step(struct simulation *sim, uint32_t thread) {
    struct runner *runner = &sim->runner[thread];
    sim->line[sim->held] = runner->line[runner->at];
    sim->reference[sim->held++] = runner->reference[runner->at];
    if (sim->visit && sim->visit(sim->context, thread, runner->line[runner->at], runner->reference[runner->at]))
        return RSC_ELIMIT;
    runner->at++;
    return sim->held == BLOCK ? flush(sim) : 0;
}

static void next_block(struct simulation *sim, struct runner *runner) {
    double length = rsc_drift_block(sim->interleave);
    double spread = sqrt(sim->interleave->diffusion / length);
    double took = 1 + spread * rsc_rng_normal(&sim->rng);
    if (took < 0.1) took = 0.1;
    runner->pace = took;
    runner->block_left = length;
}

/* The place in `active` whose turn it is. */
static uint32_t choose(struct simulation *sim) {
    switch (sim->interleave->kind) {
    case RSC_INTERLEAVE_LOCKSTEP: return sim->turn < sim->active_count ? sim->turn : (sim->turn = 0);
    case RSC_INTERLEAVE_IID: return (uint32_t)rsc_rng_below(&sim->rng, sim->active_count);
    case RSC_INTERLEAVE_BURSTY:
        if (!sim->turn_left || sim->turn >= sim->active_count) {
            sim->turn = (uint32_t)rsc_rng_below(&sim->rng, sim->active_count);
            sim->turn_left = rsc_rng_geometric(&sim->rng, sim->interleave->burst);
        }
        return sim->turn;
    default: break;
    }
    uint32_t first = 0;
    for (uint32_t i = 1; i < sim->active_count; i++)
        if (sim->runner[sim->active[i]].time < sim->runner[sim->active[first]].time) first = i;
    return first;
}

static int run_phase(struct simulation *sim, uint32_t phase) {
    sim->active_count = 0;
    for (uint32_t t = 0; t < sim->plan->threads; t++) {
        struct runner *runner = &sim->runner[t];
        rsc_walk_start(runner->walk, phase);
        runner->at = runner->count = 0;
        runner->ended = 0;
        runner->time = rsc_rng_double(&sim->rng);
        next_block(sim, runner);
        sim->active[sim->active_count++] = t;
    }
    sim->turn = 0;
    sim->turn_left = 0;
    while (sim->active_count) {
        uint32_t place = choose(sim), thread = sim->active[place];
        struct runner *runner = &sim->runner[thread];
        if (!ready(runner)) { /* keeps the order of the others: lockstep goes on in turn */
            memmove(sim->active + place, sim->active + place + 1, (sim->active_count - place - 1) * sizeof *sim->active);
            sim->active_count--;
            sim->turn_left = 0;
            continue;
        }
        int status = step(sim, thread);
        if (status < 0) return status;
        switch (sim->interleave->kind) {
        case RSC_INTERLEAVE_LOCKSTEP: sim->turn = sim->turn + 1; break;
        case RSC_INTERLEAVE_BURSTY: sim->turn_left--; break;
        case RSC_INTERLEAVE_DRIFT:
            runner->time += runner->pace;
            if (--runner->block_left <= 0) next_block(sim, runner);
            break;
        default: break;
        }
    }
    return 0;
}

static int run(struct simulation *sim, uint64_t line_bytes, struct rsc_error *error) {
    struct rsc_plan *plan = sim->plan;
    int64_t *handed_out = calloc(plan->nest->segment_count + 1, sizeof *handed_out);
    sim->runner = calloc(plan->threads, sizeof *sim->runner);
    sim->active = calloc(plan->threads, sizeof *sim->active);
    int status = handed_out && sim->runner && sim->active ? 0 : RSC_ENOMEM;
    if (status >= 0) status = rsc_exact_init(&sim->exact, rsc_simd_best(), 0);
    for (uint32_t t = 0; status >= 0 && t < plan->threads; t++)
        status = rsc_walk_new(&sim->runner[t].walk, plan, t, line_bytes, plan->threads > 1 ? handed_out : NULL, error);
    for (uint32_t p = 0; status >= 0 && p < plan->nest->phase_count; p++) status = run_phase(sim, p);
    if (status >= 0) status = flush(sim);
    if (status >= 0) status = plan->nest->status;
    sim->out->distinct = rsc_exact_distinct(&sim->exact);
    for (uint32_t t = 0; sim->runner && t < plan->threads; t++) rsc_walk_free(sim->runner[t].walk);
    rsc_exact_free(&sim->exact);
    free(sim->runner);
    free(sim->active);
    free(handed_out);
    if (status == RSC_ENOMEM) return rsc_fail_memory(error, "simulation of threads");
    if (status < 0) return rsc_fail(error, status, "%s: too large to be simulated", plan->nest->region->name);
    return 0;
}

int rsc_oracle_run(struct rsc_oracle *out, struct rsc_plan *plan, const struct rsc_interleave *interleave,
                   uint64_t line_bytes, uint64_t seed, int by_reference, rsc_oracle_visit *visit, void *context,
                   struct rsc_error *error) {
    memset(out, 0, sizeof *out);
    if (interleave->kind == RSC_INTERLEAVE_RACETRACK)
        return rsc_fail(error, RSC_EINVAL, "racetrack is a model of no interleaving that could be simulated");
    uint32_t references = plan->nest->reference_count;
    struct simulation *sim = calloc(1, sizeof *sim);
    int status = sim ? rsc_histogram_init(&out->rd, RSC_BINS_FINE) : RSC_ENOMEM;
    if (status >= 0) status = rsc_histogram_init(&out->ri, RSC_BINS_FINE);
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
    sim->plan = plan;
    sim->out = out;
    sim->interleave = interleave;
    sim->visit = visit;
    sim->context = context;
    rsc_rng_seed(&sim->rng, seed, 6);
    status = run(sim, line_bytes, error);
    free(sim);
    return status;
}

void rsc_oracle_free(struct rsc_oracle *oracle) {
    rsc_histogram_free(&oracle->rd);
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
    return ((double)oracle->distinct + (double)rsc_histogram_at_least(&oracle->rd, lines)) / (double)oracle->references;
}
