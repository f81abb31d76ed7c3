/*
 * watch_rows.c - makes a profile's rows from samples: threads, the code that reuses,
 * and pairs of use and reuse, most references first.
 */
#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/rounding.h"
#include "featherlight/place_costs.h"
#include "featherlight/watch_group.h"
#include "profile/profile_model.h"

#define PAIRS_KEPT 1024u
#define CODE_KEPT 4096u
#define THREADS_KEPT 4096u /* as in every engine */

/* A reused sample and its sort key. */
struct reuse {
    uint64_t use_pc, reuse_pc;
    uint32_t use_path, reuse_path;
    double weight;
    uint64_t distance;
};

/* A run of reuses that form one row. */
struct run {
    size_t first, count;
    double weight;
    uint64_t references; /* the weight, rounded with those of all other rows */
};

static void count_distances(const struct reuse *reuses, size_t count, struct rsc_histogram *rd, uint64_t most) {
    struct rsc_running_round rounding = {0, 1, 0, most};
    for (size_t i = 0; i < count; i++)
        rsc_histogram_add(rd, reuses[i].distance, rsc_round_next(&rounding, reuses[i].weight));
}

#define COMPARE(a, b) \
    if ((a) != (b)) return (a) < (b) ? -1 : 1

static int by_pair(const void *left, const void *right) {
    const struct reuse *a = left, *b = right;
    COMPARE(a->use_pc, b->use_pc);
    COMPARE(a->reuse_pc, b->reuse_pc);
    COMPARE(a->use_path, b->use_path);
    COMPARE(a->reuse_path, b->reuse_path);
    COMPARE(a->distance, b->distance);
    return 0;
}

static int by_code(const void *left, const void *right) {
    const struct reuse *a = left, *b = right;
    COMPARE(a->reuse_pc, b->reuse_pc);
    COMPARE(a->distance, b->distance);
    return 0;
}

static int same_pair(const struct reuse *a, const struct reuse *b) {
    return a->use_pc == b->use_pc && a->reuse_pc == b->reuse_pc && a->use_path == b->use_path &&
           a->reuse_path == b->reuse_path;
}

static int same_code(const struct reuse *a, const struct reuse *b) { return a->reuse_pc == b->reuse_pc; }

static int heavier(const void *left, const void *right) {
    const struct run *a = left, *b = right;
    if (a->weight != b->weight) return a->weight > b->weight ? -1 : 1;
    return a->first < b->first ? -1 : 1;
}

static int round_runs(struct run *runs, size_t count, uint64_t references) {
    double *shares = malloc((count + 1) * sizeof *shares);
    uint64_t *whole = malloc((count + 1) * sizeof *whole);
    int status = shares && whole ? 0 : RSC_ENOMEM;
    for (size_t i = 0; !status && i < count; i++) shares[i] = runs[i].weight;
    if (!status) status = rsc_round_rows(shares, count, references, whole);
    for (size_t i = 0; !status && i < count; i++) runs[i].references = whole[i];
    free(shares);
    free(whole);
    return status;
}

/* Sorts, and finds the rows: heaviest first, none of 0 references and at most `most`; *rows is how many. */
static int find_runs(struct reuse *reuses, size_t count, int (*order)(const void *, const void *),
                     int (*same)(const struct reuse *, const struct reuse *), struct run *runs, size_t most,
                     uint64_t references, size_t *rows) {
    size_t found = 0;
    qsort(reuses, count, sizeof *reuses, order);
    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !same(&reuses[i - 1], &reuses[i])) runs[found++] = (struct run){.first = i};
        runs[found - 1].count++;
        runs[found - 1].weight += reuses[i].weight;
    }
    qsort(runs, found, sizeof *runs, heavier);
    if (round_runs(runs, found, references) < 0) return RSC_ENOMEM;
    if (found > most) found = most;
    while (found && !runs[found - 1].references) found--;
    *rows = found;
    return 0;
}

