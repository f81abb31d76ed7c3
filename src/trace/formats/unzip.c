/*
 * unzip.c - the members of a zip archive, one after the other, as one stream.
 *
 * The archive is read from its beginning, by the header before each member, so
 * that pipes work without seeking or unpacking. A header may leave sizes and
 * checksum to a descriptor after the data (flag 3): deflate data marks its own end,
 * and stored data of unknown length is rejected. Sizes of 4 GiB and more are in an
 * extra field (zip64).
 *
 * A header's values are only compared, never trusted: data ends where deflate ends
 * or the stored length is used up, and then length and CRC-32 must match. The table
 * of contents after the last member is read too: an archive that ends before its
 * end record is cut, and one whose table lists more or fewer members than the
 * archive has is damaged. Names are ignored.
 *
 * Layout: PKWARE's APPNOTE.TXT, 6.3.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/fail.h"
#include "trace/formats/decompress.h"

enum {
    MEMBER = 0x04034b50,
    DESCRIPTOR = 0x08074b50,
    ENTRY = 0x02014b50, /* of the table of contents */
    SIGNATURE = 0x05054b50,
    END64 = 0x06064b50,
    LOCATOR64 = 0x07064b50,
    END = 0x06054b50,
};

/* Bytes of each before its names. */
#define MEMBER_BYTES 30u
#define ENTRY_BYTES 46u
#define SIGNATURE_BYTES 6u
#define END64_BYTES 56u
#define LOCATOR64_BYTES 20u
#define END_BYTES 22u

#define FLAG_ENCRYPTED 1u
#define FLAG_DESCRIPTOR 8u
#define METHOD_STORED 0u
#define METHOD_DEFLATE 8u
#define EXTRA_ZIP64 1u

struct zip {
    z_stream stream;
    int inside; /* a member's data */
    int ended;  /* the end record was read */
    uint64_t members, at; /* members begun; offset of the last one's header */
    uint32_t method, flags;
    int wide;                      /* zip64: a descriptor's sizes may have 8 bytes */
    uint64_t packed_said, bytes_said; /* sizes in the header */
    uint32_t crc_said;
    uint64_t packed, bytes; /* read so far */
    uint32_t crc;
    uint64_t listed; /* entries of the table of contents */
    uint64_t total;  /* entries according to the zip64 end record; UINT64_MAX: there is none */
};

static uint32_t u16(const unsigned char *at) { return at[0] | (uint32_t)at[1] << 8; }
static uint32_t u32(const unsigned char *at) { return u16(at) | u16(at + 2) << 16; }
static uint64_t u64(const unsigned char *at) { return u32(at) | (uint64_t)u32(at + 4) << 32; }

static int fail_cut(const struct rsc_stored *stored, struct rsc_error *error) {
    uint64_t end = stored->offset + (stored->end - stored->start);
    return rsc_fail_at(error, RSC_EFORMAT, end, "%s: zip data is cut at byte %" PRIu64 " of the file", stored->name,
                       end);
}

static int fail_member(const struct zip *zip, const struct rsc_stored *stored, int code, const char *why,
                       struct rsc_error *error) {
    return rsc_fail_at(error, code, zip->at, "%s: member %" PRIu64 " of the zip at byte %" PRIu64 ": %s", stored->name,
                       zip->members, zip->at, why);
}

/* Buffers `wanted` bytes and returns a pointer to them; on failure NULL with *status set. */
static const unsigned char *need(struct rsc_stored *stored, size_t wanted, int *status, struct rsc_error *error) {
    int64_t have = rsc_stored_fill(stored, wanted, error);
    if (have >= 0 && (size_t)have >= wanted) return stored->bytes + stored->start;
    *status = have < 0 ? (int)have : fail_cut(stored, error);
    return NULL;
}

/* ---- between members ---- */

/* Sizes that do not fit a header are in its extra field, unpacked size first. */
static int read_extra(struct zip *zip, const struct rsc_stored *stored, const unsigned char *extra, size_t bytes,
                      struct rsc_error *error) {
    for (size_t at = 0; at + 4 <= bytes;) {
        size_t length = u16(extra + at + 2), field = at + 4;
        if (length > bytes - field) break;
        at = field + length;
        if (u16(extra + field - 4) != EXTRA_ZIP64) continue;
        zip->wide = 1;
        if (zip->bytes_said == UINT32_MAX) {
            if (length < 8) break;
            zip->bytes_said = u64(extra + field);
            field += 8, length -= 8;
        }
        if (zip->packed_said == UINT32_MAX) {
            if (length < 8) break;
            zip->packed_said = u64(extra + field);
        }
        return 0;
    }
    if (zip->wide) return fail_member(zip, stored, RSC_EFORMAT, "its zip64 field is too short", error);
    return 0; /* other fields may be of any shape */
}

