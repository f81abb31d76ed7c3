/*
 * line_subset.h - a profile of a whole run from an exact analysis of the references
 * to a sample of its lines: any model, with everything the exact engine tells of code
 * and data.
 *
 * Where the references come from has already left out those to other lines, and says
 * how many. The exact engine sees a program that has only the sampled lines; what it
 * finds is scaled:
 *
 *   counts     a reference stands for 1/rate of them. All references are known to be
 *              so many: what is missing or too much is put to (taken from) the least
 *              distances, as SHARDS-adj does (sample_sum.h);
 *   distances  k sampled lines stand for k/rate to (k+1)/rate, evenly. Where k is 0 no
 *              distance is put at or past its reuse interval, which is known exactly;
 *   intervals  in references of the whole run: of all threads, or of the thread itself
 *              where stacks are private.
 *
 * Error bars. The sample is cut into RSC_SUBSET_GROUPS parts by further bits of the
 * hash, each analysed by an engine of its own as a sample of a lower rate. How far
 * their curves are apart tells how far chance moves the whole one. And each distance
 * is known to within its blur alone: a bar always reaches to where the curve is one
 * blur to either side. Where references that threads take from each other go with a
 * line's references, a bar reaches as far as those would that the sample is known to
 * lack, or to have too many of. How often bars so made hold the truth: bench_coverage.
 *
 * Traces have other ways to the same (shards, and multicore/engine_lines.c for private
 * stacks), which see all references and need no second analysis for their bars.
 */
#ifndef RSC_DISTANCE_SHARDS_LINE_SUBSET_H
#define RSC_DISTANCE_SHARDS_LINE_SUBSET_H

#include <reusescope/engine.h>

#define RSC_SUBSET_GROUPS 8u

struct rsc_line_subset;

/* How the sample is chosen; also for whoever leaves references out. */
struct rsc_subset_choice {
    double rate;     /* above 0, below 1 */
    uint64_t limit;  /* greatest hash kept (base/line_hash.h) */
    uint64_t offset; /* of the hash */
};

/* "1/64", "0.01", "1%". Returns 0, or -1 unless 0 < rate < 1. */
int rsc_subset_choose(struct rsc_subset_choice *choice, const char *rate, uint64_t seed);

/*
 * `options` as for rsc_engine_new(); `engine` does not count, it is exact. `text`,
 * which the caller keeps, is how the rate was asked for. What cannot be told from a
 * sample (top_lines, max_distance) is refused.
 */
int rsc_line_subset_new(struct rsc_line_subset **out, const struct rsc_engine_options *options,
                        const struct rsc_subset_choice *choice, const char *text, struct rsc_error *error);
void rsc_line_subset_free(struct rsc_line_subset *subset);

/*
 * References to sampled lines, none across lines; skipped[i]: references of the same
 * thread that were left out since its last one.
 */
int rsc_line_subset_push(struct rsc_line_subset *subset, const struct rsc_batch *batch, const uint64_t *skipped,
                         struct rsc_error *error);

/* What is known of the whole run. */
struct rsc_subset_whole {
    uint64_t accesses, references;
    uint64_t (*thread_references)(const void *context, uint32_t number);
    const void *context;
};

/* *out belongs to the caller. */
int rsc_line_subset_finish(struct rsc_line_subset *subset, const struct rsc_subset_whole *whole,
                           struct rsc_profile **out, struct rsc_error *error);

#endif
