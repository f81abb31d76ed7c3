/* watch_rows.c - see watch_rows.h. */
#include "featherlight/watch_rows.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/grow.h"
#include "base/rounding.h"
#include "featherlight/place_costs.h"
#include "profile/profile_model.h"

#define PAIRS_KEPT 1024u
#define CODE_KEPT 4096u
#define THREADS_KEPT 4096u /* as in every engine */

struct rsc_watch_reuse {
    uint64_t use_pc, reuse_pc;
    uint32_t use_path, reuse_path;
    uint32_t thread;
    double weight; /* references */
    uint64_t distance;
};

/* A run of reuses that form one row. */
struct run {
    size_t first, count;
    double weight;
    uint64_t references; /* the weight, rounded with those of all other rows */
};

static void count_distances(const struct rsc_watch_reuse *reuses, size_t count, struct rsc_histogram *rd,
                            uint64_t most) {
    struct rsc_running_round rounding = {0, 1, 0, most};
    for (size_t i = 0; i < count; i++)
        rsc_histogram_add(rd, reuses[i].distance, rsc_round_next(&rounding, reuses[i].weight));
}

#define COMPARE(a, b) \
    if ((a) != (b)) return (a) < (b) ? -1 : 1

static int by_pair(const void *left, const void *right) {
    const struct rsc_watch_reuse *a = left, *b = right;
    COMPARE(a->use_pc, b->use_pc);
    COMPARE(a->reuse_pc, b->reuse_pc);
    COMPARE(a->use_path, b->use_path);
    COMPARE(a->reuse_path, b->reuse_path);
    COMPARE(a->distance, b->distance);
    return 0;
}

static int by_code(const void *left, const void *right) {
    const struct rsc_watch_reuse *a = left, *b = right;
    COMPARE(a->reuse_pc, b->reuse_pc);
    COMPARE(a->distance, b->distance);
    return 0;
}

static int same_pair(const struct rsc_watch_reuse *a, const struct rsc_watch_reuse *b) {
    return a->use_pc == b->use_pc && a->reuse_pc == b->reuse_pc && a->use_path == b->use_path &&
           a->reuse_path == b->reuse_path;
}

