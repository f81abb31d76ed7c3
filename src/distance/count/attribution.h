/*
 * attribution.h - counts references per instruction, per pair of instructions (use ->
 * reuse), per object in memory and per call path.
 *
 * Each access gets a *tag*: a number for its (pc, call path). The engine stores the
 * tag of each line's last use and returns, for each reference, the tag of the use
 * before it; the two make the pair. Call paths follow from the CALL and RETURN events
 * of each thread, objects from ALLOC, FREE, MAP and VARIABLE events.
 *
 * Memory is bounded. Instructions and call-path nodes have tables of fixed size;
 * overflow is counted in a separate row. Pairs and objects follow the space-saving
 * rule: in a full table a new key replaces the smallest row and starts from its
 * count; that count is the row's `error`.
 */
#ifndef RSC_DISTANCE_COUNT_ATTRIBUTION_H
#define RSC_DISTANCE_COUNT_ATTRIBUTION_H

#include <reusescope/trace.h>

#include "profile/profile_model.h"

/* Zero in any field is the default. */
struct rsc_attribution_options {
    uint32_t code_rows;    /* 1 M instructions */
    uint32_t pair_rows;    /* 16384 */
    uint32_t object_rows;  /* 4096 */
    uint32_t context_rows; /* 65536 call-path nodes */
    uint32_t groups;       /* 1 M: 64 bytes of code, each by call path (places.h) */
    uint32_t sum_bits;     /* 14: log2 of the sets of pair_sums.h, 1 MiB */
    uint32_t numbers;      /* 65536: of objects there; 2 or more */
    uint64_t rd_cap;       /* distances >= this are counted as this; 0: no cap */
    int has_gaps;          /* accesses are not all of the run: strides only from rsc_attribution_step() */
};

/* Tag of accesses without a place; never a real tag. */
#define RSC_TAG_NONE 0u

struct rsc_attribution;

int rsc_attribution_new(struct rsc_attribution **out, const struct rsc_attribution_options *options,
                        struct rsc_error *error);
void rsc_attribution_free(struct rsc_attribution *attribution);

/*
 * Processes the batch's events and writes one tag per access. Call once per batch,
 * before counting its references. Returns 0 or RSC_ENOMEM.
 */
int rsc_attribution_tags(struct rsc_attribution *attribution, const struct rsc_batch *batch, uint32_t *tags);

/* The instruction of a tag accessed `from`, and `to`, `bytes` bytes, when its thread executed it next. */
void rsc_attribution_step(struct rsc_attribution *attribution, uint32_t tag, uint64_t from, uint64_t to,
                          uint32_t bytes);

/*
 * Counts references: made by access from[i] of the batch, or of the part of it that begins
 * with its access `first`; with the tag tags[i], distance rd[i] (UINT32_MAX: cold, one
 * less: invalidated; neither makes a pair), previous use of the line tagged last_tag[i].
 * Objects are looked up by the access's address as of its place among the batch's events.
 * Returns 0 or RSC_ENOMEM.
 */
int rsc_attribution_count(struct rsc_attribution *attribution, const struct rsc_batch *batch, uint32_t first,
                          const uint32_t *from, const uint32_t *tags, const uint32_t *rd, const uint32_t *last_tag,
                          uint32_t count);

/*
 * A copy of everything tagged and counted so far, for counting in the tagging thread; all that was tagged is counted.
 * Returns 0 or RSC_ENOMEM. attribution_copy.c
 */
int rsc_attribution_copy(struct rsc_attribution **copy, struct rsc_attribution *attribution);

/* From now on a reference counts this often, below 2^30; first 1. */
void rsc_attribution_weigh(struct rsc_attribution *attribution, uint32_t times);

/*
 * Counting in another thread than tagging. After rsc_attribution_count_apart(), the tagging
 * thread takes the news of a batch and hands them over; the counting thread learns them, which
 * frees them, before it counts the batch. rsc_attribution_learn() returns 0 or RSC_ENOMEM.
 */
struct rsc_attribution_news;
void rsc_attribution_count_apart(struct rsc_attribution *attribution);
void rsc_attribution_news(struct rsc_attribution *attribution, struct rsc_attribution_news *news);
int rsc_attribution_learn(struct rsc_attribution *attribution, struct rsc_attribution_news *news);

/*
 * From now on rsc_attribution_count() also writes the object of each reference to
 * objects[0..count-1], as numbered by objects.h; 0: not known. NULL: stop.
 */
void rsc_attribution_keep_objects(struct rsc_attribution *attribution, uint64_t *objects);

/* The object at an address now, as numbered by objects.h; 0: not known, or out of memory. */
uint64_t rsc_attribution_object(struct rsc_attribution *attribution, uint64_t address);

/* Names the lines of a profile by their objects; call before rsc_attribution_fill(). Returns 0 or RSC_ENOMEM. */
int rsc_attribution_name_lines(const struct rsc_attribution *attribution, struct rsc_profile *profile,
                               const uint64_t *objects);

/* The same for falsely shared lines. */
int rsc_attribution_name_false_sharing(const struct rsc_attribution *attribution, struct rsc_profile *profile,
                                       const uint64_t *objects);

/* The instruction behind a tag. */
uint64_t rsc_attribution_pc(const struct rsc_attribution *attribution, uint32_t tag);

/*
 * The rows a profile gets, those with most references first. Instructions: this many,
 * and more until 1 in RSC_CODE_LEFT_OUT references is left out, which 100,000 rows do
 * even for a Java program; these share a last row, RSC_OTHER_CODE. Pairs and objects
 * left out are not reported.
 */
#define RSC_CODE_KEPT 4096u
#define RSC_CODE_LEFT_OUT 125u
#define RSC_PAIRS_KEPT 1024u
#define RSC_OBJECTS_KEPT 512u

/*
 * Fills code, pairs, objects, contexts and mappings of a profile; places have pcs
 * only. Nothing may be counted after that. Returns 0 or RSC_ENOMEM.
 */
int rsc_attribution_fill(struct rsc_attribution *attribution, struct rsc_profile *profile);

/*
 * Memory mapped from files, from MAP events; rsc_attribution_fill() copies it into
 * the profile, for symbols.
 */
struct rsc_mapping {
    uint64_t start, bytes, file_offset;
    const char *path;
    const uint8_t *build_id;
    uint32_t build_id_bytes;
};

#endif
