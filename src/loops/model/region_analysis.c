/*
 * region_analysis.c - one region at any number of threads: points, intervals, distances,
 * curve; see loops_model.h and docs/design/loops.md.
 */
#include "loops/model/region_analysis.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/fail.h"
#include "base/search.h"
#include "base/seconds.h"
#include "estimate/statistics.h"
#include "loops/nest/distinct.h"
#include "loops/model/interleave.h"
#include "loops/model/oracle.h"

#define THREADS_MAX 4096u
/*
 * At the default number of samples a further number of threads may cost WORK
 * searches (about 10 ms), but uses at least POINTS_ENOUGH points. At 64 threads,
 * half the kernels: mean error with 1536 of them 0.57, 0.60, 0.59 and 0.44% of the
 * curve (lockstep, iid, drift, bursty), with 768 0.64, 0.79, 0.73 and 0.44%; the
 * slowest rectangular nests take 10 ms with 768, 17 with 1536.
 */
#define WORK 20000.0
#define POINTS_ENOUGH 768.0
#define PILOT 48u
/* The other interleavings span a band and need less precision: searches for each, and the minimum of points. */
#define BAND_WORK 5000.0
#define BAND_POINTS_LEAST 128.0
#define BAND_POINTS 320.0

int rsc_loops_analysis_new(struct rsc_loops_analysis **out, const struct rsc_loop_program *program, uint32_t region,
                           const struct rsc_loops_options *options, struct rsc_error *error) {
    if (region >= program->region_count)
        return rsc_fail(error, RSC_EINVAL, "region %u: there are %u", region, program->region_count);
    if (!options->line_bytes || options->line_bytes & (options->line_bytes - 1))
        return rsc_fail(error, RSC_EINVAL, "line size %llu: not a power of two",
                        (unsigned long long)options->line_bytes);
    if (!(options->confidence > 0 && options->confidence < 100))
        return rsc_fail(error, RSC_EINVAL, "confidence %g: not between 0 and 100", options->confidence);
    struct rsc_loops_analysis *analysis = calloc(1, sizeof *analysis);
    if (!analysis) return rsc_fail_memory(error, "analysis of loops");
    struct rsc_plan *plan = NULL;
    struct rsc_search *search = NULL;
    analysis->program = program;
    analysis->region = region;
    analysis->options = *options;
    if (error) memset(error, 0, sizeof *error);
    int status = rsc_nest_new(&analysis->nest, program, region, UINT32_MAX, options->line_bytes, error);
    if (status >= 0) status = rsc_plan_new(&plan, analysis->nest, 1, options->schedule, error);
    if (status >= 0) status = rsc_search_new(&search, plan, error);
    if (status >= 0)
        status = rsc_points_new(&analysis->points, analysis->nest, region, options->line_bytes, options->samples,
                                options->seed, error);
    if (status >= 0) {
        analysis->lines = calloc(analysis->nest->space_count + 1, sizeof *analysis->lines);
        status = analysis->lines
                     ? rsc_distinct_lines(search, RSC_ALL_THREADS, options->line_bytes, 0, analysis->lines, error)
                     : rsc_fail_memory(error, "analysis of loops");
    }
    if (status >= 0) {
        analysis->distinct = rsc_distinct_sum(analysis->nest, analysis->lines);
        analysis->references = (uint64_t)plan->phase_start[analysis->nest->phase_count];
    }
    for (uint32_t i = 0; i < program->array_count; i++) analysis->has_private |= program->array[i].is_private;
    analysis->normal = status >= 0 ? malloc(RSC_NORMALS * sizeof *analysis->normal) : NULL;
    if (status >= 0 && !analysis->normal) status = rsc_fail_memory(error, "analysis of loops");
    for (uint32_t i = 0; status >= 0 && i < RSC_NORMALS; i++)
        analysis->normal[i] = (float)rsc_normal_quantile((i + 0.5) / RSC_NORMALS);
    rsc_search_free(search);
    rsc_plan_free(plan);
    if (status < 0) {
        rsc_loops_analysis_free(analysis);
        return status;
    }
    *out = analysis;
    return 0;
}

void rsc_loops_analysis_free(struct rsc_loops_analysis *analysis) {
    if (!analysis) return;
    rsc_points_free(&analysis->points);
    rsc_nest_free(analysis->nest);
    free(analysis->normal);
    free(analysis->lines);
    free(analysis);
}

uint64_t rsc_loops_references(const struct rsc_loops_analysis *analysis) { return analysis->references; }
uint64_t rsc_loops_distinct(const struct rsc_loops_analysis *analysis) { return analysis->distinct; }

