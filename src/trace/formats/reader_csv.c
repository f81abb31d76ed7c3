/*
 * reader_csv.c - values in columns, named by a header.
 *
 * The first line names the columns, in any order and any case: addr (required),
 * size, kind, tid, pid, pc; others are ignored. Values have the same separator as
 * the names: a comma, a semicolon or a tab; blanks around them and double quotes
 * are allowed, and an empty value counts as missing. Numbers are hexadecimal with
 * 0x and decimal without. Hexadecimal digits without 0x are an error: guessing
 * would read 10 as 16 in one line and as 10 in another. Kinds are R, W, I or read,
 * write, fetch. Blank lines and lines that start with '#' are skipped. A line must
 * have as many values as the header has names.
 */
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "trace/formats/digits.h"
#include "trace/formats/text_reader.h"

#define COLUMNS_MAX 256

enum role { ROLE_ADDR, ROLE_SIZE, ROLE_KIND, ROLE_TID, ROLE_PID, ROLE_PC, ROLES, ROLE_NONE = ROLES };

static const char *const role_names[ROLES] = {"addr", "size", "kind", "tid", "pid", "pc"};

struct csv_columns {
    char separator;
    uint32_t count;
    uint32_t roles; /* bit set of the roles present */
    uint8_t role[COLUMNS_MAX];
};

struct csv_reader {
    struct rsc_text_reader text;
    struct csv_columns columns;
};

static int has_role(const struct csv_columns *columns, enum role role) { return columns->roles >> role & 1; }

/* ---- fields: text up to `end`, where the line's '\n' or "\r\n" is ---- */

static const char *skip_blanks(const char *at, char separator) {
    while (*at == ' ' || (*at == '\t' && separator != '\t')) at++;
    return at;
}

/* Skips an unused value: to its separator, the closing quote if quoted, or the end. */
static const char *skip_value(const char *at, const char *end, char separator, int quoted) {
    if (!quoted) {
        while (at < end && *at != separator) at++;
        return at;
    }
    for (; at < end; at++)
        if (*at == '"' && *++at != '"') return at - 1; /* a doubled quote stands for one */
    return end;
}

/* Skips the closing quote and blanks after a value. NULL if anything else follows. */
static const char *close_value(const char *at, const char *end, char separator, int quoted) {
    if (quoted) {
        at = skip_blanks(at, separator);
        if (*at++ != '"') return NULL;
    }
    at = skip_blanks(at, separator);
    return at == end || *at == separator ? at : NULL;
}

/* ---- the header ---- */

static enum role role_of(const char *name, size_t length) {
    for (int role = 0; role < ROLES; role++)
        if (strlen(role_names[role]) == length && !strncasecmp(name, role_names[role], length)) return (enum role)role;
    return ROLE_NONE;
}

static char separator_of(const char *line, const char *end) {
    for (int quoted = 0; line < end; line++) {
        quoted ^= *line == '"';
        if (!quoted && (*line == ',' || *line == ';' || *line == '\t')) return *line;
    }
    return ',';
}

/* Parses the names in [line, end). Returns the problem, or NULL. */
static const char *parse_header(struct csv_columns *columns, const char *line, const char *end) {
    *columns = (struct csv_columns){.separator = separator_of(line, end)};
    if (end - line >= 3 && !memcmp(line, "\xef\xbb\xbf", 3)) line += 3; /* UTF-8's byte order mark */
    for (const char *at = line;; at++) {
        at = skip_blanks(at, columns->separator);
        int quoted = *at == '"';
        const char *name = skip_blanks(at + quoted, columns->separator);
        at = skip_value(name, end, columns->separator, quoted);
        size_t length = (size_t)(at - name);
        while (length && (name[length - 1] == ' ' || name[length - 1] == '\t')) length--;
        enum role role = role_of(name, length);
        at = close_value(at, end, columns->separator, quoted);
        if (!at) return "a quoted column name has no closing quote";
        if (columns->count == COLUMNS_MAX) return "more than 256 columns";
        if (role != ROLE_NONE && has_role(columns, role)) return "the header names a column twice";
        if (role != ROLE_NONE) columns->roles |= 1u << role;
        columns->role[columns->count++] = (uint8_t)role;
        if (at == end) break;
    }
    return has_role(columns, ROLE_ADDR) ? NULL : "the first line must name the columns, including addr";
}

/* The end of a line whose '\n' is at `newline`, without the '\r' it may have. */
static const char *trim_return(const char *line, const char *newline) {
    return newline > line && newline[-1] == '\r' ? newline - 1 : newline;
}

int rsc_csv_matches(const unsigned char *head, size_t bytes, int whole) {
    struct rsc_head_line line;
    struct csv_columns columns;
    size_t at = 0;
    if (rsc_head_is_binary(head, bytes)) return 0;
    do {
        if (!rsc_head_line_next(&line, head, bytes, whole, &at)) return 0;
    } while (rsc_text_line_is_idle(line.text, 1));
    parse_header(&columns, line.text, trim_return(line.text, strchr(line.text, '\n')));
    return has_role(&columns, ROLE_ADDR);
}

/* ---- values ---- */

