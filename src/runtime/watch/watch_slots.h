/*
 * watch_slots.h - chooses which sampled addresses a thread's few watch slots (debug
 * registers) hold: the part of featherlight that runs inside a target.
 *
 * For a sampled access, rsc_watch_slots_sample() returns the slot to arm with it, if
 * any; after a hit, rsc_watch_slots_release() frees its slot. Nothing here allocates,
 * locks, calls libc or keeps state outside the caller's structures, so all of it may be
 * called from signal handlers of the thread that owns the slots.
 *
 * Reservoir replacement (paper 003, section IV-A). A free slot is always taken. If all
 * are occupied, slots are visited in random order and each is replaced with probability
 * 1 / (samples since it was last free, including this one), until one is. Every sample
 * advances the count of every occupied slot, a replacement does not reset it, a hit
 * does.
 *
 * Chances. All these probabilities are known when they are used, so each watch
 * carries the probability of its history:
 *     chance = P(armed at all when sampled) * product over later samples of
 *              P(its slot is not replaced by that sample)
 * each given everything that happened before it. For any sequence of addresses, the
 * watches made from one sample, each weighted by 1 / chance, count 1 on average: the
 * weights are unbiased without any assumption about the program.
 */
#ifndef RSC_RUNTIME_WATCH_WATCH_SLOTS_H
#define RSC_RUNTIME_WATCH_WATCH_SLOTS_H

#include <stdint.h>

#include "base/rng.h"

#define RSC_WATCH_SLOTS_MAX 4096u
#define RSC_NO_SLOT UINT32_MAX

enum rsc_watch_replacement {
    RSC_REPLACE_RESERVOIR,
    RSC_REPLACE_OLDEST, /* the naive one of the paper's figure 3: always replaces the watch armed longest ago */
};

struct rsc_watch_slot {
    uint64_t armed; /* number of the sample it holds, from 1; 0: free */
    uint64_t seen;  /* samples since the slot was last free, up to now; 0: free */
    double chance;  /* see above */
};

struct rsc_watch_slots {
    struct rsc_watch_slot *slot; /* [count], owned by the caller */
    uint32_t count;
    enum rsc_watch_replacement replacement;
    uint64_t samples; /* samples so far */
    struct rsc_rng rng;
};

/* The outcome of a sample. */
struct rsc_watch_choice {
    uint32_t slot; /* to arm with the sample's address; RSC_NO_SLOT: it is not watched */
    int replaced;  /* the slot held another watch until now, which has ended (RSC_WATCH_REPLACED) */
    double chance; /* P(a sample is armed, here and now) */
};

/* How a watch ended. */
enum rsc_watch_ending {
    RSC_WATCH_REUSED,   /* it was hit */
    RSC_WATCH_REPLACED, /* another sample took its slot: a right-censored observation */
    RSC_WATCH_UNUSED,   /* the thread, or the recording, ended: the word was not used again */
    RSC_WATCH_DROPPED,  /* it could not be armed, or the hit's count is unreliable: no result */
};

/*
 * `slot` has room for `count` (1 to RSC_WATCH_SLOTS_MAX) and stays owned by the caller.
 * The same seed and stream make the same choices; give each thread its own stream.
 */
void rsc_watch_slots_init(struct rsc_watch_slots *slots, struct rsc_watch_slot *slot, uint32_t count,
                          enum rsc_watch_replacement replacement, uint64_t seed, uint64_t stream);

/* Decides which slot to arm with a new sample, and takes it. Constant memory, O(count) time. */
struct rsc_watch_choice rsc_watch_slots_sample(struct rsc_watch_slots *slots);

/*
 * Ends the watch of an occupied slot: it was hit, could not be armed (then call this at
 * once), or the thread ends. Frees the slot and returns the watch's chance.
 */
double rsc_watch_slots_release(struct rsc_watch_slots *slots, uint32_t slot);

static inline int rsc_watch_slots_holds(const struct rsc_watch_slots *slots, uint32_t slot) {
    return slots->slot[slot].armed != 0;
}

#endif