/* ---- samples ---- */

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

/*
 * How many points to skip at this number of threads. The cost of a point is about its
 * number of searches and of threads drawn, measured on a few of them.
 */
static uint32_t thin(struct rsc_crowd *crowd, const struct rsc_points *points, struct rsc_loops_samples *samples) {
    size_t step = points->count / PILOT + 1, tried = 0;
    uint64_t before = crowd->search->searches;
    for (size_t i = step / 2; i < points->count; i += step, tried++) {
        sample_point(crowd, &points->point[i], samples);
        samples->count = 0;
    }
    if (!tried) return 1;
    double each = (double)(crowd->search->searches - before) / (double)tried + crowd->plan->threads / 10.0;
    double wanted = WORK / each;
    if (wanted < POINTS_ENOUGH) wanted = POINTS_ENOUGH;
    return wanted < (double)points->count ? (uint32_t)ceil((double)points->count / wanted) : 1;
}

/* Fills samples by the crowd model: every `every`-th point. Uses `windows` too if not NULL. */
static int sample_crowd(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                        const struct rsc_interleave *interleave, uint32_t every, struct rsc_loops_samples *samples,
                        struct rsc_windows *windows, struct rsc_error *error) {
    struct rsc_crowd *crowd = NULL;
    struct rsc_nest *nest = analysis->nest;
    int status = rsc_loops_samples_new(samples, analysis->points.count, error);
    if (status >= 0)
        status = rsc_crowd_new(&crowd, search, interleave, analysis->normal, analysis->options.line_bytes,
                               analysis->options.seed + search->plan->threads, error);
    if (status >= 0 && every == 1 && analysis->options.samples == RSC_LOOPS_SAMPLES_DEFAULT)
        every = thin(crowd, &analysis->points, samples);
    for (size_t i = 0; status >= 0 && i < analysis->points.count; i++) {
        const struct rsc_point *point = &analysis->points.point[i];
        uint32_t place = (uint32_t)i - analysis->points.first[point->reference];
        if (every > 1 && place % every && place >= RSC_POINTS_LEAST) continue;
        sample_point(crowd, point, samples);
        if (nest->status < 0)
            status = rsc_fail(error, nest->status, "%s: this nest is too large to analyse", nest->region->name);
    }
    if (status >= 0 && windows) status = rsc_windows_look(windows, crowd, error);
    rsc_crowd_free(crowd);
    if (status < 0) return status;
    rsc_loops_samples_weigh(&analysis->points, samples, search->plan->phase_start[nest->phase_count]);
    return 0;
}

/* ---- curves ---- */

size_t rsc_loops_grid(uint64_t lines, uint64_t *size) {
    size_t count = 0;
    for (int k = 0; count < RSC_LOOPS_GRID_MAX; k++) {
        uint64_t next = (uint64_t)(exp2(k / 8.0) + 0.5);
        if (count && next == size[count - 1]) continue;
        size[count++] = next;
        if (next >= lines) break;
    }
    return count;
}

static size_t sizes_up_to(const uint64_t *size, size_t sizes, double distance) {
    return RSC_SEARCH(0, sizes, i, (double)size[i] <= distance);
}

int rsc_loops_curve(const struct rsc_loops_samples *samples, uint32_t reference_count, const uint64_t *size,
                    size_t sizes, double confidence, uint64_t line_bytes, struct rsc_mrc_point *mrc) {
    /* by[r][g]: reuses of reference r that miss in the first g sizes only */
    double *by = calloc((size_t)reference_count * (sizes + 1), sizeof *by);
    double *weight = calloc(reference_count + 1, sizeof *weight), *reuses = calloc(reference_count + 1, sizeof *reuses);
    if (!by || !weight || !reuses) {
        free(by);
        free(weight);
        free(reuses);
        return RSC_ENOMEM;
    }
    double all = 0;
    for (size_t i = 0; i < samples->count; i++) {
        const struct rsc_reuse_sample *sample = &samples->sample[i];
        if (sample->interval <= 0) continue;
        uint32_t r = samples->reference[i];
        by[(size_t)r * (sizes + 1) + sizes_up_to(size, sizes, sample->distance)]++;
        reuses[r]++;
        weight[r] += sample->weight;
        all += sample->weight;
    }
    for (uint32_t r = 0; r < reference_count; r++)
        for (size_t g = sizes; g-- > 0;) by[(size_t)r * (sizes + 1) + g] += by[(size_t)r * (sizes + 1) + g + 1];
    double z = rsc_normal_quantile(0.5 + confidence / 200), cold = samples->cold / samples->references;
    for (size_t g = 0; g < sizes; g++) {
        double missing = 0, variance = 0;
        for (uint32_t r = 0; r < reference_count; r++) {
            if (reuses[r] <= 0 || all <= 0) continue;
            double part = weight[r] / all, misses = by[(size_t)r * (sizes + 1) + g + 1], n = reuses[r];
            missing += part * misses / n;
            double p = (misses + 0.5) / (n + 1);
            variance += part * part * p * (1 - p) / n;
        }
        double ratio = cold + (1 - cold) * fmin(missing, 1), half = (1 - cold) * z * sqrt(variance);
        if (samples->lines > 0 && (double)size[g] >= samples->lines) {
            ratio = cold;
            half = 0;
        }
        double low = ratio - half, high = ratio + half;
        mrc[g] = (struct rsc_mrc_point){.lines = size[g],
                                        .bytes = size[g] * line_bytes,
                                        .miss_ratio = ratio,
                                        .low = low < cold ? cold : low,
                                        .high = high > 1 ? 1 : high};
        if (mrc[g].low > ratio) mrc[g].low = ratio;
    }
    free(by);
    free(weight);
    free(reuses);
    return 0;
}

