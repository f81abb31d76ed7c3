/* csv_columns.c - see csv_columns.h. */
#include "trace/formats/csv_columns.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#include <reusescope/trace.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "trace/formats/digits.h"

static const char *const role_names[RSC_CSV_ROLES] = {"addr", "size", "kind", "tid", "pid", "pc"};

static enum rsc_csv_role role_of(const char *name, size_t length) {
    for (int role = 0; role < RSC_CSV_ROLES; role++)
        if (strlen(role_names[role]) == length && !strncasecmp(name, role_names[role], length))
            return (enum rsc_csv_role)role;
    return RSC_CSV_NONE;
}

/* ---- fields: text up to `end`, where the line's '\n' or "\r\n" is ---- */

static int is_blank(char c) { return c == ' ' || c == '\t'; }

static const char *skip_blanks(const char *at, char separator) {
    while (*at == ' ' || (*at == '\t' && separator != '\t')) at++;
    return at;
}

static int is_separator(char c, char separator) { return separator == ' ' ? is_blank(c) : c == separator; }

/* Skips an unused value: to its separator, the closing quote if quoted, or the end. */
static const char *skip_value(const char *at, const char *end, char separator, int quoted) {
    if (!quoted) {
        while (at < end && !is_separator(*at, separator)) at++;
        return at;
    }
    for (; at < end; at++)
        if (*at == '"' && *++at != '"') return at - 1; /* a doubled quote stands for one */
    return end;
}

/*
 * Skips the closing quote and blanks after a value, up to its separator: of several blanks the last. NULL if anything
 * else follows.
 */
static const char *close_value(const char *at, const char *end, char separator, int quoted) {
    if (quoted) {
        at = skip_blanks(at, separator);
        if (*at++ != '"') return NULL;
    }
    const char *value_end = at;
    at = skip_blanks(at, separator);
    if (at == end) return at;
    if (separator == ' ') return at > value_end ? at - 1 : NULL;
    return *at == separator ? at : NULL;
}

/* The first of , ; and tab that the line has outside quotes; else a blank if one is between two values; else a comma. */
static char separator_of(const char *line, const char *end) {
    int before = 0, between = 0, blank = 0; /* a value was met; blanks after it; blanks with a value on both sides */
    for (int quoted = 0; line < end; line++) {
        quoted ^= *line == '"';
        if (!quoted && (*line == ',' || *line == ';' || *line == '\t')) return *line;
        if (quoted || *line != ' ') {
            blank |= between;
            before = 1;
        } else {
            between = before;
        }
    }
    return blank ? ' ' : ',';
}

/* ---- which column is what ---- */

int rsc_csv_spec_parse(struct rsc_csv_spec *spec, const char *text, struct rsc_error *error) {
    *spec = (struct rsc_csv_spec){0};
    for (const char *at = text; *at;) {
        size_t length = strcspn(at, ","), name = strcspn(at, "=");
        if (name >= length) goto refuse;
        enum rsc_csv_role role = role_of(at, name);
        const char *value = at + name + 1;
        size_t bytes = length - name - 1;
        if (role == RSC_CSV_NONE || spec->roles >> role & 1) goto refuse;
        if (bytes >= 4 && !strncmp(value + bytes - 4, ":hex", 4)) {
            spec->hex |= 1u << role;
            bytes -= 4;
        }
        if (!bytes || bytes >= RSC_CSV_NAME_MAX || (spec->hex >> role & 1 && role == RSC_CSV_KIND)) goto refuse;
        uint64_t number = 0;
        if (rsc_is_figure(*value)) {
            if (rsc_parse_u64(value, bytes, &number) < 0 || !number || number > RSC_CSV_COLUMNS_MAX) goto refuse;
        } else {
            memcpy(spec->of[role].name, value, bytes);
            spec->named = 1;
        }
        spec->of[role].number = (uint32_t)number;
        spec->roles |= 1u << role;
        at += length;
        at += *at == ',';
    }
    if (spec->roles & 1u << RSC_CSV_ADDR) return 0;
refuse:
    return rsc_fail(error, RSC_EINVAL,
                    "columns '%.60s': not addr=COLUMN with any of size, kind, tid, pid and pc, as addr=3,size=4 or "
                    "addr=address:hex",
                    text);
}

/* Sets column `index` from 0 to this role. Returns the problem, or NULL. */
static const char *set_role(struct rsc_csv_columns *columns, uint32_t index, enum rsc_csv_role role) {
    if (rsc_csv_has(columns, role)) return "the header names a column twice";
    if (columns->role[index] != RSC_CSV_NONE) return "a column is given twice";
    columns->role[index] = (uint8_t)role;
    columns->roles |= 1u << role;
    return NULL;
}

