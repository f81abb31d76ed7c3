/* sim_sampling.c - see sim_sampling.h. */
#include "cmd/sim_sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/seconds.h"
#include "simulate/miss_trace.h"
#include "report/results/results.h"
#include "simulate/sampling/set_sample.h"
#include "simulate/sampling/study.h"
#include "simulate/sampling/time_sample.h"
#include "trace/filter.h"

const struct rsc_option rsc_sampling_options[] = {
    RSC_HEADING("sampling"),
    {RSC_OPT_SAMPLE_SETS, 0, "sample-sets", "1/N[,HOW]",
     "simulate one set in N: bits:LO-HI[=VALUE|=all] (constant address bits), all, or random[:SEED]", NULL},
    {RSC_OPT_SAMPLE_TIME, 0, "sample-time", "N,LEN[,HOW]",
     "simulate N intervals of LEN instructions: systematic (default) or random[:SEED]; accesses: LEN counts accesses",
     NULL},
    {RSC_OPT_COLD_START, 0, "cold-start", "METHOD",
     "cache contents at the start of an interval or trace: cold, half, prime, stitch, initmr (default) or warm",
     "cold half prime stitch initmr warm"},
    {RSC_OPT_SIM_CONFIDENCE, 0, "confidence", "PERCENT", "confidence level of estimates (default 90)", NULL},
    {RSC_OPT_STUDY, 0, "study", "WHAT", "sampling: the paper's tables of how accurate samples of this trace are",
     "sampling"},
    {0, 0, NULL, NULL, NULL, NULL},
};

void rsc_sampling_start(struct rsc_sampling *sampling) { *sampling = (struct rsc_sampling){.cold_start = -1}; }

int rsc_sampling_option(struct rsc_sampling *sampling, struct rsc_session *session,
                        const struct rsc_option_parser *parser, int id) {
    struct rsc_error error;
    int status = 0;
    switch (id) {
    case RSC_OPT_SAMPLE_SETS: status = rsc_set_choice_parse(&sampling->sets, parser->value, &error); break;
    case RSC_OPT_SAMPLE_TIME: status = rsc_time_choice_parse(&sampling->time, parser->value, &error); break;
    case RSC_OPT_COLD_START:
        sampling->cold_start = rsc_cold_start_named(parser->value);
        if (sampling->cold_start < 0)
            return rsc_option_refuse(parser, "not one of cold, half, prime, stitch, initmr, warm");
        break;
    case RSC_OPT_SIM_CONFIDENCE:
        return rsc_option_fraction(parser, 50, 99.99, "not a percentage from 50 to 99.99", &sampling->confidence);
    case RSC_OPT_STUDY:
        if (strcmp(parser->value, "sampling")) return rsc_option_refuse(parser, "not sampling");
        sampling->study = 1;
        session->yields = RSC_RESULT_STUDY;
        break;
    default: return rsc_session_option(session, parser, id);
    }
    return status < 0 ? rsc_usage_error(session->verb, "%s", error.message) : -1;
}

int rsc_sampling_wanted(const struct rsc_sampling *sampling) {
    return sampling->sets.denominator || sampling->time.intervals || sampling->cold_start >= 0 || sampling->study;
}

static double confidence_of(const struct rsc_sampling *sampling) {
    return sampling->confidence > 0 ? sampling->confidence : 90;
}

int rsc_sampling_is_sample(struct rsc_trace *trace) {
    struct rsc_trace_info info;
    uint32_t low, width;
    uint64_t value;
    rsc_trace_get_info(trace, &info);
    return rsc_block_sample_parse(info.filter, &low, &width, &value) != 0;
}

/* ---- options that exclude each other ---- */

/* Whether intervals start with contents that are guessed, rather than empty or true. */
static int estimates_start(const struct rsc_sampling *sampling) {
    if (!sampling->time.intervals && sampling->cold_start < 0) return 0;
    return sampling->cold_start != RSC_START_COLD && sampling->cold_start != RSC_START_STITCH &&
           sampling->cold_start != RSC_START_WARM;
}

