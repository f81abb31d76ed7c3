/* text_buffer.c - growing text that tracks its column and removes what is unsafe for a terminal. */
#include "report/draw/text_buffer.h"

#include <ctype.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/grow.h"

void rsc_text_init(struct rsc_text *text, int unicode, int colour) {
    *text = (struct rsc_text){.unicode = unicode, .colour = colour};
}

static void append(struct rsc_text *text, const char *bytes, size_t count) {
    if (text->failed) return;
    if (RSC_GROW(text->text, text->room, text->used + count + 1)) {
        text->failed = 1;
        return;
    }
    memcpy(text->text + text->used, bytes, count);
    text->used += count;
    text->text[text->used] = 0;
}

/*
 * The code point at *s (stepping over it), or -1 for a byte that starts no
 * well-formed UTF-8 sequence.
 */
static int32_t next_character(const unsigned char **s) {
    static const uint32_t smallest[] = {0, 0x80, 0x800, 0x10000};
    const unsigned char *c = (*s)++;
    unsigned more = c[0] < 0x80 ? 0 : c[0] >> 5 == 6 ? 1 : c[0] >> 4 == 14 ? 2 : c[0] >> 3 == 30 ? 3 : 9;
    if (more == 9) return -1;
    uint32_t value = more ? c[0] & (0x3fu >> more) : c[0];
    for (unsigned i = 1; i <= more; i++) {
        if (c[i] >> 6 != 2) return -1;
        value = value << 6 | (c[i] & 0x3f);
    }
    if (value < smallest[more] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)) return -1;
    *s += more;
    return (int32_t)value;
}

/* Every character we draw with is one column wide. */
unsigned rsc_text_columns(const char *string) {
    const unsigned char *s = (const unsigned char *)string;
    unsigned columns = 0;
    for (; *s; columns++) next_character(&s);
    return columns;
}

