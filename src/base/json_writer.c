/*
 * json_writer.c - streaming JSON into a growing buffer.
 *
 * Each open container has a byte in has_item: whether its next item needs a comma
 * before it, and whether a line break was requested. Both are written with the next
 * item (or the container's end), so a line break follows its comma and a trailing
 * comma cannot happen.
 *
 * The first failure is remembered (RSC_ENOMEM, or RSC_ELIMIT for containers
 * nested deeper than RSC_JSON_DEPTH_MAX) and everything after it is dropped.
 */
#include "base/json_writer.h"

#include <assert.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"

enum { COMMA_DUE = 1, NEWLINE_DUE = 2 };

#define DIGITS_MAX 17 /* enough for every double to round-trip */

static char *reserve(struct rsc_json *json, size_t bytes) {
    if (json->failed) return NULL;
    if (!RSC_GROW(json->text, json->room, json->used + bytes)) return json->text + json->used;
    json->failed = RSC_ENOMEM;
    return NULL;
}

static void put(struct rsc_json *json, const char *text, size_t bytes) {
    char *to = reserve(json, bytes);
    if (!to) return;
    memcpy(to, text, bytes);
    json->used += bytes;
    assert(json->used <= json->room && json->depth < RSC_JSON_DEPTH_MAX);
}

static void put_char(struct rsc_json *json, char c) { put(json, &c, 1); }

static void put_indent(struct rsc_json *json, int depth) {
    put_char(json, '\n');
    for (int i = 0; i < depth; i++) put_char(json, ' ');
}

/* Writes the separator between the previous item and the next. */
static void begin_item(struct rsc_json *json) {
    if (json->failed) return;
    if (json->after_key) {
        json->after_key = 0;
        return;
    }
    uint8_t due = json->has_item[json->depth];
    if (due & COMMA_DUE) put_char(json, ',');
    if (due & NEWLINE_DUE) put_indent(json, json->depth);
    json->has_item[json->depth] = COMMA_DUE;
}

static void open_container(struct rsc_json *json, char bracket) {
    begin_item(json);
    put_char(json, bracket);
    if (json->failed) return;
    if (json->depth + 1 >= RSC_JSON_DEPTH_MAX) {
        json->failed = RSC_ELIMIT;
        return;
    }
    json->has_item[++json->depth] = 0;
}

static void close_container(struct rsc_json *json, char bracket) {
    if (json->failed || json->depth == 0) return;
    uint8_t due = json->has_item[json->depth];
    json->depth--;
    if (due & NEWLINE_DUE) put_indent(json, json->depth);
    put_char(json, bracket);
}

void rsc_json_init(struct rsc_json *json) { memset(json, 0, sizeof *json); }

void rsc_json_free(struct rsc_json *json) {
    free(json->text);
    memset(json, 0, sizeof *json);
}

void rsc_json_object(struct rsc_json *json) { open_container(json, '{'); }
void rsc_json_object_end(struct rsc_json *json) { close_container(json, '}'); }
void rsc_json_array(struct rsc_json *json) { open_container(json, '['); }
void rsc_json_array_end(struct rsc_json *json) { close_container(json, ']'); }

void rsc_json_newline(struct rsc_json *json) {
    if (!json->failed) json->has_item[json->depth] |= NEWLINE_DUE;
}

/* The lead byte or the range of the second byte shows overlong forms, surrogates and values past U+10FFFF. */
unsigned rsc_utf8_length(const unsigned char *s, size_t room) {
    unsigned char low = 0x80, high = 0xbf;
    unsigned length;
    if (s[0] < 0x80) return 1;
    if (s[0] >= 0xc2 && s[0] <= 0xdf) length = 2;
    else if (s[0] >= 0xe0 && s[0] <= 0xef) length = 3;
    else if (s[0] >= 0xf0 && s[0] <= 0xf4) length = 4;
    else return 0;
    if (s[0] == 0xe0) low = 0xa0;
    if (s[0] == 0xed) high = 0x9f;
    if (s[0] == 0xf0) low = 0x90;
    if (s[0] == 0xf4) high = 0x8f;
    if (room < 2 || s[1] < low || s[1] > high) return 0;
    for (unsigned i = 2; i < length; i++)
        if (room <= i || s[i] < 0x80 || s[i] > 0xbf) return 0;
    return length;
}

static int is_plain(unsigned char c) {
    return c >= 0x20 && c < 0x7f && c != '"' && c != '\\' && c != '<' && c != '>' && c != '&';
}

static void put_escape(struct rsc_json *json, unsigned c) {
    char text[8];
    switch (c) {
    case '"': put(json, "\\\"", 2); return;
    case '\\': put(json, "\\\\", 2); return;
    case '\n': put(json, "\\n", 2); return;
    case '\t': put(json, "\\t", 2); return;
    case '\r': put(json, "\\r", 2); return;
    default: snprintf(text, sizeof text, "\\u%04x", c); put(json, text, 6);
    }
}

static void put_string(struct rsc_json *json, const char *value) {
    const unsigned char *s = (const unsigned char *)value;
    put_char(json, '"');
    while (*s) {
        size_t plain = 0;
        while (is_plain(s[plain])) plain++;
        put(json, (const char *)s, plain);
        s += plain;
        if (!*s) break;
        unsigned length = rsc_utf8_length(s, SIZE_MAX); /* its NUL ends what is cut */
        if (length == 0) put(json, "\xef\xbf\xbd", 3); /* U+FFFD */
        else if (length == 1) put_escape(json, *s);
        else if (rsc_hidden_control(s))
            put_escape(json, length == 2 ? (s[0] & 0x1fu) << 6 | (s[1] & 0x3fu)
                                         : (s[0] & 0xfu) << 12 | (s[1] & 0x3fu) << 6 | (s[2] & 0x3fu));
        else put(json, (const char *)s, length);
        s += length ? length : 1;
    }
    put_char(json, '"');
}

