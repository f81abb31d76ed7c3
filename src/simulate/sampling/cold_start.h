/*
 * cold_start.h - estimates the misses of one interval of a time sample when the
 * cache's state at its beginning is unknown (paper 001, section 4.1).
 *
 * The simulated cache begins empty. A miss to a set that is not yet full is a
 * cold-start miss: with the true state it may have been a hit. All other outcomes
 * are exact. The estimates are:
 *
 *   cold    all misses
 *   prime   the miss ratio of references to initialised sets, for all references.
 *           A direct-mapped set is initialised once it is filled; any other once it
 *           is filled and then a block other than its most recent one was
 *           referenced, hit or miss. The reference that does it is not counted.
 *   initmr  misses to full sets, and mu of the cold-start misses.
 *
 * mu is a reconstruction of Wood, Hill and Kessler's mu_split (1991). A frame is
 * dead from the last reference to its block until that is replaced; a reference
 * to a frame that happens to be dead is a miss. With d the fraction of time that
 * frames are dead (from generations that began and ended in the interval; 0.7
 * if there are fewer than 10) and f the fraction of frames loaded:
 *
 *   mu_long = d                              all frames are loaded in the end
 *   mu_last = max(0, (d - (1 - f)) / f)      all frames not loaded are dead
 *   mu      = (mu_long + mu_last) / 2
 *
 * Exactly, for frames that are renewal processes: mu(t) = E[min(D, t)] / (E[G] f(t)).
 *
 * Write-backs from the level above load frames and count as references to them,
 * but are neither references nor misses here.
 */
#ifndef RSC_SIMULATE_SAMPLING_COLD_START_H
#define RSC_SIMULATE_SAMPLING_COLD_START_H

#include "simulate/cache/cache.h"
#include "simulate/sampling/time_choice.h"

/* Sums over an interval; those of several caches of a level add up. */
struct rsc_cold_counts {
    uint64_t frames, loaded;
    uint64_t references, misses; /* demand ones */
    uint64_t cold_misses;        /* of the misses, those to sets not yet full */
    uint64_t prime_references, prime_misses;
    uint64_t generations;        /* that began and ended in the interval */
    double dead, lifetime;       /* their dead time, and their total time */
    uint32_t ways;
};

/* A watch on one cache. */
struct rsc_cold_watch {
    struct rsc_cold_counts counts;
    uint64_t sets;
    uint32_t ways;
    uint32_t *loaded; /* owned: frames loaded of each set since the interval began */
    uint8_t *primed;  /* owned: by set */
    uint64_t *recent; /* owned: the block referenced last, by set */
    int writes_pass;  /* a write that misses loads nothing */
};

int rsc_cold_watch_init(struct rsc_cold_watch *watch, const struct rsc_cache_config *config, struct rsc_error *error);
void rsc_cold_watch_free(struct rsc_cold_watch *watch);

/* A new interval: its cache is empty. */
void rsc_cold_watch_begin(struct rsc_cold_watch *watch);

/* For rsc_cache_watch: `user` is the rsc_cold_watch. */
void rsc_cold_watch_seen(void *user, const struct rsc_cache_seen *seen);

void rsc_cold_counts_add(struct rsc_cold_counts *sum, const struct rsc_cold_counts *more);

/* mu as above. *dead_fraction is d; *assumed is 1 if d is the assumed 0.7. Both may be NULL. */
double rsc_initmr_mu(const struct rsc_cold_counts *counts, double *dead_fraction, int *assumed);

/* The misses of the interval by cold, prime or initmr. NaN if prime saw no initialised set. */
double rsc_cold_start_misses(const struct rsc_cold_counts *counts, enum rsc_cold_start method);

/*
 * The conditions under which the paper found initmr within 10% (section 4.1): at
 * least half the cache was loaded, and there were no more cold-start misses than
 * misses to full sets. length_factor is how many times as long the interval would
 * have to be: with misses to random sets, at the observed rate, both hold from about
 * 1.6 (direct-mapped) to 2 (many ways) misses per frame on. Infinite without misses;
 * 1 if the conditions hold.
 */
struct rsc_cold_conditions {
    int half_loaded, mostly_full;
    double length_factor;
};
void rsc_cold_conditions(const struct rsc_cold_counts *counts, struct rsc_cold_conditions *out);

#endif
