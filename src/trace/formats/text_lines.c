/*
 * text_lines.c - blocks of whole lines.
 *
 * The buffer holds the rest of the last block (less than one line) followed by one
 * large read. Everything that concerns bytes rather than records is done here once
 * per block: the end of the last whole line, NULs, overlong lines, the missing '\n'
 * of the last line.
 */
#include "trace/formats/text_lines.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/digits.h"

#define READ_BYTES (256u << 10)
#define BUFFER_BYTES (RSC_TEXT_LINE_MAX + READ_BYTES + 1 + RSC_DIGITS_SLACK)
#define SHOWN_CHARACTERS 40

int rsc_text_lines_open(struct rsc_text_lines *lines, struct rsc_input *input, const char *format,
                        struct rsc_error *error) {
    unsigned char mark[3];
    const unsigned char *head;
    *lines = (struct rsc_text_lines){.input = input, .format = format, .line = 1};
    int64_t bytes = rsc_input_peek(input, sizeof mark, &head, error);
    if (bytes > 0) bytes = rsc_input_read(input, mark, rsc_head_mark_bytes(head, (size_t)bytes), error);
    if (bytes < 0) return (int)bytes;
    lines->offset = rsc_input_offset(input);
    lines->bytes = calloc(1, BUFFER_BYTES);
    if (!lines->bytes) return rsc_fail_memory(error, "text lines");
    lines->cursor = lines->limit = lines->filled = lines->bytes;
    return 0;
}

void rsc_text_lines_close(struct rsc_text_lines *lines) {
    free(lines->bytes);
    lines->bytes = NULL;
}

/* Reads a block after the rest of the last one. Returns the bytes read or negative. */
static int64_t read_block(struct rsc_text_lines *lines, struct rsc_error *error) {
    size_t rest = (size_t)(lines->filled - lines->cursor);
    memmove(lines->bytes, lines->cursor, rest);
    lines->offset += (uint64_t)(lines->cursor - lines->bytes);
    lines->cursor = lines->limit = lines->bytes;
    lines->filled = lines->bytes + rest;
    int64_t got = rsc_input_read(lines->input, lines->filled, READ_BYTES, error);
    if (got < 0) return got;
    if (got < READ_BYTES) lines->ended = 1;
    return got;
}

int rsc_text_lines_fill(struct rsc_text_lines *lines, struct rsc_error *error) {
    while (lines->cursor == lines->limit) {
        if (lines->nul) return rsc_text_lines_fail(lines, RSC_EFORMAT, "a NUL byte in a line", error);
        if (lines->filled - lines->cursor > RSC_TEXT_LINE_MAX)
            return rsc_text_lines_fail(lines, RSC_EFORMAT, RSC_TEXT_LINE_TOO_LONG, error);
        if (lines->ended) return 0;
        int64_t got = read_block(lines, error);
        if (got < 0) return (int)got;
        char *fresh = lines->filled;
        lines->filled += got;
        if (lines->ended && lines->filled > lines->bytes && lines->filled[-1] != '\n') {
            *lines->filled++ = '\n';
            lines->unended = 1;
        }

        const char *nul = memchr(fresh, 0, (size_t)(lines->filled - fresh));
        lines->nul = nul != NULL;
        if (!nul) nul = lines->filled;
        const char *last = memrchr(lines->bytes, '\n', (size_t)(nul - lines->bytes));
        if (last) lines->limit = last + 1;
    }
    return 1;
}

int rsc_text_lines_cut(struct rsc_text_lines *from, struct rsc_text_lines *to) {
    char *other = to->bytes ? to->bytes : calloc(1, BUFFER_BYTES);
    if (!other) return RSC_ENOMEM;
    *to = *from;
    size_t rest = (size_t)(from->filled - from->limit);
    memcpy(other, from->limit, rest);
    uint64_t lines = 0;
    for (const char *at = from->cursor; at < from->limit; at++) lines += *at == '\n';
    from->line += lines;
    from->offset += (uint64_t)(from->limit - from->bytes);
    from->bytes = other;
    from->cursor = from->limit = from->filled = other;
    from->filled += rest;
    return 0;
}

const char *rsc_text_lines_end(const struct rsc_text_lines *lines) {
    const char *end = memchr(lines->cursor, '\n', (size_t)(lines->limit - lines->cursor));
    return end - lines->cursor > RSC_TEXT_LINE_MAX ? NULL : end;
}

int rsc_text_lines_fail(const struct rsc_text_lines *lines, int code, const char *problem, struct rsc_error *error) {
    char shown[SHOWN_CHARACTERS + 1];
    size_t length = 0;
    const char *at = lines->cursor;
    for (; length < SHOWN_CHARACTERS && at < lines->filled && *at != '\n' && *at != '\r'; at++)
        shown[length++] = *at >= ' ' && *at <= '~' ? *at : '?';
    shown[length] = 0;
    int more = at < lines->filled && *at != '\n' && *at != '\r';

    uint64_t offset = lines->offset + (uint64_t)(lines->cursor - lines->bytes);
    rsc_fail_at(error, code, offset, "%s: line %" PRIu64 " (byte %" PRIu64 "): %s (%s), found \"%s%s\"",
                rsc_input_name(lines->input), lines->line, offset, problem, lines->format, shown, more ? "..." : "");
    if (error) error->line = lines->line < UINT32_MAX ? (uint32_t)lines->line : UINT32_MAX;
    return code;
}

int rsc_text_line_is_idle(const char *line, int comments) {
    if (comments && *line == '#') return 1;
    while (*line == ' ' || *line == '\t' || *line == '\r') line++;
    return *line == '\n';
}

int rsc_head_line_next(struct rsc_head_line *line, const unsigned char *head, size_t bytes, int whole, size_t *at) {
    if (*at >= bytes) return 0;
    const unsigned char *start = head + *at;
    const unsigned char *end = memchr(start, '\n', bytes - *at);
    if (!end && !whole) return 0;
    if (!end) end = head + bytes;
    size_t length = (size_t)(end - start);
    *at += length + 1;
    if (length > RSC_HEAD_LINE_MAX) length = RSC_HEAD_LINE_MAX;
    memcpy(line->text, start, length);
    memset(line->text + length, '\n', sizeof line->text - length);
    return 1;
}

size_t rsc_head_mark_bytes(const unsigned char *head, size_t bytes) {
    return bytes >= 3 && !memcmp(head, "\xef\xbb\xbf", 3) ? 3 : 0;
}

int rsc_head_is_binary(const unsigned char *head, size_t bytes) {
    for (size_t i = 0; i < bytes; i++)
        if (head[i] < ' ' && head[i] != '\n' && head[i] != '\r' && head[i] != '\t') return 1;
    return 0;
}
