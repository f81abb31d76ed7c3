/*
 * engine_hprda.c - HP-RDA (paper 002) as an engine: approximates reuse distances by
 * many independent local traces. hprda.h has the algorithm.
 *
 * The histogram of distances is the published estimate. The curve's error bar is a
 * bound, not a confidence interval: the local traces give every reuse a smallest and
 * a largest possible distance, so the true miss ratio lies between low and high at
 * every size. The estimate itself may be outside the bound (the effective factor
 * ignores it); there the bar is widened to include both, and the log reports at how
 * many sizes.
 *
 * On a GPU (device=N) the plugin does the analysis, with the same numbers.
 *
 * Reuse intervals, threads and phases are not part of the algorithm and are left
 * out.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/key_values.h"
#include "base/numbers.h"
#include "distance/engine_kind.h"
#include "distance/gpu/gpu_feed.h"
#include "distance/hprda/hprda.h"
#include "profile/profile_model.h"
#include "trace/references.h"

#define BLOCK 2048u

struct hprda_parameters {
    uint32_t local; /* references in a local trace; 0: RSC_HPRDA_LOCAL */
    uint32_t no_adjust;
    uint32_t device, on_device;
};

struct hprda_engine {
    struct rsc_hprda hprda; /* on a device: options, and in the end references, distinct and sums */
    struct rsc_gpu_feed *feed; /* NULL: on the CPU */
    const struct rsc_log *log;
    uint32_t line_shift;
    uint64_t accesses, threads_seen, fragments;
    uint64_t lines[BLOCK];
    uint32_t from[BLOCK];
};

static void hprda_destroy(void *state) {
    struct hprda_engine *engine = state;
    if (!engine) return;
    if (engine->feed) rsc_gpu_feed_close(engine->feed);
    free(engine->feed);
    rsc_hprda_free(&engine->hprda);
    free(engine);
}

/* The plugin replaces the CPU. */
static int open_device(struct hprda_engine *engine, const struct rsc_engine_options *options,
                       const struct hprda_parameters *asked, struct rsc_error *error) {
    struct rsc_hprda_options *own = &engine->hprda.options;
    struct rsc_gpu_options wanted = {.struct_bytes = sizeof wanted, .device = asked->device, .stack_count = 1};
    own->local = asked->local ? asked->local : RSC_HPRDA_LOCAL;
    own->fragment = RSC_HPRDA_FRAGMENT;
    own->no_adjust = (int)asked->no_adjust;
    wanted.hprda = (struct rsc_gpu_hprda_options){
        .on = 1, .local = own->local, .fragment = own->fragment, .no_adjust = asked->no_adjust};
    engine->feed = calloc(1, sizeof *engine->feed);
    if (!engine->feed || rsc_hprda_sums_init(&engine->hprda.sums) < 0) return rsc_fail_memory(error, "hp-rda engine");
    return rsc_gpu_feed_open(engine->feed, &wanted, options->line_bytes, error);
}

static int take_device(void *into, const char *value, size_t length) {
    struct hprda_parameters *asked = into;
    uint64_t number;
    if (rsc_parse_u64(value, length, &number) < 0 || number > 1023) return -1;
    asked->device = (uint32_t)number;
    asked->on_device = 1;
    return 0;
}

static int hprda_parse(void *parameters, const char *text, struct rsc_error *error) {
    static const char *const on_off[] = {"on", "off", NULL};
    static const struct rsc_key keys[] = {
        {"local", "a number of references from 2 to 65536", offsetof(struct hprda_parameters, local), 4,
         RSC_HPRDA_LOCAL_MIN, RSC_HPRDA_LOCAL_MAX, NULL, NULL},
        {"adjust", NULL, offsetof(struct hprda_parameters, no_adjust), 4, 0, 0, on_off, NULL},
        {"device", "a number from 0 to 1023", .take = take_device},
        {.name = NULL},
    };
    return rsc_key_values_parse(parameters, keys, "engine 'hp-rda'", text, error);
}

