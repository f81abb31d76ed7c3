/* cmd_loops.c - `reusescope loops`: predicts miss ratio curves of loops at any thread count, without running them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/output_file.h"
#include "base/seconds.h"
#include "cmd/loops_machine.h"
#include "cmd/loops_request.h"
#include "profile/profile_model.h"
#include "report/draw/units.h"

enum {
    OPT_THREADS = RSC_OPT_LOOPS_VERB,
    OPT_SCHEDULE,
    OPT_INTERLEAVE,
    OPT_LIKE,
    OPT_MACHINE,
    OPT_WHAT_IF,
    OPT_SKIP,
    OPT_LOOP,
    OPT_LINE,
    OPT_SAMPLES,
    OPT_SEED,
    OPT_CONFIDENCE,
    OPT_LIST,
    OPT_EMIT,
    OPT_ALL,
};

static const struct rsc_option options[] = {
    RSC_HEADING("prediction"),
    {OPT_THREADS, 't', "threads", "LIST", "thread counts, as 1,4,16 or 1-64 (default 1,2,4,8)", NULL},
    {OPT_INTERLEAVE, 0, "interleave", "HOW",
     "how threads run against each other: drift (default), iid, lockstep, bursty:N or racetrack",
     "drift iid lockstep bursty: racetrack"},
    {OPT_LIKE, 0, "like", "PROFILE",
     "take interleaving and thread count from a recorded run (run --sample none, or analyze, with a model of threads)",
     NULL},
    {OPT_SCHEDULE, 0, "schedule", "KIND[,CHUNK]", "replaces the source's: static, dynamic or guided",
     "static dynamic guided"},
    {OPT_WHAT_IF, 0, "what-if", "CHANGE",
     "also predict with this change: chunk=4[,8...], schedule=dynamic[,4], tile=i:32,j:32, interchange=i,j, fuse=i "
     "(with the next loop) or pad=a:8 (elements per row)",
     NULL},
    {OPT_MACHINE, 0, "machine", "NAME",
     "also the set-associative caches of a machine: 'this' or a file; all but the last level are one per thread",
     "this neoverse-n1 skylake-x zen2"},
    {OPT_LINE, 0, "line", "BYTES", "size of a cache line (default 64)", NULL},
    {OPT_SAMPLES, 0, "samples", "N", "references sampled per thread count (default: by the error that is left; 0: all)",
     NULL},
    {OPT_SEED, 0, "seed", "S", "seed of the random numbers (default 1)", NULL},
    {OPT_CONFIDENCE, 0, "confidence", "PERCENT", "confidence level of error bars (default 90)", NULL},
    RSC_HEADING("loops"),
    {OPT_LOOP, 0, "loop", "LINE", "only the loop that starts at this line, or has this name", NULL},
    {OPT_SKIP, 0, "skip-nonaffine", NULL, "analyse loops without their non-affine parts", NULL},
    {OPT_ALL, 0, "all", NULL, "also show loops that initialise or print in the text", NULL},
    {OPT_LIST, 0, "list", NULL, "only list the loops and their non-affine parts", NULL},
    {OPT_EMIT, 0, "emit-ir", NULL, "only print the loop tree, as a .loop file has it", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

static const struct rsc_option output_options[] = {
    RSC_HEADING("output"),
    {RSC_OPT_OUTPUT, 'o', "output", "FILE",
     "write here: .json, .csv, .txt, .html render, anything else is a file of profiles; - is standard output", NULL},
    {RSC_OPT_FORMAT, 0, "format", "FORMAT", "text, json, csv or html", "text json csv html"},
    {RSC_OPT_AT, 0, "at", "SIZE",
     "rank references by misses in a cache of SIZE, as 1M or L2 (default: this machine's L2)", "L1d L2 L3"},
    {RSC_OPT_NO_COMMAND, 0, "no-command", NULL,
     "for sharing: leave out the command line and the folders of absolute paths", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

/* The watch of long work: shows progress, and ends it when time is up. */
static int go_on(void *context) {
    struct rsc_loops_request *request = context;
    if (rsc_progress_due(request->session)) {
        char line[sizeof request->doing + 32];
        snprintf(line, sizeof line, "%s, %.0f s", request->doing, rsc_seconds_now() - request->began);
        rsc_progress_say(request->session, line);
    }
    return request->seconds_max <= 0 || rsc_seconds_now() - request->began < request->seconds_max;
}

