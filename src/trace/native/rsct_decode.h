/*
 * rsct_decode.h - from a stored frame back to batches.
 *
 * A decoder takes one frame (header and unpacked columns, checksums already
 * verified) and hands out slices of it. It trusts nothing in the frame: a file
 * may carry right checksums and hostile numbers.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_DECODE_H
#define RSC_TRACE_NATIVE_RSCT_DECODE_H

#include <reusescope/trace.h>

#include "trace/native/rsct_frame.h"

struct rsct_decoder;

/* Batches stay valid while up to `keeps` more are taken. `without_pcs`, `without_events`: they have none, and none are unpacked. */
int rsct_decoder_new(struct rsct_decoder **out, uint32_t keeps, int without_pcs, int without_events,
                     struct rsc_error *error);
void rsct_decoder_free(struct rsct_decoder *decoder);

/*
 * Starts a frame, which must stay until its last slice was taken. Returns NULL, or what
 * is wrong with it ("out of memory" too).
 */
const char *rsct_decoder_start(struct rsct_decoder *decoder, const struct rsct_frame *frame);

/*
 * The next slice, at most RSC_BATCH_ACCESSES accesses. Returns 1, 0 at the end of
 * the frame, or RSC_EFORMAT with *problem set. The caller will drop its first
 * `skip` accesses: where that is all of them, pcs are not worked out.
 */
int rsct_decoder_next(struct rsct_decoder *decoder, struct rsc_batch *batch, uint64_t skip, const char **problem);

#endif
