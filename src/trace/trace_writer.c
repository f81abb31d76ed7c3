/* trace_writer.c - the public writer: a file that appears whole, in one of the formats that can be written. */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/output_file.h"
#include "trace/native/rsct_writer.h"
#include "trace/formats/writer_text.h"

struct rsc_trace_writer {
    struct rsc_output_file file;
    struct rsct_writer *native;
    struct rsc_text_writer *text;
    int without_pcs; /* text */
};

static int open_format(struct rsc_trace_writer *writer, const struct rsc_trace_writer_options *options,
                       struct rsc_error *error) {
    const char *format = options->format ? options->format : "rsct";
    if (!strcmp(format, "rsct")) return rsct_writer_open(&writer->native, &writer->file, options, error);
    int din = !strcmp(format, "din");
    if (!din && strcmp(format, "csv"))
        return rsc_fail(error, RSC_EINVAL, "format '%.40s': traces are written as one of rsct, din, csv", format);
    int status = rsc_text_writer_open(&writer->text, &writer->file, din ? RSC_TEXT_DIN : RSC_TEXT_CSV, error);
    if (!status) rsc_text_writer_limit(writer->text, options->max_bytes);
    writer->without_pcs = !options->pcs;
    return status;
}

int rsc_trace_writer_open(struct rsc_trace_writer **out, const char *path,
                          const struct rsc_trace_writer_options *options, struct rsc_error *error) {
    struct rsc_trace_writer_options full = {.pcs = 1};
    *out = NULL;
    if (options) {
        if (options->struct_bytes < offsetof(struct rsc_trace_writer_options, frame_accesses) ||
            options->struct_bytes > sizeof full + 4096)
            return rsc_fail(error, RSC_EINVAL, "writer options: struct_bytes is not the size of the struct");
        memset(&full, 0, sizeof full);
        memcpy(&full, options, options->struct_bytes < sizeof full ? options->struct_bytes : sizeof full);
    }
    struct rsc_trace_writer *writer = calloc(1, sizeof *writer);
    if (!writer) return rsc_fail_memory(error, "trace writer");
    writer->file.fd = -1;
    int status =
        rsc_output_open_with(&writer->file, path, full.keep_partial ? RSC_OUTPUT_PARTIAL : RSC_OUTPUT_UNNAMED, error);
    if (!status) status = open_format(writer, &full, error);
    if (status < 0) {
        rsc_trace_writer_close(writer);
        return status;
    }
    *out = writer;
    return 0;
}

int rsc_trace_writer_push(struct rsc_trace_writer *writer, const struct rsc_batch *batch, struct rsc_error *error) {
    if (writer->native) return rsct_writer_push(writer->native, batch, error);
    struct rsc_batch text = *batch;
    if (writer->without_pcs) text.pc = NULL;
    return rsc_text_writer_push(writer->text, &text, error);
}

void rsc_trace_writer_set_full(struct rsc_trace_writer *writer, uint64_t accesses, uint64_t instructions) {
    if (writer->native) rsct_writer_set_full(writer->native, accesses, instructions);
}

/* On a full disk: a shorter trace does not replace another, but stays under another name. Returns 1 if it is not full. */
static int leave_what_fits(struct rsc_trace_writer *writer, struct rsc_error *error) {
    uint64_t kept;
    if (!(writer->native ? rsct_writer_ran_out(writer->native, &kept) : rsc_text_writer_ran_out(writer->text, &kept)))
        return 1;
    char *path = strdup(writer->file.path), *name = kept ? rsc_output_leave_partial(&writer->file) : NULL;
    rsc_output_abort(&writer->file);
    int status =
        name ? rsc_fail(error, RSC_EIO, "%.200s: no room on the disk; the first %llu accesses are in %.200s",
                        path ? path : "trace", (unsigned long long)kept, name)
             : rsc_fail(error, RSC_EIO, "%.200s: no room on the disk; nothing was written", path ? path : "trace");
    free(path);
    free(name);
    return status;
}

int rsc_trace_writer_finish(struct rsc_trace_writer *writer, struct rsc_error *error) {
    int status =
        writer->native ? rsct_writer_finish(writer->native, error) : rsc_text_writer_finish(writer->text, error);
    if (status < 0) return status;
    if (status > 0 && (status = leave_what_fits(writer, error)) < 0) return status;
    int committed = rsc_output_commit(&writer->file, 0, error);
    return committed < 0 ? committed : status;
}

void rsc_trace_writer_close(struct rsc_trace_writer *writer) {
    if (!writer) return;
    rsct_writer_free(writer->native);
    rsc_text_writer_free(writer->text);
    rsc_output_abort(&writer->file);
    free(writer);
}
