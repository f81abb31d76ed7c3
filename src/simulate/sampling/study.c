/*
 * study.c - the pass of study.h over the trace.
 *
 * Requests to the lowest level are gathered with their instruction number. When the
 * buffer is full, the caches process it in parallel; each passes it to all of its
 * simulations in turn.
 */
#include "simulate/sampling/study.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pool.h"

#define REQUESTS 65536u
#define USE_BITS 16u /* references are counted by this many address bits, from the smallest block's on */

static const uint64_t lengths[RSC_STUDY_LENGTHS] = {100000, 1000000, 10000000, 100000000};

/* One interval length of one cache. */
struct clockwork {
    struct rsc_study_time *out;
    struct rsc_branches *cold, *stitch;
    uint64_t room;      /* of out->intervals: all whole ones */
    uint64_t at;        /* the interval the simulations are in */
    int half;           /* the second half of it has begun */
    uint64_t true_before, references_before; /* counts at its beginning */
    uint64_t half_before;                    /* of the cold simulation at the beginning of its second half */
    uint64_t stitch_before;
    int stitching; /* this interval is in the systematic sample */
};

struct studied {
    struct pass *pass;
    const struct rsc_cache_config *config;
    struct rsc_study_cache *out;
    struct rsc_branches *truth;
    struct clockwork works[RSC_STUDY_LENGTHS];
};

struct timed_request {
    struct rsc_request request;
    uint64_t now;
};

struct pass {
    struct rsc_study *study;
    struct rsc_branches *above; /* the levels above, and the first cache studied, whose requests are gathered */
    struct studied *caches;     /* owned */
    struct timed_request *requests; /* owned */
    size_t count;
    double base, rate; /* the clock, as in branches.c */
    struct rsc_pool *pool;
    struct rsc_study_uses uses; /* its arrays owned */
};

/* ---- intervals ---- */

static int in_sample(const struct rsc_study_time *time, uint64_t interval) {
    uint64_t n = time->sampled;
    for (uint64_t k = interval * n / time->count; k < n; k++) {
        uint64_t chosen = rsc_study_spread(k, n, time->count);
        if (chosen >= interval) return chosen == interval;
    }
    return 0;
}

static void begin_interval(struct studied *cache, struct clockwork *work, uint64_t number) {
    struct rsc_branch_counts truth = rsc_branches_counts(cache->truth, 0);
    work->at = number;
    work->half = 0;
    work->true_before = truth.misses;
    work->references_before = truth.accesses;
    rsc_branches_empty(work->cold);
    work->stitching = number < work->room && in_sample(work->out, number);
    work->stitch_before = rsc_branches_counts(work->stitch, 0).misses;
}

static void end_interval(struct studied *cache, struct clockwork *work) {
    if (work->at >= work->room) return;
    struct rsc_study_interval *to = &work->out->intervals[work->at];
    struct rsc_branch_counts truth = rsc_branches_counts(cache->truth, 0);
    struct rsc_cold_counts cold = rsc_branches_cold(work->cold, 0);
    uint64_t second_half = work->half ? cold.misses - work->half_before : 0;
    *to = (struct rsc_study_interval){
        .misses = truth.misses - work->true_before,
        .references = truth.accesses - work->references_before,
        .loaded = cold.frames ? (double)cold.loaded / (double)cold.frames : 0,
        .cold_misses = cold.cold_misses,
        .full_misses = cold.misses - cold.cold_misses,
    };
    to->estimate[RSC_START_COLD] = (double)cold.misses;
    to->estimate[RSC_START_HALF] = 2 * (double)second_half;
    to->estimate[RSC_START_PRIME] = rsc_cold_start_misses(&cold, RSC_START_PRIME);
    to->estimate[RSC_START_INITMR] = rsc_cold_start_misses(&cold, RSC_START_INITMR);
    to->estimate[RSC_START_STITCH] =
        work->stitching ? (double)(rsc_branches_counts(work->stitch, 0).misses - work->stitch_before) : NAN;
}

/* Advances a clockwork to time `now`, before a request of that time is served. */
static void turn(struct studied *cache, struct clockwork *work, uint64_t now) {
    const uint64_t length = work->out->length;
    while (work->at < work->room && now >= (work->at + 1) * length) {
        end_interval(cache, work);
        begin_interval(cache, work, work->at + 1);
    }
    if (!work->half && now - work->at * length >= length / 2) {
        work->half = 1;
        work->half_before = rsc_branches_cold(work->cold, 0).misses;
    }
}

static void work_through(void *user, size_t index) {
    struct pass *pass = user;
    struct studied *cache = &pass->caches[index];
    for (size_t i = 0; i < pass->count; i++) {
        const struct timed_request *timed = &pass->requests[i];
        for (size_t q = 0; q < cache->out->time_count; q++) {
            struct clockwork *work = &cache->works[q];
            turn(cache, work, timed->now);
            if (work->at >= work->room) continue;
            rsc_branches_request(work->cold, &timed->request, timed->now);
            if (work->stitching) rsc_branches_request(work->stitch, &timed->request, timed->now);
        }
        rsc_branches_request(cache->truth, &timed->request, timed->now);
    }
}

