/*
 * trace.c - the public trace handle: input, format, reader, then filter and
 * decode-ahead as asked for.
 */
#include <assert.h>
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/ahead.h"
#include "trace/filter.h"
#include "trace/formats/readers.h"
#include "trace/formats/text_lines.h"
#include "trace/pieces.h"
#include "trace/source.h"

#define WORKERS_MAX 1024

struct rsc_trace {
    struct rsc_input *input;
    const struct rsc_format *format;
    struct rsc_source *source;
    struct rsc_source *reader; /* the innermost source, which `source` closes */
    struct rsc_source *threaded; /* the source that decodes pieces; NULL: none */
    struct rsc_source *pieces;   /* the same, if nothing is above it; else NULL */
    int in_parts;
    struct rsc_batch batch;
    struct rsc_error error; /* of the failure that ended it */
    int ended;              /* next returned 0 or failed */
    int status;             /* then: its return value */
    int sought;             /* not everything was read: the counts below are meaningless */
    uint64_t accesses, instructions; /* read so far */
};

/* Compares names without regard to case and hyphens. */
static int is_named(const char *name, const char *given) {
    for (;; name++, given++) {
        while (*name == '-' || *name == '_') name++;
        while (*given == '-' || *given == '_') given++;
        if (tolower((unsigned char)*name) != tolower((unsigned char)*given)) return 0;
        if (!*name) return 1;
    }
}

static int format_by_name(const struct rsc_format **format, const char *name, struct rsc_error *error) {
    char names[240] = "";
    for (*format = rsc_formats; (*format)->name; ++*format) {
        if (is_named((*format)->name, name)) return 0;
        if (names[0]) strncat(names, ", ", sizeof names - strlen(names) - 1);
        strncat(names, (*format)->name, sizeof names - strlen(names) - 1);
    }
    return rsc_fail(error, RSC_EINVAL, "format '%.40s': not one of %s", name, names);
}

/* What may be around a trace that is not taken off here, and what does. */
static const struct wrapping {
    size_t at, bytes;
    const char *mark, *what, *unwrap;
} wrappings[] = {
    {0, 3, "BZh", "packed with bzip2, which is not read", "bzip2 -dc"},
    {0, 2, "\x1f\x9d", "packed with compress, which is not read", "zcat"},
    {0, 4, "\x02\x21\x4c\x18", "packed with lz4's legacy format, which is not read", "lz4 -dc"},
    {0, 6, "7z\xbc\xaf\x27\x1c", "packed with 7-Zip, which is not read", "7z x -so"},
    {257, 5, "ustar", "an archive of tar, not a trace", "tar -xO"},
    {0, 2, "\x1f\x8b", "packed twice", "gzip -dc"},
    {0, 2, "\xff\xfe", "text in UTF-16, not in ASCII or UTF-8", "iconv -f UTF-16 -t UTF-8"},
    {0, 2, "\xfe\xff", "text in UTF-16, not in ASCII or UTF-8", "iconv -f UTF-16 -t UTF-8"},
};

static const struct wrapping *wrapping_of(const unsigned char *head, size_t bytes) {
    for (const struct wrapping *w = wrappings; w < wrappings + sizeof wrappings / sizeof *wrappings; w++)
        if (bytes >= w->at + w->bytes && !memcmp(head + w->at, w->mark, w->bytes)) return w;
    return NULL;
}

static int format_by_content(struct rsc_trace *trace, struct rsc_error *error) {
    const unsigned char *head;
    const char *name = rsc_input_name(trace->input);
    int64_t bytes = rsc_input_peek(trace->input, RSC_INPUT_PEEK_MAX, &head, error);
    if (bytes < 0) return (int)bytes;
    if (bytes == 0) return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: the file is empty", name);
    const int whole = bytes < RSC_INPUT_PEEK_MAX;
    const size_t mark = rsc_head_mark_bytes(head, (size_t)bytes);
    head += mark;
    bytes -= (int64_t)mark;
    for (trace->format = rsc_formats; trace->format->name; trace->format++)
        if (trace->format->matches && trace->format->matches(head, (size_t)bytes, whole)) return 0;
    const struct wrapping *wrapping = wrapping_of(head, (size_t)bytes);
    if (wrapping) return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: %s: use %s", name, wrapping->what, wrapping->unwrap);
    char advice[120] = "name it with --from if it is one";
    uint32_t number, columns = rsc_csv_looks(head, (size_t)bytes, whole, &number);
    if ((bytes >= 4 && !memcmp(head, "\177ELF", 4)) || (bytes >= 2 && !memcmp(head, "#!", 2)))
        return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: a program, not a trace (to watch it: reusescope run -- PROGRAM)",
                           name);
    if (!columns) snprintf(advice, sizeof advice, "raw64, champsim, oracleGeneral and vscsi are read with --from only");
    else if (number)
        snprintf(advice, sizeof advice, "%u columns of text: --columns says which they are, as addr=%u", columns,
                 number);
    return rsc_fail_at(
        error, RSC_EFORMAT, 0,
        "%s: no trace format recognised (rsct, din, lackey, csv, list, pinatrace, perf-script, drmemtrace); %s", name,
        advice);
}

