/*
 * engine_requests.c - exact miss ratio curves of a cache that holds whole objects
 * of different sizes, for traces of requests.
 *
 * Each access is one request for the object `addr` of `size` bytes (0 counts as 1);
 * nothing is cut into lines. The modelled cache is fully associative LRU with c
 * bytes: a request for s bytes hits if and only if s plus the bytes of distinct other
 * objects requested since the object's last request fit into c. For objects of
 * constant size this is an LRU cache that evicts the least recently used objects
 * until the new one fits. Two conventions:
 *   - an object larger than the cache never hits, and evicts everything;
 *   - an object whose size changes counts with its latest size from then on: it
 *     hits if that fits, and other objects' distances use it.
 * Distances are stored as RD = bytes of others + s - 1, so a request hits in c bytes
 * if and only if RD < c, and all readers of profiles work with bytes in place of
 * lines.
 */
#include <stdlib.h>

#include "base/fail.h"
#include "distance/requests/byte_stack.h"
#include "distance/engine_kind.h"
#include "profile/profile_model.h"

#define BLOCK 2048u

struct requests_engine {
    struct rsc_byte_stack stack;
    struct rsc_histogram rd, ri, bytes;
    uint64_t requests, cold, requested, cold_bytes, threads;
    const struct rsc_log *log;
    uint32_t sizes[BLOCK];
    uint64_t above[BLOCK];
    uint64_t ri_of[BLOCK];
};

static void requests_destroy(void *state) {
    struct requests_engine *engine = state;
    if (!engine) return;
    rsc_byte_stack_free(&engine->stack);
    rsc_histogram_free(&engine->rd);
    rsc_histogram_free(&engine->ri);
    rsc_histogram_free(&engine->bytes);
    free(engine);
}

static int requests_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                           struct rsc_error *error) {
    (void)parameters;
    struct requests_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "requests engine");
    engine->log = options->log;
    if (rsc_byte_stack_init(&engine->stack, 0) < 0 || rsc_histogram_init(&engine->rd, RSC_BINS_FINE) < 0 ||
        rsc_histogram_init(&engine->ri, RSC_BINS_FINE) < 0 || rsc_histogram_init(&engine->bytes, RSC_BINS_FINE) < 0) {
        requests_destroy(engine);
        return rsc_fail_memory(error, "requests engine");
    }
    *state = engine;
    return 0;
}

static void count_block(struct requests_engine *engine, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t size = engine->sizes[i];
        engine->requested += size;
        if (engine->above[i] == RSC_BYTES_COLD) {
            engine->cold++;
            engine->cold_bytes += size;
            continue;
        }
        uint32_t bin = rsc_bin_of_fine(engine->above[i] + size - 1);
        engine->rd.count[bin]++;
        engine->bytes.count[bin] += size;
        engine->ri.count[rsc_bin_of_fine(engine->ri_of[i])]++;
    }
    engine->requests += count;
}

static int requests_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct requests_engine *engine = state;
    for (uint32_t done = 0; done < batch->count;) {
        uint32_t part = batch->count - done < BLOCK ? batch->count - done : BLOCK;
        for (uint32_t i = 0; i < part; i++) {
            uint64_t meta = batch->meta[done + i];
            uint32_t size = rsc_meta_size(meta);
            engine->sizes[i] = size ? size : 1;
            if ((meta >> 40) + 1 > engine->threads) engine->threads = (meta >> 40) + 1;
        }
        if (rsc_byte_stack_run(&engine->stack, batch->addr + done, engine->sizes, part, engine->above, engine->ri_of) <
            0)
            return rsc_fail(error, RSC_ENOMEM, "out of memory (requests engine, %llu objects, %llu MiB)",
                            (unsigned long long)engine->stack.table.used,
                            (unsigned long long)(engine->stack.peak_memory >> 20));
        count_block(engine, part);
        /* a block adds less than 2^43, so a wrap of the sum cannot go unnoticed */
        if (engine->requested > INT64_MAX || engine->stack.peak > INT64_MAX)
            return rsc_fail(error, RSC_ELIMIT, "requests engine: more than 8 EiB were requested");
        done += part;
    }
    return 0;
}

static int requests_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct requests_engine *engine = state;
    struct rsc_profile *profile = *out = rsc_profile_new();
    if (!profile || rsc_profile_set_requests(profile) < 0 || rsc_profile_set_text(&profile->made.by, "requests") < 0)
        return rsc_fail_memory(error, "profile");
    profile->accesses = profile->references = engine->requests;
    profile->cold = profile->distinct = engine->cold;
    profile->made.threads = engine->threads;
    profile->requests.requested = engine->requested;
    profile->requests.cold = engine->cold_bytes;
    profile->requests.footprint = engine->stack.peak;
    rsc_histogram_merge(&profile->rd, &engine->rd);
    rsc_histogram_merge(&profile->ri, &engine->ri);
    rsc_histogram_merge(&profile->requests.rd, &engine->bytes);
    if (engine->cold)
        rsc_log_line(engine->log, RSC_LOG_INFO, "requests engine: %.1f MiB at most, %.1f bytes per object",
                     (double)engine->stack.peak_memory / (1 << 20),
                     (double)engine->stack.peak_memory / (double)engine->cold);
    return 0;
}

static uint64_t requests_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t objects) {
    (void)options;
    (void)parameters;
    return 96 * objects;
}

const struct rsc_engine_kind rsc_engine_requests = {
    .name = "requests",
    .what = "whole objects with sizes, distances in bytes; exact, one core",
    .can = RSC_TAKES_REQUESTS,
    .memory = requests_memory,
    .create = requests_create,
    .push = requests_push,
    .finish = requests_finish,
    .destroy = requests_destroy,
};
