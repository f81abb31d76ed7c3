/* numbers.c - see numbers.h. */
#include "base/numbers.h"

#include <stdio.h>
#include <string.h>

static int digit_of(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return 99;
}

/* The shift that a suffix letter stands for, or -1. */
static int shift_of(char suffix) {
    switch (suffix) {
    case 'k':
    case 'K': return 10;
    case 'm':
    case 'M': return 20;
    case 'g':
    case 'G': return 30;
    default: return -1;
    }
}

int rsc_parse_u64(const char *text, size_t length, uint64_t *value) {
    int radix = 10;
    size_t at = 0;
    if (length > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        radix = 16;
        at = 2;
    }
    size_t first = at;
    uint64_t number = 0;
    for (; at < length && digit_of(text[at]) < radix; at++)
        if (__builtin_mul_overflow(number, (uint64_t)radix, &number) ||
            __builtin_add_overflow(number, (uint64_t)digit_of(text[at]), &number))
            return -1;
    if (at == first) return -1;
    if (at < length) {
        int shift = shift_of(text[at++]);
        if (shift < 0 || at < length || number > UINT64_MAX >> shift) return -1;
        number <<= shift;
    }
    *value = number;
    return 0;
}

int rsc_parse_fraction(const char *text, size_t length, double *value) {
    uint64_t digits = 0, scale = 1;
    size_t seen = 0;
    int after_point = 0;
    for (size_t at = 0; at < length; at++) {
        if (text[at] == '.' && !after_point) {
            after_point = 1;
            continue;
        }
        if (digit_of(text[at]) > 9 || ++seen > 15) return -1;
        digits = digits * 10 + (uint64_t)digit_of(text[at]);
        if (after_point) scale *= 10;
    }
    if (!seen) return -1;
    *value = (double)digits / (double)scale;
    return 0;
}

int rsc_parse_rate(const char *text, size_t length, double *rate) {
    const char *slash = memchr(text, '/', length);
    double over = 1;
    if (slash) {
        size_t before = (size_t)(slash - text);
        if (rsc_parse_fraction(text, before, rate) < 0 || rsc_parse_fraction(slash + 1, length - before - 1, &over) < 0)
            return -1;
    } else {
        if (length && text[length - 1] == '%') {
            over = 100;
            length--;
        }
        if (rsc_parse_fraction(text, length, rate) < 0) return -1;
    }
    if (!(over > 0)) return -1;
    *rate /= over;
    return *rate >= 1e-15 && *rate <= 1 ? 0 : -1;
}

void rsc_size_text(uint64_t bytes, char text[24]) {
    static const char units[] = {0, 'K', 'M', 'G'};
    int unit = 0;
    while (unit < 3 && bytes && !(bytes & 1023)) {
        bytes >>= 10;
        unit++;
    }
    snprintf(text, 24, unit ? "%llu%c" : "%llu", (unsigned long long)bytes, units[unit]);
}
