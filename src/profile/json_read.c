/*
 * json_read.c - JSON text from anywhere, as jansson's values.
 *
 * jansson's own reader ignores allocations that fail while it collects a string and then writes past the end of the copy,
 * and reports others as bad syntax. Its values are sound, so only the reading is done here: one pass, one buffer, and
 * every allocation checked. The grammar is RFC 8259's; strings must be valid UTF-8 without U+0000, integers fit 64 bits,
 * and nesting ends at DEPTH_MAX.
 */
#include "profile/json_read.h"

#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_writer.h"

#define DEPTH_MAX 2048
#define NUMBER_MAX 400 /* characters; a double of the writer has 24 */

struct reader {
    const char *at, *end;
    char *word; /* the last string, without its escapes; room for the longest in the text */
    size_t word_bytes;
    locale_t locale; /* numbers are written with a point */
    const char *problem; /* NULL: memory */
    int depth;
};

static json_t *bad(struct reader *reader, const char *problem) {
    reader->problem = problem;
    return NULL;
}

static int next(struct reader *reader) {
    while (reader->at < reader->end && memchr(" \t\r\n", *reader->at, 4)) reader->at++;
    return reader->at < reader->end ? (unsigned char)*reader->at : -1;
}

static int take(struct reader *reader, char wanted) {
    if (next(reader) != wanted) return 0;
    reader->at++;
    return 1;
}

/* ---- strings ---- */

/* Four digits of \uXXXX; -1: they are not. */
static int32_t take_hex(struct reader *reader) {
    int32_t value = 0;
    if (reader->end - reader->at < 4) return -1;
    for (int i = 0; i < 4; i++) {
        int c = (unsigned char)*reader->at++;
        int digit = c >= '0' && c <= '9' ? c - '0' : (c | 32) >= 'a' && (c | 32) <= 'f' ? (c | 32) - 'a' + 10 : -1;
        if (digit < 0) return -1;
        value = value * 16 + digit;
    }
    return value;
}

static char *put_utf8(char *to, int32_t c) {
    if (c < 0x80) {
        *to++ = (char)c;
        return to;
    }
    if (c < 0x800) {
        *to++ = (char)(0xc0 | c >> 6);
    } else {
        if (c < 0x10000) {
            *to++ = (char)(0xe0 | c >> 12);
        } else {
            *to++ = (char)(0xf0 | c >> 18);
            *to++ = (char)(0x80 | (c >> 12 & 0x3f));
        }
        *to++ = (char)(0x80 | (c >> 6 & 0x3f));
    }
    *to++ = (char)(0x80 | (c & 0x3f));
    return to;
}

/* What follows a backslash. NULL: not an escape. An escape is never shorter than what it stands for. */
static char *take_escape(struct reader *reader, char *to) {
    static const char from[] = "\"\\/bfnrt", as[] = "\"\\/\b\f\n\r\t";
    const char *known = reader->at < reader->end && *reader->at ? strchr(from, *reader->at) : NULL;
    if (known) {
        reader->at++;
        *to = as[known - from];
        return to + 1;
    }
    if (reader->at == reader->end || *reader->at++ != 'u') return NULL;
    int32_t c = take_hex(reader);
    if (c >= 0xd800 && c < 0xdc00) {
        if (reader->end - reader->at < 6 || reader->at[0] != '\\' || reader->at[1] != 'u') return NULL;
        reader->at += 2;
        int32_t low = take_hex(reader);
        if (low < 0xdc00 || low > 0xdfff) return NULL;
        c = 0x10000 + ((c - 0xd800) << 10) + (low - 0xdc00);
    } else if (c >= 0xdc00 && c < 0xe000) {
        return NULL;
    }
    return c > 0 ? put_utf8(to, c) : NULL;
}

/* Reads a string into reader->word. Returns whether it could. */
static int take_string(struct reader *reader) {
    char *to = reader->word;
    if (!take(reader, '"')) return bad(reader, "a string is missing"), 0;
    for (;;) {
        if (reader->at == reader->end) return bad(reader, "the text ends inside a string"), 0;
        unsigned char c = (unsigned char)*reader->at;
        if (c == '"') break;
        if (c < 0x20) return bad(reader, "control character in a string"), 0;
        if (c == '\\') {
            reader->at++;
            if (!(to = take_escape(reader, to))) return bad(reader, "not an escape"), 0;
            continue;
        }
        unsigned length = rsc_utf8_length((const unsigned char *)reader->at, (size_t)(reader->end - reader->at));
        if (!length) return bad(reader, "not UTF-8"), 0;
        memcpy(to, reader->at, length);
        to += length;
        reader->at += length;
    }
    reader->at++;
    *to = '\0';
    reader->word_bytes = (size_t)(to - reader->word);
    return 1;
}

/* ---- numbers and words ---- */

static int take_digits(struct reader *reader) {
    const char *first = reader->at;
    while (reader->at < reader->end && *reader->at >= '0' && *reader->at <= '9') reader->at++;
    return reader->at > first;
}