static int same_code(const struct rsc_watch_reuse *a, const struct rsc_watch_reuse *b) {
    return a->reuse_pc == b->reuse_pc;
}

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
static int find_runs(struct rsc_watch_reuse *reuses, size_t count, int (*order)(const void *, const void *),
                     int (*same)(const struct rsc_watch_reuse *, const struct rsc_watch_reuse *), struct run *runs,
                     size_t most, uint64_t references, size_t *rows) {
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

static int fill_pairs(struct rsc_watch_reuse *reuses, size_t count, struct run *runs,
                      const struct rsc_place_costs *costs, struct rsc_profile *profile) {
    size_t found;
    if (find_runs(reuses, count, by_pair, same_pair, runs, PAIRS_KEPT, profile->references, &found) < 0 ||
        rsc_profile_set_pairs(profile, found) < 0)
        return RSC_ENOMEM;
    for (size_t i = 0; i < found; i++) {
        const struct rsc_watch_reuse *first = &reuses[runs[i].first];
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

static int fill_code(struct rsc_watch_reuse *reuses, size_t count, struct run *runs, struct rsc_profile *profile) {
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

static int by_thread(const void *left, const void *right) {
    const struct rsc_watch_reuse *a = left, *b = right;
    COMPARE(a->thread, b->thread);
    COMPARE(a->distance, b->distance);
    return 0;
}

static int fill_threads(const struct rsc_featherlight *feather, struct rsc_watch_reuses *reuses,
                        struct rsc_profile *profile) {
    uint32_t rows = feather->thread_count < THREADS_KEPT ? feather->thread_count : THREADS_KEPT;
    size_t at = 0;
    if (rsc_profile_set_threads(profile, rows) < 0) return RSC_ENOMEM;
    if (reuses->count) qsort(reuses->list, reuses->count, sizeof *reuses->list, by_thread);
    for (uint32_t i = 0; i < rows; i++) {
        const struct rsc_thread_samples *thread = &feather->threads[i];
        struct rsc_thread_row *row = &profile->threads[i];
        size_t first = at;
        row->pid = thread->pid;
        row->tid = thread->tid;
        row->references = thread->references > thread->last_count ? thread->references : thread->last_count;
        while (at < reuses->count && reuses->list[at].thread == i) at++;
        if (at > first) count_distances(&reuses->list[first], at - first, &row->rd, row->references);
    }
    return 0;
}

/* Unknown places have no rows. */
static void drop_unknown(struct rsc_watch_reuses *reuses) {
    size_t known = 0;
    for (size_t i = 0; i < reuses->count; i++)
        if (reuses->list[i].use_pc || reuses->list[i].reuse_pc) reuses->list[known++] = reuses->list[i];
    reuses->count = known;
}

int rsc_watch_reuses_rows(struct rsc_watch_reuses *reuses, const struct rsc_featherlight *feather,
                          struct rsc_watch_group *const *shapes, uint32_t shape_count, uint32_t count,
                          struct rsc_profile *profile) {
    struct rsc_place_costs costs;
    int status = rsc_place_costs_make(&costs, shapes, shape_count, count);
    if (status == 0) status = fill_threads(feather, reuses, profile);
    drop_unknown(reuses);
    struct run *runs = malloc((reuses->count + 1) * sizeof *runs);
    if (!runs) status = RSC_ENOMEM;
    if (status == 0 && reuses->count) status = fill_pairs(reuses->list, reuses->count, runs, &costs, profile);
    if (status == 0 && reuses->count) status = fill_code(reuses->list, reuses->count, runs, profile);
    rsc_place_costs_free(&costs);
    free(runs);
    return status;
}

/* ---- from samples ---- */

/* A reused sample, in order of intervals. */
struct step {
    uint64_t interval;
    double weight;
    const struct rsc_watch_group *group;
    uint32_t index;
};

static int by_interval(const void *left, const void *right) {
    const struct step *a = left, *b = right;
    COMPARE(a->interval, b->interval);
    COMPARE(a->group, b->group);
    COMPARE(a->index, b->index);
    return 0;
}

static size_t list_steps(const struct rsc_watch_group *const *shapes, uint32_t shape_count, struct step *steps) {
    size_t count = 0;
    for (uint32_t s = 0; s < shape_count; s++)
        for (size_t i = 0; i < shapes[s]->estimator.watched; i++) {
            uint32_t index = shapes[s]->estimator.by_interval[i];
            const struct rsc_watched *sample = &shapes[s]->samples[index];
            if (sample->ending == RSC_WATCH_REUSED && shapes[s]->weight[index] > 0)
                steps[count++] = (struct step){sample->interval, shapes[s]->weight[index], shapes[s], index};
        }
    if (shape_count > 1 && count) qsort(steps, count, sizeof *steps, by_interval);
    return count;
}

/* The reuses up to each of the lines' intervals share the references of that interval. */
static void weigh_as_lines(struct step *steps, size_t count, const struct rsc_lines *lines) {
    size_t from = 0;
    for (size_t i = 0; i < lines->count; i++) {
        double sum = 0;
        size_t end = from;
        while (end < count && steps[end].interval <= lines->steps[i].interval) sum += steps[end++].weight;
        for (; from < end; from++) steps[from].weight *= lines->steps[i].references / sum;
    }
    for (; from < count; from++) steps[from].weight = 0;
}

static int add_part(struct rsc_watch_reuses *reuses, const struct step *step, double weight, uint64_t distance) {
    if (RSC_GROW(reuses->list, reuses->room, reuses->count + 1)) return RSC_ENOMEM;
    const struct rsc_watched *sample = &step->group->samples[step->index];
    reuses->list[reuses->count++] = (struct rsc_watch_reuse){.use_pc = sample->use_pc,
                                                             .reuse_pc = sample->reuse_pc,
                                                             .use_path = sample->use_path,
                                                             .reuse_path = sample->reuse_path,
                                                             .thread = step->group->thread[step->index],
                                                             .weight = weight,
                                                             .distance = distance};
    return 0;
}

/* Divides the distances among the reuses: the shortest intervals get the shortest. */
static int add_parts(struct rsc_watch_reuses *reuses, const struct step *steps, size_t count,
                     const struct rsc_histogram *rd) {
    double sum = 0, left = 0;
    uint64_t total = 0;
    uint32_t next = 0, bin = 0;
    for (size_t i = 0; i < count; i++) sum += steps[i].weight;
    total = rsc_histogram_total(rd);
    for (size_t i = 0; i < count && total; i++) {
        double weight = steps[i].weight;
        while (weight > 0) {
            for (; !(left > 0) && next < rd->bin_count; next++)
                if (rd->count[next]) left = (double)rd->count[bin = next] * sum / (double)total;
            double part = weight < left || !(left > 0) ? weight : left; /* nothing left: by rounding */
            if (add_part(reuses, &steps[i], part, rsc_bin_lo(rd->bins, bin)) < 0) return RSC_ENOMEM;
            weight -= part;
            left -= part;
        }
    }
    return 0;
}

int rsc_watch_reuses_add(struct rsc_watch_reuses *reuses, const struct rsc_watch_group *const *shapes,
                         uint32_t shape_count, const struct rsc_lines *lines, const struct rsc_histogram *rd) {
    size_t most = 0;
    for (uint32_t s = 0; s < shape_count; s++) most += shapes[s]->estimator.watched;
    struct step *steps = malloc((most + 1) * sizeof *steps);
    if (!steps) return RSC_ENOMEM;
    size_t count = list_steps(shapes, shape_count, steps);
    if (lines) weigh_as_lines(steps, count, lines);
    int status = add_parts(reuses, steps, count, rd);
    free(steps);
    return status;
}

void rsc_watch_reuses_free(struct rsc_watch_reuses *reuses) {
    free(reuses->list);
    *reuses = (struct rsc_watch_reuses){0};
}
