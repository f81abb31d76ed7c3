/*
 * reader_csv.c - text in columns: values named by a header or by --columns, and plain
 * lists of addresses.
 *
 * csv: the first line names the columns, in any order and any case: addr (required),
 * size, kind, tid, pid, pc; others are ignored. --columns says instead which columns
 * these are, by number or by the header's own names; with numbers alone there need be
 * no header, and a first line without a number for the address is skipped as one.
 * Values are separated as in the first line: by a comma, a semicolon, a tab or blanks;
 * blanks around them and double quotes are allowed, and an empty value counts as
 * missing. Numbers are hexadecimal with 0x and decimal without. Hexadecimal digits
 * without 0x are an error unless --columns announces them (addr=3:hex): guessing would
 * read 10 as 16 in one line and as 10 in another. Kinds are R, W, I or read, load,
 * write, store, fetch and their first letters. A line must have as many values as there
 * are columns. A size of 0, as of an empty object, counts as 1, with a warning at the end.
 *
 * list: lines of "ADDR", "KIND ADDR" or "KIND ADDR SIZE", all like the first. If an
 * address in the opening of the file has a digit from a to f without 0x, all without 0x
 * are hexadecimal, else decimal; a letter that appears later is an error.
 *
 * In both, blank lines and lines that start with '#' are skipped.
 */
#include <inttypes.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/csv_columns.h"
#include "trace/formats/text_reader.h"

/* Lines that must all be "[KIND] ADDR [SIZE]" for a file to be detected as a list. */
#define LINES_TRIED 64

struct csv_reader {
    struct rsc_text_reader text;
    struct rsc_csv_columns columns;
    uint64_t sizeless; /* accesses of 0 bytes */
};

/* The end of a line whose '\n' is at `newline`, without the '\r' it may have. */
static const char *trim_return(const char *line, const char *newline) {
    return newline > line && newline[-1] == '\r' ? newline - 1 : newline;
}

/* The next line of the opening that is not blank or a comment; its end, or NULL if there is none. */
static const char *next_head_line(struct rsc_head_line *line, const unsigned char *head, size_t bytes, int whole,
                                  size_t *at) {
    do {
        if (!rsc_head_line_next(line, head, bytes, whole, at)) return NULL;
    } while (rsc_text_line_is_idle(line->text, 1));
    return trim_return(line->text, strchr(line->text, '\n'));
}

int rsc_csv_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    struct rsc_csv_columns columns;
    size_t at = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    const char *end = next_head_line(&line, head, bytes, whole, &at);
    if (!end) return 0;
    rsc_csv_columns_named(&columns, line.text, end);
    return rsc_csv_has(&columns, RSC_CSV_ADDR);
}

int rsc_list_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    struct rsc_csv_columns columns;
    size_t at = 0;
    uint32_t count = 0, certain = 0;
    const char *end;
    if (rsc_head_is_binary(head, bytes) || !memchr(head, '\n', bytes)) return 0; /* a number alone is not a list */
    for (int tried = 0; tried < LINES_TRIED && (end = next_head_line(&line, head, bytes, whole, &at)); tried++) {
        int listed = rsc_csv_columns_listed(&columns, line.text, end);
        if (!listed || (count && columns.count != count)) return 0;
        count = columns.count;
        certain += listed == 1;
    }
    return certain > 0;
}

uint32_t rsc_csv_looks(const unsigned char *head, size_t bytes, int whole, uint32_t *number) {
    struct rsc_head_line line;
    size_t at = 0;
    *number = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    const char *end = next_head_line(&line, head, bytes, whole, &at);
    uint32_t count = end ? rsc_csv_count(line.text, end, number) : 0;
    if (count > 1 && !*number && (end = next_head_line(&line, head, bytes, whole, &at))) /* the first was a header? */
        if (rsc_csv_count(line.text, end, number) != count) *number = 0;
    return count;
}

/* Adds one line to the batch. Returns the problem, or NULL. */
static const char *take_line(struct csv_reader *reader, const char *newline, uint32_t count) {
    uint64_t values[RSC_CSV_ROLES + 1] = {[RSC_CSV_SIZE] = 1, [RSC_CSV_KIND] = RSC_READ};
    struct rsc_text_reader *text = &reader->text;
    const char *line = text->lines.cursor;
    const char *problem = rsc_csv_values(&reader->columns, line, trim_return(line, newline), values);
    if (problem) return problem;
    if (values[RSC_CSV_SIZE] > UINT32_MAX) return "size must be at most 4294967295 bytes";
    int64_t thread = 0;
    if (text->has_threads) {
        thread = rsc_text_reader_thread(text, values[RSC_CSV_PID], values[RSC_CSV_TID]);
        if (thread < 0) return text->problem;
    }
    if (!values[RSC_CSV_SIZE]) {
        values[RSC_CSV_SIZE] = 1;
        reader->sizeless++;
    }
    text->addr[count] = values[RSC_CSV_ADDR];
    text->meta[count] = rsc_meta((uint32_t)values[RSC_CSV_SIZE], (enum rsc_kind)values[RSC_CSV_KIND], (uint32_t)thread);
    text->pc[count] = values[RSC_CSV_PC];
    return NULL;
}

