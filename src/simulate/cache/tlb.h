/*
 * tlb.h - address translation beside the caches.
 *
 * Every access looks up its pages, in address order, in the first-level TLB of its kind; a
 * miss looks in the second level, and a miss in the last one is a page walk. A page is put
 * into every TLB that missed it. A TLB is a cache whose blocks are pages and never dirty.
 *
 * All memory is in pages of one size; several sizes are simulated side by side. Page walks
 * read no simulated memory, and equal addresses of different processes are one page, as for
 * the caches.
 */
#ifndef RSC_SIMULATE_CACHE_TLB_H
#define RSC_SIMULATE_CACHE_TLB_H

#include "simulate/cache/cache.h"

struct rsc_tlbs;

int rsc_tlbs_new(struct rsc_tlbs **out, const struct rsc_sim_config *config, struct rsc_error *error);
void rsc_tlbs_free(struct rsc_tlbs *tlbs); /* NULL is allowed */

/* Translates accesses first..end-1. Returns 0 or RSC_ENOMEM. */
int rsc_tlbs_push(struct rsc_tlbs *tlbs, const struct rsc_batch *batch, uint32_t first, uint32_t end);

/* Counts start from 0; the contents stay. */
void rsc_tlbs_forget_counts(struct rsc_tlbs *tlbs);

/* Fills in the pages of a result. Returns 0 or RSC_ENOMEM. */
int rsc_tlbs_result(const struct rsc_tlbs *tlbs, struct rsc_sim_result *result);

#endif
