/*
 * text_buffer.h - text that grows, in columns.
 *
 * Reports count terminal columns, not bytes: colours take none and a UTF-8
 * character takes one, so the buffer keeps the column it is at. Running out of memory is remembered and
 * reported once by rsc_text_take().
 */
#ifndef RSC_REPORT_TEXT_BUFFER_H
#define RSC_REPORT_TEXT_BUFFER_H

#include <stddef.h>
#include <stdint.h>

struct rsc_text {
    char *text; /* owned */
    size_t used, room;
    unsigned column; /* of the next character, from 0 */
    int failed;
    int unicode, colour; /* may characters beyond ASCII, may escape sequences be written? */
};

enum rsc_tint { RSC_PLAIN, RSC_BOLD, RSC_DIM, RSC_GREEN, RSC_YELLOW, RSC_MAGENTA, RSC_RED, RSC_CYAN };

void rsc_text_init(struct rsc_text *text, int unicode, int colour);

/* Appends formatted text, which must be printable, or '\n'. */
void rsc_text_put(struct rsc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a word or its ASCII stand-in. */
void rsc_text_either(struct rsc_text *text, const char *unicode, const char *ascii);

/*
 * Appends text from outside, at most `columns` of it: control characters, bad
 * UTF-8 and, in ASCII, everything else beyond it become '?'; what is cut ends in
 * dots.
 */
void rsc_text_foreign(struct rsc_text *text, const char *foreign, unsigned columns);

/* The same, but what is cut is the beginning: for paths, whose end says most. */
void rsc_text_foreign_end(struct rsc_text *text, const char *foreign, unsigned columns);

/* Columns that text from outside takes where there is room for all of it. */
unsigned rsc_text_foreign_columns(const struct rsc_text *text, const char *foreign);

/* All of it, for a field of a CSV file between quotes that the caller writes: quotes in it are doubled. */
void rsc_text_in_quotes(struct rsc_text *text, const char *foreign);

/* Spaces up to a column; nothing if it is passed already. */
void rsc_text_pad_to(struct rsc_text *text, unsigned column);

/* A number that ends at column `end`; from where the text is, if it is too long for that. */
void rsc_text_right(struct rsc_text *text, unsigned end, const char *number);

/* `count` copies of a one-column character. */
void rsc_text_repeat(struct rsc_text *text, const char *character, unsigned count);

/* Switches the colour; RSC_PLAIN switches off. Nothing without colour. */
void rsc_text_tint(struct rsc_text *text, enum rsc_tint tint);

/* Words broken to `width` columns (never between a number and its unit), each line indented, ended by a newline. */
void rsc_text_paragraph(struct rsc_text *text, unsigned indent, unsigned width, const char *words);

/* Columns a string of our own takes. */
unsigned rsc_text_columns(const char *string);

/* Hands the text over (to be freed) and empties the buffer. Returns 0 or RSC_ENOMEM. */
int rsc_text_take(struct rsc_text *text, char **out, size_t *bytes);

#endif