/* ---- results ---- */

static int add_rows(struct rsc_loops_analysis *analysis, struct rsc_loops_result *result, uint32_t threads) {
    struct rsc_nest *nest = analysis->nest;
    result->rows = calloc(nest->reference_count + 1, sizeof *result->rows);
    if (!result->rows) return RSC_ENOMEM;
    for (uint32_t r = 0; r < nest->reference_count; r++) {
        struct rsc_loops_row *row = &result->rows[r];
        const struct rsc_loop_node *from = nest->reference[r]->from;
        row->file = from->file ? from->file : nest->region->file;
        row->line = from->line;
        row->array = analysis->program->array[from->array].name;
        row->text = from->text;
        row->is_write = from->is_write;
        row->references = analysis->points.references[r];
        if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE) < 0) return RSC_ENOMEM;
        result->row_count++;
    }
    for (uint32_t i = 0; i < nest->item_count; i++) { /* replicated work counts once per thread */
        if (nest->item[i].who != RSC_RUN_BY_ALL) continue;
        uint32_t limit = nest->item[i].thread_limit, times = limit && limit < threads ? limit : threads;
        for (uint32_t r = 0; r < nest->reference_count; r++) {
            const struct rsc_nest_node *node = nest->reference[r];
            while (node && node != nest->item[i].node) node = node->parent;
            if (node) result->rows[r].references *= times;
        }
    }
    return 0;
}

static int fill_from_samples(struct rsc_loops_result *result, const struct rsc_loops_samples *samples) {
    double *reuses = calloc(result->row_count + 1, sizeof *reuses), *fine = calloc(result->ri.bin_count, sizeof *fine);
    int status = reuses && fine ? 0 : RSC_ENOMEM;
    for (size_t i = 0; status >= 0 && i < samples->count; i++) {
        struct rsc_loops_row *row = &result->rows[samples->reference[i]];
        const struct rsc_reuse_sample *sample = &samples->sample[i];
        row->samples++;
        if (sample->interval <= 0) continue;
        reuses[samples->reference[i]] += sample->weight;
        fine[rsc_bin_of_fine((uint64_t)sample->interval)] += sample->weight;
        row->rd.count[rsc_bin_of_coarse((uint64_t)sample->distance)]++;
    }
    for (uint32_t b = 0; status >= 0 && b < result->ri.bin_count; b++) result->ri.count[b] = (uint64_t)(fine[b] + 0.5);
    if (status >= 0) status = rsc_histogram_scale_to(&result->ri, result->references - result->distinct);
    for (size_t r = 0; status >= 0 && r < result->row_count; r++) {
        struct rsc_loops_row *row = &result->rows[r];
        row->cold = (double)row->references - reuses[r];
        if (row->cold < 0) row->cold = 0;
        status = rsc_histogram_scale_to(&row->rd, row->references - (uint64_t)(row->cold + 0.5));
    }
    result->samples = samples->count;
    free(reuses);
    free(fine);
    return status;
}

