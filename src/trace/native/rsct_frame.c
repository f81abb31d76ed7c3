/* rsct_frame.c - see rsct_frame.h. */
#include "trace/native/rsct_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/fail.h"
#include "trace/native/varint.h"

int rsct_frames_init(struct rsct_frames *frames, struct rsc_input *input, int without_pcs, int without_events,
                     struct rsc_error *error) {
    *frames = (struct rsct_frames){.input = input, .zstd = ZSTD_createDCtx()};
    frames->without[RSCT_PCS] = without_pcs != 0;
    frames->without[RSCT_EVENTS] = without_events != 0;
    return frames->zstd ? 0 : rsc_fail_memory(error, "trace decoder");
}

void rsct_frames_free(struct rsct_frames *frames) {
    free(frames->payload);
    ZSTD_freeDCtx(frames->zstd);
    frames->payload = NULL;
    frames->zstd = NULL;
}

void rsct_frame_free(struct rsct_frame *frame) {
    for (int c = 0; c < RSCT_COLUMNS; c++) free(frame->raw[c]);
}

int rsct_frame_damaged(const struct rsc_input *input, uint64_t before, uint64_t offset, const char *what,
                       struct rsc_error *error) {
    char advice[96] = "";
    if (before)
        snprintf(advice, sizeof advice, " (the first %llu frames are intact; --salvage reads them)",
                 (unsigned long long)before);
    return rsc_fail_at(error, RSC_EFORMAT, offset, "%s: frame %llu at byte %llu: %s%s", rsc_input_name(input),
                       (unsigned long long)before + 1, (unsigned long long)offset, what, advice);
}

static const char *numbers_problem(const struct rsct_frame_header *header) {
    uint64_t accesses = header->accesses;
    if (accesses > RSCT_FRAME_ACCESSES_MAX) return "too many accesses";
    if (header->events > RSCT_EVENTS_MAX) return "too many events";
    if (header->codes > RSCT_CODES_DIRECT) return "too many codes";
    if (header->runs > accesses) return "more runs of threads than accesses";
    if (header->threads > accesses + header->events) return "more threads than accesses and events";
    if (header->first + accesses < header->first) return "access index out of range";
    const uint64_t most[RSCT_COLUMNS] = {
        [RSCT_CODES] = accesses,
        [RSCT_DELTAS] = accesses * 8,
        [RSCT_TABLES] = (2ull * RSCT_CODES_DIRECT + 5 * accesses + 3ull * header->events) * RSC_VARINT_MAX,
        [RSCT_SIZES] = accesses * 4,
        [RSCT_PCS] = (accesses + 1) * RSC_VARINT_MAX + accesses * 4,
        [RSCT_EVENTS] = RSCT_EVENT_BYTES_MAX,
    };
    for (int c = 0; c < RSCT_COLUMNS; c++) {
        if (header->column[c].raw_bytes > most[c]) return "a column is too large";
        if (header->column[c].stored_bytes > ZSTD_compressBound(header->column[c].raw_bytes))
            return "a column is stored larger than it can be";
        if (!header->column[c].raw_bytes != !header->column[c].stored_bytes) return "a column is stored but empty";
    }
    if (header->column[RSCT_CODES].raw_bytes != accesses) return "not one code per access";
    return NULL;
}

const char *rsct_frame_header_problem(const struct rsct_frame_header *header) {
    if (header->header_checksum != XXH3_64bits(header, offsetof(struct rsct_frame_header, header_checksum)))
        return "checksum mismatch in its header";
    return numbers_problem(header);
}

uint64_t rsct_frame_payload_bytes(const struct rsct_frame_header *header) {
    uint64_t bytes = 0;
    for (int c = 0; c < RSCT_COLUMNS; c++) bytes += header->column[c].stored_bytes;
    return bytes;
}

/* Reads exactly `bytes`; a short read is "cut" at the end of the input. */
static int read_whole(struct rsct_frames *frames, void *to, size_t bytes, uint64_t before, const char *part,
                      struct rsc_error *error) {
    int64_t got = rsc_input_read(frames->input, to, bytes, error);
    if (got < 0) return (int)got;
    if ((size_t)got == bytes) return 0;
    char what[96];
    snprintf(what, sizeof what, "the file is cut inside %s", part);
    return rsct_frame_damaged(frames->input, before, rsc_input_offset(frames->input), what, error);
}

static int reserve_payload(struct rsct_frames *frames, uint64_t bytes, struct rsc_error *error) {
    if (bytes <= frames->payload_room && frames->payload) return 0;
    bytes += !bytes; /* a frame without payload still has a buffer */
    free(frames->payload);
    frames->payload = malloc(bytes);
    frames->payload_room = frames->payload ? bytes : 0;
    return frames->payload ? 0 : rsc_fail_memory(error, "trace frame");
}

static const char *unpack_columns(const struct rsct_frames *frames, struct rsct_frame *frame) {
    const struct rsct_frame_header *header = &frame->header;
    const uint8_t *payload = frames->payload;
    for (int c = 0; c < RSCT_COLUMNS; payload += header->column[c].stored_bytes, c++) {
        size_t raw_bytes = header->column[c].raw_bytes;
        size_t room = c == RSCT_DELTAS ? (size_t)header->accesses * 8 + 8 : raw_bytes + 8;
        if (room > frame->raw_room[c]) {
            free(frame->raw[c]);
            frame->raw[c] = calloc(1, room);
            frame->raw_room[c] = frame->raw[c] ? room : 0;
            if (!frame->raw[c]) return "out of memory";
        }
        if (!raw_bytes || frames->without[c]) continue;
        size_t got =
            ZSTD_decompressDCtx(frames->zstd, frame->raw[c], raw_bytes, payload, header->column[c].stored_bytes);
        if (ZSTD_isError(got) || got != raw_bytes) return "a column does not decompress";
    }
    return NULL;
}

int rsct_frames_read(struct rsct_frames *frames, struct rsct_frame *frame, uint64_t before, struct rsc_error *error) {
    struct rsct_frame_header *header = &frame->header;
    frame->offset = rsc_input_offset(frames->input);
    int status = read_whole(frames, header, sizeof *header, before, "a frame header", error);
    if (status < 0) return status;
    const char *problem = rsct_frame_header_problem(header);
    if (problem) return rsct_frame_damaged(frames->input, before, frame->offset, problem, error);
    uint64_t bytes = rsct_frame_payload_bytes(header);
    if ((status = reserve_payload(frames, bytes, error)) < 0) return status;
    if ((status = read_whole(frames, frames->payload, bytes, before, "a frame", error)) < 0) return status;
    problem = header->payload_checksum != XXH3_64bits(frames->payload, bytes) ? "checksum mismatch"
                                                                              : unpack_columns(frames, frame);
    return problem ? rsct_frame_damaged(frames->input, before, frame->offset, problem, error) : 0;
}
