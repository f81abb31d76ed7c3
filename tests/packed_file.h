/*
 * packed_file.h - a file packed in memory: gzip, zstd, xz, and zip with any
 * number of members. Include after cmocka.h.
 */
#ifndef RSC_TESTS_PACKED_FILE_H
#define RSC_TESTS_PACKED_FILE_H

#include <lzma.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum packed_how { PACKED_GZIP, PACKED_ZSTD, PACKED_XZ, PACKED_ZIP, PACKED_HOWS };

static const char *const packed_names[PACKED_HOWS] = {"gzip", "zstd", "xz", "zip"};

struct packed_bytes {
    unsigned char *data; /* owned */
    size_t count, room;
};

static inline void packed_put(struct packed_bytes *to, const void *bytes, size_t count) {
    while (to->count + count > to->room) {
        to->room = to->room ? to->room * 2 : 4096;
        to->data = realloc(to->data, to->room);
        assert_non_null(to->data);
    }
    if (count) memcpy(to->data + to->count, bytes, count);
    to->count += count;
}

/* `bytes` (2, 4 or 8) of a little-endian number. */
static inline void packed_number(struct packed_bytes *to, uint64_t value, size_t bytes) {
    packed_put(to, &value, bytes);
}

static inline struct packed_bytes packed_load(const char *path) {
    struct packed_bytes all = {0};
    unsigned char block[65536];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    for (size_t got; (got = fread(block, 1, sizeof block, file));) packed_put(&all, block, got);
    fclose(file);
    return all;
}

static inline struct packed_bytes packed_deflate(const void *bytes, size_t count, int window_bits) {
    z_stream stream = {0};
    struct packed_bytes packed = {.room = compressBound(count) + 64};
    packed.data = malloc(packed.room);
    assert_int_equal(deflateInit2(&stream, 1, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)bytes;
    stream.avail_in = (uInt)count;
    stream.next_out = packed.data;
    stream.avail_out = (uInt)packed.room;
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    packed.count = stream.total_out;
    deflateEnd(&stream);
    return packed;
}

/* How a member of a zip is written. */
enum { ZIP_STORED = 1, ZIP_DESCRIPTOR = 2, ZIP_WIDE = 4, ZIP_UNMARKED = 8 };

struct packed_zip {
    struct packed_bytes bytes, table;
    uint64_t members;
};

static inline void packed_zip_add(struct packed_zip *zip, const void *bytes, size_t count, unsigned how) {
    struct packed_bytes packed = {0};
    uint32_t crc = (uint32_t)crc32(crc32(0, NULL, 0), bytes, (uInt)count);
    uint64_t at = zip->bytes.count;
    if (how & ZIP_STORED) how &= ~(unsigned)ZIP_DESCRIPTOR, packed_put(&packed, bytes, count);
    else packed = packed_deflate(bytes, count, -15);
    int later = (how & ZIP_DESCRIPTOR) != 0, wide = (how & ZIP_WIDE) != 0;
    uint64_t sizes[2] = {count, packed.count};
    for (int table = 0; table < 2; table++) {
        struct packed_bytes *to = table ? &zip->table : &zip->bytes;
        packed_number(to, table ? 0x02014b50 : 0x04034b50, 4);
        if (table) packed_number(to, 45, 2);
        packed_number(to, wide ? 45 : 20, 2);
        packed_number(to, later ? 8 : 0, 2);
        packed_number(to, how & ZIP_STORED ? 0 : 8, 2);
        packed_number(to, 0, 4);
        packed_number(to, later && !table ? 0 : crc, 4);
        packed_number(to, wide ? UINT32_MAX : later && !table ? 0 : packed.count, 4);
        packed_number(to, wide ? UINT32_MAX : later && !table ? 0 : count, 4);
        packed_number(to, 5, 2);
        packed_number(to, wide ? 26 : 0, 2);
        if (table) packed_number(to, 0, 8), packed_number(to, 0, 2), packed_number(to, at, 4);
        packed_put(to, "chunk", 5);
        if (!wide) continue;
        packed_number(to, 0x5455, 2), packed_number(to, 2, 2), packed_number(to, 0, 2); /* another field first */
        packed_number(to, 1, 2);
        packed_number(to, 16, 2);
        for (int i = 0; i < 2; i++) packed_number(to, later && !table ? 0 : sizes[i], 8);
    }
    packed_put(&zip->bytes, packed.data, packed.count);
    free(packed.data);
    zip->members++;
    if (!later) return;
    if (!(how & ZIP_UNMARKED)) packed_number(&zip->bytes, 0x08074b50, 4);
    packed_number(&zip->bytes, crc, 4);
    packed_number(&zip->bytes, sizes[1], wide ? 8 : 4);
    packed_number(&zip->bytes, sizes[0], wide ? 8 : 4);
}

/* Writes the table of contents and the end; zip->bytes is the archive. */
static inline void packed_zip_end(struct packed_zip *zip, int wide) {
    struct packed_bytes *to = &zip->bytes;
    uint64_t at = to->count, table = zip->table.count;
    packed_put(to, zip->table.data, table);
    if (wide) {
        uint64_t end = to->count;
        packed_number(to, 0x06064b50, 4), packed_number(to, 44, 8), packed_number(to, 45, 2), packed_number(to, 45, 2);
        packed_number(to, 0, 8);
        packed_number(to, zip->members, 8), packed_number(to, zip->members, 8);
        packed_number(to, table, 8), packed_number(to, at, 8);
        packed_number(to, 0x07064b50, 4), packed_number(to, 0, 4), packed_number(to, end, 8), packed_number(to, 1, 4);
    }
    packed_number(to, 0x06054b50, 4), packed_number(to, 0, 4);
    packed_number(to, wide ? UINT16_MAX : zip->members, 2), packed_number(to, wide ? UINT16_MAX : zip->members, 2);
    packed_number(to, table, 4), packed_number(to, at, 4), packed_number(to, 7, 2), packed_put(to, "comment", 7);
    free(zip->table.data);
    zip->table = (struct packed_bytes){0};
}

/* A zip of the bytes cut into members; `choices` decides where and how. */
static inline struct packed_bytes packed_zip_of(const struct packed_bytes *all, uint64_t choices) {
    struct packed_zip zip = {0};
    for (size_t done = 0, turn = 0; done < all->count || !turn; turn++) {
        size_t left = all->count - done, part = turn % 5 == 4 ? 0 : all->count / (1 + choices % 7) + 1;
        if (part > left) part = left;
        packed_zip_add(&zip, all->data + done, part, (unsigned)(choices >> (3 * turn % 48)) & 15);
        done += part;
    }
    packed_zip_end(&zip, choices >> 60 & 1);
    return zip.bytes;
}

static inline struct packed_bytes packed_as(const struct packed_bytes *all, enum packed_how how, uint64_t choices) {
    if (how == PACKED_GZIP) return packed_deflate(all->data, all->count, 15 + 16);
    if (how == PACKED_ZIP) return packed_zip_of(all, choices);
    struct packed_bytes packed = {.room = 2 * all->count + 4096};
    packed.data = malloc(packed.room);
    assert_non_null(packed.data);
    if (how == PACKED_ZSTD) {
        packed.count = ZSTD_compress(packed.data, packed.room, all->data, all->count, 1);
        assert_false(ZSTD_isError(packed.count));
    } else {
        assert_int_equal(lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, NULL, all->data, all->count, packed.data,
                                                 &packed.count, packed.room),
                         LZMA_OK);
    }
    return packed;
}

#endif
