/* run_options.c - see run_options.h. */
#include "cmd/run_options.h"

#include <string.h>

#include "base/numbers.h"

enum {
    OPT_WITH = RSC_OPT_ANALYSIS_VERB,
    OPT_TRACE,
    OPT_NO_ANALYSIS,
    OPT_ROI,
    OPT_SKIP,
    OPT_FOR,
    OPT_FOLLOW,
    OPT_ORDER,
    OPT_QUANTUM,
    OPT_SEED,
    OPT_NATIVE,
    OPT_RATE,
    OPT_SAMPLE,
};

const struct rsc_option rsc_run_options[] = {
    RSC_HEADING("program"),
    {OPT_WITH, 0, "with", "COLLECTOR",
     "asm (built with reusescope cc), valgrind (x86-64), qemu (any program), perf (samples; costs a few percent) or "
     "auto (default: asm where possible, else valgrind for x86-64 programs, else qemu)",
     "auto asm valgrind qemu perf"},
    {OPT_ROI, 0, "roi", "FUNCTION",
     "watch each thread only while it is in FUNCTION; 'marked': between reusescope_begin() and reusescope_end()", NULL},
    {OPT_SKIP, 0, "skip", "N", "skip the first N instructions", NULL},
    {OPT_FOR, 0, "for", "N", "watch N instructions, then let the program run on", NULL},
    {OPT_FOLLOW, 0, "follow", NULL, "also watch forked children, and the programs they start", NULL},
    {OPT_ORDER, 0, "order", "ORDER", "thread order: time (default) or strict (one at a time, round-robin)",
     "time strict"},
    {OPT_QUANTUM, 0, "quantum", "N",
     "under Valgrind: threads take turns of N accesses (default 4, less where they write to one line)", "4 100"},
    {OPT_SEED, 0, "seed", "S",
     "seed of the sample (default 0) and, under an emulator, of the program's startup random bytes (default 1)", NULL},
    {OPT_NATIVE, 0, "native", "[=BINARY]",
     "first run the program, or BINARY (its plain build), once unwatched (no input or output), to measure the slowdown",
     NULL},
    RSC_HEADING("recording"),
    {OPT_TRACE, 0, "trace", "FILE", "also record a native trace (%p: process id)", NULL},
    {OPT_NO_ANALYSIS, 0, "no-analysis", NULL, "with --trace: only record", NULL},
    RSC_HEADING("sampling"),
    {OPT_SAMPLE, 0, "sample", "SAMPLE",
     "for programs built with reusescope cc: 1/N (one reference in N; default: as many as the error bars need), "
     "lines:RATE (part of all cache lines; also with --with valgrind) or none (every reference)",
     "1/10000 lines:1/64 none"},
    {OPT_RATE, 0, "rate", "N", "with --with perf: samples per second of each thread's processor time (default 300)",
     NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

static int take_with(struct rsc_run_asked *asked, const struct rsc_option_parser *parser) {
    char message[200] = "not one of ", *names = message + strlen(message);
    int status = rsc_collector_parse(parser->value, &asked->with);
    asked->request.by_name = asked->with != NULL;
    rsc_collector_names(names, sizeof message - strlen(message), ", ");
    return status < 0 ? rsc_option_refuse(parser, message) : -1;
}

static int take_roi(struct rsc_run_asked *asked, const struct rsc_option_parser *parser) {
    struct rsc_collect_request *request = &asked->request;
    if (!*parser->value) return rsc_usage_error(parser->verb, "--roi: the name of a function is missing");
    request->roi_marked = !strcmp(parser->value, "marked");
    request->roi_function = request->roi_marked ? NULL : parser->value;
    return -1;
}

/* none, lines:RATE or 1/N. */
static int take_sample(struct rsc_run_asked *asked, const struct rsc_option_parser *parser) {
    struct rsc_line_choice choice;
    const char *value = parser->value;
    asked->lines = NULL;
    asked->period = 0;
    asked->sample_given = 1;
    if (!strcmp(value, "none")) return -1;
    if (strncmp(value, "lines:", 6)) {
        if (strncmp(value, "1/", 2) || rsc_parse_u64(value + 2, strlen(value + 2), &asked->period) < 0 ||
            !asked->period || asked->period > 1ull << 52)
            return rsc_option_refuse(parser,
                                     "not 1/N (one reference in N, as 1/1000), lines:RATE (as lines:1/64) or none");
        return -1;
    }
    if (rsc_line_choice_parse(&choice, value + 6, 0) < 0)
        return rsc_option_refuse(parser, "not a rate of lines above 0 and below 1, such as lines:1/64");
    asked->lines = value + 6;
    return -1;
}

static int take_option(struct rsc_run_asked *asked, struct rsc_analysis *analysis,
                       const struct rsc_option_parser *parser, int id) {
    struct rsc_collect_request *request = &asked->request;
    switch (id) {
    case OPT_WITH: return take_with(asked, parser);
    case OPT_TRACE: asked->trace_path = parser->value; return -1;
    case OPT_NO_ANALYSIS: asked->only_record = 1; return -1;
    case OPT_ROI: return take_roi(asked, parser);
    case OPT_SKIP: return rsc_option_number(parser, 0, UINT64_MAX, "not a number", &request->skip);
    case OPT_FOR: return rsc_option_number(parser, 1, UINT64_MAX, "not a number from 1 up", &request->length);
    case OPT_FOLLOW: request->follow = 1; return -1;
    case OPT_QUANTUM:
        return rsc_option_number(parser, 1, 1000000000, "not a number of accesses from 1", &request->quantum);
    case OPT_ORDER:
        request->strict = !strcmp(parser->value, "strict");
        if (!request->strict && strcmp(parser->value, "time"))
            return rsc_option_refuse(parser, "not one of time, strict");
        return -1;
    case OPT_SEED:
        request->seed_given = 1;
        return rsc_option_number(parser, 0, UINT64_MAX, "not a number", &request->seed);
    case OPT_NATIVE:
        asked->native = 1;
        asked->native_binary = parser->value;
        return parser->value && !*parser->value ? rsc_option_refuse(parser, "no file is named") : -1;
    case OPT_RATE: return rsc_option_number(parser, 1, 100000, "not a number from 1 to 100000", &asked->rate);
    case OPT_SAMPLE: return take_sample(asked, parser);
    case RSC_OPT_MODEL: asked->model_given = 1; return rsc_analysis_option(analysis, parser, id);
    default: return rsc_analysis_option(analysis, parser, id);
    }
}

/* Rejects options that contradict each other for any program. Returns -1, or the exit status after a message. */
static int check_options(const struct rsc_run_asked *asked, const struct rsc_analysis *analysis) {
    const struct rsc_verb *verb = analysis->session->verb;
    const struct rsc_collect_request *request = &asked->request;
    const char *trace = asked->trace_path;
    int pairs = asked->with && rsc_collector_gives(asked->with, RSC_TAKES_PAIRS);
    if (analysis->spec.kind->can & RSC_RUNS_ON_RANKS)
        return rsc_usage_error(
            verb, "--engine mpi works on traces: record them with --trace, then use reusescope analyze --engine mpi");
    if (!pairs && rsc_live_taken(&analysis->spec) == RSC_TAKES_PAIRS)
        return rsc_usage_error(
            verb,
            "--engine featherlight watches reuses while the program runs: that is --with perf (or record a trace, "
            "--trace FILE --no-analysis, then reusescope analyze --engine featherlight)");
    if (asked->only_record && !trace) return rsc_usage_error(verb, "--no-analysis needs --trace FILE");
    if (trace && !strcmp(trace, "-"))
        return rsc_usage_error(verb, "--trace -: standard output is the program's; name a file");
    if (asked->rate && !pairs) return rsc_usage_error(verb, "--rate needs --with perf: the others see every access");
    if (trace && asked->with && !rsc_collector_gives(asked->with, RSC_TAKES_ACCESSES))
        return rsc_usage_error(verb, "--trace needs every access: --with asm, valgrind or qemu, not perf");
    if ((request->roi_function || request->roi_marked) && (request->skip || request->length))
        return rsc_usage_error(verb, "--roi and --skip or --for exclude each other");
    int leave = trace ? rsc_session_spare_inputs(analysis->session, trace, trace) : -1;
    if (leave < 0 && trace && !asked->only_record) leave = rsc_session_spare_result(analysis->session, trace);
    return leave >= 0 || asked->only_record ? leave : rsc_session_check_output(analysis->session);
}

int rsc_run_take_options(struct rsc_run_asked *asked, struct rsc_analysis *analysis, int argc, char **argv) {
    struct rsc_option_parser parser;
    int id;
    rsc_options_start(&parser, analysis->session->verb, argc, argv);
    while ((id = rsc_options_next(&parser)) != RSC_OPTIONS_END && id != RSC_OPERAND) {
        int leave = take_option(asked, analysis, &parser, id);
        if (leave >= 0) return leave;
    }
    if (id != RSC_OPERAND)
        return rsc_usage_error(analysis->session->verb, "a program is missing: reusescope run -- ./app");
    if (asked->request.seed_given) analysis->engine.seed = asked->request.seed;
    asked->request.command = argv + parser.next - 1;
    asked->request.sysroot = analysis->sysroot;
    return check_options(asked, analysis);
}