static const char *contradiction(const struct rsc_sampling *sampling, const struct rsc_session *session,
                                 const struct rsc_sim_config *config, const struct rsc_sim_options *options) {
    const int time = sampling->time.intervals || sampling->cold_start >= 0;
    if (sampling->confidence > 0 && sampling->study) return "--confidence cannot be used with --study sampling";
    if (sampling->sets.denominator && sampling->time.intervals)
        return "--sample-sets and --sample-time exclude each other";
    if (sampling->sets.denominator && sampling->cold_start >= 0)
        return "--cold-start applies only to time sampling: sampled sets see the whole trace";
    if (sampling->study && (sampling->sets.denominator || time))
        return "--study sampling cannot be used with --sample-sets, --sample-time or --cold-start";
    if (options->warm_accesses || options->warm_fill > 0 || options->window_accesses)
        return "samples cover the whole trace: --warm, --warm-fill and windows cannot be used";
    if (config->all_count) return "all: needs the whole trace and cannot be used with samples";
    if (config->pages) return "TLBs need the whole trace and cannot be used with samples";
    for (size_t i = 0; (sampling->study || estimates_start(sampling)) && i < config->count; i++)
        if (config->caches[i].sector_bytes)
            return "what a set holds at the start of an interval is estimated by whole blocks: with sector, --sample-sets or "
                   "--cold-start cold, stitch or warm";
    if ((time || sampling->study) && !rsc_filter_is_all(&session->filter))
        return "time sampling cannot be used with filters: filter first, with convert";
    for (size_t i = 0; time && i < config->count; i++)
        if (config->caches[i].policy == RSC_POLICY_OPT)
            return "opt needs the future of every access and cannot be used with time sampling";
    return NULL;
}

/* ---- delivering ---- */

static int deliver(struct rsc_session *session, struct rsc_sim_result *result, double started) {
    result->command = session->argv;
    result->seconds = rsc_seconds_now() - started;
    result->workers = 1;
    rsc_sampling_warn(&session->log, result);
    return rsc_session_deliver_result(session, &(struct rsc_result){.kind = RSC_RESULT_SIM, .sim = result}, 0);
}

/* Rows for text and JSON; they point at the estimates. */
static int make_rows(struct rsc_sim_result *result, size_t count, const struct rsc_cache_config *configs,
                     const struct rsc_level_counts *counts, const struct rsc_estimate *estimates,
                     struct rsc_error *error) {
    result->levels = calloc(count, sizeof *result->levels);
    if (!result->levels) return rsc_fail_memory(error, "results");
    result->level_count = count;
    for (size_t i = 0; i < count; i++) {
        struct rsc_sim_level_result *row = &result->levels[i];
        row->cache = rsc_cache_config_label(&configs[i]);
        row->counts = counts[i];
        row->estimate = &estimates[i];
        row->alternative =
            i && !strcmp(configs[i].name, configs[i - 1].name) ? result->levels[i - 1].alternative + 1 : 0;
    }
    return 0;
}

/* ---- sets ---- */