void rsc_json_key(struct rsc_json *json, const char *key) {
    begin_item(json);
    put_string(json, key);
    put_char(json, ':');
    json->after_key = 1;
}

void rsc_json_string(struct rsc_json *json, const char *value) {
    if (!value) {
        rsc_json_null(json);
        return;
    }
    begin_item(json);
    put_string(json, value);
}

static void put_u64(struct rsc_json *json, uint64_t value) {
    char digits[20];
    size_t at = sizeof digits;
    do digits[--at] = (char)('0' + value % 10);
    while (value /= 10);
    put(json, digits + at, sizeof digits - at);
}

void rsc_json_u64(struct rsc_json *json, uint64_t value) {
    begin_item(json);
    put_u64(json, value);
}

void rsc_json_hex(struct rsc_json *json, uint64_t value) {
    char text[24];
    int length = snprintf(text, sizeof text, "\"0x%llx\"", (unsigned long long)value);
    begin_item(json);
    put(json, text, (size_t)length);
}

/*
 * The fewest significant digits that read back as `value` (finite, positive):
 * digits without a point, value = 0.DIGITS * 10^*exponent. Returns how many.
 *
 * Any decimal of up to 15 digits round-trips through a normal double, so if 15
 * digits read back, they are the shortest once trailing zeros are dropped.
 * Subnormals hold fewer digits, so the search starts from 1 there. This relies only
 * on correct rounding in printf and strtod; the locale's decimal point is skipped.
 */
static int shortest_digits(double value, char digits[DIGITS_MAX], int *exponent) {
    char text[64];
    int precision = value < DBL_MIN ? 1 : 15, count = 0;
    for (;; precision++) {
        snprintf(text, sizeof text, "%.*e", precision - 1, value);
        if (precision == DIGITS_MAX || strtod(text, NULL) == value) break;
    }
    char *c = text;
    for (; *c != 'e'; c++)
        if (*c >= '0' && *c <= '9') digits[count++] = *c;
    *exponent = atoi(c + 1) + 1;
    while (count > 1 && digits[count - 1] == '0') count--;
    return count;
}

/* Plain notation from 1e-5 up to 1e17, d.ddde+x outside. */
static void put_double(struct rsc_json *json, double value) {
    char digits[DIGITS_MAX], text[64];
    int point, used = 0, count = shortest_digits(value, digits, &point);
    if (point > -5 && point <= 17) {
        int whole = point > 0 ? point : 0;
        if (!whole) text[used++] = '0';
        for (int i = 0; i < whole; i++) text[used++] = i < count ? digits[i] : '0';
        if (count > point) text[used++] = '.';
        for (int i = point; i < 0; i++) text[used++] = '0';
        for (int i = whole; i < count; i++) text[used++] = digits[i];
    } else {
        text[used++] = digits[0];
        if (count > 1) text[used++] = '.';
        for (int i = 1; i < count; i++) text[used++] = digits[i];
        used += snprintf(text + used, sizeof text - (size_t)used, "e%+d", point - 1);
    }
    put(json, text, (size_t)used);
}

void rsc_json_double(struct rsc_json *json, double value) {
    if (!isfinite(value)) {
        rsc_json_null(json);
        return;
    }
    begin_item(json);
    if (signbit(value)) put_char(json, '-');
    if (value == 0) put(json, "0.0", signbit(value) ? 3 : 1); /* -0 alone would be read as an integer */
    else put_double(json, fabs(value));
}

void rsc_json_bool(struct rsc_json *json, int value) {
    begin_item(json);
    if (value) put(json, "true", 4);
    else put(json, "false", 5);
}

void rsc_json_null(struct rsc_json *json) {
    begin_item(json);
    put(json, "null", 4);
}

void rsc_json_key_string(struct rsc_json *json, const char *key, const char *value) {
    rsc_json_key(json, key);
    rsc_json_string(json, value);
}

void rsc_json_key_u64(struct rsc_json *json, const char *key, uint64_t value) {
    rsc_json_key(json, key);
    rsc_json_u64(json, value);
}

void rsc_json_key_double(struct rsc_json *json, const char *key, double value) {
    rsc_json_key(json, key);
    rsc_json_double(json, value);
}

void rsc_json_key_hex(struct rsc_json *json, const char *key, uint64_t value) {
    rsc_json_key(json, key);
    rsc_json_hex(json, value);
}

void rsc_json_key_bool(struct rsc_json *json, const char *key, int value) {
    rsc_json_key(json, key);
    rsc_json_bool(json, value);
}

void rsc_json_key_array(struct rsc_json *json, const char *key) {
    rsc_json_key(json, key);
    rsc_json_array(json);
}

void rsc_json_key_object(struct rsc_json *json, const char *key) {
    rsc_json_key(json, key);
    rsc_json_object(json);
}

void rsc_json_row(struct rsc_json *json) {
    rsc_json_newline(json);
    rsc_json_object(json);
}

int rsc_json_finish(struct rsc_json *json) {
    char *to = reserve(json, 2);
    if (!to) return json->failed;
    to[0] = '\n';
    to[1] = '\0';
    json->used++; /* the NUL is not counted */
    return 0;
}

int rsc_json_take(struct rsc_json *json, const char *what, char **text, size_t *bytes, struct rsc_error *error) {
    int status = rsc_json_finish(json);
    if (status < 0) {
        rsc_json_free(json);
        return status == RSC_ENOMEM ? rsc_fail_memory(error, what)
                                    : rsc_fail(error, status, "%s: JSON nested too deep", what);
    }
    *text = json->text;
    *bytes = json->used;
    return 0;
}
