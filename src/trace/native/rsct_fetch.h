/* rsct_fetch.h - unpacks frames in a separate thread while earlier ones are being read. */
#ifndef RSC_TRACE_NATIVE_RSCT_FETCH_H
#define RSC_TRACE_NATIVE_RSCT_FETCH_H

#include "trace/native/rsct_frame.h"

struct rsct_fetch;

/* Begins at the current position of the input of `frames`, after `before` intact frames. It owns input and `frames`
 * until it ends. */
int rsct_fetch_new(struct rsct_fetch **out, struct rsct_frames *frames, uint64_t before, struct rsc_error *error);

/*
 * The next frame, valid until the next call. Returns 1; 0 when the next bytes are not a frame: the input is at these
 * bytes and belongs to the caller again; or the error of rsct_frames_read().
 */
int rsct_fetch_next(struct rsct_fetch *fetch, struct rsct_frame **frame, struct rsc_error *error);

/* At any time; NULL is allowed. */
void rsct_fetch_free(struct rsct_fetch *fetch);

#endif
