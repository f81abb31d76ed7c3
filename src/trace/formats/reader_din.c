/*
 * reader_din.c - Dinero's traditional input: one "LABEL ADDRESS" per line.
 *
 * The label is 0 for a read, 1 for a write, 2 for an instruction fetch (the
 * numbers of enum rsc_kind); the address is hexadecimal, with or without 0x;
 * the rest of the line is ignored. Labels 3 (unknown) and 4 (flush the cache)
 * describe no access: they are skipped, and a warning at the end counts them. Blank
 * lines and lines that start with '#' are skipped too. Sizes are 1 byte. A file that
 * ends inside an address, without a newline, is cut.
 */
#include <inttypes.h>

#include "base/fail.h"
#include "trace/formats/digits.h"
#include "trace/formats/text_reader.h"

/* Lines that must all match for a file to be detected as din. */
#define LINES_TRIED 16

struct din_reader {
    struct rsc_text_reader text;
    uint64_t escapes; /* lines with label 3 or 4 */
};

enum line_shape { LINE_BAD, LINE_ACCESS, LINE_ESCAPE };

/*
 * Parses one line: the label, the address (of an access) and, in *end, the end of
 * the address. An escape's operand may be missing.
 */
static inline enum line_shape parse_line(const char *at, unsigned *label, uint64_t *addr, const char **end) {
    while (*at == ' ' || *at == '\t') at++;
    *label = (unsigned char)*at - (unsigned)'0';
    if (*label > 4 || (at[1] > ' ')) return LINE_BAD;
    *end = ++at;
    if (*label > 2) return LINE_ESCAPE;
    while (*at == ' ' || *at == '\t') at++;
    if (rsc_has_hex_prefix(at)) at += 2;
    unsigned digits = rsc_parse_hex(at, addr);
    if (digits == 0 || digits > 16) return LINE_BAD;
    *end = at + digits;
    return **end == '\n' || **end == ' ' || **end == '\t' || **end == '\r' ? LINE_ACCESS : LINE_BAD;
}

int rsc_din_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    size_t at = 0;
    int tried = 0, accesses = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    while (tried < LINES_TRIED && rsc_head_line_next(&line, head, bytes, whole, &at)) {
        unsigned label;
        uint64_t addr;
        const char *end;
        if (rsc_text_line_is_idle(line.text, 1)) continue;
        enum line_shape shape = parse_line(line.text, &label, &addr, &end);
        if (shape == LINE_BAD) return 0;
        accesses += shape == LINE_ACCESS;
        tried++;
    }
    return accesses > 0;
}

/* A line with more than label and address: returns its '\n', or NULL and sets the problem. */
static const char *end_of_other(struct rsc_text_reader *reader, enum line_shape shape) {
    if (shape == LINE_BAD && !rsc_text_line_is_idle(reader->lines.cursor, 1)) {
        reader->problem = "expected \"0|1|2 ADDRESS\"";
        return NULL;
    }
    const char *end = rsc_text_lines_end(&reader->lines);
    if (!end) reader->problem = RSC_TEXT_LINE_TOO_LONG;
    return end;
}

static uint32_t din_parse(struct rsc_text_reader *reader, uint32_t count) {
    struct rsc_text_lines *lines = &reader->lines;
    uint64_t escapes = 0, fetches = 0;
    const char *cuttable = NULL;
    while (lines->cursor < lines->limit && count < RSC_BATCH_ACCESSES) {
        unsigned label;
        uint64_t addr;
        const char *end;
        enum line_shape shape = parse_line(lines->cursor, &label, &addr, &end);
        if (shape != LINE_ACCESS || *end != '\n') {
            end = end_of_other(reader, shape);
            if (!end) break;
        } else {
            cuttable = end + 1;
        }
        rsc_text_lines_pass(lines, end + 1);
        if (shape == LINE_ACCESS) {
            reader->addr[count] = addr;
            reader->meta[count++] = rsc_meta(1, (enum rsc_kind)label, 0);
            fetches += label == RSC_FETCH;
        }
        escapes += shape == LINE_ESCAPE;
    }
    reader->fetches += fetches;
    reader->cuttable = cuttable;
    ((struct din_reader *)reader)->escapes += escapes;
    return count;
}

static int din_finish(struct rsc_text_reader *reader, struct rsc_error *error) {
    uint64_t escapes = ((struct din_reader *)reader)->escapes;
    (void)error;
    if (escapes)
        rsc_log_line(reader->log, RSC_LOG_WARNING,
                     "%s: %" PRIu64 " escape or flush lines (labels 3 and 4) were ignored",
                     rsc_input_name(reader->lines.input), escapes);
    return 0;
}

static void din_join(struct rsc_text_reader *all, const struct rsc_text_reader *part, struct rsc_piece_view *view) {
    (void)view;
    ((struct din_reader *)all)->escapes += ((const struct din_reader *)part)->escapes;
}

static const struct rsc_text_format din_format = {.name = "din",
                                                  .reader_bytes = sizeof(struct din_reader),
                                                  .parse = din_parse,
                                                  .finish = din_finish,
                                                  .ends_in_newline = 1,
                                                  .join = din_join};

int rsc_din_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                 struct rsc_error *error) {
    return rsc_text_reader_open(out, &din_format, input, options, error);
}
