/*
 * private_view.c - models private caches: each thread's own intervals, the misses
 * caused by other threads' writes, and the false sharing among them.
 *
 * A reference is a coherence miss if another thread wrote its line after the
 * thread's own last use; it is false sharing if none of those writes touched a
 * referenced byte. Each thread has its own first uses, counted exactly if that is
 * cheap, else estimated.
 */
#include <stdatomic.h>
#include <stdlib.h>

#include "base/fail.h"
#include "estimate/half_samples.h"
#include "estimate/statistics.h"
#include "loops/model/region_analysis.h"
#include "loops/nest/distinct.h"

#define POINTS 2048u      /* points used, drawn at random: evenly spaced ones can all fall on one place of a line */
#define POINTS_ALL 16384u /* smaller sets of points are used whole */
#define GROUPS_EACH 4u /* of threads, for each that counts their first uses: what they need is made for each group */
#define RUNS_MAX 300000u /* most runs of lines marked to count each thread's first uses: some milliseconds */

/* What a point's thread saw last of its line, and where the others were then. */
struct last_use {
    uint32_t phase;
    int64_t place;
    struct rsc_touch touch; /* in the point's own phase; else not found */
    int placed; /* behind[] is filled: */
    int64_t *behind; /* [threads]: each one's last place in an earlier phase that was before that use */
};

/* Fills behind[]. */
static void place_others(struct rsc_crowd *crowd, uint32_t thread, struct last_use *own) {
    struct rsc_moment then = rsc_crowd_moment_at(crowd, own->phase, thread, own->place);
    for (uint32_t u = 0; u < crowd->plan->threads; u++)
        own->behind[u] = (then.timeline ? rsc_timeline_reached(then.timeline, u, then.time)
                                        : (int64_t)rsc_crowd_reached(crowd, &then, u)) -
                         1;
    own->placed = 1;
}

/* Whether another thread touches the target in the phase of the own last use, an earlier one, after that. */
static int touched_since(struct rsc_crowd *crowd, uint32_t thread, const struct rsc_target *target,
                         struct last_use *own) {
    uint32_t phase = own->phase;
    if (!own->placed) place_others(crowd, thread, own);
    rsc_crowd_sharers(crowd, phase, target, thread);
    for (uint32_t i = 0; i < crowd->sharer_count; i++) {
        uint32_t u = crowd->sharer[i];
        if (rsc_crowd_last(crowd, phase, u, target, INT64_MAX, own->behind[u]) >= 0) return 1;
    }
    if (!crowd->alike) return 0;
    struct rsc_target alike = *target;
    alike.which = RSC_TARGET_ALIKE;
    int64_t last = -1, searched = -1; /* the last touch at or before a place, at which one thread's work ends */
    rsc_crowd_look_at(crowd, phase);
    for (uint32_t u = 0; u < crowd->plan->threads; u++) {
        int64_t end = (int64_t)crowd->length[u] - 1;
        if (u == thread || end < 0) continue;
        if (end > searched || end < last) last = rsc_crowd_last(crowd, phase, u, &alike, searched = end, -1);
        if (last > own->behind[u]) return 1;
    }
    return 0;
}

/* Whether another thread wrote the target between the thread's own last touch and the moment. */
static int written_since(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *lines,
                         struct last_use *own) {
    struct rsc_target target = *lines;
    target.writes_only = 1;
    if (rsc_crowd_others(crowd, moment, &target, &own->touch).found) return 1;
    if (own->touch.found) return 0;
    int64_t segment = rsc_last_segment(crowd->search, crowd->nest->phase[moment->phase].first, &target);
    if (segment < 0) return 0;
    uint32_t phase = crowd->nest->segment[segment].phase;
    return phase == own->phase ? touched_since(crowd, moment->thread, &target, own) : phase > own->phase;
}

/* Whether any other reference could write a target's line. */
static int has_writers(const struct rsc_nest *nest, const struct rsc_target *target) {
    for (uint32_t r = 0; r < nest->reference_count; r++)
        if (nest->reference[r]->is_write && !nest->reference[r]->is_private &&
            rsc_can_touch(nest->reference[r], target))
            return 1;
    return 0;
}

static int most_first(const void *a, const void *b) {
    double x = ((const struct rsc_loops_sharing *)a)->coherence, y = ((const struct rsc_loops_sharing *)b)->coherence;
    return x > y ? -1 : x < y;
}

