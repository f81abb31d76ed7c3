/*
 * decompress.c - reads a file's stored bytes and decompresses gzip, xz and zstd
 * streams (unzip.c, unlz4.c and unsnappy.c have the others).
 *
 * Each decoder moves bytes from the stored buffer into the caller's and knows
 * whether it is between two members (the file may end there) or inside one (then
 * the file is cut). A member must be followed by another member or the end of the
 * file: other bytes are an error. Memory is bounded for any input: 1 GiB for xz,
 * the largest window the zstd tool can write (2 GiB) for zstd; only the part that
 * the data fills is touched.
 */
#include "trace/formats/decompress.h"

#include <errno.h>
#include <inttypes.h>
#include <lzma.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/fail.h"

#define XZ_MEMORY_BYTES (1ull << 30)
#define ZSTD_WINDOW_LOG 31

/* ---- stored bytes ---- */

/*
 * One read() into `to`: returns 1..bytes, 0 at the end of the file, or negative.
 * Interrupted calls are repeated; on non-blocking files it waits.
 */
static int64_t stored_read(struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    for (;;) {
        ssize_t got = read(stored->fd, to, bytes);
        if (got >= 0) return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK) {
            struct pollfd ready = {.fd = stored->fd, .events = POLLIN};
            poll(&ready, 1, -1);
        } else if (errno != EINTR) {
            return rsc_fail_errno(error, errno, stored->name);
        }
    }
}

int64_t rsc_stored_fill(struct rsc_stored *stored, size_t wanted, struct rsc_error *error) {
    if (stored->end - stored->start < wanted && stored->start > 0) {
        memmove(stored->bytes, stored->bytes + stored->start, stored->end - stored->start);
        stored->end -= stored->start;
        stored->start = 0;
    }
    while (stored->end - stored->start < wanted) {
        int64_t got = stored_read(stored, stored->bytes + stored->end, RSC_STORED_BYTES - stored->end, error);
        if (got < 0) return got;
        if (got == 0) break;
        stored->end += (size_t)got;
    }
    return (int64_t)(stored->end - stored->start);
}

void rsc_stored_take(struct rsc_stored *stored, size_t bytes) {
    stored->start += bytes;
    stored->offset += bytes;
}

/* ---- errors ---- */

static int fail_cut(const struct rsc_stored *stored, const char *what, struct rsc_error *error) {
    return rsc_fail_at(error, RSC_EFORMAT, stored->offset, "%s: %s data is cut at byte %" PRIu64 " of the file",
                       stored->name, what, stored->offset);
}

int rsc_stored_damaged(const struct rsc_stored *stored, const char *what, const char *why, struct rsc_error *error) {
    return rsc_fail_at(error, RSC_EFORMAT, stored->offset,
                       "%s: %s data is damaged near byte %" PRIu64 " of the file (%s)", stored->name, what,
                       stored->offset, why);
}

int rsc_stored_read(struct rsc_stored *stored, const char *what, void *to, size_t bytes, struct rsc_error *error) {
    while (bytes) {
        int64_t have = rsc_stored_fill(stored, 1, error);
        if (have < 0) return (int)have;
        if (have == 0) return fail_cut(stored, what, error);
        size_t part = (size_t)have < bytes ? (size_t)have : bytes;
        memcpy(to, stored->bytes + stored->start, part);
        rsc_stored_take(stored, part);
        to = (char *)to + part;
        bytes -= part;
    }
    return 0;
}

/* ---- no compression ---- */

static int plain_open(void **state, struct rsc_error *error) {
    (void)error;
    *state = NULL;
    return 0;
}

static int64_t plain_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    (void)state;
    size_t have = stored->end - stored->start;
    if (have == 0) {
        int64_t got = stored_read(stored, to, bytes, error);
        if (got > 0) stored->offset += (uint64_t)got;
        return got;
    }
    if (bytes > have) bytes = have;
    memcpy(to, stored->bytes + stored->start, bytes);
    rsc_stored_take(stored, bytes);
    return (int64_t)bytes;
}

static void plain_close(void *state) { (void)state; }

/* ---- gzip ---- */

struct gzip {
    z_stream stream;
    int between; /* members: the file may end here */
};

static int gzip_open(void **state, struct rsc_error *error) {
    struct gzip *gzip = calloc(1, sizeof *gzip);
    if (!gzip || inflateInit2(&gzip->stream, 15 + 16) != Z_OK) {
        free(gzip);
        return rsc_fail_memory(error, "gzip decoder");
    }
    gzip->between = 1;
    *state = gzip;
    return 0;
}

