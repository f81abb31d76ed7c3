/*
 * late_attribution.h - attribution when distances are known later.
 *
 * A reference needs its tag before its distance is computed, and is counted after. So
 * batches are tagged at once and kept, with their tags and news (attribution_news.h), until
 * their distances are known.
 *
 * Tagging (one thread) and counting (another) run concurrently.
 */
#ifndef RSC_DISTANCE_COUNT_LATE_ATTRIBUTION_H
#define RSC_DISTANCE_COUNT_LATE_ATTRIBUTION_H

#include <reusescope/error.h>

#include "distance/count/accumulate.h"
#include "distance/count/attribution.h"

struct rsc_late_attribution;

/* The tags of successive batches, if attribution is wanted. */
struct rsc_late_tags {
    uint32_t attribute; /* as in rsc_engine_options; 1 or 2 once decided */
    uint32_t line_shift;
    uint64_t rd_cap;
    struct rsc_late_attribution *late; /* NULL: none */
    uint32_t *tag;                     /* by access of the batch */
    uint32_t room;
};

void rsc_late_tags_free(struct rsc_late_tags *tags);

/* Decides at the first batch, and tags the accesses of this one; `begun`:
 * references were pushed before. Returns 0 or an error. */
int rsc_late_tags_give(struct rsc_late_tags *tags, const struct rsc_batch *batch, int begun, struct rsc_error *error);

/* The outcome of a reference: its distance (UINT32_MAX: cold; or RSC_RD_INVALIDATED) and, in the upper half, the tag of the previous use. */
static inline uint64_t rsc_outcome(uint32_t rd, uint32_t last_tag) { return (uint64_t)last_tag << 32 | rd; }

/* Counts the next `count` references, in order, and writes the object of each, as numbered by objects.h, to `objects`, if
 * that is not NULL. Returns 0 or RSC_ENOMEM. */
int rsc_late_attribution_count(struct rsc_late_attribution *late, const uint64_t *outcomes, uint64_t count,
                               uint64_t *objects);

/* For names, after all references. */
const struct rsc_attribution *rsc_late_attribution_of(const struct rsc_late_attribution *late);

/* After all references: fills the attributed rows. Returns 0 or RSC_ENOMEM. */
int rsc_late_fill(struct rsc_late_attribution *late, struct rsc_profile *profile);

/* After all references: the profile of everything counted, made by engine `by`; warns of threads without rows. Returns 0 or an error. */
int rsc_late_profile(struct rsc_accumulator *sum, struct rsc_late_tags *tags, const char *by, const struct rsc_log *log,
                     struct rsc_profile **out, struct rsc_error *error);

#endif
