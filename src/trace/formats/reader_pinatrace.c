/*
 * reader_pinatrace.c - what Pin's pinatrace tools write.
 *
 *     0x401136: R 0x7ffd1c0de8f8             ManualExamples: pc, R or W, address
 *     0x401136: W 0x7ffd1c0de8f8  8 0x2a     SimpleExamples: also size and value
 *     #eof
 *
 * Numbers have 0x; the size is decimal, 1 if missing; the rest of the line is
 * ignored. Blank lines and lines that start with '#' are skipped. Both tools end
 * their files with "#eof": without it, a file that ends inside a line is an error,
 * and one that ends between two lines is read with a warning. There are no fetches,
 * so no instruction count, and no threads.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/digits.h"
#include "trace/formats/readers.h"
#include "trace/formats/text_lines.h"

/* Lines examined to detect a pinatrace file. */
#define LINES_TRIED 16

struct pinatrace_reader {
    struct rsc_source source;
    const struct rsc_log *log;
    struct rsc_text_lines lines;
    int ended; /* the last non-blank line was "#eof" */
    uint64_t addr[RSC_BATCH_ACCESSES];
    uint64_t meta[RSC_BATCH_ACCESSES];
    uint64_t pc[RSC_BATCH_ACCESSES];
};

static const char *skip_blanks(const char *at) {
    while (*at == ' ' || *at == '\t') at++;
    return at;
}

/* Parses 0x and its digits. Returns their end, or NULL. */
static inline const char *parse_address(const char *at, uint64_t *value) {
    if (!rsc_has_hex_prefix(at)) return NULL;
    unsigned digits = rsc_parse_hex(at + 2, value);
    return digits > 0 && digits <= 16 ? at + 2 + digits : NULL;
}

/* Parses one access line. Returns the end of its last field used, or NULL if it is not an access. */
static inline const char *parse_line(const char *at, uint64_t *pc, uint64_t *addr, uint64_t *meta) {
    uint64_t size = 1;
    at = parse_address(at, pc);
    if (!at || at[0] != ':' || at[1] != ' ' || (at[2] != 'R' && at[2] != 'W') || (at[3] != ' ' && at[3] != '\t'))
        return NULL;
    enum rsc_kind kind = at[2] == 'W' ? RSC_WRITE : RSC_READ;
    at = parse_address(skip_blanks(at + 4), addr);
    if (!at) return NULL;
    if (*at == ' ' || *at == '\t') {
        at = skip_blanks(at);
        if (rsc_is_figure(*at) && !rsc_has_hex_prefix(at)) {
            at = rsc_parse_decimal(at, &size);
            if (!at || size == 0 || size > UINT32_MAX) return NULL;
        }
    }
    if (*at != ' ' && *at != '\t' && *at != '\r' && *at != '\n') return NULL;
    *meta = rsc_meta((uint32_t)size, kind, 0);
    return at;
}

int rsc_pinatrace_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    size_t at = 0;
    int fitting = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    for (int tried = 0; tried < LINES_TRIED && rsc_head_line_next(&line, head, bytes, whole, &at); tried++) {
        uint64_t pc, addr, meta;
        if (rsc_text_line_is_idle(line.text, 1)) continue;
        if (!parse_line(line.text, &pc, &addr, &meta)) return 0;
        fitting++;
    }
    return fitting > 0;
}

/* Takes lines until the batch is full, the block empty or a line bad. Returns the accesses in the batch. */
static uint32_t parse_block(struct pinatrace_reader *reader, uint32_t count, const char **problem) {
    struct rsc_text_lines *lines = &reader->lines;
    while (lines->cursor < lines->limit && count < RSC_BATCH_ACCESSES) {
        const char *line = lines->cursor;
        const char *at = parse_line(line, &reader->pc[count], &reader->addr[count], &reader->meta[count]);
        if (at && *at == '\n') {
            count++;
            reader->ended = 0;
            rsc_text_lines_pass(lines, at + 1);
            continue;
        }
        const char *newline = rsc_text_lines_end(lines);
        if (!newline) *problem = RSC_TEXT_LINE_TOO_LONG;
        else if (!at && !rsc_text_line_is_idle(line, 1)) *problem = "expected \"0xPC: R|W 0xADDRESS\"";
        if (*problem) break;
        if (at) reader->ended = 0;
        else if (*line == '#') reader->ended = !strncmp(line, "#eof", 4);
        count += at != NULL;
        rsc_text_lines_pass(lines, newline + 1);
    }
    return count;
}

static int finish(struct pinatrace_reader *reader, struct rsc_error *error) {
    const char *name = rsc_input_name(reader->lines.input);
    if (reader->ended) return 0;
    uint64_t end = rsc_input_offset(reader->lines.input);
    if (reader->lines.unended)
        return rsc_fail_at(error, RSC_EFORMAT, end, "%s: cut at byte %" PRIu64 ", inside a line (pinatrace)", name,
                           end);
    rsc_log_line(reader->log, RSC_LOG_WARNING, "%s: no \"#eof\" at the end: the trace may be cut (pinatrace)", name);
    return 0;
}

static int pinatrace_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct pinatrace_reader *reader = (struct pinatrace_reader *)source;
    const char *problem = NULL;
    uint32_t count = 0;
    while (count < RSC_BATCH_ACCESSES && !problem) {
        int status = rsc_text_lines_fill(&reader->lines, error);
        if (status < 0 && count == 0) return status;
        if (status <= 0) break;
        count = parse_block(reader, count, &problem);
    }
    if (count == 0 && problem) return rsc_text_lines_fail(&reader->lines, RSC_EFORMAT, problem, error);
    if (count == 0) return finish(reader, error);
    *batch = (struct rsc_batch){
        .count = count, .addr = reader->addr, .meta = reader->meta, .pc = reader->pc, .instructions = RSC_UNKNOWN};
    return 1;
}

static void pinatrace_info(struct rsc_source *source, struct rsc_trace_info *info) {
    (void)source;
    info->source = "Pin pinatrace";
    info->has_pc = 1;
}

static void pinatrace_close(struct rsc_source *source) {
    struct pinatrace_reader *reader = (struct pinatrace_reader *)source;
    rsc_text_lines_close(&reader->lines);
    free(reader);
}

static const struct rsc_source_ops pinatrace_ops = {
    .next = pinatrace_next, .info = pinatrace_info, .close = pinatrace_close};

int rsc_pinatrace_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                       struct rsc_error *error) {
    struct pinatrace_reader *reader = calloc(1, sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "pinatrace reader");
    int status = rsc_text_lines_open(&reader->lines, input, "pinatrace", error);
    if (status < 0) {
        free(reader);
        return status;
    }
    reader->source.ops = &pinatrace_ops;
    reader->log = options ? options->log : NULL;
    *out = &reader->source;
    return 0;
}
