/*
 * side_caches.h - caches beside the primary ones: alternatives and families of sizes
 * that see the requests to a primary cache.
 *
 * The requests of a level are gathered in a buffer. When it is full, its caches process
 * it in parallel, independently of each other, while the next buffer fills.
 */
#ifndef RSC_SIMULATE_CACHE_SIDE_CACHES_H
#define RSC_SIMULATE_CACHE_SIDE_CACHES_H

#include "base/pool.h"
#include "simulate/cache/all_sizes.h"
#include "simulate/cache/optimum.h"

/* Requests per buffer: 1.5 MiB; a worker reads the whole buffer for one cache at a time. */
#define RSC_SIDE_REQUESTS 65536u

struct rsc_side_stream;

/* One cache, or one family. */
struct rsc_side_cache {
    struct rsc_side_stream *stream;
    int is_all;
    struct rsc_all_sizes all;       /* is_all */
    struct rsc_hierarchy hierarchy; /* else: one level */
    struct rsc_request_list record;       /* requests for Belady's optimum, served at the end */
    int is_optimum;
    const struct rsc_request *from; /* the buffer being processed */
    size_t count;
};

/* The requests of one level. */
struct rsc_side_stream {
    struct rsc_request *filling, *working; /* owned: RSC_SIDE_REQUESTS each */
    size_t count;                          /* in filling */
    struct rsc_side_cache *caches;         /* owned: room for RSC_SIM_CACHES_MAX + RSC_SIM_ALLS_MAX */
    size_t cache_count;
    struct rsc_pool *pool; /* not owned; NULL: the caller works */
};

/* A stream without caches. Returns 0 or RSC_ENOMEM. */
int rsc_side_stream_init(struct rsc_side_stream *stream, struct rsc_pool *pool);
void rsc_side_stream_free(struct rsc_side_stream *stream);

int rsc_side_add_cache(struct rsc_side_stream *stream, const struct rsc_cache_config *config, uint64_t seed,
                       int classify, struct rsc_spaces *spaces, struct rsc_error *error);
int rsc_side_add_all(struct rsc_side_stream *stream, const struct rsc_all_config *config, struct rsc_error *error);

void rsc_side_request(struct rsc_side_stream *stream, const struct rsc_request *request);

/* Processes everything gathered, and waits for it. */
void rsc_side_flush(struct rsc_side_stream *stream);

/* Resets the counts. */
void rsc_side_forget_counts(struct rsc_side_stream *stream);

/* Call after the last request: serves what was recorded for Belady's optimum. Returns 0 or RSC_ENOMEM. */
int rsc_side_finish(struct rsc_side_stream *stream);

#endif
