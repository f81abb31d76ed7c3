/*
 * objects_result.h - the result of simulating caches of whole objects: plain data, filled
 * by simulate/objects and shown by report/.
 */
#ifndef RSC_PROFILE_OBJECTS_RESULT_H
#define RSC_PROFILE_OBJECTS_RESULT_H

#include <stddef.h>
#include <stdint.h>

/* One policy at one size. */
struct rsc_object_cache_row {
    const char *policy; /* not owned */
    uint64_t bytes;     /* of the cache */
    uint64_t misses, missed_bytes;
    uint64_t too_large; /* of misses: objects larger than the cache */
    uint64_t evictions;
    uint64_t objects_at_end, bytes_at_end;
};

struct rsc_objects_result {
    uint64_t requests, requested_bytes; /* counted */
    uint64_t warm_requests;             /* before counting */
    uint64_t objects, objects_bytes;    /* distinct ones of the whole trace, by their first size */
    struct rsc_object_cache_row *rows;        /* owned; by policy as asked for, sizes as asked for */
    size_t row_count;
    unsigned workers;
    double seconds;
    char **command; /* not owned */
};

#endif
