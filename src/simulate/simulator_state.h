/*
 * simulator_state.h - the inside of a simulator.
 *
 * The primary caches are cut into *segments* above each level of Belady's optimum. A
 * segment serves accesses as they come; requests past its last level are recorded for
 * the next segment, which is served after the end of the trace. Without such a level
 * there is one segment. If the first level uses Belady's optimum, an empty segment is
 * above it.
 */
#ifndef RSC_SIMULATE_SIMULATOR_STATE_H
#define RSC_SIMULATE_SIMULATOR_STATE_H

#include "simulate/cache/first_level.h"
#include "simulate/cache/side_caches.h"
#include "simulate/cache/tlb.h"
#include "simulate/simulator.h"

#define RSC_SEGMENTS_MAX (RSC_SIM_LEVELS_MAX + 1)
#define RSC_STREAMS_MAX RSC_CACHE_NAMES

struct rsc_segment {
    struct rsc_sim *sim;
    struct rsc_hierarchy hierarchy;
    struct rsc_request_list record; /* its requests, served later; not used in the first segment */
    int first_primary;        /* index among primary caches of its first level */
};

struct rsc_named_stream {
    char name[8];
    struct rsc_side_stream side;
    int segment; /* in which its requests arise */
};

/* Where the counts of a row of the result are. */
struct rsc_row_place {
    int segment, level;             /* of a primary cache; segment -1: at the side */
    struct rsc_side_cache *cache;   /* at the side */
    size_t nth;                     /* of a family */
};

struct rsc_sim {
    struct rsc_sim_config config;
    struct rsc_sim_options options;
    struct rsc_pool *pool; /* NULL: one thread */
    struct rsc_spaces spaces;
    struct rsc_segment segments[RSC_SEGMENTS_MAX];
    size_t segment_count;
    struct rsc_named_stream streams[RSC_STREAMS_MAX];
    size_t stream_count;
    struct rsc_row_place *rows; /* owned */
    struct rsc_sim_level_result *levels; /* owned: the rows of the result, as far as they are known */
    struct rsc_cache_config *configs;    /* owned: of the rows */
    size_t row_count;
    struct rsc_first_level *fast; /* NULL: one access at a time */
    struct rsc_tlbs *tlbs;        /* NULL: none */

    const struct rsc_batch *batch; /* being pushed */
    uint64_t seen;                 /* accesses pushed */
    uint64_t wide_references;      /* of accesses of a MiB and more */
    int counting;                  /* warming is over */
    uint64_t accesses, instructions;
    int instructions_known;

    /* Windows: running totals at the end of each. */
    struct rsc_sim_window *windows; /* owned */
    uint64_t *window_counts;        /* owned: accesses and misses of each row */
    size_t window_count, window_room;
    uint64_t window_instructions; /* at the end of the last one */
};

/* Builds segments, streams and rows from the configuration. simulator_build.c */
int rsc_sim_build(struct rsc_sim *sim, struct rsc_error *error);

/* The counts of a row so far. */
struct rsc_level_counts rsc_sim_row_counts(const struct rsc_sim *sim, size_t row);

#endif
