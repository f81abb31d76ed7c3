/*
 * pair_ancestor.h - the common ancestor of the use and the reuse of a pair: the
 * lowest function on both call paths, and its loop around both.
 *
 * The code between use and reuse runs in that function, so this is the place to
 * bring them closer. Paths and loops are those of the profile, whose indices were
 * checked when it was loaded.
 */
#ifndef RSC_PROFILE_PAIR_ANCESTOR_H
#define RSC_PROFILE_PAIR_ANCESTOR_H

#include "profile/profile_model.h"

struct rsc_pair_ancestor {
    uint32_t context; /* the lowest call on both paths, which called the common function; or RSC_NO_CONTEXT */
    /* Each path's place in the common function: the call towards the end, or the end itself. */
    const struct rsc_place *use, *reuse;
    uint32_t loop; /* the innermost loop of the common function around both, as in rsc_place; 0: none */
    /* The outermost loop on each path inside `loop` (or inside the function, if there is none); 0: none. */
    uint32_t use_loop, reuse_loop;
    uint32_t around; /* `loop` or, if it is 0, the nearest loop around the common call in its callers; 0: none */
};

struct rsc_pair_ancestor rsc_pair_ancestor(const struct rsc_profile *profile, const struct rsc_pair_row *pair);

/*
 * The loop around a loop (0: around code outside loops): in its function, else around
 * one of the calls from *context up; *context then moves to that call's caller. 0: none.
 */
uint32_t rsc_loop_around(const struct rsc_profile *profile, uint32_t loop, uint32_t *context);

/* Are these copies of one source loop? Neither may be 0. */
int rsc_loop_same(const struct rsc_profile *profile, uint32_t a, uint32_t b);

#endif
