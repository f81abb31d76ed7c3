/*
 * featherlight.h - a profile from watched uses and their reuses (paper 003).
 *
 * The source (a live collector through its ring, or the simulated PMU of simulated_pmu.h) reports two things, for each
 * thread in the order they happened:
 *
 *     rsc_featherlight_sample()   this access was sampled, and this slot armed (or none)
 *     rsc_featherlight_ending()   how the watch in this slot ended
 *
 * and at the end, for each thread, how many references it made. Threads may be interleaved in any way; each has its own
 * estimate, and the profile is their sum. In a target only runtime/watch/watch_slots.h runs; this file runs in the
 * parent. A live collector does
 *
 *   in the target, on a sample:      choice = rsc_watch_slots_sample(&slots);
 *                                    if (choice.replaced) record ENDING{choice.slot, REPLACED, count now}
 *                                    record SAMPLE{count, address, pc, context, choice.slot, choice.chance, stands_for}
 *                                    arm choice.slot (failed: chance = release; record ENDING{slot, DROPPED})
 *   on a hit:                        chance = rsc_watch_slots_release(&slots, slot);
 *                                    record ENDING{slot, REUSED, count now, chance, pc, context}
 *   at the thread's end:             for each slot held: release; record ENDING{slot, UNUSED, count now, chance}
 *   in the parent:                   pass records on as they come from the ring
 *
 * A watch without an ending (the target was killed) counts as UNUSED at the thread's last count.
 *
 * Counts are of the thread's own references (loads and stores together): the RI of a reuse is count at the hit - count
 * at the use, so `a a` is 1. Words are 8 bytes and so is the profile's line; docs/design/featherlight.md explains the
 * consequences.
 */
#ifndef RSC_FEATHERLIGHT_FEATHERLIGHT_H
#define RSC_FEATHERLIGHT_FEATHERLIGHT_H

#include <stdint.h>

#include <reusescope/error.h>
#include <reusescope/profile.h>

#include "base/data_source.h"
#include "profile/ri_models.h"
#include "runtime/watch/watch_records.h"
#include "runtime/watch/watch_shapes.h"

#define RSC_FEATHERLIGHT_WORD 8u /* bytes a watch covers: the profile's line */
#define RSC_FEATHERLIGHT_LINE 64u
#define RSC_REGISTERS_A_LINE 4u  /* registers that together watch part of one */

/* How samples that were not watched to their reuse are corrected for. Alternatives: all correct the same loss. */
enum rsc_attribution_kind {
    RSC_ATTRIBUTE_CENSORED,     /* Kaplan-Meier within each use's context: replaced watches are right-censored */
    RSC_ATTRIBUTE_PROPORTIONAL, /* the paper's: a hit counts for all samples taken in its use's context since arming */
    RSC_ATTRIBUTE_SINCE_LAST, /* another reading: for those taken there since the context's last hit */
    RSC_ATTRIBUTE_INVERSE, /* a hit counts for 1 / its chance: unbiased for any program, but noisy */
    RSC_ATTRIBUTE_NONE, /* a hit counts once */
};

struct rsc_featherlight_options {
    enum rsc_attribution_kind attribution;
    enum rsc_ri_model_kind model; /* of RD from RI: RSC_RI_AET, RSC_RI_STATSTACK or RSC_RI_SHEN */
    double confidence; /* percent, of the error bars; 0: 90 */
    uint64_t seed; /* of the bootstrap */
    uint32_t line_bytes; /* RSC_FEATHERLIGHT_WORD, or RSC_FEATHERLIGHT_LINE: modelled, see line_model.h. 0: words */
    int no_bars; /* no error bars: for measuring the estimate itself */
    const char *by; /* made.by; copied. NULL: "featherlight" */
    const char *sampling; /* how samples were taken, the start of made.sampling; copied. May be NULL */
};

struct rsc_featherlight;

int rsc_featherlight_new(struct rsc_featherlight **out, const struct rsc_featherlight_options *options,
                         struct rsc_error *error);

/* `thread`: numbered from 0 without gaps, below RSC_THREADS_MAX. All return 0 or a negative code (RSC_ENOMEM,
 * RSC_EINVAL). */
int rsc_featherlight_sample(struct rsc_featherlight *feather, uint32_t thread, const struct rsc_watch_sample *sample,
                            struct rsc_error *error);
int rsc_featherlight_ending(struct rsc_featherlight *feather, uint32_t thread, const struct rsc_watch_end *end,
                            struct rsc_error *error);

/* Sets the thread's identity, and how many references and accesses it made so far (absolute: the last call counts). */
int rsc_featherlight_thread(struct rsc_featherlight *feather, uint32_t thread, uint64_t pid, uint64_t tid,
                            uint64_t references, uint64_t accesses, struct rsc_error *error);

/* The same three calls as records, as a collector passes them on. */
int rsc_featherlight_take(struct rsc_featherlight *feather, const struct rsc_watch_record *records, size_t count,
                          struct rsc_error *error);

/* Sets how samples were taken, if known only at the end; as `sampling` of the options. Returns 0 or RSC_ENOMEM. */
int rsc_featherlight_set_sampling(struct rsc_featherlight *feather, const char *sampling);

/* The counts so far. */
struct rsc_featherlight_totals {
    uint64_t references, samples, armed, reused, replaced, unused, dropped;
};
void rsc_featherlight_totals(const struct rsc_featherlight *feather, struct rsc_featherlight_totals *totals);

/*
 * Makes the profile, not sealed: fills made.by, .model, .sampling, .threads, .line_bytes and the curve
 * with its error bars. After this the handle can only be freed.
 */
int rsc_featherlight_finish(struct rsc_featherlight *feather, struct rsc_profile **out, struct rsc_error *error);
void rsc_featherlight_free(struct rsc_featherlight *feather); /* NULL is allowed */

#endif
