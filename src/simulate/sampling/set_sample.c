/* set_sample.c - see set_sample.h. */
#include "simulate/sampling/set_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/simulator_state.h"
#include "trace/source.h"

/* One sample: one value of constant bits, or one random choice. */
struct run {
    struct rsc_block_sample sample;
    struct rsc_block_sampler sampler;
    struct rsc_sim *sim;
    struct rsc_sim_result result;
    uint64_t **set_misses; /* owned: of each row of the result */
    uint64_t fetches, sampled;
};

struct rsc_set_sample {
    struct rsc_sim_config config;
    struct rsc_set_choice choice;
    int filtered, miss_stream;
    struct run *runs; /* owned */
    struct rsc_part_kind parts;
    uint64_t run_count;
};

/* Makes the simulator count misses by set. */
static int count_sets(struct run *run, struct rsc_error *error) {
    struct rsc_sim *sim = run->sim;
    run->set_misses = calloc(sim->row_count, sizeof *run->set_misses);
    for (size_t row = 0; run->set_misses && row < sim->row_count; row++) {
        const struct rsc_row_place *place = &sim->rows[row];
        struct rsc_level *level = place->segment >= 0 ? &sim->segments[place->segment].hierarchy.levels[place->level]
                                                      : &place->cache->hierarchy.levels[0];
        run->set_misses[row] = calloc(rsc_cache_sets(&sim->configs[row]), sizeof **run->set_misses);
        if (!run->set_misses[row]) return rsc_fail_memory(error, "misses by set");
        level->set_misses = run->set_misses[row];
    }
    return run->set_misses ? 0 : rsc_fail_memory(error, "misses by set");
}

int rsc_set_sample_new(struct rsc_set_sample **out, const struct rsc_sim_config *config,
                       const struct rsc_set_choice *choice, int filtered, int miss_stream, struct rsc_error *error) {
    struct rsc_set_sample *sets = calloc(1, sizeof *sets);
    *out = NULL;
    if (!sets) return rsc_fail_memory(error, "sample of sets");
    sets->config = *config;
    sets->choice = *choice;
    sets->filtered = filtered;
    sets->miss_stream = miss_stream;
    sets->run_count = choice->all_values ? 1ull << choice->width : 1;
    sets->runs = calloc(sets->run_count, sizeof *sets->runs);
    int status = sets->runs ? 0 : rsc_fail_memory(error, "sample of sets");
    for (uint64_t i = 0; !status && i < sets->run_count; i++) {
        struct run *run = &sets->runs[i];
        struct rsc_set_choice one = *choice;
        if (choice->all_values) one.value = i;
        status = rsc_set_choice_sample(&one, config, &run->sample, error);
        struct rsc_sim_options options = {.writes_are_back = miss_stream};
        if (!status) status = rsc_sim_new(&run->sim, config, &options, error);
        if (!status) status = count_sets(run, error);
        rsc_block_sampler_start(&run->sampler, &run->sample, rsc_simd_best());
    }
    if (status < 0) {
        rsc_set_sample_free(sets);
        return status;
    }
    *out = sets;
    return 0;
}

void rsc_set_sample_free(struct rsc_set_sample *sets) {
    if (!sets) return;
    for (uint64_t i = 0; sets->runs && i < sets->run_count; i++) {
        struct run *run = &sets->runs[i];
        for (size_t row = 0; run->set_misses && row < sets->config.count; row++) free(run->set_misses[row]);
        free(run->set_misses);
        rsc_sim_result_free(&run->result);
        rsc_sim_free(run->sim);
        rsc_block_sampler_free(&run->sampler);
        rsc_block_sample_free(&run->sample);
    }
    free(sets->runs);
    free(sets);
}

static uint64_t count_fetches(const struct rsc_batch *batch) {
    uint64_t fetches = 0;
    for (uint32_t i = 0; i < batch->count; i++) fetches += rsc_meta_kind(batch->meta[i]) == RSC_FETCH;
    return fetches;
}

static int push_kept(struct run *run, const struct rsc_batch *kept, struct rsc_error *error) {
    run->fetches += count_fetches(kept);
    run->sampled += kept->count;
    return rsc_sim_push(run->sim, kept, error);
}

int rsc_set_sample_push(struct rsc_set_sample *sets, const struct rsc_batch *batch, struct rsc_error *error) {
    int status = 0;
    for (uint64_t i = 0; i < sets->run_count && !status; i++) {
        struct run *run = &sets->runs[i];
        struct rsc_batch kept = *batch;
        if (!sets->filtered) status = rsc_block_sampler_take(&run->sampler, batch, &kept, error);
        if (!status) status = push_kept(run, &kept, error);
    }
    return status;
}

/* ---- parts, made where a trace is decoded: what the sample keeps of a piece ---- */

static void *part_create(const void *context) {
    struct rsc_block_sampler *sampler = malloc(sizeof *sampler);
    if (sampler) rsc_block_sampler_start(sampler, context, rsc_simd_best());
    return sampler;
}

static void part_begin(void *part) {
    struct rsc_block_sampler *sampler = part;
    sampler->parts.count = 0;
    sampler->fetches = 0;
}

