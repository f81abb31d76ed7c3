/*
 * json_problem.c - see json_problem.h.
 *
 * A check of JSON's grammar that allocates nothing, asked only after jansson has failed
 * with a syntax error. Limits and UTF-8 have codes of their own and are not checked here.
 */
#include "profile/json_problem.h"

#include <ctype.h>
#include <string.h>

#include "base/fail.h"

#define DEPTH_MAX 2048 /* jansson's: deeper is an error of its own */

struct text {
    const char *at, *end;
};

static int next(struct text *text) {
    while (text->at < text->end && memchr(" \t\r\n", *text->at, 4)) text->at++;
    return text->at < text->end ? (unsigned char)*text->at : -1;
}

static int take(struct text *text, char wanted) {
    if (next(text) != wanted) return 0;
    text->at++;
    return 1;
}

/* Surrogates are not told apart: they may be wrong, so a string with one counts as bad. */
static int take_escape(struct text *text) {
    if (++text->at >= text->end) return 0;
    if (*text->at != 'u') return memchr("\"\\/bfnrt", *text->at, 8) != NULL;
    if (text->end - text->at < 5 || (memchr("dD", text->at[1], 2) && text->at[2] > '7')) return 0;
    for (int i = 0; i < 4; i++)
        if (!isxdigit((unsigned char)*++text->at)) return 0;
    return 1;
}

static int take_string(struct text *text) {
    if (!take(text, '"')) return 0;
    for (; text->at < text->end && *text->at != '"'; text->at++) {
        if ((unsigned char)*text->at < 0x20) return 0;
        if (*text->at == '\\' && !take_escape(text)) return 0;
    }
    return text->at < text->end && *text->at++ == '"';
}

static int take_digits(struct text *text) {
    const char *first = text->at;
    while (text->at < text->end && isdigit((unsigned char)*text->at)) text->at++;
    return text->at > first;
}

static int take_number(struct text *text) {
    text->at += *text->at == '-';
    const char *first = text->at;
    if (!take_digits(text) || (*first == '0' && text->at > first + 1)) return 0;
    if (text->at < text->end && *text->at == '.' && (text->at++, !take_digits(text))) return 0;
    if (text->at == text->end || (*text->at != 'e' && *text->at != 'E')) return 1;
    text->at++;
    if (text->at < text->end && (*text->at == '+' || *text->at == '-')) text->at++;
    return take_digits(text);
}

/* A number, true, false or null. */
static int take_word(struct text *text) {
    static const char *const words[] = {"true", "false", "null"};
    for (int i = 0; i < 3; i++) {
        size_t length = strlen(words[i]);
        if ((size_t)(text->end - text->at) < length || memcmp(text->at, words[i], length)) continue;
        text->at += length;
        return 1;
    }
    return text->at < text->end && take_number(text);
}

static int take_value(struct text *text, int depth) {
    int first = next(text);
    if (first == '"') return take_string(text);
    if (first != '[' && first != '{') return take_word(text);
    char close = first == '[' ? ']' : '}';
    text->at++;
    if (take(text, close)) return 1;
    if (depth == DEPTH_MAX) return 0;
    do {
        if (first == '{' && (!take_string(text) || !take(text, ':'))) return 0;
        if (!take_value(text, depth + 1)) return 0;
    } while (take(text, ','));
    return take(text, close);
}

int rsc_json_problem(const json_error_t *problem, const char *text, size_t bytes, const char *name,
                     struct rsc_error *error) {
    struct text whole = {text, text + bytes};
    enum json_error_code code = json_error_code(problem);
    int syntax = code == json_error_invalid_syntax || code == json_error_premature_end_of_input;
    if (problem->line < 0 || code == json_error_out_of_memory ||
        (syntax && take_value(&whole, 0) && next(&whole) == -1))
        return rsc_fail_memory(error, name);
    int status = rsc_fail_at(error, RSC_EFORMAT, (uint64_t)problem->position, "%s: line %d: %s", name, problem->line,
                             problem->text);
    if (error) error->line = (uint32_t)problem->line;
    return status;
}
