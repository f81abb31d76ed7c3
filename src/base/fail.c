/*
 * fail.c - formats error and log messages and replaces control characters, so
 * that a hostile file name or symbol cannot forge a second line or send escape
 * sequences to a terminal.
 */
#include "base/fail.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

unsigned rsc_hidden_control(const unsigned char *s) {
    if (s[0] == 0xc2) return s[1] >= 0x80 && s[1] < 0xa0 ? 2 : 0;
    if (s[0] != 0xe2) return 0;
    if (s[1] == 0x80) return s[2] >= 0xa8 && s[2] <= 0xae ? 3 : 0;
    return s[1] == 0x81 && s[2] >= 0xa6 && s[2] <= 0xa9 ? 3 : 0;
}

void rsc_make_one_line(char *text) {
    for (unsigned char *c = (unsigned char *)text; *c; c++) {
        unsigned hidden = rsc_hidden_control(c);
        if (hidden) memset(c, '?', hidden);
        if (*c < 0x20 || *c == 0x7f) *c = '?';
    }
}

static int fail_with(struct rsc_error *error, int code, uint64_t offset, const char *format, va_list arguments) {
    if (!error) return code;
    error->code = code;
    error->line = 0;
    error->offset = offset;
    vsnprintf(error->message, sizeof error->message, format, arguments);
    rsc_make_one_line(error->message);
    return code;
}

int rsc_fail(struct rsc_error *error, int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_with(error, code, RSC_NO_OFFSET, format, arguments);
    va_end(arguments);
    return code;
}

int rsc_fail_at(struct rsc_error *error, int code, uint64_t offset, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_with(error, code, offset, format, arguments);
    va_end(arguments);
    return code;
}

int rsc_fail_errno(struct rsc_error *error, int errno_value, const char *what) {
    char room[128];
    const char *reason = strerror_r(errno_value, room, sizeof room); /* GNU's: may return a constant instead */
    return rsc_fail(error, errno_value == ENOMEM ? RSC_ENOMEM : RSC_EIO, "%s: %s", what, reason);
}

int rsc_fail_memory(struct rsc_error *error, const char *what) {
    return rsc_fail(error, RSC_ENOMEM, "out of memory (%s)", what);
}

void rsc_log_line(const struct rsc_log *log, enum rsc_log_level level, const char *format, ...) {
    char line[512];
    va_list arguments;
    if (!log || !log->write) return;
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    rsc_make_one_line(line);
    log->write(log->user, level, line);
}