static int part_take(void *part, const struct rsc_batch *batch, struct rsc_error *error) {
    return rsc_block_sampler_add(part, batch, error);
}

static void part_destroy(void *part) {
    rsc_block_sampler_free(part);
    free(part);
}

int rsc_set_sample_use_parts(struct rsc_set_sample *sets, struct rsc_trace *trace) {
    if (sets->filtered || sets->run_count != 1) return 0;
    sets->parts = (struct rsc_part_kind){&sets->runs[0].sample, part_create, part_begin, part_take, part_destroy};
    return rsc_trace_use_parts(trace, &sets->parts);
}

int rsc_set_sample_push_part(struct rsc_set_sample *sets, const void *part, const struct rsc_batch *batch,
                             struct rsc_error *error) {
    const struct rsc_block_sampler *sampler = part;
    struct rsc_batch kept = *batch;
    kept.count = sampler->parts.count;
    kept.addr = sampler->parts.addr;
    kept.meta = sampler->parts.meta;
    sets->runs[0].sampler.fetches += sampler->fetches;
    return push_kept(&sets->runs[0], &kept, error);
}

/* ---- estimates ---- */

/*
 * The observations of a sample of the sets of one cache, each times `scale`, and
 * their mean. Constant bits: an observation is a set, as in the paper. Random: it is
 * the misses of all sets with one value of the field, since those were drawn
 * together. observations has room for rsc_cache_sets(); the first *count are
 * filled.
 */
static void set_observations(const struct rsc_cache_config *cache, const struct rsc_block_sample *sample, int by_value,
                             const uint64_t *set_misses, double scale, double *observations, uint64_t *count,
                             uint64_t *population) {
    const uint64_t sets = rsc_cache_sets(cache);
    const uint32_t shift = (uint32_t)__builtin_ctz(cache->block_bytes);
    *count = 0;
    if (!by_value) {
        /* The field is in the index unchanged, so the index gives its value. */
        for (uint64_t set = 0; set < sets; set++)
            if (rsc_block_sample_has(sample, set << shift)) observations[(*count)++] = (double)set_misses[set] * scale;
        *population = sets;
        return;
    }
    const uint64_t values = 1ull << sample->width;
    const uint32_t down = sample->low - shift;
    uint64_t stride = values << down; /* sets between two with the same field and the same bits below it */
    for (uint64_t value = 0; value < values; value++) {
        if (!rsc_block_sample_has(sample, value << sample->low)) continue;
        double misses = 0;
        for (uint64_t from = value << down; from < sets; from += stride)
            for (uint64_t set = from; set < from + (1ull << down) && set < sets; set++)
                misses += (double)set_misses[set];
        observations[(*count)++] = misses * scale;
    }
    *population = values;
}

static void add_counts(struct rsc_level_counts *sum, const struct rsc_level_counts *more) {
    for (int kind = 0; kind < RSC_KINDS; kind++) {
        sum->accesses[kind] += more->accesses[kind];
        sum->misses[kind] += more->misses[kind];
    }
    sum->writes_in += more->writes_in;
    sum->writes_in_missed += more->writes_in_missed;
    sum->writebacks += more->writebacks;
    sum->sector_misses += more->sector_misses;
    sum->writethroughs += more->writethroughs;
    sum->dirty_at_end += more->dirty_at_end;
    sum->blocks_at_end += more->blocks_at_end;
    sum->blocks = more->blocks;
    sum->invalidated += more->invalidated;
    sum->back_invalidated += more->back_invalidated;
}

/* Misses of one sample by the sampled-instructions method; fetches assign instructions to samples. */
static double by_sampled_instructions(const struct rsc_set_sample *sets, const struct run *run, double misses,
                                      uint64_t instructions) {
    const uint64_t all = run->sampler.fetches;
    /* A filtered trace does not record the fetches of the whole; fetches of a miss stream are not instructions. */
    if (!run->fetches || instructions == RSC_UNKNOWN || sets->filtered || sets->miss_stream || !all) return NAN;
    double each = (double)instructions / (double)all; /* instructions per fetch */
    return misses / ((double)run->fetches * each);
}

/* With all values: every sample's estimate, and equations 1, A1 and A2 over them. */
static int estimate_all(const struct rsc_set_sample *sets, size_t cache, uint64_t s, double total,
                        struct rsc_estimate *estimate, const uint64_t *set_misses, struct rsc_error *error) {
    const uint64_t k = sets->run_count;
    double *values = malloc((s + k) * sizeof *values), *means = values + s;
    estimate->parts = calloc(k, sizeof *estimate->parts);
    if (!values || !estimate->parts) {
        free(values);
        return rsc_fail_memory(error, "estimates");
    }
    estimate->part_count = k;
    for (uint64_t i = 0; i < k; i++) {
        double misses = (double)rsc_kinds_sum(sets->runs[i].result.levels[cache].counts.misses);
        means[i] = misses * (double)k / total;
        estimate->parts[i] =
            (struct rsc_estimate_part){.at = i, .mpi = means[i], .loaded = NAN, .reliable = 1, .factor = 1};
    }
    for (uint64_t i = 0; i < s; i++) values[i] = (double)set_misses[i] * (double)s / total;
    estimate->cv = rsc_coefficient_of_variation(means, k, estimate->mpi);
    double systematic = rsc_systematic_sample_variance(means, k, estimate->mpi);
    if (s >= 2 && systematic > 0) estimate->variance_ratio = rsc_random_sample_variance(values, s, s / k) / systematic;
    free(values);
    return 0;
}

