/*
 * pair_ancestor.h - what the use and the reuse of a pair have in common: the lowest
 * function that both call paths pass through, and its loop around both.
 *
 * What lies between the two is what runs in there, so this is where to bring them
 * closer. Paths and loops are those of the profile; every index was checked when it
 * was loaded.
 */
#ifndef RSC_PROFILE_PAIR_ANCESTOR_H
#define RSC_PROFILE_PAIR_ANCESTOR_H

#include "profile/profile_model.h"

struct rsc_pair_ancestor {
    uint32_t context; /* the lowest call on both paths: it called the common function; or RSC_NO_CONTEXT */
    /* Where each path is in the common function: at the call that leads on to the end, or at the end itself. */
    const struct rsc_place *use, *reuse;
    uint32_t loop; /* the innermost loop of the common function around both, as in rsc_place; 0: none */
    /* Of the loops inside that (or of the function, if there is none) the outermost on each path; 0: none. */
    uint32_t use_loop, reuse_loop;
    uint32_t around; /* `loop` or, if it is 0, the nearest loop around the common call in its callers; 0: none */
};

struct rsc_pair_ancestor rsc_pair_ancestor(const struct rsc_profile *profile, const struct rsc_pair_row *pair);

/*
 * The loop around a loop (0: around code that is in none): in its function, else around
 * one of the calls from *context up, which is then left behind. 0: none.
 */
uint32_t rsc_loop_around(const struct rsc_profile *profile, uint32_t loop, uint32_t *context);

/* Are these one loop of the source, though the compiler may have made several of it? Neither may be 0. */
int rsc_loop_same(const struct rsc_profile *profile, uint32_t a, uint32_t b);

#endif
