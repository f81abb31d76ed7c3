/* time_sample.c - see time_sample.h. */
#include "simulate/sampling/time_sample.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "simulate/miss_trace.h"
#include "trace/filter.h"
#include "trace/source.h"

/* An interval in accesses of the trace; `middle` begins its second half. */
struct interval {
    uint64_t first, middle, end;
};

/* What one cache did in an interval. */
struct observed {
    struct rsc_branch_counts all, first_half;
    struct rsc_cold_counts cold;
};

struct work {
    const struct rsc_sim_config *config;
    const struct rsc_time_options *options;
    struct rsc_trace *trace;
    struct rsc_branches *branches;
    struct rsc_time_result *result;
    struct interval *intervals; /* owned */
    struct observed *observed;  /* owned: caches of interval 0, caches of interval 1, ... */
    uint64_t interval_count;
    uint64_t at; /* access the trace is at */
    const struct rsc_batch *batch; /* being processed, from `batch_next` on; NULL: none */
    uint32_t batch_next;
    int ended;
};

static int is_watched(enum rsc_cold_start start) { return start != RSC_START_STITCH && start != RSC_START_WARM; }

/* ---- where the intervals are ---- */

/* Those of the program, unless the trace has only some of its references. */
static uint64_t instructions_of(const struct rsc_trace_info *info) {
    const int part = !rsc_miss_trace_kind(info->filter) && rsc_filter_thins(NULL, info->filter);
    return part ? RSC_UNKNOWN : info->instructions;
}

static int place(struct work *work, struct rsc_error *error) {
    const struct rsc_time_choice *choice = &work->options->choice;
    struct rsc_trace_info info;
    rsc_trace_get_info(work->trace, &info);
    if (info.accesses == RSC_UNKNOWN && !strcmp(info.format, "rsct")) { /* reports the damage */
        int status = rsc_trace_seek(work->trace, 0, error);
        if (status < 0) return status;
        rsc_trace_get_info(work->trace, &info);
    }
    if (info.accesses == RSC_UNKNOWN)
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "--sample-time needs a native trace in a file, whose length is known: reusescope convert");
    if (!choice->in_accesses && instructions_of(&info) == RSC_UNKNOWN)
        return rsc_fail(
            error, RSC_EINVAL,
            "this trace has no instruction counts: give the intervals in accesses (--sample-time %llu,%llu,accesses)",
            (unsigned long long)choice->intervals, (unsigned long long)choice->length);
    work->result->accesses = info.accesses;
    work->result->instructions = instructions_of(&info);
    uint64_t *starts = malloc(choice->intervals * sizeof *starts);
    work->intervals = malloc(choice->intervals * sizeof *work->intervals);
    if (!starts || !work->intervals) {
        free(starts);
        return rsc_fail_memory(error, "intervals");
    }
    int status = rsc_time_choice_place(choice, choice->in_accesses ? info.accesses : info.instructions, starts, error);
    for (uint64_t i = 0; !status && i < choice->intervals; i++) {
        struct interval *interval = &work->intervals[i];
        uint64_t middle = starts[i] + choice->length / 2, end = starts[i] + choice->length;
        *interval = (struct interval){starts[i], middle, end};
        if (choice->in_accesses) continue;
        status = rsc_trace_locate(work->trace, starts[i], &interval->first, error);
        if (!status) status = rsc_trace_locate(work->trace, middle, &interval->middle, error);
        if (!status) status = rsc_trace_locate(work->trace, end, &interval->end, error);
    }
    work->interval_count = choice->intervals;
    free(starts);
    return status;
}

/* The whole trace as one interval. Only `half` needs its middle. */
static int place_whole(struct work *work, struct rsc_error *error) {
    struct rsc_trace_info info;
    uint64_t middle = 0;
    int status = 0;
    rsc_trace_get_info(work->trace, &info);
    if (work->options->cold_start == RSC_START_HALF) {
        if (info.accesses == RSC_UNKNOWN)
            return rsc_fail(error, RSC_EUNSUPPORTED,
                            "--cold-start half needs a native trace in a file: the length of this one is not known");
        middle = info.accesses / 2;
        if (info.instructions != RSC_UNKNOWN)
            status = rsc_trace_locate(work->trace, info.instructions / 2, &middle, error);
    }
    work->intervals = malloc(sizeof *work->intervals);
    if (!work->intervals) return rsc_fail_memory(error, "intervals");
    work->intervals[0] = (struct interval){0, middle, UINT64_MAX};
    work->interval_count = 1;
    return status;
}

/* ---- simulating ---- */