static void flush(struct pass *pass) {
    rsc_pool_for(pass->pool, pass->study->cache_count, work_through, pass);
    pass->count = 0;
}

static void take_request(void *user, const struct rsc_request *request) {
    struct pass *pass = user;
    pass->requests[pass->count++] =
        (struct timed_request){*request, (uint64_t)(pass->base + request->access * pass->rate)};
    if (pass->count == REQUESTS) flush(pass);
}

/* ---- setting up ---- */

static int open_one(struct rsc_branches **out, const struct rsc_sim_config *config,
                    const struct rsc_cache_config *cache, enum rsc_branch_watch watch, struct rsc_spaces *spaces,
                    struct rsc_error *error) {
    struct rsc_sim_config *one = calloc(1, sizeof *one);
    if (!one) return rsc_fail_memory(error, "study");
    one->seed = config->seed;
    one->caches[0] = *cache;
    one->count = 1;
    int status = rsc_branches_new(out, one, watch, error);
    if (!status && spaces) rsc_branches_use_spaces(*out, spaces);
    free(one);
    return status;
}

static int open_cache(struct pass *pass, struct studied *cache, const struct rsc_sim_config *config,
                      const struct rsc_cache_config *which, struct rsc_spaces *spaces, struct rsc_error *error) {
    cache->pass = pass;
    cache->out->cache = rsc_cache_config_label(which);
    cache->config = which;
    int status = open_one(&cache->truth, config, which, RSC_WATCH_SETS, spaces, error);
    for (size_t q = 0; !status && q < RSC_STUDY_LENGTHS; q++) {
        struct rsc_study_time *time = &cache->out->times[cache->out->time_count];
        struct clockwork *work = &cache->works[cache->out->time_count];
        uint64_t count = pass->study->instructions / lengths[q];
        if (count < 2) continue;
        *time = (struct rsc_study_time){.length = lengths[q],
                                        .count = count,
                                        /* At most half of them: all intervals stitched together would be the trace. */
                                        .sampled = count < 2 * RSC_STUDY_SAMPLE ? count / 2 : RSC_STUDY_SAMPLE,
                                        .intervals = calloc(count, sizeof *time->intervals)};
        cache->out->time_count++;
        if (!time->intervals) return rsc_fail_memory(error, "study");
        work->out = time;
        work->room = count;
        status = open_one(&work->cold, config, which, RSC_WATCH_COLD, spaces, error);
        if (!status) status = open_one(&work->stitch, config, which, RSC_WATCH_NOTHING, spaces, error);
        if (!status) begin_interval(cache, work, 0);
    }
    return status;
}

/* The lowest level's caches, all of one name, begin here. */
static size_t first_studied(const struct rsc_sim_config *config) {
    size_t i = config->count - 1;
    while (i && !strcmp(config->caches[i - 1].name, config->caches[i].name)) i--;
    return i;
}

static const char *not_studied(const struct rsc_sim_config *config) {
    if (config->all_count) return "families of sizes (all:)";
    for (size_t i = 0; i < config->count; i++)
        if (config->caches[i].policy == RSC_POLICY_OPT) return "Belady's optimum, which needs the future";
    size_t from = first_studied(config);
    for (size_t i = from; i < config->count; i++) {
        if (rsc_cache_prefetches(&config->caches[i]) || config->caches[i].victim_blocks ||
            config->caches[i].buffer_blocks)
            return "caches with a prefetcher, a victim cache or a write buffer";
        if (config->caches[i].inclusive) return "an inclusive lowest level";
    }
    return NULL;
}

static int open_pass(struct pass *pass, const struct rsc_sim_config *config, struct rsc_error *error) {
    const size_t from = first_studied(config);
    struct rsc_sim_config *above = malloc(sizeof *above);
    pass->study->cache_count = config->count - from;
    pass->study->caches = calloc(pass->study->cache_count, sizeof *pass->study->caches);
    pass->caches = calloc(pass->study->cache_count, sizeof *pass->caches);
    pass->requests = malloc(REQUESTS * sizeof *pass->requests);
    pass->uses = (struct rsc_study_uses){.fetches = calloc(1u << USE_BITS, sizeof *pass->uses.fetches),
                                         .data = calloc(1u << USE_BITS, sizeof *pass->uses.data),
                                         .width = USE_BITS};
    int status = above && pass->study->caches && pass->caches && pass->requests && pass->uses.fetches && pass->uses.data
                     ? 0
                     : rsc_fail_memory(error, "study");
    if (!status) {
        uint32_t smallest = 64;
        int by_process = 0;
        *above = *config;
        above->count = from + 1;
        for (size_t i = from; i < config->count; i++) {
            uint32_t shift = (uint32_t)__builtin_ctz(config->caches[i].block_bytes);
            smallest = shift < smallest ? shift : smallest;
            by_process |= config->caches[i].indexing != RSC_INDEX_VIRTUAL;
            /* If one index depends on the process, all addresses include it. */
            if (by_process)
                above->caches[from].indexing = config->caches[i].indexing != RSC_INDEX_VIRTUAL
                                                   ? config->caches[i].indexing
                                                   : above->caches[from].indexing;
        }
        pass->uses.low = smallest;
        status = rsc_branches_new(&pass->above, above, RSC_WATCH_NOTHING, error);
    }
    free(above);
    if (status < 0) return status;
    rsc_branches_tap(pass->above, from, &(struct rsc_hierarchy_tap){take_request, pass});
    for (size_t i = from; !status && i < config->count; i++) {
        pass->caches[i - from].out = &pass->study->caches[i - from];
        status = open_cache(pass, &pass->caches[i - from], config, &config->caches[i], rsc_branches_spaces(pass->above),
                            error);
    }
    return status;
}