/* An empty file is an error in every format. */
static int refuse_empty(struct rsc_trace *trace, struct rsc_error *error) {
    const unsigned char *head;
    int64_t bytes = rsc_input_peek(trace->input, 1, &head, error);
    if (bytes < 0) return (int)bytes;
    if (bytes > 0) return 0;
    return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: the file is empty", rsc_input_name(trace->input));
}

static int add_filter(struct rsc_trace *trace, const struct rsc_filter *filter, struct rsc_error *error) {
    struct rsc_source *source;
    struct rsc_error ignored;
    if (rsc_filter_is_all(filter)) return 0;
    int status = rsc_filter_open(&source, trace->source, filter, error);
    if (status < 0) return status;
    trace->source = source;
    /*
     * A window into a seekable trace starts with a seek. If that fails (the window lies past the end,
     * the index is damaged), reading from the start finds the same window or reports the damage.
     */
    if (filter->first && rsc_input_seekable(trace->input)) source->ops->seek(source, filter->first, &ignored);
    return 0;
}

/* Decodes and, if they can, filters in `workers` threads. */
static int decode_pieces(struct rsc_trace *trace, const struct rsc_filter *filter, int workers,
                         struct rsc_error *error) {
    struct rsc_source *source;
    if (filter && rsc_filter_is_all(filter)) filter = NULL;
    int inside = filter && rsc_pieces_can_filter(trace->source->ops->pieces, filter);
    int status = rsc_pieces_open(&source, trace->source, inside ? filter : NULL,
                                 workers < WORKERS_MAX ? (uint32_t)workers : WORKERS_MAX, error);
    if (status < 0) return status;
    trace->source = trace->pieces = trace->threaded = source;
    if (!filter || inside) return 0;
    trace->pieces = NULL; /* a filter that counts accesses works on batches */
    return add_filter(trace, filter, error);
}

static int build(struct rsc_trace *trace, const char *path, const struct rsc_trace_options *options,
                 struct rsc_error *error) {
    const struct rsc_reader_options reader = {.log = options->log,
                                              .salvage = options->salvage,
                                              .without_pcs = options->without_pcs,
                                              .without_events = options->without_events,
                                              .columns = options->columns,
                                              .workers = options->salvage ? 0 : options->decode_ahead};
    const char *format = options->format ? options->format : options->columns ? "csv" : NULL;
    struct rsc_source *source;
    int status = 0;
    if (format) status = format_by_name(&trace->format, format, error);
    if (!status && options->columns && strcmp(trace->format->name, "csv"))
        status = rsc_fail(error, RSC_EINVAL, "columns: %s has none to choose from; csv has", trace->format->name);
    int folder = status ? 0 : rsc_input_open_folder(&trace->input, path, error);
    if (folder < 0) return folder;
    if (folder && !format) format_by_name(&trace->format, "drmemtrace", error);
    if (folder && trace->format->open != rsc_drmemtrace_open)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: a folder; only DynamoRIO's traces are read as folders", path);
    if (!status && !folder) {
        status = rsc_input_open(&trace->input, path, error);
        if (!status) status = format ? refuse_empty(trace, error) : format_by_content(trace, error);
    }
    rsc_format_open *open = folder ? rsc_drmemtrace_folder_open : trace->format ? trace->format->open : NULL;
    if (!status) status = open(&trace->source, trace->input, &reader, error);
    trace->reader = trace->source;
    if (!status && options->decode_ahead > 0 && !options->salvage && trace->source->ops->pieces)
        return decode_pieces(trace, options->filter, options->decode_ahead, error);
    if (!status && options->filter) status = add_filter(trace, options->filter, error);
    if (!status && options->decode_ahead) {
        status = rsc_ahead_open(&source, trace->source, error);
        if (!status) trace->source = source;
    }
    return status;
}

