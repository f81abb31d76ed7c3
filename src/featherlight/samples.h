/*
 * samples.h - the samples of all threads as they are reported: what featherlight.c
 * collects and what the profile is made of.
 *
 * Memory is bounded: when RSC_SAMPLES_MOST are kept, each is dropped with
 * probability 1/2 and the others stand for twice as many references, over and over.
 */
#ifndef RSC_FEATHERLIGHT_SAMPLES_H
#define RSC_FEATHERLIGHT_SAMPLES_H

#include "base/rng.h"
#include "base/u64_table.h"
#include "featherlight/watch_estimate.h"

#define RSC_SAMPLES_MOST (1u << 20) /* 80 MiB */

/* What a slot holds, as far as was reported. */
struct rsc_slot_mirror {
    uint32_t sample; /* index into the thread's samples; RSC_NO_SAMPLE: none, or one that was dropped to save room */
    uint32_t since_before; /* samples in its context before it was armed */
};
#define RSC_NO_SAMPLE UINT32_MAX

struct rsc_thread_samples {
    uint64_t pid, tid, references, accesses;
    uint64_t last_count; /* highest count reported */
    struct rsc_watched *samples; /* owned */
    uint32_t count, room;
    struct rsc_slot_mirror *slots; /* owned; by slot */
    uint32_t slot_count;
    struct rsc_u64_table contexts; /* context -> dense number + 1 */
    uint32_t *context_samples; /* owned; by dense number: samples taken there so far */
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
    uint32_t halved; /* how often */
    struct rsc_featherlight_totals totals;
    struct rsc_rng rng;
};

/* make_profile.c: what rsc_featherlight_finish() does. */
int rsc_featherlight_fill(struct rsc_featherlight *feather, struct rsc_profile *profile);

#endif
