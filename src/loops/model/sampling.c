/*
 * sampling.c - which references of a region are looked at, and how long ago their lines were used.
 *
 * An explicit number of samples is divided among references by their frequency. By default a pilot of PILOT_POINTS
 * shows which references the error comes from, most of them being short reuses with no error at all. These get the
 * points (Neyman allocation: frequency times standard deviation), as many as the error needs that is left between
 * 32 KiB and the footprint, within what a further number of threads may cost.
 */
#include "loops/model/region_analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define PILOT_POINTS 512u
/* Relative standard error wanted at each size: a factor of 1.25 is then some four of them. */
#define ERROR_WANTED 0.05
#define ERROR_LINES 512u /* 32 KiB */
/* A further number of threads may cost WORK searches (some 8 ms), but POINTS_ENOUGH points are allowed. */
#define WORK 15000.0
#define POINTS_ENOUGH 1536.0
#define POINTS_FEWEST 1024.0
#define POINTS_MOST 6144.0
#define POINTS_SHARED 768.0 /* points that references get by frequency in any case, for sizes below */

int rsc_loops_samples_new(struct rsc_loops_samples *samples, size_t count, struct rsc_error *error) {
    memset(samples, 0, sizeof *samples);
    samples->sample = calloc(count + 1, sizeof *samples->sample);
    samples->reference = calloc(count + 1, sizeof *samples->reference);
    if (samples->sample && samples->reference) return 0;
    rsc_loops_samples_free(samples);
    return rsc_fail_memory(error, "samples of loops");
}

void rsc_loops_samples_free(struct rsc_loops_samples *samples) {
    free(samples->sample);
    free(samples->reference);
    memset(samples, 0, sizeof *samples);
}

void rsc_loops_samples_weigh(const struct rsc_points *points, struct rsc_loops_samples *samples, double references) {
    double sum = 0;
    for (size_t i = 0; i < samples->count;) { /* samples are in order of reference */
        uint32_t r = samples->reference[i];
        size_t end = i;
        while (end < samples->count && samples->reference[end] == r) end++;
        double share = (double)(points->first[r + 1] - points->first[r]) / (double)(end - i);
        for (; i < end; i++) sum += samples->sample[i].weight *= share;
    }
    for (size_t i = 0; sum > 0 && i < samples->count; i++) samples->sample[i].weight *= references / sum;
    samples->references = references;
}

/*
 * Weighs the reuses of each reference so that with its first uses they are all its uses.
 * The first uses of a space are its lines; the samples tell how its references divide them.
 */
static int know_first_uses(const struct rsc_loops_analysis *analysis, struct rsc_loops_samples *samples) {
    const struct rsc_nest *nest = analysis->nest;
    struct sum {
        double uses, first;
    } *of = calloc((size_t)nest->reference_count + nest->space_count + 1, sizeof *of), *of_space;
    if (!of) return RSC_ENOMEM;
    of_space = of + nest->reference_count;
    for (size_t i = 0; i < samples->count; i++) {
        uint32_t r = samples->reference[i], space = nest->reference[r]->space;
        double weight = samples->sample[i].weight, first = samples->sample[i].interval > 0 ? 0 : weight;
        of[r].uses += weight;
        of[r].first += first;
        of_space[space].uses += weight;
        of_space[space].first += first;
    }
    for (size_t i = 0; i < samples->count; i++) {
        if (samples->sample[i].interval <= 0) continue;
        const struct sum *mine = &of[samples->reference[i]];
        uint32_t space = nest->reference[samples->reference[i]]->space;
        double lines = (double)analysis->lines[space], first = lines * mine->uses / of_space[space].uses;
        if (of_space[space].first > 0) first = lines * mine->first / of_space[space].first;
        double reuses = mine->uses - mine->first;
        samples->sample[i].weight *= first < mine->uses ? (mine->uses - first) / reuses : 0;
    }
    free(of);
    return 0;
}