/* Simulates accesses up to `end`, or the end of the trace. */
static int take_until(struct work *work, uint64_t end, struct rsc_error *error) {
    while (work->at < end) {
        if (!work->batch || work->batch_next == work->batch->count) {
            int status = work->ended ? 0 : rsc_trace_next(work->trace, &work->batch, error);
            if (status < 0) return status;
            work->batch_next = 0;
            if (!status) {
                work->batch = NULL;
                work->ended = 1;
                return 0;
            }
            if (work->options->progress)
                work->options->progress(work->options->user, work->at, work->intervals[work->interval_count - 1].end);
            continue;
        }
        uint32_t left = work->batch->count - work->batch_next;
        uint32_t take = end - work->at < left ? (uint32_t)(end - work->at) : left;
        int status = rsc_branches_push(work->branches, work->batch, work->batch_next, work->batch_next + take, error);
        if (status < 0) return status;
        work->batch_next += take;
        work->at += take;
        work->result->simulated += take;
    }
    return 0;
}

static int go_to(struct work *work, uint64_t first, struct rsc_error *error) {
    if (work->at == first) return 0;
    if (work->options->cold_start == RSC_START_WARM) return take_until(work, first, error);
    int status = rsc_trace_seek(work->trace, first, error);
    work->at = first;
    work->batch = NULL;
    work->ended = 0;
    return status;
}

static void add_difference(struct rsc_level_counts *sum, const struct rsc_level_counts *now,
                           const struct rsc_level_counts *before) {
    for (int kind = 0; kind < RSC_KINDS; kind++) {
        sum->accesses[kind] += now->accesses[kind] - before->accesses[kind];
        sum->misses[kind] += now->misses[kind] - before->misses[kind];
    }
    sum->writes_in += now->writes_in - before->writes_in;
    sum->writes_in_missed += now->writes_in_missed - before->writes_in_missed;
    sum->writebacks += now->writebacks - before->writebacks;
    sum->sector_misses += now->sector_misses - before->sector_misses;
    sum->writethroughs += now->writethroughs - before->writethroughs;
}

static struct rsc_branch_counts demand_since(const struct rsc_level_counts *now,
                                             const struct rsc_level_counts *before) {
    return (struct rsc_branch_counts){rsc_kinds_sum(now->accesses) - rsc_kinds_sum(before->accesses),
                                      rsc_kinds_sum(now->misses) - rsc_kinds_sum(before->misses)};
}

static int simulate_interval(struct work *work, uint64_t number, struct rsc_error *error) {
    const struct interval *interval = &work->intervals[number];
    const size_t caches = work->config->count;
    struct observed *observed = &work->observed[number * caches];
    struct rsc_level_counts before[RSC_SIM_CACHES_MAX];
    int status = go_to(work, interval->first, error);
    if (status < 0) return status;
    if (is_watched(work->options->cold_start)) rsc_branches_empty(work->branches);
    uint64_t references = rsc_branches_references(work->branches), from = work->at;
    for (size_t i = 0; i < caches; i++) before[i] = *rsc_branches_running(work->branches, i);
    if (work->options->cold_start == RSC_START_HALF) {
        if ((status = take_until(work, interval->middle, error)) < 0) return status;
        for (size_t i = 0; i < caches; i++)
            observed[i].first_half = demand_since(rsc_branches_running(work->branches, i), &before[i]);
    }
    if ((status = take_until(work, interval->end, error)) < 0) return status;
    for (size_t i = 0; i < caches; i++) {
        observed[i].all = demand_since(rsc_branches_running(work->branches, i), &before[i]);
        if (is_watched(work->options->cold_start)) observed[i].cold = rsc_branches_cold(work->branches, i);
        add_difference(&work->result->counts[i], rsc_branches_running(work->branches, i), &before[i]);
    }
    work->result->counted += work->at - from;
    work->result->references += rsc_branches_references(work->branches) - references;
    return 0;
}

/* ---- estimates ---- */

/* Misses of an interval of `length` by the method; NAN if it gives no estimate. */
static double estimated_misses(const struct observed *seen, enum rsc_cold_start start, double length,
                               double second_half) {
    switch (start) {
    case RSC_START_HALF: return (double)(seen->all.misses - seen->first_half.misses) * length / second_half;
    case RSC_START_PRIME:
    case RSC_START_INITMR: return rsc_cold_start_misses(&seen->cold, start);
    default: return (double)seen->all.misses;
    }
}

static void describe(const struct work *work, struct rsc_estimate *estimate) {
    const struct rsc_time_choice *choice = &work->options->choice;
    if (!choice->intervals) snprintf(estimate->how, sizeof estimate->how, "the whole trace as one interval");
    else
        snprintf(estimate->how, sizeof estimate->how, "%llu %s intervals of %llu %s",
                 (unsigned long long)choice->intervals, choice->random ? "random" : "systematic",
                 (unsigned long long)choice->length, choice->in_accesses ? "accesses" : "instructions");
}

static void judge(struct rsc_estimate *estimate, struct rsc_estimate_part *part, const struct rsc_cold_counts *cold) {
    struct rsc_cold_conditions conditions;
    rsc_cold_conditions(cold, &conditions);
    part->loaded = cold->frames ? (double)cold->loaded / (double)cold->frames : 0;
    part->reliable = conditions.half_loaded && conditions.mostly_full;
    part->factor = conditions.length_factor;
    estimate->loaded += part->loaded;
    estimate->unreliable += !part->reliable;
}

