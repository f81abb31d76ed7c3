/*
 * truth_sample.h - true distances of a few references, from which a model's error
 * bars are made.
 *
 * A model of distances has a bias that more data does not remove, and that its input,
 * the intervals, does not show. So some distances are measured: those of some lines
 * (truth_lines.h), which suit distances of many sampled lines, and those of
 * references at random times (window_sample.h), which suit short ones. With lines
 * sampled at rate 1/2^k, caches of up to 8 * 2^k lines are judged by random
 * references and larger ones by lines.
 *
 * The estimate is not of the miss ratio itself but of the residual of a prediction
 * from intervals, which are known (well enough) for all references: how much more or
 * less the sampled references miss than their intervals predict. So the effect of hot
 * lines that are in the sample by chance, or not, cancels out. The spread is that of
 * 16 estimates that each leave out a sixteenth of the sample (delete-a-group
 * jackknife), with Student's t.
 */
#ifndef RSC_DISTANCE_TIME_TRUTH_SAMPLE_H
#define RSC_DISTANCE_TIME_TRUTH_SAMPLE_H

#include "distance/time/truth_lines.h"
#include "distance/time/use_watch.h"
#include "distance/time/window_sample.h"
#include "profile/profile_model.h"
#include "profile/ri_models.h"

struct rsc_truth_sample {
    struct rsc_truth_lines line;
    struct rsc_window_sample window;
};

/* Returns 0 or RSC_ENOMEM. A zeroed sample may always be freed. */
int rsc_truth_sample_init(struct rsc_truth_sample *sample, uint64_t seed);
void rsc_truth_sample_free(struct rsc_truth_sample *sample);

/* Processes the results of rsc_last_use_run(), with `distinct_before` lines before it. Returns 0, RSC_ENOMEM or
 * RSC_ELIMIT. */
int rsc_truth_sample_take(struct rsc_truth_sample *sample, struct rsc_last_use *last, uint64_t distinct_before,
                          const uint64_t *lines, const struct rsc_intervals *found);

/* The same for `count` lines given to rsc_use_watch_run(), before which there were about `distinct_before` lines. */
int rsc_truth_sample_take_watched(struct rsc_truth_sample *sample, struct rsc_use_watch *watch, double distinct_before,
                                  const uint64_t *lines, uint32_t count, const struct rsc_watch_found *found);

/* The sampling error of the intervals themselves, if they are those of a sample (use_watch.h). */
struct rsc_interval_chance {
    const double *variance; /* [fine bin]: of the number of intervals in lower bins */
    struct rsc_watch_left left; /* the basis of the number of cold ones */
    double uses; /* that was drawn from */
    double cold_known; /* cold ones that are certain */
    double cold_error; /* of all cold ones, as a standard deviation */
};

/*
 * Sets low and high of every point of the profile's curve: a bar that contains the
 * point itself, and the true miss ratio with `confidence` percent by the sample
 * (held_bar.h). `model` describes the whole trace and only predicts the sample: any
 * kind works. chance: NULL if all intervals are known. Call once, at the end.
 */
void rsc_truth_sample_bands(struct rsc_truth_sample *sample, const struct rsc_ri_model *model,
                            const struct rsc_interval_chance *chance, double confidence, struct rsc_profile *profile);

#endif
