/*
 * input.h - the bytes of a trace file or pipe, decompressed on the way.
 *
 * gzip, xz, zstd and zip are recognised by their magic numbers and decompressed while
 * streaming (members are concatenated); nothing is unpacked to disk and memory does
 * not grow with the file. "-" is standard input.
 */
#ifndef RSC_TRACE_FORMATS_INPUT_H
#define RSC_TRACE_FORMATS_INPUT_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

struct rsc_input;

int rsc_input_open(struct rsc_input **out, const char *path, struct rsc_error *error);
/* An input without bytes that has the name of a folder. Returns 1, 0 if the path is not a folder, or negative. */
int rsc_input_open_folder(struct rsc_input **out, const char *path, struct rsc_error *error);
void rsc_input_close(struct rsc_input *input);

/*
 * Peeks at the next bytes without consuming them: at least `wanted` unless the
 * input ends sooner. `wanted` is at most RSC_INPUT_PEEK_MAX. Sets *data and returns
 * the number of bytes (0 at the end), or a negative code.
 */
#define RSC_INPUT_PEEK_MAX 65536
int64_t rsc_input_peek(struct rsc_input *input, size_t wanted, const unsigned char **data, struct rsc_error *error);

/* Reads up to `bytes`; fewer only at the end. Returns how many, or negative. */
int64_t rsc_input_read(struct rsc_input *input, void *to, size_t bytes, struct rsc_error *error);

/* Offset, in decompressed bytes, of the next byte to read. */
uint64_t rsc_input_offset(const struct rsc_input *input);

/* "none", "gzip", "xz", "zstd", "zip", "lz4" or "snappy". */
const char *rsc_input_compression(const struct rsc_input *input);

/* The name for messages ("standard input" for "-"). */
const char *rsc_input_name(const struct rsc_input *input);

/* Bytes of the file as stored, or UINT64_MAX for a pipe. */
uint64_t rsc_input_file_bytes(const struct rsc_input *input);

/*
 * Reads up to `bytes` at `offset`, fewer only at the end of the file, without moving the position; any number of threads
 * may do so at a time. Only where rsc_input_seekable().
 */
int64_t rsc_input_read_at(const struct rsc_input *input, void *to, size_t bytes, uint64_t offset,
                          struct rsc_error *error);

/* Seeking: only uncompressed regular files (else RSC_EUNSUPPORTED). */
int rsc_input_seekable(const struct rsc_input *input);
int rsc_input_seek(struct rsc_input *input, uint64_t offset, struct rsc_error *error);

#endif
