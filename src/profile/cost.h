/*
 * cost.h - estimates the cycles that misses cost on a machine.
 *
 * A reference whose line a cache does not hold waits for the next larger one that does,
 * or for memory. Lines that another thread wrote come from its cache: they wait as long
 * as for the machine's largest. The sum assumes that loads wait one after the other:
 * it is an upper estimate where a prefetcher, or a processor that goes on meanwhile,
 * hides a part. Its use is to weigh misses of different levels against each other.
 */
#ifndef RSC_PROFILE_COST_H
#define RSC_PROFILE_COST_H

#include "base/machine.h"
#include "profile/profile_model.h"
#include "profile/row_misses.h"
#include "profile/row_tables.h"

/* The start of the open bin that a cap leaves in rows' distances; UINT64_MAX: none. */
uint64_t rsc_rows_told_apart(const struct rsc_profile *profile);

/* Whether latencies, and misses at all caches of the machine, are known, so that there is an estimate. */
int rsc_cost_is_known(const struct rsc_profile *profile, const struct rsc_machine *machine);

/* The lines that a cache of the machine holds: 1 or more. */
uint64_t rsc_cost_lines(const struct rsc_profile *profile, const struct rsc_machine *machine, size_t level);

/* The cycles of the whole profile. */
double rsc_cost_of_profile(const struct rsc_profile *profile, const struct rsc_machine *machine);

/* Whether a table's rows are given cycles: code, pairs and objects. */
int rsc_cost_has(const struct rsc_row_table *table);

/* The cycles of a row of such a table. */
double rsc_cost_of_row(const struct rsc_profile *profile, struct rsc_row_counts row, const struct rsc_machine *machine);

/* The cycles of `misses[i]` misses in the machine's caches, `invalidated` of them in each. */
double rsc_cost_of_misses(const uint64_t misses[RSC_MACHINE_LEVELS_MAX], uint64_t invalidated,
                          const struct rsc_machine *machine);

#endif
