/* policy.h - names of replacement policies. */
#ifndef RSC_SIMULATE_CACHE_POLICY_H
#define RSC_SIMULATE_CACHE_POLICY_H

#include <stddef.h>

enum rsc_policy {
    RSC_POLICY_LRU,
    RSC_POLICY_RANDOM, /* a generator for each set, so that sets are independent */
    RSC_POLICY_FIFO,
    RSC_POLICY_PLRU, /* a binary tree over any number of ways */
    RSC_POLICY_NRU,
    RSC_POLICY_SRRIP, /* RRIP: 2-bit re-reference predictions, hit priority (Jaleel et al., 2010) */
    RSC_POLICY_BRRIP,
    RSC_POLICY_DRRIP, /* duels between the sets: no set can be simulated alone */
    RSC_POLICY_OPT,   /* Belady's optimum: needs the future, so a second pass */
    RSC_POLICY_COUNT,
};

extern const char *const rsc_policy_names[RSC_POLICY_COUNT];

/* The policy of that name, which need not be terminated; -1: none. */
int rsc_policy_named(const char *word, size_t length);

#endif
