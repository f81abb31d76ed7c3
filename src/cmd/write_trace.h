/*
 * write_trace.h - shared by `gen` and `convert`: writing a trace to -o.
 */
#ifndef RSC_CMD_WRITE_TRACE_H
#define RSC_CMD_WRITE_TRACE_H

#include "cmd/session.h"

enum { RSC_OPT_TO = RSC_OPT_VERB, RSC_OPT_TRACE_OUTPUT, RSC_OPT_LEVEL, RSC_OPT_MAX_SIZE, RSC_OPT_WRITE_VERB };

extern const struct rsc_option rsc_write_options[];

struct rsc_write {
    const char *path; /* -o */
    struct rsc_trace_writer_options options;
    struct rsc_trace_writer *writer;
    uint64_t accesses; /* written */
    int full;          /* --max-size or the disk ended it */
};

void rsc_write_start(struct rsc_write *write);

/* Handles an option of rsc_write_options, else passes it on to rsc_session_option(). */
int rsc_write_option(struct rsc_write *write, struct rsc_session *session, const struct rsc_option_parser *parser,
                     int id);

/* Checks that -o was given and chooses the format by its suffix. Returns -1, or the exit status. */
int rsc_write_check(struct rsc_write *write, const struct rsc_session *session);

int rsc_write_open(struct rsc_write *write, struct rsc_error *error);

/* Returns 0 to go on, 1 if full, or a negative error. */
int rsc_write_push(struct rsc_write *write, const struct rsc_batch *batch, struct rsc_error *error);

/* Finishes the file and prints what was written. */
int rsc_write_finish(struct rsc_write *write, struct rsc_session *session, struct rsc_error *error);

#endif
