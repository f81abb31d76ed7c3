/* rsct_fetch.h - frames made ready in a thread of its own while others are being read. */
#ifndef RSC_TRACE_NATIVE_RSCT_FETCH_H
#define RSC_TRACE_NATIVE_RSCT_FETCH_H

#include "trace/native/rsct_frame.h"

struct rsct_fetch;

/* Begins at the frame where the input of `frames` stands, `before` being intact. Until it ends, input and `frames` are its own. */
int rsct_fetch_new(struct rsct_fetch **out, struct rsct_frames *frames, uint64_t before, struct rsc_error *error);

/*
 * The next frame, valid until the next call. Returns 1; 0 when something else than a frame follows: the input stands
 * there and is the caller's again; or what rsct_frames_read() returned.
 */
int rsct_fetch_next(struct rsct_fetch *fetch, struct rsct_frame **frame, struct rsc_error *error);

/* At any time; NULL is allowed. */
void rsct_fetch_free(struct rsct_fetch *fetch);

#endif
