/* loops_machine.c - see loops_machine.h. */
#include "cmd/loops_machine.h"

#include <limits.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "cmd/machine_folder.h"
#include "estimate/statistics.h"
#include "loops/model/set_associative.h"
#include "simulate/cache/machine_caches.h"
#include "simulate/simulator.h"

#define REPLAYED_MOST (UINT64_C(1) << 22) /* references: about a second */
/* Draws of the order of threads, for bars: as many as this many references allow. */
#define REPLAYED_TOGETHER (UINT64_C(1) << 21)
#define DRAWS_MOST 4u
/*
 * Bars of estimates are this factor wide, each way: regular strides use some sets more than others, or all alike, which
 * the estimate does not know. bench/loops-machine has how often that holds (docs/measured/loops.md).
 */
#define STRIDE_FACTOR 3.0

int rsc_loops_machine_read(struct rsc_sim_config *config, const char *name, uint64_t *line_bytes,
                           struct rsc_error *error) {
    struct rsc_sim_config all = {0};
    char folder[PATH_MAX];
    *config = (struct rsc_sim_config){.coherent = 1};
    int status = rsc_machine_caches_add(&all, name, rsc_machine_folder(folder), error);
    if (status) return status;
    for (size_t i = 0; i < all.count && config->count < RSC_LOOPS_LEVELS_MAX; i++)
        if (all.caches[i].kinds & RSC_KIND_BIT(RSC_READ)) config->caches[config->count++] = all.caches[i];
    if (!config->count) return rsc_fail(error, RSC_EINVAL, "--machine %.60s: no data caches", name);
    for (size_t i = 0; i < config->count; i++) {
        struct rsc_cache_config *cache = &config->caches[i];
        if (cache->level < config->caches[config->count - 1].level && !cache->threads_each) cache->threads_each = 1;
        if (cache->block_bytes != config->caches[0].block_bytes)
            return rsc_fail(error, RSC_EUNSUPPORTED, "--machine %.60s: its caches have blocks of %u and %u bytes", name,
                            config->caches[0].block_bytes, cache->block_bytes);
    }
    *line_bytes = config->caches[0].block_bytes;
    return 0;
}

static int push(void *context, const uint64_t *addr, const uint64_t *meta, uint32_t count, struct rsc_error *error) {
    struct rsc_batch batch = {.count = count, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    return rsc_sim_push(context, &batch, error);
}

/* One drawn order through the caches: misses of each level per reference. */
static int simulate(const struct rsc_sim_config *config, struct rsc_loops_analysis *analysis,
                    const struct rsc_interleave *interleave, uint64_t seed, const struct rsc_loops_result *result,
                    double *ratio, struct rsc_error *error) {
    struct rsc_sim *sim;
    struct rsc_sim_result counted = {0};
    int status = rsc_sim_new(&sim, config, NULL, error);
    if (status) return status;
    status = rsc_loops_replay(analysis, result->threads, interleave, seed, push, sim, error);
    if (!status) status = rsc_sim_finish(sim, &counted, error);
    for (size_t i = 0; !status && i < counted.level_count && i < config->count; i++)
        ratio[i] = (double)rsc_kinds_sum(counted.levels[i].counts.misses) / (double)result->references;
    if (!status) rsc_sim_result_free(&counted);
    rsc_sim_free(sim);
    return status;
}

static int simulate_draws(const struct rsc_sim_config *config, struct rsc_loops_analysis *analysis,
                          const struct rsc_interleave *interleave, const struct rsc_loops_options *options,
                          struct rsc_loops_result *result, struct rsc_error *error) {
    double ratio[DRAWS_MOST][RSC_LOOPS_LEVELS_MAX] = {{0}}, z = rsc_normal_quantile(0.5 + options->confidence / 200);
    uint64_t fit = REPLAYED_TOGETHER / (result->references + 1);
    uint32_t draws = fit < 2 ? 2 : fit > DRAWS_MOST ? DRAWS_MOST : (uint32_t)fit;
    int status = 0;
    if (result->threads == 1 || interleave->kind == RSC_INTERLEAVE_LOCKSTEP) draws = 1;
    for (uint32_t k = 0; k < draws && !status; k++)
        status = simulate(config, analysis, interleave, DRAWS_MOST * options->seed + k, result, ratio[k], error);
    for (size_t i = 0; i < config->count && !status; i++) {
        struct rsc_loops_level *level = &result->level[i];
        double sum = 0, squares = 0;
        for (uint32_t k = 0; k < draws; k++) sum += ratio[k][i];
        for (uint32_t k = 0; k < draws; k++) squares += (ratio[k][i] - sum / draws) * (ratio[k][i] - sum / draws);
        double half = draws > 1 ? z * sqrt((1 + 1.0 / draws) * squares / (draws - 1)) : 0;
        level->miss_ratio = sum / draws;
        level->low = fmax(level->miss_ratio - half, 0);
        level->high = fmin(level->miss_ratio + half, 1);
    }
    result->levels_simulated = !status;
    return status;
}

static void estimate(const struct rsc_sim_config *config, struct rsc_loops_result *result) {
    double cold = (double)result->distinct / (double)(result->references + !result->references);
    for (size_t i = 0; i < config->count; i++) {
        struct rsc_loops_level *level = &result->level[i];
        int own = level->per_thread && result->own.mrc_count;
        struct rsc_mrc_point at =
            rsc_set_associative_at(own ? result->own.mrc : result->mrc, own ? result->own.mrc_count : result->mrc_count,
                                   rsc_cache_sets(&config->caches[i]), level->ways);
        level->miss_ratio = fmin(at.miss_ratio, i ? result->level[i - 1].miss_ratio : 1);
        level->low = fmax(fmin(at.low, level->miss_ratio / STRIDE_FACTOR), fmin(cold, level->miss_ratio));
        level->high = fmin(fmax(at.high, level->miss_ratio * STRIDE_FACTOR), 1);
    }
}

int rsc_loops_machine_answer(const struct rsc_sim_config *config, struct rsc_loops_analysis *analysis,
                             const struct rsc_interleave *interleave, const struct rsc_loops_options *options,
                             struct rsc_loops_result *result, struct rsc_error *error) {
    result->level_count = config->count;
    for (size_t i = 0; i < config->count; i++) {
        struct rsc_loops_level *level = &result->level[i];
        memcpy(level->name, config->caches[i].name, sizeof level->name);
        level->size_bytes = config->caches[i].size_bytes;
        level->ways = config->caches[i].ways;
        level->per_thread = config->caches[i].threads_each == 1;
    }
    if (options->samples == RSC_LOOPS_SAMPLES_AUTO && result->references <= REPLAYED_MOST)
        return simulate_draws(config, analysis, interleave, options, result, error);
    estimate(config, result);
    return 0;
}
