/*
 * line_model.h - lines of 64 bytes, of which four debug registers can watch half.
 *
 * Two registers watch the quarter of the line that a sampled access lies in, or four that and a second one:
 * the other quarter of its half, or the same quarter of the other half (runtime/watch/watch_shapes.h). So S(t), the share of
 * references after which none of what is watched is used within t, is measured for each of these shapes. For the whole line
 * it is modelled: of what one quarter leaves, the other of its half takes a part, and the other half takes as large
 * a part as the one quarter of it does that was looked at,
 *
 *     S(line) = S(quarter) * S(half) / S(quarter) * S(across) / S(quarter).
 *
 * Exact for what goes through memory by strides of any length (each takes a half of what is left, or nothing) and where lines are
 * used by one place only. Where all words of a line are used at random it gives S^6 for S^8, with S that of a word.
 *
 * References are lines here, not words: the clock, and what a sample stands for.
 */
#ifndef RSC_FEATHERLIGHT_LINE_MODEL_H
#define RSC_FEATHERLIGHT_LINE_MODEL_H

#include "featherlight/watch_group.h"

/* An interval, and the references that have it. */
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

/* What one estimate of a group came to. */
struct rsc_weighed {
    const struct rsc_watch_group *group;
    const double *weight; /* [group->count] */
    struct rsc_estimate estimate;
};

/* Room for any join of groups with so many watches in all. Returns 0 or RSC_ENOMEM. */
int rsc_line_model_init(struct rsc_lines *lines, size_t watches);
void rsc_line_model_free(struct rsc_lines *lines);

/*
 * The model above, of the same threads' samples that watched each shape, RSC_WATCH_QUARTER first; `power` of the last ratio, 1 but to
 * tell how much depends on it. Without an outcome of each all is censored.
 */
void rsc_line_model_join(struct rsc_lines *lines, const struct rsc_weighed shapes[RSC_WATCH_LINE_SHAPES], double power);

/* Distances of lines for the group's own reuses, by their intervals. */
void rsc_line_model_distances(const struct rsc_lines *lines, struct rsc_watch_group *group);

#endif
