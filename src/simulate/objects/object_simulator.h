/*
 * object_simulator.h - requests for whole objects through caches of several policies and
 * sizes, in one pass over the trace.
 *
 * An access is one request for the object `addr` of `size` bytes (0 counts as 1). Objects
 * are numbered once for all caches; then each cache serves a block of requests, several
 * caches at a time. Caches that need the future serve everything at the end.
 */
#ifndef RSC_SIMULATE_OBJECTS_OBJECT_SIMULATOR_H
#define RSC_SIMULATE_OBJECTS_OBJECT_SIMULATOR_H

#include <reusescope/trace.h>

#include "profile/objects_result.h"
#include "simulate/objects/object_cache.h"

#define RSC_OBJECT_POLICIES_MAX 16
#define RSC_OBJECT_SIZES_MAX 256

struct rsc_object_options {
    const struct rsc_object_policy *policies[RSC_OBJECT_POLICIES_MAX];
    size_t policy_count;
    uint64_t sizes[RSC_OBJECT_SIZES_MAX]; /* bytes, at least 1 */
    size_t size_count;
    uint64_t warm_requests; /* before counting starts */
    unsigned workers;       /* 0: one per core */
};

/* "lru,arc" or "all"; "1M,64M". Return 0, or RSC_EINVAL. */
int rsc_object_policies_parse(struct rsc_object_options *options, const char *text, struct rsc_error *error);
int rsc_object_sizes_parse(struct rsc_object_options *options, const char *text, struct rsc_error *error);

struct rsc_object_simulator;

/* Free *out with rsc_object_simulator_free(). */
int rsc_object_simulator_new(struct rsc_object_simulator **out, const struct rsc_object_options *options,
                             struct rsc_error *error);
int rsc_object_simulator_push(struct rsc_object_simulator *simulator, const struct rsc_batch *batch,
                              struct rsc_error *error);
/* Free the rows of the result with free(). */
int rsc_object_simulator_finish(struct rsc_object_simulator *simulator, struct rsc_objects_result *result,
                                struct rsc_error *error);
void rsc_object_simulator_free(struct rsc_object_simulator *simulator); /* NULL is allowed */

#endif
