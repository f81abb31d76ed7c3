/* analysis.c - see analysis.h. */
#include "cmd/analysis.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "cmd/every_size.h"
#include "cmd/memory.h"
#include "cmd/replaced_files.h"
#include "collect/symbols/symbols.h"
#include "trace/filter.h"
#include "trace/source.h"

const struct rsc_option rsc_analysis_options[] = {
    RSC_HEADING("analysis"),
    {RSC_OPT_ENGINE, 0, "engine", "ENGINE",
     "auto (default); exact, parallel (exact on several cores), gpu[:device=N], mpi (exact on several machines; "
     "analyze only); approximate: shards:RATE, shards-max:LINES, sampled[:KEY=VALUE,...], time:MODEL[:RATE] with hotl, "
     "aet, statstack or shen, hp-rda[:KEY=VALUE,...], featherlight[:KEY=VALUE,...]",
     "auto exact parallel gpu mpi shards: shards-max: sampled time:hotl time:aet time:statstack time:shen hp-rda featherlight"},
    {RSC_OPT_LINE, 0, "line", "BYTES,...", "line sizes, powers of two from 1 to 4096, all in one pass (default 64)",
     NULL},
    {RSC_OPT_MODEL, 0, "model", "MODEL",
     "single (default for traces) or shared (default for run): one stack for all threads; private: one per thread, "
     "kept coherent; both: private and shared (default for threads)",
     "single private shared both"},
    {RSC_OPT_CORES, 0, "cores", "GROUP,...",
     "private: threads that share a stack, as 0-1,2-3 or 0+2 (numbered in order of appearance)", NULL},
    RSC_HEADING("sampling"),
    {RSC_OPT_ERROR, 0, "error", "E",
     "auto: acceptable mean error of the miss ratio curve, as 0.01 or 1%; sampled: its error-kind", NULL},
    {RSC_OPT_CONFIDENCE, 0, "confidence", "PERCENT", "confidence level of error bars (default 90)", NULL},
    RSC_HEADING("results"),
    {RSC_OPT_MAX_DISTANCE, 0, "max-distance", "LINES", "one open-ended bin for distances from LINES on", NULL},
    {RSC_OPT_PHASES, 0, "phases", "N", "also profile N parts of the run of equal length", NULL},
    {RSC_OPT_BINS, 0, "bins", "N", "also keep histograms of N bins (1-64) per octave", NULL},
    {RSC_OPT_TOP_LINES, 0, "top-lines", "N[,SIZE]", "also list the N cache lines that miss most at SIZE (default 32K)",
     NULL},
    {RSC_OPT_NO_CODE, 0, "no-code", NULL, "do not count by code, pair and object (faster)", NULL},
    {RSC_OPT_NO_RI, 0, "no-ri", NULL, "skip reuse intervals: faster, 1/3 of the memory", NULL},
    RSC_HEADING("symbols"),
    {RSC_OPT_SYSROOT, 0, "sysroot", "DIR", "where the program's libraries and their debug files are", NULL},
    {RSC_OPT_DEBUGINFOD, 0, "debuginfod", NULL, "get missing debug files from the servers in DEBUGINFOD_URLS", NULL},
    RSC_HEADING("resources"),
    {RSC_OPT_THREADS, 0, "threads", "N",
     "worker threads: decoding, line sizes, the parallel engine (default: one per core)", NULL},
    {RSC_OPT_MAX_MEMORY, 0, "max-memory", "SIZE", "memory limit of the analysis (default: 80% of what is available)",
     NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

void rsc_analysis_start(struct rsc_analysis *analysis, struct rsc_session *session) {
    memset(analysis, 0, sizeof *analysis);
    analysis->session = session;
    rsc_engine_spec_parse(&analysis->spec, NULL, NULL);
    analysis->line_bytes[0] = 64;
    analysis->line_count = 1;
    analysis->threads = rsc_pool_cpu_count();
}

/* ---- options ---- */

static int parse_lines(struct rsc_analysis *analysis, const char *text) {
    analysis->line_count = 0;
    for (;;) {
        size_t length = strcspn(text, ",");
        uint64_t bytes;
        if (analysis->line_count == RSC_LINE_SIZES_MAX || rsc_parse_u64(text, length, &bytes) < 0) return -1;
        if (!bytes || bytes > 4096 || (bytes & (bytes - 1))) return -1;
        int twice = 0;
        for (size_t i = 0; i < analysis->line_count; i++) twice |= analysis->line_bytes[i] == bytes;
        if (!twice) analysis->line_bytes[analysis->line_count++] = (uint32_t)bytes;
        if (!text[length]) return 0;
        text += length + 1;
    }
}

/* N or N,SIZE. */
static int parse_top_lines(struct rsc_analysis *analysis, const char *text) {
    size_t length = strcspn(text, ",");
    uint64_t lines, bytes = 0;
    if (rsc_parse_u64(text, length, &lines) < 0 || lines < 1 || lines > 1024) return -1;
    if (text[length] && (rsc_parse_u64(text + length + 1, strlen(text + length + 1), &bytes) < 0 || !bytes)) return -1;
    analysis->engine.top_lines = (uint32_t)lines;
    analysis->engine.top_lines_bytes = bytes;
    return 0;
}

#define PLACE(field) offsetof(struct rsc_analysis, field), sizeof(((struct rsc_analysis *)0)->field)

/* Options that are one number. */
static const struct number_option {
    int id;
    size_t offset, bytes; /* where it goes; 4 or 8 bytes */
    uint64_t low, high;
    const char *refusal;
} number_options[] = {
    {RSC_OPT_MAX_DISTANCE, PLACE(engine.max_distance), 1, UINT64_MAX, "not a number of lines from 1 up"},
    {RSC_OPT_PHASES, PLACE(engine.phases), 1, 10000, "not a number from 1 to 10000"},
    {RSC_OPT_BINS, PLACE(engine.bins_per_octave), 1, 64, "not a number from 1 to 64"},
    {RSC_OPT_SEED, PLACE(engine.seed), 0, UINT64_MAX, "not a number from 0 up"},
    {RSC_OPT_THREADS, PLACE(threads), 1, 1024, "not a number from 1 to 1024"},
    {RSC_OPT_MAX_MEMORY, PLACE(max_memory), 1, UINT64_MAX / 4, "not a size in bytes, as 512M or 4G"},
};

/* Returns -1 to go on, or the exit status. */
static int take_number(struct rsc_analysis *analysis, const struct number_option *option,
                       const struct rsc_option_parser *parser) {
    char *to = (char *)analysis + option->offset;
    uint64_t number;
    if (rsc_parse_u64(parser->value, strlen(parser->value), &number) < 0 || number < option->low ||
        number > option->high)
        return rsc_option_refuse(parser, option->refusal);
    assert(option->bytes == 8 || (option->bytes == 4 && number <= UINT32_MAX));
    if (option->bytes == 8) memcpy(to, &number, 8);
    else memcpy(to, &(uint32_t){(uint32_t)number}, 4);
    return -1;
}

/* 0.01 or 1%; 0 or -1. */
static int parse_error(const char *text, double *value) {
    size_t length = strlen(text);
    int percent = length && text[length - 1] == '%';
    if (rsc_parse_fraction(text, length - (size_t)percent, value) < 0) return -1;
    if (percent) *value /= 100;
    return *value > 0 && *value < 1 ? 0 : -1;
}

int rsc_analysis_option(struct rsc_analysis *analysis, const struct rsc_option_parser *parser, int id) {
    struct rsc_error error;
    for (size_t i = 0; i < sizeof number_options / sizeof *number_options; i++)
        if (number_options[i].id == id) return take_number(analysis, &number_options[i], parser);
    switch (id) {
    case RSC_OPT_ENGINE:
        analysis->engine.engine = parser->value;
        return rsc_engine_spec_parse(&analysis->spec, parser->value, &error) < 0
                   ? rsc_session_fail(analysis->session, &error)
                   : -1;
    case RSC_OPT_MODEL:
        analysis->both = !strcmp(parser->value, "both");
        analysis->engine.model = parser->value;
        return -1;
    case RSC_OPT_CORES: analysis->engine.cores = parser->value; return -1;
    case RSC_OPT_LINE:
        if (parse_lines(analysis, parser->value) < 0)
            return rsc_option_refuse(parser, "not a list of powers of two from 1 to 4096");
        analysis->lines_given = 1;
        return -1;
    case RSC_OPT_TOP_LINES:
        if (parse_top_lines(analysis, parser->value) < 0)
            return rsc_option_refuse(parser, "not a number of lines from 1 to 1024, or that and a size, as 10,1M");
        return -1;
    case RSC_OPT_CONFIDENCE:
        if (rsc_parse_fraction(parser->value, strlen(parser->value), &analysis->engine.confidence) < 0 ||
            !(analysis->engine.confidence > 0 && analysis->engine.confidence < 100))
            return rsc_option_refuse(parser, "not a percentage above 0 and below 100");
        return -1;
    case RSC_OPT_ERROR:
        if (parse_error(parser->value, &analysis->engine.error) < 0)
            return rsc_option_refuse(parser, "not an error above 0 and below 1, such as 0.01 or 1%");
        return -1;
    case RSC_OPT_SYSROOT: analysis->sysroot = parser->value; return -1;
    case RSC_OPT_DEBUGINFOD: analysis->debuginfod = 1; return -1;
    case RSC_OPT_NO_CODE:
        analysis->engine.attribute = 2;
        analysis->session->without_pcs = 1;
        return -1;
    case RSC_OPT_NO_RI: analysis->engine.no_ri = 1; return -1;
    default: return rsc_session_option(analysis->session, parser, id);
    }
}

/* ---- engines ---- */

static void push_one(void *argument, size_t index) {
    struct rsc_analysis *analysis = argument;
    analysis->status[index] =
        rsc_engine_push_columns(analysis->engines[index], analysis->batch, analysis->columns, &analysis->errors[index]);
}

static void count_instructions(struct rsc_analysis *analysis, const struct rsc_batch *batch) {
    if (batch->instructions != RSC_UNKNOWN) analysis->instructions += batch->instructions;
    else if (batch->count) analysis->instructions_unknown = 1;
}

static struct rsc_symbols_options symbols_wanted(const struct rsc_analysis *analysis) {
    return (struct rsc_symbols_options){
        .sysroot = analysis->sysroot, .debuginfod = analysis->debuginfod, .log = &analysis->session->log};
}

/* The batch with the large variables of files that it maps. */
static int announce_variables(struct rsc_analysis *analysis, const struct rsc_batch **batch,
                              const struct rsc_batch_columns **columns, struct rsc_error *error) {
    const struct rsc_symbols_options options = symbols_wanted(analysis);
    if (analysis->engine.attribute == 2) return 0;
    return rsc_variable_events_add(&analysis->variables, &options, batch, columns) < 0
               ? rsc_fail_memory(error, "variables of the program")
               : 0;
}

/* At once, if more than one of the engines has much to do. */
static int push_to_all(struct rsc_analysis *analysis, size_t busy, struct rsc_error *error) {
    if (busy < 2 || analysis->threads < 2) {
        for (size_t i = 0; i < analysis->count; i++) push_one(analysis, i);
        return 0;
    }
    const unsigned workers = analysis->threads < busy ? analysis->threads : (unsigned)busy;
    if (!analysis->pool && rsc_pool_new(&analysis->pool, workers, error) < 0) return error->code;
    rsc_pool_for(analysis->pool, analysis->count, push_one, analysis);
    return 0;
}

int rsc_analysis_push(struct rsc_analysis *analysis, const struct rsc_batch *batch,
                      const struct rsc_batch_columns *columns, struct rsc_error *error) {
    int full = rsc_memory_check_batch(analysis, error);
    if (full < 0) return full;
    count_instructions(analysis, batch);
    if (announce_variables(analysis, &batch, &columns, error) < 0) return error->code;
    size_t busy = analysis->count; /* engines that do not lean on another */
    for (size_t i = 0; analysis->both && i < analysis->count; i += RSC_MODELS_MAX) {
        int leans = rsc_engine_stand(analysis->engines[i], batch, error);
        if (leans < 0) return leans;
        busy -= (size_t)leans;
    }
    analysis->batch = batch;
    analysis->columns = columns;
    if (push_to_all(analysis, busy, error) < 0) return error->code;
    for (size_t i = 0; i < analysis->count; i++) {
        if (analysis->status[i] == 0) continue;
        *error = analysis->errors[i];
        return analysis->status[i];
    }
    return 0;
}

/* Only auto and sampled can aim for an error; it does not apply to the other engines. */
static int refuse_error(const struct rsc_analysis *analysis, struct rsc_error *error) {
    if (!(analysis->engine.error > 0) || (analysis->spec.kind->can & RSC_CAN_ERROR)) return 0;
    return rsc_fail(error, RSC_EINVAL, "--error applies only to --engine auto and --engine sampled");
}

/* --requests selects the engines of whole objects, exact and (for shards) sampled: others and --line contradict it. */
static int settle_requests(struct rsc_analysis *analysis, struct rsc_error *error) {
    if (analysis->requests && analysis->spec.kind == &rsc_engine_auto)
        rsc_engine_spec_parse(&analysis->spec, rsc_engine_requests.name, NULL);
    if (analysis->requests && analysis->spec.kind == &rsc_engine_shards)
        analysis->spec.kind = &rsc_engine_requests_shards; /* its parameters are the same */
    int takes = (analysis->spec.kind->can & RSC_TAKES_REQUESTS) != 0;
    if (analysis->requests && !takes)
        return rsc_fail(error, RSC_EINVAL,
                        "--requests takes --engine shards:RATE or none, which is exact, not --engine %.40s",
                        analysis->engine.engine);
    if (takes && analysis->lines_given)
        return rsc_fail(error, RSC_EINVAL, "--requests counts whole objects and cannot be used with --line");
    if (takes) analysis->line_bytes[0] = 1;
    analysis->requests = takes;
    return 0;
}

/* Single distances come from the exact engines. */
static int settle_every_size(struct rsc_analysis *analysis, struct rsc_error *error) {
    if (!analysis->every_size) return 0;
    if (analysis->requests)
        return rsc_fail(error, RSC_EINVAL, "--every-size cannot be used with --requests, whose sizes are bytes");
    if (analysis->spec.kind == &rsc_engine_auto) rsc_engine_spec_parse(&analysis->spec, rsc_engine_exact.name, NULL);
    return 0;
}

void rsc_analysis_so_far(const struct rsc_analysis *analysis, uint64_t accesses, double seconds, char *text,
                         size_t room) {
    struct rsc_so_far so_far = {.error = NAN};
    if (analysis->engines[0]) rsc_engine_so_far(analysis->engines[0], &so_far);
    double millions = (double)(so_far.references ? so_far.references : accesses) / 1e6;
    int used = snprintf(text, room, "%.1f M %s", millions, so_far.references ? "references" : "accesses");
    if (seconds > 0) used += snprintf(text + used, room - (size_t)used, ", %.1f M/s", millions / seconds);
    if (so_far.samples)
        used += snprintf(text + used, room - (size_t)used, ", %llu %s sampled", (unsigned long long)so_far.samples,
                         so_far.sampled);
    if (so_far.error > 0) snprintf(text + used, room - (size_t)used, ", error %.2g %% so far", 100 * so_far.error);
}

static void show_progress(struct rsc_analysis *analysis, uint64_t done, uint64_t total) {
    char text[120], line[200];
    if (!rsc_progress_due(analysis->session)) return;
    rsc_analysis_so_far(analysis, done, rsc_progress_seconds(analysis->session), text, sizeof text);
    int used = snprintf(line, sizeof line, "%s: ", analysis->session->verb->name);
    if (total != RSC_UNKNOWN && total)
        used += snprintf(line + used, sizeof line - (size_t)used, "%.0f %%, ", 100.0 * (double)done / (double)total);
    snprintf(line + used, sizeof line - (size_t)used, "%s", text);
    rsc_progress_say(analysis->session, line);
}

void rsc_analysis_heed_filters(struct rsc_analysis *analysis, const char *then) {
    const struct rsc_filter *now = &analysis->session->filter;
    if (!then) then = "";
    analysis->instructions_unknown |= rsc_filter_thins(now, then);
    if (!then[0] || !strncmp(then, analysis->filter, sizeof analysis->filter - 1)) return;
    snprintf(analysis->filter, sizeof analysis->filter, "%s", then);
    if (strstr(then, "sets="))
        rsc_log_line(&analysis->session->log, RSC_LOG_WARNING,
                     "the trace has only a sample of the sets of a cache (%s), and these are its numbers, not those of "
                     "the whole: reusescope sim knows such samples",
                     then);
    else
        rsc_log_line(&analysis->session->log, RSC_LOG_WARNING,
                     "the trace was filtered when it was written (%s): these are the numbers of what is left", then);
}

/* A part has many accesses: memory is checked before each. */
static int push_part(struct rsc_analysis *analysis, void *part, const struct rsc_batch *batch,
                     struct rsc_error *error) {
    int status = rsc_memory_check(analysis, error);
    if (status < 0) return status;
    count_instructions(analysis, batch);
    return rsc_engine_push_part(analysis->engines[0], part, batch, error);
}

int rsc_analysis_read(struct rsc_analysis *analysis, struct rsc_trace *trace, struct rsc_error *error) {
    struct rsc_trace_info info;
    const struct rsc_batch *batch;
    uint64_t done = 0;
    int status;
    analysis->trace = trace;
    rsc_trace_get_info(trace, &info);
    rsc_analysis_heed_filters(analysis, info.filter);
    for (size_t i = 0; i < analysis->count; i++) rsc_engine_expect(analysis->engines[i], info.accesses);
    void *part = NULL;
    const int parts = analysis->count == 1 && rsc_engine_use_parts(analysis->engines[0], trace);
    while ((status = parts ? rsc_trace_next_part(trace, &part, &batch, error) : rsc_trace_next(trace, &batch, error)) >
           0) {
        status = parts ? push_part(analysis, part, batch, error) : rsc_analysis_push(analysis, batch, NULL, error);
        if (status < 0) break;
        done += batch->count;
        show_progress(analysis, done, info.accesses);
    }
    rsc_trace_end_parts(trace); /* they refer to the engine */
    analysis->trace = NULL;
    rsc_progress_end(analysis->session);
    return status;
}

/* An engine computes one model; `both` exists only here. */
static int check_model(const struct rsc_analysis *analysis, struct rsc_error *error) {
    static const char *const models[] = {"single", "private", "shared", "both", "requests"};
    const char *model = analysis->engine.model;
    for (size_t i = 0; model && i < sizeof models / sizeof *models; i++)
        if (!strcmp(model, models[i])) return 0;
    if (!model) return 0;
    return rsc_fail(error, RSC_EINVAL, "model '%.40s': not one of single, private, shared, both", model);
}

/* Whether the engine makes anything of pcs; with --error, auto does not. */
static int reads_pcs(const struct rsc_analysis *analysis) {
    if (analysis->spec.kind == &rsc_engine_auto && analysis->engine.error > 0) return 0;
    return (analysis->spec.kind->can & (RSC_CAN_ATTRIBUTE | RSC_WATCHES_WORDS)) != 0;
}

int rsc_analysis_open(struct rsc_analysis *analysis, struct rsc_error *error) {
    int refused = check_model(analysis, error);
    if (!refused) refused = settle_requests(analysis, error);
    if (!refused) refused = refuse_error(analysis, error);
    if (!refused) refused = settle_every_size(analysis, error);
    if (refused < 0) return refused;
    analysis->session->threads = analysis->threads;
    if (!reads_pcs(analysis)) analysis->session->without_pcs = 1;
    if ((analysis->spec.kind->can & RSC_WATCHES_WORDS) && !analysis->lines_given) analysis->line_bytes[0] = 8;
    analysis->engine.struct_bytes = sizeof analysis->engine;
    analysis->engine.log = &analysis->session->log;
    rsc_memory_start(analysis);
    analysis->count = analysis->line_count * (analysis->both ? RSC_MODELS_MAX : 1);
    if (analysis->spec.kind->can & RSC_WANTS_WORKERS) {
        size_t share = analysis->threads / analysis->count; /* each line size has its own workers */
        analysis->engine.workers = share ? (uint32_t)share : 1;
    }
    struct rsc_engine_spec spec = analysis->spec;
    const int may_lean = analysis->both && rsc_engine_spec_is_exact(&spec) && analysis->engine.error <= 0;
    if (may_lean) rsc_engine_spec_parse(&spec, rsc_engine_exact.name, NULL);
    for (size_t i = 0; i < analysis->count; i++) {
        struct rsc_engine_options options = analysis->engine;
        options.line_bytes = analysis->line_bytes[analysis->both ? i / RSC_MODELS_MAX : i];
        if (analysis->both) options.model = i % RSC_MODELS_MAX ? "shared" : "private";
        if (analysis->both && i % RSC_MODELS_MAX) options.cores = NULL;
        int status = rsc_engine_open(&analysis->engines[i], &spec, &options, error);
        if (status < 0) return status;
        int leans = may_lean && i % RSC_MODELS_MAX && !analysis->every_size &&
                    rsc_engine_lean_on(analysis->engines[i - 1], analysis->engines[i]);
        if (analysis->threads > analysis->count / (leans ? RSC_MODELS_MAX : 1))
            rsc_engine_two_threads(analysis->engines[i]);
    }
    return rsc_every_size_start(analysis, error);
}

/* Without debug information or libdw, places stay addresses; that is not an error. */
static int name_places(struct rsc_analysis *analysis, struct rsc_error *error) {
    const struct rsc_symbols_options wanted = symbols_wanted(analysis);
    struct rsc_symbols **symbols = &analysis->variables.symbols; /* files it knows are not read again */
    const struct rsc_profile *first = analysis->profiles[0];
    struct rsc_error missing;
    if (!first->mapping_count) return 0;
    int status = *symbols ? 0 : rsc_symbols_new(symbols, &wanted, &missing);
    if (status < 0) {
        rsc_log_line(&analysis->session->log, RSC_LOG_WARNING, "%s", missing.message);
        return 0;
    }
    for (size_t m = 0; !status && m < first->mapping_count; m++) {
        const struct rsc_mapping_row *map = &first->mappings[m];
        status = rsc_symbols_add(*symbols, map->start, map->bytes, map->file_offset, map->path, map->build_id,
                                 map->build_id_bytes, error);
        if (status == RSC_ELIMIT) status = 0; /* names are missing then */
    }
    for (uint32_t i = 0; !status && i < analysis->process_count; i++)
        status = rsc_symbols_add_jit(*symbols, analysis->pids[i], (uint64_t)i << 48, error);
    for (size_t i = 0; !status && i < analysis->count; i++)
        status = rsc_symbols_name_profile(*symbols, analysis->profiles[i], error);
    if (!status && rsc_warn_of_replaced_files(first, &analysis->session->log) < 0)
        status = rsc_fail_memory(error, "file names");
    return status;
}

/* An engine that was asked for by name may have looked at everything. hp-rda's bars are bounds. */
static void say_what_confidence_changed(const struct rsc_analysis *analysis) {
    int bounds = rsc_engine_spec_of(&analysis->spec, &rsc_engine_hprda) != NULL;
    if (!(analysis->engine.confidence > 0) || rsc_engine_spec_of(&analysis->spec, &rsc_engine_auto)) return;
    for (size_t i = 0; i < analysis->count; i++) {
        const struct rsc_profile *profile = analysis->profiles[i];
        if (!profile->references) return;
        for (size_t g = 0; g < profile->mrc_count && !bounds; g++)
            if (profile->mrc[g].low < profile->mrc[g].high) return;
    }
    rsc_log_line(&analysis->session->log, RSC_LOG_WARNING, "--confidence changes nothing: nothing was sampled");
}

void rsc_analysis_set_instructions(struct rsc_analysis *analysis) {
    for (size_t i = 0; i < analysis->count; i++)
        analysis->profiles[i]->made.instructions = analysis->instructions_unknown ? 0 : analysis->instructions;
}

int rsc_analysis_finish(struct rsc_analysis *analysis, const char *source, struct rsc_error *error) {
    for (size_t i = 0; i < analysis->count; i++) {
        int status = rsc_engine_finish(analysis->engines[i], &analysis->profiles[i], error);
        if (status < 0) return status;
    }
    for (size_t i = 0; i < analysis->count; i++)
        if (rsc_profile_set_text(&analysis->profiles[i]->made.source, source) < 0 ||
            rsc_profile_set_command(analysis->profiles[i], analysis->session->argv) < 0)
            return rsc_fail_memory(error, "profile");
    rsc_analysis_set_instructions(analysis);
    say_what_confidence_changed(analysis);
    int status = rsc_every_size_finish(analysis, error);
    if (!status) status = name_places(analysis, error);
    for (size_t i = 0; !status && i < analysis->count; i++)
        if (rsc_profile_take_modules(analysis->profiles[i]) < 0) status = rsc_fail_memory(error, "modules");
    return status;
}

void rsc_analysis_close(struct rsc_analysis *analysis) {
    rsc_variable_events_free(&analysis->variables);
    rsc_pool_free(analysis->pool);
    analysis->pool = NULL;
    rsc_every_size_free(analysis);
    for (size_t i = 0; i < RSC_ENGINES_MAX; i++) {
        rsc_engine_free(analysis->engines[i]);
        rsc_profile_free(analysis->profiles[i]);
        analysis->engines[i] = NULL;
        analysis->profiles[i] = NULL;
    }
}