static int parse_threads(struct rsc_loops_request *request, const struct rsc_option_parser *parser) {
    const char *at = parser->value;
    request->threads_given = 1;
    request->thread_count = 0;
    while (*at) { /* 4, or 1-64 */
        size_t length = strcspn(at, ","), first = strcspn(at, ",-");
        uint64_t low, high;
        if (rsc_parse_u64(at, first, &low) < 0 || low < 1) low = UINT64_MAX;
        if (first == length) high = low;
        else if (rsc_parse_u64(at + first + 1, length - first - 1, &high) < 0) high = 0;
        if (low > high || high > 4096)
            return rsc_option_refuse(parser, "not a list of numbers or ranges from 1 to 4096");
        for (; low <= high; low++) {
            if (request->thread_count == RSC_LOOPS_THREADS_MAX)
                return rsc_option_refuse(parser, "more than 64 thread counts");
            request->threads[request->thread_count++] = (uint32_t)low;
        }
        at += length + (at[length] == ',');
    }
    return request->thread_count ? -1 : rsc_option_refuse(parser, "no thread count given");
}

static int parse_number(const struct rsc_option_parser *parser, uint64_t most, uint64_t *value) {
    return rsc_option_number(parser, 0, most, "not a number, or too large", value);
}

static int take_option(void *context, const struct rsc_option_parser *parser, int id) {
    struct rsc_loops_request *request = context;
    struct rsc_error error;
    uint64_t number = 0;
    int leave = rsc_loops_input_option(&request->input, parser, id);
    if (leave != -2) return leave;
    switch (id) {
    case OPT_THREADS: return parse_threads(request, parser);
    case OPT_LOOP: request->loop = parser->value; return -1;
    case OPT_SCHEDULE: request->model.schedule = parser->value; return -1;
    case OPT_SKIP: request->skip = 1; return -1;
    case OPT_ALL: request->all = 1; return -1;
    case OPT_LIST: request->list = 1; return -1;
    case OPT_EMIT: request->emit = 1; return -1;
    case OPT_MACHINE: request->findings.machine = parser->value; return -1;
    case OPT_LIKE: request->like = parser->value; return -1;
    case OPT_INTERLEAVE:
        request->interleave_given = 1;
        return rsc_interleave_parse(&request->interleave, parser->value, &error)
                   ? rsc_option_refuse(parser, "not drift, iid, lockstep, bursty:N or racetrack")
                   : -1;
    case OPT_WHAT_IF:
        if (request->what_if_count == RSC_LOOPS_WHAT_IFS_MAX) return rsc_option_refuse(parser, "too many of these");
        request->what_if[request->what_if_count++].what = parser->value;
        return -1;
    case OPT_LINE:
        if ((leave = parse_number(parser, 4096, &number)) >= 0) return leave;
        if (number < 1 || (number & (number - 1))) return rsc_option_refuse(parser, "not a power of two up to 4096");
        request->model.line_bytes = number;
        request->line_given = 1;
        return -1;
    case OPT_SAMPLES:
        leave = parse_number(parser, 100000000, &number);
        request->model.samples = (uint32_t)number;
        return leave;
    case OPT_SEED: return parse_number(parser, UINT64_MAX, &request->model.seed);
    case OPT_CONFIDENCE:
        return rsc_option_fraction(parser, 1, 99.9, "not a number from 1 to 99.9", &request->model.confidence);
    default: return rsc_session_option(request->session, parser, id);
    }
}

static int wanted(const struct rsc_loops_request *request, const struct rsc_loop_region *region) {
    char line[32];
    snprintf(line, sizeof line, "%u", region->line);
    return !request->loop || !strcmp(request->loop, region->name) || !strcmp(request->loop, line);
}

