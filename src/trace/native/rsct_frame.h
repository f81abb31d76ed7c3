/*
 * rsct_frame.h - a stored frame, read, verified and unpacked into its columns.
 *
 * Frames do not depend on each other, so that several threads can unpack them, one
 * frame each, and rebuild accesses from them (rsct_decode.h).
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
    uint8_t *payload; /* owned: the columns as stored */
    size_t payload_room;
};

/* Unpacks frames; one per thread. */
struct rsct_unpacker {
    uint8_t without[RSCT_COLUMNS]; /* columns that are not unpacked */
    void *zstd;
};

int rsct_unpacker_init(struct rsct_unpacker *unpacker, int without_pcs, int without_events, struct rsc_error *error);
void rsct_unpacker_free(struct rsct_unpacker *unpacker);

/* Reads the stored frame at the input's position. `before` is the number of intact frames so far, for messages. */
int rsct_frame_read(struct rsct_frame *frame, struct rsc_input *input, uint64_t before, struct rsc_error *error);

/*
 * The same in two steps, for an input that can be sought: the header, and from any thread the columns that follow it.
 * `before` as above.
 */
int rsct_frame_read_header(struct rsct_frame *frame, struct rsc_input *input, uint64_t before, struct rsc_error *error);
int rsct_frame_read_columns(struct rsct_frame *frame, const struct rsc_input *input, uint64_t before,
                            struct rsc_error *error);

/* Verifies and unpacks what was read. Returns NULL, or the problem. */
const char *rsct_frame_unpack(struct rsct_frame *frame, const struct rsct_unpacker *unpacker);

void rsct_frame_free(struct rsct_frame *frame);

/* "FILE: frame 12 at byte 40960: what (the first 11 frames are intact; --salvage reads them)" */
int rsct_frame_damaged(const struct rsc_input *input, uint64_t before, uint64_t offset, const char *what,
                       struct rsc_error *error);

/* Checks a header's numbers against the format's limits, and its checksum. Returns NULL, or the problem. */
const char *rsct_frame_header_problem(const struct rsct_frame_header *header);

/* Bytes of stored columns after a header. */
uint64_t rsct_frame_payload_bytes(const struct rsct_frame_header *header);

#endif
