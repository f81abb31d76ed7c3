/* sampler_memory.c - the options of a sampler and the layout of its block of memory. */
#include <string.h>

#include "runtime/sampler/sampler_state.h"

static struct rsc_sampler_options with_defaults(const struct rsc_sampler_options *given) {
    struct rsc_sampler_options full = *given;
    if (!full.models) full.models = RSC_MODEL_PRIVATE;
    if (full.period == 0) full.period = 1000000;
    if (full.period < 1) full.period = 1;
    if (!full.threads_most) full.threads_most = 64;
    if (!full.exact_lines) full.exact_lines = 8192;
    if (full.exact_lines < 256) full.exact_lines = 256;
    if (!full.samples_most) full.samples_most = 1024;
    if (!full.log_entries) full.log_entries = 32768;
    if (!full.await_ticks) full.await_ticks = 60000; /* 20 us: as long as a buffer that threads contend for takes */
    if (!full.prune_after) full.prune_after = 100;
    if (full.prune_quantile == 0) full.prune_quantile = 0.99;
    return full;
}

static struct rsc_active_options set_options(const struct rsc_sampler_options *options) {
    return (struct rsc_active_options){options->exact_lines, options->samples_most, options->seed};
}

/* Without distances there is no table of lines to fill up, and one set has the samples of all threads. */
#define FOOTPRINT_SAMPLES 16u /* times those of a thread */
static struct rsc_active_options shared_options(const struct rsc_sampler_options *options) {
    struct rsc_active_options wanted = set_options(options);
    if (!options->only_footprint) return wanted;
    wanted.exact_lines = 256;
    wanted.samples_most = wanted.samples_most < (1u << 20) ? wanted.samples_most * FOOTPRINT_SAMPLES : 1u << 24;
    return wanted;
}

/* From NULL on, the end is the size: not pointer arithmetic, which needs an object. */
static void *carve(char **at, size_t bytes) {
    void *piece = *at;
    *at = (char *)((uintptr_t)*at + (bytes + 63) / 64 * 64);
    return piece;
}

/* Places a thread's arrays, from `at` on; into `thread` unless that is NULL. Returns the end. */
static char *lay_out_thread(struct sampler_thread *thread, const struct rsc_sampler_options *options, char *at) {
    struct rsc_active_options wanted = set_options(options);
    struct sampler_thread parts;
    memset(&parts, 0, sizeof parts);
    if (options->models & RSC_MODEL_PRIVATE) {
        void *set = carve(&at, rsc_active_bytes(&wanted));
        parts.facts = carve(&at, options->samples_most * sizeof *parts.facts);
        if (thread) rsc_active_init(&thread->set, &wanted, set);
    }
    if (options->order == RSC_ORDER_PARALLEL) {
        parts.recent = carve(&at, RECENT_LINES * sizeof *parts.recent);
        parts.known = carve(&at, KNOWN_LINES * sizeof *parts.known);
        parts.cursor = carve(&at, options->threads_most * sizeof *parts.cursor);
        parts.log = carve(&at, options->log_entries * sizeof *parts.log);
        if (options->in_step && options->cores >= RSC_SAMPLER_CORES_BOUND && !options->only_footprint &&
            options->models == (RSC_MODEL_PRIVATE | RSC_MODEL_SHARED))
            parts.shown = carve(&at, sizeof *parts.shown);
    }
    if (thread) {
        thread->facts = parts.facts;
        thread->recent = parts.recent;
        thread->known = parts.known;
        thread->cursor = parts.cursor;
        thread->log = parts.log;
        __atomic_store_n(&thread->shown, parts.shown, __ATOMIC_RELEASE); /* others look at it */
    }
    return at;
}

/* Everything but the threads' arrays. */
static char *lay_out_whole(struct rsc_sampler *sampler, const struct rsc_sampler_options *options, char *at) {
    struct rsc_active_options wanted = shared_options(options);
    struct rsc_sampler parts;
    memset(&parts, 0, sizeof parts);
    carve(&at, sizeof *sampler);
    parts.threads = carve(&at, options->threads_most * sizeof *parts.threads);
    parts.ages[0] = carve(&at, sizeof *parts.ages[0]);
    parts.ages[1] = carve(&at, sizeof *parts.ages[1]);
    parts.filter = carve(&at, FILTER_COUNTERS * sizeof *parts.filter);
    if (options->models & RSC_MODEL_SHARED) {
        void *set = carve(&at, rsc_active_bytes(&wanted));
        parts.shared_facts = carve(&at, wanted.samples_most * sizeof *parts.shared_facts);
        if (sampler) rsc_active_init(&sampler->shared, &wanted, set);
    }
    if (sampler) {
        sampler->threads = parts.threads;
        sampler->ages[0] = parts.ages[0];
        sampler->ages[1] = parts.ages[1];
        sampler->shared_facts = parts.shared_facts;
        sampler->filter = parts.filter;
    }
    return at;
}

size_t rsc_sampler_bytes(const struct rsc_sampler_options *options, size_t *per_thread) {
    struct rsc_sampler_options full = with_defaults(options);
    size_t one = (size_t)(uintptr_t)lay_out_thread(NULL, &full, NULL);
    if (per_thread) *per_thread = one + sizeof(struct sampler_thread);
    return (size_t)(uintptr_t)lay_out_whole(NULL, &full, NULL) + full.threads_most * one;
}

struct rsc_sampler *rsc_sampler_init(const struct rsc_sampler_options *options, void *zeroed) {
    struct rsc_sampler *sampler = zeroed;
    sampler->options = with_defaults(options);
    sampler->thread_arrays = lay_out_whole(sampler, &sampler->options, zeroed);
    sampler->turn = 1;
    sampler->shared_due = UINT64_MAX;
    sampler->shared_unjudged = RSC_NO_SAMPLE;
    sampler->hash_key = rsc_active_key(sampler->options.seed);
    rsc_sampler_set_period(sampler, sampler->options.period);
    if (sampler->options.models & RSC_MODEL_SHARED) rsc_sampler_publish_epoch(sampler);
    return sampler;
}

/* A slot's arrays are placed when it is first taken, so that unused ones stay untouched. */
void rsc_sampler_lay_out_slot(struct rsc_sampler *sampler, struct sampler_thread *thread) {
    const size_t one = (size_t)(uintptr_t)lay_out_thread(NULL, &sampler->options, NULL);
    lay_out_thread(thread, &sampler->options, sampler->thread_arrays + (size_t)(thread - sampler->threads) * one);
    thread->laid_out = 1;
}