static void close_pass(struct pass *pass) {
    for (size_t i = 0; pass->caches && i < pass->study->cache_count; i++) {
        rsc_branches_free(pass->caches[i].truth);
        for (size_t q = 0; q < RSC_STUDY_LENGTHS; q++) {
            rsc_branches_free(pass->caches[i].works[q].cold);
            rsc_branches_free(pass->caches[i].works[q].stitch);
        }
    }
    rsc_branches_free(pass->above);
    rsc_pool_free(pass->pool);
    free(pass->caches);
    free(pass->requests);
    free(pass->uses.fetches);
    free(pass->uses.data);
}

/* ---- the pass ---- */

static int take_batch(struct pass *pass, const struct rsc_batch *batch, struct rsc_error *error) {
    const uint64_t mask = (1u << USE_BITS) - 1;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t value = batch->addr[i] >> pass->uses.low & mask;
        if (rsc_meta_kind(batch->meta[i]) == RSC_FETCH) {
            pass->uses.fetches[value]++;
            pass->study->fetches++;
        } else {
            pass->uses.data[value]++;
        }
    }
    pass->rate = batch->instructions == RSC_UNKNOWN || !batch->count ? 1 : (double)batch->instructions / batch->count;
    int status = rsc_branches_push(pass->above, batch, 0, batch->count, error);
    pass->base += batch->count * pass->rate;
    pass->study->accesses += batch->count;
    return status;
}

static int finish_caches(struct pass *pass, struct rsc_error *error) {
    struct rsc_study *study = pass->study;
    int status = 0;
    flush(pass);
    for (size_t i = 0; !status && i < study->cache_count; i++) {
        struct studied *cache = &pass->caches[i];
        struct rsc_branch_counts truth = rsc_branches_counts(cache->truth, 0);
        status = rsc_branches_status(cache->truth, error);
        cache->out->misses = truth.misses;
        cache->out->references = truth.accesses;
        cache->out->mpi = (double)truth.misses / (double)study->instructions;
        for (size_t q = 0; !status && q < cache->out->time_count; q++) {
            struct clockwork *work = &cache->works[q];
            turn(cache, work, UINT64_MAX / 2);
            status = rsc_branches_status(work->cold, error);
            if (!status) status = rsc_branches_status(work->stitch, error);
            if (!status) status = rsc_study_finish_times(cache->out, work->out, study->instructions, error);
        }
        if (!status)
            status = rsc_study_finish_sets(cache->out, cache->config, study, rsc_branches_set_misses(cache->truth, 0),
                                           &pass->uses, error);
    }
    return status;
}

int rsc_study_run(struct rsc_study *study, const struct rsc_sim_config *config, struct rsc_trace *trace,
                  unsigned workers, int writes_are_back, void (*progress)(void *user, uint64_t done, uint64_t total),
                  void *user, struct rsc_error *error) {
    struct pass pass = {.study = study};
    struct rsc_trace_info info;
    const struct rsc_batch *batch;
    const char *why;
    memset(study, 0, sizeof *study);
    int status = rsc_sim_config_check(config, error);
    if (status < 0) return status;
    if ((why = not_studied(config))) return rsc_fail(error, RSC_EINVAL, "--study sampling does not support %s", why);
    rsc_trace_get_info(trace, &info);
    study->instructions = info.instructions;
    if (info.instructions == RSC_UNKNOWN || !info.instructions)
        return rsc_fail(
            error, RSC_EINVAL,
            "--study sampling needs misses per instruction: a native trace in a file, with instruction counts");
    status = rsc_pool_new(&pass.pool, workers, error);
    if (!status) status = open_pass(&pass, config, error);
    if (!status) rsc_branches_writes_are_back(pass.above, writes_are_back);
    while (!status && (status = rsc_trace_next(trace, &batch, error)) > 0) {
        status = take_batch(&pass, batch, error);
        if (progress) progress(user, study->accesses, info.accesses);
    }
    if (!status) status = finish_caches(&pass, error);
    close_pass(&pass);
    return status;
}
