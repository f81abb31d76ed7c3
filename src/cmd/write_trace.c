/* write_trace.c - see write_trace.h. */
#include "cmd/write_trace.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/numbers.h"

const struct rsc_option rsc_write_options[] = {
    RSC_HEADING("output"),
    {RSC_OPT_TRACE_OUTPUT, 'o', "output", "FILE",
     "write here (.rsct, .din, .csv choose the format); - is standard output", NULL},
    {RSC_OPT_TO, 0, "to", "FORMAT", "rsct (default), din or csv", "rsct din csv"},
    {RSC_OPT_LEVEL, 0, "level", "N", "zstd level of .rsct, 1 to 19 (default 3)", NULL},
    {RSC_OPT_MAX_SIZE, 0, "max-size", "BYTES", "end the file cleanly before it grows past this", NULL},
    {0, 0, NULL, NULL, NULL, NULL},
};

void rsc_write_start(struct rsc_write *write) {
    memset(write, 0, sizeof *write);
    write->options.struct_bytes = sizeof write->options;
    write->options.pcs = 1;
}

int rsc_write_option(struct rsc_write *write, struct rsc_session *session, const struct rsc_option_parser *parser,
                     int id) {
    uint64_t number = 0;
    int leave;
    switch (id) {
    case RSC_OPT_TRACE_OUTPUT: write->path = parser->value; return -1;
    case RSC_OPT_TO: write->options.format = parser->value; return -1;
    case RSC_OPT_LEVEL:
        leave = rsc_option_number(parser, 1, 19, "not a number from 1 to 19", &number);
        write->options.level = (int)number;
        return leave;
    case RSC_OPT_MAX_SIZE:
        return rsc_option_number(parser, 4096, UINT64_MAX, "not a size of 4K or more, as 500M",
                                 &write->options.max_bytes);
    default: return rsc_session_option(session, parser, id);
    }
}

static int ends_with(const char *text, const char *end) {
    size_t length = strlen(text), tail = strlen(end);
    return length >= tail && !strcmp(text + length - tail, end);
}

int rsc_write_check(struct rsc_write *write, const struct rsc_session *session) {
    if (!write->path)
        return rsc_usage_error(session->verb, "an output file is missing: -o FILE (- is standard output)");
    if (!write->options.format) {
        if (ends_with(write->path, ".din")) write->options.format = "din";
        else if (ends_with(write->path, ".csv")) write->options.format = "csv";
        else write->options.format = "rsct";
    }
    if (strcmp(write->options.format, "rsct") && strcmp(write->options.format, "din") &&
        strcmp(write->options.format, "csv"))
        return rsc_usage_error(session->verb, "--to %.40s: not one of rsct, din, csv", write->options.format);
    if (!strcmp(write->path, "-") && !strcmp(write->options.format, "rsct") && isatty(STDOUT_FILENO))
        return rsc_usage_error(session->verb, "-o -: a native trace is binary; send it to a file or a pipe");
    return -1;
}

int rsc_write_open(struct rsc_write *write, struct rsc_error *error) {
    return rsc_trace_writer_open(&write->writer, write->path, &write->options, error);
}

int rsc_write_push(struct rsc_write *write, const struct rsc_batch *batch, struct rsc_error *error) {
    int status = rsc_trace_writer_push(write->writer, batch, error);
    if (status > 0) write->full = 1;
    if (status == 0) write->accesses += batch->count;
    return status;
}

int rsc_write_finish(struct rsc_write *write, struct rsc_session *session, struct rsc_error *error) {
    struct stat file;
    rsc_progress_end(session);
    int status = rsc_trace_writer_finish(write->writer, error);
    if (status > 0) write->full = 1;
    if (status < 0 || session->quiet) return status;
    if (write->full)
        fprintf(stderr, "reusescope: warning: %s: ended early: no room for more\n",
                strcmp(write->path, "-") ? write->path : "standard output");
    if (!strcmp(write->path, "-") || (!write->accesses && !write->full)) return 0;
    if (!stat(write->path, &file) && S_ISREG(file.st_mode) && !write->full)
        fprintf(stderr, "%s: %llu accesses, %.1f MiB, %.2f bits per access\n", write->path,
                (unsigned long long)write->accesses, (double)file.st_size / (1 << 20),
                8.0 * (double)file.st_size / (double)write->accesses);
    rsc_hint(session, "reusescope analyze %s", write->path);
    return 0;
}