/* Threads whose first uses are counted, some at a time. */
struct first_uses {
    const struct rsc_search *search; /* to be copied */
    uint64_t line_bytes, runs_max;
    uint32_t groups;
    _Atomic uint64_t sum;
    _Atomic int status;
};

static void count_group(void *context, size_t group) {
    struct first_uses *uses = context;
    struct rsc_search search = *uses->search;
    uint64_t lines, threads = search.plan->threads;
    if (uses->status < 0) return;
    int status = rsc_distinct_of_threads(&search, (uint32_t)(group * threads / uses->groups),
                                         (uint32_t)((group + 1) * threads / uses->groups), uses->line_bytes,
                                         uses->runs_max, &lines, NULL);
    uses->sum += lines;
    if (status < 0) uses->status = status;
}

/* First uses of all threads, exactly; 0 where that would take too long. */
static int count_first_uses(const struct rsc_loops_analysis *analysis, const struct rsc_search *search, double *cold,
                            struct rsc_error *error) {
    uint32_t threads = search->plan->threads, groups = GROUPS_EACH * rsc_loops_team_size(analysis->team);
    struct first_uses uses = {.search = search,
                              .line_bytes = analysis->options.line_bytes,
                              .runs_max = RUNS_MAX / threads + 1,
                              .groups = groups < threads ? groups : threads};
    rsc_loops_team_each(analysis->team, uses.groups, count_group, &uses);
    if (uses.status == RSC_ENOMEM) return rsc_fail_memory(error, "lines of a loop nest");
    if (uses.status < 0) return uses.status == RSC_ELIMIT ? 0 : uses.status;
    *cold = (double)uses.sum;
    return 1;
}