static int fill_pairs(struct reuse *reuses, size_t count, struct run *runs, const struct rsc_place_costs *costs,
                      struct rsc_profile *profile) {
    size_t found;
    if (find_runs(reuses, count, by_pair, same_pair, runs, PAIRS_KEPT, profile->references, &found) < 0 ||
        rsc_profile_set_pairs(profile, found) < 0)
        return RSC_ENOMEM;
    for (size_t i = 0; i < found; i++) {
        const struct reuse *first = &reuses[runs[i].first];
        struct rsc_pair_row *row = &profile->pairs[i];
        row->use.pc = first->use_pc;
        row->reuse.pc = first->reuse_pc;
        row->use_context = first->use_path;
        row->reuse_context = first->reuse_path;
        rsc_place_costs_fill(costs, row);
        row->references = runs[i].references;
        count_distances(first, runs[i].count, &row->rd, row->references);
    }
    return 0;
}

static int fill_code(struct reuse *reuses, size_t count, struct run *runs, struct rsc_profile *profile) {
    size_t found;
    if (find_runs(reuses, count, by_code, same_code, runs, CODE_KEPT, profile->references, &found) < 0 ||
        rsc_profile_set_code(profile, found) < 0)
        return RSC_ENOMEM;
    for (size_t i = 0; i < found; i++) {
        struct rsc_code_row *row = &profile->code[i];
        row->place.pc = reuses[runs[i].first].reuse_pc;
        row->references = runs[i].references;
        count_distances(&reuses[runs[i].first], runs[i].count, &row->rd, row->references);
    }
    return 0;
}

/* ---- threads ---- */

struct thread_reuse {
    uint32_t thread;
    struct reuse reuse;
};

static int by_thread(const void *left, const void *right) {
    const struct thread_reuse *a = left, *b = right;
    COMPARE(a->thread, b->thread);
    COMPARE(a->reuse.distance, b->reuse.distance);
    return 0;
}

static int fill_threads(const struct rsc_featherlight *feather, const struct thread_reuse *list, size_t count,
                        struct rsc_profile *profile, struct reuse *scratch) {
    uint32_t rows = feather->thread_count < THREADS_KEPT ? feather->thread_count : THREADS_KEPT;
    size_t at = 0;
    if (rsc_profile_set_threads(profile, rows) < 0) return RSC_ENOMEM;
    for (uint32_t i = 0; i < rows; i++) {
        const struct rsc_thread_samples *thread = &feather->threads[i];
        struct rsc_thread_row *row = &profile->threads[i];
        size_t found = 0;
        row->pid = thread->pid;
        row->tid = thread->tid;
        row->references = thread->references > thread->last_count ? thread->references : thread->last_count;
        for (; at < count && list[at].thread == i; at++) scratch[found++] = list[at].reuse;
        count_distances(scratch, found, &row->rd, row->references);
    }
    return 0;
}

int rsc_groups_rows(const struct rsc_featherlight *feather, const struct rsc_watch_group *groups, uint32_t count,
                    struct rsc_profile *profile) {
    size_t total = 0, found = 0, known = 0;
    for (uint32_t g = 0; g < count; g++) total += groups[g].estimator.watched;
    struct thread_reuse *list = malloc((total + 1) * sizeof *list);
    struct reuse *reuses = malloc((total + 1) * sizeof *reuses);
    struct run *runs = malloc((total + 1) * sizeof *runs);
    struct rsc_place_costs costs;
    int status = rsc_place_costs_make(&costs, groups, count);
    if (!list || !reuses || !runs) status = RSC_ENOMEM;
    for (uint32_t g = 0; status == 0 && g < count; g++)
        for (size_t i = 0; i < groups[g].count; i++) {
            const struct rsc_watched *sample = &groups[g].samples[i];
            if (sample->ending != RSC_WATCH_REUSED || !(groups[g].weight[i] > 0)) continue;
            list[found++] =
                (struct thread_reuse){groups[g].thread[i],
                                      {sample->use_pc, sample->reuse_pc, sample->use_path, sample->reuse_path,
                                       groups[g].weight[i], (uint64_t)(groups[g].distance[i] + 0.5)}};
        }
    if (status == 0) {
        qsort(list, found, sizeof *list, by_thread);
        status = fill_threads(feather, list, found, profile, reuses);
    }
    /* unknown places have no rows */
    for (size_t i = 0; status == 0 && i < found; i++)
        if (list[i].reuse.use_pc || list[i].reuse.reuse_pc) reuses[known++] = list[i].reuse;
    if (status == 0) status = fill_pairs(reuses, known, runs, &costs, profile);
    if (status == 0) status = fill_code(reuses, known, runs, profile);
    rsc_place_costs_free(&costs);
    free(list);
    free(reuses);
    free(runs);
    return status;
}