/* A loop's place in the source, its schedule, and its non-affine parts. */
static int describe(const struct rsc_loops_request *request, const struct rsc_loop_region *region,
                    struct rsc_loops_found *loop, struct rsc_error *error) {
    *loop = (struct rsc_loops_found){
        .file = rsc_loops_shown_file(request, region->file ? region->file : request->input.path),
        .function = region->function,
        .name = region->name,
        .line = region->line,
        .aside = rsc_loop_region_is_aside(region)};
    rsc_loop_region_schedule(region, loop->schedule, sizeof loop->schedule);
    if (!region->gap_count) return 0;
    loop->gap = calloc(region->gap_count, sizeof *loop->gap);
    loop->assumed = calloc(region->gap_count, sizeof *loop->assumed);
    if (!loop->gap || !loop->assumed) return rsc_fail_memory(error, "results");
    for (uint32_t i = 0; i < region->gap_count; i++) {
        const struct rsc_loop_gap *from = &region->gap[i];
        *(from->assumed ? &loop->assumed[loop->assumed_count++] : &loop->gap[loop->gap_count++]) =
            (struct rsc_loops_gap){.file = rsc_loops_shown_file(request, from->file ? from->file : region->file),
                                   .text = from->text,
                                   .reason = from->reason,
                                   .line = from->line};
    }
    return 0;
}

/* The requested loops, in source order. */
static int find_loops(struct rsc_loops_request *request, uint32_t *regions, struct rsc_error *error) {
    struct rsc_loops_findings *findings = &request->findings;
    int status = 0;
    for (uint32_t r = 0; r < request->program->region_count && !status; r++) {
        if (!wanted(request, &request->program->region[r])) continue;
        regions[findings->loop_count] = r;
        status = describe(request, &request->program->region[r], &findings->loop[findings->loop_count++], error);
    }
    size_t kernels = 0; /* that can be analysed */
    for (size_t l = 0; l < findings->loop_count; l++)
        kernels += !findings->loop[l].aside && (!findings->loop[l].gap_count || request->skip);
    if (request->all || request->loop || request->input.source.function || !kernels)
        for (size_t l = 0; l < findings->loop_count; l++) findings->loop[l].aside = 0;
    if (!status && !findings->loop_count && !request->list)
        status = request->loop ? rsc_fail(error, RSC_EINVAL, "--loop %.60s: no loop starts there (--list shows all)",
                                          request->loop)
                               : rsc_fail(error, RSC_EFORMAT, "%s: no loops", request->input.path);
    return status;
}

static void list_loops(const struct rsc_loops_request *request, const uint32_t *regions) {
    for (size_t l = 0; l < request->findings.loop_count; l++) {
        const struct rsc_loops_found *loop = &request->findings.loop[l];
        uint32_t references = request->program->region[regions[l]].reference_count;
        printf("%s:%u: %s: %s, %u reference%s in the source\n", loop->file, loop->line,
               loop->function ? loop->function : loop->name, loop->schedule, references, references == 1 ? "" : "s");
        for (size_t i = 0; i < loop->assumed_count; i++)
            printf("%s:%u:   %s\n", loop->assumed[i].file ? loop->assumed[i].file : loop->file, loop->assumed[i].line,
                   loop->assumed[i].reason);
        for (size_t i = 0; i < loop->gap_count; i++)
            printf("%s:%u:   not affine: %s\n", loop->gap[i].file ? loop->gap[i].file : loop->file, loop->gap[i].line,
                   loop->gap[i].reason);
    }
}

/* If no loop could be analysed, the first reason becomes the error. */
static int nothing_analysed(const struct rsc_loops_findings *findings, struct rsc_error *error) {
    for (size_t i = 0; i < findings->loop_count; i++)
        if (findings->loop[i].variant_count) return 0;
    const struct rsc_loops_found *first = &findings->loop[0];
    const struct rsc_loops_gap *gap = &first->gap[first->refusal ? first->gap_count - 1 : 0]; /* leave_out() added it */
    if (first->refusal == RSC_ELIMIT) return rsc_fail(error, first->refusal, "%s", first->refused);
    if (first->refusal) return rsc_fail(error, first->refusal, "%s:%u: %s", gap->file, gap->line, first->refused);
    return rsc_fail(error, RSC_EFORMAT, "%s:%u: %s (--skip-nonaffine analyses without it; --list shows all)",
                    gap->file ? gap->file : first->file, gap->line, gap->reason);
}

