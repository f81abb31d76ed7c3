/*
 * json_writer.h - streaming JSON: calls in document order, text out.
 *
 * The writer handles commas, indentation and escapes; the caller handles
 * nesting. Numbers print the same on every machine: integers in full, doubles
 * with the fewest digits that read back to the same value, NaN and infinities
 * as null. Strings are written as valid UTF-8 (invalid bytes become U+FFFD), and
 * `<`, `>` and `&` are escaped so that JSON can stand inside a page.
 *
 * Output goes to a growing buffer that the caller takes; rsc_json_finish()
 * reports an earlier out-of-memory error.
 */
#ifndef RSC_BASE_JSON_WRITER_H
#define RSC_BASE_JSON_WRITER_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#define RSC_JSON_DEPTH_MAX 32

struct rsc_json {
    char *text; /* owned; NUL-terminated after finish */
    size_t used, room;
    int failed;
    int depth;
    uint8_t has_item[RSC_JSON_DEPTH_MAX]; /* the next item needs a comma before it */
    uint8_t after_key;
};

void rsc_json_init(struct rsc_json *json);
void rsc_json_free(struct rsc_json *json);

void rsc_json_object(struct rsc_json *json);
void rsc_json_object_end(struct rsc_json *json);
void rsc_json_array(struct rsc_json *json);
void rsc_json_array_end(struct rsc_json *json);
void rsc_json_key(struct rsc_json *json, const char *key);

void rsc_json_string(struct rsc_json *json, const char *value); /* NULL prints null */
void rsc_json_u64(struct rsc_json *json, uint64_t value);
void rsc_json_hex(struct rsc_json *json, uint64_t value); /* "0x1139" */
void rsc_json_double(struct rsc_json *json, double value);
void rsc_json_bool(struct rsc_json *json, int value);
void rsc_json_null(struct rsc_json *json);

/* Requests a line break before the next item at this depth, for readability. */
void rsc_json_newline(struct rsc_json *json);

/* key + value in one call. */
void rsc_json_key_string(struct rsc_json *json, const char *key, const char *value);
void rsc_json_key_u64(struct rsc_json *json, const char *key, uint64_t value);
void rsc_json_key_double(struct rsc_json *json, const char *key, double value);
void rsc_json_key_hex(struct rsc_json *json, const char *key, uint64_t value);
void rsc_json_key_bool(struct rsc_json *json, const char *key, int value);

/* key + opening of what it holds. */
void rsc_json_key_array(struct rsc_json *json, const char *key);
void rsc_json_key_object(struct rsc_json *json, const char *key);

/* An object on a line of its own, as the next item of an array. */
void rsc_json_row(struct rsc_json *json);

/* Ends the document with a newline. Returns 0, RSC_ENOMEM, or RSC_ELIMIT when nesting exceeded RSC_JSON_DEPTH_MAX. */
int rsc_json_finish(struct rsc_json *json);

/*
 * Ends the document and hands its text over, to be freed; or frees it, and the error names `what` it is of. Nothing is
 * left to free either way.
 */
int rsc_json_take(struct rsc_json *json, const char *what, char **text, size_t *bytes, struct rsc_error *error);

/* Length of the well-formed UTF-8 sequence at `s`, of which `room` bytes (1 or more) may be read: 1 to 4; 0: not one. */
unsigned rsc_utf8_length(const unsigned char *s, size_t room);

#endif
