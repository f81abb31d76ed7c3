/*
 * reusescope/error.h - how the library reports failure.
 *
 * Every function that can fail returns an int: 0 (or a positive result it
 * documents) on success, a negative RSC_E... code on failure. On failure it
 * fills the caller's struct rsc_error; the pointer may be NULL everywhere. The
 * library never prints, exits or aborts because of bad arguments or bad files.
 */
#ifndef REUSESCOPE_ERROR_H
#define REUSESCOPE_ERROR_H

#include <stdint.h>

#if defined(__GNUC__)
#define RSC_API __attribute__((visibility("default")))
#else
#define RSC_API
#endif

#ifdef __cplusplus
extern "C" {
#endif

enum rsc_error_code {
    RSC_OK = 0,
    RSC_EINVAL = -1,       /* invalid argument or option */
    RSC_ENOMEM = -2,       /* out of memory */
    RSC_EIO = -3,          /* a read or write failed */
    RSC_EFORMAT = -4,      /* the input is truncated, damaged or in another format */
    RSC_EVERSION = -5,     /* the input was written by a newer reusescope */
    RSC_EUNSUPPORTED = -6, /* this build or machine cannot do that */
    RSC_ELIMIT = -7,       /* a stated limit was reached (size, count) */
};

/* An unknown offset. */
#define RSC_NO_OFFSET UINT64_MAX

struct rsc_error {
    int code;          /* an enum rsc_error_code */
    uint32_t line;     /* 1-based line of the input text that is wrong, 0 if none */
    uint64_t offset;   /* byte offset in the input, or RSC_NO_OFFSET */
    char message[496]; /* one line, no newline, names file, offset or option */
};

enum rsc_log_level { RSC_LOG_DEBUG, RSC_LOG_INFO, RSC_LOG_WARNING };

/*
 * Receives messages that are not errors. `write` gets one line without a
 * newline; it may be called from any thread, one call at a time per handle. A
 * NULL rsc_log, or a NULL `write`, drops messages.
 */
struct rsc_log {
    void (*write)(void *user, enum rsc_log_level level, const char *line);
    void *user;
};

#ifdef __cplusplus
}
#endif
#endif
