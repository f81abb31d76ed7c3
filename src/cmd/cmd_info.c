/*
 * cmd_info.c - `reusescope info`: describes a trace or a profile. A native trace is
 * described from its index; other traces are read to the end to count accesses.
 */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "base/output_file.h"
#include "cmd/session.h"
#include "trace/filter.h"
#include "trace/source.h"

enum { OPT_FORMAT = RSC_OPT_VERB, OPT_COUNT };

static const struct rsc_option options[] = {
    RSC_HEADING("output"),
    {OPT_FORMAT, 0, "format", "FORMAT", "text (default) or json", "text json"},
    {OPT_COUNT, 0, "count", NULL, "also read a native trace to the end: check it and count kinds and threads", NULL},
    RSC_HEADING("resources"),
    RSC_READ_THREADS_OPTION,
    {0, 0, NULL, NULL, NULL, NULL},
};

/* Counts that need reading the whole trace; also what a thread that decodes makes of its part (source.h). */
struct counted {
    int known;
    uint64_t accesses, kinds[3], events, threads, instructions;
    int instructions_known;
};

/* Kinds, threads and events of a batch. */
static void count_batch(struct counted *counted, const struct rsc_batch *batch) {
    uint64_t writes = 0, fetches = 0, threads = counted->threads, others = 0;
    for (uint32_t i = 0; i < batch->count; i++) { /* no branch: vectors do it */
        uint64_t kind = rsc_meta_kind(batch->meta[i]), thread = rsc_meta_thread(batch->meta[i]) + 1ull;
        writes += kind == RSC_WRITE;
        fetches += kind == RSC_FETCH;
        others |= kind & ~3ull;
        others |= kind & kind << 1 & 2;
        threads = thread > threads ? thread : threads;
    }
    if (others) {
        writes = fetches = 0;
        for (uint32_t i = 0; i < batch->count; i++) {
            writes += rsc_meta_kind(batch->meta[i]) % 3 == RSC_WRITE;
            fetches += rsc_meta_kind(batch->meta[i]) % 3 == RSC_FETCH;
        }
    }
    counted->kinds[RSC_READ] += batch->count - writes - fetches;
    counted->kinds[RSC_WRITE] += writes;
    counted->kinds[RSC_FETCH] += fetches;
    counted->threads = threads;
    counted->events += batch->event_count;
}

static void *part_create(const void *unused) {
    (void)unused;
    return calloc(1, sizeof(struct counted));
}
static void part_begin(void *part) { memset(part, 0, sizeof(struct counted)); }
static int part_take(void *part, const struct rsc_batch *batch, struct rsc_error *error) {
    (void)error;
    count_batch(part, batch);
    return 0;
}
static const struct rsc_part_kind counted_parts = {NULL, part_create, part_begin, part_take, free};

static int count_trace(struct rsc_session *session, struct rsc_trace *trace, struct counted *counted,
                       struct rsc_error *error) {
    const int in_parts = rsc_trace_use_parts(trace, &counted_parts);
    const struct rsc_batch *batch;
    struct counted *part;
    int status;
    counted->instructions_known = 1;
    for (;;) {
        void *taken = NULL;
        status = in_parts ? rsc_trace_next_part(trace, &taken, &batch, error) : rsc_trace_next(trace, &batch, error);
        if (status <= 0) break;
        if ((part = taken)) {
            for (int kind = 0; kind < 3; kind++) counted->kinds[kind] += part->kinds[kind];
            if (part->threads > counted->threads) counted->threads = part->threads;
            counted->events += part->events;
        } else {
            count_batch(counted, batch);
        }
        counted->accesses += batch->count;
        if (batch->instructions == RSC_UNKNOWN) counted->instructions_known = 0;
        else counted->instructions += batch->instructions;
        rsc_progress(session, counted->accesses, RSC_UNKNOWN, "accesses");
    }
    if (in_parts) rsc_trace_end_parts(trace);
    rsc_progress_end(session);
    counted->known = status == 0;
    if (!counted->accesses) counted->instructions_known = 0;
    return status;
}

