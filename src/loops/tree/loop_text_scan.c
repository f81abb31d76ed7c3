/* loop_text_scan.c - tokens and expressions of the text form. */
#include "loops/tree/loop_text_reader.h"

#include <ctype.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "loops/tree/affine.h"

int reader_complain(struct reader *reader, int code, const char *what, const char *detail) {
    int status = rsc_fail(reader->error, code, "%s:%u: %s%.80s", reader->name, reader->line, what, detail);
    if (reader->error) reader->error->line = reader->line;
    return status;
}

int reader_out_of_room(struct reader *reader) {
    return reader->program->node_total >= RSC_LOOP_NODES_MAX
               ? reader_complain(reader, RSC_ELIMIT, "more than 100000 nodes", "")
               : reader_complain(reader, RSC_ENOMEM, "out of memory", "");
}

static int read_string(struct reader *reader) {
    size_t used = 0;
    for (; reader->at < reader->end && *reader->at != '"'; reader->at++) {
        char c = *reader->at;
        if (c == '\\' && reader->at + 1 < reader->end) c = *++reader->at;
        if (c == '\n') return reader_complain(reader, RSC_EFORMAT, "a string is not closed on its line", "");
        if ((unsigned char)c < ' ' || c == 127)
            return reader_complain(reader, RSC_EFORMAT, "a control character in a string", "");
        if (used + 1 >= sizeof reader->text) return reader_complain(reader, RSC_ELIMIT, "a string is too long", "");
        reader->text[used++] = c;
    }
    if (reader->at >= reader->end) return reader_complain(reader, RSC_EFORMAT, "a string is not closed", "");
    reader->at++;
    reader->text[used] = '\0';
    reader->kind = TOKEN_STRING;
    return 0;
}

static int is_name_start(char c) { return isalpha((unsigned char)c) || c == '_'; }
static int is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static int read_word(struct reader *reader) {
    const char *start = reader->at;
    while (reader->at < reader->end && is_name(*reader->at)) reader->at++;
    size_t length = (size_t)(reader->at - start);
    if (length >= NAME_BYTES_MAX) return reader_complain(reader, RSC_ELIMIT, "a name or number is too long", "");
    memcpy(reader->text, start, length);
    reader->text[length] = '\0';
    if (is_name_start(*start)) {
        reader->kind = TOKEN_NAME;
        return 0;
    }
    uint64_t value;
    if (rsc_parse_u64(start, length, &value) < 0)
        return reader_complain(reader, RSC_EFORMAT, "not a number: ", reader->text);
    if (value > (uint64_t)INT64_MAX)
        return reader_complain(reader, RSC_ELIMIT, "a number is too large: ", reader->text);
    reader->kind = TOKEN_NUMBER;
    reader->number = (int64_t)value;
    return 0;
}

int reader_next(struct reader *reader) {
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == '#') {
            while (reader->at < reader->end && *reader->at != '\n') reader->at++;
            if (reader->at >= reader->end) break;
        }
        if (*reader->at == '\n') reader->line++;
        else if (*reader->at != ' ' && *reader->at != '\t' && *reader->at != '\r') break;
    }
    if (reader->at >= reader->end) {
        reader->kind = TOKEN_END;
        memcpy(reader->text, "the end", sizeof "the end");
        return 0;
    }
    char c = *reader->at;
    if (c == '"') return reader->at++, read_string(reader);
    if (isalnum((unsigned char)c) || c == '_') return read_word(reader);
    int pair = reader->at + 1 < reader->end && reader->at[1] == '=' && strchr("<>=!", c);
    if (!c || !strchr("{}[]()+-*/%,=<>!@:", c)) {
        char shown[2] = {(unsigned char)c < ' ' || (unsigned char)c > 126 ? '?' : c, 0};
        return reader_complain(reader, RSC_EFORMAT, "unexpected character: ", shown);
    }
    memcpy(reader->text, reader->at, pair ? 2 : 1);
    reader->text[pair ? 2 : 1] = '\0';
    reader->at += pair ? 2 : 1;
    reader->kind = TOKEN_SIGN;
    return 0;
}

int reader_is(const struct reader *reader, const char *word) {
    return (reader->kind == TOKEN_SIGN || reader->kind == TOKEN_NAME) && !strcmp(reader->text, word);
}

int reader_take(struct reader *reader, const char *word) {
    if (!reader_is(reader, word)) return 0;
    int status = reader_next(reader);
    return status < 0 ? status : 1;
}

int reader_expect(struct reader *reader, const char *word) {
    if (!reader_is(reader, word)) {
        char what[64] = "'";
        strcat(strcat(what, word), "' is missing before ");
        return reader_complain(reader, RSC_EFORMAT, what, reader->kind == TOKEN_NUMBER ? "a number" : reader->text);
    }
    return reader_next(reader);
}