static void sample_point(struct rsc_crowd *crowd, const struct rsc_point *point, struct rsc_loops_samples *samples) {
    struct rsc_target target = rsc_crowd_target(crowd, point);
    struct rsc_moment moment = rsc_crowd_moment(crowd, point);
    struct rsc_touch touch = rsc_crowd_own_touch(crowd, &moment, rsc_crowd_own(crowd, &moment, &target));
    struct rsc_touch other = rsc_crowd_others(crowd, &moment, &target, &touch);
    if (other.found) touch = other;
    if (!touch.found) touch = rsc_crowd_earlier(crowd, &moment, &target);
    const struct rsc_view *view = rsc_plan_view(crowd->plan, point->segment);
    double runs = view && view->who == RSC_RUN_BY_ALL ? view->threads : 1;
    samples->reference[samples->count] = point->reference;
    samples->sample[samples->count++] = (struct rsc_reuse_sample){
        .end = moment.end, .interval = touch.found ? touch.interval : 0, .weight = point->weight * runs};
}

/* Weighs samples by the first uses that are known, and fills their distances from their intervals. */
static int find_distances(const struct rsc_loops_analysis *analysis, const struct rsc_plan *plan, double distinct,
                          struct rsc_loops_samples *samples) {
    uint32_t phases = analysis->nest->phase_count;
    samples->cold = samples->lines = distinct;
    int status = know_first_uses(analysis, samples);
    if (status >= 0)
        status = rsc_footprint_distances(samples->sample, samples->count, samples->references, distinct,
                                         plan->phase_start + 1, phases ? phases - 1 : 0, RSC_LOOPS_SLICES);
    return status;
}

/* Looks at every `every`-th point of each reference. */
static int look(struct rsc_loops_analysis *analysis, struct rsc_crowd *crowd, const struct rsc_points *points,
                uint32_t every, struct rsc_loops_samples *samples, struct rsc_error *error) {
    struct rsc_nest *nest = analysis->nest;
    int status = rsc_loops_samples_new(samples, points->count, error);
    for (size_t i = 0; status >= 0 && i < points->count; i++) {
        const struct rsc_point *point = &points->point[i];
        uint32_t place = (uint32_t)i - points->first[point->reference];
        if (every > 1 && place % every && place >= RSC_POINTS_LEAST) continue;
        rsc_loops_draw_as(crowd, i);
        sample_point(crowd, point, samples);
        if (nest->status < 0 || rsc_nest_stopped(nest))
            status = rsc_fail(error, nest->status, "%s: this nest is too large to analyse", nest->region->name);
    }
    if (status >= 0) rsc_loops_samples_weigh(points, samples, crowd->plan->phase_start[nest->phase_count]);
    return status;
}

/*
 * Chooses the points of each reference. With scores s, reference r of share w and chance p to miss at a size gets
 * n s(r) / sum of s; the variance at that size is then sum of s / n * sum over r of w^2 p (1 - p) / s(r).
 */
