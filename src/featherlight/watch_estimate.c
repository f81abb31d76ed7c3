/* watch_estimate.c - see watch_estimate.h. */
#include "featherlight/watch_estimate.h"

#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "estimate/kaplan_meier.h"

/*
 * Samples are split into runs of equal length, one run per BLOCK watches that replaced another.
 * The watches of a run share evenly the samples that found slots equally scarce. (Runs with a
 * fixed number of watches would be longer where long intervals filled the slots, and those would
 * weigh too much: measured, a bias of a third of the error bars.) A single run for all fails where
 * one piece of code has phases.
 */
#define BLOCK 256u
#define BLOCKS_MOST 64u
#define WATCHES_LEAST 8u /* in a run; a run with fewer is joined to the next */

static int is_watched(const struct rsc_watched *sample) {
    return sample->ending != RSC_WATCH_NOT && sample->ending != RSC_WATCH_DROPPED;
}

/* ---- sorting ---- */

struct key {
    uint64_t interval;
    uint32_t context, index;
};

/* Of two that end at the same interval the replaced one comes last: it was watched until then. */
static uint64_t order_of(const struct rsc_watched *sample) {
    uint64_t interval = sample->interval < UINT64_MAX / 4 ? sample->interval : UINT64_MAX / 4;
    return interval * 2 + (sample->ending == RSC_WATCH_REPLACED);
}

static int by_interval(const void *left, const void *right) {
    const struct key *a = left, *b = right;
    if (a->interval != b->interval) return a->interval < b->interval ? -1 : 1;
    return a->index < b->index ? -1 : 1;
}

static void sort_watches(struct rsc_estimator *estimator, struct key *keys) {
    size_t watched = 0;
    for (size_t i = 0; i < estimator->count; i++) {
        const struct rsc_watched *sample = &estimator->samples[i];
        if (is_watched(sample)) keys[watched++] = (struct key){order_of(sample), sample->context, (uint32_t)i};
    }
    qsort(keys, watched, sizeof *keys, by_interval);
    for (size_t i = 0; i < watched; i++) estimator->first[keys[i].context + 1]++;
    for (uint32_t c = 0; c < estimator->contexts; c++) estimator->first[c + 1] += estimator->first[c];
    /* grouped by counting sort; `first` is advanced and restored */
    for (size_t i = 0; i < watched; i++) {
        estimator->by_interval[i] = keys[i].index;
        estimator->by_context[estimator->first[keys[i].context]++] = keys[i].index;
    }
    for (uint32_t c = estimator->contexts; c > 0; c--) estimator->first[c] = estimator->first[c - 1];
    estimator->first[0] = 0;
    estimator->watched = watched;
}

static int took_place(const struct rsc_watched *sample) { return sample->scarcity && is_watched(sample); }

static void set_entries(struct rsc_estimator *estimator) {
    size_t left = 0, from = 0, seen[RSC_SCARCITIES] = {0}, taken = 0;
    double references[RSC_SCARCITIES] = {0}; /* of the run's samples, watched or not */
    for (size_t i = 0; i < estimator->count; i++) left += (size_t)took_place(&estimator->samples[i]);
    size_t blocks = left / BLOCK < BLOCKS_MOST ? left / BLOCK : BLOCKS_MOST;
    if (!blocks) blocks = 1;
    for (size_t i = 0; i < estimator->count; i++) {
        const struct rsc_watched *sample = &estimator->samples[i];
        seen[sample->scarcity] += (size_t)is_watched(sample);
        references[sample->scarcity] += sample->stands_for;
        taken += (size_t)took_place(sample);
        left -= (size_t)took_place(sample);
        int last = i + 1 == estimator->count,
            edge = i * blocks / estimator->count != (i + 1) * blocks / estimator->count;
        if (!last && (!edge || taken < WATCHES_LEAST || left < WATCHES_LEAST)) continue;
        for (; from <= i; from++) {
            const struct rsc_watched *one = &estimator->samples[from];
            size_t watches = one->scarcity ? seen[one->scarcity] : 0;
            estimator->entry[from] = watches ? references[one->scarcity] / (double)watches : one->stands_for;
        }
        memset(seen, 0, sizeof seen);
        memset(references, 0, sizeof references);
        taken = 0;
    }
}

