/*
 * optimum.h - Belady's optimum, which needs to know the future.
 *
 * First all requests to a level are recorded, cut into blocks. Then a backward pass
 * finds the next use of each request's block. Then the requests are served, and the
 * block whose next use is farthest is evicted.
 */
#ifndef RSC_SIMULATE_CACHE_OPTIMUM_H
#define RSC_SIMULATE_CACHE_OPTIMUM_H

#include "simulate/cache/hierarchy.h"

struct rsc_request_list {
    struct rsc_request *requests; /* owned */
    size_t count, room;
    size_t counted_from; /* requests before this one warm up */
    int status;          /* RSC_ENOMEM if it could not grow */
};

/* Appends a request to a hierarchy's first level, cut into blocks if that level uses Belady's optimum. */
void rsc_request_list_add(struct rsc_request_list *record, const struct rsc_hierarchy *hierarchy,
                          const struct rsc_request *request);
void rsc_request_list_free(struct rsc_request_list *record);

/*
 * Serves all recorded requests. `begin` (may be NULL) is called when counting starts,
 * after the hierarchy's counts were reset. Returns 0 or RSC_ENOMEM.
 */
int rsc_request_list_serve(struct rsc_request_list *record, struct rsc_hierarchy *hierarchy, void (*begin)(void *user),
                           void *user);

#endif
