/*
 * distinct.h - counts the distinct lines of a region exactly, without enumerating
 * every reference.
 */
#ifndef RSC_LOOPS_NEST_DISTINCT_H
#define RSC_LOOPS_NEST_DISTINCT_H

#include "loops/nest/marking.h"

#define RSC_DISTINCT_PICKS 512u /* of each space */

/* Some lines of each space, spread over it: `count` addresses of lines, one at random of each part. */
struct rsc_distinct_picks {
    uint32_t count;
    int64_t address[RSC_DISTINCT_PICKS];
};

/*
 * Distinct lines of each space (nest.h) that `thread` touches, or all together; a private
 * array has its lines once for each thread. `lines`: [space_count].
 * `runs_max`: RSC_ELIMIT if more runs would have to be marked; 0: no limit, lines of
 * references with very many runs are searched one by one. `picks`: [space_count], or NULL; none of private arrays.
 */
int rsc_distinct_lines(struct rsc_search *search, uint32_t thread, uint64_t line_bytes, uint64_t runs_max,
                       uint64_t *lines, struct rsc_distinct_picks *picks, struct rsc_error *error);

/* The sum, over threads `from` .. `to` - 1, of the lines that each touches. */
int rsc_distinct_of_threads(struct rsc_search *search, uint32_t from, uint32_t to, uint64_t line_bytes,
                            uint64_t runs_max, uint64_t *lines, struct rsc_error *error);

/* Again for private arrays alone, all threads of the plan together. */
int rsc_distinct_own(struct rsc_search *search, uint64_t line_bytes, uint64_t *lines, struct rsc_error *error);

/*
 * If another reference of the item touches all that the one at search->by_item[at] does, in each iteration of the loops
 * around that other one: how many those loops are, plus 1; 0: none does. Of two alike, the first counts.
 */
uint32_t rsc_distinct_covered(const struct rsc_search *search, uint32_t item, uint32_t at);

/* The sum over all spaces. */
uint64_t rsc_distinct_sum(const struct rsc_nest *nest, const uint64_t *lines);

#endif
