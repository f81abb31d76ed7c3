/*
 * attribution.h - whose references, whose data: counts per instruction, per pair
 * of instructions (use -> reuse), per object in memory and per call path.
 *
 * Each access gets a *tag*: a number for its (pc, call path). The engine keeps,
 * with each line, the tag of its last use, and hands back for each reference the
 * tag of the use before it; that makes the pair. Call paths follow from the
 * CALL and RETURN events of each thread, objects from ALLOC, FREE and MAP events.
 *
 * Memory is bounded. Instructions and call-path nodes have tables of fixed size,
 * whose overflow is counted in one row of its own. Pairs and objects are kept by
 * the space-saving rule: a full table gives the place of its smallest row to the
 * newcomer, which starts from the count it replaced; that count is the row's
 * stated `error`.
 */
#ifndef RSC_DISTANCE_COUNT_ATTRIBUTION_H
#define RSC_DISTANCE_COUNT_ATTRIBUTION_H

#include <reusescope/trace.h>

#include "profile/profile_model.h"

/* Zero in any field is the default. */
struct rsc_attribution_options {
    uint32_t code_rows;    /* 65536 instructions */
    uint32_t pair_rows;    /* 16384 */
    uint32_t object_rows;  /* 4096 */
    uint32_t context_rows; /* 65536 call-path nodes */
    uint32_t tags;         /* 1 M places: instructions, each by call path */
    uint64_t rd_cap;       /* distances >= this are counted as this; 0: no cap */
};

/* Tag of accesses that have no place of their own; never a real one. */
#define RSC_TAG_NONE 0u

struct rsc_attribution;

int rsc_attribution_new(struct rsc_attribution **out, const struct rsc_attribution_options *options,
                        struct rsc_error *error);
void rsc_attribution_free(struct rsc_attribution *attribution);

/*
 * Takes in the batch's events and writes one tag per access. Call once per
 * batch, before counting its references. Returns 0 or RSC_ENOMEM.
 */
int rsc_attribution_tags(struct rsc_attribution *attribution, const struct rsc_batch *batch, uint32_t *tags);

/*
 * Counts references: made by access from[i] of the batch with tags[from[i]],
 * distance rd[i] (UINT32_MAX: cold, one less: invalidated; neither makes a pair), previous use of the line tagged last_tag[i].
 * Objects are looked up by the access's address as of its place among the
 * batch's events. Returns 0 or RSC_ENOMEM.
 */
int rsc_attribution_count(struct rsc_attribution *attribution, const struct rsc_batch *batch, const uint32_t *from,
                          const uint32_t *tags, const uint32_t *rd, const uint32_t *last_tag, uint32_t count);

/*
 * From now on rsc_attribution_count() also writes what each reference lies in to
 * objects[0..count-1], as objects.h numbers it; 0 where that is not known. NULL:
 * no more.
 */
void rsc_attribution_keep_objects(struct rsc_attribution *attribution, uint64_t *objects);

/* Names the lines of a profile, each by the number kept for it; before rsc_attribution_fill(). Returns 0 or RSC_ENOMEM. */
int rsc_attribution_name_lines(const struct rsc_attribution *attribution, struct rsc_profile *profile,
                               const uint64_t *objects);

/* The same for falsely shared lines. */
int rsc_attribution_name_false_sharing(const struct rsc_attribution *attribution, struct rsc_profile *profile,
                                       const uint64_t *objects);

/* The instruction behind a tag. */
uint64_t rsc_attribution_pc(const struct rsc_attribution *attribution, uint32_t tag);

/*
 * Rows a profile gets at most, those with most references first; more would be
 * more than anybody reads. The instructions left out share one row, with pc 0;
 * pairs and objects left out are just not told.
 */
#define RSC_CODE_KEPT 4096u
#define RSC_PAIRS_KEPT 1024u
#define RSC_OBJECTS_KEPT 512u

/*
 * Fills code, pairs, objects, contexts and mappings of a profile, places with pcs
 * only. Nothing may be counted after that. Returns 0 or RSC_ENOMEM.
 */
int rsc_attribution_fill(struct rsc_attribution *attribution, struct rsc_profile *profile);

/*
 * Memory mapped from files, as MAP events told; rsc_attribution_fill() copies it into
 * the profile, for symbols.
 */
struct rsc_mapping {
    uint64_t start, bytes, file_offset;
    const char *path;
    const uint8_t *build_id;
    uint32_t build_id_bytes;
};

#endif