void rsc_text_put(struct rsc_text *text, const char *format, ...) {
    char line[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    append(text, line, strlen(line));
    const char *newline = strrchr(line, '\n');
    if (newline) text->column = 0;
    text->column += rsc_text_columns(newline ? newline + 1 : line);
}

void rsc_text_either(struct rsc_text *text, const char *unicode, const char *ascii) {
    rsc_text_put(text, "%s", text->unicode ? unicode : ascii);
}

/* Whether this character of foreign text may go to a terminal. */
static int is_harmless(int32_t character, int unicode) {
    if (character < 0x20 || character == 0x7f) return 0;
    if (character < 0x7f) return 1;
    if (!unicode || character < 0xa0) return 0;
    /* Marks that reorder the line, line separators, private use, and non-characters. */
    return !(character >= 0x200b && character <= 0x200f) && !(character >= 0x2028 && character <= 0x202e) &&
           !(character >= 0x2060 && character <= 0x206f) && character != 0xfeff &&
           !(character >= 0xe000 && character <= 0xf8ff) && character < 0xe0000;
}

/* Columns of the next character of foreign text (at least as many as a terminal uses), stepping over it. */
static unsigned next_width(const struct rsc_text *text, const unsigned char **s) {
    int32_t character = next_character(s);
    return is_harmless(character, text->unicode) && character >= 0x1100 ? 2 : 1;
}

unsigned rsc_text_foreign_columns(const struct rsc_text *text, const char *foreign) {
    const unsigned char *s = (const unsigned char *)foreign;
    unsigned columns = 0;
    while (*s) columns += next_width(text, &s);
    return columns;
}

void rsc_text_foreign_end(struct rsc_text *text, const char *foreign, unsigned columns) {
    const unsigned char *s = (const unsigned char *)foreign;
    unsigned left = rsc_text_foreign_columns(text, foreign), dots = text->unicode ? 1 : 3;
    if (left > columns && columns >= dots) {
        while (left > columns - dots) left -= next_width(text, &s);
        rsc_text_either(text, "…", "...");
        columns -= dots;
    }
    rsc_text_foreign(text, (const char *)s, columns);
}

void rsc_text_foreign(struct rsc_text *text, const char *foreign, unsigned columns) {
    const unsigned char *s = (const unsigned char *)foreign;
    const char *dots = text->unicode ? "…" : "...";
    unsigned dots_columns = text->unicode ? 1 : 3, used = 0;
    size_t fits = text->used; /* where to cut if the text is too long */
    unsigned fits_columns = 0;
    while (*s) {
        const unsigned char *from = s;
        int32_t character = next_character(&s);
        int shown = is_harmless(character, text->unicode);
        unsigned width = shown && character >= 0x1100 ? 2 : 1; /* at least the columns it takes */
        if (used + width > columns) {
            if (!text->failed && columns >= dots_columns) {
                text->used = fits;
                append(text, dots, strlen(dots));
                used = fits_columns + dots_columns;
            }
            break;
        }
        if (shown) append(text, (const char *)from, (size_t)(s - from));
        else append(text, "?", 1);
        used += width;
        if (used + dots_columns <= columns) {
            fits = text->used;
            fits_columns = used;
        }
    }
    text->column += used;
}

void rsc_text_in_quotes(struct rsc_text *text, const char *foreign) {
    int opens = text->used && text->text[text->used - 1] == '"';
    if (opens && foreign && *foreign && strchr("=+-@", *foreign)) append(text, "'", 1);
    while (foreign && *foreign) {
        size_t length = strcspn(foreign, "\"");
        char *part = strndup(foreign, length);
        if (!part) {
            text->failed = 1;
            return;
        }
        rsc_text_foreign(text, part, UINT_MAX / 2);
        free(part);
        foreign += length;
        if (!*foreign) return;
        append(text, "\"\"", 2);
        foreign++;
    }
}

/* Whether a blank precedes, but for a change of colour. */
static int after_blank(const struct rsc_text *text) {
    size_t at = text->used;
    while (at && text->text[at - 1] == 'm') {
        size_t start = at - 1;
        while (start && text->text[start - 1] != '\033' && at - start < 8) start--;
        if (!start || text->text[start - 1] != '\033') break;
        at = start - 1;
    }
    return !at || text->text[at - 1] == ' ';
}

void rsc_text_right(struct rsc_text *text, unsigned end, const char *number) {
    unsigned columns = rsc_text_columns(number), from = end > columns ? end - columns : 0;
    if (from <= text->column && text->column && !after_blank(text))
        from = text->column + 1; /* columns never run together */
    rsc_text_pad_to(text, from);
    rsc_text_put(text, "%s", number);
}

void rsc_text_repeat(struct rsc_text *text, const char *character, unsigned count) {
    for (unsigned i = 0; i < count; i++) append(text, character, strlen(character));
    text->column += count;
}

void rsc_text_pad_to(struct rsc_text *text, unsigned column) {
    if (text->column < column) rsc_text_repeat(text, " ", column - text->column);
}

void rsc_text_tint(struct rsc_text *text, enum rsc_tint tint) {
    static const char *const codes[] = {
        [RSC_PLAIN] = "\033[0m",   [RSC_BOLD] = "\033[1m",     [RSC_DIM] = "\033[2m",  [RSC_GREEN] = "\033[32m",
        [RSC_YELLOW] = "\033[33m", [RSC_MAGENTA] = "\033[35m", [RSC_RED] = "\033[31m", [RSC_CYAN] = "\033[36m",
    };
    if (text->colour) append(text, codes[tint], strlen(codes[tint]));
}

void rsc_text_paragraph(struct rsc_text *text, unsigned indent, unsigned width, const char *words) {
    rsc_text_pad_to(text, indent);
    while (*words) {
        size_t length = strcspn(words, " ");
        if (length && words[length] && isdigit((unsigned char)words[length - 1])) {
            size_t with_unit = length + 1 + strcspn(words + length + 1, " ");
            if (indent + with_unit <= width) length = with_unit;
        }
        char word[256];
        snprintf(word, sizeof word, "%.*s", (int)length, words);
        unsigned columns = rsc_text_columns(word);
        if (text->column > indent && text->column + 1 + columns > width) {
            rsc_text_put(text, "\n");
            rsc_text_pad_to(text, indent);
        } else if (text->column > indent) {
            rsc_text_put(text, " ");
        }
        rsc_text_put(text, "%s", word);
        words += length;
        while (*words == ' ') words++;
    }
    rsc_text_put(text, "\n");
}

void rsc_text_append(struct rsc_text *text, struct rsc_text *lines) {
    text->failed |= lines->failed;
    if (lines->used) append(text, lines->text, lines->used);
    text->column = 0;
    free(lines->text);
    *lines = (struct rsc_text){0};
}

int rsc_text_take(struct rsc_text *text, char **out, size_t *bytes) {
    append(text, "", 0); /* at least the NUL */
    if (text->failed) {
        free(text->text);
        return RSC_ENOMEM;
    }
    *out = text->text;
    *bytes = text->used;
    *text = (struct rsc_text){0};
    return 0;
}