static int allocate(const struct rsc_loops_analysis *analysis, const struct rsc_loops_samples *pilot, double most,
                    uint64_t *wanted) {
    uint32_t references = analysis->nest->reference_count;
    uint64_t size[RSC_LOOPS_GRID_MAX];
    size_t sizes = rsc_loops_grid((uint64_t)pilot->lines, size);
    struct rsc_loops_tally tally = {0};
    double *score = calloc(references + (size_t)1, sizeof *score), sum = 0, worst = 0, total = 0;
    int status = score ? rsc_loops_tally_new(&tally, pilot, references, size, sizes) : RSC_ENOMEM;
    for (uint32_t r = 0; status >= 0 && r < references; r++) {
        for (size_t g = 0; g < sizes && (double)size[g] < pilot->lines; g++)
            score[r] += rsc_loops_tally_variance(&tally, r, g) / (tally.ratio[g] * tally.ratio[g]);
        score[r] = sqrt(score[r] / (double)sizes);
        sum += score[r];
        total += (double)analysis->points.references[r];
    }
    for (size_t g = 0; status >= 0 && g < sizes && (double)size[g] < pilot->lines; g++) {
        double error = 0;
        if (size[g] < ERROR_LINES) continue;
        for (uint32_t r = 0; r < references; r++)
            if (score[r] > 0) error += rsc_loops_tally_variance(&tally, r, g) / score[r];
        worst = fmax(worst, error * sum / (tally.ratio[g] * tally.ratio[g]));
    }
    double points = fmin(fmax(worst / (ERROR_WANTED * ERROR_WANTED), POINTS_FEWEST), most);
    for (uint32_t r = 0; status >= 0 && r < references; r++) {
        double by_score = sum > 0 ? points * score[r] / sum : 0,
               by_share = POINTS_SHARED * (double)analysis->points.references[r] / total;
        wanted[r] = (uint64_t)fmax(fmax(by_score, by_share) + 0.5, RSC_POINTS_LEAST);
    }
    rsc_loops_tally_free(&tally);
    free(score);
    return status;
}

/* By default: a pilot, then the points that its error asks for. */
static int look_where_it_matters(struct rsc_loops_analysis *analysis, struct rsc_crowd *crowd, double distinct,
                                 struct rsc_loops_samples *samples, struct rsc_error *error) {
    struct rsc_nest *nest = analysis->nest;
    struct rsc_points points = {0};
    struct rsc_loops_samples pilot = {0};
    uint64_t *wanted = calloc(nest->reference_count + (size_t)1, sizeof *wanted), before = crowd->search->searches;
    int status = wanted ? 0 : rsc_fail_memory(error, "samples of loops");
    if (status >= 0)
        status = look(analysis, crowd, &analysis->points, (uint32_t)(analysis->points.count / PILOT_POINTS) + 1, &pilot,
                      error);
    double each = (double)(crowd->search->searches - before) / (double)(pilot.count + 1) + crowd->plan->threads / 10.0;
    if (status >= 0) status = find_distances(analysis, crowd->plan, distinct, &pilot);
    if (status >= 0) status = allocate(analysis, &pilot, fmin(fmax(WORK / each, POINTS_ENOUGH), POINTS_MOST), wanted);
    if (status >= 0)
        status = rsc_points_draw(&points, &analysis->points, nest, wanted, analysis->options.seed + 1, error);
    if (status >= 0) status = look(analysis, crowd, &points, 1, samples, error);
    if (status >= 0) status = find_distances(analysis, crowd->plan, distinct, samples);
    if (status >= 0) status = rsc_loops_count_lines(analysis, crowd, &points, samples);
    rsc_points_free(&points);
    rsc_loops_samples_free(&pilot);
    free(wanted);
    return status;
}

int rsc_loops_sample_crowd(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                           const struct rsc_interleave *interleave, uint32_t every, double distinct,
                           struct rsc_loops_samples *samples, struct rsc_windows *windows, struct rsc_error *error) {
    struct rsc_crowd *crowd = NULL;
    int status = rsc_crowd_new(&crowd, search, interleave, analysis->normal, analysis->options.line_bytes,
                               analysis->options.seed + search->plan->threads, error);
    if (status >= 0 && every == 1 && analysis->options.samples == RSC_LOOPS_SAMPLES_AUTO)
        status = look_where_it_matters(analysis, crowd, distinct, samples, error);
    else if (status >= 0) {
        status = look(analysis, crowd, &analysis->points, every, samples, error);
        if (status >= 0) status = find_distances(analysis, search->plan, distinct, samples);
        if (status >= 0 && every == 1) status = rsc_loops_count_lines(analysis, crowd, &analysis->points, samples);
    }
    if (status >= 0 && windows) status = rsc_windows_look(windows, crowd, error);
    rsc_crowd_free(crowd);
    return status;
}
