/*
 * reader_raw64.c - bare little-endian 64-bit addresses.
 *
 * The file is the address column: bytes go from the input into the batch as
 * they are. Every access is a one-byte read by thread 0.
 */
#include <inttypes.h>
#include <stdlib.h>

#include "base/fail.h"
#include "trace/formats/readers.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file's byte order is the machine's");

struct raw64_reader {
    struct rsc_source source;
    struct rsc_input *input;
    uint32_t left_over; /* bytes of a cut last address, 1..7, once the end was met */
    uint64_t addr[RSC_BATCH_ACCESSES];
    uint64_t meta[RSC_BATCH_ACCESSES]; /* the same for every access of every file */
};

static int fail_cut(const struct raw64_reader *reader, struct rsc_error *error) {
    uint64_t offset = rsc_input_offset(reader->input) - reader->left_over;
    return rsc_fail_at(error, RSC_EFORMAT, offset,
                       "%s: cut at byte %" PRIu64 ": the last address has %" PRIu32 " of its 8 bytes (raw64)",
                       rsc_input_name(reader->input), offset, reader->left_over);
}

static int raw64_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct raw64_reader *reader = (struct raw64_reader *)source;
    if (reader->left_over) return fail_cut(reader, error);
    int64_t got = rsc_input_read(reader->input, reader->addr, sizeof reader->addr, error);
    if (got < 0) return (int)got;
    reader->left_over = (uint32_t)(got % 8);
    if (got < 8) return reader->left_over ? fail_cut(reader, error) : 0;
    *batch = (struct rsc_batch){
        .count = (uint32_t)(got / 8), .addr = reader->addr, .meta = reader->meta, .instructions = RSC_UNKNOWN};
    return 1;
}

static void raw64_close(struct rsc_source *source) { free(source); }

static const struct rsc_source_ops raw64_ops = {.next = raw64_next, .close = raw64_close};

int rsc_raw64_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                   struct rsc_error *error) {
    (void)options;
    struct raw64_reader *reader = malloc(sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "raw64 reader");
    reader->source = (struct rsc_source){.ops = &raw64_ops};
    reader->input = input;
    reader->left_over = 0;
    for (uint32_t i = 0; i < RSC_BATCH_ACCESSES; i++) reader->meta[i] = rsc_meta(1, RSC_READ, 0);
    *out = &reader->source;
    return 0;
}
