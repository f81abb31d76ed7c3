/*
 * places.h - small numbers for places in the code: instructions, each by call path.
 *
 * Code is cut into *chunks* of 64 bytes. A *group* is a chunk as reached by one call
 * path. The tag of an access is its group's number and the instruction's offset in
 * the chunk, so as long as a thread stays in a chunk and in a function its tags need
 * no lookup. Each group remembers the four groups that last followed it, which are
 * tried before the hash table: the newest, then those of which eight bits of a hash fit.
 *
 * Memory is bounded, and used as code is: 36 bytes per group and a hash entry of up to
 * 32, 256 bytes per chunk, 64 to 128 per instruction (its row in narrow_tally.h and
 * elsewhere). When there is no room for more groups, new ones are made without their call path;
 * when there is no room for more chunks or rows, places have none: see RSC_CODE_OTHER.
 */
#ifndef RSC_DISTANCE_COUNT_PLACES_H
#define RSC_DISTANCE_COUNT_PLACES_H

#include "distance/count/call_paths.h"

#define RSC_CHUNK_BITS 6u
#define RSC_CHUNK_MASK ((1u << RSC_CHUNK_BITS) - 1)

#define RSC_GROUPS_MOST (1u << 22) /* so tags have 28 bits */

/* The group of places without a number, the only tag of which is RSC_TAG_NONE. */
#define RSC_GROUP_NONE 0u

#define RSC_GROUPS_NEXT 4u

struct rsc_place_group {
    uint64_t line; /* pc >> RSC_CHUNK_BITS */
    uint32_t node; /* call path */
    uint32_t next[RSC_GROUPS_NEXT]; /* the groups that followed last, newest first; RSC_GROUP_NONE at first */
    uint8_t hash[RSC_GROUPS_NEXT];  /* theirs: rsc_places_hash() */
};
_Static_assert(sizeof(struct rsc_place_group) == 32, "no group is in two cache lines");

static inline uint8_t rsc_places_hash(uint64_t line, uint32_t node) {
    return (uint8_t)(((uint32_t)line * 0x9E3779B1u + node * 0x85EBCA77u) >> 24);
}

struct rsc_places {
    struct rsc_place_group *groups; /* never moves: read while others are added. Owned */
    uint32_t *chunk_of_group; /* apart: counting needs only this, tagging only the others. Owned */
    uint32_t group_count;
    uint32_t group_limit;          /* of those with a call path; there may be one without for each chunk more */
    struct rsc_u64_table group_of; /* rsc_call_paths_key(node, first pc of the chunk) -> group */

    uint32_t *rows; /* by chunk and offset: the instruction's row, 0: none yet. [chunk 0] is for no place. Owned */
    uint32_t chunk_count, chunk_limit;
    struct rsc_u64_table chunk_of; /* line -> chunk */

    uint64_t *row_pc; /* by row; [0] is not used. Owned */
    uint32_t row_count, row_limit;
};

/* Limits of 0 are 1, and half of RSC_GROUPS_MOST is the highest. Returns 0 or RSC_ENOMEM. A zeroed struct may always be freed. */
int rsc_places_init(struct rsc_places *places, uint32_t groups, uint32_t rows);
void rsc_places_free(struct rsc_places *places);
int rsc_places_copy(struct rsc_places *copy, const struct rsc_places *places); /* 0 or RSC_ENOMEM */

/*
 * Finds or makes the group of a pc. *is_new: set to 1 if its chunk is new. Returns the group, RSC_GROUP_NONE if there
 * is no room, or UINT32_MAX when out of memory.
 */
uint32_t rsc_places_group(struct rsc_places *places, struct rsc_call_paths *paths, uint64_t pc, uint32_t node,
                          int *is_new);

/* The row of a tag's instruction: finds it, or makes it while there is room; 0: none. */
uint32_t rsc_places_new_row(struct rsc_places *places, uint32_t tag);
static inline uint32_t rsc_places_row(struct rsc_places *places, uint32_t tag) {
    uint32_t chunk = places->chunk_of_group[tag >> RSC_CHUNK_BITS];
    uint32_t row = places->rows[chunk << RSC_CHUNK_BITS | (tag & RSC_CHUNK_MASK)];
    return row ? row : rsc_places_new_row(places, tag);
}

static inline uint64_t rsc_places_pc(const struct rsc_places *places, uint32_t tag) {
    return places->groups[tag >> RSC_CHUNK_BITS].line << RSC_CHUNK_BITS | (tag & RSC_CHUNK_MASK);
}
static inline uint32_t rsc_places_node(const struct rsc_places *places, uint32_t tag) {
    return places->groups[tag >> RSC_CHUNK_BITS].node;
}

#endif
