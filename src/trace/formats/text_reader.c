/* text_reader.c - see text_reader.h. */
#include "trace/formats/text_reader.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/fail.h"

/*
 * A number at the end of a file without a last '\n' may have lost digits. Formats that a program writes always end in
 * one; what people write often does not.
 */
static int check_end(const struct rsc_text_reader *reader, struct rsc_error *error) {
    const struct rsc_text_lines *lines = &reader->lines;
    const char *name = rsc_input_name(lines->input);
    uint64_t end = rsc_input_offset(lines->input);
    if (!lines->unended || reader->cuttable != lines->cursor) return 0;
    if (reader->format->ends_in_newline)
        return rsc_fail_at(error, RSC_EFORMAT, end, "%s: cut at byte %" PRIu64 ", inside a line (%s)", name, end,
                           reader->format->name);
    rsc_log_line(reader->log, RSC_LOG_WARNING, "%s: no newline at the end: the last line may be cut (%s)", name,
                 reader->format->name);
    return 0;
}

static int text_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_text_reader *reader = (struct rsc_text_reader *)source;
    struct rsc_text_lines *lines = &reader->lines;
    uint32_t count = 0;
    reader->fetches = 0;
    do {
        int status = rsc_text_lines_fill(lines, error);
        if (status < 0 && count == 0) return status;
        if (status <= 0) break;
        count = reader->format->parse(reader, count);
    } while (!reader->problem && lines->cursor == lines->limit);
    if (count == 0 && reader->problem) return rsc_text_lines_fail(lines, reader->failure, reader->problem, error);
    if (count == 0) {
        int status = check_end(reader, error);
        return status || !reader->format->finish ? status : reader->format->finish(reader, error);
    }
    reader->problem = NULL; /* the line is met again at the next call */
    *batch = (struct rsc_batch){.count = count,
                                .addr = reader->addr,
                                .meta = reader->meta,
                                .pc = reader->has_pc ? reader->pc : NULL,
                                .threads = reader->threads.threads,
                                .thread_count = reader->threads.count,
                                .instructions = rsc_instructions_of(reader->fetches, &reader->fetches_seen)};
    return 1;
}

static void text_info(struct rsc_source *source, struct rsc_trace_info *info) {
    const struct rsc_text_reader *reader = (const struct rsc_text_reader *)source;
    if (reader->format->source) info->source = reader->format->source;
    info->has_pc = reader->has_pc;
}

static void text_close(struct rsc_source *source) {
    struct rsc_text_reader *reader = (struct rsc_text_reader *)source;
    rsc_text_lines_close(&reader->lines);
    rsc_thread_table_free(&reader->threads);
    free(reader);
}

static const struct rsc_source_ops text_ops = {.next = text_next, .info = text_info, .close = text_close};

int rsc_text_reader_open(struct rsc_source **out, const struct rsc_text_format *format, struct rsc_input *input,
                         const struct rsc_reader_options *options, struct rsc_error *error) {
    struct rsc_text_reader *reader = calloc(1, format->reader_bytes);
    if (!reader) return rsc_fail_memory(error, "trace reader");
    reader->source.ops = &text_ops;
    reader->format = format;
    reader->log = options ? options->log : NULL;
    reader->columns = options ? options->columns : NULL;
    reader->failure = RSC_EFORMAT;
    reader->has_pc = format->has_pc;
    int status = rsc_text_lines_open(&reader->lines, input, format->name, error);
    if (status == 0 && format->start) status = format->start(reader, error);
    if (status < 0) text_close(&reader->source);
    else *out = &reader->source;
    return status;
}

int64_t rsc_text_reader_thread(struct rsc_text_reader *reader, uint64_t pid, uint64_t tid) {
    int64_t thread = rsc_thread_number(&reader->threads, pid, tid);
    if (thread < 0) {
        reader->failure = (int)thread;
        reader->problem = thread == RSC_ENOMEM ? "out of memory for another thread" : "too many threads";
    }
    return thread;
}