static const char *parse_number(const char *at, uint64_t *value, const char **problem) {
    if (rsc_has_hex_prefix(at)) {
        unsigned digits = rsc_parse_hex(at + 2, value);
        if (digits > 0 && digits <= 16) return at + 2 + digits;
        *problem = digits ? "number exceeds 64 bits" : "0x without digits";
        return NULL;
    }
    const char *end = rsc_is_figure(*at) ? rsc_parse_decimal(at, value) : at;
    if (!end) {
        *problem = "number exceeds 64 bits";
        return NULL;
    }
    char next = *end | 0x20;
    if (next >= 'a' && next <= 'f') {
        *problem = "hexadecimal digits need a leading 0x";
        return NULL;
    }
    if (end == at) *problem = "expected a number";
    return end == at ? NULL : end;
}

static const char *parse_kind(const char *at, uint64_t *kind, const char **problem) {
    static const char *const words[] = {"read", "write", "fetch"};
    size_t length = 0;
    while ((unsigned char)((at[length] | 0x20) - 'a') < 26) length++;
    char letter = *at | 0x20;
    if (length == 1 && (letter == 'r' || letter == 'w' || letter == 'i')) {
        *kind = letter == 'r' ? RSC_READ : letter == 'w' ? RSC_WRITE : RSC_FETCH;
        return at + 1;
    }
    for (unsigned i = 0; i < 3; i++)
        if (length == strlen(words[i]) && !strncasecmp(at, words[i], length)) {
            *kind = i;
            return at + length;
        }
    *problem = "expected a kind: R, W or I";
    return NULL;
}

/*
 * Parses one line into `values` by role; missing values stay unchanged. Returns the
 * problem, or NULL.
 */
static const char *parse_values(const struct csv_columns *columns, const char *at, const char *end,
                                uint64_t values[ROLES + 1]) {
    const char *problem = NULL;
    char separator = columns->separator;
    for (uint32_t column = 0;; at++) {
        enum role role = (enum role)columns->role[column];
        at = skip_blanks(at, separator);
        int quoted = *at == '"';
        if (quoted) at = skip_blanks(at + 1, separator);
        if (role == ROLE_NONE) at = skip_value(at, end, separator, quoted);
        else if (at < end && *at != separator && *at != '"')
            at =
                role == ROLE_KIND ? parse_kind(at, &values[role], &problem) : parse_number(at, &values[role], &problem);
        else if (role == ROLE_ADDR) return "no value for addr";
        if (!at) return problem;
        at = close_value(at, end, separator, quoted);
        if (!at) return "unexpected text after a value";
        if (++column == columns->count) return at == end ? NULL : "more values than the header has names";
        if (at == end) return "fewer values than the header has names";
    }
}

/* Adds one line to the batch. Returns the problem, or NULL. */
static const char *take_line(struct csv_reader *reader, const char *newline, uint32_t count) {
    uint64_t values[ROLES + 1] = {[ROLE_SIZE] = 1, [ROLE_KIND] = RSC_READ};
    struct rsc_text_reader *text = &reader->text;
    const char *line = text->lines.cursor;
    const char *problem = parse_values(&reader->columns, line, trim_return(line, newline), values);
    if (problem) return problem;
    if (values[ROLE_SIZE] == 0 || values[ROLE_SIZE] > UINT32_MAX) return "size must be from 1 to 4294967295 bytes";
    int64_t thread = 0;
    if (has_role(&reader->columns, ROLE_TID) || has_role(&reader->columns, ROLE_PID)) {
        thread = rsc_text_reader_thread(text, values[ROLE_PID], values[ROLE_TID]);
        if (thread < 0) return text->problem;
    }
    text->addr[count] = values[ROLE_ADDR];
    text->meta[count] = rsc_meta((uint32_t)values[ROLE_SIZE], (enum rsc_kind)values[ROLE_KIND], (uint32_t)thread);
    text->pc[count] = values[ROLE_PC];
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
            text->fetches += rsc_meta_kind(text->meta[count++]) == RSC_FETCH;
        }
        rsc_text_lines_pass(lines, newline + 1);
    }
    return count;
}

/* Finds the header and takes it. */
static int csv_start(struct rsc_text_reader *text, struct rsc_error *error) {
    struct csv_columns *columns = &((struct csv_reader *)text)->columns;
    struct rsc_text_lines *lines = &text->lines;
    for (;;) {
        int status = rsc_text_lines_fill(lines, error);
        if (status < 0) return status;
        if (status == 0) return rsc_text_lines_fail(lines, RSC_EFORMAT, "no header that names the columns", error);
        const char *newline = rsc_text_lines_end(lines);
        if (!newline) return rsc_text_lines_fail(lines, RSC_EFORMAT, RSC_TEXT_LINE_TOO_LONG, error);
        int idle = rsc_text_line_is_idle(lines->cursor, 1);
        const char *end = trim_return(lines->cursor, newline);
        const char *problem = idle ? NULL : parse_header(columns, lines->cursor, end);
        if (problem) return rsc_text_lines_fail(lines, RSC_EFORMAT, problem, error);
        rsc_text_lines_pass(lines, newline + 1);
        if (!idle) break;
    }
    text->has_pc = has_role(columns, ROLE_PC);
    return 0;
}

static const struct rsc_text_format csv_format = {"csv",     NULL,      0,   sizeof(struct csv_reader),
                                                  csv_start, csv_parse, NULL};

int rsc_csv_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                 struct rsc_error *error) {
    return rsc_text_reader_open(out, &csv_format, input, options, error);
}
