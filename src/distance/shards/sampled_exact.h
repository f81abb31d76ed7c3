/*
 * sampled_exact.h - a profile of a whole run from an exact analysis of the references
 * to a sample of its lines (line_choice.h): any model, with everything the exact engine
 * tells of code and data.
 *
 * Where the references come from has already left out those to other lines, and says
 * how many. The exact engine sees a program that has only the sampled lines. Its
 * distances, watched as it finds them, are counted with their weight and become the
 * profile's totals and curve, with error bars, as those of the shards engines do
 * (kept_sum.h); the rows that it counted itself are scaled (scale_rows.h). Intervals
 * are those of the whole run: in references of all threads, or of the reference's own
 * stack where stacks are private.
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
 * `options` as for rsc_engine_new(); `engine` does not count, it is exact. `text`,
 * which the caller keeps, is how the rate was asked for: `made.by` is "lines:TEXT". Which
 * lines miss most (top_lines) cannot be told from a sample: refused.
 */
int rsc_sampled_exact_new(struct rsc_sampled_exact **out, const struct rsc_engine_options *options,
                          const struct rsc_line_choice *choice, const char *text, struct rsc_error *error);
void rsc_sampled_exact_free(struct rsc_sampled_exact *sampled);

/*
 * References to sampled lines, none across lines; skipped[i]: references of the same
 * thread that were left out since its last one.
 */
int rsc_sampled_exact_push(struct rsc_sampled_exact *sampled, const struct rsc_batch *batch, const uint64_t *skipped,
                           struct rsc_error *error);

/* What is known of the whole run. */
struct rsc_sampled_whole {
    uint64_t accesses, references;
    uint64_t (*thread_references)(const void *context, uint32_t number); /* NULL: not known */
    const void *context;
    uint32_t thread_count; /* threads that get a row at least, whether references of theirs were kept or not */
};

/* *out, which is sealed, belongs to the caller. */
int rsc_sampled_exact_finish(struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole,
                             struct rsc_profile **out, struct rsc_error *error);

/* Lines kept so far, and the mean half width that error bars would have now. */
uint64_t rsc_sampled_exact_lines(const struct rsc_sampled_exact *sampled);
double rsc_sampled_exact_error(const struct rsc_sampled_exact *sampled, const struct rsc_sampled_whole *whole);

#endif
