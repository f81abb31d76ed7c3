/*
 * make_profile.c - makes a profile from the samples of all threads.
 *
 * Every thread (or group of threads with few samples) has its own estimate of reuse
 * intervals, and distances derived from them: a thread's debug registers and counters
 * only see its own references, so these are private stacks without coherence. Their
 * histograms are summed. Counts are references, rounded so that
 *     total(rd) + cold + censored = references
 * holds exactly. As many words are never used again as are used for the first time:
 * they are the profile's `cold`.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/rounding.h"
#include "featherlight/bootstrap_bars.h"
#include "featherlight/watch_rows.h"
#include "profile/profile_model.h"
#include "profile/ri_models.h"

/* Adds the group's intervals to `ri`, rounding running sums so that they total `reused`. */
static void count_intervals(const struct rsc_watch_group *group, struct rsc_histogram *ri, uint64_t reused) {
    struct rsc_running_round rounding = {0, 1, 0, reused};
    size_t last = SIZE_MAX;
    memset(ri->count, 0, ri->bin_count * sizeof *ri->count);
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        if (group->samples[index].ending != RSC_WATCH_REUSED) continue;
        ri->count[rsc_bin_of_fine(group->samples[index].interval)] += rsc_round_next(&rounding, group->weight[index]);
        last = index;
    }
    if (last != SIZE_MAX) ri->count[rsc_bin_of_fine(group->samples[last].interval)] += reused - rounding.given;
}

/* Words that distances need room for: those that went unused, and more if the intervals need it. */
static uint64_t footprint_of(const struct rsc_watch_group *group, uint64_t cold) {
    double most = 0;
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        if (group->weight[index] > 0 && group->distance[index] > most) most = group->distance[index];
    }
    uint64_t least = group->references ? (uint64_t)ceil(most) + 1 : 0;
    return cold > least ? cold : least;
}

/* Whole references that were used again and that were not; their sum is at most all. */
struct whole {
    uint64_t reused, cold;
};

static struct whole whole_of(uint64_t references, double reused, double unused, double censored) {
    struct whole whole = {(uint64_t)(reused + 0.5), (uint64_t)(unused + 0.5)};
    if (whole.reused > references) whole.reused = references;
    if (whole.cold > references - whole.reused) whole.cold = references - whole.reused;
    /* the remainder from rounding alone */
    if (references - whole.reused - whole.cold <= 1 && censored < 0.5) whole.cold = references - whole.reused;
    return whole;
}

/* What is being made. */
struct making {
    const struct rsc_featherlight *feather;
    struct rsc_profile *profile;
    struct rsc_histogram ri, rd; /* of one group */
    struct rsc_watch_reuses reuses;
};

/* Adds the intervals of `ri` and the distances that follow from them. */
static int add_intervals(struct making *making, uint64_t references, struct whole whole, uint64_t words) {
    struct rsc_profile *profile = making->profile;
    uint64_t reused = whole.reused, cold = whole.cold;
    struct rsc_ri_counts counts = {.ri = &making->ri, .cold = cold, .distinct = words};
    struct rsc_ri_model model;
    if (rsc_ri_model_init(&model, making->feather->options.model, &counts) < 0) return RSC_ENOMEM;
    int status = rsc_ri_model_rd(&model, &making->rd);
    rsc_ri_model_free(&model);
    if (status < 0) return status;
    rsc_histogram_merge(&profile->ri, &making->ri);
    rsc_histogram_merge(&profile->rd, &making->rd);
    profile->references += references;
    profile->cold += cold;
    profile->censored += references - reused - cold;
    profile->distinct += words;
    return 0;
}

static int add_group(struct making *making, const struct rsc_watch_group *group) {
    struct whole whole =
        whole_of(group->references, group->estimate.reused, group->estimate.unused, group->estimate.censored);
    count_intervals(group, &making->ri, whole.reused);
    int status = add_intervals(making, group->references, whole, footprint_of(group, whole.cold));
    return status ? status : rsc_watch_reuses_add(&making->reuses, &group, 1, NULL, &making->rd);
}

/* The same for lines, modelled from the watched shapes. Distances are then in lines. */
static int add_lines(struct making *making, struct rsc_watch_group *const *shapes, uint32_t number) {
    const struct rsc_watch_group *groups[RSC_WATCH_LINE_SHAPES];
    struct rsc_histogram *ri = &making->ri;
    struct rsc_weighed weighed[RSC_WATCH_LINE_SHAPES];
    struct rsc_lines lines;
    uint64_t references = shapes[0][number].references;
    size_t watches = 0;
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) {
        const struct rsc_watch_group *group = groups[i] = &shapes[i][number];
        weighed[i] = (struct rsc_weighed){group, group->weight, group->estimate};
        watches += group->estimator.watched;
    }
    if (rsc_line_model_init(&lines, watches) < 0) return RSC_ENOMEM;
    rsc_line_model_join(&lines, weighed, 1);
    for (uint32_t i = 0; i < RSC_WATCH_LINE_SHAPES; i++) rsc_line_model_distances(&lines, &shapes[i][number]);
    struct whole whole = whole_of(references, lines.reused, lines.unused, lines.censored);
    memset(ri->count, 0, ri->bin_count * sizeof *ri->count);
    struct rsc_running_round rounding = {0, 1, 0, whole.reused};
    for (size_t i = 0; i < lines.count; i++)
        ri->count[rsc_bin_of_fine(lines.steps[i].interval)] += rsc_round_next(&rounding, lines.steps[i].references);
    if (lines.count) ri->count[rsc_bin_of_fine(lines.steps[lines.count - 1].interval)] += whole.reused - rounding.given;
    double most = lines.count ? lines.steps[lines.count - 1].distance : 0;
    uint64_t least = references ? (uint64_t)ceil(most) + 1 : 0;
    int status = add_intervals(making, references, whole, whole.cold > least ? whole.cold : least);
    if (!status) status = rsc_watch_reuses_add(&making->reuses, groups, RSC_WATCH_LINE_SHAPES, &lines, &making->rd);
    rsc_line_model_free(&lines);
    return status;
}

