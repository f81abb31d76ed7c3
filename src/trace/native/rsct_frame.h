/*
 * rsct_frame.h - a stored frame, read, verified and unpacked into its columns.
 *
 * Frames do not depend on each other, so they may be made ready in another thread
 * than the one that rebuilds accesses from them (rsct_fetch.h, rsct_decode.h).
 */
#ifndef RSC_TRACE_NATIVE_RSCT_FRAME_H
#define RSC_TRACE_NATIVE_RSCT_FRAME_H

#include "trace/formats/input.h"
#include "trace/native/rsct_format.h"

struct rsct_frame {
    struct rsct_frame_header header;
    uint64_t offset;            /* in the file */
    uint8_t *raw[RSCT_COLUMNS]; /* owned; 8 bytes may be read past the end of each, and of deltas 8 an access */
    size_t raw_room[RSCT_COLUMNS];
};

/* What reads frames: one thread's at a time. */
struct rsct_frames {
    struct rsc_input *input;
    uint8_t without[RSCT_COLUMNS]; /* columns that are not unpacked */
    uint8_t *payload;
    size_t payload_room;
    void *zstd;
};

int rsct_frames_init(struct rsct_frames *frames, struct rsc_input *input, int without_pcs, int without_events,
                     struct rsc_error *error);
void rsct_frames_free(struct rsct_frames *frames);

/* The frame that begins where the input stands; `before` are intact, for messages. */
int rsct_frames_read(struct rsct_frames *frames, struct rsct_frame *frame, uint64_t before, struct rsc_error *error);
void rsct_frame_free(struct rsct_frame *frame);

/* "FILE: frame 12 at byte 40960: what (the first 11 frames are intact; --salvage reads them)" */
int rsct_frame_damaged(const struct rsc_input *input, uint64_t before, uint64_t offset, const char *what,
                       struct rsc_error *error);

/* Are the numbers of a header within the format's limits, and its checksum right? Returns NULL, or what is wrong. */
const char *rsct_frame_header_problem(const struct rsct_frame_header *header);

/* Bytes of stored columns behind a header. */
uint64_t rsct_frame_payload_bytes(const struct rsct_frame_header *header);

#endif