/* The role of a column with this name, by `spec`, or without one by the format's own names. */
static enum rsc_csv_role role_named(const struct rsc_csv_spec *spec, const char *name, size_t length) {
    if (!spec) return role_of(name, length);
    for (int role = 0; role < RSC_CSV_ROLES; role++) {
        const char *wanted = spec->of[role].name;
        if (*wanted && strlen(wanted) == length && !strncasecmp(name, wanted, length)) return (enum rsc_csv_role)role;
    }
    return RSC_CSV_NONE;
}

static const char *take_names(struct rsc_csv_columns *columns, const struct rsc_csv_spec *spec, const char *line,
                              const char *end) {
    *columns = (struct rsc_csv_columns){.separator = separator_of(line, end)};
    memset(columns->role, RSC_CSV_NONE, sizeof columns->role);
    for (const char *at = line;; at++) {
        at = skip_blanks(at, columns->separator);
        int quoted = *at == '"';
        const char *name = skip_blanks(at + quoted, columns->separator);
        at = skip_value(name, end, columns->separator, quoted);
        size_t length = (size_t)(at - name);
        while (length && is_blank(name[length - 1])) length--;
        enum rsc_csv_role role = role_named(spec, name, length);
        at = close_value(at, end, columns->separator, quoted);
        if (!at) return "a quoted column name has no closing quote";
        if (columns->count == RSC_CSV_COLUMNS_MAX) return "more than 256 columns";
        const char *problem = role == RSC_CSV_NONE ? NULL : set_role(columns, columns->count, role);
        if (problem) return problem;
        columns->count++;
        if (at == end) return NULL;
    }
}

const char *rsc_csv_columns_named(struct rsc_csv_columns *columns, const char *line, const char *end) {
    const char *problem = take_names(columns, NULL, line, end);
    if (problem) return problem;
    for (uint32_t i = 0; i < columns->count; i++) /* a sentence is not a header */
        if (columns->separator == ' ' && columns->role[i] == RSC_CSV_NONE) columns->roles = 0;
    return rsc_csv_has(columns, RSC_CSV_ADDR) ? NULL : "the first line must name the columns, including addr";
}

/* Does the address of this line start with a figure? Names of columns do not. */
static int starts_with_figure(const struct rsc_csv_columns *columns, const char *at, const char *end) {
    for (uint32_t column = 0;; column++, at++) {
        at = skip_blanks(at, columns->separator);
        int quoted = *at == '"';
        if (columns->role[column] == RSC_CSV_ADDR) return rsc_is_figure(at[quoted]);
        at = close_value(skip_value(at + quoted, end, columns->separator, quoted), end, columns->separator, quoted);
        if (!at || at == end) return 0;
    }
}

const char *rsc_csv_columns_given(struct rsc_csv_columns *columns, const struct rsc_csv_spec *spec, const char *line,
                                  const char *end, int *header) {
    uint64_t values[RSC_CSV_ROLES + 1];
    const char *problem = take_names(columns, spec, line, end);
    if (problem) return problem;
    for (int role = 0; role < RSC_CSV_ROLES; role++) {
        uint32_t number = spec->of[role].number;
        if (number > columns->count) return "fewer columns than --columns asks for";
        if (number && (problem = set_role(columns, number - 1, (enum rsc_csv_role)role))) return problem;
    }
    if (columns->roles != spec->roles) return "the first line does not have all names that --columns gives";
    columns->hex = spec->hex;
    if (!spec->named) {
        while (columns->role[columns->count - 1] == RSC_CSV_NONE) columns->count--;
        columns->open_ended = 1;
    }
    *header = spec->named || (rsc_csv_values(columns, line, end, values) && !starts_with_figure(columns, line, end));
    return NULL;
}

/* ---- values ---- */

static const char *parse_number(const char *at, int hex, uint64_t *value, const char **problem) {
    int prefix = rsc_has_hex_prefix(at);
    if (prefix || hex) {
        at += prefix ? 2 : 0;
        unsigned digits = rsc_parse_hex(at, value);
        if (digits > 0 && digits <= 16) return at + digits;
        *problem = digits ? "number exceeds 64 bits" : prefix ? "0x without digits" : "expected a hexadecimal number";
        return NULL;
    }
    const char *end = rsc_is_figure(*at) ? rsc_parse_decimal(at, value) : at;
    if (!end) {
        *problem = "number exceeds 64 bits";
        return NULL;
    }
    char next = *end | 0x20;
    if (next >= 'a' && next <= 'f') {
        *problem = "hexadecimal digits need a leading 0x (or --columns addr=N:hex)";
        return NULL;
    }
    if (end == at) *problem = "expected a number";
    return end == at ? NULL : end;
}

