/*
 * text_lines.h - reads whole lines from an input, in blocks.
 *
 * A reader takes lines straight from the block, without a copy or a call per line:
 *
 *     while ((status = rsc_text_lines_fill(lines, error)) == 1)
 *         while (lines->cursor < lines->limit) {
 *             ... parse the line at lines->cursor, which ends with '\n' ...
 *             rsc_text_lines_pass(lines, first character of the next line);
 *         }
 *
 * Every line between cursor and limit ends with '\n' (added to the last line of a
 * file if missing), holds no NUL, and may be over-read by RSC_DIGITS_SLACK bytes. A
 * reader that leaves the cursor on a bad line sees it again at its next call: it
 * delivers the lines before it first and fails then.
 */
#ifndef RSC_TRACE_FORMATS_TEXT_LINES_H
#define RSC_TRACE_FORMATS_TEXT_LINES_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "trace/formats/input.h"

/* A longer line is an error, so that memory stays bounded. */
#define RSC_TEXT_LINE_MAX (64u << 10)
#define RSC_TEXT_LINE_TOO_LONG "a line of more than 64 KiB"

struct rsc_text_lines {
    struct rsc_input *input; /* not owned */
    const char *format;      /* for messages: "din", ... */
    char *bytes;             /* owned */
    const char *cursor;      /* first character of the next line */
    const char *limit;       /* end of the whole lines in the buffer */
    char *filled;            /* end of the bytes in the buffer */
    uint64_t offset;         /* of bytes[0] in the decompressed text */
    uint64_t line;           /* number of the line at cursor, from 1 */
    int ended;               /* the input has no more */
    int nul;                 /* the line at limit has a NUL in it */
    int unended;             /* the last line of the input had no '\n' */
};

/* UTF-8's byte order mark, which editors and spreadsheets put before the first line, is skipped. */
int rsc_text_lines_open(struct rsc_text_lines *lines, struct rsc_input *input, const char *format,
                        struct rsc_error *error);
void rsc_text_lines_close(struct rsc_text_lines *lines);

/* Makes sure there is a line at cursor. Returns 1, 0 at the end of the input, or negative. */
int rsc_text_lines_fill(struct rsc_text_lines *lines, struct rsc_error *error);

/* Advances to the next line, which starts at `next`. */
static inline void rsc_text_lines_pass(struct rsc_text_lines *lines, const char *next) {
    lines->cursor = next;
    lines->line++;
}

/*
 * Moves the whole lines at the cursor to `to`, whose buffer, if it has one, `from` goes on with. `to` is closed as if it
 * had been opened. Returns 0 or RSC_ENOMEM.
 */
int rsc_text_lines_cut(struct rsc_text_lines *from, struct rsc_text_lines *to);

/* The '\n' of the line at cursor, or NULL where the line is too long. */
const char *rsc_text_lines_end(const struct rsc_text_lines *lines);

/*
 * Fails with `code` about the line at cursor: FILE: line 12 (byte 340): PROBLEM
 * (din), found "...". At most 40 characters of the line are shown.
 */
int rsc_text_lines_fail(const struct rsc_text_lines *lines, int code, const char *problem, struct rsc_error *error);

/* Is this line empty but for blanks, or (where `comments`) does it start with '#'? */
int rsc_text_line_is_idle(const char *line, int comments);

/*
 * Walks the opening of a file line by line, for format detection: copies the next
 * whole line, '\n' included, to `line`, where it can be parsed as above (truncated
 * at RSC_HEAD_LINE_MAX). Returns 0 if there is none. Start with *at = 0.
 */
#define RSC_HEAD_LINE_MAX 4096
struct rsc_head_line {
    char text[RSC_HEAD_LINE_MAX + 32];
};
int rsc_head_line_next(struct rsc_head_line *line, const unsigned char *head, size_t bytes, int whole, size_t *at);

/* The bytes of a byte order mark of UTF-8 at the opening of a file: 3, or 0 without one. */
size_t rsc_head_mark_bytes(const unsigned char *head, size_t bytes);

/* Does the opening of a file contain a byte that no text trace has? */
int rsc_head_is_binary(const unsigned char *head, size_t bytes);

#endif
