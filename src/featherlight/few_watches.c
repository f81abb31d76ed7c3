/* few_watches.c - see few_watches.h. */
#include "featherlight/few_watches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/metrics.h"
#include "profile/profile_model.h"

#define SIZES_PER_OCTAVE 4u

struct few_size {
    uint64_t lines;
    uint32_t bin;
    double ratio;          /* the curve's */
    double pool;           /* of the groups being added */
    double depends;        /* square of how much the curve depends on them */
    double lacking, least; /* so far, in references squared; then as shares */
};

/* A context, up to the current size. */
struct context {
    double references, entries, squares, short_entries;
    uint32_t next; /* its first watch that is not among short_entries */
};

static double bernoulli(double p) { return p * (1 - p); }

static uint32_t bin_of(double distance) { return rsc_bin_of_fine((uint64_t)(distance + 0.5)); }

static struct context *contexts_of(const struct rsc_watch_group *group, double *all) {
    const struct rsc_estimator *estimator = &group->estimator;
    struct context *contexts = calloc(group->contexts + 1, sizeof *contexts);
    *all = 0;
    if (!contexts) return NULL;
    for (size_t i = 0; i < group->count; i++) {
        contexts[group->samples[i].context].references += group->samples[i].stands_for;
        *all += group->samples[i].stands_for;
    }
    for (uint32_t c = 0; c < group->contexts; c++) {
        contexts[c].next = estimator->first[c];
        for (uint32_t i = estimator->first[c]; i < estimator->first[c + 1]; i++) {
            double entry = estimator->entry[estimator->by_context[i]];
            contexts[c].entries += entry;
            contexts[c].squares += entry * entry;
        }
    }
    return contexts;
}

static void pass(const struct rsc_watch_group *group, struct context *context, uint32_t end, uint32_t bin) {
    const struct rsc_estimator *estimator = &group->estimator;
    for (; context->next < end; context->next++) {
        uint32_t index = estimator->by_context[context->next];
        if (group->samples[index].ending != RSC_WATCH_REUSED) continue;
        if (bin_of(group->distance[index]) >= bin) break;
        context->short_entries += estimator->entry[index];
    }
}

static int add_group(struct rsc_few_watches *few, const struct rsc_watch_group *group) {
    double all;
    struct context *contexts = contexts_of(group, &all);
    if (!contexts) return RSC_ENOMEM;
    for (uint32_t s = 0; s < few->count && all > 0; s++) {
        struct few_size *size = &few->sizes[s];
        for (uint32_t c = 0; c < group->contexts; c++) {
            struct context *context = &contexts[c];
            pass(group, context, group->estimator.first[c + 1], size->bin);
            double n = context->squares > 0 ? context->entries * context->entries / context->squares : 0;
            double p = n > 0 ? fmax(0, 1 - context->short_entries / context->entries) : size->pool;
            double likely = bernoulli((n * p + size->pool) / (n + 1)) / (n > 1 ? n : 1),
                   seen = n > 0 ? bernoulli(p) / n : 0;
            double share = context->references / all * (double)group->references,
                   weight = share * share * size->depends;
            if (likely > seen) size->lacking += weight * (likely - seen);
            size->least += weight * likely;
        }
    }
    free(contexts);
    return 0;
}

/* Shares of references with distances from each size on, or never used again. */
static int set_pools(struct rsc_few_watches *few, const struct rsc_watch_group *groups, uint32_t count) {
    uint32_t bins = few->count ? few->sizes[few->count - 1].bin + 1 : 1;
    double *below = calloc(bins, sizeof *below), known = 0, sum = 0;
    if (!below) return RSC_ENOMEM;
    for (uint32_t g = 0; g < count; g++) {
        known += groups[g].estimate.reused + groups[g].estimate.unused;
        for (size_t i = 0; i < groups[g].estimator.watched; i++) {
            uint32_t index = groups[g].estimator.by_interval[i], bin = bin_of(groups[g].distance[index]);
            if (groups[g].weight[index] > 0 && bin < bins) below[bin] += groups[g].weight[index];
        }
    }
    for (uint32_t s = 0, bin = 0; s < few->count; s++) {
        for (; bin < few->sizes[s].bin; bin++) sum += below[bin];
        few->sizes[s].pool = known > 0 ? fmin(1, fmax(0, 1 - sum / known)) : 1;
    }
    free(below);
    return 0;
}

/* is_factor: the groups' curve is one factor of the product. */
static int add_groups(struct rsc_few_watches *few, const struct rsc_watch_group *groups, uint32_t count,
                      int is_factor) {
    int status = set_pools(few, groups, count);
    for (uint32_t s = 0; s < few->count; s++) {
        double part = few->sizes[s].pool > 0 ? fmin(1, few->sizes[s].ratio / few->sizes[s].pool) : 1;
        few->sizes[s].depends = is_factor ? part * part : 1;
    }
    for (uint32_t g = 0; g < count && status == 0; g++) status = add_group(few, &groups[g]);
    return status;
}

int rsc_few_watches_make(struct rsc_few_watches *few, struct rsc_watch_group *const *shapes, uint32_t shape_count,
                         uint32_t count, const struct rsc_profile *profile) {
    uint32_t sizes = 0;
    for (uint64_t lines = 1; lines <= profile->distinct; lines = rsc_grid_next(lines, SIZES_PER_OCTAVE)) sizes++;
    few->sizes = calloc(sizes + 1, sizeof *few->sizes);
    if (!few->sizes) return RSC_ENOMEM;
    for (uint64_t lines = 1; few->count < sizes; lines = rsc_grid_next(lines, SIZES_PER_OCTAVE))
        few->sizes[few->count++] = (struct few_size){
            .lines = lines, .bin = rsc_bin_of_fine(lines), .ratio = fmin(1, rsc_profile_miss_ratio(profile, lines))};
    int status = 0;
    for (uint32_t i = 0; i < shape_count && status == 0; i++)
        status = add_groups(few, shapes[i], count, shape_count > 1);
    double references = (double)profile->references;
    for (uint32_t s = 0; s < few->count; s++) {
        few->sizes[s].lacking /= references * references;
        few->sizes[s].least /= references * references;
    }
    return status;
}

void rsc_few_watches_free(struct rsc_few_watches *few) {
    free(few->sizes);
    memset(few, 0, sizeof *few);
}

struct rsc_few_variance rsc_few_watches_at(const struct rsc_few_watches *few, uint64_t lines) {
    uint32_t low = RSC_SEARCH(0, few->count, i, few->sizes[i].lines <= lines);
    return low ? (struct rsc_few_variance){few->sizes[low - 1].lacking, few->sizes[low - 1].least}
               : (struct rsc_few_variance){0, 0};
}