/* Chooses the sets: the trace's own, if it is a sample, else those asked for. */
static int settle_sets(const struct rsc_sampling *sampling, const struct rsc_sim_config *config,
                       const struct rsc_trace_info *info, const struct rsc_filter *filter,
                       struct rsc_set_choice *choice, int *filtered, struct rsc_error *error) {
    *choice = sampling->sets;
    int is_sample = rsc_block_sample_parse(info->filter, &choice->low, &choice->width, &choice->value);
    *filtered = is_sample == 1;
    if (is_sample < 0)
        return rsc_fail(error, RSC_EINVAL,
                        "this sample of sets was cut by another filter (%.80s): accesses to its sets are missing",
                        info->filter);
    if (!is_sample) {
        *choice = sampling->sets;
        return rsc_set_choice_settle(choice, config, error);
    }
    if (!rsc_filter_is_all(filter))
        return rsc_fail(
            error, RSC_EINVAL,
            "this trace is a sample of sets (%.80s) and cannot be filtered: filter the whole trace, then take "
            "the sample",
            info->filter);
    if (sampling->sets.denominator)
        return rsc_fail(error, RSC_EINVAL,
                        "this trace is already a sample of sets (%.80s): --sample-sets cannot be used", info->filter);
    if (sampling->time.intervals || sampling->cold_start >= 0 || sampling->study)
        return rsc_fail(error, RSC_EINVAL,
                        "this trace is a sample of sets (%.80s): time sampling needs the whole trace", info->filter);
    *choice = (struct rsc_set_choice){.denominator = 1ull << choice->width,
                                      .bits_given = 1,
                                      .low = choice->low,
                                      .width = choice->width,
                                      .value = choice->value};
    return rsc_set_choice_settle(choice, config, error);
}

static int run_sets(const struct rsc_set_choice *choice, int filtered, const struct rsc_sampling *sampling,
                    struct rsc_session *session, const struct rsc_sim_config *config,
                    const struct rsc_sim_options *options, struct rsc_trace *trace, int *leave,
                    struct rsc_error *error) {
    struct rsc_set_result *sets = calloc(1, sizeof *sets);
    struct rsc_set_sample *sample = NULL;
    struct rsc_sim_result result = {0};
    struct rsc_trace_info info;
    const struct rsc_batch *batch;
    uint64_t done = 0;
    double started = rsc_seconds_now();
    int status = sets ? rsc_set_sample_new(&sample, config, choice, filtered, options->writes_are_back, error)
                      : rsc_fail_memory(error, "sample of sets");
    rsc_trace_get_info(trace, &info);
    void *part = NULL;
    const int parts = !status && rsc_set_sample_use_parts(sample, trace);
    while (!status && (status = parts ? rsc_trace_next_part(trace, &part, &batch, error)
                                      : rsc_trace_next(trace, &batch, error)) > 0) {
        done += batch->count;
        status =
            parts ? rsc_set_sample_push_part(sample, part, batch, error) : rsc_set_sample_push(sample, batch, error);
        rsc_progress(session, done, info.accesses, "accesses");
    }
    rsc_progress_end(session);
    if (!status) {
        rsc_trace_get_info(trace, &info);
        /* What was read is the whole, filters included, except of a trace that holds less than it stands for. */
        const int partly = filtered || rsc_miss_trace_kind(info.filter);
        uint64_t instructions =
            partly && info.full_instructions != RSC_UNKNOWN ? info.full_instructions : info.instructions;
        if (rsc_filter_thins(&session->filter, partly ? "" : info.filter)) instructions = RSC_UNKNOWN;
        uint64_t accesses = partly && info.full_accesses != RSC_UNKNOWN ? info.full_accesses : done;
        status = rsc_set_sample_finish(sample, instructions, accesses, confidence_of(sampling), sets, error);
    }
    if (!status) {
        result.sample = RSC_SIM_SETS;
        result.trace_accesses = sets->accesses;
        result.simulated = sets->sampled;
        result.instructions = sets->instructions;
        result.accesses = sets->sampled;
        result.references = sets->references;
        status = make_rows(&result, config->count, sets->configs, sets->counts, sets->estimates, error);
        if (!status) *leave = deliver(session, &result, started);
    }
    rsc_sim_result_free(&result);
    rsc_trace_end_parts(trace);
    rsc_set_sample_free(sample);
    if (sets) rsc_set_result_free(sets, config->count);
    free(sets);
    return status;
}

/* ---- time ---- */

static void show_progress(void *user, uint64_t done, uint64_t total) { rsc_progress(user, done, total, "accesses"); }