int rsc_estimator_init(struct rsc_estimator *estimator, const struct rsc_watched *samples, size_t count,
                       uint32_t contexts, enum rsc_attribution_kind attribution) {
    *estimator =
        (struct rsc_estimator){.samples = samples, .count = count, .contexts = contexts, .attribution = attribution};
    struct key *keys = malloc((count + 1) * sizeof *keys);
    estimator->by_interval = malloc((count + 1) * sizeof *estimator->by_interval);
    estimator->by_context = malloc((count + 1) * sizeof *estimator->by_context);
    estimator->first = calloc(contexts + 1, sizeof *estimator->first);
    estimator->entry = calloc(count + 1, sizeof *estimator->entry);
    estimator->in_context = malloc((contexts + 1) * sizeof *estimator->in_context);
    estimator->pooled = malloc((count + 1) * sizeof *estimator->pooled);
    estimator->tail = malloc((count + 1) * sizeof *estimator->tail);
    estimator->push = malloc((count + 1) * sizeof *estimator->push);
    if (!keys || !estimator->by_interval || !estimator->by_context || !estimator->first || !estimator->entry ||
        !estimator->in_context || !estimator->pooled || !estimator->tail || !estimator->push) {
        free(keys);
        rsc_estimator_free(estimator);
        return RSC_ENOMEM;
    }
    sort_watches(estimator, keys);
    set_entries(estimator);
    free(keys);
    return 0;
}

void rsc_estimator_free(struct rsc_estimator *estimator) {
    free(estimator->by_interval);
    free(estimator->by_context);
    free(estimator->first);
    free(estimator->entry);
    free(estimator->in_context);
    free(estimator->pooled);
    free(estimator->tail);
    free(estimator->push);
    memset(estimator, 0, sizeof *estimator);
}

/* ---- Kaplan-Meier ---- */

static double entry_of(const struct rsc_estimator *estimator, const double *times, uint32_t index) {
    return estimator->entry[index] * (times ? times[index] : 1);
}

/*
 * Distributes `total` over the outcomes (hits, and words unused to the end) among
 * `watches` (sorted by interval): weight[at] is each one's part, where `at` is its
 * place in the list if `in_list` is set, else its index. Returns the rest if the
 * longest watch was replaced: all that is known of it is that it is longer.
 */
static double share_out(const struct rsc_estimator *estimator, const double *times, const uint32_t *watches,
                        size_t count, double total, double *weight, int in_list) {
    double all = 0;
    for (size_t i = 0; i < count; i++) all += entry_of(estimator, times, watches[i]);
    struct rsc_survival_walk walk = rsc_survival_begin(total, all);
    for (size_t i = 0; i < count; i++)
        weight[in_list ? i : watches[i]] = rsc_survival_step(
            &walk, entry_of(estimator, times, watches[i]), estimator->samples[watches[i]].ending != RSC_WATCH_REPLACED);
    return walk.left;
}

/* The first place in by_interval whose interval is above that of `sample`. */
static size_t place_after(const struct rsc_estimator *estimator, const struct rsc_watched *sample) {
    uint64_t order = order_of(sample) | 1; /* no hit at the same interval either */
    return RSC_SEARCH(0, estimator->watched, i, order_of(&estimator->samples[estimator->by_interval[i]]) <= order);
}

static const struct rsc_watched *longest(const struct rsc_estimator *estimator, const double *times, uint32_t context) {
    for (uint32_t i = estimator->first[context + 1]; i-- > estimator->first[context];) {
        uint32_t index = estimator->by_context[i];
        if (entry_of(estimator, times, index) > 0) return &estimator->samples[index];
    }
    return NULL;
}

