/*
 * region_analysis.c - one region at any number of threads: points, intervals, distances,
 * curve; see loops_model.h and docs/design/loops.md.
 */
#include "loops/model/region_analysis.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <reusescope/trace.h>

#include "base/fail.h"
#include "base/seconds.h"
#include "estimate/statistics.h"
#include "loops/nest/distinct.h"
#include "loops/model/interleave.h"
#include "loops/model/oracle.h"
#include "loops/model/stream.h"

#define THREADS_MAX 4096u
#define POINTS 3072u /* for pilots, bands, racetrack and the private view, unless a number is given */
/* The other interleavings span a band and need less precision: searches for each, and the minimum of points. */
#define BAND_WORK 5000.0
#define BAND_POINTS_LEAST 128.0
#define BAND_POINTS 320.0
/* Small regions: references simulated for each number of threads (some 40 ms), draws of the interleaving, and sizes
 * on each side whose draws differ alike. */
#define DRAWN_REFERENCES (UINT64_C(1) << 20)
#define DRAWS_LEAST 2u
#define DRAWS_MOST 8u
#define NEAR_SIZES 2u
#define REPLAYED_AT_ONCE 1024u
/* Chunks given out in all draws: some 3 ms. */
#define DEALT_CHUNKS UINT64_C(32768)
#define DEAL_SEED UINT64_C(0xA0761D6478BD642F) /* apart from those of segments */

static int stopped(const struct rsc_loop_program *program) { return program->watch && program->watch->stopped; }

static int out_of_time(const struct rsc_loop_program *program, uint32_t region, struct rsc_error *error) {
    return rsc_fail(error, RSC_ELIMIT, "%s: out of time", program->region[region].name);
}

static int is_rectangular(const struct rsc_nest *nest) {
    for (uint32_t r = 0; r < nest->reference_count; r++) {
        if (nest->reference[r]->check_count) return 0;
        for (uint32_t d = 0; d < nest->reference[r]->path_length; d++)
            if (!nest->reference[r]->path[d]->fixed) return 0;
    }
    return 1;
}

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
        status = rsc_points_new(&analysis->points, analysis->nest, region, options->line_bytes,
                                options->samples == RSC_LOOPS_SAMPLES_AUTO ? POINTS : options->samples, options->seed,
                                error);
    if (status >= 0) {
        analysis->lines = calloc(analysis->nest->space_count + 1, sizeof *analysis->lines);
        analysis->picks = calloc(analysis->nest->space_count + 1, sizeof *analysis->picks);
        status = analysis->lines && analysis->picks ? rsc_distinct_lines(search, RSC_ALL_THREADS, options->line_bytes,
                                                                         0, analysis->lines, analysis->picks, error)
                                                    : rsc_fail_memory(error, "analysis of loops");
    }
    if (status >= 0) {
        analysis->distinct = rsc_distinct_sum(analysis->nest, analysis->lines);
        analysis->rectangular = is_rectangular(analysis->nest);
        analysis->references = (uint64_t)plan->phase_start[analysis->nest->phase_count];
    }
    for (uint32_t i = 0; i < program->array_count; i++) analysis->has_private |= program->array[i].is_private;
    analysis->normal = status >= 0 ? malloc(RSC_NORMALS * sizeof *analysis->normal) : NULL;
    if (status >= 0 && !analysis->normal) status = rsc_fail_memory(error, "analysis of loops");
    for (uint32_t i = 0; status >= 0 && i < RSC_NORMALS; i++)
        analysis->normal[i] = (float)rsc_normal_quantile((i + 0.5) / RSC_NORMALS);
    rsc_search_free(search);
    rsc_plan_free(plan);
    if (stopped(program)) status = out_of_time(program, region, error);
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
    rsc_loops_strata_free(&analysis->strata);
    rsc_nest_free(analysis->nest);
    free(analysis->normal);
    free(analysis->lines);
    free(analysis->picks);
    free(analysis);
}

uint64_t rsc_loops_references(const struct rsc_loops_analysis *analysis) { return analysis->references; }
uint64_t rsc_loops_distinct(const struct rsc_loops_analysis *analysis) { return analysis->distinct; }

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