static int run_time(const struct rsc_sampling *sampling, struct rsc_session *session,
                    const struct rsc_sim_config *config, const struct rsc_sim_options *options, struct rsc_trace *trace,
                    int *leave, struct rsc_error *error) {
    struct rsc_time_options how = {.choice = sampling->time,
                                   .confidence = confidence_of(sampling),
                                   .progress = show_progress,
                                   .user = session,
                                   .writes_are_back = options->writes_are_back};
    how.cold_start = sampling->cold_start >= 0 ? (enum rsc_cold_start)sampling->cold_start : RSC_START_INITMR;
    struct rsc_time_result *times = calloc(1, sizeof *times);
    struct rsc_sim_result result = {0};
    double started = rsc_seconds_now();
    int status = times ? rsc_time_sample(config, &how, trace, times, error) : rsc_fail_memory(error, "intervals");
    rsc_progress_end(session);
    if (!status) {
        result.sample = RSC_SIM_TIME;
        result.trace_accesses = times->accesses;
        result.simulated = times->simulated;
        result.instructions = times->instructions;
        result.accesses = times->counted;
        result.references = times->references;
        status = make_rows(&result, config->count, config->caches, times->counts, times->estimates, error);
        if (!status) *leave = deliver(session, &result, started);
    }
    rsc_sim_result_free(&result);
    if (times) rsc_time_result_free(times, config->count);
    free(times);
    return status;
}

/* ---- study ---- */

static int run_study(struct rsc_session *session, const struct rsc_sim_config *config,
                     const struct rsc_sim_options *options, struct rsc_trace *trace, const char *path, int *leave,
                     struct rsc_error *error) {
    struct rsc_study study;
    int status =
        rsc_study_run(&study, config, trace, options->workers, options->writes_are_back, show_progress, session, error);
    rsc_progress_end(session);
    study.trace = path;
    if (!status)
        *leave =
            rsc_session_deliver_result(session, &(struct rsc_result){.kind = RSC_RESULT_STUDY, .study = &study}, 0);
    rsc_study_free(&study);
    return status;
}

int rsc_sampling_run(const struct rsc_sampling *sampling, struct rsc_session *session,
                     const struct rsc_sim_config *config, const struct rsc_sim_options *options,
                     struct rsc_trace *trace, const char *path) {
    const char *why = contradiction(sampling, session, config, options);
    const int by_time = sampling->time.intervals || sampling->cold_start >= 0;
    struct rsc_sim_options now = *options;
    struct rsc_trace *own = NULL;
    struct rsc_set_choice choice;
    struct rsc_trace_info info;
    struct rsc_error error;
    int filtered, status = 0, leave = RSC_EXIT_OK;
    if (why) return rsc_usage_error(session->verb, "%s", why);
    session->without_pcs = 1;
    session->without_events = rsc_filter_is_all(&session->filter); /* events say how many instructions a window has */
    /* A trace that seeks cannot be decoded ahead. */
    if (!trace) status = rsc_session_open(session, &own, path, !by_time, &error);
    if (!trace) trace = own;
    if (!status) {
        rsc_trace_get_info(trace, &info);
        now.writes_are_back = rsc_miss_trace_writes(info.filter);
        status = rsc_miss_trace_usable(info.filter, config, &error);
        options = &now;
        if (status < 0) {
            /* printed below */
        } else if (!by_time && !sampling->study) {
            status = settle_sets(sampling, config, &info, &session->filter, &choice, &filtered, &error);
            if (!status)
                status = run_sets(&choice, filtered, sampling, session, config, options, trace, &leave, &error);
        } else if (rsc_sampling_is_sample(trace)) {
            status = settle_sets(sampling, config, &info, &session->filter, &choice, &filtered, &error);
        } else if (sampling->study) {
            status = run_study(session, config, options, trace, path, &leave, &error);
        } else {
            status = run_time(sampling, session, config, options, trace, &leave, &error);
        }
    }
    rsc_trace_close(own);
    return status < 0 ? rsc_session_fail(session, &error) : leave;
}