int rsc_trace_open(struct rsc_trace **out, const char *path, const struct rsc_trace_options *options,
                   struct rsc_error *error) {
    struct rsc_trace_options full = {0};
    *out = NULL;
    if (options) {
        if (options->struct_bytes < offsetof(struct rsc_trace_options, decode_ahead) ||
            options->struct_bytes > sizeof full + 4096)
            return rsc_fail(error, RSC_EINVAL, "trace options: struct_bytes is not sizeof(struct rsc_trace_options)");
        memcpy(&full, options, options->struct_bytes < sizeof full ? options->struct_bytes : sizeof full);
    }
    struct rsc_trace *trace = calloc(1, sizeof *trace);
    if (!trace) return rsc_fail_memory(error, "trace");
    int status = build(trace, path, &full, error);
    if (status < 0) {
        rsc_trace_close(trace);
        return status;
    }
    *out = trace;
    return 0;
}

/* The next batch, or the next part into *part. */
static int next(struct rsc_trace *trace, void **part, const struct rsc_batch **batch, struct rsc_error *error) {
    if (!trace->ended) {
        trace->status = part ? rsc_pieces_next_part(trace->pieces, part, &trace->batch, &trace->error)
                             : trace->source->ops->next(trace->source, &trace->batch, &trace->error);
        trace->ended = trace->status <= 0;
    }
    if (trace->ended) {
        if (trace->status < 0 && error) *error = trace->error;
        return trace->status;
    }
    trace->accesses += trace->batch.count;
    if (trace->instructions != RSC_UNKNOWN && trace->batch.instructions != RSC_UNKNOWN)
        trace->instructions += trace->batch.instructions;
    else if (trace->batch.count) trace->instructions = RSC_UNKNOWN;
    *batch = &trace->batch;
    return 1;
}

int rsc_trace_next(struct rsc_trace *trace, const struct rsc_batch **batch, struct rsc_error *error) {
    assert(!trace->in_parts);
    return next(trace, NULL, batch, error);
}

uint64_t rsc_trace_reading_bytes(struct rsc_trace *trace) {
    return trace->threaded ? rsc_pieces_bytes(trace->threaded) : 0;
}

int rsc_trace_use_parts(struct rsc_trace *trace, const struct rsc_part_kind *kind) {
    if (!trace->pieces || trace->reader->ops->pieces->no_parts) return 0;
    rsc_pieces_use_parts(trace->pieces, kind);
    trace->in_parts = 1;
    return 1;
}

void rsc_trace_end_parts(struct rsc_trace *trace) {
    if (trace->in_parts) rsc_pieces_end_parts(trace->pieces);
}

int rsc_trace_next_part(struct rsc_trace *trace, void **part, const struct rsc_batch **batch, struct rsc_error *error) {
    assert(trace->in_parts);
    return next(trace, part, batch, error);
}

int rsc_trace_seek(struct rsc_trace *trace, uint64_t index, struct rsc_error *error) {
    if (!trace->source->ops->seek)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: this trace does not support seeking",
                        rsc_input_name(trace->input));
    int status = trace->source->ops->seek(trace->source, index, error);
    if (status == 0) {
        trace->ended = 0;
        trace->sought = 1;
    }
    return status;
}

int rsc_trace_locate(struct rsc_trace *trace, uint64_t instruction, uint64_t *access, struct rsc_error *error) {
    if (strcmp(trace->format->name, "rsct"))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: seeking needs a native trace", rsc_input_name(trace->input));
    return rsc_rsct_locate(trace->reader, instruction, access, error);
}

void rsc_trace_get_info(struct rsc_trace *trace, struct rsc_trace_info *info) {
    *info = (struct rsc_trace_info){
        .format = trace->format->name,
        .compression = rsc_input_compression(trace->input),
        .source = "",
        .command = "",
        .filter = "",
        .accesses = RSC_UNKNOWN,
        .instructions = RSC_UNKNOWN,
        .full_accesses = RSC_UNKNOWN,
        .full_instructions = RSC_UNKNOWN,
        .file_bytes = rsc_input_file_bytes(trace->input),
    };
    if (trace->source->ops->info) trace->source->ops->info(trace->source, info);
    if (!trace->ended || trace->status < 0 || trace->sought) return;
    if (info->accesses == RSC_UNKNOWN) info->accesses = trace->accesses;
    if (info->instructions == RSC_UNKNOWN && trace->accesses) info->instructions = trace->instructions;
    if (info->full_accesses == RSC_UNKNOWN) {
        info->full_accesses = info->accesses;
        info->full_instructions = info->instructions;
    }
}

void rsc_trace_close(struct rsc_trace *trace) {
    if (!trace) return;
    if (trace->source) trace->source->ops->close(trace->source);
    rsc_input_close(trace->input);
    free(trace);
}