/* The length at which nine of ten intervals would be long enough, by their length factors. */
static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}
static double length_needed(const struct rsc_estimate *estimate, double *scratch) {
    for (size_t i = 0; i < estimate->part_count; i++) scratch[i] = estimate->parts[i].factor;
    qsort(scratch, estimate->part_count, sizeof *scratch, ascending);
    return scratch[(estimate->part_count * 9 - 1) / 10] * (double)estimate->length;
}

static int estimate_cache(struct work *work, size_t cache, struct rsc_error *error) {
    const struct rsc_time_options *options = work->options;
    struct rsc_time_result *result = work->result;
    struct rsc_estimate *estimate = &result->estimates[cache];
    const uint64_t n = work->interval_count;
    const int whole = !options->choice.intervals, watched = is_watched(options->cold_start);
    *estimate = (struct rsc_estimate){.method = whole ? RSC_ESTIMATE_WHOLE : RSC_ESTIMATE_TIME,
                                      .cold_start = (int)options->cold_start,
                                      .confidence = options->confidence,
                                      .loaded = watched ? 0 : NAN,
                                      .length_needed = NAN,
                                      .sampled_instructions = NAN,
                                      .cv = NAN,
                                      .variance_ratio = NAN};
    describe(work, estimate);
    estimate->per_access = result->instructions == RSC_UNKNOWN || options->choice.in_accesses;
    uint64_t total = estimate->per_access ? result->accesses : result->instructions;
    estimate->length = whole ? total : options->choice.length;
    estimate->parts = calloc(n, sizeof *estimate->parts);
    double *values = malloc(n * sizeof *values);
    if (!estimate->parts || !values) {
        free(values);
        return rsc_fail_memory(error, "estimates");
    }
    estimate->part_count = n;
    uint64_t told = 0;
    for (uint64_t i = 0; i < n; i++) {
        const struct observed *seen = &work->observed[i * work->config->count + cache];
        struct rsc_estimate_part *part = &estimate->parts[i];
        double length = (double)estimate->length;
        double misses = estimated_misses(seen, options->cold_start, length, length - floor(length / 2));
        *part = (struct rsc_estimate_part){.at = work->intervals[i].first,
                                           .mpi = length > 0 ? misses / length : NAN,
                                           .loaded = NAN,
                                           .reliable = 1,
                                           .factor = 1};
        if (watched) judge(estimate, part, &seen->cold);
        if (!isnan(part->mpi)) values[told++] = part->mpi;
    }
    if (watched) estimate->loaded /= (double)n;
    estimate->left_out = n - told;
    struct rsc_mean_estimate mean;
    uint64_t population = estimate->length ? total / estimate->length : 0;
    rsc_mean_estimate(&mean, values, told, whole ? 0 : population, options->confidence);
    estimate->mpi = told ? mean.mean : NAN;
    estimate->low = mean.low;
    estimate->high = mean.high;
    estimate->observations = told;
    estimate->population = population;
    estimate->fraction = total ? (double)n * (double)estimate->length / (double)total : 0;
    estimate->misses = estimate->mpi * (double)total;
    if (estimate->unreliable) estimate->length_needed = length_needed(estimate, values);
    free(values);
    return 0;
}

int rsc_time_sample(const struct rsc_sim_config *config, const struct rsc_time_options *options,
                    struct rsc_trace *trace, struct rsc_time_result *result, struct rsc_error *error) {
    struct work work = {.config = config, .options = options, .trace = trace, .result = result};
    memset(result, 0, sizeof *result);
    const int whole = !options->choice.intervals;
    if (whole && (options->cold_start == RSC_START_STITCH || options->cold_start == RSC_START_WARM))
        return rsc_fail(error, RSC_EINVAL, "--cold-start %s needs --sample-time: nothing precedes a whole trace",
                        rsc_cold_start_names[options->cold_start]);
    int status = whole ? place_whole(&work, error) : place(&work, error);
    if (!status)
        status = rsc_branches_new(&work.branches, config,
                                  is_watched(options->cold_start) ? RSC_WATCH_COLD : RSC_WATCH_NOTHING, error);
    if (!status) rsc_branches_writes_are_back(work.branches, options->writes_are_back);
    if (!status && !(work.observed = calloc(work.interval_count * config->count + 1, sizeof *work.observed)))
        status = rsc_fail_memory(error, "intervals");
    for (uint64_t i = 0; !status && i < work.interval_count; i++) status = simulate_interval(&work, i, error);
    if (!status && whole) {
        struct rsc_trace_info info;
        rsc_trace_get_info(trace, &info);
        result->accesses = work.at;
        result->instructions = instructions_of(&info);
    }
    for (size_t i = 0; !status && i < config->count; i++) status = estimate_cache(&work, i, error);
    rsc_branches_free(work.branches);
    free(work.intervals);
    free(work.observed);
    return status;
}

void rsc_time_result_free(struct rsc_time_result *result, size_t caches) {
    for (size_t i = 0; i < caches; i++) rsc_estimate_free(&result->estimates[i]);
}
