/*
 * input.c - the decompressed bytes of a trace file or pipe.
 *
 * Two buffers: `stored` holds the file as it is on disk, `ahead` holds
 * decompressed bytes that a peek or a small read left over. Large reads bypass
 * `ahead`, and for an uncompressed file they bypass both: read() writes straight to
 * the reader's buffer.
 *
 * An error is final: it is kept and every later call returns it again, so that
 * a cut file can never be mistaken for a complete one.
 */
#include "trace/formats/input.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "trace/formats/decompress.h"

#define AHEAD_BYTES RSC_STORED_BYTES
_Static_assert(AHEAD_BYTES >= RSC_INPUT_PEEK_MAX, "a peek fits the buffer");

struct rsc_input {
    struct rsc_stored stored;
    char *name;
    int owns_fd;
    int regular;
    uint64_t file_bytes;
    uint64_t origin; /* file position at opening: standard input may be partly read */
    const struct rsc_decoder *decoder;
    void *decoder_state;
    unsigned char *ahead; /* [ahead_start, ahead_end): decompressed, not yet taken */
    size_t ahead_start, ahead_end;
    uint64_t offset; /* decompressed bytes taken */
    struct rsc_error failure; /* code 0: none yet */
};

static int open_file(struct rsc_input *input, const char *path, struct rsc_error *error) {
    struct stat status;
    int standard = !strcmp(path, "-");
    input->name = strdup(standard ? "standard input" : path);
    if (!input->name) return rsc_fail_memory(error, "input name");
    input->stored.name = input->name;
    do {
        input->stored.fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    } while (input->stored.fd < 0 && errno == EINTR);
    if (input->stored.fd < 0) return rsc_fail_errno(error, errno, input->name);
    input->owns_fd = !standard;
    rsc_input_opened(input->stored.fd);

    if (fstat(input->stored.fd, &status) != 0) return rsc_fail_errno(error, errno, input->name);
    if (S_ISDIR(status.st_mode)) return rsc_fail_errno(error, EISDIR, input->name);
    off_t origin = S_ISREG(status.st_mode) ? lseek(input->stored.fd, 0, SEEK_CUR) : -1;
    input->regular = origin >= 0;
    input->origin = input->regular ? (uint64_t)origin : 0;
    input->file_bytes = UINT64_MAX;
    if (input->regular) {
        uint64_t size = (uint64_t)status.st_size;
        input->file_bytes = size > input->origin ? size - input->origin : 0;
        posix_fadvise(input->stored.fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
    return 0;
}

int rsc_input_open(struct rsc_input **out, const char *path, struct rsc_error *error) {
    *out = NULL;
    struct rsc_input *input = calloc(1, sizeof *input);
    if (!input) return rsc_fail_memory(error, "input");
    input->stored.fd = -1;
    int status = open_file(input, path, error);
    if (status < 0) goto fail;
    input->stored.bytes = malloc(RSC_STORED_BYTES);
    input->ahead = malloc(AHEAD_BYTES);
    if (!input->stored.bytes || !input->ahead) {
        status = rsc_fail_memory(error, "input buffers");
        goto fail;
    }
    int64_t have = rsc_stored_fill(&input->stored, RSC_MAGIC_BYTES, error);
    if (have > 0 && rsc_is_skippable(input->stored.bytes, (size_t)have))
        have = rsc_stored_fill(&input->stored, RSC_STORED_BYTES, error); /* what comes behind says which it is */
    if (have < 0) {
        status = (int)have;
        goto fail;
    }
    const struct rsc_decoder *decoder = rsc_decoder_for(input->stored.bytes, (size_t)have);
    status = decoder->open(&input->decoder_state, error);
    if (status < 0) goto fail;
    input->decoder = decoder;
    *out = input;
    return 0;
fail:
    rsc_input_close(input);
    return status;
}

int rsc_input_open_folder(struct rsc_input **out, const char *path, struct rsc_error *error) {
    struct stat status;
    if (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) return 0;
    struct rsc_input *input = calloc(1, sizeof *input);
    if (input) input->name = strdup(path);
    if (!input || !input->name) {
        free(input);
        return rsc_fail_memory(error, "input");
    }
    input->stored.fd = -1;
    input->file_bytes = UINT64_MAX;
    input->decoder = rsc_decoder_for(NULL, 0);
    *out = input;
    return 1;
}

void rsc_input_close(struct rsc_input *input) {
    if (!input) return;
    if (input->decoder) input->decoder->close(input->decoder_state);
    if (input->owns_fd) close(input->stored.fd);
    free(input->stored.bytes);
    free(input->ahead);
    free(input->name);
    free(input);
}

/* Up to `bytes` more decompressed bytes: at least one unless the input ends. */
static int64_t decode(struct rsc_input *input, void *to, size_t bytes, struct rsc_error *error) {
    int64_t got = input->failure.code;
    if (got == 0) {
        got = input->decoder->read(input->decoder_state, &input->stored, to, bytes, &input->failure);
        if (got >= 0) return got;
    }
    if (error) *error = input->failure;
    return got;
}

int64_t rsc_input_peek(struct rsc_input *input, size_t wanted, const unsigned char **data, struct rsc_error *error) {
    size_t have = input->ahead_end - input->ahead_start;
    if (wanted > RSC_INPUT_PEEK_MAX) return rsc_fail(error, RSC_EINVAL, "%s: peek of %zu bytes", input->name, wanted);
    if (have < wanted && input->ahead_start > 0) {
        memmove(input->ahead, input->ahead + input->ahead_start, have);
        input->ahead_start = 0;
        input->ahead_end = have;
    }
    while (input->ahead_end - input->ahead_start < wanted) {
        int64_t got = decode(input, input->ahead + input->ahead_end, AHEAD_BYTES - input->ahead_end, error);
        if (got < 0) return got;
        if (got == 0) break;
        input->ahead_end += (size_t)got;
    }
    *data = input->ahead + input->ahead_start;
    return (int64_t)(input->ahead_end - input->ahead_start);
}

int64_t rsc_input_read(struct rsc_input *input, void *to, size_t bytes, struct rsc_error *error) {
    size_t done = 0;
    while (done < bytes) {
        size_t have = input->ahead_end - input->ahead_start, left = bytes - done;
        unsigned char *place = (unsigned char *)to + done;
        if (have > 0) {
            size_t part = have < left ? have : left;
            memcpy(place, input->ahead + input->ahead_start, part);
            input->ahead_start += part;
            done += part;
            continue;
        }
        int direct = left >= AHEAD_BYTES / 4;
        int64_t got = decode(input, direct ? place : input->ahead, direct ? left : AHEAD_BYTES, error);
        if (got < 0) return got;
        if (got == 0) break;
        if (direct) {
            done += (size_t)got;
        } else {
            input->ahead_start = 0;
            input->ahead_end = (size_t)got;
        }
    }
    input->offset += done;
    return (int64_t)done;
}

uint64_t rsc_input_offset(const struct rsc_input *input) { return input->offset; }

const char *rsc_input_compression(const struct rsc_input *input) { return input->decoder->name; }

const char *rsc_input_name(const struct rsc_input *input) { return input->name; }

uint64_t rsc_input_file_bytes(const struct rsc_input *input) { return input->file_bytes; }

int rsc_input_seekable(const struct rsc_input *input) {
    return input->regular && !strcmp(input->decoder->name, "none");
}

int rsc_input_seek(struct rsc_input *input, uint64_t offset, struct rsc_error *error) {
    if (!rsc_input_seekable(input))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: only uncompressed regular files can be read out of order",
                        input->name);
    uint64_t target;
    if (__builtin_add_overflow(input->origin, offset, &target) || target > INT64_MAX)
        return rsc_fail_at(error, RSC_EINVAL, offset, "%s: byte offset %llu is out of range", input->name,
                           (unsigned long long)offset);
    if (lseek(input->stored.fd, (off_t)target, SEEK_SET) < 0) return rsc_fail_errno(error, errno, input->name);
    input->ahead_start = input->ahead_end = 0;
    input->stored.start = input->stored.end = 0;
    input->stored.offset = input->offset = offset;
    return 0;
}

int64_t rsc_input_read_at(const struct rsc_input *input, void *to, size_t bytes, uint64_t offset,
                          struct rsc_error *error) {
    size_t done = 0;
    while (done < bytes) {
        ssize_t got = pread(input->stored.fd, (char *)to + done, bytes - done, (off_t)(input->origin + offset + done));
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return rsc_fail_errno(error, errno, input->name);
        if (got == 0) break;
        done += (size_t)got;
    }
    return (int64_t)done;
}
