/* cmd_analyze.c - `reusescope analyze`: a trace through an engine, for one or several line sizes at once. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/pool.h"
#include "cmd/session.h"

#define LINE_SIZES_MAX 13 /* 1 byte to 4 KiB */

enum {
    OPT_ENGINE = RSC_OPT_VERB,
    OPT_LINE,
    OPT_MODEL,
    OPT_THREADS,
    OPT_MAX_DISTANCE,
    OPT_PHASES,
    OPT_BINS,
};

static const struct rsc_option options[] = {
    {OPT_ENGINE, 0, "engine", "ENGINE", "exact, or auto (default), which picks it", "auto exact"},
    {OPT_LINE, 0, "line", "BYTES,...", "line sizes, powers of two from 1 to 4096; all in one pass (default 64)", NULL},
    {OPT_MODEL, 0, "model", "MODEL", "single (default): one stack over all threads, in trace order", "single"},
    {OPT_MAX_DISTANCE, 0, "max-distance", "LINES", "count distances from here on in one open-ended bin", NULL},
    {OPT_PHASES, 0, "phases", "N", "also cut the run into N parts of equal length", NULL},
    {OPT_BINS, 0, "bins", "N", "also keep histograms with N bins per octave, 1 to 64", NULL},
    {OPT_THREADS, 0, "threads", "N",
     "threads to use: 2 or more decode ahead and share out line sizes (default: one a core)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct analysis {
    struct rsc_session session;
    struct rsc_engine_options engine;
    uint32_t line_bytes[LINE_SIZES_MAX];
    size_t line_count;
    unsigned threads;
    const char *path;

    struct rsc_trace *trace;
    struct rsc_pool *pool; /* NULL: one line size after the other */
    struct rsc_engine *engines[LINE_SIZES_MAX];
    struct rsc_profile *profiles[LINE_SIZES_MAX];
    /* One push, shared out: */
    const struct rsc_batch *batch;
    int status[LINE_SIZES_MAX];
    struct rsc_error errors[LINE_SIZES_MAX];
};

/* ---- options ---- */

static int parse_lines(struct analysis *analysis, const char *text) {
    analysis->line_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        uint64_t bytes;
        if (analysis->line_count == LINE_SIZES_MAX || rsc_parse_u64(text, length, &bytes) < 0) return -1;
        if (!bytes || bytes > 4096 || (bytes & (bytes - 1))) return -1;
        analysis->line_bytes[analysis->line_count++] = (uint32_t)bytes;
        if (!text[length]) return 0;
        text += length + 1;
    }
}

/* A number from `low` to `high`; 0 or -1. */
static int parse_bounded(const char *text, uint64_t low, uint64_t high, uint64_t *value) {
    return rsc_parse_u64(text, strlen(text), value) < 0 || *value < low || *value > high ? -1 : 0;
}

static int take_option(struct analysis *analysis, const struct rsc_option_parser *parser, int id) {
    uint64_t number;
    switch (id) {
    case OPT_ENGINE: analysis->engine.engine = parser->value; return -1;
    case OPT_MODEL: analysis->engine.model = parser->value; return -1;
    case OPT_LINE:
        if (parse_lines(analysis, parser->value) < 0)
            return rsc_option_refuse(parser, "not a list of powers of two from 1 to 4096");
        return -1;
    case OPT_MAX_DISTANCE:
        if (parse_bounded(parser->value, 1, UINT64_MAX, &analysis->engine.max_distance) < 0)
            return rsc_option_refuse(parser, "not a number of lines from 1 up");
        return -1;
    case OPT_PHASES:
        if (parse_bounded(parser->value, 1, 10000, &number) < 0)
            return rsc_option_refuse(parser, "not a number from 1 to 10000");
        analysis->engine.phases = (uint32_t)number;
        return -1;
    case OPT_BINS:
        if (parse_bounded(parser->value, 1, 64, &number) < 0)
            return rsc_option_refuse(parser, "not a number from 1 to 64");
        analysis->engine.bins_per_octave = (uint32_t)number;
        return -1;
    case OPT_THREADS:
        if (parse_bounded(parser->value, 1, 1024, &number) < 0)
            return rsc_option_refuse(parser, "not a number from 1 to 1024");
        analysis->threads = (unsigned)number;
        return -1;
    default: return rsc_session_option(&analysis->session, parser, id);
    }
}

static int take_options(struct analysis *analysis, const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_option_parser parser;
    int id;
    rsc_options_start(&parser, verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) {
            if (analysis->path) return rsc_usage_error(verb, "more than one trace: %.60s", parser.value);
            analysis->path = parser.value;
            continue;
        }
        int leave = take_option(analysis, &parser, id);
        if (leave >= 0) return leave;
    }
    if (!analysis->path)
        return rsc_usage_error(verb, "a trace is missing: reusescope analyze TRACE (- is standard input)");
    return -1;
}

