/*
 * access_tags.h - tags the accesses of a batch, for engines that attribute counts to
 * code and data (attribution.h).
 *
 * The first accesses decide whether to attribute: those of most traces have no pc.
 * Until then events are processed as if attribution were on.
 */
#ifndef RSC_DISTANCE_COUNT_ACCESS_TAGS_H
#define RSC_DISTANCE_COUNT_ACCESS_TAGS_H

#include "distance/count/attribution.h"

struct rsc_access_tags {
    uint32_t attribute;  /* as in rsc_engine_options; 1 or 2 once decided */
    uint64_t rd_cap;     /* 0: none */
    uint64_t *objects; /* receives the object of each reference (rsc_attribution_keep_objects()); NULL: not wanted */
    struct rsc_attribution *attribution; /* NULL: none. Owned */
    uint32_t *tag; /* by access of the batch, if there is an attribution; owned */
    uint32_t room;
};

/* Decides whether to attribute, and gives the accesses of the batch their tags. Returns 0 or an error. */
int rsc_access_tags_give(struct rsc_access_tags *tags, const struct rsc_batch *batch, struct rsc_error *error);

/* A zeroed struct may always be freed. */
void rsc_access_tags_free(struct rsc_access_tags *tags);

#endif