/* Curve, intervals and rows of a simulation. */
static void take_simulation(struct rsc_loops_result *result, const struct rsc_oracle *oracle, const uint64_t *size,
                            uint64_t line_bytes) {
    result->samples = oracle->references;
    result->references = oracle->references;
    result->distinct = oracle->distinct;
    rsc_histogram_merge(&result->ri, &oracle->ri);
    for (size_t g = 0; g < result->mrc_count; g++) {
        double ratio = rsc_oracle_miss_ratio(oracle, size[g]);
        result->mrc[g] = (struct rsc_mrc_point){size[g], size[g] * line_bytes, ratio, ratio, ratio};
    }
    for (size_t r = 0; r < result->row_count; r++) {
        result->rows[r].references = result->rows[r].samples = oracle->count_by_reference[r];
        result->rows[r].cold = (double)oracle->cold_by_reference[r];
        rsc_histogram_merge(&result->rows[r].rd, &oracle->by_reference[r]);
    }
}

static int exact_at_one(struct rsc_loops_analysis *analysis, struct rsc_plan *plan, struct rsc_loops_result *result,
                        const uint64_t *size, struct rsc_error *error) {
    struct rsc_oracle oracle;
    struct rsc_interleave lockstep = {.kind = RSC_INTERLEAVE_LOCKSTEP};
    int status = rsc_oracle_run(&oracle, plan, &lockstep, analysis->options.line_bytes, 0, 1, NULL, NULL, error);
    if (status >= 0) take_simulation(result, &oracle, size, analysis->options.line_bytes);
    result->exact = status >= 0;
    rsc_oracle_free(&oracle);
    return status;
}

/* Whether simulating every reference costs no more than a sample. */
static int is_small(const struct rsc_loops_analysis *analysis, uint64_t references,
                    const struct rsc_interleave *interleave) {
    return analysis->options.samples == RSC_LOOPS_SAMPLES_AUTO && references <= analysis->options.whole_limit &&
           interleave->kind != RSC_INTERLEAVE_RACETRACK;
}

/*
 * Simulates the interleaving several times: the curve is the mean, and bars hold one more draw, by the variance among
 * the draws at this size and nearby ones.
 */
static int simulate_whole(struct rsc_loops_analysis *analysis, struct rsc_plan *plan,
                          const struct rsc_interleave *interleave, struct rsc_loops_result *result,
                          const uint64_t *size, struct rsc_error *error) {
    struct rsc_oracle oracle;
    double ratio[DRAWS_MOST][RSC_LOOPS_GRID_MAX], variance[RSC_LOOPS_GRID_MAX] = {0};
    uint64_t line_bytes = analysis->options.line_bytes, fit = DRAWN_REFERENCES / result->references;
    uint32_t draws = fit < DRAWS_LEAST ? DRAWS_LEAST : fit > DRAWS_MOST ? DRAWS_MOST : (uint32_t)fit;
    if (interleave->kind == RSC_INTERLEAVE_LOCKSTEP) draws = 1;
    int status = 0;
    for (uint32_t k = 0; k < draws && status >= 0; k++) {
        status = rsc_oracle_run(&oracle, plan, interleave, line_bytes, DRAWS_MOST * analysis->options.seed + k, !k,
                                NULL, NULL, error);
        if (status >= 0 && !k) take_simulation(result, &oracle, size, line_bytes);
        for (size_t g = 0; status >= 0 && g < result->mrc_count; g++)
            ratio[k][g] = rsc_oracle_miss_ratio(&oracle, size[g]);
        rsc_oracle_free(&oracle);
    }
    if (status < 0 || draws == 1) return status;
    /* A variance of few draws is itself uncertain; nearby sizes, which are alike but not the same, count as twice as many. */
    double z = rsc_student_quantile(0.5 + analysis->options.confidence / 200, 2 * (draws - 1));
    for (size_t g = 0; g < result->mrc_count; g++) {
        double sum = 0;
        for (uint32_t k = 0; k < draws; k++) sum += ratio[k][g];
        result->mrc[g].miss_ratio = sum / draws;
        for (uint32_t k = 0; k < draws; k++)
            variance[g] += (ratio[k][g] - sum / draws) * (ratio[k][g] - sum / draws) / (draws - 1);
    }
    double cold = (double)result->distinct / (double)result->references;
    for (size_t g = 0; g < result->mrc_count; g++) {
        struct rsc_mrc_point *at = &result->mrc[g];
        size_t from = g < NEAR_SIZES ? 0 : g - NEAR_SIZES, count = 0;
        double near = 0;
        for (size_t k = from; k < result->mrc_count && k <= g + NEAR_SIZES; k++, count++) near += variance[k];
        double half = z * sqrt((1 + 1.0 / draws) * fmax(variance[g], near / (double)count));
        if (size[g] >= result->distinct) half = 0, at->miss_ratio = cold;
        at->low = fmax(at->miss_ratio - half, fmin(cold, at->miss_ratio));
        at->high = fmin(at->miss_ratio + half, 1);
    }
    return 0;
}

