/* attribution_state.h - the tables that attribution.c counts in and attribution_fill.c turns into rows. */
#ifndef RSC_DISTANCE_COUNT_ATTRIBUTION_STATE_H
#define RSC_DISTANCE_COUNT_ATTRIBUTION_STATE_H

#include "base/fail.h"
#include "distance/count/attribution.h"
#include "distance/count/call_paths.h"
#include "distance/count/objects.h"
#include "distance/count/space_saving.h"
#include "distance/count/strides.h"
#include "distance/count/tally.h"

/* The code row of instructions that the table had no room for. */
#define RSC_CODE_OTHER 0u

/* The place of a tag. */
struct tag_place {
    uint64_t pc;
    uint32_t node; /* call path */
};

/* Where to count a tag's references. Most have the same previous use, and the same next access, each time. */
struct tag_counts {
    uint32_t row;      /* of code */
    uint32_t use;      /* the tag of the use that the last reference reused, */
    uint32_t pair_row; /* and the row of that pair, unless it was replaced */
    uint32_t next;     /* the tag that followed last, RSC_TAG_NONE at first */
};

/* An ALLOC, FREE or MAP event of the batch, independent of the batch's memory. */
struct object_change {
    uint32_t at; /* before this access */
    uint16_t type;
    uint16_t is_data;
    uint32_t number; /* ALLOC: call-path node; MAP: name */
    uint64_t start, bytes;
};

/* The object that holds most far reuses of a pair, by majority vote; variables vote together, as each line has its
 * own key. */
struct pair_object {
    uint64_t key; /* of objects.h; RSC_OBJECT_UNKNOWN: none yet */
    uint64_t votes; /* votes for it, minus votes against */
};

struct rsc_attribution {
    struct rsc_call_paths paths;

    struct rsc_u64_table tag_of; /* rsc_call_paths_key(node, pc) -> tag */
    struct tag_place *place; /* by tag; [RSC_TAG_NONE] has none. Owned */
    struct tag_counts *counts; /* by tag; owned */
    uint32_t tag_count, tag_room, tag_limit;
    uint32_t tag_before; /* of the last access */

    struct rsc_u64_table row_of; /* pc -> code row */
    uint64_t *code_pc; /* by code row; owned */
    uint32_t code_count, code_limit;
    struct rsc_tally code; /* without counts still in pairs */

    struct rsc_space_saving pairs; /* use's tag << 32 | reuse's tag */
    struct rsc_space_saving things; /* keys of objects.h */
    int ended; /* pairs were added to code */
    uint32_t cap; /* distances from here on are counted as this */

    struct object_change *changes; /* of the batch being counted, in order; owned */
    uint32_t change_count, change_room, change_next;
    struct rsc_objects objects;
    struct pair_object *pair_objects; /* by row of pairs; owned */
    struct rsc_stride_votes strides;
    uint64_t accesses; /* seen so far */
    uint64_t *kept_objects; /* the caller's, by reference; NULL: not wanted */
};

/* Ends counting. */
void rsc_attribution_end(struct rsc_attribution *attribution);

/* Applies the changes before access `upto`. Returns 0 or RSC_ENOMEM. */
int rsc_attribution_make_changes(struct rsc_attribution *attribution, uint32_t upto);

#endif