/* The cache size for ranking references: --at, else this machine's L2, else 1 MiB. */
static uint64_t ranking_size(const struct rsc_session *session) {
    struct rsc_machine machine;
    if (session->at_bytes) return session->at_bytes;
    rsc_machine_read(&machine, NULL);
    for (size_t i = 0; i < machine.level_count; i++)
        if (machine.levels[i].level == 2) return machine.levels[i].size_bytes;
    return UINT64_C(1) << 20;
}

/* Analyses and delivers. With -o or --format, a result without a single loop is also delivered: it has the reasons. */
static int answer(struct rsc_loops_request *request, const uint32_t *regions, struct rsc_error *error) {
    struct rsc_session *session = request->session;
    int asked = session->format || session->output;
    int status = rsc_loops_ask_all(request, regions, error);
    if (!status && !asked) status = nothing_analysed(&request->findings, error);
    if (status) return rsc_session_fail(session, error);
    int leave = rsc_session_deliver_result(
        session, &(struct rsc_result){.kind = RSC_RESULT_LOOPS, .loops = &request->findings}, 1);
    if (leave == RSC_EXIT_OK && asked && nothing_analysed(&request->findings, error))
        return rsc_session_fail(session, error);
    return leave;
}

/* The interleaving nearest to the turns of a recorded run's threads, and their number unless others are given. */
static int take_likeness(struct rsc_loops_request *request, struct rsc_error *error) {
    struct rsc_profile **profiles;
    size_t count, i = 0;
    char name[40];
    double at_once = 0;
    int status = rsc_profiles_load(request->like, &profiles, &count, error);
    if (status) return status;
    while (i < count && rsc_turns_nearest(&profiles[i]->turns, &at_once, name, sizeof name)) i++;
    if (i == count) {
        status = rsc_fail(error, RSC_EINVAL,
                          "--like %s: does not have the order of its threads (record several threads with "
                          "run --sample none --model shared, or analyze a trace with --model shared)",
                          request->like);
    } else {
        uint64_t threads = profiles[i]->made.threads, grain = profiles[i]->turns.grain;
        status = rsc_interleave_parse(&request->interleave, name, error);
        if (!request->threads_given && threads > 1 && threads <= 4096) {
            request->threads[0] = (uint32_t)threads;
            request->thread_count = 1;
        }
        rsc_log_line(&request->session->log, RSC_LOG_INFO, "%s: %s, %.1f threads at the same time", request->like, name,
                     at_once);
        if (grain > 1 && (double)grain > request->interleave.burst)
            rsc_log_line(&request->session->log, RSC_LOG_WARNING,
                         "%s: the order of threads is known to %llu references only, more than a turn has",
                         request->like, (unsigned long long)grain);
    }
    rsc_profiles_free(profiles, count);
    return status;
}

/* The caches of --machine decide the size of a line. */
static int take_machine(struct rsc_loops_request *request, struct rsc_error *error) {
    uint64_t line_bytes, given = request->model.line_bytes;
    int status = rsc_loops_machine_read(&request->caches, request->findings.machine, &line_bytes, error);
    if (!status && request->line_given && line_bytes != given)
        status = rsc_fail(error, RSC_EINVAL, "--line %llu: the lines of --machine %.60s are of %llu bytes",
                          (unsigned long long)given, request->findings.machine, (unsigned long long)line_bytes);
    request->model.line_bytes = line_bytes;
    return status;
}

