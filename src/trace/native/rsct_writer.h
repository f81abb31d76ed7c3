/* rsct_writer.h - writing native traces to an rsc_output_file. */
#ifndef RSC_TRACE_NATIVE_RSCT_WRITER_H
#define RSC_TRACE_NATIVE_RSCT_WRITER_H

#include <reusescope/trace.h>

#include "base/output_file.h"

struct rsct_writer;

/*
 * The trace has pcs if options->pcs is set and the first batch with accesses has
 * them; pcs that appear only later are dropped. `file` must outlive the writer; the
 * caller commits it.
 */
int rsct_writer_open(struct rsct_writer **out, struct rsc_output_file *file,
                     const struct rsc_trace_writer_options *options, struct rsc_error *error);

/* Returns 0, 1 when the size limit or a full disk ends the trace here, or negative: then nothing can be added. */
int rsct_writer_push(struct rsct_writer *writer, const struct rsc_batch *batch, struct rsc_error *error);

void rsct_writer_set_full(struct rsct_writer *writer, uint64_t accesses, uint64_t instructions);

/* Packs what is pending, writes index and trailer. Returns 0, 1 when the end of the trace did not fit, or negative. */
int rsct_writer_finish(struct rsct_writer *writer, struct rsc_error *error);

/* After finish: whether a full disk cut the trace short; *kept is the number of accesses in it. */
int rsct_writer_ran_out(const struct rsct_writer *writer, uint64_t *kept);
void rsct_writer_free(struct rsct_writer *writer);

#endif
