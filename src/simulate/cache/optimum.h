/*
 * optimum.h - Belady's optimum, which needs to know what comes.
 *
 * First everything a level is asked for is recorded, cut into blocks; then, from the
 * end backwards, each request learns when its block is asked for next; then the
 * requests are served, and the block goes whose next use is farthest.
 */
#ifndef RSC_SIMULATE_CACHE_OPTIMUM_H
#define RSC_SIMULATE_CACHE_OPTIMUM_H

#include "simulate/cache/hierarchy.h"

struct rsc_record {
    struct rsc_request *requests; /* owned */
    size_t count, room;
    size_t counted_from; /* requests before this one warm up */
    int status;          /* RSC_ENOMEM once it could not grow */
};

/* Appends a request to go to a hierarchy's first level, cut into blocks where that is Belady's. */
void rsc_record_add(struct rsc_record *record, const struct rsc_hierarchy *hierarchy,
                    const struct rsc_request *request);
void rsc_record_free(struct rsc_record *record);

/*
 * Serves all that was recorded. `begin` (may be NULL) is called when counting starts,
 * after the hierarchy has forgotten its counts. Returns 0 or RSC_ENOMEM.
 */
int rsc_record_serve(struct rsc_record *record, struct rsc_hierarchy *hierarchy, void (*begin)(void *user), void *user);

#endif
