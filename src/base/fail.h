/*
 * fail.h - filling a struct rsc_error.
 *
 *     return rsc_fail(error, RSC_EFORMAT, "%s: frame %u: checksum mismatch", path, n);
 *
 * Messages are one line and start with the file or option at fault.
 */
#ifndef RSC_BASE_FAIL_H
#define RSC_BASE_FAIL_H

#include <reusescope/error.h>

/* Sets code and message (no offset) and returns `code`. error may be NULL. */
int rsc_fail(struct rsc_error *error, int code, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* The same with a byte offset; put the offset into the message too. */
int rsc_fail_at(struct rsc_error *error, int code, uint64_t offset, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* "WHAT: strerror(errno_value)" with RSC_EIO (RSC_ENOMEM for ENOMEM). */
int rsc_fail_errno(struct rsc_error *error, int errno_value, const char *what);

/* "out of memory (WHAT)". */
int rsc_fail_memory(struct rsc_error *error, const char *what);

/*
 * Length of the control character beyond ASCII at s (NUL-terminated UTF-8); 0 if it is another. These are U+0080 to
 * U+009F, which terminals may obey like escapes, and U+2028 to U+202E and U+2066 to U+2069, which break or reorder lines.
 */
unsigned rsc_hidden_control(const unsigned char *s);

/* Replaces control characters, so that no name can forge a second line or send terminal escapes. */
void rsc_make_one_line(char *text);

/* Sends a formatted line to a log; log may be NULL. */
void rsc_log_line(const struct rsc_log *log, enum rsc_log_level level, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
