/*
 * rsct_decode.h - from a stored frame back to batches.
 *
 * A decoder takes one frame (header and unpacked columns, checksums already
 * verified) and returns slices of it. It trusts nothing in the frame: a hostile
 * file may have correct checksums.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_DECODE_H
#define RSC_TRACE_NATIVE_RSCT_DECODE_H

#include <reusescope/trace.h>

#include "trace/native/rsct_frame.h"
#include "trace/pieces.h"

struct rsct_decoder;

/* A batch stays valid while up to `keeps` more are taken. `without_pcs`, `without_events`: skip these columns. */
int rsct_decoder_new(struct rsct_decoder **out, uint32_t keeps, int without_pcs, int without_events,
                     struct rsc_error *error);
void rsct_decoder_free(struct rsct_decoder *decoder);

/*
 * Starts a frame, which must live until its last slice was taken. Returns NULL, or the
 * problem ("out of memory" too).
 */
const char *rsct_decoder_start(struct rsct_decoder *decoder, const struct rsct_frame *frame);

/* The marks of the frame that was started, ascending; none if events are skipped. */
const struct rsct_mark *rsct_decoder_marks(const struct rsct_decoder *decoder, uint32_t *count);

/*
 * The next slice, at most RSC_BATCH_ACCESSES accesses, in the columns `to` or, if NULL,
 * the decoder's own. Returns 1, 0 at the end of the frame, or RSC_EFORMAT with *problem
 * set. The caller will drop its first `skip` accesses; if that is all of them, pcs are
 * not decoded.
 */
int rsct_decoder_next(struct rsct_decoder *decoder, const struct rsc_columns *to, struct rsc_batch *batch,
                      uint64_t skip, const char **problem);

#endif