int rsc_loops_private_view(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                           const struct rsc_interleave *interleave, struct rsc_loops_private *own,
                           struct rsc_error *error) {
    struct rsc_nest *nest = analysis->nest;
    struct rsc_plan *plan = search->plan;
    struct rsc_crowd *crowd = NULL;
    struct rsc_loops_samples samples = {0};
    struct rsc_interleave model = *interleave;
    if (model.kind == RSC_INTERLEAVE_RACETRACK)
        model.kind = RSC_INTERLEAVE_IID; /* racetrack does not define the order of threads */
    uint32_t arrays = analysis->program->array_count;
    double total = plan->phase_start[nest->phase_count], threads = plan->threads;
    uint64_t size[RSC_LOOPS_GRID_MAX];
    own->arrays = calloc(arrays + 1, sizeof *own->arrays);
    int status = own->arrays ? rsc_loops_samples_new(&samples, analysis->points.count, error) : RSC_ENOMEM;
    if (status >= 0)
        status = rsc_crowd_new(&crowd, search, &model, analysis->normal, analysis->options.line_bytes,
                               analysis->options.seed + plan->threads, error);
    int64_t *behind = calloc(plan->threads, sizeof *behind);
    if (!behind && status >= 0) status = RSC_ENOMEM;
    double cold = 0, invalidated = 0, all = 0, squares = 0;
    for (uint32_t i = 0; i < arrays && status >= 0; i++) own->arrays[i].array = analysis->program->array[i].name;
    const int all_of_them = analysis->options.samples != RSC_LOOPS_SAMPLES_AUTO || analysis->points.count <= POINTS_ALL;
    const uint64_t kept_below = all_of_them ? UINT64_MAX : UINT64_MAX / analysis->points.count * POINTS;
    for (size_t i = 0; status >= 0 && i < analysis->points.count; i++) {
        const struct rsc_point *point = &analysis->points.point[i];
        uint64_t drawn_at = (i + 1 + analysis->options.seed) * 0x9E3779B97F4A7C15ull;
        drawn_at = (drawn_at ^ drawn_at >> 29) * 0xBF58476D1CE4E5B9ull;
        if ((drawn_at ^ drawn_at >> 32) > kept_below) continue;
        if (nest->status < 0 || rsc_nest_stopped(nest)) break;
        const struct rsc_nest_node *reference = nest->reference[point->reference];
        struct rsc_target target = rsc_crowd_target(crowd, point);
        struct rsc_moment moment = rsc_crowd_moment(crowd, point);
        const struct rsc_view *view = rsc_plan_view(plan, point->segment);
        double weight = point->weight * (view && view->who == RSC_RUN_BY_ALL ? view->threads : 1), interval;
        struct last_use last = {.behind = behind};
        struct rsc_loops_sharing *row = &own->arrays[reference->from->array];
        row->references += weight;
        all += weight;
        squares += weight * weight;
        if (!rsc_crowd_own_history(crowd, &moment, &target, &last.phase, &last.place, &interval)) {
            cold += weight;
            continue;
        }
        if (!reference->is_private && has_writers(nest, &target)) {
            if (last.phase == moment.phase) last.touch = rsc_crowd_own_touch(crowd, &moment, last.place);
            struct rsc_rng drawn = crowd->chance.rng;
            if (written_since(crowd, &moment, &target, &last)) {
                struct rsc_target bytes = target;
                bytes.low = point->address;
                bytes.high = point->address + (int64_t)reference->size_bytes - 1;
                bytes.reaching = 1;
                crowd->chance.rng = drawn; /* the same threads at the same times */
                int is_false = !written_since(crowd, &moment, &bytes, &last);
                invalidated += weight;
                row->coherence += weight;
                row->false_sharing += is_false * weight;
                own->false_sharing += is_false * weight;
                continue;
            }
        }
        samples.reference[samples.count] = point->reference;
        samples.sample[samples.count++] =
            (struct rsc_reuse_sample){.end = plan->phase_start[moment.phase] / threads + (double)moment.place,
                                      .interval = interval,
                                      .weight = weight / threads};
    }
    if (status >= 0 && nest->status < 0)
        status = rsc_fail(error, nest->status, "%s: this nest is too large to analyse", nest->region->name);
    if (status < 0 || !(all > 0)) goto out;
    double scale = total / all, z = rsc_normal_quantile(0.5 + analysis->options.confidence / 200);
    const double alike = all * all / squares; /* points of the same weight that tell as much */
    double cold_low, cold_high, invalid_low, invalid_high; /* as shares: none may have been seen of what is rare */
    rsc_wilson_bar(cold / all, alike, z, &cold_low, &cold_high);
    rsc_wilson_bar(invalidated / all, alike, z, &invalid_low, &invalid_high);
    own->cold = cold * scale;
    own->invalidated = invalidated * scale;
    own->false_sharing *= scale;
    const int counted = status = count_first_uses(analysis, search, &own->cold, error);
    if (status < 0) goto out;
    /* Some thread is the first to use each line, and at most all threads use it. */
    double least = (double)rsc_distinct_sum(nest, analysis->lines), most_cold = fmin(least * threads, total);
    own->cold = fmin(fmax(own->cold, least), most_cold);
    own->cold_low = counted ? own->cold : fmin(fmax(cold_low * total, least), own->cold);
    own->cold_high = counted ? own->cold : fmax(fmin(cold_high * total, most_cold), own->cold);
    own->invalidated_low = invalid_low * total;
    own->invalidated_high = invalid_high * total;
    for (size_t i = 0; i < samples.count; i++) samples.sample[i].weight *= scale;
    status = rsc_footprint_distances(samples.sample, samples.count, total / threads, own->cold / threads, NULL, 0,
                                     RSC_LOOPS_SLICES);
    if (status < 0) goto out;
    samples.references = total;
    samples.cold = own->cold + own->invalidated;
    double most = 1;
    for (size_t i = 0; i < samples.count; i++)
        if (samples.sample[i].distance + 1 > most) most = samples.sample[i].distance + 1;
    own->mrc_count = rsc_loops_grid((uint64_t)most, size);
    own->mrc = calloc(own->mrc_count + 1, sizeof *own->mrc);
    status = own->mrc ? rsc_loops_curve(&samples, nest->reference_count, size, own->mrc_count,
                                        analysis->options.confidence, analysis->options.line_bytes, own->mrc)
                      : RSC_ENOMEM;
    qsort(own->arrays, arrays, sizeof *own->arrays, most_first);
    for (uint32_t i = 0; i < arrays && own->arrays[i].coherence > 0; i++) {
        own->arrays[i].references *= scale;
        own->arrays[i].coherence *= scale;
        own->arrays[i].false_sharing *= scale;
        own->array_count++;
    }
out:
    free(behind);
    rsc_loops_samples_free(&samples);
    rsc_crowd_free(crowd);
    return status < 0 ? status : 0;
}