static json_t *take_number(struct reader *reader) {
    char digits[NUMBER_MAX + 1];
    const char *first = reader->at;
    int is_real = 0;
    reader->at += *reader->at == '-';
    const char *whole = reader->at;
    if (!take_digits(reader)) return bad(reader, "not a value");
    if (*whole == '0' && reader->at > whole + 1) return bad(reader, "a number begins with 0");
    if (reader->at < reader->end && *reader->at == '.') {
        is_real = 1;
        reader->at++;
        if (!take_digits(reader)) return bad(reader, "a number without digits after its point");
    }
    if (reader->at < reader->end && (*reader->at == 'e' || *reader->at == 'E')) {
        is_real = 1;
        reader->at++;
        if (reader->at < reader->end && (*reader->at == '+' || *reader->at == '-')) reader->at++;
        if (!take_digits(reader)) return bad(reader, "a number without digits after its e");
    }
    size_t length = (size_t)(reader->at - first);
    if (length > NUMBER_MAX) return bad(reader, "a number of too many digits");
    memcpy(digits, first, length);
    digits[length] = '\0';
    errno = 0;
    if (!is_real) {
        long long value = strtoll(digits, NULL, 10);
        return errno ? bad(reader, "an integer beyond 64 bits") : json_integer(value);
    }
    double value = strtod_l(digits, NULL, reader->locale);
    return isinf(value) ? bad(reader, "a number beyond the largest double") : json_real(value);
}

static int take_word(struct reader *reader, const char *word) {
    size_t length = strlen(word);
    if ((size_t)(reader->end - reader->at) < length || memcmp(reader->at, word, length)) return 0;
    reader->at += length;
    return 1;
}

/* ---- values ---- */

static json_t *take_value(struct reader *reader);

static int take_members(struct reader *reader, json_t *object) {
    if (take(reader, '}')) return 1;
    do {
        if (!take_string(reader)) return 0;
        if (json_object_get(object, reader->word)) return bad(reader, "duplicate object key"), 0;
        char *key = strdup(reader->word);
        json_t *value = !key ? NULL : take(reader, ':') ? take_value(reader) : bad(reader, "a colon is missing");
        int failed = !value || json_object_set_new_nocheck(object, key, value);
        free(key);
        if (failed) return 0;
    } while (take(reader, ','));
    return take(reader, '}') || (bad(reader, "a comma or } is missing"), 0);
}

static int take_items(struct reader *reader, json_t *array) {
    if (take(reader, ']')) return 1;
    do {
        json_t *value = take_value(reader);
        if (!value || json_array_append_new(array, value)) return 0;
    } while (take(reader, ','));
    return take(reader, ']') || (bad(reader, "a comma or ] is missing"), 0);
}

static json_t *take_value(struct reader *reader) {
    int first = next(reader);
    if (first == '"') return take_string(reader) ? json_stringn_nocheck(reader->word, reader->word_bytes) : NULL;
    if (first == '{' || first == '[') {
        if (reader->depth == DEPTH_MAX) return bad(reader, "nested too deeply");
        json_t *made = first == '{' ? json_object() : json_array();
        if (!made) return NULL;
        reader->at++;
        reader->depth++;
        if (!(first == '{' ? take_members(reader, made) : take_items(reader, made))) {
            json_decref(made);
            return NULL;
        }
        reader->depth--;
        return made;
    }
    if (first < 0) return bad(reader, "the text ends too early");
    if (take_word(reader, "true")) return json_true();
    if (take_word(reader, "false")) return json_false();
    if (take_word(reader, "null")) return json_null();
    return take_number(reader);
}

/* The bytes of the longest string, or more. */
static size_t longest_string(const char *text, size_t bytes) {
    size_t longest = 0, from = 0;
    for (const char *at = text; (at = memchr(at, '"', bytes - (size_t)(at - text))); at++) {
        size_t here = (size_t)(at - text);
        /* A quote after a backslash may be part of a string: the one around it is at most as long as both parts. */
        if (here && at[-1] == '\\') continue;
        if (here - from > longest) longest = here - from;
        from = here;
    }
    return bytes - from > longest ? bytes - from : longest;
}

int rsc_json_read(json_t **root, const char *text, size_t bytes, const char *name, struct rsc_error *error) {
    struct reader reader = {.at = text, .end = text + bytes};
    uint32_t line = 1;
    *root = NULL;
    reader.word = malloc(longest_string(text, bytes) + 1);
    reader.locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (reader.word && reader.locale) *root = take_value(&reader);
    if (*root && next(&reader) >= 0) {
        json_decref(*root);
        *root = bad(&reader, "more text after the end");
    }
    if (reader.locale) freelocale(reader.locale);
    free(reader.word);
    if (*root) return 0;
    if (!reader.problem) return rsc_fail_memory(error, name);
    for (const char *at = text; at < reader.at; at++) line += *at == '\n';
    rsc_fail_at(error, RSC_EFORMAT, (uint64_t)(reader.at - text), "%s: line %u: %s", name, (unsigned)line,
                reader.problem);
    if (error) error->line = line;
    return RSC_EFORMAT;
}
