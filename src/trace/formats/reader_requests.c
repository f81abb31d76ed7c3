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
#include "trace/formats/record_reader.h"

#define RECORD_BYTES_MAX 40u
#define BLOCK_SHIFT 9 /* of a disk: 512 bytes */
#define LATEST_NEXT (1ll << 48)

/* Offsets of a record's fields. */
struct layout {
    uint32_t bytes;
    uint32_t object, size;
    uint32_t command, version; /* of vscsi; oracleGeneral has none */
    uint32_t version_is;       /* 0: the format has none */
};

static const struct layout oracle_general = {24, 4, 12, 0, 0, 0};
static const struct layout vscsi_1 = {32, 16, 4, 12, 14, 1};
static const struct layout vscsi_2 = {40, 16, 8, 0, 2, 2};

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
static inline const char *take_record(const struct layout *layout, const unsigned char *record, uint64_t *addr,
                                      uint64_t *meta, uint64_t *sizeless) {
    uint64_t object = u64(record + layout->object);
    uint32_t size = u32(record + layout->size);
    enum rsc_kind kind = RSC_READ;
    if (layout->version_is) {
        if (u16(record + layout->version) >> 8 != layout->version_is) return "its version differs from the first";
        if (object >> (64 - BLOCK_SHIFT)) return "block number out of range";
        object <<= BLOCK_SHIFT;
        if (is_scsi_write(u16(record + layout->command) & 0xff)) kind = RSC_WRITE;
    }
    *sizeless += size == 0;
    *addr = object;
    *meta = rsc_meta(size ? size : 1, kind, 0);
    return NULL;
}

static inline uint32_t take(const struct layout *layout, const unsigned char *bytes, uint32_t records,
                            const struct rsc_columns *to, struct rsc_batch *batch, const char **problem,
                            uint64_t *sizeless) {
    uint32_t count = 0;
    for (; count < records; count++, bytes += layout->bytes)
        if ((*problem = take_record(layout, bytes, &to->addr[count], &to->meta[count], sizeless))) break;
    *batch = (struct rsc_batch){.count = count, .addr = to->addr, .meta = to->meta, .instructions = RSC_UNKNOWN};
    return count;
}

#define TAKE(name)                                                                                          \
    static uint32_t take_##name(const unsigned char *bytes, uint32_t records, const struct rsc_columns *to, \
                                struct rsc_batch *batch, const char **problem, uint64_t *notes) {           \
        return take(&name, bytes, records, to, batch, problem, notes);                                      \
    }
TAKE(oracle_general)
TAKE(vscsi_1)
TAKE(vscsi_2)

static void finish(const struct rsc_log *log, const char *name, uint64_t sizeless) {
    if (sizeless)
        rsc_log_line(log, RSC_LOG_WARNING, "%s: %" PRIu64 " requests of 0 bytes counted as 1 byte each", name,
                     sizeless);
}

#define FORMAT(format_name, made_by, width, take_it) \
    {.name = format_name,                            \
     .source = made_by,                              \
     .unit = "request",                              \
     .bad = "request",                               \
     .bytes = width,                                 \
     .per_batch = RSC_BATCH_ACCESSES,                \
     .indexed = 1,                                   \
     .take = take_it,                                \
     .finish = finish}
static const struct rsc_record_format oracle_general_format =
    FORMAT("oracleGeneral", "libCacheSim", 24, take_oracle_general);
static const struct rsc_record_format vscsi_1_format = FORMAT("vscsi", "vscsi version 1", 32, take_vscsi_1);
static const struct rsc_record_format vscsi_2_format = FORMAT("vscsi", "vscsi version 2", 40, take_vscsi_2);

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
    return status < 0 ? status : rsc_record_reader_open(out, &oracle_general_format, input, options, error);
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
    const struct rsc_record_format *format = vscsi_is(&vscsi_2, head, (size_t)bytes)   ? &vscsi_2_format
                                             : vscsi_is(&vscsi_1, head, (size_t)bytes) ? &vscsi_1_format
                                                                                       : NULL;
    if (format) return rsc_record_reader_open(out, format, input, options, error);
    if (bytes < 32)
        return rsc_fail_at(error, RSC_EFORMAT, 0, "%s: cut at byte 0: the first request has %d of its 32 bytes (vscsi)",
                           rsc_input_name(input), (int)bytes);
    return rsc_fail_at(error, RSC_EFORMAT, 0,
                       "%s: at byte 0: neither version 1 (32-byte requests) nor version 2 (40 bytes) of vscsi",
                       rsc_input_name(input));
}
