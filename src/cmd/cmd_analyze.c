/* cmd_analyze.c - `reusescope analyze`: a trace through an engine, for one or several line sizes at once. */
#include <stdlib.h>

#include "cmd/analysis.h"

enum { OPT_REQUESTS = RSC_OPT_ANALYSIS_VERB };

static const struct rsc_option options[] = {
    {OPT_REQUESTS, 0, "requests", NULL, "each access is a request for a whole object: distances and cache sizes in bytes",
     NULL},
    /* not for `run`, whose own --seed is the program's */
    {RSC_OPT_SEED, 0, "seed", "N", "of engines that sample: another one draws another sample (default 0)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

static int take_options(struct rsc_analysis *analysis, const char **path, int argc, char **argv) {
    const struct rsc_verb *verb = analysis->session->verb;
    struct rsc_option_parser parser;
    int id;
    rsc_options_start(&parser, verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) {
            if (*path) return rsc_usage_error(verb, "more than one trace: %.60s", parser.value);
            *path = parser.value;
            continue;
        }
        if (id == OPT_REQUESTS) {
            analysis->requests = 1;
            continue;
        }
        int leave = rsc_analysis_option(analysis, &parser, id);
        if (leave >= 0) return leave;
    }
    if (!*path) return rsc_usage_error(verb, "a trace is missing: reusescope analyze TRACE (- is standard input)");
    return rsc_session_check_output(analysis->session);
}

static int read_trace(struct rsc_analysis *analysis, struct rsc_trace *trace, struct rsc_error *error) {
    struct rsc_trace_info info;
    const struct rsc_batch *batch;
    uint64_t done = 0;
    int status;
    rsc_trace_get_info(trace, &info);
    while ((status = rsc_trace_next(trace, &batch, error)) > 0) {
        status = rsc_analysis_push(analysis, batch, error);
        if (status < 0) return status;
        done += batch->count;
        rsc_progress(analysis->session, done, info.accesses, "accesses");
    }
    rsc_progress_end(analysis->session);
    return status;
}

static int run_analyze(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_analysis *analysis = malloc(sizeof *analysis);
    struct rsc_trace *trace = NULL;
    struct rsc_error error;
    const char *path = NULL;
    if (!analysis) return RSC_EXIT_ERROR;
    rsc_session_start(&session, verb, argv);
    rsc_analysis_start(analysis, &session);
    int leave = take_options(analysis, &path, argc, argv);
    if (leave < 0) {
        int status = rsc_analysis_open(analysis, &error);
        if (!status) status = rsc_session_open(&session, &trace, path, analysis->threads > 1, &error);
        if (!status) status = read_trace(analysis, trace, &error);
        if (!status) status = rsc_analysis_finish(analysis, "trace", &error);
        leave = status < 0 ? rsc_session_fail(&session, &error)
                           : rsc_session_deliver(&session, analysis->profiles, analysis->line_count, 1);
    }
    rsc_trace_close(trace);
    rsc_analysis_close(analysis);
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
    .groups = {options, rsc_analysis_options, rsc_trace_options, rsc_output_options, rsc_common_options},
    .run = run_analyze,
};