static int exact_at_one(struct rsc_loops_analysis *analysis, struct rsc_plan *plan, struct rsc_loops_result *result,
                        const uint64_t *size, struct rsc_error *error) {
    struct rsc_oracle oracle;
    struct rsc_interleave lockstep = {.kind = RSC_INTERLEAVE_LOCKSTEP};
    int status = rsc_oracle_run(&oracle, plan, &lockstep, analysis->options.line_bytes, 0, 1, NULL, NULL, error);
    if (status >= 0) {
        result->exact = 1;
        result->samples = oracle.references;
        result->references = oracle.references;
        result->distinct = oracle.distinct;
        rsc_histogram_merge(&result->ri, &oracle.ri);
        for (size_t g = 0; g < result->mrc_count; g++) {
            double ratio = rsc_oracle_miss_ratio(&oracle, size[g]);
            result->mrc[g] =
                (struct rsc_mrc_point){size[g], size[g] * analysis->options.line_bytes, ratio, ratio, ratio};
        }
        for (size_t r = 0; r < result->row_count; r++) {
            result->rows[r].references = result->rows[r].samples = oracle.count_by_reference[r];
            result->rows[r].cold = (double)oracle.cold_by_reference[r];
            rsc_histogram_merge(&result->rows[r].rd, &oracle.by_reference[r]);
        }
    }
    rsc_oracle_free(&oracle);
    return status;
}

static int sample_model(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                        const struct rsc_interleave *interleave, uint32_t every, double distinct, const uint64_t *size,
                        size_t sizes, struct rsc_loops_samples *samples, struct rsc_mrc_point *mrc,
                        struct rsc_error *error) {
    int racetrack = interleave->kind == RSC_INTERLEAVE_RACETRACK, status;
    struct rsc_nest *nest = analysis->nest;
    const double *cut = search->plan->phase_start + 1;
    struct rsc_windows windows = {0};
    if ((interleave->kind == RSC_INTERLEAVE_BURSTY || interleave->kind == RSC_INTERLEAVE_IID) && !search->plan->deals &&
        rsc_plan_has_dealing(search->plan)) { /* the assignment of chunks depends on which thread comes first */
        struct rsc_plan *plan = NULL;
        struct rsc_search *dealt = NULL;
        status = rsc_plan_new(&plan, nest, search->plan->threads, analysis->options.schedule, error);
        if (status >= 0) rsc_plan_deal_as(plan, interleave, analysis->options.seed);
        if (status >= 0) status = rsc_search_new(&dealt, plan, error);
        if (status >= 0)
            status = sample_model(analysis, dealt, interleave, every, distinct, size, sizes, samples, mrc, error);
        rsc_search_free(dealt);
        rsc_plan_free(plan);
        return status;
    }
    if (racetrack) {
        status = rsc_loops_sample_racetrack(analysis, search->plan->threads, every, samples, error);
    } else {
        status = sample_crowd(analysis, search, interleave, every, samples, every == 1 ? &windows : NULL, error);
        samples->cold = distinct;
        if (status >= 0) status = know_first_uses(analysis, samples);
    }
    samples->lines = distinct;
    if (status >= 0)
        status = rsc_footprint_distances(samples->sample, samples->count, samples->references, samples->cold, cut,
                                         racetrack || !nest->phase_count ? 0 : nest->phase_count - 1,
                                         racetrack ? 1 : RSC_LOOPS_SLICES);
    struct rsc_chance chance = {0};
    rsc_rng_seed(&chance.rng, analysis->options.seed, 64);
    for (size_t i = 0; status >= 0 && windows.first && i < samples->count; i++)
        rsc_windows_distance(&windows, samples->reference[i], samples->sample[i].interval, &chance,
                             &samples->sample[i].distance);
    rsc_windows_free(&windows);
    for (size_t i = 0; status >= 0 && i < samples->count; i++) /* no more than all the other lines */
        if (samples->sample[i].distance > distinct - 1) samples->sample[i].distance = distinct - 1;
    if (status >= 0)
        status = rsc_loops_curve(samples, nest->reference_count, size, sizes, analysis->options.confidence,
                                 analysis->options.line_bytes, mrc);
    return status;
}

