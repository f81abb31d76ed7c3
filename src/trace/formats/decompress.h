/*
 * decompress.h - the stored bytes of a file, and the decoders that undo gzip,
 * xz, zstd and zip while they stream past.
 *
 * Only input.c uses this: everything else sees decompressed bytes.
 */
#ifndef RSC_TRACE_FORMATS_DECOMPRESS_H
#define RSC_TRACE_FORMATS_DECOMPRESS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* Bytes asked of the operating system at a time: past this, read() costs nothing per call. */
#define RSC_STORED_BYTES (256u << 10)

/* A file as stored. Bytes [start, end) of the buffer are read and not yet taken. */
struct rsc_stored {
    int fd;
    const char *name; /* for messages; not owned */
    unsigned char *bytes;
    size_t start, end;
    uint64_t offset; /* of bytes[start] in the file */
};

/* Makes sure that at least `wanted` bytes are in the buffer. Returns how many are: fewer only at the end. */
int64_t rsc_stored_fill(struct rsc_stored *stored, size_t wanted, struct rsc_error *error);

/* Marks the first `bytes` of the buffer as taken. */
void rsc_stored_take(struct rsc_stored *stored, size_t bytes);

struct rsc_decoder {
    const char *name; /* "none", "gzip", "xz", "zstd", "zip" */
    int (*open)(void **state, struct rsc_error *error);
    /* 1..bytes decompressed bytes to `to`, 0 at a proper end, or negative; not called again after that. */
    int64_t (*read)(void *state, struct rsc_stored *stored, void *to, size_t bytes, struct rsc_error *error);
    void (*close)(void *state);
};

/* The members of a zip archive, one after the other; unzip.c. */
extern const struct rsc_decoder rsc_zip_decoder;

/* The most that rsc_decoder_for() looks at. */
#define RSC_MAGIC_BYTES 6

/* The decoder for a file that starts like this; never NULL: plain bytes have one too. */
const struct rsc_decoder *rsc_decoder_for(const unsigned char *head, size_t bytes);

#endif
