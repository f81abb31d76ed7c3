/*
 * sampling.c - which references of a region are looked at, and how long ago their lines were used.
 *
 * An explicit number of samples is divided among references by their frequency. By default a pilot of PILOT_POINTS
 * shows which strata (strata.h) the error comes from, most of them being short reuses with no error at all. These get
 * the points (Neyman allocation: frequency times standard deviation), as many as the error needs that is left between
 * 32 KiB and the footprint, within what a further number of threads may cost.
 */
#include "loops/model/region_analysis.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

#define PILOT_POINTS 768u
/* Relative standard error wanted at each size: a factor of 1.25 is then some four of them. */
#define ERROR_WANTED 0.05
#define ERROR_LINES 512u /* 32 KiB */
/* A further number of threads may cost WORK searches (some 12 ms), but POINTS_ENOUGH points are allowed. */
#define WORK 20000.0
#define WORK_RECTANGULAR 8000.0
#define POINTS_ENOUGH 2560.0
#define POINTS_ENOUGH_RECTANGULAR 1280.0 /* also where POINTS_ENOUGH would take more than WORK_ENOUGH */
#define WORK_ENOUGH 40000.0
#define POINTS_FEWEST 1024.0
#define POINTS_MOST 6144.0
#define BAND_RUNS 4096.0 /* for a band: drawn whole only in phases of so few bursts, since points fall in many phases */
#define PILOT_LEAST 4.0 /* of each stratum */
#define WINDOWS_STREAM 66u /* of random numbers, apart from points' */

int rsc_loops_samples_new(struct rsc_loops_samples *samples, size_t count, struct rsc_error *error) {
    memset(samples, 0, sizeof *samples);
    samples->sample = calloc(count + 1, sizeof *samples->sample);
    samples->reference = calloc(count + 1, sizeof *samples->reference);
    samples->stratum = calloc(count + 1, sizeof *samples->stratum);
    samples->draw = calloc(count + 1, sizeof *samples->draw);
    samples->draws = 1;
    if (samples->sample && samples->reference && samples->stratum && samples->draw) return 0;
    rsc_loops_samples_free(samples);
    return rsc_fail_memory(error, "samples of loops");
}

