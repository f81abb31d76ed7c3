/*
 * cmd_attach.c - `reusescope attach`: watches a running program for a while and leaves it
 * running. The rest is `run`'s (cmd_run.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/numbers.h"
#include "cmd/run_options.h"
#include "collect/launch/attach.h"

enum { OPT_FOR = RSC_OPT_ANALYSIS_VERB, OPT_WAIT, OPT_SEED, OPT_RATE, OPT_ALLOW_VM };

#define SECONDS_MOST 1e6

static const struct rsc_option options[] = {
    RSC_HEADING("program"),
    {OPT_FOR, 0, "for", "TIME", "how long to watch it, as 10s (default), 500ms or 2m; Ctrl-C ends it earlier", NULL},
    {OPT_WAIT, 0, "wait", "TIME", "how long to wait for an answer of a program built with cc (default 10s)", NULL},
    RSC_HEADING("analysis"),
    {RSC_OPT_MODEL, 0, "model", "MODEL",
     "shared: one stack for all threads; private: one per thread, kept coherent; both (default for threads)",
     "private shared both"},
    {RSC_OPT_CONFIDENCE, 0, "confidence", "PERCENT", "confidence level of error bars (default 90)", NULL},
    {OPT_SEED, 0, "seed", "S", "seed of the sample (default 0)", NULL},
    RSC_HEADING("programs that were not built with cc"),
    {RSC_OPT_ENGINE, 0, "engine", "ENGINE", "featherlight:..., as with run --with perf: period=N, registers=N, ...",
     NULL},
    {OPT_RATE, 0, "rate", "N", "samples per second of each thread's processor time (default 300)", NULL},
    {OPT_ALLOW_VM, 0, "allow-vm", NULL, "on a virtual machine too, where a lost debug trap can end the program", NULL},
    {RSC_OPT_LINE, 0, "line", "BYTES", "8: words (default); 64: lines, modelled", "8 64"},
    {0, 0, NULL, NULL, NULL, NULL},
};

/* 10, 10s, 500ms or 2m. */
static int take_time(const struct rsc_option_parser *parser, double *seconds) {
    static const struct {
        const char *name;
        double seconds;
    } units[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"m", 60}, {"min", 60}, {"h", 3600}};
    char *end;
    double number = strtod(parser->value, &end);
    for (size_t i = 0; i < sizeof units / sizeof *units && end != parser->value; i++)
        if (!strcmp(end, units[i].name)) {
            *seconds = number * units[i].seconds;
            if (*seconds > 0 && *seconds <= SECONDS_MOST) return -1; /* not NAN either */
        }
    return rsc_option_refuse(parser, "not a time, such as 10s, 500ms or 2m");
}

static int take_option(struct rsc_run_asked *asked, struct rsc_analysis *analysis,
                       const struct rsc_option_parser *parser, int id) {
    struct rsc_collect_request *request = &asked->request;
    switch (id) {
    case OPT_FOR: return take_time(parser, &request->attach_seconds);
    case OPT_WAIT: return take_time(parser, &request->attach_patience);
    case OPT_SEED:
        request->seed_given = 1;
        return rsc_option_number(parser, 0, UINT64_MAX, "not a number", &request->seed);
    case OPT_ALLOW_VM: request->attach_in_vm = 1; return -1;
    case OPT_RATE: return rsc_option_number(parser, 1, 100000, "not a number from 1 to 100000", &asked->rate);
    case RSC_OPT_MODEL: asked->model_given = 1; return rsc_analysis_option(analysis, parser, id);
    default: return rsc_analysis_option(analysis, parser, id);
    }
}

/* Its program stands for the command. */
static int take_process(struct rsc_run_asked *asked, struct rsc_session *session, const char *text) {
    static char path[PATH_MAX], *command[] = {path, NULL};
    struct rsc_error error;
    uint64_t pid;
    if (rsc_parse_u64(text, strlen(text), &pid) < 0 || !pid || pid > INT32_MAX)
        return rsc_usage_error(session->verb, "%.40s: not a process id", text);
    if (rsc_attach_find((pid_t)pid, path, &error) < 0) return rsc_session_fail(session, &error);
    asked->request.attach_to = (pid_t)pid;
    asked->request.command = command;
    return -1;
}

/* A program that was built with cc records itself; any other is watched from outside. */
static int choose(struct rsc_run_asked *asked, struct rsc_analysis *analysis) {
    struct rsc_session *session = analysis->session;
    struct rsc_target target;
    struct rsc_error error;
    if (rsc_target_find(&target, asked->request.command[0], &error) < 0) return rsc_session_fail(session, &error);
    asked->with = target.rebuilt ? &rsc_collector_rebuilt : &rsc_collector_perf;
    if (target.rebuilt &&
        (asked->rate || analysis->lines_given || analysis->engine.engine || asked->request.attach_in_vm))
        return rsc_usage_error(session->verb, "%s is for programs that were not built with reusescope cc",
                               asked->rate               ? "--rate"
                               : analysis->lines_given   ? "--line"
                               : analysis->engine.engine ? "--engine"
                                                         : "--allow-vm");
    if (!target.rebuilt && asked->model_given)
        return rsc_usage_error(session->verb, "--model needs a program that was built with reusescope cc");
    return -1;
}

static int take_options(struct rsc_run_asked *asked, struct rsc_analysis *analysis, int argc, char **argv) {
    struct rsc_session *session = analysis->session;
    struct rsc_option_parser parser;
    int id, leave;
    asked->request.attach_seconds = asked->request.attach_patience = 10;
    rsc_options_start(&parser, session->verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id != RSC_OPERAND) leave = take_option(asked, analysis, &parser, id);
        else if (asked->request.attach_to) leave = rsc_usage_error(session->verb, "only one process can be watched");
        else leave = take_process(asked, session, parser.value);
        if (leave >= 0) return leave;
    }
    if (!asked->request.attach_to)
        return rsc_usage_error(session->verb, "a process id is missing: reusescope attach $(pidof server)");
    if (asked->request.seed_given) analysis->engine.seed = asked->request.seed;
    leave = choose(asked, analysis);
    return leave >= 0 ? leave : rsc_session_check_output(session);
}

static int run_attach(const struct rsc_verb *verb, int argc, char **argv) {
    return rsc_run_verb(verb, argc, argv, take_options);
}

const struct rsc_verb rsc_verb_attach = {
    .name = "attach",
    .operands = "PID",
    .summary = "Watch a running program for a while and leave it running",
    .about = "A program built with `reusescope cc` samples its references while it is watched. Any other program is "
             "watched from outside, where the machine has a PMU: accesses are sampled, and debug registers catch their "
             "reuses. Both have error bars. The program must be of the same user; it runs on as before afterwards, and "
             "can be watched again at any time.",
    .example = "reusescope attach $(pidof server) --for 10s",
    .groups = {options, rsc_output_options, rsc_common_options},
    .run = run_attach,
};
