/* watch_group.c - see watch_group.h. */
#include "featherlight/watch_group.h"

#include <stdlib.h>
#include <string.h>

static void group_free(struct rsc_watch_group *group) {
    rsc_estimator_free(&group->estimator);
    free(group->samples);
    free(group->thread);
    free(group->weight);
    free(group->distance);
}

void rsc_groups_free(struct rsc_watch_group *groups, uint32_t count) {
    for (uint32_t i = 0; i < count; i++) group_free(&groups[i]);
    free(groups);
}

static uint64_t references_of(const struct rsc_thread_samples *thread) {
    return thread->references > thread->last_count ? thread->references : thread->last_count;
}

/* Whether a thread gets a group of its own. */
static int is_alone(const struct rsc_thread_samples *thread) { return thread->count >= RSC_GROUP_SAMPLES; }

static void add_thread(struct rsc_watch_group *group, const struct rsc_featherlight *feather, uint32_t number,
                       enum rsc_watch_shape shape) {
    const struct rsc_thread_samples *thread = &feather->threads[number];
    for (uint32_t i = 0; i < thread->count; i++) {
        if (thread->samples[i].shape != shape) continue;
        group->samples[group->count] = thread->samples[i];
        group->samples[group->count].context += group->contexts;
        group->thread[group->count++] = number;
    }
    group->contexts += thread->context_count;
    group->references += references_of(thread);
}

/*
 * Code used in different phases of a run behaves differently in them. A context with enough watches is cut in time into
 * pieces with equal numbers of samples, each its own context.
 */
#define PIECE_WATCHES 128u
#define PIECES_MOST 16u

static int split_contexts(struct rsc_watch_group *group) {
    struct context {
        uint32_t samples, watches, pieces, first, seen;
    } *contexts = calloc(group->contexts + 1, sizeof *contexts);
    uint32_t total = 0;
    if (!contexts) return RSC_ENOMEM;
    for (size_t i = 0; i < group->count; i++) {
        struct context *context = &contexts[group->samples[i].context];
        context->samples++;
        context->watches += group->samples[i].ending != RSC_WATCH_NOT;
    }
    for (uint32_t c = 0; c < group->contexts; c++) {
        uint32_t pieces = contexts[c].watches / PIECE_WATCHES;
        contexts[c].pieces = pieces < 1 ? 1 : pieces < PIECES_MOST ? pieces : PIECES_MOST;
        contexts[c].first = total;
        total += contexts[c].pieces;
    }
    for (size_t i = 0; i < group->count; i++) {
        struct context *context = &contexts[group->samples[i].context];
        group->samples[i].context =
            context->first + (uint32_t)((uint64_t)context->seen++ * context->pieces / context->samples);
    }
    group->contexts = total;
    free(contexts);
    return 0;
}

/* Makes the group of thread `from` alone, or of all threads without a group of their own (from == thread_count). */
static int make_group(struct rsc_watch_group *group, const struct rsc_featherlight *feather, enum rsc_watch_shape shape,
                      uint32_t from) {
    size_t count = 0;
    int small = from == feather->thread_count;
    for (uint32_t i = 0; i < feather->thread_count; i++)
        if (small ? !is_alone(&feather->threads[i]) : i == from) count += feather->threads[i].count;
    group->samples = malloc((count + 1) * sizeof *group->samples);
    group->thread = malloc((count + 1) * sizeof *group->thread);
    group->weight = malloc((count + 1) * sizeof *group->weight);
    group->distance = malloc((count + 1) * sizeof *group->distance);
    if (!group->samples || !group->thread || !group->weight || !group->distance) return RSC_ENOMEM;
    for (uint32_t i = 0; i < feather->thread_count; i++)
        if ((small ? !is_alone(&feather->threads[i]) : i == from) && feather->threads[i].count)
            add_thread(group, feather, i, shape);
        else if (small && !is_alone(&feather->threads[i])) group->references += references_of(&feather->threads[i]);
    if (split_contexts(group) < 0) return RSC_ENOMEM;
    if (rsc_estimator_init(&group->estimator, group->samples, group->count, group->contexts,
                           feather->options.attribution) < 0)
        return RSC_ENOMEM;
    group->estimate = rsc_group_estimate(group, NULL, group->weight, group->distance);
    return 0;
}

int rsc_groups_make(const struct rsc_featherlight *feather, enum rsc_watch_shape shape, struct rsc_watch_group **groups,
                    uint32_t *count) {
    uint32_t most = 1;
    uint64_t small = 0; /* references of threads without a group of their own */
    *count = 0;
    for (uint32_t i = 0; i < feather->thread_count; i++) most += (uint32_t)is_alone(&feather->threads[i]);
    *groups = calloc(most, sizeof **groups);
    if (!*groups) return RSC_ENOMEM;
    for (uint32_t i = 0; i <= feather->thread_count; i++) {
        if (i < feather->thread_count && !is_alone(&feather->threads[i])) {
            small += references_of(&feather->threads[i]);
            continue;
        }
        if (i == feather->thread_count && !small) break;
        if (make_group(&(*groups)[(*count)++], feather, shape, i) < 0) {
            rsc_groups_free(*groups, *count);
            *groups = NULL;
            return RSC_ENOMEM;
        }
    }
    return 0;
}

struct rsc_estimate rsc_group_estimate(struct rsc_watch_group *group, const double *times, double *weight,
                                       double *distance) {
    struct rsc_estimate estimate = rsc_estimator_weigh(&group->estimator, times, weight);
    double sum = estimate.reused + estimate.unused + estimate.censored,
           scale = sum > 0 ? (double)group->references / sum : 0;
    if (!(sum > 0)) estimate.censored = (double)group->references;
    estimate.reused *= scale;
    estimate.unused *= scale;
    if (sum > 0) estimate.censored *= scale;

    /* Sum over k = 1 .. interval-1 of the share with intervals above k, stepping from one interval to the next. */
    double known = estimate.reused + estimate.unused, above = known, within = 0;
    memset(distance, 0, group->count * sizeof *distance);
    uint64_t at = 1;
    for (size_t i = 0; i < group->estimator.watched; i++) {
        uint32_t index = group->estimator.by_interval[i];
        uint64_t interval = group->samples[index].interval;
        if (group->samples[index].ending != RSC_WATCH_REUSED) continue;
        weight[index] *= scale;
        if (interval > at) {
            within += (double)(interval - at) * above / known;
            at = interval;
        }
        distance[index] = within;
        above -= weight[index];
        if (above < 0) above = 0;
    }
    return estimate;
}
