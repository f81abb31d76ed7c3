/*
 * reader_requests.c - traces of requests for whole objects: libCacheSim's
 * oracleGeneral, and the vscsi format of storage traces that it reads too.
 *
 * All little-endian, packed, without a header: read by name only. What is read as
 * oracleGeneral is refused if most requests of its opening cannot be: times that run
 * backwards, or a next request that no trace is long enough for.
 *
 *   oracleGeneral, 24 bytes per request:
 *      0  u32  time, seconds
 *      4  u64  the object
 *     12  u32  its size, bytes
 *     16  i64  number of the request that wants it next; negative or the largest number: none
 *
 *   vscsi version 1, 32 bytes:                 version 2, 40 bytes:
 *      0  u32  serial number                      0  u16  SCSI command
 *      4  u32  length, bytes                      2  u16  version
 *      8  u32  scatter-gather entries             4  u32  serial number
 *     12  u16  SCSI command                       8  u32  length, bytes
 *     14  u16  version                           12  u32  scatter-gather entries
 *     16  u64  first block                       16  u64  first block
 *     24  u64  time, microseconds                24  u64  time, microseconds
 *                                                32  u64  response time
 *
 * A request becomes an access with the object as its address and the object's size.
 * Blocks are 512 bytes; a block number becomes an address in bytes, so that the
 * trace can also be analysed in lines (--line 4096, say). SCSI writes are writes,
 * everything else reads. vscsi has its version in the high byte of each record's
 * version field; it must be the same in all records. A size of 0 counts as 1, with a
 * warning.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/readers.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file's byte order is the machine's");

#define RECORD_BYTES_MAX 40u
#define BLOCK_SHIFT 9 /* of a disk: 512 bytes */
#define LATEST_NEXT (1ll << 48)

/* Offsets of a record's fields. */
struct layout {
    const char *name; /* for messages */
    uint32_t bytes;
    uint32_t object, size;
    uint32_t command, version; /* of vscsi; oracleGeneral has none */
    uint32_t version_is;       /* 0: the format has none */
};

static const struct layout oracle_general = {"oracleGeneral", 24, 4, 12, 0, 0, 0};
static const struct layout vscsi_1 = {"vscsi", 32, 16, 4, 12, 14, 1};
static const struct layout vscsi_2 = {"vscsi", 40, 16, 8, 0, 2, 2};

struct requests_reader {
    struct rsc_source source;
    struct rsc_input *input;
    const struct rsc_log *log;
    const struct layout *layout;
    uint64_t sizeless;  /* requests of 0 bytes */
    uint32_t left_over; /* bytes of a cut last record, once the end was met */
    uint64_t bad_at;    /* offset of an invalid record; RSC_NO_OFFSET: none */
    const char *problem;
    uint64_t addr[RSC_BATCH_ACCESSES];
    uint64_t meta[RSC_BATCH_ACCESSES];
    unsigned char bytes[RSC_BATCH_ACCESSES * RECORD_BYTES_MAX];
};