static void gzip_close(void *state) {
    struct gzip *gzip = state;
    inflateEnd(&gzip->stream);
    free(gzip);
}

/* Drops zero bytes after a member: tapes and block devices pad with them, and gzip itself allows it. */
static int64_t skip_padding(struct rsc_stored *stored, struct rsc_error *error) {
    for (;;) {
        int64_t have = rsc_stored_fill(stored, 1, error);
        if (have <= 0) return have;
        while (stored->start < stored->end && stored->bytes[stored->start] == 0) rsc_stored_take(stored, 1);
        if (stored->start < stored->end) return 1;
    }
}

static int64_t gzip_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    struct gzip *gzip = state;
    z_stream *stream = &gzip->stream;
    if (bytes > RSC_STORED_BYTES) bytes = RSC_STORED_BYTES;
    stream->next_out = to;
    stream->avail_out = (uInt)bytes;
    while (stream->avail_out == bytes) {
        int64_t have =
            gzip->between && stored->offset > 0 ? skip_padding(stored, error) : rsc_stored_fill(stored, 1, error);
        if (have < 0) return have;
        if (have == 0) return gzip->between ? 0 : fail_cut(stored, "gzip", error);
        stream->next_in = stored->bytes + stored->start;
        stream->avail_in = (uInt)(stored->end - stored->start);
        gzip->between = 0;
        int status = inflate(stream, Z_NO_FLUSH);
        rsc_stored_take(stored, stored->end - stored->start - stream->avail_in);
        if (status == Z_STREAM_END) {
            inflateReset(stream);
            gzip->between = 1;
        } else if (status == Z_MEM_ERROR) {
            return rsc_fail_memory(error, "gzip decoder");
        } else if (status != Z_OK && status != Z_BUF_ERROR) {
            return rsc_stored_damaged(stored, "gzip", stream->msg ? stream->msg : "not deflate data", error);
        }
    }
    return (int64_t)(bytes - stream->avail_out);
}

/* ---- xz ---- */

static int xz_open(void **state, struct rsc_error *error) {
    lzma_stream *stream = calloc(1, sizeof *stream);
    if (!stream || lzma_stream_decoder(stream, XZ_MEMORY_BYTES, LZMA_CONCATENATED) != LZMA_OK) {
        free(stream);
        return rsc_fail_memory(error, "xz decoder");
    }
    *state = stream;
    return 0;
}

static void xz_close(void *state) {
    lzma_end(state);
    free(state);
}

static int fail_xz(lzma_ret status, const lzma_stream *stream, const struct rsc_stored *stored,
                   struct rsc_error *error) {
    switch (status) {
    case LZMA_MEM_ERROR: return rsc_fail_memory(error, "xz decoder");
    case LZMA_MEMLIMIT_ERROR:
        return rsc_fail_at(error, RSC_ELIMIT, stored->offset,
                           "%s: xz data at byte %" PRIu64 " needs %" PRIu64 " MiB to decompress, the limit is %llu",
                           stored->name, stored->offset, lzma_memusage(stream) >> 20, XZ_MEMORY_BYTES >> 20);
    case LZMA_BUF_ERROR: return fail_cut(stored, "xz", error);
    case LZMA_FORMAT_ERROR: return rsc_stored_damaged(stored, "xz", "no xz header", error);
    case LZMA_OPTIONS_ERROR:
        return rsc_stored_damaged(stored, "xz", "filters or options that this liblzma does not support", error);
    default: return rsc_stored_damaged(stored, "xz", "integrity check or structure", error);
    }
}

static int64_t xz_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    lzma_stream *stream = state;
    stream->next_out = to;
    stream->avail_out = bytes;
    while (stream->avail_out == bytes) {
        int64_t have = rsc_stored_fill(stored, 1, error);
        if (have < 0) return have;
        stream->next_in = stored->bytes + stored->start;
        stream->avail_in = (size_t)have;
        lzma_ret status = lzma_code(stream, have ? LZMA_RUN : LZMA_FINISH);
        rsc_stored_take(stored, (size_t)have - stream->avail_in);
        if (status == LZMA_STREAM_END) break;
        if (status != LZMA_OK) return fail_xz(status, stream, stored, error);
    }
    return (int64_t)(bytes - stream->avail_out);
}

