/*
 * order_bounds.h - how well the order of threads in a recorded run is known, and the error bars that follow.
 *
 * Between two synchronisations only times tell in which order threads made their references,
 * and times are taken every few microseconds. So a reference of one thread may have come
 * before or after each reference of the others in the same few microseconds. The collector
 * counts, for all references, among how many others their place is uncertain, and how many
 * references may be invalidated or not because another thread wrote their line at such a time.
 *
 * Shared stacks: both ends of a reuse may move by that many references, and its distance by the
 * distinct lines among them, which the profile's own intervals give. The curve's bars are the
 * curve shifted by that to both sides, averaged over all references.
 *
 * Private stacks: distances are a thread's own. The references that may be invalidated or not all
 * are, or none.
 */
#ifndef RSC_PROFILE_ORDER_BOUNDS_H
#define RSC_PROFILE_ORDER_BOUNDS_H

#include <stdint.h>

#define RSC_ORDER_BINS 64u

struct rsc_order_bounds {
    uint64_t references;
    struct {
        uint64_t references; /* each uncertain among `others` / `references` others on average */
        double others;
    } bin[RSC_ORDER_BINS]; /* [0]: of certain place; [b]: 2^(b-1) up to 2^b - 1 others */
    uint64_t recorded; /* references */
    uint64_t conflicts; /* may be invalidated or not: another thread wrote the line at an uncertain time */
    double
        time_ns; /* sum over references: how long the segment of time is that they are in, if others overlap with it */
};

/* `references` have each `others` among which their place is uncertain, within a segment of that length. */
void rsc_order_bounds_add(struct rsc_order_bounds *bounds, uint64_t others, uint64_t references, uint64_t time_ns);

/* Among how many others the place of a share (0 to 1) of all references is uncertain, at most. */
double rsc_order_bounds_quantile(const struct rsc_order_bounds *bounds, double share);

/* Widens the bars of a finished profile of model private or shared. */
struct rsc_profile;
void rsc_order_bounds_apply(const struct rsc_order_bounds *bounds, struct rsc_profile *profile);

#endif
