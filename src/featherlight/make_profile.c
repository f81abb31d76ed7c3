/*
 * make_profile.c - from the samples of all threads to a profile.
 *
 * Every thread (or group of threads with few samples) has its own estimate of
 * reuse intervals, and its own distances from them: a thread's debug registers and
 * counters see its own references only, so these are private stacks without
 * coherence. Their histograms are summed. Counts are references: rounded so that
 *     total(rd) + cold + censored = references
 * holds exactly. Words never used again are as many as words used for the first
 * time: they are the profile's `cold`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "featherlight/watch_group.h"
#include "profile/profile_model.h"
#include "profile/ri_models.h"

/* Intervals of the group into `ri`, rounding running sums so that they total `reused`. */
static void count_intervals(const struct rsc_watch_group *group, struct rsc_histogram *ri, uint64_t reused) {
    double sum = 0;
    uint64_t done = 0;
    size_t last = SIZE_MAX;
    memset(ri->count, 0, ri->bin_count * sizeof *ri->count);
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        if (group->samples[index].ending != RSC_WATCH_REUSED) continue;
        sum += group->weight[index];
        uint64_t upto = (uint64_t)(sum + 0.5);
        if (upto > reused) upto = reused;
        if (upto > done) ri->count[rsc_bin_of_fine(group->samples[index].interval)] += upto - done;
        done = upto > done ? upto : done;
        last = index;
    }
    if (done < reused && last != SIZE_MAX) ri->count[rsc_bin_of_fine(group->samples[last].interval)] += reused - done;
}

/* Words that distances need room for: those that went unused, and more where the intervals say so. */
static uint64_t footprint_of(const struct rsc_watch_group *group, uint64_t cold) {
    double most = 0;
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        if (group->weight[index] > 0 && group->distance[index] > most) most = group->distance[index];
    }
    uint64_t least = group->references ? (uint64_t)ceil(most) + 1 : 0;
    return cold > least ? cold : least;
}

static int add_group(const struct rsc_featherlight *feather, const struct rsc_watch_group *group,
                     struct rsc_histogram *ri, struct rsc_histogram *rd, struct rsc_profile *profile) {
    uint64_t reused = (uint64_t)(group->estimate.reused + 0.5), cold = (uint64_t)(group->estimate.unused + 0.5);
    if (reused > group->references) reused = group->references;
    if (cold > group->references - reused) cold = group->references - reused;
    /* what rounding alone leaves over */
    if (group->references - reused - cold <= 1 && group->estimate.censored < 0.5) cold = group->references - reused;
    uint64_t words = footprint_of(group, cold);
    struct rsc_ri_counts counts = {.ri = ri, .cold = cold, .distinct = words};
    struct rsc_ri_model model;
    count_intervals(group, ri, reused);
    if (rsc_ri_model_init(&model, feather->options.model, &counts) < 0) return RSC_ENOMEM;
    int status = rsc_ri_model_rd(&model, rd);
    rsc_ri_model_free(&model);
    if (status < 0) return status;
    rsc_histogram_merge(&profile->ri, ri);
    rsc_histogram_merge(&profile->rd, rd);
    profile->references += group->references;
    profile->cold += cold;
    profile->censored += group->references - reused - cold;
    profile->distinct += words;
    return 0;
}

/* Shares of what is known: references of which nothing is known are in no miss ratio. */
static void leave_out_censored(struct rsc_profile *profile) {
    uint64_t known = profile->references - profile->censored;
    if (!known || !profile->censored) return;
    for (size_t i = 0; i < profile->mrc_count; i++) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        point->miss_ratio *= (double)profile->references / (double)known;
        if (point->miss_ratio > 1) point->miss_ratio = 1;
        point->low = point->high = point->miss_ratio;
    }
}

static int describe(const struct rsc_featherlight *feather, struct rsc_profile *profile) {
    static const char *const attributions[] = {"Kaplan-Meier by use context", "proportional attribution by use context",
                                               "inverse chances", "no attribution"};
    const struct rsc_featherlight_totals *totals = &feather->totals;
    char text[800], less[60] = "";
    if (feather->halved) snprintf(less, sizeof less, " (1 in %.0f kept)", ldexp(1, (int)feather->halved));
    snprintf(text, sizeof text,
             "%s%s%llu samples%s, %llu watched: %llu reused, %llu replaced, %llu not used again, %llu dropped; %s; words of 8 bytes, "
             "threads apart; RD modelled from RI (%s); %g %% bars by bootstrap of the samples and 20 %% for the model's distances",
             feather->sampling ? feather->sampling : "", feather->sampling ? "; " : "", (unsigned long long)totals->samples, less,
             (unsigned long long)totals->armed, (unsigned long long)totals->reused, (unsigned long long)totals->replaced,
             (unsigned long long)(totals->armed - totals->reused - totals->replaced - totals->dropped),
             (unsigned long long)totals->dropped, attributions[feather->options.attribution],
             rsc_ri_model_name(feather->options.model), feather->options.confidence);
    if (rsc_profile_set_text(&profile->made.by, feather->by) < 0 || rsc_profile_set_text(&profile->made.sampling, text) < 0 ||
        rsc_profile_set_text(&profile->made.model, feather->thread_count > 1 ? "private" : "single") < 0)
        return RSC_ENOMEM;
    profile->made.threads = feather->thread_count;
    profile->made.line_bytes = RSC_FEATHERLIGHT_WORD;
    for (uint32_t i = 0; i < feather->thread_count; i++) {
        const struct rsc_thread_samples *thread = &feather->threads[i];
        profile->accesses += thread->accesses ? thread->accesses : thread->last_count;
    }
    return 0;
}

int rsc_featherlight_fill(struct rsc_featherlight *feather, struct rsc_profile *profile) {
    struct rsc_watch_group *groups = NULL;
    struct rsc_histogram ri = {0}, rd = {0};
    uint32_t count = 0;
    int status = describe(feather, profile);
    if (status == 0) status = rsc_groups_make(feather, &groups, &count);
    if (status == 0) status = rsc_histogram_init(&ri, RSC_BINS_FINE);
    if (status == 0) status = rsc_histogram_init(&rd, RSC_BINS_FINE);
    for (uint32_t i = 0; status == 0 && i < count; i++) status = add_group(feather, &groups[i], &ri, &rd, profile);
    if (status == 0) status = rsc_profile_derive_mrc(profile);
    if (status == 0) leave_out_censored(profile);
    if (status == 0 && !feather->options.no_bars) status = rsc_groups_bars(feather, groups, count, profile);
    if (status == 0) status = rsc_groups_rows(feather, groups, count, profile);
    rsc_groups_free(groups, count);
    rsc_histogram_free(&ri);
    rsc_histogram_free(&rd);
    return status;
}