static int hprda_create(void **state, const struct rsc_engine_options *options, const void *parameters,
                        struct rsc_error *error) {
    const struct hprda_parameters *asked = parameters;
    struct hprda_engine *engine = calloc(1, sizeof *engine);
    if (!engine) return rsc_fail_memory(error, "hp-rda engine");
    const struct rsc_hprda_options wanted = {
        .local = asked->local, .workers = options->workers, .no_adjust = (int)asked->no_adjust};
    engine->line_shift = (uint32_t)__builtin_ctz(options->line_bytes);
    engine->log = options->log;
    int status;
    if (asked->on_device) status = open_device(engine, options, asked, error);
    else status = rsc_hprda_init(&engine->hprda, &wanted) < 0 ? rsc_fail_memory(error, "hp-rda engine") : 0;
    if (status < 0) {
        hprda_destroy(engine);
        return status;
    }
    if (!asked->on_device && options->workers > 1 && !rsc_hprda_has_openmp())
        rsc_log_line(engine->log, RSC_LOG_INFO, "hp-rda engine: built without OpenMP, one thread does the work");
    *state = engine;
    return 0;
}

static int explain(const struct hprda_engine *engine, int status, struct rsc_error *error) {
    unsigned long long lines = engine->hprda.distinct;
    if (status == RSC_ELIMIT)
        return rsc_fail(error, status, "hp-rda engine: too many distinct lines after %llu; take a larger --line",
                        lines);
    return rsc_fail(error, status, "out of memory (hp-rda engine, %llu distinct lines)", lines);
}

static int hprda_push(void *state, const struct rsc_batch *batch, struct rsc_error *error) {
    struct hprda_engine *engine = state;
    struct rsc_reference_cursor cursor;
    uint32_t count;
    for (uint32_t i = 0; i < batch->count; i++) {
        uint64_t thread = rsc_meta_thread(batch->meta[i]);
        if (thread >= engine->threads_seen) engine->threads_seen = thread + 1;
    }
    engine->accesses += batch->count;
    if (engine->feed) return rsc_gpu_feed_push(engine->feed, batch, error);
    rsc_references_start(&cursor, batch, engine->line_shift);
    while ((count = rsc_references_fill(&cursor, engine->lines, engine->from, BLOCK)) > 0) {
        int status = rsc_hprda_push(&engine->hprda, engine->lines, count);
        if (status < 0) return explain(engine, status, error);
    }
    return 0;
}

/* ---- the profile ---- */

/* The curve of another histogram of the same reuses, into low or high of the profile's points. */
static int derive_bound(struct rsc_profile *profile, const struct rsc_histogram *rd, double *ratios) {
    struct rsc_histogram own = profile->rd;
    profile->rd = *rd;
    int status = rsc_profile_derive_mrc(profile);
    profile->rd = own;
    for (size_t i = 0; !status && i < profile->mrc_count; i++) ratios[i] = profile->mrc[i].miss_ratio;
    return status;
}

/* Returns at how many sizes the estimate lies outside the bound, or RSC_ENOMEM. */
static int64_t derive_curve(struct rsc_profile *profile, const struct rsc_hprda_sums *sums) {
    int64_t outside = 0;
    if (rsc_profile_derive_mrc(profile) < 0) return RSC_ENOMEM;
    size_t count = profile->mrc_count;
    double *low = malloc((2 * count + 1) * sizeof *low), *high = low + count;
    if (!low || derive_bound(profile, &sums->low, low) < 0 || derive_bound(profile, &sums->high, high) < 0 ||
        rsc_profile_derive_mrc(profile) < 0) {
        free(low);
        return RSC_ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        outside += point->miss_ratio < low[i] || point->miss_ratio > high[i];
        point->low = point->miss_ratio < low[i] ? point->miss_ratio : low[i];
        point->high = point->miss_ratio > high[i] ? point->miss_ratio : high[i];
    }
    free(low);
    return outside;
}

static int say_how(struct rsc_profile *profile, const struct hprda_engine *engine) {
    char text[200];
    const struct rsc_hprda_options *options = &engine->hprda.options;
    uint64_t fragments = engine->fragments;
    snprintf(text, sizeof text,
             "local traces of %u references, %s, %llu fragment%s of up to %u; low and high bound the truth%s",
             options->local, options->no_adjust ? "not adjusted" : "adjusted beyond M", (unsigned long long)fragments,
             fragments == 1 ? "" : "s", options->fragment, engine->feed ? "; on a GPU" : "");
    return rsc_profile_set_text(&profile->made.sampling, text);
}