static const char *parse_kind(const char *at, uint64_t *kind, const char **problem) {
    static const struct {
        const char *word; /* its first letter stands for it too */
        enum rsc_kind kind;
    } words[] = {{"read", RSC_READ},   {"load", RSC_READ},    {"write", RSC_WRITE},
                 {"store", RSC_WRITE}, {"ifetch", RSC_FETCH}, {"fetch", RSC_FETCH}};
    size_t length = 0;
    while ((unsigned char)((at[length] | 0x20) - 'a') < 26) length++;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        if ((length == 1 && (*at | 0x20) == words[i].word[0]) ||
            (length == strlen(words[i].word) && !strncasecmp(at, words[i].word, length))) {
            *kind = words[i].kind;
            return at + length;
        }
    *problem = "expected a kind: R, W or I";
    return NULL;
}

const char *rsc_csv_values(const struct rsc_csv_columns *columns, const char *at, const char *end,
                           uint64_t values[RSC_CSV_ROLES + 1]) {
    const char *problem = NULL;
    char separator = columns->separator;
    for (uint32_t column = 0;; at++) {
        enum rsc_csv_role role = (enum rsc_csv_role)columns->role[column];
        at = skip_blanks(at, separator);
        int quoted = *at == '"';
        if (quoted) at = skip_blanks(at + 1, separator);
        if (role == RSC_CSV_NONE) at = skip_value(at, end, separator, quoted);
        else if (at < end && *at != separator && *at != '"')
            at = role == RSC_CSV_KIND ? parse_kind(at, &values[role], &problem)
                                      : parse_number(at, columns->hex >> role & 1, &values[role], &problem);
        else if (role == RSC_CSV_ADDR) return "no value for addr";
        if (!at) return problem;
        at = close_value(at, end, separator, quoted);
        if (!at) return "unexpected text after a value";
        if (++column == columns->count)
            return at == end || columns->open_ended ? NULL : "more values than there are columns";
        if (at == end) return "fewer values than there are columns";
    }
}

/* ---- plain lists ---- */

enum number { NUMBER_NOT, NUMBER, NUMBER_OR_WORD };

/* Is [at, end) a number in hexadecimal or decimal digits? One of the letters a to f may be an English word. */
static enum number number_of(const char *at, const char *end, int *letters) {
    int figures = 0, digits = 0, prefix = rsc_has_hex_prefix(at), first_figure = rsc_is_figure(*at);
    if (prefix) at += 2;
    for (; at < end; at++, digits++) {
        int letter = (unsigned char)((*at | 0x20) - 'a') < 6;
        if (!letter && !rsc_is_figure(*at)) return NUMBER_NOT;
        figures += !letter;
    }
    *letters = !prefix && figures < digits;
    if (!digits || digits > 20) return NUMBER_NOT;
    return prefix || !*letters || first_figure || (figures && digits >= 6) ? NUMBER : NUMBER_OR_WORD;
}

int rsc_csv_columns_listed(struct rsc_csv_columns *columns, const char *line, const char *end) {
    const char *values[4], *ends[4], *problem;
    uint32_t count = 0;
    uint64_t kind;
    int letters = 0, ignored;
    for (const char *at = line; at < end;) {
        if (is_blank(*at)) {
            at++;
            continue;
        }
        if (count == 4) return 0;
        values[count] = at;
        at = ends[count++] = skip_value(at, end, ' ', 0);
    }
    *columns = (struct rsc_csv_columns){.separator = ' ', .count = count};
    int kinds = count > 1;
    if (!count || count > 3 || (kinds && parse_kind(values[0], &kind, &problem) != ends[0])) return 0;
    const enum number address = number_of(values[kinds], ends[kinds], &letters);
    if (!address || (count == 3 && number_of(values[2], ends[2], &ignored) != NUMBER)) return 0;
    static const uint8_t roles[] = {RSC_CSV_KIND, RSC_CSV_ADDR, RSC_CSV_SIZE};
    for (uint32_t i = 0; i < count; i++) {
        columns->role[i] = roles[i + !kinds];
        columns->roles |= 1u << columns->role[i];
    }
    columns->hex = letters ? 1u << RSC_CSV_ADDR : 0;
    return address == NUMBER ? 1 : 2;
}

uint32_t rsc_csv_count(const char *line, const char *end, uint32_t *number) {
    uint32_t count = 0, prefixed = 0;
    char separator = separator_of(line, end);
    int letters;
    *number = 0;
    for (const char *at = line;; at++) {
        at = skip_blanks(at, separator);
        int quoted = *at == '"';
        const char *value = at + quoted;
        at = skip_value(value, end, separator, quoted);
        count++;
        if (at > value && number_of(value, at, &letters) == NUMBER) {
            if (!*number || (!prefixed && rsc_has_hex_prefix(value))) *number = count;
            prefixed |= (uint32_t)rsc_has_hex_prefix(value);
        }
        at = close_value(at, end, separator, quoted);
        if (!at || at == end) return count;
    }
}
