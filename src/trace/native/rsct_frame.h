/*
 * rsct_frame.h - a stored frame, read, verified and unpacked into its columns.
 *
 * Frames do not depend on each other, so one thread may unpack them while another
 * rebuilds accesses from them (rsct_fetch.h, rsct_decode.h).
 */
#ifndef RSC_TRACE_NATIVE_RSCT_FRAME_H
#define RSC_TRACE_NATIVE_RSCT_FRAME_H

#include "trace/formats/input.h"
#include "trace/native/rsct_format.h"

struct rsct_frame {
    struct rsct_frame_header header;
    uint64_t offset;            /* in the file */
    uint8_t *raw[RSCT_COLUMNS]; /* owned; padded for reads of 8 bytes past the end, the deltas to 8 per access */
    size_t raw_room[RSCT_COLUMNS];
};

/* Reads frames; used by one thread at a time. */
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

/* Reads the frame at the input's position. `before` is the number of intact frames so far, for messages. */
int rsct_frames_read(struct rsct_frames *frames, struct rsct_frame *frame, uint64_t before, struct rsc_error *error);
void rsct_frame_free(struct rsct_frame *frame);

/* "FILE: frame 12 at byte 40960: what (the first 11 frames are intact; --salvage reads them)" */
int rsct_frame_damaged(const struct rsc_input *input, uint64_t before, uint64_t offset, const char *what,
                       struct rsc_error *error);

/* Checks a header's numbers against the format's limits, and its checksum. Returns NULL, or the problem. */
const char *rsct_frame_header_problem(const struct rsct_frame_header *header);

/* Bytes of stored columns after a header. */
uint64_t rsct_frame_payload_bytes(const struct rsct_frame_header *header);

#endif