int reader_check(struct reader *reader, int status) {
    if (status == RSC_ELIMIT)
        return reader_complain(reader, RSC_ELIMIT, "a number is too large (2^56 is the most)", "");
    if (status == RSC_EUNSUPPORTED)
        return reader_complain(reader, RSC_EFORMAT, "a product of two variables is not affine", "");
    return status;
}

static int named_value(struct reader *reader, struct rsc_affine *value) {
    for (uint32_t d = reader->depth; d-- > 0;)
        if (!strcmp(reader->variable[d], reader->text)) {
            *value = rsc_affine_variable(d);
            return reader_next(reader);
        }
    for (uint32_t i = 0; i < reader->param_count; i++)
        if (!strcmp(reader->param[i].name, reader->text)) {
            *value = rsc_affine_number(reader->param[i].value);
            return reader_next(reader);
        }
    return reader_complain(reader, RSC_EFORMAT, "no loop variable or param has this name: ", reader->text);
}

static int factor(struct reader *reader, struct rsc_affine *value) {
    int status;
    if (reader->kind == TOKEN_NUMBER) {
        struct rsc_affine one = rsc_affine_number(1);
        *value = (struct rsc_affine){0};
        if ((status = reader_check(reader, rsc_affine_add(value, &one, reader->number)))) return status;
        return reader_next(reader);
    }
    if (reader->kind == TOKEN_NAME) return named_value(reader, value);
    int minus = reader_is(reader, "-");
    if (!minus && !reader_is(reader, "("))
        return reader_complain(reader, RSC_EFORMAT, "an expression is missing before ", reader->text);
    if (++reader->expression_nesting > EXPRESSION_NESTING_MAX)
        return reader_complain(reader, RSC_ELIMIT, "an expression is nested too deep", "");
    if ((status = reader_next(reader))) return status;
    status = minus ? factor(reader, value) : reader_expression(reader, value);
    reader->expression_nesting--;
    if (status) return status;
    if (!minus) return reader_expect(reader, ")");
    struct rsc_affine negative = rsc_affine_number(-1);
    return reader_check(reader, rsc_affine_multiply(value, &negative));
}

static int product(struct reader *reader, struct rsc_affine *value) {
    int status = factor(reader, value);
    while (!status && (status = reader_take(reader, "*")) > 0) {
        struct rsc_affine by;
        status = factor(reader, &by);
        if (!status) status = reader_check(reader, rsc_affine_multiply(value, &by));
    }
    return status;
}

int reader_expression(struct reader *reader, struct rsc_affine *value) {
    int status = product(reader, value);
    while (!status && (reader_is(reader, "+") || reader_is(reader, "-"))) {
        struct rsc_affine more;
        int sign = reader_is(reader, "+") ? 1 : -1;
        if ((status = reader_next(reader)) || (status = product(reader, &more))) break;
        status = reader_check(reader, rsc_affine_add(value, &more, sign));
    }
    return status;
}

int reader_number(struct reader *reader, int64_t least, int64_t most, const char *what, int64_t *value) {
    struct rsc_affine affine;
    int status = reader_expression(reader, &affine);
    if (status) return status;
    if (!rsc_affine_is_number(&affine)) return reader_complain(reader, RSC_EFORMAT, what, " is not a number");
    if (affine.constant < least || affine.constant > most)
        return reader_complain(reader, RSC_EFORMAT, what, " is out of range");
    *value = affine.constant;
    return 0;
}

int reader_term(struct reader *reader, struct rsc_loop_term *term) {
    int status;
    *term = (struct rsc_loop_term){.divisor = 1, .rounding = RSC_ROUND_NONE};
    if (!reader_is(reader, "floor") && !reader_is(reader, "ceil")) return reader_expression(reader, &term->value);
    term->rounding = reader_is(reader, "floor") ? RSC_ROUND_FLOOR : RSC_ROUND_CEIL;
    if ((status = reader_next(reader)) || (status = reader_expect(reader, "(")) ||
        (status = reader_expression(reader, &term->value)) || (status = reader_expect(reader, "/")) ||
        (status = reader_number(reader, 1, RSC_LOOP_VALUE_MAX, "a divisor", &term->divisor)))
        return status;
    return reader_expect(reader, ")");
}

int reader_bound(struct reader *reader, struct rsc_loop_bound *bound, const char **joined) {
    struct rsc_loop_term one;
    int status, more;
    *joined = reader_is(reader, "max") ? "max" : reader_is(reader, "min") ? "min" : NULL;
    if (*joined && ((status = reader_next(reader)) || (status = reader_expect(reader, "(")))) return status;
    do {
        if ((status = reader_term(reader, &one))) return status;
        status = rsc_loop_add_term(reader->program, bound, &one);
        if (status == RSC_ELIMIT) return reader_complain(reader, status, "more than 64 terms in a bound", "");
        if (status) return reader_out_of_room(reader);
        more = *joined ? reader_take(reader, ",") : 0;
    } while (more > 0);
    if (more < 0) return more;
    return *joined ? reader_expect(reader, ")") : 0;
}
