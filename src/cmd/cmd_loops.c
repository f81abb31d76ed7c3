/* cmd_loops.c - `reusescope loops`: miss ratio curves of loops at any number of threads, without running them. */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "base/output_file.h"
#include "cmd/loops_input.h"
#include "cmd/loops_result.h"

#define THREADS_MAX 64
#define WHAT_IFS_MAX 64

enum {
    OPT_THREADS = RSC_OPT_LOOPS_VERB,
    OPT_SCHEDULE,
    OPT_INTERLEAVE,
    OPT_WHAT_IF,
    OPT_SKIP,
    OPT_LOOP,
    OPT_LINE,
    OPT_SAMPLES,
    OPT_SEED,
    OPT_CONFIDENCE,
    OPT_LIST,
    OPT_EMIT,
};

static const struct rsc_option options[] = {
    RSC_HEADING("prediction"),
    {OPT_THREADS, 't', "threads", "LIST", "thread counts (default 1,2,4,8)", NULL},
    {OPT_INTERLEAVE, 0, "interleave", "HOW",
     "how threads run against each other: drift (default), iid, lockstep, bursty:N or racetrack",
     "drift iid lockstep bursty: racetrack"},
    {OPT_SCHEDULE, 0, "schedule", "KIND[,CHUNK]", "replaces the source's: static, dynamic or guided",
     "static dynamic guided"},
    {OPT_WHAT_IF, 0, "what-if", "CHANGE",
     "also predict with this change: chunk=4[,8...], tile=i:32,j:32 or interchange=i,j", NULL},
    {OPT_LINE, 0, "line", "BYTES", "size of a cache line (default 64)", NULL},
    {OPT_SAMPLES, 0, "samples", "N", "references sampled per thread count (default 3072; 0: all)", NULL},
    {OPT_SEED, 0, "seed", "S", "seed of the random numbers (default 1)", NULL},
    {OPT_CONFIDENCE, 0, "confidence", "PERCENT", "confidence level of error bars (default 90)", NULL},
    RSC_HEADING("loops"),
    {OPT_LOOP, 0, "loop", "LINE", "only the loop that starts at this line, or has this name", NULL},
    {OPT_SKIP, 0, "skip-nonaffine", NULL, "analyse loops without their non-affine parts", NULL},
    {OPT_LIST, 0, "list", NULL, "only list the loops and their non-affine parts", NULL},
    {OPT_EMIT, 0, "emit-ir", NULL, "only print the loop tree, as a .loop file has it", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

struct request {
    struct rsc_session *session;
    struct rsc_loops_input input;
    struct rsc_loops_options model;
    struct rsc_interleave interleave;
    uint32_t threads[THREADS_MAX];
    size_t thread_count;
    const char *what_if[WHAT_IFS_MAX];
    size_t what_if_count;
    const char *loop;
    int skip, list, emit;
};

static int parse_threads(struct request *request, const struct rsc_option_parser *parser) {
    const char *at = parser->value;
    request->thread_count = 0;
    while (*at) {
        size_t length = strcspn(at, ",");
        uint64_t value;
        if (rsc_parse_u64(at, length, &value) < 0 || value < 1 || value > 4096)
            return rsc_option_refuse(parser, "not a list of numbers from 1 to 4096");
        if (request->thread_count == THREADS_MAX) return rsc_option_refuse(parser, "more than 64 numbers of threads");
        request->threads[request->thread_count++] = (uint32_t)value;
        at += length + (at[length] == ',');
    }
    return request->thread_count ? -1 : rsc_option_refuse(parser, "no number of threads");
}

static int parse_number(const struct rsc_option_parser *parser, uint64_t most, uint64_t *value) {
    if (rsc_parse_u64(parser->value, strlen(parser->value), value) < 0 || *value > most)
        return rsc_option_refuse(parser, "not a number, or too large");
    return -1;
}

static int parse_own(struct request *request, const struct rsc_option_parser *parser, int id) {
    struct rsc_error error;
    uint64_t number;
    int leave = -1;
    switch (id) {
    case OPT_THREADS: return parse_threads(request, parser);
    case OPT_LOOP: request->loop = parser->value; return -1;
    case OPT_SCHEDULE: request->model.schedule = parser->value; return -1;
    case OPT_SKIP: request->skip = 1; return -1;
    case OPT_LIST: request->list = 1; return -1;
    case OPT_EMIT: request->emit = 1; return -1;
    case OPT_INTERLEAVE:
        return rsc_interleave_parse(&request->interleave, parser->value, &error)
                   ? rsc_option_refuse(parser, "not drift, iid, lockstep, bursty:N or racetrack")
                   : -1;
    case OPT_WHAT_IF:
        if (request->what_if_count == WHAT_IFS_MAX) return rsc_option_refuse(parser, "too many of these");
        request->what_if[request->what_if_count++] = parser->value;
        return -1;
    case OPT_LINE:
        if ((leave = parse_number(parser, 4096, &number)) >= 0) return leave;
        if (number < 1 || (number & (number - 1))) return rsc_option_refuse(parser, "not a power of two up to 4096");
        request->model.line_bytes = number;
        return -1;
    case OPT_SAMPLES:
        leave = parse_number(parser, 100000000, &number);
        request->model.samples = (uint32_t)number;
        return leave;
    case OPT_SEED: return parse_number(parser, UINT64_MAX, &request->model.seed);
    case OPT_CONFIDENCE:
        if (rsc_parse_fraction(parser->value, strlen(parser->value), &request->model.confidence) < 0 ||
            request->model.confidence < 1 || request->model.confidence > 99.9)
            return rsc_option_refuse(parser, "not a number from 1 to 99.9");
        return -1;
    default: return -2;
    }
}

void rsc_loops_findings_free(struct rsc_loops_findings *findings) {
    for (size_t i = 0; i < findings->loop_count; i++) {
        struct rsc_loops_found *loop = &findings->loop[i];
        for (size_t v = 0; v < loop->variant_count; v++) {
            for (size_t r = 0; r < loop->variant[v].result_count; r++)
                rsc_loops_result_free(loop->variant[v].result[r]);
            free(loop->variant[v].result);
            free(loop->variant[v].what);
            rsc_loop_program_free(loop->variant[v].changed);
        }
        free(loop->variant);
    }
    free(findings->loop);
    rsc_loop_program_free(findings->program);
}

/* Sums of samples can pass 1 by a rounding. */
static void keep_in_range(struct rsc_mrc_point *point, size_t count) {
    for (size_t i = 0; i < count; i++) {
        double *ratio[] = {&point[i].miss_ratio, &point[i].low, &point[i].high};
        for (int k = 0; k < 3; k++) *ratio[k] = *ratio[k] < 0 ? 0 : *ratio[k] > 1 ? 1 : *ratio[k];
    }
}

static int analyse_variant(struct request *request, struct rsc_loops_variant *variant, uint32_t region,
                           struct rsc_error *error) {
    struct rsc_loops_analysis *analysis = NULL;
    int status = rsc_loops_analysis_new(&analysis, variant->program, region, &request->model, error);
    if (!status && !(variant->result = calloc(request->thread_count, sizeof *variant->result)))
        status = rsc_fail_memory(error, "results");
    if (!status) {
        variant->references = rsc_loops_references(analysis);
        variant->distinct = rsc_loops_distinct(analysis);
    }
    for (size_t i = 0; i < request->thread_count && !status && variant->references; i++) {
        status = rsc_loops_analyse(analysis, request->threads[i], &request->interleave, &variant->result[i], error);
        if (status) break;
        keep_in_range(variant->result[i]->mrc, variant->result[i]->mrc_count);
        keep_in_range(variant->result[i]->own.mrc, variant->result[i]->own.mrc_count);
        variant->result_count++;
    }
    rsc_loops_analysis_free(analysis);
    return status;
}

static int add_variant(struct request *request, struct rsc_loops_found *loop, const struct rsc_loops_findings *findings,
                       char *what, struct rsc_error *error) {
    struct rsc_loops_variant *larger = realloc(loop->variant, (loop->variant_count + 1) * sizeof *larger);
    int status = 0;
    if (!larger) {
        free(what);
        return rsc_fail_memory(error, "results");
    }
    loop->variant = larger;
    struct rsc_loops_variant *variant = &loop->variant[loop->variant_count++];
    *variant = (struct rsc_loops_variant){.what = what, .program = findings->program};
    if (what) {
        status = rsc_loops_what_if(&variant->changed, findings->program, loop->region, what, &variant->note, error);
        if (!status) status = rsc_loop_layout(variant->changed, request->model.line_bytes, error);
        variant->program = variant->changed;
    }
    return status ? status : analyse_variant(request, variant, loop->region, error);
}

/* chunk=1,4,64 is three questions; all others are one. */
static int ask(struct request *request, struct rsc_loops_found *loop, const struct rsc_loops_findings *findings,
               const char *question, struct rsc_error *error) {
    static const char chunk[] = "chunk=";
    int status = 0, several = !strncmp(question, chunk, sizeof chunk - 1);
    const char *at = several ? question + sizeof chunk - 1 : question;
    do {
        size_t length = several ? strcspn(at, ",") : strlen(at);
        char *what = malloc(length + sizeof chunk);
        if (!what) return rsc_fail_memory(error, question);
        snprintf(what, length + sizeof chunk, "%s%.*s", several ? chunk : "", (int)length, at);
        status = add_variant(request, loop, findings, what, error);
        at += length + (at[length] == ',');
    } while (!status && several && *at);
    return status;
}

static int wanted(const struct request *request, const struct rsc_loop_region *region) {
    char line[32];
    snprintf(line, sizeof line, "%u", region->line);
    return !request->loop || !strcmp(request->loop, region->name) || !strcmp(request->loop, line);
}

static int analyse(struct request *request, struct rsc_loops_findings *findings, struct rsc_error *error) {
    int status = 0;
    if (!(findings->loop = calloc(findings->program->region_count + 1, sizeof *findings->loop)))
        return rsc_fail_memory(error, "results");
    for (uint32_t r = 0; r < findings->program->region_count && !status; r++) {
        const struct rsc_loop_region *region = &findings->program->region[r];
        if (!wanted(request, region)) continue;
        struct rsc_loops_found *loop = &findings->loop[findings->loop_count++];
        loop->region = r;
        if (region->gap_count && !request->skip) continue;
        status = add_variant(request, loop, findings, NULL, error);
        for (size_t i = 0; i < request->what_if_count && !status; i++)
            status = ask(request, loop, findings, request->what_if[i], error);
    }
    return status;
}

static void list_loops(const struct request *request, const struct rsc_loops_findings *findings) {
    for (uint32_t r = 0; r < findings->program->region_count; r++) {
        const struct rsc_loop_region *region = &findings->program->region[r];
        const char *file = region->file ? region->file : findings->file;
        char schedule[256];
        if (!wanted(request, region)) continue;
        rsc_loops_schedule_text(region, schedule, sizeof schedule);
        printf("%s:%u: %s: %s, %u reference%s in the source\n", file, region->line,
               region->function ? region->function : region->name, schedule, region->reference_count,
               region->reference_count == 1 ? "" : "s");
        for (uint32_t i = 0; i < region->gap_count; i++)
            printf("%s:%u:   not affine: %s\n", region->gap[i].file ? region->gap[i].file : file, region->gap[i].line,
                   region->gap[i].reason);
    }
}

static int save_profiles(struct request *request, const struct rsc_loops_findings *findings, const char *path,
                         int keep_old, struct rsc_error *error) {
    struct rsc_profile **profiles = NULL;
    size_t count = 0, room = 0;
    int status = 0;
    for (size_t l = 0; l < findings->loop_count; l++)
        for (size_t v = 0; v < findings->loop[l].variant_count; v++) room += findings->loop[l].variant[v].result_count;
    if (!room) return 0;
    if (!(profiles = calloc(room, sizeof *profiles))) return rsc_fail_memory(error, path);
    for (size_t l = 0; l < findings->loop_count && !status; l++)
        for (size_t v = 0; v < findings->loop[l].variant_count && !status; v++)
            for (size_t i = 0; i < findings->loop[l].variant[v].result_count && !status; i++) {
                const struct rsc_loops_variant *variant = &findings->loop[l].variant[v];
                profiles[count] =
                    rsc_loops_profile(findings, variant, &findings->program->region[findings->loop[l].region],
                                      variant->result[i], request->session->argv);
                status = profiles[count] ? 0 : rsc_fail_memory(error, path);
                count += !status;
            }
    if (!status) status = rsc_profiles_save(profiles, count, path, keep_old, error);
    for (size_t i = 0; i < count; i++) rsc_profile_free(profiles[i]);
    free(profiles);
    return status;
}

static int render(struct request *request, const struct rsc_loops_findings *findings, enum rsc_report_format format,
                  const char *path, struct rsc_error *error) {
    struct rsc_machine machine;
    struct rsc_report_style style = rsc_session_style(request->session, !strcmp(path, "-"), &machine);
    char *text = NULL;
    size_t bytes;
    int json = format == RSC_REPORT_JSON || format == RSC_REPORT_HTML;
    int status = json                       ? rsc_loops_json(findings, &text, &bytes)
                 : format == RSC_REPORT_CSV ? rsc_loops_csv(findings, &text, &bytes)
                                            : rsc_loops_text(findings, &style, &text, &bytes);
    if (status) return rsc_fail_memory(error, path);
    status = format == RSC_REPORT_HTML ? rsc_deliver_page(request->session, text, path, error)
                                       : rsc_deliver_text(path, text, bytes, format == RSC_REPORT_TEXT, error);
    free(text);
    return status;
}

/* As rsc_session_deliver() does for profiles: -o and --format, text, and the default file. */
static int deliver(struct request *request, const struct rsc_loops_findings *findings, struct rsc_error *error) {
    const struct rsc_session *session = request->session;
    enum rsc_report_format format = session->format ? rsc_report_format_of_name(session->format) : RSC_REPORT_NONE;
    char path[4096];
    int status = 0;
    if (session->output && !strcmp(session->output, "-"))
        return render(request, findings, format ? format : RSC_REPORT_TEXT, "-", error);
    if (session->output) {
        rsc_expand_name(session->output, path, sizeof path);
        format = rsc_session_format(session, path);
        status =
            format ? render(request, findings, format, path, error) : save_profiles(request, findings, path, 0, error);
        if (!status && !session->quiet && !session->format)
            status = render(request, findings, RSC_REPORT_TEXT, "-", error);
        return status;
    }
    status = save_profiles(request, findings, RSC_DATA_FILE, 1, error);
    if (!status && (!session->quiet || format))
        status = render(request, findings, format ? format : RSC_REPORT_TEXT, "-", error);
    return status;
}

/* When no loop could be analysed: the first reason, as the error. */
static int nothing_analysed(const struct rsc_loops_findings *findings, struct rsc_error *error) {
    for (size_t i = 0; i < findings->loop_count; i++) {
        if (findings->loop[i].variant_count) return 0;
        if (i + 1 < findings->loop_count) continue;
        const struct rsc_loop_region *first = &findings->program->region[findings->loop[0].region];
        const struct rsc_loop_gap *gap = &first->gap[0];
        return rsc_fail(error, RSC_EFORMAT, "%s:%u: %s (--skip-nonaffine analyses without it; --list shows all)",
                        gap->file     ? gap->file
                        : first->file ? first->file
                                      : findings->file,
                        gap->line, gap->reason);
    }
    return 0;
}

static int run_request(struct request *request, struct rsc_error *error) {
    struct rsc_loops_findings findings = {.file = request->input.path, .line_bytes = request->model.line_bytes};
    char *text = NULL;
    size_t bytes = 0;
    struct rsc_machine machine;
    struct rsc_report_style style = rsc_session_style(request->session, 0, &machine);
    findings.at_bytes = style.at_bytes ? style.at_bytes : UINT64_C(1) << 20;
    for (size_t i = 0; i < machine.level_count && !style.at_bytes; i++)
        if (machine.levels[i].level == 2) findings.at_bytes = machine.levels[i].size_bytes;
    request->input.source.schedule_given = request->model.schedule != NULL;
    int status = rsc_loops_input_read(&request->input, findings.line_bytes, &findings.program, &text, &bytes, error);
    if (!status && rsc_loops_input_unused(&request->input))
        rsc_log_line(&request->session->log, RSC_LOG_WARNING, "--set %s stands for nothing in %s",
                     rsc_loops_input_unused(&request->input), request->input.path);
    if (!status && request->emit) {
        status = rsc_output_whole(request->session->output ? request->session->output : "-", text, bytes, 0, error);
    } else if (!status && request->list) {
        list_loops(request, &findings);
    } else if (!status) {
        status = analyse(request, &findings, error);
        if (!status && !findings.loop_count)
            status = request->loop ? rsc_fail(error, RSC_EINVAL,
                                              "--loop %.60s: no loop starts there (--list shows all)", request->loop)
                                   : rsc_fail(error, RSC_EFORMAT, "%s: no loops", request->input.path);
        int json = request->session->format || request->session->output;
        if (!status && !json) status = nothing_analysed(&findings, error);
        if (!status) status = deliver(request, &findings, error);
        if (!status && json) status = nothing_analysed(&findings, error);
    }
    free(text);
    rsc_loops_findings_free(&findings);
    return status;
}

/* There are no stacks in a loop's source. Returns -1, or the exit status to leave with. */
static int check_format(const struct rsc_session *session) {
    enum rsc_report_format format = rsc_session_format(session, session->output ? session->output : "-");
    if (format != RSC_REPORT_FOLDED && format != RSC_REPORT_SPEEDSCOPE) return -1;
    return rsc_usage_error(session->verb, "no call paths are known from source: text, json, csv or html");
}

static int run_loops(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    struct rsc_error error;
    struct request *request = calloc(1, sizeof *request);
    static const uint32_t usual[] = {1, 2, 4, 8};
    int id, leave = -1;
    rsc_session_start(&session, verb, argv);
    if (!request) {
        rsc_fail_memory(&error, "loops");
        return rsc_session_fail(&session, &error);
    }
    request->session = &session;
    request->model = RSC_LOOPS_OPTIONS_DEFAULT;
    memcpy(request->threads, usual, sizeof usual);
    request->thread_count = sizeof usual / sizeof *usual;
    rsc_interleave_parse(&request->interleave, "drift", &error);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == RSC_OPERAND) {
            if (request->input.path) leave = rsc_usage_error(verb, "more than one file: %.60s", parser.value);
            request->input.path = parser.value;
            continue;
        }
        leave = rsc_loops_input_option(&request->input, &parser, id);
        if (leave == -2) leave = parse_own(request, &parser, id);
        if (leave == -2) leave = rsc_session_option(&session, &parser, id);
    }
    if (leave < 0 && !request->input.path)
        leave = rsc_usage_error(verb, "a file is missing: reusescope loops solver.c -D N=1024 -t 1,4,64");
    if (leave < 0 && !request->emit && !request->list) leave = check_format(&session);
    if (leave < 0 && !request->emit && !request->list) leave = rsc_session_check_output(&session);
    if (leave < 0) leave = run_request(request, &error) ? rsc_session_fail(&session, &error) : RSC_EXIT_OK;
    rsc_loops_input_free(&request->input);
    free(request);
    return leave;
}

const struct rsc_verb rsc_verb_loops = {
    .name = "loops",
    .operands = "FILE.c|FILE.loop",
    .summary = "Predict the misses of OpenMP loops at any thread count, from source",
    .about = "Reads C with OpenMP, or a loop tree as text, and predicts the miss ratio curve of every "
             "outermost loop and parallel construct at each thread count, without running anything. Sizes come "
             "from -D, --set and the source's constants. Non-affine code is reported with its line, and its "
             "loop is left out unless --skip-nonaffine.",
    .example = "reusescope loops examples/loops/matmul.c -D N=512 -t 1,4,64",
    .groups = {options, rsc_loops_input_options, rsc_output_options, rsc_common_options},
    .run = run_loops,
};
