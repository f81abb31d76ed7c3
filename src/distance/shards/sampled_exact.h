/*
 * sampled_exact.h - a profile of a whole run from an exact analysis of the references
 * to a sample of its lines (line_choice.h): any model, with all of the exact engine's
 * results on code and data.
 *
 * The source of the references has already skipped those to other lines, and reports
 * how many. The exact engine sees a program that has only the sampled lines. Its
 * distances are observed, weighted, and become the profile's totals and curve, with
 * error bars, as in the shards engines (kept_sum.h); its own rows are scaled
 * (scale_rows.h). Intervals are those of the whole run: in references of all threads,
 * or of the reference's own stack if stacks are private.
 *
 * The shards engines do the same for one stack from all references of a trace, faster,
 * and without code and data.
 */
#ifndef RSC_DISTANCE_SHARDS_SAMPLED_EXACT_H
#define RSC_DISTANCE_SHARDS_SAMPLED_EXACT_H

#include <reusescope/engine.h>

#include "distance/shards/line_choice.h"

struct rsc_sampled_exact;

/*
 * `options` as for rsc_engine_new(); `engine` is ignored: it is exact. `text`, which the
 * caller keeps, is the rate as given: `made.by` is "lines:TEXT". top_lines is refused: a
 * sample cannot find the lines that miss most.
 */
int rsc_sampled_exact_new(struct rsc_sampled_exact **out, const struct rsc_engine_options *options,
                          const struct rsc_line_choice *choice, const char *text, struct rsc_error *error);
void rsc_sampled_exact_free(struct rsc_sampled_exact *sampled);

/*
 * References to sampled lines, none across lines; skipped[i]: references of the same
 * thread skipped since its last one.
 */
int rsc_sampled_exact_push(struct rsc_sampled_exact *sampled, const struct rsc_batch *batch, const uint64_t *skipped,
                           struct rsc_error *error);

/* Facts about the whole run. */
struct rsc_sampled_whole {
    uint64_t accesses, references;
    uint64_t (*thread_references)(const void *context, uint32_t number); /* NULL: not known */
    const void *context;
    uint32_t thread_count; /* threads that get a row at least, with or without kept references */
};

/* The caller owns *out, which is sealed. */
int rsc_sampled_exact_finish(struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole,
                             struct rsc_profile **out, struct rsc_error *error);

/* Lines kept so far, and the mean half width of error bars now. */
uint64_t rsc_sampled_exact_lines(const struct rsc_sampled_exact *sampled);
double rsc_sampled_exact_error(const struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole);

#endif
