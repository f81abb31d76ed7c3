/*
 * order_bounds.h - how well the order of threads in a recorded run is known, in references.
 *
 * Between two synchronisations only times tell in which order threads made their references,
 * and times are taken every few microseconds. So a reference of one thread may have come
 * before or after each reference of the others in the same few microseconds: that many
 * references its place among them is uncertain. The collector counts them for all.
 */
#ifndef RSC_PROFILE_ORDER_BOUNDS_H
#define RSC_PROFILE_ORDER_BOUNDS_H

#include <stdint.h>

#define RSC_ORDER_BINS 64u

struct rsc_order_bounds {
    uint64_t references;
    uint64_t count[RSC_ORDER_BINS]; /* [0]: of certain place; [b]: 2^(b-1) up to 2^b - 1 others are uncertain */
};

/* `references` have each `others` among which their place is uncertain. */
static inline void rsc_order_bounds_add(struct rsc_order_bounds *bounds, uint64_t others, uint64_t references) {
    bounds->references += references;
    bounds->count[others ? 63 - __builtin_clzll(others) + 1 : 0] += references;
}

#endif