/* ---- the work ---- */

static void push_one(void *argument, size_t index) {
    struct analysis *analysis = argument;
    analysis->status[index] = rsc_engine_push(analysis->engines[index], analysis->batch, &analysis->errors[index]);
}

static int push_all(struct analysis *analysis, const struct rsc_batch *batch, struct rsc_error *error) {
    analysis->batch = batch;
    if (analysis->pool)
        rsc_pool_for(analysis->pool, analysis->line_count, push_one, analysis);
    else
        for (size_t i = 0; i < analysis->line_count; i++) push_one(analysis, i);
    for (size_t i = 0; i < analysis->line_count; i++) {
        if (analysis->status[i] == 0) continue;
        *error = analysis->errors[i];
        return analysis->status[i];
    }
    return 0;
}

static int make_engines(struct analysis *analysis, struct rsc_error *error) {
    analysis->engine.struct_bytes = sizeof analysis->engine;
    analysis->engine.log = &analysis->session.log;
    for (size_t i = 0; i < analysis->line_count; i++) {
        analysis->engine.line_bytes = analysis->line_bytes[i];
        int status = rsc_engine_new(&analysis->engines[i], &analysis->engine, error);
        if (status < 0) return status;
    }
    if (analysis->threads > 1 && analysis->line_count > 1)
        return rsc_pool_new(&analysis->pool, analysis->threads, error);
    return 0;
}

static int read_trace(struct analysis *analysis, struct rsc_error *error) {
    struct rsc_trace_info info;
    const struct rsc_batch *batch;
    uint64_t done = 0;
    int status;
    rsc_trace_get_info(analysis->trace, &info);
    while ((status = rsc_trace_next(analysis->trace, &batch, error)) > 0) {
        status = push_all(analysis, batch, error);
        if (status < 0) return status;
        done += batch->count;
        rsc_progress(&analysis->session, done, info.accesses, "accesses");
    }
    rsc_progress_end(&analysis->session);
    return status;
}

static int finish_engines(struct analysis *analysis, struct rsc_error *error) {
    for (size_t i = 0; i < analysis->line_count; i++) {
        int status = rsc_engine_finish(analysis->engines[i], &analysis->profiles[i], error);
        if (status < 0) return status;
        if (rsc_profile_set_text(&analysis->profiles[i]->made.source, "trace") < 0 ||
            rsc_profile_set_command(analysis->profiles[i], analysis->session.argv) < 0)
            return rsc_fail_memory(error, "profile");
    }
    return 0;
}

static int run_analyze(const struct rsc_verb *verb, int argc, char **argv) {
    struct analysis *analysis = calloc(1, sizeof *analysis);
    struct rsc_error error;
    if (!analysis) return RSC_EXIT_ERROR;
    rsc_session_start(&analysis->session, verb, argv);
    analysis->line_bytes[0] = 64;
    analysis->line_count = 1;
    analysis->threads = rsc_pool_cpu_count();
    int leave = take_options(analysis, verb, argc, argv);
    if (leave < 0) {
        int status = make_engines(analysis, &error);
        if (!status)
            status = rsc_session_open(&analysis->session, &analysis->trace, analysis->path, analysis->threads > 1,
                                      &error);
        if (!status) status = read_trace(analysis, &error);
        if (!status) status = finish_engines(analysis, &error);
        leave = status < 0 ? rsc_session_fail(&analysis->session, &error)
                           : rsc_session_deliver(&analysis->session, analysis->profiles, analysis->line_count, 1);
    }
    rsc_trace_close(analysis->trace);
    rsc_pool_free(analysis->pool);
    for (size_t i = 0; i < LINE_SIZES_MAX; i++) {
        rsc_engine_free(analysis->engines[i]);
        rsc_profile_free(analysis->profiles[i]);
    }
    free(analysis);
    return leave;
}

const struct rsc_verb rsc_verb_analyze = {
    .name = "analyze",
    .operands = "TRACE",
    .summary = "Reuse distances and miss ratio curve of a trace",
    .about = "TRACE is a file in any format reusescope reads, plain or packed with gzip, xz or\n"
             "zstd, or - for standard input. The result is drawn on the terminal and kept in\n"
             "reusescope.data (the one before it in reusescope.data.old).",
    .example = "valgrind --tool=lackey --trace-mem=yes ls 2>&1 >/dev/null | reusescope analyze -",
    .groups = {options, rsc_trace_options, rsc_output_options, rsc_common_options},
    .run = run_analyze,
};
