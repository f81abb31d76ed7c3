/* side_caches.c - see side_caches.h. */
#include "simulate/cache/side_caches.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int rsc_side_stream_init(struct rsc_side_stream *stream, struct rsc_pool *pool) {
    *stream = (struct rsc_side_stream){
        .filling = malloc(RSC_SIDE_REQUESTS * sizeof *stream->filling),
        .working = malloc(RSC_SIDE_REQUESTS * sizeof *stream->working),
        .caches = calloc(RSC_SIM_CACHES_MAX + RSC_SIM_ALLS_MAX, sizeof *stream->caches),
        .pool = pool,
    };
    return stream->filling && stream->working && stream->caches ? 0 : RSC_ENOMEM;
}

void rsc_side_stream_free(struct rsc_side_stream *stream) {
    for (size_t i = 0; i < stream->cache_count; i++) {
        rsc_all_free(&stream->caches[i].all);
        rsc_hierarchy_free(&stream->caches[i].hierarchy);
        rsc_request_list_free(&stream->caches[i].record);
    }
    free(stream->filling);
    free(stream->working);
    free(stream->caches);
    *stream = (struct rsc_side_stream){0};
}

int rsc_side_add_cache(struct rsc_side_stream *stream, const struct rsc_cache_config *config, uint64_t seed,
                       int classify, struct rsc_spaces *spaces, struct rsc_error *error) {
    struct rsc_side_cache *cache = &stream->caches[stream->cache_count++];
    struct rsc_sim_config alone = {.caches = {*config}, .count = 1, .seed = seed};
    cache->stream = stream;
    cache->is_optimum = config->policy == RSC_POLICY_OPT;
    int status = rsc_hierarchy_init(&cache->hierarchy, &alone, error);
    if (status < 0) return status;
    rsc_hierarchy_use_spaces(&cache->hierarchy, spaces);
    cache->hierarchy.classify = classify;
    return 0;
}

int rsc_side_add_all(struct rsc_side_stream *stream, const struct rsc_all_config *config, struct rsc_error *error) {
    struct rsc_side_cache *cache = &stream->caches[stream->cache_count++];
    cache->stream = stream;
    cache->is_all = 1;
    return rsc_all_init(&cache->all, config, error);
}

static void work(void *argument) {
    struct rsc_side_cache *cache = argument;
    for (size_t i = 0; i < cache->count; i++) {
        const struct rsc_request *request = &cache->from[i];
        if (cache->is_all) rsc_all_request(&cache->all, request);
        else if (cache->is_optimum) rsc_request_list_add(&cache->record, &cache->hierarchy, request);
        else if (!cache->hierarchy.status) rsc_hierarchy_request(&cache->hierarchy, 0, request);
    }
}

/* Hands the buffer to the caches once they have finished the previous one. */
static void hand_over(struct rsc_side_stream *stream) {
    if (stream->pool) rsc_pool_wait(stream->pool);
    struct rsc_request *full = stream->filling;
    stream->filling = stream->working;
    stream->working = full;
    for (size_t i = 0; i < stream->cache_count; i++) {
        stream->caches[i].from = full;
        stream->caches[i].count = stream->count;
        if (stream->pool) rsc_pool_submit(stream->pool, work, &stream->caches[i]);
        else work(&stream->caches[i]);
    }
    stream->count = 0;
}

void rsc_side_request(struct rsc_side_stream *stream, const struct rsc_request *request) {
    stream->filling[stream->count++] = *request;
    if (stream->count == RSC_SIDE_REQUESTS) hand_over(stream);
}

void rsc_side_flush(struct rsc_side_stream *stream) {
    hand_over(stream);
    if (stream->pool) rsc_pool_wait(stream->pool);
}

void rsc_side_forget_counts(struct rsc_side_stream *stream) {
    rsc_side_flush(stream);
    for (size_t i = 0; i < stream->cache_count; i++) {
        struct rsc_side_cache *cache = &stream->caches[i];
        if (cache->is_all) rsc_all_forget_counts(&cache->all);
        else if (cache->is_optimum) cache->record.counted_from = cache->record.count;
        else rsc_hierarchy_forget_counts(&cache->hierarchy);
    }
}

int rsc_side_finish(struct rsc_side_stream *stream) {
    int status = 0;
    rsc_side_flush(stream);
    for (size_t i = 0; !status && i < stream->cache_count; i++) {
        struct rsc_side_cache *cache = &stream->caches[i];
        if (cache->is_all) {
            rsc_all_settle(&cache->all);
            continue;
        }
        if (cache->is_optimum) status = rsc_request_list_serve(&cache->record, &cache->hierarchy, NULL, NULL);
        rsc_hierarchy_drain(&cache->hierarchy);
        if (!status) status = cache->hierarchy.status;
    }
    return status;
}
