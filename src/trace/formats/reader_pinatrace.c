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
#include <string.h>

#include "base/fail.h"
#include "trace/formats/digits.h"
#include "trace/formats/text_reader.h"

/* Lines examined to detect a pinatrace file. */
#define LINES_TRIED 16

struct pinatrace_reader {
    struct rsc_text_reader text;
    int ended; /* the last non-blank line was "#eof"; -1: of a block that says nothing of it */
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

static uint32_t pinatrace_parse(struct rsc_text_reader *text, uint32_t count) {
    struct pinatrace_reader *reader = (struct pinatrace_reader *)text;
    struct rsc_text_lines *lines = &text->lines;
    while (lines->cursor < lines->limit && count < RSC_BATCH_ACCESSES) {
        const char *line = lines->cursor;
        const char *at = parse_line(line, &text->pc[count], &text->addr[count], &text->meta[count]);
        if (at && *at == '\n') {
            count++;
            reader->ended = 0;
            rsc_text_lines_pass(lines, at + 1);
            continue;
        }
        const char *newline = rsc_text_lines_end(lines);
        if (!newline) text->problem = RSC_TEXT_LINE_TOO_LONG;
        else if (!at && !rsc_text_line_is_idle(line, 1)) text->problem = "expected \"0xPC: R|W 0xADDRESS\"";
        if (text->problem) break;
        if (at) reader->ended = 0;
        else if (*line == '#') reader->ended = !strncmp(line, "#eof", 4);
        count += at != NULL;
        rsc_text_lines_pass(lines, newline + 1);
    }
    return count;
}

static int pinatrace_finish(struct rsc_text_reader *text, struct rsc_error *error) {
    const char *name = rsc_input_name(text->lines.input);
    if (((struct pinatrace_reader *)text)->ended) return 0;
    uint64_t end = rsc_input_offset(text->lines.input);
    if (text->lines.unended)
        return rsc_fail_at(error, RSC_EFORMAT, end, "%s: cut at byte %" PRIu64 ", inside a line (pinatrace)", name,
                           end);
    rsc_log_line(text->log, RSC_LOG_WARNING, "%s: no \"#eof\" at the end: the trace may be cut (pinatrace)", name);
    return 0;
}

static void pinatrace_begin(struct rsc_text_reader *part) { ((struct pinatrace_reader *)part)->ended = -1; }

static void pinatrace_join(struct rsc_text_reader *all, const struct rsc_text_reader *part,
                           struct rsc_piece_view *view) {
    int ended = ((const struct pinatrace_reader *)part)->ended;
    (void)view;
    if (ended >= 0) ((struct pinatrace_reader *)all)->ended = ended;
}

static const struct rsc_text_format pinatrace_format = {.name = "pinatrace",
                                                        .source = "Pin pinatrace",
                                                        .has_pc = 1,
                                                        .reader_bytes = sizeof(struct pinatrace_reader),
                                                        .parse = pinatrace_parse,
                                                        .finish = pinatrace_finish,
                                                        .begin = pinatrace_begin,
                                                        .join = pinatrace_join};

int rsc_pinatrace_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                       struct rsc_error *error) {
    return rsc_text_reader_open(out, &pinatrace_format, input, options, error);
}
