/*
 * unsnappy.c - streams in Snappy's framing format, as DynamoRIO writes them.
 *
 * A stream is a row of chunks: a type, a length of three bytes, contents. Data chunks
 * begin with a masked CRC-32C of the decoded bytes, at most 64 KiB, and hold them as they
 * are or as one Snappy block: its decoded length, then literals and copies from what was
 * decoded before. Other chunks are the identifier, padding, and what a reader may skip.
 *
 * Every length is checked against the bytes there are. Layout: framing_format.txt and
 * format_description.txt of the snappy project.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "trace/formats/decompress.h"

#define BLOCK_MOST 65536u
#define CHUNK_MOST (BLOCK_MOST + BLOCK_MOST / 6 + 64) /* packed, with its checksum */

enum { PACKED = 0x00, PLAIN = 0x01, SKIPPED_FIRST = 0x80, IDENTIFIER = 0xff };

struct snappy {
    uint32_t table[256];
    size_t start, end; /* of the decoded bytes not yet taken */
    unsigned char chunk[CHUNK_MOST];
    unsigned char bytes[BLOCK_MOST];
};

static uint32_t u32(const unsigned char *at) {
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static void make_table(uint32_t table[256]) {
    for (uint32_t i = 0; i < 256; i++) {
        table[i] = i;
        for (int bit = 0; bit < 8; bit++) table[i] = table[i] >> 1 ^ (table[i] & 1 ? 0x82f63b78u : 0);
    }
}

static uint32_t masked_crc(const struct snappy *snappy, size_t count) {
    uint32_t crc = ~0u;
    for (size_t i = 0; i < count; i++) crc = snappy->table[(crc ^ snappy->bytes[i]) & 255] ^ crc >> 8;
    crc = ~crc;
    return (crc >> 15 | crc << 17) + 0xa282ead8u;
}

/* Decodes a block; returns its length, or -1. */
static int64_t unpack(struct snappy *snappy, const unsigned char *from, const unsigned char *end) {
    size_t whole = 0, done = 0;
    unsigned shift = 0, byte;
    do { /* seven bits per byte, the lowest first */
        if (from == end || shift > 28) return -1;
        byte = *from++;
        whole |= (size_t)(byte & 127) << shift;
        shift += 7;
    } while (byte & 128);
    if (whole > BLOCK_MOST) return -1;
    while (from < end) {
        unsigned tag = *from++;
        size_t length = (tag >> 2) + 1, back = 0, extra = tag & 3;
        if (extra == 0) { /* literals; 60 to 63: the length is in 1 to 4 bytes */
            size_t more = length > 60 ? length - 60 : 0;
            if (more > (size_t)(end - from)) return -1;
            if (more) length = 1;
            for (size_t i = 0; i < more; i++) length += (size_t)*from++ << 8 * i;
            if (length > (size_t)(end - from) || length > whole - done) return -1;
            memcpy(snappy->bytes + done, from, length);
            from += length;
            done += length;
            continue;
        }
        size_t wide = extra == 3 ? 4 : extra; /* bytes of the offset */
        if (wide > (size_t)(end - from)) return -1;
        if (extra == 1) {
            length = (tag >> 2 & 7) + 4;
            back = (size_t)(tag >> 5) << 8 | *from;
        } else {
            for (size_t i = 0; i < wide; i++) back |= (size_t)from[i] << 8 * i;
        }
        from += wide;
        if (!back || back > done || length > whole - done) return -1;
        for (size_t i = 0; i < length; i++, done++) snappy->bytes[done] = snappy->bytes[done - back]; /* may overlap */
    }
    return done == whole ? (int64_t)whole : -1;
}

/* Takes the next chunk. Returns 1, 0 at the end of the file, or negative. */
static int next_chunk(struct snappy *snappy, struct rsc_stored *stored, struct rsc_error *error) {
    unsigned char head[4];
    int64_t have = rsc_stored_fill(stored, 1, error);
    if (have <= 0) return (int)have;
    int status = rsc_stored_read(stored, "snappy", head, 4, error);
    if (status < 0) return status;
    unsigned type = head[0];
    size_t left = u32(head) >> 8;
    if (type > PLAIN && type < SKIPPED_FIRST) return rsc_stored_damaged(stored, "snappy", "unknown chunk", error);
    if (type > PLAIN) {
        while (!status && left) {
            size_t part = left < sizeof snappy->chunk ? left : sizeof snappy->chunk;
            status = rsc_stored_read(stored, "snappy", snappy->chunk, part, error);
            if (!status && type == IDENTIFIER && (left != 6 || memcmp(snappy->chunk, "sNaPpY", 6)))
                status = rsc_stored_damaged(stored, "snappy", "identifier", error);
            left -= part;
        }
        return status < 0 ? status : 1;
    }
    if (left < 4 || left > sizeof snappy->chunk || (type == PLAIN && left - 4 > BLOCK_MOST))
        return rsc_stored_damaged(stored, "snappy", "length of a chunk", error);
    status = rsc_stored_read(stored, "snappy", snappy->chunk, left, error);
    if (status < 0) return status;
    int64_t length = (int64_t)left - 4;
    if (type == PLAIN) memcpy(snappy->bytes, snappy->chunk + 4, left - 4);
    else length = unpack(snappy, snappy->chunk + 4, snappy->chunk + left);
    if (length < 0) return rsc_stored_damaged(stored, "snappy", "a chunk that does not decode", error);
    if (masked_crc(snappy, (size_t)length) != u32(snappy->chunk))
        return rsc_stored_damaged(stored, "snappy", "checksum of a chunk", error);
    snappy->start = 0;
    snappy->end = (size_t)length;
    return 1;
}

static int64_t snappy_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    struct snappy *snappy = state;
    while (snappy->start == snappy->end) {
        int status = next_chunk(snappy, stored, error);
        if (status <= 0) return status;
    }
    if (bytes > snappy->end - snappy->start) bytes = snappy->end - snappy->start;
    memcpy(to, snappy->bytes + snappy->start, bytes);
    snappy->start += bytes;
    return (int64_t)bytes;
}

static int snappy_open(void **state, struct rsc_error *error) {
    struct snappy *snappy = *state = calloc(1, sizeof *snappy);
    if (!snappy) return rsc_fail_memory(error, "snappy decoder");
    make_table(snappy->table);
    return 0;
}

const struct rsc_decoder rsc_snappy_decoder = {"snappy", snappy_open, snappy_read, free};