static uint32_t csv_parse(struct rsc_text_reader *text, uint32_t count) {
    struct rsc_text_lines *lines = &text->lines;
    while (lines->cursor < lines->limit && count < RSC_BATCH_ACCESSES) {
        const char *newline = rsc_text_lines_end(lines);
        if (!newline) {
            text->problem = RSC_TEXT_LINE_TOO_LONG;
            break;
        }
        if (!rsc_text_line_is_idle(lines->cursor, 1)) {
            text->problem = take_line((struct csv_reader *)text, newline, count);
            if (text->problem) break;
            text->cuttable = newline + 1;
            text->fetches += rsc_meta_kind(text->meta[count++]) == RSC_FETCH;
        }
        rsc_text_lines_pass(lines, newline + 1);
    }
    return count;
}

/* Moves to the first line with something in it. Returns 1 and its end, 0 if there is none, or negative. */
static int first_line(struct rsc_text_lines *lines, const char **newline, struct rsc_error *error) {
    for (;;) {
        int status = rsc_text_lines_fill(lines, error);
        if (status <= 0) return status;
        *newline = rsc_text_lines_end(lines);
        if (!*newline) return rsc_text_lines_fail(lines, RSC_EFORMAT, RSC_TEXT_LINE_TOO_LONG, error);
        if (!rsc_text_line_is_idle(lines->cursor, 1)) return 1;
        rsc_text_lines_pass(lines, *newline + 1);
    }
}

/* Learns the columns from the first line, and takes it if it is a header. */
static int csv_start(struct rsc_text_reader *text, struct rsc_error *error) {
    struct rsc_csv_columns *columns = &((struct csv_reader *)text)->columns;
    struct rsc_text_lines *lines = &text->lines;
    struct rsc_csv_spec spec;
    const char *newline = NULL;
    int header = 1, status = text->columns ? rsc_csv_spec_parse(&spec, text->columns, error) : 0;
    if (!status) status = first_line(lines, &newline, error);
    if (status < 0) return status;
    if (!status) return rsc_text_lines_fail(lines, RSC_EFORMAT, "no header that names the columns", error);
    const char *end = trim_return(lines->cursor, newline);
    const char *problem = text->columns ? rsc_csv_columns_given(columns, &spec, lines->cursor, end, &header)
                                        : rsc_csv_columns_named(columns, lines->cursor, end);
    if (problem) return rsc_text_lines_fail(lines, RSC_EFORMAT, problem, error);
    if (header) rsc_text_lines_pass(lines, newline + 1);
    text->has_pc = rsc_csv_has(columns, RSC_CSV_PC);
    text->has_threads = rsc_csv_has(columns, RSC_CSV_TID) || rsc_csv_has(columns, RSC_CSV_PID);
    return 0;
}

/* Learns the columns from the first line, and from the first block whether addresses are hexadecimal. */
static int list_start(struct rsc_text_reader *text, struct rsc_error *error) {
    struct rsc_csv_columns *columns = &((struct csv_reader *)text)->columns, other;
    struct rsc_text_lines *lines = &text->lines;
    const char *newline = NULL;
    int status = first_line(lines, &newline, error);
    if (status < 0) return status;
    if (!status || !rsc_csv_columns_listed(columns, lines->cursor, trim_return(lines->cursor, newline)))
        return rsc_text_lines_fail(lines, RSC_EFORMAT, "expected \"[KIND] ADDRESS [SIZE]\"", error);
    for (const char *at = lines->cursor; at < lines->limit && !columns->hex; at = newline + 1) {
        newline = memchr(at, '\n', (size_t)(lines->limit - at));
        if (rsc_csv_columns_listed(&other, at, trim_return(at, newline))) columns->hex = other.hex;
    }
    return 0;
}

static void csv_join(struct rsc_text_reader *all, const struct rsc_text_reader *part, struct rsc_piece_view *view) {
    (void)view;
    ((struct csv_reader *)all)->sizeless += ((const struct csv_reader *)part)->sizeless;
}

static int csv_finish(struct rsc_text_reader *text, struct rsc_error *error) {
    const uint64_t sizeless = ((const struct csv_reader *)text)->sizeless;
    (void)error;
    if (sizeless)
        rsc_log_line(text->log, RSC_LOG_WARNING, "%s: %" PRIu64 " accesses of 0 bytes counted as 1 byte each",
                     rsc_input_name(text->lines.input), sizeless);
    return 0;
}

static const struct rsc_text_format csv_format = {.name = "csv",
                                                  .reader_bytes = sizeof(struct csv_reader),
                                                  .start = csv_start,
                                                  .parse = csv_parse,
                                                  .finish = csv_finish,
                                                  .join = csv_join};
static const struct rsc_text_format list_format = {.name = "list",
                                                   .reader_bytes = sizeof(struct csv_reader),
                                                   .start = list_start,
                                                   .parse = csv_parse,
                                                   .finish = csv_finish,
                                                   .join = csv_join};

int rsc_csv_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                 struct rsc_error *error) {
    return rsc_text_reader_open(out, &csv_format, input, options, error);
}

int rsc_list_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                  struct rsc_error *error) {
    return rsc_text_reader_open(out, &list_format, input, options, error);
}
