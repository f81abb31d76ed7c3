/* rsct_frame.c - see rsct_frame.h. */
#include "trace/native/rsct_frame.h"

#include <stdio.h>
#include <stdlib.h>
#include <xxhash.h>
#include <zstd.h>

#include "base/fail.h"
#include "trace/native/varint.h"

int rsct_unpacker_init(struct rsct_unpacker *unpacker, int without_pcs, int without_events, struct rsc_error *error) {
    *unpacker = (struct rsct_unpacker){.zstd = ZSTD_createDCtx()};
    unpacker->without[RSCT_PCS] = without_pcs != 0;
    unpacker->without[RSCT_EVENTS] = without_events != 0;
    return unpacker->zstd ? 0 : rsc_fail_memory(error, "trace decoder");
}

void rsct_unpacker_free(struct rsct_unpacker *unpacker) {
    ZSTD_freeDCtx(unpacker->zstd);
    unpacker->zstd = NULL;
}

void rsct_frame_free(struct rsct_frame *frame) {
    for (int c = 0; c < RSCT_COLUMNS; c++) free(frame->raw[c]);
    free(frame->payload);
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
static int read_whole(struct rsc_input *input, void *to, size_t bytes, uint64_t before, const char *part,
                      struct rsc_error *error) {
    int64_t got = rsc_input_read(input, to, bytes, error);
    if (got < 0) return (int)got;
    if ((size_t)got == bytes) return 0;
    char what[96];
    snprintf(what, sizeof what, "the file is cut inside %s", part);
    return rsct_frame_damaged(input, before, rsc_input_offset(input), what, error);
}

static int reserve_payload(struct rsct_frame *frame, uint64_t bytes, struct rsc_error *error) {
    if (bytes <= frame->payload_room && frame->payload) return 0;
    bytes += !bytes; /* a frame without payload still has a buffer */
    free(frame->payload);
    frame->payload = malloc(bytes);
    frame->payload_room = frame->payload ? bytes : 0;
    return frame->payload ? 0 : rsc_fail_memory(error, "trace frame");
}

int rsct_frame_read_header(struct rsct_frame *frame, struct rsc_input *input, uint64_t before,
                           struct rsc_error *error) {
    struct rsct_frame_header *header = &frame->header;
    frame->offset = rsc_input_offset(input);
    int status = read_whole(input, header, sizeof *header, before, "a frame header", error);
    if (status < 0) return status;
    const char *problem = rsct_frame_header_problem(header);
    return problem ? rsct_frame_damaged(input, before, frame->offset, problem, error) : 0;
}

int rsct_frame_read(struct rsct_frame *frame, struct rsc_input *input, uint64_t before, struct rsc_error *error) {
    int status = rsct_frame_read_header(frame, input, before, error);
    if (status < 0) return status;
    uint64_t bytes = rsct_frame_payload_bytes(&frame->header);
    if ((status = reserve_payload(frame, bytes, error)) < 0) return status;
    return read_whole(input, frame->payload, bytes, before, "a frame", error);
}

int rsct_frame_read_columns(struct rsct_frame *frame, const struct rsc_input *input, uint64_t before,
                            struct rsc_error *error) {
    uint64_t bytes = rsct_frame_payload_bytes(&frame->header), from = frame->offset + sizeof frame->header;
    int status = reserve_payload(frame, bytes, error);
    if (status < 0) return status;
    int64_t got = rsc_input_read_at(input, frame->payload, bytes, from, error);
    if (got < 0) return (int)got;
    return (uint64_t)got == bytes
               ? 0
               : rsct_frame_damaged(input, before, from + (uint64_t)got, "the file is cut inside a frame", error);
}

static const char *unpack_columns(struct rsct_frame *frame, const struct rsct_unpacker *unpacker) {
    const struct rsct_frame_header *header = &frame->header;
    const uint8_t *payload = frame->payload;
    for (int c = 0; c < RSCT_COLUMNS; payload += header->column[c].stored_bytes, c++) {
        size_t raw_bytes = header->column[c].raw_bytes;
        size_t room = c == RSCT_DELTAS ? (size_t)header->accesses * 8 + 8 : raw_bytes + 8;
        if (room > frame->raw_room[c]) {
            free(frame->raw[c]);
            frame->raw[c] = calloc(1, room);
            frame->raw_room[c] = frame->raw[c] ? room : 0;
            if (!frame->raw[c]) return "out of memory";
        }
        if (!raw_bytes || unpacker->without[c]) continue;
        size_t got =
            ZSTD_decompressDCtx(unpacker->zstd, frame->raw[c], raw_bytes, payload, header->column[c].stored_bytes);
        if (ZSTD_isError(got) || got != raw_bytes) return "a column does not decompress";
    }
    return NULL;
}

const char *rsct_frame_unpack(struct rsct_frame *frame, const struct rsct_unpacker *unpacker) {
    const struct rsct_frame_header *header = &frame->header;
    if (header->payload_checksum != XXH3_64bits(frame->payload, rsct_frame_payload_bytes(header)))
        return "checksum mismatch";
    return unpack_columns(frame, unpacker);
}