static int run_request(struct rsc_loops_request *request, struct rsc_error *error) {
    struct rsc_session *session = request->session;
    struct rsc_loops_findings *findings = &request->findings;
    uint32_t *regions = NULL;
    char *text = NULL;
    size_t bytes = 0;
    int leave = RSC_EXIT_OK;
    int status = findings->machine ? take_machine(request, error) : 0;
    findings->line_bytes = request->model.line_bytes;
    findings->at_bytes = ranking_size(session);
    findings->command = session->no_command ? NULL : session->argv;
    request->seconds_max = request->input.source.seconds_max;
    request->input.source.schedule_given = request->model.schedule != NULL;
    if (!status && request->like) status = take_likeness(request, error);
    if (!status)
        status = rsc_loops_input_read(&request->input, findings->line_bytes, &request->program, &text, &bytes, error);
    if (!status && rsc_loops_input_unused(&request->input))
        rsc_log_line(&session->log, RSC_LOG_WARNING, "--set %s: %s has no parameter %s",
                     rsc_loops_input_unused(&request->input), request->input.path,
                     rsc_loops_input_unused(&request->input));
    if (!status && request->emit && session->output) status = rsc_session_spare_opened(session, session->output, error);
    if (!status && request->emit) {
        status = rsc_output_whole(session->output ? session->output : "-", text, bytes, 0, error);
    } else if (!status) {
        request->program->watch = &request->watch;
        findings->loop = calloc(request->program->region_count + 1, sizeof *findings->loop);
        regions = calloc(request->program->region_count + 1, sizeof *regions);
        status = findings->loop && regions ? find_loops(request, regions, error) : rsc_fail_memory(error, "results");
        if (!status && request->list) list_loops(request, regions);
        else if (!status) leave = answer(request, regions, error);
    }
    if (status < 0) leave = rsc_session_fail(session, error);
    free(regions);
    free(text);
    return leave;
}

static void free_request(struct rsc_loops_request *request) {
    rsc_loops_findings_free(&request->findings);
    for (size_t i = 0; i < request->changed_count; i++) rsc_loop_program_free(request->changed[i]);
    free(request->changed);
    rsc_loop_program_free(request->program);
    rsc_loops_input_free(&request->input);
    free(request);
}

static int run_loops(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_error error;
    struct rsc_loops_request *request = calloc(1, sizeof *request);
    static const uint32_t usual[] = {1, 2, 4, 8};
    rsc_session_start(&session, verb, argv);
    if (!request) {
        rsc_fail_memory(&error, "loops");
        return rsc_session_fail(&session, &error);
    }
    session.yields = RSC_RESULT_LOOPS;
    request->session = &session;
    request->began = rsc_seconds_now();
    request->watch = (struct rsc_loop_watch){.go_on = go_on, .context = request};
    request->model = RSC_LOOPS_OPTIONS_DEFAULT;
    memcpy(request->threads, usual, sizeof usual);
    request->thread_count = sizeof usual / sizeof *usual;
    rsc_interleave_parse(&request->interleave, "drift", &error);
    int leave = rsc_session_take(&session, argc, take_option, request, "file", &request->input.path);
    if (leave < 0 && !request->input.path)
        leave = rsc_usage_error(verb, "a file is missing: reusescope loops solver.c -D N=1024 -t 1,4,64");
    if (leave < 0 && request->like && request->interleave_given)
        leave = rsc_usage_error(verb, "--like and --interleave both give the interleaving");
    request->model.band = !request->like && !request->interleave_given;
    if (leave < 0 && !request->emit && !request->list) leave = rsc_session_check_format(&session);
    if (leave < 0 && (session.output || !(request->emit || request->list))) leave = rsc_session_check_output(&session);
    if (leave < 0) leave = run_request(request, &error);
    free_request(request);
    return leave;
}

const struct rsc_verb rsc_verb_loops = {
    .name = "loops",
    .operands = "FILE.c|FILE.cc|FILE.loop",
    .summary = "Predict the misses of OpenMP loops at any thread count, from source",
    .about = "Reads C or C++ with OpenMP, or a loop tree as text, and predicts the miss ratio curve of every "
             "outermost loop and parallel construct at each thread count, without running anything. Sizes come "
             "from -D, --set and the source's constants. Non-affine code is reported with its line, and its "
             "loop is left out unless --skip-nonaffine.",
    .example = "reusescope loops examples/loops/matmul.c -D N=512 -t 1,4,64",
    .groups = {options, rsc_loops_input_options, output_options, rsc_common_options},
    .run = run_loops,
};