/* Widens the curve's error bars to include the other interleavings. */
static int widen(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                 const struct rsc_interleave *interleave, struct rsc_loops_result *result, double searches_each,
                 const uint64_t *size, struct rsc_error *error) {
    struct rsc_mrc_point *mrc = calloc(result->mrc_count + 1, sizeof *mrc);
    if (!mrc) return RSC_ENOMEM;
    int status = 0;
    double cold = (double)result->distinct / (double)result->references;
    double wanted = BAND_WORK / (searches_each + 1);
    wanted = wanted < BAND_POINTS_LEAST ? BAND_POINTS_LEAST : wanted > BAND_POINTS ? BAND_POINTS : wanted;
    uint32_t every = (uint32_t)((double)analysis->points.count / wanted) + 1;
    for (int kind = 0; kind < RSC_INTERLEAVE_KINDS && status >= 0; kind++) {
        if (kind == (int)interleave->kind) continue;
        struct rsc_interleave other = {.kind = kind, .burst = RSC_BURST_DEFAULT, .diffusion = RSC_DIFFUSION_DEFAULT};
        struct rsc_loops_samples samples;
        status = sample_model(analysis, search, &other, every, (double)result->distinct, size, result->mrc_count,
                              &samples, mrc, error);
        for (size_t g = 0; status >= 0 && g < result->mrc_count && size[g] < result->distinct; g++) {
            if (mrc[g].miss_ratio < result->mrc[g].low) result->mrc[g].low = fmax(mrc[g].miss_ratio, cold);
            if (mrc[g].miss_ratio > result->mrc[g].high) result->mrc[g].high = mrc[g].miss_ratio;
        }
        rsc_loops_samples_free(&samples);
    }
    free(mrc);
    return status;
}

/* Code that one thread runs is the same at any number of threads. */
static int is_sequential(const struct rsc_nest *nest) {
    for (uint32_t i = 0; i < nest->item_count; i++)
        if (nest->item[i].who != RSC_RUN_BY_ONE) return 0;
    return 1;
}

int rsc_loops_analyse(struct rsc_loops_analysis *analysis, uint32_t threads, const struct rsc_interleave *interleave,
                      struct rsc_loops_result **out, struct rsc_error *error) {
    double started = rsc_seconds_now();
    if (!threads || threads > THREADS_MAX)
        return rsc_fail(error, RSC_EINVAL, "%u threads: not 1 to %u", threads, THREADS_MAX);
    uint32_t running = is_sequential(analysis->nest) ? 1 : threads;
    struct rsc_loops_result *result = calloc(1, sizeof *result);
    struct rsc_plan *plan = NULL;
    struct rsc_search *search = NULL;
    struct rsc_loops_samples samples = {0};
    uint64_t size[RSC_LOOPS_GRID_MAX];
    if (!result) return rsc_fail_memory(error, "analysis of loops");
    rsc_nest_trim(analysis->nest);
    int status = rsc_histogram_init(&result->ri, RSC_BINS_FINE);
    if (status >= 0) status = rsc_plan_new(&plan, analysis->nest, running, analysis->options.schedule, error);
    if (status >= 0) status = rsc_search_new(&search, plan, error);
    if (status < 0) goto out;
    result->threads = threads;
    rsc_interleave_name(interleave, result->interleave, sizeof result->interleave);
    result->references = (uint64_t)plan->phase_start[analysis->nest->phase_count];
    if (analysis->has_private) status = rsc_distinct_own(search, analysis->options.line_bytes, analysis->lines, error);
    result->distinct = rsc_distinct_sum(analysis->nest, analysis->lines);
    if (status >= 0) status = add_rows(analysis, result, running);
    result->mrc_count = result->references ? rsc_loops_grid(result->distinct, size) : 0;
    result->mrc = calloc(result->mrc_count + 1, sizeof *result->mrc);
    if (!result->mrc) status = RSC_ENOMEM;
    if (status < 0 || !result->references) goto out;
    if (running == 1 && result->references <= analysis->options.exact_limit) {
        status = exact_at_one(analysis, plan, result, size, error);
    } else {
        /* One thread is not interleaved with anything. */
        struct rsc_interleave alone = {.kind = RSC_INTERLEAVE_LOCKSTEP};
        const struct rsc_interleave *model = running > 1 ? interleave : &alone;
        uint64_t before = search->searches;
        status = sample_model(analysis, search, model, 1, (double)result->distinct, size, result->mrc_count, &samples,
                              result->mrc, error);
        double searches_each = (double)(search->searches - before) / (double)(samples.count + 1);
        if (status >= 0) status = fill_from_samples(result, &samples);
        if (status >= 0 && analysis->options.band && running > 1)
            status = widen(analysis, search, interleave, result, searches_each, size, error);
    }
    if (status >= 0 && analysis->options.private_view && running > 1)
        status = rsc_loops_private_view(analysis, search, interleave, &result->own, error);
out:
    rsc_loops_samples_free(&samples);
    rsc_search_free(search);
    rsc_plan_free(plan);
    if (status == RSC_ENOMEM) rsc_fail_memory(error, "analysis of loops");
    if (status < 0) {
        rsc_loops_result_free(result);
        return status;
    }
    result->seconds = rsc_seconds_now() - started;
    *out = result;
    return 0;
}