/* ---- zstd ---- */

struct zstd {
    ZSTD_DStream *stream;
    int between; /* frames: the file may end here */
};

static int zstd_open(void **state, struct rsc_error *error) {
    struct zstd *zstd = calloc(1, sizeof *zstd);
    if (zstd) zstd->stream = ZSTD_createDStream();
    if (!zstd || !zstd->stream) {
        free(zstd);
        return rsc_fail_memory(error, "zstd decoder");
    }
    ZSTD_DCtx_setParameter(zstd->stream, ZSTD_d_windowLogMax, ZSTD_WINDOW_LOG);
    zstd->between = 1;
    *state = zstd;
    return 0;
}

static void zstd_close(void *state) {
    struct zstd *zstd = state;
    ZSTD_freeDStream(zstd->stream);
    free(zstd);
}

static int64_t zstd_read(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error) {
    struct zstd *zstd = state;
    ZSTD_outBuffer out = {to, bytes, 0};
    while (out.pos == 0) {
        int64_t have = rsc_stored_fill(stored, 1, error);
        if (have < 0) return have;
        if (have == 0 && zstd->between) return 0;
        /* with no input left, the decoder's buffered output comes first; then the data is cut */
        ZSTD_inBuffer in = {stored->bytes + stored->start, (size_t)have, 0};
        size_t status = ZSTD_decompressStream(zstd->stream, &out, &in);
        rsc_stored_take(stored, in.pos);
        if (ZSTD_isError(status)) {
            if (have == 0) return fail_cut(stored, "zstd", error);
            return rsc_stored_damaged(stored, "zstd", ZSTD_getErrorName(status), error);
        }
        zstd->between = status == 0;
        if (have == 0 && out.pos == 0 && !zstd->between) return fail_cut(stored, "zstd", error);
    }
    return (int64_t)out.pos;
}

/* ---- which one ---- */

#define LZ4_MAGIC "\x04\x22\x4d\x18"

static const struct rsc_decoder plain = {"none", plain_open, plain_read, plain_close};
static const struct rsc_decoder gzip = {"gzip", gzip_open, gzip_read, gzip_close};
static const struct rsc_decoder xz = {"xz", xz_open, xz_read, xz_close};
static const struct rsc_decoder zstd = {"zstd", zstd_open, zstd_read, zstd_close};

int rsc_is_skippable(const unsigned char *head, size_t bytes) {
    return bytes >= 4 && (head[0] & 0xf0) == 0x50 && !memcmp(head + 1, "\x2a\x4d\x18", 3);
}

/* The decoder of the first frame that is not to be skipped; zstd, as pzstd and seekable files start so, if it is not here. */
static const struct rsc_decoder *decoder_behind(const unsigned char *head, size_t bytes) {
    while (bytes >= 8 && rsc_is_skippable(head, bytes)) {
        uint64_t length = 8 + (head[4] | (uint64_t)head[5] << 8 | (uint64_t)head[6] << 16 | (uint64_t)head[7] << 24);
        if (length > bytes) return &zstd;
        head += length;
        bytes -= length;
    }
    return bytes >= 4 && !memcmp(head, LZ4_MAGIC, 4) ? &rsc_lz4_decoder : &zstd;
}

const struct rsc_decoder *rsc_decoder_for(const unsigned char *head, size_t bytes) {
    /* gzip: includes its only method, deflate, so that an address that ends in 8b1f does not match */
    if (bytes >= 3 && !memcmp(head, "\x1f\x8b\x08", 3)) return &gzip;
    if (bytes >= 6 && !memcmp(head,
                              "\xfd"
                              "7zXZ\0",
                              6))
        return &xz;
    if (bytes >= 4 && !memcmp(head, "\x28\xb5\x2f\xfd", 4)) return &zstd;
    if (bytes >= 4 && !memcmp(head, LZ4_MAGIC, 4)) return &rsc_lz4_decoder;
    if (bytes >= 6 && !memcmp(head, "\xff\6\0\0sN", 6)) return &rsc_snappy_decoder;
    if (rsc_is_skippable(head, bytes)) return decoder_behind(head, bytes);
    /* zip: a first member, or the end of an archive that has none */
    if (bytes >= 4 && (!memcmp(head, "PK\3\4", 4) || !memcmp(head, "PK\5\6", 4))) return &rsc_zip_decoder;
    return &plain;
}
