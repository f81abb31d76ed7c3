/*
 * distinct.h - counts the distinct lines of a region exactly, without enumerating
 * every reference: variables that change neither the address nor the loops inside
 * them are set once, and an innermost run of addresses is marked as a range.
 */
#ifndef RSC_LOOPS_NEST_DISTINCT_H
#define RSC_LOOPS_NEST_DISTINCT_H

#include "loops/search/last_touch.h"

#define RSC_ALL_THREADS UINT32_MAX

/*
 * Distinct lines of shared arrays touched by `thread`, or by all together, and (in
 * *own) of the thread's private arrays (RSC_ALL_THREADS: summed over all threads).
 * `runs_max`: RSC_ELIMIT if more runs would have to be marked; 0: no limit, lines of
 * references with very many runs are searched one by one.
 */
int rsc_distinct_lines(struct rsc_search *search, uint32_t thread, uint64_t line_bytes, uint64_t runs_max,
                       uint64_t *shared, uint64_t *own, struct rsc_error *error);

/* Lines of the private arrays alone, summed over all threads of the plan. */
int rsc_distinct_own(struct rsc_search *search, uint64_t line_bytes, uint64_t *own, struct rsc_error *error);

#endif