/* A line with foreign text. */
__attribute__((format(printf, 2, 3))) static void text_line(const char *name, const char *format, ...) {
    char line[8192];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    rsc_make_one_line(line);
    printf("%-14s %s\n", name, line);
}

static void text_number(const char *name, uint64_t value, const char *unit) {
    if (value == RSC_UNKNOWN) printf("%-14s not known\n", name);
    else printf("%-14s %llu%s%s\n", name, (unsigned long long)value, *unit ? " " : "", unit);
}

static void print_text(const char *path, const struct rsc_trace_info *info, const struct counted *counted) {
    text_line("file", "%s", path);
    printf("%-14s %s", "format", info->format);
    if (info->version) printf(" version %u", info->version);
    if (strcmp(info->compression, "none")) printf(", packed with %s", info->compression);
    putchar('\n');
    if (info->file_bytes != RSC_UNKNOWN) text_number("size", info->file_bytes, "bytes");
    if (*info->source) text_line("made by", "%s", info->source);
    if (*info->command) text_line("command", "%s", info->command);
    if (*info->filter) text_line("filter", "%s", info->filter);
    text_number("accesses", info->accesses, "");
    text_number("instructions", info->instructions, "");
    if (*info->filter) text_number("unfiltered", info->full_accesses, "accesses");
    if (info->frames) text_number("frames", info->frames, "");
    if (info->version) printf("%-14s %s\n", "pcs", info->has_pc ? "yes" : "no");
    if (info->lost_frames) text_number("lost", info->lost_bytes, "bytes");
    if (!counted->known) return;
    printf("%-14s %llu reads, %llu writes, %llu fetches\n", "kinds", (unsigned long long)counted->kinds[0],
           (unsigned long long)counted->kinds[1], (unsigned long long)counted->kinds[2]);
    text_number("threads", counted->threads, "");
    if (counted->events) text_number("events", counted->events, "");
}

static void json_count(struct rsc_json *json, const char *key, uint64_t value) {
    rsc_json_key(json, key);
    if (value == RSC_UNKNOWN) rsc_json_null(json);
    else rsc_json_u64(json, value);
}

static int print_json(const char *path, const struct rsc_trace_info *info, const struct counted *counted,
                      struct rsc_error *error) {
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-trace-info/1");
    rsc_json_key_string(&json, "file", path);
    rsc_json_key_string(&json, "format", info->format);
    rsc_json_key_string(&json, "compression", info->compression);
    json_count(&json, "bytes", info->file_bytes);
    rsc_json_key_string(&json, "source", info->source);
    rsc_json_key_string(&json, "command", info->command);
    rsc_json_key_string(&json, "filter", info->filter);
    json_count(&json, "accesses", info->accesses);
    json_count(&json, "instructions", info->instructions);
    json_count(&json, "full_accesses", info->full_accesses);
    json_count(&json, "full_instructions", info->full_instructions);
    json_count(&json, "frames", info->frames);
    json_count(&json, "lost_bytes", info->lost_bytes);
    json_count(&json, "reads", counted->known ? counted->kinds[RSC_READ] : RSC_UNKNOWN);
    json_count(&json, "writes", counted->known ? counted->kinds[RSC_WRITE] : RSC_UNKNOWN);
    json_count(&json, "fetches", counted->known ? counted->kinds[RSC_FETCH] : RSC_UNKNOWN);
    json_count(&json, "threads", counted->known ? counted->threads : RSC_UNKNOWN);
    rsc_json_object_end(&json);
    int status = rsc_json_finish(&json);
    if (!status) status = rsc_output_whole("-", json.text, json.used, 0, error);
    else rsc_fail_memory(error, "JSON");
    rsc_json_free(&json);
    return status;
}

