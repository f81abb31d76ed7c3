/*
 * line_model.h - models lines of 64 bytes, half of which four debug registers can watch.
 *
 * Two registers watch the quarter of the line that a sampled access lies in. Four watch that and a second one: the
 * other quarter of its half, or the same quarter of the other half (runtime/watch/watch_shapes.h). So S(t), the share
 * of references after which the watched bytes are not used within t, is measured for each of these shapes. For the
 * whole line it is modelled: the second quarter and the other half each reduce S by a measured ratio, and the other
 * half is assumed to reduce it as much as its watched quarter does,
 *
 *     S(line) = S(quarter) * S(half) / S(quarter) * S(across) / S(quarter).
 *
 * This is exact for strides of any length (each part takes half of the rest, or nothing) and where lines are used by
 * one place only. Where all words of a line are used at random it gives S^6 instead of S^8, where S is that of a word.
 *
 * References are lines here, not words, both for the clock and for the weight of a sample.
 */
#ifndef RSC_FEATHERLIGHT_LINE_MODEL_H
#define RSC_FEATHERLIGHT_LINE_MODEL_H

#include "featherlight/watch_group.h"

/* An interval and its references. */
struct rsc_line_step {
    uint64_t interval;
    double references;
    double distance; /* StatStack's, in lines */
};

struct rsc_lines {
    struct rsc_line_step *steps; /* owned; intervals ascend */
    size_t count;
    double reused, unused, censored; /* references; their sum is the group's */
};

/* The result of one estimate of a group. */
struct rsc_weighed {
    const struct rsc_watch_group *group;
    const double *weight; /* [group->count] */
    struct rsc_estimate estimate;
};

/* Makes room for any join of groups with this many watches in all. Returns 0 or RSC_ENOMEM. */
int rsc_line_model_init(struct rsc_lines *lines, size_t watches);
void rsc_line_model_free(struct rsc_lines *lines);

/*
 * The model above, from the same threads' samples of each shape, RSC_WATCH_QUARTER first. `power` is that of the last
 * ratio: 1, or other values to measure the sensitivity. If a shape has no outcome, everything is censored.
 */
void rsc_line_model_join(struct rsc_lines *lines, const struct rsc_weighed shapes[RSC_WATCH_LINE_SHAPES], double power);

/* Distances in lines for the group's own reuses, by their intervals. */
void rsc_line_model_distances(const struct rsc_lines *lines, struct rsc_watch_group *group);

#endif
