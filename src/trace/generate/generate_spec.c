/* generate_spec.c - reads KIND[,key=value...]. */
#include "trace/generate/generate_spec.h"

#include <stddef.h>
#include <string.h>

#include <reusescope/trace.h>

#include "base/fail.h"
#include "base/numbers.h"

#define LINES_MAX (1ull << 40)
#define ADDRESS_MAX (UINT64_MAX >> 1)
#define SHOWN 40 /* bytes of a bad word shown in a message */

static const char *const KINDS[RSC_PATTERN_COUNT] = {"uniform", "zipf", "cyclic", "stride", "stencil", "chase", "mix"};
#define KINDS_TEXT "uniform, zipf, cyclic, stride, stencil, chase, mix"
#define KEYS_TEXT "lines, skew, stride, threads, write, base, size"

/* One key: where its value goes, as an integer in low..high or as a fraction in 0..high. */
struct key {
    const char *name;
    size_t offset;
    int is_integer;
    uint64_t low, high;
    const char *allowed;
};

#define INTEGER(field, low, high, allowed) {#field, offsetof(struct rsc_generator_spec, field), 1, low, high, allowed}
#define FRACTION(field, high, allowed) {#field, offsetof(struct rsc_generator_spec, field), 0, 0, high, allowed}

static const struct key KEYS[] = {
    INTEGER(lines, 1, LINES_MAX, "a number from 1 to 1024G; K, M, G are powers of two"),
    FRACTION(skew, 100, "a decimal number from 0 to 100"),
    INTEGER(stride, 1, ADDRESS_MAX, "bytes, 1 or more; K, M, G are powers of two"),
    INTEGER(threads, 1, RSC_THREADS_MAX, "a number from 1 to 1M"),
    FRACTION(write, 1, "a decimal number from 0 to 1"),
    INTEGER(base, 0, ADDRESS_MAX, "an address such as 0x10000000 or 256M, below 2^63"),
    INTEGER(size, 1, UINT32_MAX, "bytes, from 1 to 4G - 1"),
};

/* A word within the specification; not NUL-terminated. */
struct word {
    const char *text;
    size_t length;
};

static int word_is(struct word word, const char *name) {
    return strlen(name) == word.length && memcmp(word.text, name, word.length) == 0;
}

static int shown(struct word word) { return (int)(word.length < SHOWN ? word.length : SHOWN); }

static int parse_value(struct rsc_generator_spec *spec, const struct key *key, struct word word,
                       struct rsc_error *error) {
    char *field = (char *)spec + key->offset;
    uint64_t integer = 0;
    double fraction = 0;
    int status = key->is_integer ? rsc_parse_u64(word.text, word.length, &integer)
                                 : rsc_parse_fraction(word.text, word.length, &fraction);
    int inside = key->is_integer ? integer >= key->low && integer <= key->high : fraction <= (double)key->high;
    if (status < 0 || !inside)
        return rsc_fail(error, RSC_EINVAL, "gen: %s=%.*s: %s is %s", key->name, shown(word), word.text, key->name,
                        key->allowed);
    if (key->is_integer) memcpy(field, &integer, sizeof integer);
    else memcpy(field, &fraction, sizeof fraction);
    return 0;
}

static int parse_setting(struct rsc_generator_spec *spec, struct word word, struct rsc_error *error) {
    const char *equals = memchr(word.text, '=', word.length);
    struct word name = {word.text, equals ? (size_t)(equals - word.text) : word.length};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        if (!word_is(name, KEYS[i].name)) continue;
        if (!equals)
            return rsc_fail(error, RSC_EINVAL, "gen: %s: a value is missing (%s=...)", KEYS[i].name, KEYS[i].name);
        return parse_value(spec, &KEYS[i], (struct word){equals + 1, word.length - name.length - 1}, error);
    }
    return rsc_fail(error, RSC_EINVAL, "gen: unknown key '%.*s' (keys: " KEYS_TEXT ")", shown(name), name.text);
}

/* Checks combinations of keys. */
static int check(const struct rsc_generator_spec *spec, struct rsc_error *error) {
    int has_grid = spec->pattern == RSC_PATTERN_STENCIL || spec->pattern == RSC_PATTERN_MIX;
    if (has_grid && spec->lines < 2)
        return rsc_fail(error, RSC_EINVAL, "gen: lines=1: a %s needs lines=2 or more to have an inner point",
                        KINDS[spec->pattern]);
    return 0;
}

int rsc_generator_spec_parse(struct rsc_generator_spec *spec, const char *text, struct rsc_error *error) {
    struct word word = {text, strcspn(text, ",")};
    *spec = (struct rsc_generator_spec){.pattern = RSC_PATTERN_COUNT,
                                        .lines = 65536,
                                        .stride = 256,
                                        .base = 0x10000000,
                                        .threads = 1,
                                        .size = 8,
                                        .skew = 1,
                                        .write = 0};
    for (int i = 0; i < RSC_PATTERN_COUNT; i++)
        if (word_is(word, KINDS[i])) spec->pattern = (enum rsc_pattern)i;
    if (spec->pattern == RSC_PATTERN_COUNT)
        return rsc_fail(error, RSC_EINVAL, "gen: unknown kind '%.*s' (kinds: " KINDS_TEXT ")", shown(word), word.text);
    for (const char *at = text + word.length; *at; at = word.text + word.length) {
        word = (struct word){at + 1, strcspn(at + 1, ",")};
        int status = parse_setting(spec, word, error);
        if (status < 0) return status;
    }
    return check(spec, error);
}