static struct rsc_estimate weigh_censored(struct rsc_estimator *estimator, const double *times, double *weight) {
    struct rsc_estimate estimate = {0, 0, 0};
    size_t watched = estimator->watched;
    double *push = estimator->push; /* [place]: spread over the pooled outcomes from there on, per unit of their tail */
    memset(push, 0, (watched + 1) * sizeof *push);
    double rest = share_out(estimator, times, estimator->by_interval, watched, 1, estimator->pooled, 1);
    estimator->tail[watched] = rest;
    for (size_t i = watched; i-- > 0;) estimator->tail[i] = estimator->tail[i + 1] + estimator->pooled[i];

    double longer = 0; /* than any watch */
    for (uint32_t c = 0; c < estimator->contexts; c++) {
        double left = estimator->in_context[c];
        uint32_t first = estimator->first[c];
        if (!(left > 0)) continue;
        const struct rsc_watched *last = longest(estimator, times, c);
        size_t from = 0; /* nothing was watched in this context: assume it is like all others */
        if (last) {
            left = share_out(estimator, times, estimator->by_context + first, estimator->first[c + 1] - first, left,
                             weight, 0);
            from = place_after(estimator, last);
        }
        if (from < watched && estimator->tail[from] > 0) push[from] += left / estimator->tail[from];
        else longer += left;
    }
    double carried = 0;
    for (size_t i = 0; i < watched; i++) {
        uint32_t index = estimator->by_interval[i];
        carried += push[i];
        weight[index] += carried * estimator->pooled[i];
        if (estimator->samples[index].ending == RSC_WATCH_REUSED) {
            estimate.reused += weight[index];
        } else {
            estimate.unused += weight[index];
            weight[index] = 0;
        }
    }
    longer += carried * rest;
    if (watched) estimate.unused += longer;
    else estimate.censored = longer;
    return estimate;
}

/* ---- the others ---- */

static struct rsc_estimate weigh_hits(struct rsc_estimator *estimator, const double *times, double *weight,
                                      double total) {
    struct rsc_estimate estimate = {0, 0, 0};
    for (size_t i = 0; i < estimator->watched; i++) {
        uint32_t index = estimator->by_interval[i];
        const struct rsc_watched *sample = &estimator->samples[index];
        double one = sample->stands_for * (times ? times[index] : 1);
        if (sample->ending == RSC_WATCH_REPLACED) continue;
        if (estimator->attribution == RSC_ATTRIBUTE_INVERSE && sample->chance > 0) one /= sample->chance;
        if (sample->ending == RSC_WATCH_UNUSED) {
            estimate.unused += one;
            continue;
        }
        if (estimator->attribution == RSC_ATTRIBUTE_PROPORTIONAL || estimator->attribution == RSC_ATTRIBUTE_SINCE_LAST)
            one *= sample->since;
        estimate.reused += weight[index] = one;
    }
    double known = estimate.reused + estimate.unused;
    /* Only the ratios of inverse chances are used: on average they sum to the total. */
    int whole = known > total || (estimator->attribution == RSC_ATTRIBUTE_INVERSE && known > 0);
    if (!whole) {
        estimate.censored = total - known;
        return estimate;
    }
    for (size_t i = 0; i < estimator->watched; i++) weight[estimator->by_interval[i]] *= total / known;
    estimate.reused *= total / known;
    estimate.unused *= total / known;
    return estimate;
}

struct rsc_estimate rsc_estimator_weigh(struct rsc_estimator *estimator, const double *times, double *weight) {
    double total = 0;
    memset(weight, 0, estimator->count * sizeof *weight);
    memset(estimator->in_context, 0, estimator->contexts * sizeof *estimator->in_context);
    for (size_t i = 0; i < estimator->count; i++) {
        double references = estimator->samples[i].stands_for * (times ? times[i] : 1);
        estimator->in_context[estimator->samples[i].context] += references;
        total += references;
    }
    if (estimator->attribution == RSC_ATTRIBUTE_CENSORED) return weigh_censored(estimator, times, weight);
    return weigh_hits(estimator, times, weight, total);
}
