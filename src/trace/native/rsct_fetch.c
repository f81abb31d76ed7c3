/*
 * rsct_fetch.c - see rsct_fetch.h.
 *
 * Unpacking a frame takes about as long as simulating a third of it, and the reader
 * would wait meanwhile: so frames are unpacked before they are needed.
 */
#include "trace/native/rsct_fetch.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/fill_ahead.h"

#define FRAMES 3u /* ready, being made ready, or being read */

struct rsct_fetch {
    struct rsct_frames *frames;
    uint64_t before; /* frames before the first of these */
    struct rsc_fill_ahead ahead;
    struct rsct_frame ring[FRAMES];
};

static int make_ready(void *context, uint64_t number, struct rsc_error *error) {
    struct rsct_fetch *fetch = context;
    const unsigned char *data;
    uint32_t magic = 0;
    int64_t got = rsc_input_peek(fetch->frames->input, sizeof magic, &data, error);
    if (got >= (int64_t)sizeof magic) memcpy(&magic, data, sizeof magic);
    if (got < 0) return (int)got;
    if (magic != RSCT_FRAME_MAGIC) return 0;
    int status = rsct_frames_read(fetch->frames, &fetch->ring[number % FRAMES], fetch->before + number, error);
    return status < 0 ? status : 1;
}

int rsct_fetch_new(struct rsct_fetch **out, struct rsct_frames *frames, uint64_t before, struct rsc_error *error) {
    struct rsct_fetch *fetch = calloc(1, sizeof *fetch);
    *out = NULL;
    if (!fetch) return rsc_fail_memory(error, "trace frames");
    fetch->frames = frames;
    fetch->before = before;
    int status = rsc_fill_ahead_start(&fetch->ahead, FRAMES, make_ready, fetch, error);
    if (status < 0) free(fetch);
    else *out = fetch;
    return status;
}

int rsct_fetch_next(struct rsct_fetch *fetch, struct rsct_frame **frame, struct rsc_error *error) {
    uint32_t slot;
    int status = rsc_fill_ahead_next(&fetch->ahead, &slot, error);
    if (status > 0) *frame = &fetch->ring[slot];
    return status;
}

void rsct_fetch_free(struct rsct_fetch *fetch) {
    if (!fetch) return;
    rsc_fill_ahead_stop(&fetch->ahead);
    for (uint32_t i = 0; i < FRAMES; i++) rsct_frame_free(&fetch->ring[i]);
    free(fetch);
}
