/*
 * set_choice.h - which sets of a hierarchy of caches are simulated.
 *
 *     1/16                     constant bits, chosen from those all caches index with
 *     1/16,bits:LO-HI[=VALUE]  constant address bits LO to HI (default value 0)
 *     1/16,bits:LO-HI=all      each value in turn
 *     1/16,random[:SEED]       random values of all the bits that all caches index with
 *
 * A hierarchy can only be sampled by address bits that are in the index of every
 * cache (paper 001, section 3.1.2): then the sampled sets of one cache see exactly
 * the misses of the sampled sets above. For random sets these bits form one number,
 * and numbers are drawn: with a single cache each number is a set.
 */
#ifndef RSC_SIMULATE_SAMPLING_SET_CHOICE_H
#define RSC_SIMULATE_SAMPLING_SET_CHOICE_H

#include "simulate/cache/cache_config.h"
#include "trace/block_sample.h"

struct rsc_set_choice {
    uint64_t denominator; /* 1/denominator of the sets; 0: no sampling */
    int random;
    int bits_given;
    uint32_t low, width; /* constant bits, if given */
    uint64_t value;
    int all_values;
    uint64_t seed; /* of random */
};

/* Parses the text above. The message of RSC_EINVAL begins with the text. */
int rsc_set_choice_parse(struct rsc_set_choice *choice, const char *text, struct rsc_error *error);

/*
 * The address bits low .. low + width - 1 that the index of every cache contains
 * unchanged: not hashed with a process id, not translated with the page. RSC_EINVAL
 * when there are none, or a cache's sets are not independent (drrip, prefetch,
 * victim, buffer).
 */
int rsc_set_bits(const struct rsc_sim_config *sim, uint32_t *low, uint32_t *width, struct rsc_error *error);

/* Whether every cache indexes with these bits. RSC_EINVAL names the cache that does not, and why. */
int rsc_set_bits_check(const struct rsc_sim_config *sim, uint32_t low, uint32_t width, struct rsc_error *error);

/* Chooses constant bits if none were given (the lowest usable ones), and checks the choice against the caches. */
int rsc_set_choice_settle(struct rsc_set_choice *choice, const struct rsc_sim_config *sim, struct rsc_error *error);

/* The sample of a settled choice; for constant bits that of choice->value. Free it with rsc_block_sample_free(). */
int rsc_set_choice_sample(const struct rsc_set_choice *choice, const struct rsc_sim_config *sim,
                          struct rsc_block_sample *sample, struct rsc_error *error);

/* In words, as "constant bits 8-11 = 3" or "random sets (seed 1)". */
size_t rsc_set_choice_text(const struct rsc_set_choice *choice, char *text, size_t room);

#endif