/*
 * Which threads get which chunks depends on which comes first: plans of that, one for each of up to `most` draws of the
 * interleaving, if they take little time; fewer, or none where it does not matter.
 */
static int deal(const struct rsc_loops_analysis *analysis, const struct rsc_plan *even,
                const struct rsc_interleave *interleave, uint32_t most, struct rsc_plan **dealt, uint32_t *count,
                struct rsc_error *error) {
    struct rsc_nest *nest = analysis->nest;
    uint64_t chunks = 1;
    if (interleave->kind == RSC_INTERLEAVE_LOCKSTEP || !rsc_plan_has_dealing(even)) return 0;
    for (uint32_t k = 0; k < most && (k + 1) * chunks <= DEALT_CHUNKS; k++) {
        int status = rsc_plan_new(&dealt[k], nest, even->threads, analysis->options.schedule, error);
        if (status < 0) return status;
        *count = k + 1;
        rsc_plan_deal_as(dealt[k], interleave, analysis->options.seed + k * DEAL_SEED);
        if (nest->phase_count > RSC_LEADS_PHASES) break; /* they even out */
        for (uint32_t s = 0; !k && s < nest->segment_count; s++) {
            const struct rsc_view *view = rsc_plan_view(dealt[0], s);
            if (!view) return nest->status;
            chunks += view->chunk_count;
        }
    }
    return 0;
}