static int begin_member(struct zip *zip, struct rsc_stored *stored, struct rsc_error *error) {
    int status = 0;
    zip->at = stored->offset;
    zip->members++;
    const unsigned char *header = need(stored, MEMBER_BYTES, &status, error);
    if (!header) return status;
    size_t name = u16(header + 26), extra = u16(header + 28);
    header = need(stored, MEMBER_BYTES + name + extra, &status, error);
    if (!header) return status;
    zip->flags = u16(header + 6);
    zip->method = u16(header + 8);
    zip->crc_said = u32(header + 14);
    zip->packed_said = u32(header + 18);
    zip->bytes_said = u32(header + 22);
    zip->wide = 0;
    zip->packed = zip->bytes = 0;
    zip->crc = (uint32_t)crc32(0, NULL, 0);
    status = read_extra(zip, stored, header + MEMBER_BYTES + name, extra, error);
    if (status < 0) return status;
    if (zip->flags & FLAG_ENCRYPTED) return fail_member(zip, stored, RSC_EUNSUPPORTED, "it is encrypted", error);
    if (zip->method != METHOD_STORED && zip->method != METHOD_DEFLATE)
        return rsc_fail_at(error, RSC_EUNSUPPORTED, zip->at,
                           "%s: member %" PRIu64 " of the zip at byte %" PRIu64 ": compression method %" PRIu32
                           " is neither stored (0) nor deflate (8)",
                           stored->name, zip->members, zip->at, zip->method);
    if (zip->method == METHOD_STORED && zip->flags & FLAG_DESCRIPTOR)
        return fail_member(zip, stored, RSC_EUNSUPPORTED, "stored data of unknown length", error);
    rsc_stored_take(stored, MEMBER_BYTES + name + extra);
    inflateReset(&zip->stream);
    zip->inside = 1;
    return 0;
}

/* A descriptor has 4 or 8 bytes per size, with or without a signature: accept the layout that matches the data. */
static int take_descriptor(struct zip *zip, struct rsc_stored *stored, struct rsc_error *error) {
    int64_t have = rsc_stored_fill(stored, 24, error);
    if (have < 0) return (int)have;
    if (have < 12) return fail_cut(stored, error);
    const unsigned char *at = stored->bytes + stored->start;
    for (int marked = 1; marked >= 0; marked--) {
        size_t skip = marked ? 4 : 0;
        if (marked && u32(at) != DESCRIPTOR) continue;
        for (int turn = 0; turn < 2; turn++) {
            size_t width = turn == zip->wide ? 4 : 8, bytes = skip + 4 + 2 * width; /* of an empty member both fit */
            if ((size_t)have < bytes || u32(at + skip) != zip->crc) continue;
            const unsigned char *sizes = at + skip + 4;
            int fits = width == 8 ? u64(sizes) == zip->packed && u64(sizes + 8) == zip->bytes
                                  : u32(sizes) == (uint32_t)zip->packed && u32(sizes + 4) == (uint32_t)zip->bytes;
            if (!fits) continue;
            rsc_stored_take(stored, bytes);
            return 0;
        }
    }
    return fail_member(zip, stored, RSC_EFORMAT, "its data does not match the checksum and lengths after it", error);
}

static int end_member(struct zip *zip, struct rsc_stored *stored, struct rsc_error *error) {
    zip->inside = 0;
    if (zip->flags & FLAG_DESCRIPTOR) return take_descriptor(zip, stored, error);
    if (zip->packed != zip->packed_said || zip->bytes != zip->bytes_said)
        return fail_member(zip, stored, RSC_EFORMAT, "its data is not as long as its header says", error);
    if (zip->crc != zip->crc_said) return fail_member(zip, stored, RSC_EFORMAT, "checksum mismatch", error);
    return 0;
}

/* ---- the table of contents and the end ---- */

static int take_end(struct zip *zip, struct rsc_stored *stored, const unsigned char *record, struct rsc_error *error) {
    int status = 0;
    uint64_t total = u16(record + 10);
    size_t comment = u16(record + 20);
    if (total == UINT16_MAX && zip->total != UINT64_MAX) total = zip->total;
    if (!need(stored, END_BYTES + comment, &status, error)) return status;
    uint64_t at = stored->offset;
    rsc_stored_take(stored, END_BYTES + comment);
    int64_t have = rsc_stored_fill(stored, 1, error);
    if (have < 0) return (int)have;
    if (have)
        return rsc_fail_at(error, RSC_EFORMAT, stored->offset, "%s: bytes after the end of the zip at byte %" PRIu64,
                           stored->name, stored->offset);
    if (zip->listed != zip->members || total != zip->members)
        return rsc_fail_at(error, RSC_EFORMAT, at,
                           "%s: the zip has %" PRIu64 " members, but its table of contents lists %" PRIu64
                           " and its end at byte %" PRIu64 " says %" PRIu64,
                           stored->name, zip->members, zip->listed, at, total);
    zip->ended = 1;
    return 0;
}

