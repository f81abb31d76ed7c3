/*
 * text_buffer.h - text that grows, counted in columns.
 *
 * Reports count terminal columns, not bytes: colours take none and a UTF-8
 * character takes one, so the buffer tracks its current column. Running out of
 * memory is remembered and reported once, by rsc_text_take().
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
    int unicode, colour; /* whether characters beyond ASCII and escape sequences may be written */
    const char *root;    /* paths of source files below this folder are written relative to it; NULL: as they are */
    int full_names;      /* C++ names with their template arguments */
    int modules_known;   /* code in no file was made while the program ran: written so */
};

enum rsc_tint { RSC_PLAIN, RSC_BOLD, RSC_DIM, RSC_GREEN, RSC_YELLOW, RSC_MAGENTA, RSC_RED, RSC_CYAN };

void rsc_text_init(struct rsc_text *text, int unicode, int colour);

/* Appends formatted text, which must be printable, or '\n'. */
void rsc_text_put(struct rsc_text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends a word or its ASCII stand-in. */
void rsc_text_either(struct rsc_text *text, const char *unicode, const char *ascii);

/*
 * Appends foreign text, at most `columns` of it. Control characters, bad UTF-8 and,
 * in ASCII, all other characters beyond it become '?'; cut text ends in dots.
 */
void rsc_text_foreign(struct rsc_text *text, const char *foreign, unsigned columns);

/* The same, but cuts the beginning: for paths, whose end matters most. */
void rsc_text_foreign_end(struct rsc_text *text, const char *foreign, unsigned columns);

/* Columns that the whole of a foreign text takes. */
unsigned rsc_text_foreign_columns(const struct rsc_text *text, const char *foreign);

/*
 * Appends all of a foreign text for a CSV field between quotes that the caller writes; quotes in it are doubled. A field
 * that a spreadsheet would take for a formula (=, +, - or @ first) gets a ' before it.
 */
void rsc_text_in_quotes(struct rsc_text *text, const char *foreign);

/* Spaces up to a column; nothing if already past it. */
void rsc_text_pad_to(struct rsc_text *text, unsigned column);

/* A number that ends at column `end`; if too long, it starts one blank after what is there. */
void rsc_text_right(struct rsc_text *text, unsigned end, const char *number);

/* `count` copies of a one-column character. */
void rsc_text_repeat(struct rsc_text *text, const char *character, unsigned count);

/* Switches the colour; RSC_PLAIN switches off. Nothing without colour. */
void rsc_text_tint(struct rsc_text *text, enum rsc_tint tint);

/* Text wrapped at `width` columns (never between a number and its unit), each line indented, ended by a newline. */
void rsc_text_paragraph(struct rsc_text *text, unsigned indent, unsigned width, const char *words);

/* Columns of one of our own strings. */
unsigned rsc_text_columns(const char *string);

/* Appends whole lines that were put into another buffer, which is freed. */
void rsc_text_append(struct rsc_text *text, struct rsc_text *lines);

/* Hands over the text, which the caller frees, and empties the buffer. Returns 0 or RSC_ENOMEM. */
int rsc_text_take(struct rsc_text *text, char **out, size_t *bytes);

#endif
