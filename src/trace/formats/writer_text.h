/*
 * writer_text.h - traces as text: din and CSV.
 *
 * din keeps only the kind and the address of an access, one "LABEL ADDRESS" per
 * line: sizes, threads, pcs and events are dropped, so a trace whose accesses cross
 * lines does not round-trip. A trace without accesses is an empty file.
 *
 * CSV keeps addr, size, kind, tid and pid, and pc if the first batch has pcs
 * (a later batch without them gets 0x0; pcs are dropped if the first batch has
 * none). Events are dropped, and a reader gets the number of fetches as instruction
 * count. The header is written even when there are no accesses.
 */
#ifndef RSC_TRACE_FORMATS_WRITER_TEXT_H
#define RSC_TRACE_FORMATS_WRITER_TEXT_H

#include <reusescope/trace.h>

#include "base/output_file.h"

enum rsc_text_format { RSC_TEXT_DIN, RSC_TEXT_CSV };

struct rsc_text_writer;

/* The file must be open and stay so until finish; it is neither committed nor closed here. */
int rsc_text_writer_open(struct rsc_text_writer **out, struct rsc_output_file *file, enum rsc_text_format format,
                         struct rsc_error *error);

/* Ends the text before the line that would take the file past `max_bytes`; 0: no limit. */
void rsc_text_writer_limit(struct rsc_text_writer *writer, uint64_t max_bytes);

/* Appends a batch. Returns 0, 1 once the limit is reached (what follows is not kept), or negative. */
int rsc_text_writer_push(struct rsc_text_writer *writer, const struct rsc_batch *batch, struct rsc_error *error);

/* Writes out what is still buffered. */
int rsc_text_writer_finish(struct rsc_text_writer *writer, struct rsc_error *error);

/* NULL is allowed. */
/* After finish: whether a full disk cut the file short; *kept is the number of accesses in it. */
int rsc_text_writer_ran_out(const struct rsc_text_writer *writer, uint64_t *kept);
void rsc_text_writer_free(struct rsc_text_writer *writer);

#endif
