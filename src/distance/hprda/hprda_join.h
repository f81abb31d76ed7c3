/*
 * hprda_join.h - HP-RDA's third step: merges the results of blocks, and of fragments.
 *
 * Lines are divided into parts by a hash; one thread at a time processes a part,
 * block after block, so every line is merged in order. A block is to its fragment
 * what a local trace is to its block: formula 1 with the blocks' exact counts of
 * distinct lines, and the nodes' first and latest. The same holds for a fragment and
 * the whole trace.
 */
#ifndef RSC_DISTANCE_HPRDA_HPRDA_JOIN_H
#define RSC_DISTANCE_HPRDA_HPRDA_JOIN_H

#include "distance/hprda/hprda_block.h"

/* Where a line was seen last. When a fragment ends, latest and latest_low become those of the fragment. */
struct rsc_hprda_state {
    uint32_t fragment, block;
    uint32_t latest, latest_low;
};

struct rsc_hprda_part_lines {
    struct rsc_u64_table table; /* line -> 1 + index into states */
    struct rsc_hprda_state *states;
    uint32_t count, room;
    uint32_t in_fragment; /* lines of the fragment in progress */
};

/* Shared by all parts while a group of blocks is merged. */
struct rsc_hprda_place {
    const struct rsc_hprda_spans *blocks;    /* counts of the fragment's blocks, including the group's */
    const struct rsc_hprda_spans *fragments; /* counts of the fragments before */
    uint32_t first_block;                    /* of the group, in its fragment */
    uint64_t known[RSC_HPRDA_WAITING];       /* distances up to this are not adjusted for any M */
};

/* Return 0, RSC_ENOMEM, or RSC_ELIMIT beyond 2^32 - 1 lines in the part. A zeroed part may be freed. */
int rsc_hprda_part_init(struct rsc_hprda_part_lines *part);
void rsc_hprda_part_free(struct rsc_hprda_part_lines *part);
int rsc_hprda_part_merge(struct rsc_hprda_part_lines *part, uint32_t number, const struct rsc_hprda_block *blocks,
                         uint32_t count, const struct rsc_hprda_place *place, struct rsc_hprda_tally *tally);

/* Ends the fragment: see struct rsc_hprda_state. */
void rsc_hprda_part_end_fragment(struct rsc_hprda_part_lines *part, const struct rsc_hprda_place *place);

#endif
