/* simulator.c - see simulator.h. */
#include "simulate/simulator.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

struct rsc_sim {
    struct rsc_sim_config config;
    struct rsc_sim_options options;
    struct rsc_hierarchy hierarchy;
    uint64_t seen; /* accesses pushed */
    int counting;  /* warming is over */
    uint64_t accesses, instructions;
    int instructions_known;
};

int rsc_sim_new(struct rsc_sim **out, const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                struct rsc_error *error) {
    struct rsc_sim *sim = calloc(1, sizeof *sim);
    *out = NULL;
    if (!sim) return rsc_fail_memory(error, "simulator");
    sim->config = *config;
    if (options) sim->options = *options;
    sim->instructions_known = 1;
    sim->counting = !sim->options.warm_accesses;
    int status = rsc_hierarchy_init(&sim->hierarchy, config, error);
    if (status < 0) {
        rsc_sim_free(sim);
        return status;
    }
    *out = sim;
    return 0;
}

void rsc_sim_free(struct rsc_sim *sim) {
    if (!sim) return;
    rsc_hierarchy_free(&sim->hierarchy);
    free(sim);
}

/* Instructions that accesses from `first` on stand for; parts of a batch add up. */
static uint64_t instructions_from(const struct rsc_batch *batch, uint32_t first) {
    if (!batch->count || !first) return batch->instructions;
    return batch->instructions - (uint64_t)((unsigned __int128)batch->instructions * first / batch->count);
}

int rsc_sim_push(struct rsc_sim *sim, const struct rsc_batch *batch, struct rsc_error *error) {
    uint32_t from = 0;
    int status = 0;
    if (!sim->counting) {
        uint64_t left = sim->options.warm_accesses - sim->seen;
        from = left < batch->count ? (uint32_t)left : batch->count;
        status = rsc_hierarchy_push(&sim->hierarchy, batch, 0, from, error);
        if (sim->seen + from == sim->options.warm_accesses) {
            sim->counting = 1;
            rsc_hierarchy_forget_counts(&sim->hierarchy);
        }
    }
    if (!status && sim->counting) {
        status = rsc_hierarchy_push(&sim->hierarchy, batch, from, batch->count, error);
        if (batch->instructions == RSC_UNKNOWN) sim->instructions_known &= !batch->count;
        else sim->instructions += instructions_from(batch, from);
        sim->accesses += batch->count - from;
    }
    sim->seen += batch->count;
    return status;
}

int rsc_sim_finish(struct rsc_sim *sim, struct rsc_sim_result *result, struct rsc_error *error) {
    memset(result, 0, sizeof *result);
    if (!sim->counting)
        return rsc_fail(error, RSC_EINVAL, "--warm %llu: the trace has only %llu accesses",
                        (unsigned long long)sim->options.warm_accesses, (unsigned long long)sim->seen);
    result->instructions = sim->instructions_known && sim->seen ? sim->instructions : RSC_UNKNOWN;
    result->accesses = sim->accesses;
    result->warm_accesses = sim->seen - sim->accesses;
    result->left_out = sim->hierarchy.left_out;
    for (size_t i = 0; i < sim->hierarchy.level_count; i++) {
        const struct rsc_level *level = &sim->hierarchy.levels[i];
        struct rsc_sim_level_result *to = &result->levels[result->level_count++];
        to->config = level->config;
        to->counts = rsc_level_total(level);
        if (level->config.level == sim->hierarchy.levels[0].config.level)
            result->references += rsc_kinds_sum(to->counts.accesses);
    }
    return 0;
}

double rsc_sim_mpi(const struct rsc_sim_result *result, const struct rsc_sim_level_result *level) {
    if (result->instructions == RSC_UNKNOWN || !result->instructions) return NAN;
    return (double)rsc_kinds_sum(level->counts.misses) / (double)result->instructions;
}
