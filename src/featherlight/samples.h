/*
 * samples.h - the samples of all threads as reported: featherlight.c collects them
 * and make_profile.c makes the profile from them.
 *
 * Memory is bounded: at RSC_SAMPLES_MOST samples, each is dropped with probability
 * 1/2 and the others count for twice as many references; this may repeat.
 */
#ifndef RSC_FEATHERLIGHT_SAMPLES_H
#define RSC_FEATHERLIGHT_SAMPLES_H

#include "base/rng.h"
#include "base/u64_table.h"
#include "featherlight/watch_estimate.h"

#define RSC_SAMPLES_MOST (1u << 20) /* 80 MiB */

/* The state of a slot, as reported. */
struct rsc_slot_mirror {
    uint32_t sample; /* index into the thread's samples; RSC_NO_SAMPLE: none, or dropped to save memory */
    uint32_t since_before; /* samples in its context before it was armed */
};
#define RSC_NO_SAMPLE UINT32_MAX

/* Samples taken in a context: so far, and at its last hit. */
struct rsc_context_samples {
    uint32_t taken, at_last_hit;
};

struct rsc_thread_samples {
    uint64_t pid, tid, references, accesses;
    uint64_t last_count; /* highest count reported */
    struct rsc_watched *samples; /* owned */
    uint32_t count, room;
    struct rsc_slot_mirror *slots; /* owned; by slot */
    uint32_t slot_count;
    struct rsc_u64_table contexts; /* context -> dense number + 1 */
    struct rsc_context_samples *context_samples; /* owned; by dense number */
    uint32_t context_count, context_room;
    double keep; /* share of samples that are kept: 1, 1/2, 1/4, ... */
};

struct rsc_featherlight {
    struct rsc_featherlight_options options;
    char *by, *sampling;
    struct rsc_thread_samples *threads; /* owned; by thread number */
    uint32_t thread_count, thread_room;
    uint64_t kept; /* samples of all threads */
    uint64_t most; /* RSC_SAMPLES_MOST; tests set less */
    uint32_t halved; /* number of times samples were dropped */
    struct rsc_featherlight_totals totals;
    struct rsc_rng rng;
};

/* make_profile.c: does the work of rsc_featherlight_finish(). */
int rsc_featherlight_fill(struct rsc_featherlight *feather, struct rsc_profile *profile);

#endif
