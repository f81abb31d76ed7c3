/*
 * cost.h - estimates the cycles that misses cost on a machine.
 *
 * A reference whose line a cache does not hold waits for the next larger one that does,
 * or for memory. Lines that another thread wrote come from its cache: they wait as long
 * as for the machine's largest. The sum assumes that loads wait one after the other:
 * it is an upper estimate where a prefetcher, or a processor that goes on meanwhile,
 * hides a part. Its use is to weigh misses of different levels against each other.
 */
#ifndef RSC_REPORT_COST_H
#define RSC_REPORT_COST_H

#include "report/ranking.h"

/* Whether misses at all caches of the machine are known, so that there is an estimate. */
int rsc_cost_is_known(const struct rsc_profile *profile, const struct rsc_machine *machine);

/* The cycles of the whole profile. */
double rsc_cost_of_profile(const struct rsc_profile *profile, const struct rsc_machine *machine);

/* The cycles of `misses[i]` misses in the machine's caches, `invalidated` of them in each. */
double rsc_cost_of_misses(const uint64_t misses[RSC_MACHINE_LEVELS_MAX], uint64_t invalidated,
                          const struct rsc_machine *machine);

/* Orders a ranking by cycles, most first; `cost` of each rank becomes its cycles. */
void rsc_ranking_by_cycles(struct rsc_ranking *ranking, const struct rsc_machine *machine);

#endif