static int estimate_cache(const struct rsc_set_sample *sets, size_t cache, const struct rsc_set_result *result,
                          double confidence, struct rsc_estimate *estimate, struct rsc_error *error) {
    const struct rsc_cache_config *config = &result->configs[cache];
    const struct run *run = &sets->runs[0];
    const uint64_t s = rsc_cache_sets(config);
    *estimate = (struct rsc_estimate){.method = RSC_ESTIMATE_SETS,
                                      .cold_start = -1,
                                      .confidence = confidence,
                                      .sampled_instructions = NAN,
                                      .cv = NAN,
                                      .variance_ratio = NAN,
                                      .loaded = NAN,
                                      .length_needed = NAN,
                                      .low = NAN,
                                      .high = NAN};
    rsc_set_choice_text(&sets->choice, estimate->how, sizeof estimate->how);
    estimate->per_access = result->instructions == RSC_UNKNOWN;
    uint64_t whole = estimate->per_access ? result->accesses : result->instructions;
    double total = whole == RSC_UNKNOWN ? NAN : (double)whole, misses = 0;
    uint64_t *set_misses = calloc(s, sizeof *set_misses), count, population;
    double *observations =
        malloc((s > 1ull << run->sample.width ? s : 1ull << run->sample.width) * sizeof *observations);
    if (!set_misses || !observations) {
        free(set_misses);
        free(observations);
        return rsc_fail_memory(error, "estimates");
    }
    for (uint64_t i = 0; i < sets->run_count; i++) {
        const uint64_t *more = sets->runs[i].set_misses[cache];
        misses += (double)rsc_kinds_sum(sets->runs[i].result.levels[cache].counts.misses);
        for (uint64_t set = 0; set < s; set++) set_misses[set] += more[set];
    }
    estimate->fraction = sets->choice.all_values ? 1 : rsc_block_sample_fraction(&run->sample);
    estimate->mpi = total > 0 ? misses / (estimate->fraction * total) : NAN;
    estimate->misses = misses / estimate->fraction;
    int status = 0;
    if (sets->choice.all_values) {
        snprintf(estimate->how, sizeof estimate->how, "constant bits %u-%u, each value in turn", sets->choice.low,
                 sets->choice.low + sets->choice.width - 1);
        estimate->low = estimate->high = estimate->mpi;
        estimate->observations = estimate->population = s;
        for (uint64_t i = 0; i < s; i++) observations[i] = (double)set_misses[i];
        status = estimate_all(sets, cache, s, total, estimate, set_misses, error);
        if (!status) status = rsc_sample_shape(&estimate->shape, observations, s, error);
    } else {
        struct rsc_mean_estimate mean;
        double by_value = (double)(1ull << run->sample.width);
        double scale = (sets->choice.random ? by_value : (double)s) / total;
        set_observations(config, &run->sample, sets->choice.random, set_misses, scale, observations, &count,
                         &population);
        rsc_mean_estimate(&mean, observations, count, population, confidence);
        estimate->low = mean.low;
        estimate->high = mean.high;
        estimate->observations = count;
        estimate->population = population;
        estimate->sampled_instructions = by_sampled_instructions(sets, run, misses, result->instructions);
        status = rsc_sample_shape(&estimate->shape, observations, count, error);
    }
    free(set_misses);
    free(observations);
    return status;
}

int rsc_set_sample_finish(struct rsc_set_sample *sets, uint64_t instructions, uint64_t accesses, double confidence,
                          struct rsc_set_result *result, struct rsc_error *error) {
    int status = 0;
    memset(result, 0, sizeof *result);
    result->instructions = instructions && instructions != RSC_UNKNOWN ? instructions : RSC_UNKNOWN;
    result->accesses = accesses;
    for (uint64_t i = 0; i < sets->run_count; i++) {
        struct run *run = &sets->runs[i];
        if ((status = rsc_sim_finish(run->sim, &run->result, error)) < 0) return status;
        result->sampled += run->sampled;
        result->references += run->result.references;
        for (size_t cache = 0; cache < sets->config.count; cache++) {
            result->alternative[cache] = run->result.levels[cache].alternative;
            result->configs[cache] = run->sim->configs[cache];
            add_counts(&result->counts[cache], &run->result.levels[cache].counts);
        }
    }
    for (size_t cache = 0; !status && cache < sets->config.count; cache++)
        status = estimate_cache(sets, cache, result, confidence, &result->estimates[cache], error);
    return status;
}

void rsc_set_result_free(struct rsc_set_result *result, size_t caches) {
    for (size_t i = 0; i < caches; i++) rsc_estimate_free(&result->estimates[i]);
}
