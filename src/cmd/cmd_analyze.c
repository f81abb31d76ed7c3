/* cmd_analyze.c - `reusescope analyze`: runs an engine on a trace, for one or several line sizes at once. */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "cmd/analysis.h"
#include "cmd/memory.h"
#include "engine/engine_auto.h"

enum { OPT_REQUESTS = RSC_OPT_ANALYSIS_VERB, OPT_EVERY_SIZE };

static const struct rsc_option options[] = {
    RSC_HEADING("analysis"),
    {OPT_REQUESTS, 0, "requests", NULL,
     "each access is a request for a whole object: distances and cache sizes in bytes", NULL},
    RSC_HEADING("results"),
    {OPT_EVERY_SIZE, 0, "every-size", NULL, "exact miss ratios at every cache size, not only at 64 per octave", NULL},
    RSC_HEADING("sampling"),
    /* not for `run`, where --seed is the program's */
    {RSC_OPT_SEED, 0, "seed", "N", "seed of sampling engines (default 0)", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

/* The operands, in order. */
struct traces {
    const char **paths; /* owned */
    size_t count;
};

static int is_ranked(const struct rsc_analysis *analysis) {
    return (analysis->spec.kind->can & RSC_RUNS_ON_RANKS) != 0;
}

static int take_options(struct rsc_analysis *analysis, struct traces *traces, int argc, char **argv) {
    const struct rsc_verb *verb = analysis->session->verb;
    struct rsc_option_parser parser;
    int id;
    rsc_options_start(&parser, verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) {
            traces->paths[traces->count++] = parser.value;
            continue;
        }
        if (id == OPT_REQUESTS) {
            analysis->requests = 1;
            continue;
        }
        if (id == OPT_EVERY_SIZE) {
            analysis->every_size = 1;
            continue;
        }
        int leave = rsc_analysis_option(analysis, &parser, id);
        if (leave >= 0) return leave;
    }
    if (!traces->count)
        return rsc_usage_error(verb, "a trace is missing: reusescope analyze TRACE (- is standard input)");
    if (is_ranked(analysis)) return -1; /* rank 0 handles the output */
    if (traces->count > 1) return rsc_usage_error(verb, "more than one trace: %.60s", traces->paths[1]);
    return rsc_session_check_output(analysis->session);
}

/* One pass over the trace; makes the profiles. */
static int analyze_once(struct rsc_analysis *analysis, const char *path, struct rsc_error *error) {
    struct rsc_trace *trace = NULL;
    int status = rsc_session_open(analysis->session, &trace, path, 1, error);
    if (!status) status = rsc_analysis_read(analysis, trace, error);
    if (!status) status = rsc_analysis_finish(analysis, "trace", error);
    rsc_trace_close(trace);
    return status;
}

/* With --error: if the error bars are too wide, repeats the analysis exactly if the trace is a file, else warns. */
static int keep_word(struct rsc_analysis *analysis, const char *path, struct rsc_error *error) {
    double allowed = analysis->engine.error;
    struct stat there;
    int good = 1;
    for (size_t i = 0; allowed > 0 && i < analysis->count; i++)
        good &= rsc_auto_kept_word(analysis->profiles[i], allowed);
    if (good || !rsc_engine_spec_of(&analysis->spec, &rsc_engine_auto)) return 0; /* sampled has warned itself */
    if (!strcmp(path, "-") || stat(path, &there) < 0 || !S_ISREG(there.st_mode)) {
        rsc_log_line(&analysis->session->log, RSC_LOG_WARNING,
                     "the error bars are wider than --error %g allows, and the input cannot be read again", allowed);
        return 0;
    }
    rsc_log_line(&analysis->session->log, RSC_LOG_INFO,
                 "auto: the error bars are wider than %g: repeating the analysis exactly", allowed);
    rsc_analysis_close(analysis);
    analysis->engine.error = 0;
    rsc_engine_spec_parse(&analysis->spec, rsc_engine_exact.name, NULL);
    analysis->engine.attribute = 2; /* as in the first pass */
    int status = rsc_analysis_open(analysis, error);
    if (!status) status = rsc_memory_plan(analysis, path, error);
    return status < 0 ? status : analyze_once(analysis, path, error);
}

static int analyze(struct rsc_analysis *analysis, const char *path) {
    struct rsc_session *session = analysis->session;
    struct rsc_error error;
    int status = rsc_analysis_open(analysis, &error);
    session->wants_addresses = !analysis->requests;
    if (!status) status = rsc_memory_plan(analysis, path, &error);
    if (!status) status = analyze_once(analysis, path, &error);
    if (!status) status = keep_word(analysis, path, &error);
    return status < 0 ? rsc_session_fail(session, &error)
                      : rsc_session_deliver(session, analysis->profiles, analysis->count, 1);
}

static int run_analyze(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_analysis *analysis = malloc(sizeof *analysis);
    struct traces traces = {malloc((size_t)argc * sizeof *traces.paths), 0};
    int leave = 0;
    if (!analysis || !traces.paths) {
        leave = rsc_memory_error(verb);
        goto out;
    }
    rsc_session_catch_interrupt();
    rsc_session_start(&session, verb, argv);
    rsc_analysis_start(analysis, &session);
    leave = take_options(analysis, &traces, argc, argv);
    if (leave < 0)
        leave = is_ranked(analysis) ? rsc_analyze_ranks(analysis, traces.paths, traces.count)
                                    : analyze(analysis, traces.paths[0]);
    rsc_analysis_close(analysis);
out:
    free(analysis);
    free(traces.paths);
    return leave;
}

const struct rsc_verb rsc_verb_analyze = {
    .name = "analyze",
    .operands = "TRACE",
    .summary = "Compute reuse distances and the miss ratio curve of a trace",
    .about =
        "TRACE is a file in any format reusescope reads, plain or compressed with gzip, xz, zstd, zip, lz4 or snappy, "
        "or - for standard input. Prints the result and keeps it in reusescope.data (the previous one in "
        "reusescope.data.old). --engine mpi takes several traces and reads them as one: mpirun -n 4 "
        "reusescope analyze ...",
    .example = "valgrind --tool=lackey --trace-mem=yes ls 2>&1 >/dev/null | reusescope analyze -",
    .groups = {rsc_analysis_options, options, rsc_trace_options, rsc_output_options, rsc_common_options},
    .run = run_analyze,
};