/* Shares of known references: unknown ones are in no miss ratio. */
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

static int is_lines(const struct rsc_featherlight *feather) {
    return feather->options.line_bytes == RSC_FEATHERLIGHT_LINE;
}

static int describe(const struct rsc_featherlight *feather, struct rsc_profile *profile) {
    static const char *const attributions[] = {"Kaplan-Meier by use context", "proportional attribution by use context",
                                               "attribution since the use context's last", "inverse chances",
                                               "no attribution"};
    const struct rsc_featherlight_totals *totals = &feather->totals;
    char text[900], less[60] = "";
    const char *watched =
        is_lines(feather) ? "quarters of lines by two registers and halves by four" : "words of 8 bytes";
    if (feather->halved) snprintf(less, sizeof less, " (1 in %.0f kept)", ldexp(1, (int)feather->halved));
    snprintf(text, sizeof text,
             "%s%s%llu samples%s, %llu watched: %llu reused, %llu replaced, %llu not used again, %llu dropped; %s; %s, "
             "threads apart; RD modelled from RI (%s); "
             "%g %% bars from a bootstrap of the samples and the error of the model%s",
             feather->sampling ? feather->sampling : "", feather->sampling ? "; " : "",
             (unsigned long long)totals->samples, less, (unsigned long long)totals->armed,
             (unsigned long long)totals->reused, (unsigned long long)totals->replaced,
             (unsigned long long)(totals->armed - totals->reused - totals->replaced - totals->dropped),
             (unsigned long long)totals->dropped, attributions[feather->options.attribution], watched,
             rsc_ri_model_names[feather->options.model], feather->options.confidence, is_lines(feather) ? "s" : "");
    if (rsc_profile_set_text(&profile->made.by, feather->by) < 0 ||
        rsc_profile_set_text(&profile->made.sampling, text) < 0 ||
        rsc_profile_set_text(&profile->made.modelled,
                             is_lines(feather) ? "lines of 64 bytes, of watched quarters and halves of them" : NULL) <
            0 ||
        rsc_profile_set_text(&profile->made.model, feather->thread_count > 1 ? "private" : "single") < 0)
        return RSC_ENOMEM;
    profile->made.threads = feather->thread_count;
    profile->made.line_bytes = feather->options.line_bytes;
    for (uint32_t i = 0; i < feather->thread_count; i++) {
        const struct rsc_thread_samples *thread = &feather->threads[i];
        profile->accesses += thread->accesses ? thread->accesses : thread->last_count;
    }
    return 0;
}

int rsc_featherlight_fill(struct rsc_featherlight *feather, struct rsc_profile *profile) {
    struct rsc_watch_group *shapes[RSC_WATCH_LINE_SHAPES] = {NULL};
    struct making making = {.feather = feather, .profile = profile};
    uint32_t count = 0, shape_count = is_lines(feather) ? RSC_WATCH_LINE_SHAPES : 1, made = 0;
    int status = describe(feather, profile);
    for (; made < shape_count && status == 0; made++)
        status = rsc_groups_make(feather, shape_count > 1 ? RSC_WATCH_QUARTER + made : RSC_WATCH_WORD, &shapes[made],
                                 &count);
    if (status == 0) status = rsc_histogram_init(&making.ri, RSC_BINS_FINE);
    if (status == 0) status = rsc_histogram_init(&making.rd, RSC_BINS_FINE);
    for (uint32_t i = 0; status == 0 && i < count; i++)
        status = shape_count > 1 ? add_lines(&making, shapes, i) : add_group(&making, &shapes[0][i]);
    if (status == 0) status = rsc_profile_derive_mrc(profile);
    if (status == 0) leave_out_censored(profile);
    if (status == 0 && !feather->options.no_bars)
        status = rsc_groups_bars(feather, shapes, shape_count, count, profile);
    if (status == 0) status = rsc_watch_reuses_rows(&making.reuses, feather, shapes, shape_count, count, profile);
    for (uint32_t i = 0; i < shape_count; i++) rsc_groups_free(shapes[i], shapes[i] ? count : 0);
    rsc_histogram_free(&making.ri);
    rsc_histogram_free(&making.rd);
    rsc_watch_reuses_free(&making.reuses);
    return status;
}
