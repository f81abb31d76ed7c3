/*
 * affine.h - checked arithmetic on affine expressions.
 *
 * Each function returns 0, RSC_ELIMIT when a number exceeds RSC_LOOP_VALUE_MAX, or
 * RSC_EUNSUPPORTED if the result is not affine (a product of two variables).
 */
#ifndef RSC_LOOPS_TREE_AFFINE_H
#define RSC_LOOPS_TREE_AFFINE_H

#include "loops/tree/loop_tree.h"

struct rsc_affine rsc_affine_number(int64_t number);
struct rsc_affine rsc_affine_variable(uint32_t depth);
int rsc_affine_is_number(const struct rsc_affine *affine);

/* *into += scale * more */
int rsc_affine_add(struct rsc_affine *into, const struct rsc_affine *more, int64_t scale);
/* *into *= by; one of the two must be a number. */
int rsc_affine_multiply(struct rsc_affine *into, const struct rsc_affine *by);

#endif
