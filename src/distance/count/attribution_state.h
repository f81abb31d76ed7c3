/* attribution_state.h - the tables that attribution.c counts in and attribution_fill.c turns into rows. */
#ifndef RSC_DISTANCE_COUNT_ATTRIBUTION_STATE_H
#define RSC_DISTANCE_COUNT_ATTRIBUTION_STATE_H

#include "base/cpu.h"
#include "base/fail.h"
#include "distance/count/attribution.h"
#include "distance/count/attribution_news.h"
#include "distance/count/narrow_tally.h"
#include "distance/count/objects.h"
#include "distance/count/pair_sums.h"
#include "distance/count/places.h"
#include "distance/count/space_saving.h"
#include "distance/count/strides.h"

/* The code row of instructions that the tables had no room for: row 0 of places. */
#define RSC_CODE_OTHER 0u

/* The object that holds most far reuses of a pair, by majority vote; small variables vote together, as each line has
 * its own key. */
struct pair_object {
    uint64_t key; /* of objects.h; RSC_OBJECT_UNKNOWN: none yet */
    uint64_t votes; /* votes for it, minus votes against */
};

/* An object that has a number in the sums. */
struct rsc_numbered_object {
    uint64_t key; /* of objects.h */
    uint32_t row; /* perhaps its row of things: right if that has its key */
    uint32_t reserved;
};

/* As rsc_attribution_count(). */
typedef int rsc_attribution_run_fn(struct rsc_attribution *, const struct rsc_batch *, uint32_t, const uint32_t *,
                                   const uint32_t *, const uint32_t *, const uint32_t *, uint32_t);
RSC_WIDE_DECLARE(rsc_attribution_run_fn, rsc_attribution_run); /* attribution_kernel.c */

struct rsc_attribution {
    rsc_attribution_run_fn *run;
    uint32_t times; /* what a reference counts */
    /* Tagging (attribution_news.h): */
    struct rsc_call_paths paths;
    struct rsc_places places;
    uint32_t group_before; /* of the last access */
    int has_gaps;          /* as in the options */
    uint64_t accesses;     /* seen so far */
    struct rsc_attribution_news news;
    int is_news; /* a batch was tagged since the news were taken */

    /* Counting: */
    int is_apart;    /* in another thread: news are brought by rsc_attribution_learn() */
    int has_fetches; /* some access may be one */
    struct rsc_narrow_tally code; /* by row of places, without counts still in pairs and sums */

    struct rsc_sum_set *sums; /* owned */
    uint32_t sum_bits; /* log2 of their number */
    uint32_t sums_replaced;
    struct rsc_sum leaving[RSC_SUMS_LEAVING]; /* for the tables, in order */
    uint32_t leaving_count;
    struct rsc_space_saving pairs; /* use's tag << 32 | reuse's tag */
    struct rsc_space_saving things; /* keys of objects.h */
    struct rsc_numbered_object *numbered; /* by number in the sums; [0]: not known. Owned */
    uint32_t number_count, number_limit;
    struct rsc_u64_table number_of; /* their numbers */
    int ended; /* pairs were added to code */
    uint32_t far_bin; /* from here on a reuse is far */
    uint32_t cap; /* distances from here on are counted as this */

    struct rsc_attribution_news learnt; /* of the batch being counted; its changes are made in order */
    size_t change_next, change_end; /* items that may be changes not made yet */
    uint32_t change_at;             /* the place of the first; UINT32_MAX: there is none */
    struct rsc_objects objects;
    struct pair_object *pair_objects; /* by row of pairs; owned */
    struct rsc_stride_votes strides;
    uint64_t *kept_objects; /* the caller's, by reference; NULL: not wanted */
};

/* Takes a sum, whose count may be 0, for the tables. */
void rsc_attribution_take_sum(struct rsc_attribution *attribution, const struct rsc_sum *sum);

/*
 * Objects have numbers in the sums. The number of the object at an address, where none is kept with it; 0: there are no
 * more numbers before rsc_attribution_renumber(), which takes all sums. That returns 0 or RSC_ENOMEM.
 */
uint32_t rsc_attribution_number_object(struct rsc_attribution *attribution, uint64_t address, int is_fetch);
int rsc_attribution_renumber(struct rsc_attribution *attribution);

/* Ends counting. */
void rsc_attribution_end(struct rsc_attribution *attribution);

/* Learns the news of all batches tagged so far. Returns 0 or RSC_ENOMEM. */
int rsc_attribution_learn_own(struct rsc_attribution *attribution);

/* Makes the changes before access `upto`. Returns 0 or RSC_ENOMEM. */
int rsc_attribution_make_changes(struct rsc_attribution *attribution, uint32_t upto);

#endif
