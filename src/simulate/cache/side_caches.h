/*
 * side_caches.h - caches beside the primary ones: alternatives, and whole families
 * of sizes, that see what a primary cache is asked for.
 *
 * The requests of a level are gathered in a buffer as they come; when it is full the
 * caches that want them work through it, each on its own, in parallel, while the next
 * buffer fills.
 */
#ifndef RSC_SIMULATE_CACHE_SIDE_CACHES_H
#define RSC_SIMULATE_CACHE_SIDE_CACHES_H

#include "base/pool.h"
#include "simulate/cache/all_sizes.h"
#include "simulate/cache/optimum.h"

/* Requests gathered before they are worked through: 1.5 MiB, of which a worker reads one of each. */
#define RSC_SIDE_REQUESTS 65536u

struct rsc_side_stream;

/* One cache, or one family. */
struct rsc_side_cache {
    struct rsc_side_stream *stream;
    int is_all;
    struct rsc_all_sizes all;       /* is_all */
    struct rsc_hierarchy hierarchy; /* else: one level */
    struct rsc_record record;       /* of Belady's optimum, for later */
    int is_optimum;
    const struct rsc_request *from; /* what it is working through */
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

/* Has everything gathered worked through, and waits for it. */
void rsc_side_flush(struct rsc_side_stream *stream);

/* Counts from here on only. */
void rsc_side_forget_counts(struct rsc_side_stream *stream);

/* After the last request: what had to wait for it. Returns 0 or RSC_ENOMEM. */
int rsc_side_finish(struct rsc_side_stream *stream);

#endif