/* Reads the next record: a member, a table entry or the end. */
static int take_record(struct zip *zip, struct rsc_stored *stored, struct rsc_error *error) {
    int status = 0;
    const unsigned char *record = need(stored, 4, &status, error);
    if (!record) return status;
    uint32_t mark = u32(record);
    size_t bytes = mark == ENTRY       ? ENTRY_BYTES
                   : mark == END64     ? END64_BYTES
                   : mark == LOCATOR64 ? LOCATOR64_BYTES
                   : mark == END       ? END_BYTES
                   : mark == SIGNATURE ? SIGNATURE_BYTES
                                       : 0;
    if (mark == MEMBER && !zip->listed) return begin_member(zip, stored, error);
    if (!bytes)
        return rsc_fail_at(error, RSC_EFORMAT, stored->offset,
                           "%s: zip data is damaged at byte %" PRIu64
                           " of the file (neither member nor table of contents)",
                           stored->name, stored->offset);
    record = need(stored, bytes, &status, error);
    if (!record) return status;
    switch (mark) {
    case ENTRY:
        zip->listed++;
        bytes += u16(record + 28) + u16(record + 30) + u16(record + 32);
        break;
    case SIGNATURE: bytes += u16(record + 4); break;
    case END64:
        if (u64(record + 4) != END64_BYTES - 12)
            return rsc_fail_at(error, RSC_EUNSUPPORTED, stored->offset,
                               "%s: a zip64 end record of an unknown kind at byte %" PRIu64, stored->name,
                               stored->offset);
        zip->total = u64(record + 32);
        break;
    case END: return take_end(zip, stored, record, error);
    default: break;
    }
    if (!need(stored, bytes, &status, error)) return status;
    rsc_stored_take(stored, bytes);
    return 0;
}

/* ---- data ---- */

static int64_t copy_stored(struct zip *zip, struct rsc_stored *stored, void *to, size_t bytes,
                           struct rsc_error *error) {
    uint64_t left = zip->packed_said - zip->packed;
    int64_t have = left ? rsc_stored_fill(stored, 1, error) : 0;
    if (have < 0) return have;
    if (left && !have) return fail_cut(stored, error);
    if (bytes > (size_t)have) bytes = (size_t)have;
    if (bytes > left) bytes = (size_t)left;
    if (bytes) memcpy(to, stored->bytes + stored->start, bytes);
    rsc_stored_take(stored, bytes);
    zip->packed += bytes;
    return (int64_t)bytes;
}

/* Sets *ended at the end of the deflate data. */
static int64_t inflate_some(struct zip *zip, struct rsc_stored *stored, void *to, size_t bytes, int *ended,
                            struct rsc_error *error) {
    z_stream *stream = &zip->stream;
    int64_t have = rsc_stored_fill(stored, 1, error);
    if (have < 0) return have;
    if (have == 0) return fail_cut(stored, error);
    stream->next_in = stored->bytes + stored->start;
    stream->avail_in = (uInt)have;
    stream->next_out = to;
    stream->avail_out = (uInt)bytes;
    int status = inflate(stream, Z_NO_FLUSH);
    size_t took = (size_t)have - stream->avail_in;
    rsc_stored_take(stored, took);
    zip->packed += took;
    *ended = status == Z_STREAM_END;
    if (status == Z_MEM_ERROR) return rsc_fail_memory(error, "zip decoder");
    if (status != Z_OK && status != Z_STREAM_END && status != Z_BUF_ERROR)
        return rsc_fail_at(error, RSC_EFORMAT, stored->offset,
                           "%s: zip data is damaged near byte %" PRIu64 " of the file (%s)", stored->name,
                           stored->offset, stream->msg ? stream->msg : "not deflate data");
    return (int64_t)(bytes - stream->avail_out);
}

static int64_t zip_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    struct zip *zip = state;
    if (bytes > RSC_STORED_BYTES) bytes = RSC_STORED_BYTES;
    for (;;) {
        int ended = 0, status;
        while (!zip->inside) {
            if (zip->ended) return 0;
            if ((status = take_record(zip, stored, error)) < 0) return status;
        }
        int64_t got = zip->method == METHOD_STORED ? copy_stored(zip, stored, to, bytes, error)
                                                   : inflate_some(zip, stored, to, bytes, &ended, error);
        if (got < 0) return got;
        zip->bytes += (uint64_t)got;
        if (got) zip->crc = (uint32_t)crc32(zip->crc, to, (uInt)got);
        if (zip->method == METHOD_STORED) ended = zip->packed == zip->packed_said;
        if (ended && (status = end_member(zip, stored, error)) < 0) return status;
        if (got) return got;
    }
}

static int zip_open(void **state, struct rsc_error *error) {
    struct zip *zip = calloc(1, sizeof *zip);
    if (!zip || inflateInit2(&zip->stream, -15) != Z_OK) {
        free(zip);
        return rsc_fail_memory(error, "zip decoder");
    }
    zip->total = UINT64_MAX;
    *state = zip;
    return 0;
}

static void zip_close(void *state) {
    struct zip *zip = state;
    inflateEnd(&zip->stream);
    free(zip);
}

const struct rsc_decoder rsc_zip_decoder = {"zip", zip_open, zip_read, zip_close};