static uint16_t u16(const unsigned char *at) {
    uint16_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static uint32_t u32(const unsigned char *at) {
    uint32_t value;
    memcpy(&value, at, sizeof value);
    return value;
}
static uint64_t u64(const unsigned char *at) {
    uint64_t value;
    memcpy(&value, at, sizeof value);
    return value;
}

static int fail(const struct requests_reader *reader, struct rsc_error *error) {
    const char *name = rsc_input_name(reader->input);
    const struct layout *layout = reader->layout;
    if (reader->problem)
        return rsc_fail_at(error, RSC_EFORMAT, reader->bad_at, "%s: request at byte %" PRIu64 ": %s (%s)", name,
                           reader->bad_at, reader->problem, layout->name);
    uint64_t offset = rsc_input_offset(reader->input) - reader->left_over;
    return rsc_fail_at(error, RSC_EFORMAT, offset,
                       "%s: cut at byte %" PRIu64 ": the last request has %" PRIu32 " of its %" PRIu32 " bytes (%s)",
                       name, offset, reader->left_over, layout->bytes, layout->name);
}

/* WRITE of 6, 10, 12 and 16 bytes, and WRITE AND VERIFY of 10, 12 and 16. */
static int is_scsi_write(uint32_t command) {
    switch (command) {
    case 0x0a:
    case 0x2a:
    case 0xaa:
    case 0x8a:
    case 0x2e:
    case 0xae:
    case 0x8e: return 1;
    default: return 0;
    }
}

/* Adds one request. Returns the problem, or NULL. */
static const char *take_record(struct requests_reader *reader, const unsigned char *record, uint32_t i) {
    const struct layout *layout = reader->layout;
    uint64_t object = u64(record + layout->object);
    uint32_t size = u32(record + layout->size);
    enum rsc_kind kind = RSC_READ;
    if (layout->version_is) {
        if (u16(record + layout->version) >> 8 != layout->version_is) return "its version differs from the first";
        if (object >> (64 - BLOCK_SHIFT)) return "block number out of range";
        object <<= BLOCK_SHIFT;
        if (is_scsi_write(u16(record + layout->command) & 0xff)) kind = RSC_WRITE;
    }
    reader->sizeless += size == 0;
    reader->addr[i] = object;
    reader->meta[i] = rsc_meta(size ? size : 1, kind, 0);
    return NULL;
}

static int finish(struct requests_reader *reader) {
    if (reader->sizeless)
        rsc_log_line(reader->log, RSC_LOG_WARNING, "%s: %" PRIu64 " requests of 0 bytes counted as 1 byte each",
                     rsc_input_name(reader->input), reader->sizeless);
    return 0;
}

static int requests_next(struct rsc_source *source, struct rsc_batch *batch, struct rsc_error *error) {
    struct requests_reader *reader = (struct requests_reader *)source;
    uint32_t bytes = reader->layout->bytes;
    if (reader->left_over || reader->problem) return fail(reader, error);
    uint64_t offset = rsc_input_offset(reader->input);
    int64_t got = rsc_input_read(reader->input, reader->bytes, (size_t)RSC_BATCH_ACCESSES * bytes, error);
    if (got < 0) return (int)got;
    uint32_t records = (uint32_t)((uint64_t)got / bytes), count = 0;
    reader->left_over = (uint32_t)((uint64_t)got % bytes);
    for (; count < records; count++) {
        reader->problem = take_record(reader, reader->bytes + (size_t)count * bytes, count);
        reader->bad_at = offset + (uint64_t)count * bytes;
        if (reader->problem) break;
    }
    if (!count) return reader->left_over || reader->problem ? fail(reader, error) : finish(reader);
    *batch =
        (struct rsc_batch){.count = count, .addr = reader->addr, .meta = reader->meta, .instructions = RSC_UNKNOWN};
    return 1;
}

static void requests_info(struct rsc_source *source, struct rsc_trace_info *info) {
    const struct requests_reader *reader = (const struct requests_reader *)source;
    info->source = reader->layout == &vscsi_1   ? "vscsi version 1"
                   : reader->layout == &vscsi_2 ? "vscsi version 2"
                                                : "libCacheSim";
}

static void requests_close(struct rsc_source *source) { free(source); }

static const struct rsc_source_ops requests_ops = {
    .next = requests_next, .info = requests_info, .close = requests_close};

static int requests_open(struct rsc_source **out, struct rsc_input *input, const struct layout *layout,
                         const struct rsc_reader_options *options, struct rsc_error *error) {
    struct requests_reader *reader = malloc(sizeof *reader);
    if (!reader) return rsc_fail_memory(error, "requests reader");
    reader->source = (struct rsc_source){.ops = &requests_ops};
    reader->input = input;
    reader->log = options ? options->log : NULL;
    reader->layout = layout;
    reader->sizeless = 0;
    reader->left_over = 0;
    reader->problem = NULL;
    *out = &reader->source;
    return 0;
}

/* Refuses a file whose opening is not one of requests. */
static int check_oracle(struct rsc_input *input, struct rsc_error *error) {
    const unsigned char *head;
    int64_t bytes = rsc_input_peek(input, RSC_INPUT_PEEK_MAX, &head, error);
    if (bytes < 0) return (int)bytes;
    uint32_t records = (uint32_t)bytes / oracle_general.bytes, odd = 0, before = 0;
    for (uint32_t i = 0; i < records; i++) {
        const unsigned char *record = head + (size_t)i * oracle_general.bytes;
        int64_t next = (int64_t)u64(record + 16);
        odd += next < -2 || (next >= LATEST_NEXT && next != INT64_MAX) || u32(record) < before;
        before = u32(record);
    }
    if (odd <= records / 2) return 0;
    return rsc_fail_at(error, RSC_EFORMAT, 0,
                       "%s: not a trace of requests: %" PRIu32 " of the first %" PRIu32
                       " have times or next requests that cannot be (oracleGeneral)",
                       rsc_input_name(input), odd, records);
}

int rsc_oracle_general_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                            struct rsc_error *error) {
    int status = check_oracle(input, error);
    return status < 0 ? status : requests_open(out, input, &oracle_general, options, error);
}

/* Whether the version fields of the first record, and of a second if there is one, match the layout. */
static int vscsi_is(const struct layout *layout, const unsigned char *head, size_t bytes) {
    uint32_t at = layout->version;
    for (int record = 0; record < 2; record++, at += layout->bytes)
        if (at + 2 <= bytes && u16(head + at) >> 8 != layout->version_is) return 0;
    return layout->bytes <= bytes;
}

int rsc_vscsi_open(struct rsc_source **out, struct rsc_input *input, const struct rsc_reader_options *options,
                   struct rsc_error *error) {
    const unsigned char *head;
    int64_t bytes = rsc_input_peek(input, 2 * RECORD_BYTES_MAX, &head, error);
    if (bytes < 0) return (int)bytes;
    /* version 2 first, as libCacheSim decides it: a file may look like both */
    const struct layout *layout = vscsi_is(&vscsi_2, head, (size_t)bytes)   ? &vscsi_2
                                  : vscsi_is(&vscsi_1, head, (size_t)bytes) ? &vscsi_1
                                                                            : NULL;
    if (layout) return requests_open(out, input, layout, options, error);
    if (bytes < 32)
        return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: cut at byte 0: the first request has %d of its 32 bytes (vscsi)",
                           rsc_input_name(input), (int)bytes);
    return rsc_fail_at(error, RSC_EFORMAT, 0,
                       "%s: at byte 0: neither version 1 (32-byte requests) nor version 2 (40 bytes) of vscsi",
                       rsc_input_name(input));
}
