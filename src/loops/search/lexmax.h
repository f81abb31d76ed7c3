/*
 * lexmax.h - finds the lexicographically largest variables of one reference whose
 * address is in a range; the state is in the search (last_touch.h).
 */
#ifndef RSC_LOOPS_SEARCH_LEXMAX_H
#define RSC_LOOPS_SEARCH_LEXMAX_H

#include "loops/search/last_touch.h"

/* Prepares a search for one reference and the target's addresses. */
void rsc_lexmax_aim(struct rsc_search *search, const struct rsc_nest_node *reference, const struct rsc_target *target);

/*
 * The last instance with the variables before `depth` as in `place`, and at most
 * search->limit iterations into the loop at search->limit_depth if that is set.
 * Returns 0 for none; else it is in search->value and search->m.
 */
int rsc_lexmax_solve(struct rsc_search *search, const int64_t *place, uint32_t depth);

/*
 * Flattened iterations of a shared item in which the target can be touched: all lie
 * in *from .. *to. Variables around the item have values. Returns 0 for none.
 */
int rsc_lexmax_narrow_group(struct rsc_search *search, const struct rsc_nest_item *item, int64_t *from, int64_t *to);

/* Whether the box (search->from, to) of the variables before `depth` and all that follow can contain a solution. */
int rsc_lexmax_possible(struct rsc_search *search, uint32_t depth);

#endif
