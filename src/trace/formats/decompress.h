/*
 * decompress.h - the stored bytes of a file, and the streaming decoders for gzip,
 * xz, zstd, zip, lz4 and snappy.
 *
 * Only input.c uses this: everything else sees decompressed bytes.
 */
#ifndef RSC_TRACE_FORMATS_DECOMPRESS_H
#define RSC_TRACE_FORMATS_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* Bytes per read(): at this size the cost of the call is negligible. */
#define RSC_STORED_BYTES (256u << 10)

/* A file as stored. Bytes [start, end) of the buffer are read and not yet taken. */
struct rsc_stored {
    int fd;
    const char *name; /* for messages; not owned */
    unsigned char *bytes;
    size_t start, end;
    uint64_t offset; /* of bytes[start] in the file */
};

/* Fills the buffer to at least `wanted` bytes. Returns how many it holds: fewer only at the end. */
int64_t rsc_stored_fill(struct rsc_stored *stored, size_t wanted, struct rsc_error *error);

/* Reads exactly `bytes`; fewer is an error: `what` data is cut. Returns 0 or negative. */
int rsc_stored_read(struct rsc_stored *stored, const char *what, void *to, size_t bytes, struct rsc_error *error);

/* Error: `what` data is damaged here. */
int rsc_stored_damaged(const struct rsc_stored *stored, const char *what, const char *why, struct rsc_error *error);

/* Marks the first `bytes` of the buffer as taken. */
void rsc_stored_take(struct rsc_stored *stored, size_t bytes);

struct rsc_decoder {
    const char *name; /* "none", "gzip", "xz", "zstd", "zip", "lz4", "snappy" */
    int (*open)(void **state, struct rsc_error *error);
    /* 1..bytes decompressed bytes to `to`, 0 at a proper end, or negative; not called again after that. */
    int64_t (*read)(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error);
    void (*close)(void *state);
};

/* The members of a zip archive, one after the other (unzip.c); LZ4 frames; Snappy's framing format. */
extern const struct rsc_decoder rsc_zip_decoder, rsc_lz4_decoder, rsc_snappy_decoder;

/* The bytes that rsc_decoder_for() needs; of a file that begins with a skippable frame, as many as there are. */
#define RSC_MAGIC_BYTES 6

/* Whether a frame of somebody else's bytes begins here: zstd and lz4 have the same. */
int rsc_is_skippable(const unsigned char *head, size_t bytes);

/* The decoder for a file that starts like this; never NULL: plain bytes have one too. */
const struct rsc_decoder *rsc_decoder_for(const unsigned char *head, size_t bytes);

#endif