static int describe(struct rsc_session *session, const char *path, int as_json, int count, struct rsc_error *error) {
    struct rsc_trace *trace;
    struct rsc_trace_info info;
    struct counted counted = {0};
    int status = rsc_session_open(session, &trace, path, 1, error);
    if (status < 0) return status;
    rsc_trace_get_info(trace, &info);
    if (count || info.accesses == RSC_UNKNOWN || session->salvage) {
        status = count_trace(session, trace, &counted, error);
        rsc_trace_get_info(trace, &info);
    }
    if (counted.known && info.accesses == RSC_UNKNOWN) {
        info.accesses = counted.accesses;
        info.instructions = counted.instructions_known ? counted.instructions : RSC_UNKNOWN;
    }
    if (status == 0 && as_json) status = print_json(path, &info, &counted, error);
    else if (status == 0) print_text(path, &info, &counted);
    rsc_trace_close(trace);
    return status;
}

static void print_modules(const struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->module_count; i++) {
        char id[RSC_BUILD_ID_TEXT];
        rsc_module_id_text(&profile->modules[i], id);
        text_line("module", "%s, %s%s", profile->modules[i].path, id[0] ? "build id " : "no build id", id);
    }
}

/* Describes a profile or its JSON. Returns 1, 0 if the file is none, or an error. */
static int describe_profile(const char *path, struct rsc_error *error) {
    struct rsc_profile **profiles;
    struct stat file;
    size_t count;
    /* A pipe can be read only once: assume a trace. */
    if (stat(path, &file) != 0 || !S_ISREG(file.st_mode) || !rsc_profiles_recognise(path)) return 0;
    int status = rsc_profiles_load(path, &profiles, &count, error);
    if (status < 0) return status;
    for (size_t i = 0; i < count; i++) {
        const struct rsc_made *made = &profiles[i]->made;
        text_line("file", "%s", path);
        if (rsc_profile_is_requests(profiles[i]))
            text_line("format", "profile, by %s from %s, whole objects", made->by, made->source);
        else
            text_line("format", "profile, by %s from %s, %s stack, %llu-byte lines", made->by, made->source,
                      made->model, (unsigned long long)made->line_bytes);
        text_number("references", profiles[i]->references, "");
        text_number("distinct", profiles[i]->distinct, rsc_profile_is_requests(profiles[i]) ? "objects" : "lines");
        print_modules(profiles[i]);
        rsc_profile_free(profiles[i]);
    }
    free(profiles);
    return 1;
}

static int run_info(const struct rsc_verb *verb, int argc, char **argv) {
    struct rsc_session session;
    struct rsc_option_parser parser;
    struct rsc_error error;
    const char *path = NULL;
    int id, as_json = 0, count = 0, leave = -1;
    rsc_session_start(&session, verb, argv);
    rsc_options_start(&parser, verb, argc, argv);
    while (leave < 0 && (id = rsc_options_next(&parser)) != RSC_OPTIONS_END) {
        if (id == OPT_FORMAT) {
            as_json = !strcmp(parser.value, "json");
            if (!as_json && strcmp(parser.value, "text")) leave = rsc_option_refuse(&parser, "not one of text, json");
        } else if (id == OPT_COUNT) {
            count = 1;
        } else if (id == RSC_OPERAND) {
            if (path) leave = rsc_usage_error(verb, "more than one file: %.60s", parser.value);
            path = parser.value;
        } else {
            leave = rsc_session_option(&session, &parser, id);
        }
    }
    if (leave >= 0) return leave;
    if (!path) return rsc_usage_error(verb, "a file is missing: reusescope info FILE");
    int status = session.from || as_json ? 0 : describe_profile(path, &error);
    if (!status) status = describe(&session, path, as_json, count, &error);
    return status < 0 ? rsc_session_fail(&session, &error) : RSC_EXIT_OK;
}

const struct rsc_verb rsc_verb_info = {
    .name = "info",
    .operands = "FILE",
    .summary = "Describe a trace or a profile",
    .about = "A native trace is described from its index, at once; any other trace is read to the end.",
    .example = "reusescope info t.rsct --count",
    .groups = {options, rsc_trace_options, rsc_common_options},
    .run = run_info,
};
