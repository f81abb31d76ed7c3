/*
 * tlb_config.h - what a simulated TLB looks like.
 *
 * The text of a TLB:
 *
 *     ENTRIES,WAYS,PAGE[+PAGE...][,POLICY][,private|per=N|shared]      1536,12,4K+2M,lru
 *
 * Names: itlb, dtlb and tlb (both) are the first level, itlb2, dtlb2 and tlb2 the second.
 * A name may be given once for each page size, as processors have TLBs for each.
 */
#ifndef RSC_SIMULATE_CACHE_TLB_CONFIG_H
#define RSC_SIMULATE_CACHE_TLB_CONFIG_H

#include <stdint.h>

#include <reusescope/error.h>

#include "simulate/cache/policy.h"

#define RSC_SIM_TLBS_MAX 32
#define RSC_TLB_LEVELS 2
#define RSC_TLB_NAMES 6
extern const char *const rsc_tlb_names[RSC_TLB_NAMES];

#define RSC_PAGE_MIN (1ull << 12)
#define RSC_PAGE_MAX (1ull << 30)

struct rsc_tlb_config {
    char name[8];
    unsigned level; /* 1 or 2 */
    unsigned kinds; /* RSC_KIND_BIT()s of the accesses it translates */
    uint32_t entries, ways;
    uint64_t pages; /* page sizes it holds: the sum of their bytes */
    enum rsc_policy policy;
    uint32_t threads_each; /* threads per TLB; 0: one for all */
};

/* Whether `name` is that of a TLB. */
int rsc_tlb_name_is(const char *name);

/* RSC_EINVAL names what is wrong: "--dtlb 64,4,5K: ...". */
int rsc_tlb_config_parse(struct rsc_tlb_config *config, const char *name, const char *text, struct rsc_error *error);

/* "4K,2M,1G", the sizes separated by `between`. */
int rsc_pages_parse(uint64_t *pages, const char *text, size_t length, char between);

/* Writes the text in its shortest form, with the page sizes `pages` alone. */
void rsc_tlb_config_text(const struct rsc_tlb_config *config, uint64_t pages, char *text, size_t room);

/* Checks that each page size has TLBs, and none two for the same accesses at one level. */
int rsc_tlb_configs_check(const struct rsc_tlb_config *tlbs, size_t count, uint64_t pages, struct rsc_error *error);

#endif