static int sample_model(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                        const struct rsc_interleave *interleave, uint32_t every, double distinct, const uint64_t *size,
                        size_t sizes, struct rsc_loops_samples *samples, struct rsc_mrc_point *mrc,
                        const struct rsc_loops_known *known, struct rsc_error *error) {
    int status = 0;
    struct rsc_nest *nest = analysis->nest;
    struct rsc_windows windows = {0};
    if (interleave->kind == RSC_INTERLEAVE_RACETRACK) {
        if (known) status = known->begin(analysis, known->context, 0);
        if (status < 0) return status;
        status = rsc_loops_sample_racetrack(analysis, search->plan->threads, every, samples, error);
        samples->lines = distinct;
        if (status >= 0)
            status = rsc_footprint_distances(samples->sample, samples->count, samples->references, samples->cold, NULL,
                                             0, 1);
    } else {
        struct rsc_plan *even = search->plan, *dealt[RSC_CROWD_DRAWS] = {0};
        uint32_t dealings = 0;
        status = deal(analysis, even, interleave, every == 1 ? RSC_CROWD_DRAWS : 1, dealt, &dealings, error);
        if (dealings) search->plan = dealt[0];
        if (status >= 0)
            status = rsc_loops_sample_crowd(analysis, search, interleave, every, distinct, samples,
                                            every == 1 ? &windows : NULL, dealt, dealings, known, error);
        search->plan = even;
        for (uint32_t k = 0; k < dealings; k++) rsc_plan_free(dealt[k]);
    }
    struct rsc_chance chance = {0};
    rsc_rng_seed(&chance.rng, analysis->options.seed, 64);
    for (size_t i = 0; status >= 0 && windows.first && i < samples->count; i++)
        if (!samples->long_lines || samples->sample[i].distance < samples->long_lines)
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

/* ---- the band ---- */

/* One of the other interleavings. */
struct band_member {
    struct rsc_interleave interleave;
    uint32_t every; /* of the points */
    const struct rsc_search *search; /* to be copied */
    uint64_t references, distinct; /* as in the result, which the curve's thread writes */
    size_t size_count;
    const uint64_t *size;
    struct rsc_mrc_point *mrc; /* what it makes */
};

static int sample_member(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                         const struct band_member *member, struct rsc_error *error) {
    struct rsc_loops_samples samples = {0};
    struct rsc_oracle drawn;
    int status;
    if (!is_small(analysis, member->references, &member->interleave)) {
        status = sample_model(analysis, search, &member->interleave, member->every, (double)member->distinct,
                              member->size, member->size_count, &samples, member->mrc, NULL, error);
        rsc_loops_samples_free(&samples);
        return status;
    }
    status = rsc_oracle_run(&drawn, search->plan, &member->interleave, analysis->options.line_bytes,
                            analysis->options.seed, 0, NULL, NULL, error);
    for (size_t g = 0; status >= 0 && g < member->size_count; g++)
        member->mrc[g].miss_ratio = rsc_oracle_miss_ratio(&drawn, member->size[g]);
    rsc_oracle_free(&drawn);
    return status;
}

static int make_member(struct rsc_loops_analysis *analysis, void *context, struct rsc_error *error) {
    const struct band_member *member = context;
    struct rsc_search search = *member->search;
    return sample_member(analysis, &search, member, error);
}

struct band {
    struct band_member member[RSC_INTERLEAVE_KINDS];
    unsigned members;
};

/* Widens the curve's error bars to include the other interleavings, which are all made. */
static void widen(const struct band *band, const uint64_t *size, struct rsc_loops_result *result) {
    double cold = (double)result->distinct / (double)result->references;
    for (unsigned k = 0; k < band->members; k++)
        for (size_t g = 0; g < result->mrc_count && size[g] < result->distinct; g++) {
            double ratio = band->member[k].mrc[g].miss_ratio;
            if (ratio < result->mrc[g].low) result->mrc[g].low = fmax(ratio, cold);
            if (ratio > result->mrc[g].high) result->mrc[g].high = ratio;
        }
}

/* ---- the private view ---- */

struct private_part {
    const struct rsc_search *search; /* to be copied */
    const struct rsc_interleave *interleave;
    struct rsc_loops_private *own;
};

static int make_private(struct rsc_loops_analysis *analysis, void *context, struct rsc_error *error) {
    struct private_part *part = context;
    struct rsc_search search = *part->search;
    return rsc_loops_private_view(analysis, &search, part->interleave, part->own, error);
}

/* ---- the curve ---- */

struct curve_part {
    const struct rsc_search *search; /* to be copied */
    const struct rsc_interleave *interleave;
    struct rsc_loops_result *result;
    const uint64_t *size;
    struct band band; /* of several threads, begun once it is known what a point takes */
};

/* Begins all members of the band. */
static int begin_band(struct rsc_loops_analysis *analysis, void *context, double searches_each) {
    struct curve_part *part = context;
    struct band *band = &part->band;
    double wanted = BAND_WORK / (searches_each + 1);
    wanted = wanted < BAND_POINTS_LEAST ? BAND_POINTS_LEAST : wanted > BAND_POINTS ? BAND_POINTS : wanted;
    for (int kind = 0; kind < RSC_INTERLEAVE_KINDS; kind++) {
        struct band_member *member = &band->member[band->members];
        if (kind == (int)part->interleave->kind) continue;
        *member = (struct band_member){
            .interleave = {.kind = kind, .burst = RSC_BURST_DEFAULT, .diffusion = RSC_DIFFUSION_DEFAULT},
            .every = (uint32_t)fmax((double)analysis->points.count / wanted, 1) + 1, /* 1 would be the curve itself */
            .search = part->search,
            .references = part->result->references,
            .distinct = part->result->distinct,
            .size_count = part->result->mrc_count,
            .size = part->size,
            .mrc = calloc(part->result->mrc_count + 1, sizeof *member->mrc)};
        if (!member->mrc) return RSC_ENOMEM;
        band->members++;
        rsc_loops_team_add(analysis->team, make_member, member);
    }
    return 0;
}

static int make_curve(struct rsc_loops_analysis *analysis, void *context, struct rsc_error *error) {
    struct curve_part *part = context;
    struct rsc_loops_result *result = part->result;
    struct rsc_loops_samples samples = {0};
    struct rsc_search search = *part->search;
    const struct rsc_interleave alone = {.kind = RSC_INTERLEAVE_LOCKSTEP}; /* one thread, interleaved with nothing */
    uint32_t running = search.plan->threads;
    const struct rsc_loops_known known = {begin_band, part};
    int band = running > 1 && analysis->options.band, status = 0;
    if (running == 1 && result->references <= analysis->options.exact_limit)
        return exact_at_one(analysis, search.plan, result, part->size, error);
    if (running > 1 && is_small(analysis, result->references, part->interleave)) {
        if (band) status = begin_band(analysis, part, 0);
        if (status < 0) return status;
        return simulate_whole(analysis, search.plan, part->interleave, result, part->size, error);
    }
    status = sample_model(analysis, &search, running > 1 ? part->interleave : &alone, 1, (double)result->distinct,
                          part->size, result->mrc_count, &samples, result->mrc, band ? &known : NULL, error);
    if (status >= 0) status = fill_from_samples(result, &samples);
    rsc_loops_samples_free(&samples);
    return status;
}

/* ---- all of it ---- */

int rsc_loops_replay(struct rsc_loops_analysis *analysis, uint32_t threads, const struct rsc_interleave *interleave,
                     uint64_t seed, rsc_loops_visit *visit, void *context, struct rsc_error *error) {
    uint64_t line[REPLAYED_AT_ONCE], addr[REPLAYED_AT_ONCE], meta[REPLAYED_AT_ONCE];
    uint32_t reference[REPLAYED_AT_ONCE], thread[REPLAYED_AT_ONCE], count = 1;
    struct rsc_interleave order = *interleave;
    struct rsc_nest *nest = analysis->nest;
    struct rsc_plan *plan = NULL;
    struct rsc_stream *stream = NULL;
    if (order.kind == RSC_INTERLEAVE_RACETRACK) order.kind = RSC_INTERLEAVE_IID;
    int status = rsc_plan_new(&plan, nest, threads, analysis->options.schedule, error);
    if (status >= 0)
        status = rsc_stream_new(&stream, plan, &order, analysis->options.line_bytes, seed, threads > 1, error);
    while (status >= 0 && count && !rsc_nest_stopped(nest)) {
        count = rsc_stream_next(stream, line, reference, thread, REPLAYED_AT_ONCE);
        for (uint32_t i = 0; i < count; i++) {
            addr[i] = line[i] * analysis->options.line_bytes;
            meta[i] = rsc_meta(1, nest->reference[reference[i]]->is_write ? RSC_WRITE : RSC_READ, thread[i]);
        }
        if (count) status = visit(context, addr, meta, count, error);
    }
    if (status >= 0 && nest->status < 0)
        status = rsc_fail(error, nest->status, "%s: too large to be simulated", nest->region->name);
    if (stopped(analysis->program)) status = out_of_time(analysis->program, analysis->region, error);
    rsc_stream_free(stream);
    rsc_plan_free(plan);
    return status < 0 ? status : 0;
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
    uint64_t size[RSC_LOOPS_GRID_MAX];
    struct curve_part curve = {.interleave = interleave, .result = result, .size = size};
    struct private_part own = {.interleave = interleave, .own = result ? &result->own : NULL};
    if (!result) return rsc_fail_memory(error, "analysis of loops");
    rsc_nest_trim(analysis->nest);
    int status = rsc_histogram_init(&result->ri, RSC_BINS_FINE);
    if (status >= 0) status = rsc_plan_new(&plan, analysis->nest, running, analysis->options.schedule, error);
    if (status >= 0) status = rsc_search_new(&search, plan, error);
    if (status < 0) goto out;
    curve.search = own.search = search;
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
    analysis->team = rsc_loops_team_new(analysis, running > 1 || result->references > analysis->options.exact_limit);
    if (!analysis->team) status = RSC_ENOMEM;
    if (status < 0) goto out;
    if (analysis->options.private_view && running > 1) rsc_loops_team_add(analysis->team, make_private, &own);
    rsc_loops_team_add(analysis->team, make_curve, &curve);
    status = rsc_loops_team_end(analysis->team, error);
    analysis->team = NULL;
    /* A count that failed in one part may have come too late for another, or have no words yet. */
    if (analysis->nest->status < 0 && (status >= 0 || status == RSC_ELIMIT))
        status = rsc_fail(error, analysis->nest->status, "%s: this nest is too large to analyse",
                          analysis->nest->region->name);
    if (status >= 0) widen(&curve.band, size, result);
out:
    for (unsigned k = 0; k < curve.band.members; k++) free(curve.band.member[k].mrc);
    rsc_search_free(search);
    rsc_plan_free(plan);
    if (status == RSC_ENOMEM) rsc_fail_memory(error, "analysis of loops");
    if (stopped(analysis->program)) status = out_of_time(analysis->program, analysis->region, error);
    if (status < 0) {
        rsc_loops_result_free(result);
        return status;
    }
    result->seconds = rsc_seconds_now() - started;
    *out = result;
    return 0;
}