void rsc_loops_samples_free(struct rsc_loops_samples *samples) {
    free(samples->sample);
    free(samples->reference);
    free(samples->stratum);
    free(samples->draw);
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

double rsc_loops_interval(struct rsc_crowd *crowd, const struct rsc_point *point, struct rsc_moment *moment) {
    struct rsc_target target = rsc_crowd_target(crowd, point);
    *moment = rsc_crowd_moment(crowd, point);
    struct rsc_touch touch = rsc_crowd_own_touch(crowd, moment, rsc_crowd_own(crowd, moment, &target));
    struct rsc_touch other = rsc_crowd_others(crowd, moment, &target, &touch);
    if (other.found) touch = other;
    if (!touch.found) touch = rsc_crowd_earlier(crowd, moment, &target);
    return touch.found ? touch.interval : 0;
}

/* Points to be looked at: sample i is of point which[i], or the same as sample known_at[i] of `known`. */
#define NOT_KNOWN UINT32_MAX
#define LOOKED_AT_ONCE 16u
struct looking {
    struct rsc_loops_crowds *crowds;
    const struct rsc_points *points;
    const uint32_t *which, *known_at;
    const struct rsc_loops_samples *known; /* NULL: none is */
    struct rsc_loops_samples *samples; /* their weights are in units of the points' */
};

static void look_at(const struct looking *looking, struct rsc_crowd *crowd, size_t i) {
    const struct rsc_point *point = &looking->points->point[looking->which[i]];
    struct rsc_reuse_sample *seen = &looking->samples->sample[i];
    const struct rsc_loops_samples *known = looking->known;
    if (known && looking->known_at[i] != NOT_KNOWN) {
        seen->end = known->sample[looking->known_at[i]].end;
        seen->interval = known->sample[looking->known_at[i]].interval;
        looking->samples->draw[i] = known->draw[looking->known_at[i]];
    } else {
        struct rsc_moment moment;
        rsc_loops_draw_as(crowd, looking->which[i]);
        crowd->by_draw = 0;
        seen->interval = rsc_loops_interval(crowd, point, &moment);
        seen->end = moment.end;
        looking->samples->draw[i] = crowd->by_draw && crowd->draws > 1 ? (uint8_t)(crowd->draw + 1) : 0;
    }
    const struct rsc_view *view = rsc_plan_view(crowd->plan, point->segment);
    seen->weight = point->weight * seen->weight * (view && view->who == RSC_RUN_BY_ALL ? view->threads : 1);
    looking->samples->reference[i] = point->reference;
}

static void look_at_some(void *context, size_t part) {
    const struct looking *looking = context;
    size_t from = part * LOOKED_AT_ONCE, end = from + LOOKED_AT_ONCE, count = looking->samples->count;
    uint32_t number = rsc_loops_crowds_take(looking->crowds);
    struct rsc_crowd *crowd = looking->crowds->crowd[number];
    for (size_t i = from; i < end && i < count && crowd->nest->status >= 0 && !rsc_nest_stopped(crowd->nest); i++)
        look_at(looking, crowd, i);
    rsc_loops_crowds_give(looking->crowds, number);
}

static int look_at_all(const struct rsc_loops_analysis *analysis, struct looking *looking, struct rsc_error *error) {
    const struct rsc_nest *nest = analysis->nest;
    rsc_loops_team_each(analysis->team, (looking->samples->count + LOOKED_AT_ONCE - 1) / LOOKED_AT_ONCE, look_at_some,
                        looking);
    if (nest->status >= 0) return 0;
    return rsc_fail(error, nest->status, "%s: this nest is too large to analyse", nest->region->name);
}

/* Weighs samples by the first uses that are known, and fills their distances from their intervals. */
static int find_distances(const struct rsc_loops_analysis *analysis, const struct rsc_crowd *crowd, double distinct,
                          struct rsc_loops_samples *samples) {
    uint32_t phases = analysis->nest->phase_count;
    samples->cold = samples->lines = distinct;
    samples->draws = crowd->draws;
    samples->one_order = crowd->interleave->kind == RSC_INTERLEAVE_LOCKSTEP;
    int status = know_first_uses(analysis, samples);
    if (status >= 0)
        status = rsc_footprint_distances(samples->sample, samples->count, samples->references, distinct,
                                         crowd->plan->phase_start + 1, phases ? phases - 1 : 0, RSC_LOOPS_SLICES);
    return status;
}

/* Looks at every `every`-th point of each reference. */
static int look(struct rsc_loops_analysis *analysis, struct rsc_loops_crowds *crowds, uint32_t every, uint32_t *which,
                struct rsc_loops_samples *samples, struct rsc_error *error) {
    const struct rsc_points *points = &analysis->points;
    struct looking looking = {.crowds = crowds, .points = points, .which = which, .samples = samples};
    for (size_t i = 0; i < points->count; i++) {
        uint32_t place = (uint32_t)i - points->first[points->point[i].reference];
        if (every > 1 && place % every && place >= RSC_POINTS_LEAST) continue;
        samples->sample[samples->count].weight = 1;
        which[samples->count++] = (uint32_t)i;
    }
    int status = look_at_all(analysis, &looking, error);
    const double *start = crowds->crowd[0]->plan->phase_start;
    if (status >= 0) rsc_loops_samples_weigh(points, samples, start[analysis->nest->phase_count]);
    return status;
}

/* Looks at the first wanted[s] points of each stratum; those of the pilot (if not NULL) are known, the first of each. */
static int look_at_strata(const struct rsc_loops_analysis *analysis, struct rsc_loops_crowds *crowds,
                          const uint64_t *wanted, const struct rsc_loops_samples *pilot, uint32_t *which,
                          struct rsc_loops_samples *samples, struct rsc_error *error) {
    const struct rsc_loops_strata *strata = &analysis->strata;
    double sum = 0, references = crowds->crowd[0]->plan->phase_start[analysis->nest->phase_count];
    uint32_t next = 0; /* of the pilot */
    uint64_t count = 0;
    for (uint32_t s = 0; s < strata->count; s++) count += wanted[s];
    uint32_t *known_at = malloc((count + 1) * sizeof *known_at);
    struct looking looking = {crowds, &strata->points, which, known_at, pilot, samples};
    if (!known_at) return rsc_fail_memory(error, "samples of loops");
    samples->strata = strata;
    for (uint32_t s = 0; s < strata->count; s++)
        for (uint32_t k = 0; k < wanted[s]; k++) {
            size_t i = samples->count++;
            int known = pilot && next < pilot->count && pilot->stratum[next] == s;
            samples->sample[i].weight = (double)(strata->first[s + 1] - strata->first[s]) / (double)wanted[s];
            samples->stratum[i] = s;
            which[i] = strata->first[s] + k;
            known_at[i] = known ? next++ : NOT_KNOWN;
        }
    int status = look_at_all(analysis, &looking, error);
    for (size_t i = 0; i < samples->count; i++) sum += samples->sample[i].weight;
    for (size_t i = 0; sum > 0 && i < samples->count; i++) samples->sample[i].weight *= references / sum;
    samples->references = references;
    free(known_at);
    return status;
}

static uint64_t at_most(uint64_t wanted, const struct rsc_loops_strata *strata, uint32_t stratum) {
    uint64_t most = strata->first[stratum + 1] - strata->first[stratum];
    return wanted < most ? wanted : most;
}

/*
 * Chooses the points of each stratum. With scores s, stratum h of share w and chance p to miss at a size gets
 * n s(h) / sum of s; the variance at that size is then sum of s / n * sum over h of w^2 p (1 - p) / s(h).
 */
static int allocate(const struct rsc_loops_strata *strata, const struct rsc_loops_samples *pilot, double most,
                    uint64_t *wanted) {
    uint64_t size[RSC_LOOPS_GRID_MAX];
    size_t sizes = rsc_loops_grid((uint64_t)pilot->lines, size);
    struct rsc_loops_tally tally = {0};
    double *score = calloc(strata->count + (size_t)1, sizeof *score), sum = 0, worst = 0;
    int status = score ? rsc_loops_tally_new(&tally, pilot, 0, size, sizes) : RSC_ENOMEM;
    for (uint32_t s = 0; status >= 0 && s < strata->count; s++) {
        for (size_t g = 0; g < sizes && (double)size[g] < pilot->lines; g++)
            score[s] += rsc_loops_tally_variance(&tally, s, g) / (tally.ratio[g] * tally.ratio[g]);
        score[s] = sqrt(score[s] / (double)sizes);
        sum += score[s];
    }
    for (size_t g = 0; status >= 0 && g < sizes && (double)size[g] < pilot->lines; g++) {
        double error = 0;
        if (size[g] < ERROR_LINES) continue;
        for (uint32_t s = 0; s < strata->count; s++)
            if (score[s] > 0) error += rsc_loops_tally_variance(&tally, s, g) / score[s];
        worst = fmax(worst, error * sum / (tally.ratio[g] * tally.ratio[g]));
    }
    double points = fmin(fmax(worst / (ERROR_WANTED * ERROR_WANTED), POINTS_FEWEST), most);
    for (uint32_t s = 0; status >= 0 && s < strata->count; s++) {
        uint64_t by_score = sum > 0 ? (uint64_t)(points * score[s] / sum + 0.5) : 0;
        if (by_score > wanted[s]) wanted[s] = at_most(by_score, strata, s);
    }
    rsc_loops_tally_free(&tally);
    free(score);
    return status;
}

/* For as many samples as are wanted of all strata, and their points. */
static int make_room(struct rsc_loops_samples *samples, uint32_t **which, const uint64_t *wanted, uint32_t strata,
                     struct rsc_error *error) {
    uint64_t count = 0;
    for (uint32_t s = 0; s < strata; s++) count += wanted[s];
    free(*which);
    *which = malloc((count + 1) * sizeof **which);
    return *which ? rsc_loops_samples_new(samples, count, error) : rsc_fail_memory(error, "samples of loops");
}

/* By default: a pilot, then the points that its error asks for. */
static int look_where_it_matters(struct rsc_loops_analysis *analysis, struct rsc_loops_crowds *crowds, double distinct,
                                 struct rsc_loops_samples *samples, const struct rsc_loops_known *known,
                                 struct rsc_error *error) {
    const struct rsc_loops_strata *strata;
    const struct rsc_crowd *crowd = crowds->crowd[0];
    struct rsc_loops_samples pilot = {0};
    int status = rsc_loops_strata_get(analysis, &strata, error);
    if (status < 0) return status;
    uint64_t *wanted = calloc(strata->count + (size_t)1, sizeof *wanted);
    uint32_t *which = NULL;
    if (!wanted) status = rsc_fail_memory(error, "samples of loops");
    for (uint32_t s = 0; status >= 0 && s < strata->count; s++) {
        double share = (double)(strata->first[s + 1] - strata->first[s]) / (double)strata->points.count;
        wanted[s] = at_most((uint64_t)fmax(PILOT_POINTS * share, PILOT_LEAST), strata, s);
    }
    if (status >= 0) status = make_room(&pilot, &which, wanted, strata->count, error);
    if (status >= 0) status = look_at_strata(analysis, crowds, wanted, NULL, which, &pilot, error);
    double work = analysis->rectangular ? WORK_RECTANGULAR : WORK;
    double searches_each = (double)rsc_loops_crowds_searches(crowds) / (double)(pilot.count + 1);
    double each = searches_each + crowd->plan->threads / 10.0;
    if (status >= 0 && known) status = known->begin(analysis, known->context, searches_each);
    double enough = analysis->rectangular ? 0 : fmin(POINTS_ENOUGH, WORK_ENOUGH / each);
    enough = fmax(enough, POINTS_ENOUGH_RECTANGULAR);
    if (status >= 0) status = find_distances(analysis, crowd, distinct, &pilot);
    if (status >= 0) status = allocate(strata, &pilot, fmin(fmax(work / each, enough), POINTS_MOST), wanted);
    if (status >= 0) status = make_room(samples, &which, wanted, strata->count, error);
    if (status >= 0) status = look_at_strata(analysis, crowds, wanted, &pilot, which, samples, error);
    if (status >= 0) status = find_distances(analysis, crowd, distinct, samples);
    if (status >= 0) status = rsc_loops_count_lines(analysis, crowds, &strata->points, which, samples);
    rsc_loops_samples_free(&pilot);
    free(wanted);
    free(which);
    return status;
}

int rsc_loops_sample_crowd(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                           const struct rsc_interleave *interleave, uint32_t every, double distinct,
                           struct rsc_loops_samples *samples, struct rsc_windows *windows,
                           struct rsc_plan *const *dealt, uint32_t dealings, const struct rsc_loops_known *known,
                           struct rsc_error *error) {
    struct rsc_crowd *crowd = NULL;
    struct rsc_loops_crowds *crowds = NULL;
    int status = rsc_crowd_new(&crowd, search, interleave, analysis->normal, analysis->options.line_bytes,
                               analysis->options.seed + search->plan->threads, error);
    if (status >= 0 && every > 1) crowd->runs_max = BAND_RUNS, crowd->shares_draws = 1;
    if (status >= 0 && every == 1) status = rsc_crowd_divide(crowd, dealt, dealings, error);
    if (status >= 0) status = rsc_loops_crowds_new(&crowds, analysis->team, crowd, error);
    if (status >= 0 && every == 1 && analysis->options.samples == RSC_LOOPS_SAMPLES_AUTO)
        status = look_where_it_matters(analysis, crowds, distinct, samples, known, error);
    else if (status >= 0) {
        uint32_t *which = malloc((analysis->points.count + 1) * sizeof *which);
        status = which ? rsc_loops_samples_new(samples, analysis->points.count, error)
                       : rsc_fail_memory(error, "samples of loops");
        if (status >= 0) status = look(analysis, crowds, every, which, samples, error);
        double searches_each = (double)rsc_loops_crowds_searches(crowds) / (double)(samples->count + 1);
        if (status >= 0 && known) status = known->begin(analysis, known->context, searches_each);
        if (status >= 0) status = find_distances(analysis, crowd, distinct, samples);
        if (status >= 0 && every == 1)
            status = rsc_loops_count_lines(analysis, crowds, &analysis->points, which, samples);
        free(which);
    }
    if (status >= 0 && windows) {
        rsc_loops_draw_as(crowd, 0);
        rsc_rng_seed(&crowd->chance.rng, crowd->seed, WINDOWS_STREAM);
        status = rsc_windows_look(windows, crowd, error);
    }
    rsc_loops_crowds_free(crowds);
    rsc_crowd_free(crowd);
    return status;
}