static void log_parts(const struct hprda_engine *engine, int64_t outside, size_t points) {
    const double *seconds = engine->hprda.seconds;
    double all = 0;
    for (int i = 0; i < RSC_HPRDA_SECONDS_COUNT; i++) all += seconds[i];
    if (all > 0)
        rsc_log_line(engine->log, RSC_LOG_INFO,
                     "hp-rda engine: %.3f processor seconds: local analysis %.1f%%, merging thread results %.1f%%, "
                     "merging block results %.1f%%, adjustment %.1f%%",
                     all, 100 * seconds[0] / all, 100 * seconds[1] / all, 100 * seconds[2] / all,
                     100 * seconds[3] / all);
    if (outside)
        rsc_log_line(engine->log, RSC_LOG_INFO,
                     "hp-rda engine: at %lld of %zu sizes the estimate lies outside the bounds of the truth",
                     (long long)outside, points);
}

static int finish_on_device(struct hprda_engine *engine, struct rsc_error *error) {
    struct rsc_hprda *hprda = &engine->hprda;
    struct rsc_gpu_result *result = malloc(sizeof *result);
    struct rsc_gpu_bounds *bounds = malloc(sizeof *bounds);
    int status = result && bounds ? 0 : rsc_fail_memory(error, "hp-rda engine");
    if (!status) status = rsc_gpu_feed_finish(engine->feed, result, bounds, error);
    if (!status) {
        hprda->references = result->references;
        hprda->distinct = result->distinct;
        memcpy(hprda->sums.estimate.count, result->rd, sizeof result->rd);
        memcpy(hprda->sums.low.count, bounds->low, sizeof bounds->low);
        memcpy(hprda->sums.high.count, bounds->high, sizeof bounds->high);
        engine->fragments = bounds->fragments;
    }
    free(result);
    free(bounds);
    return status;
}

static int finish_on_cpu(struct hprda_engine *engine, struct rsc_error *error) {
    int status = rsc_hprda_finish(&engine->hprda);
    engine->fragments = engine->hprda.fragment_counts.count;
    return status < 0 ? explain(engine, status, error) : 0;
}

static int hprda_finish(void *state, struct rsc_profile **out, struct rsc_error *error) {
    struct hprda_engine *engine = state;
    struct rsc_hprda *hprda = &engine->hprda;
    int status = engine->feed ? finish_on_device(engine, error) : finish_on_cpu(engine, error);
    if (status < 0) return status;
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return rsc_fail_memory(error, "profile");
    profile->accesses = engine->accesses;
    profile->references = hprda->references;
    profile->cold = profile->distinct = hprda->distinct;
    profile->made.threads = engine->threads_seen;
    if (engine->feed) profile->made.workers = 1;
    profile->made.line_bytes = 1ull << engine->line_shift; /* the curve's sizes need it */
    rsc_histogram_merge(&profile->rd, &hprda->sums.estimate);
    int64_t outside = derive_curve(profile, &hprda->sums);
    if (outside < 0 || rsc_profile_set_text(&profile->made.by, "hp-rda") < 0 || say_how(profile, engine) < 0) {
        rsc_profile_free(profile);
        return rsc_fail_memory(error, "profile");
    }
    log_parts(engine, outside, profile->mrc_count);
    *out = profile;
    return 0;
}

const struct rsc_engine_kind rsc_engine_hprda = {
    .name = "hp-rda",
    .parameter = "[:local=N,adjust=off,device=N]",
    .what = "the published parallel approximation, with bounds; OpenMP, or a GPU (device=N)",
    .can = RSC_CAN_WORKERS | RSC_CAN_NO_RI | RSC_WANTS_WORKERS,
    .parse = hprda_parse,
    .memory = rsc_exact_memory,
    .create = hprda_create,
    .push = hprda_push,
    .finish = hprda_finish,
    .destroy = hprda_destroy,
};
