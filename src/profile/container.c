/*
 * container.c - reads and writes profile files: the compact container of
 * `reusescope.data`, and plain JSON on reading.
 *
 * A container is a 40-byte header and the zstd-compressed JSON text of the
 * profiles (docs/design/profile-container.md). A checksum covers the header and the
 * stored bytes, so any flipped bit is detected before decompression; sizes are
 * checked against limits before anything is allocated.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <xxhash.h>
#include <zstd.h>

#include "base/fail.h"
#include "base/inputs.h"
#include "base/output_file.h"
#include "profile/profile_model.h"

#define MAGIC "RSCPROF\n"
#define VERSION 1
#define FILE_MAX_BYTES (1ull << 30) /* of a file read, and of the JSON text in it */
#define LEVEL 6                     /* zstd's: a profile is a few MB at most, and this keeps its file small */

/* As in the file: little-endian, no padding. */
struct header {
    char magic[8];
    uint32_t version;
    uint32_t flags; /* 0; a reader rejects unknown flags */
    uint64_t raw_bytes;
    uint64_t stored_bytes;
    uint64_t checksum; /* XXH3-64 of the stored bytes, seeded with that of the 32 bytes above */
};
_Static_assert(sizeof(struct header) == 40, "the header is written as it lies in memory");

/* The hash of the header seeds the hash of the stored bytes, so one number covers both. */
static uint64_t checksum_of(const struct header *header, const void *stored, size_t bytes) {
    return XXH3_64bits_withSeed(stored, bytes, XXH3_64bits(header, offsetof(struct header, checksum)));
}

static int pack(const char *text, size_t bytes, char **file, size_t *file_bytes, struct rsc_error *error) {
    size_t room = ZSTD_compressBound(bytes);
    char *out = malloc(sizeof(struct header) + room);
    if (!out) return rsc_fail_memory(error, "compressed profile");
    size_t stored = ZSTD_compress(out + sizeof(struct header), room, text, bytes, LEVEL);
    if (ZSTD_isError(stored)) {
        free(out);
        return rsc_fail(error, RSC_ENOMEM, "compressing the profile: %s", ZSTD_getErrorName(stored));
    }
    struct header header = {.version = VERSION, .raw_bytes = bytes, .stored_bytes = stored};
    memcpy(header.magic, MAGIC, sizeof header.magic);
    header.checksum = checksum_of(&header, out + sizeof header, stored);
    memcpy(out, &header, sizeof header);
    *file = out;
    *file_bytes = sizeof header + stored;
    return 0;
}

int rsc_profiles_save(struct rsc_profile *const *profiles, size_t count, const char *path, int keep_old,
                      struct rsc_error *error) {
    char *text = NULL, *file = NULL;
    size_t text_bytes = 0, file_bytes = 0;
    int rc = rsc_profiles_json_text(profiles, count, &text, &text_bytes, error);
    if (rc) return rc;
    if (text_bytes > FILE_MAX_BYTES) rc = rsc_fail(error, RSC_ELIMIT, "%s: the profile is larger than 1 GiB", path);
    else rc = pack(text, text_bytes, &file, &file_bytes, error);
    if (!rc) rc = rsc_output_whole(path, file, file_bytes, keep_old, error);
    free(text);
    free(file);
    return rc;
}

int rsc_profile_save(const struct rsc_profile *profile, const char *path, struct rsc_error *error) {
    struct rsc_profile *one = (struct rsc_profile *)profile; /* for the array's type; it is not modified */
    return rsc_profiles_save(&one, 1, path, 0, error);
}

/* Does text start like a JSON object? */
static int looks_like_json(const char *data, size_t bytes) {
    size_t at = 0;
    while (at < bytes && memchr(" \t\r\n", data[at], 4)) at++;
    return at < bytes && data[at] == '{';
}

/* A device without an end must not fill the memory first. */
static int could_be_profile(const char *data, size_t bytes) {
    return data[0] == MAGIC[0] || memchr(" \t\r\n{", data[0], 5) || bytes < sizeof MAGIC;
}

/* Reads fd to its end, if it can be a profile. The caller frees *data, even after a failure. */
static int read_all(int fd, const char *name, char **data, size_t *bytes, struct rsc_error *error) {
    size_t room = 64 << 10;
    struct stat status;
    if (fstat(fd, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > 0 &&
        (uint64_t)status.st_size < FILE_MAX_BYTES)
        room = (size_t)status.st_size + 1;
    *bytes = 0;
    *data = malloc(room);
    while (*data) {
        ssize_t got = read(fd, *data + *bytes, room - *bytes);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return rsc_fail_errno(error, errno, name);
        if (got == 0) return 0;
        *bytes += (size_t)got;
        if (!could_be_profile(*data, *bytes)) return 0; /* what it is not needs no more of it */
        if (*bytes > FILE_MAX_BYTES) return rsc_fail(error, RSC_ELIMIT, "%s: larger than 1 GiB", name);
        if (*bytes < room) continue;
        char *more = realloc(*data, room *= 2);
        if (!more) break;
        *data = more;
    }
    return rsc_fail_memory(error, name);
}

static int read_file(const char *path, const char *name, char **data, size_t *bytes, struct rsc_error *error) {
    *data = NULL;
    int standard = !strcmp(path, "-"), fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) return rsc_fail_errno(error, errno, name);
    rsc_input_opened(fd);
    int rc = read_all(fd, name, data, bytes, error);
    if (!standard) close(fd);
    return rc;
}

static int check_header(const struct header *header, const char *stored, size_t stored_bytes, const char *name,
                        struct rsc_error *error) {
    if (header->version > VERSION)
        return rsc_fail_at(error, RSC_EVERSION, 8, "%s: container version %" PRIu32 " is newer than this tool", name,
                           header->version);
    if (header->version != VERSION)
        return rsc_fail_at(error, RSC_EFORMAT, 8, "%s: byte 8: invalid container version %" PRIu32, name,
                           header->version);
    if (header->stored_bytes > stored_bytes)
        return rsc_fail_at(error, RSC_EFORMAT, sizeof *header + stored_bytes,
                           "%s: cut at byte %zu: %" PRIu64 " bytes are missing", name, sizeof *header + stored_bytes,
                           header->stored_bytes - stored_bytes);
    if (header->stored_bytes < stored_bytes)
        return rsc_fail_at(error, RSC_EFORMAT, sizeof *header + header->stored_bytes,
                           "%s: %" PRIu64 " extra bytes at the end", name, stored_bytes - header->stored_bytes);
    if (checksum_of(header, stored, stored_bytes) != header->checksum)
        return rsc_fail_at(error, RSC_EFORMAT, 32, "%s: checksum mismatch, the file is damaged", name);
    if (header->flags)
        return rsc_fail_at(error, RSC_EVERSION, 12, "%s: flags 0x%" PRIx32 " are newer than this tool", name,
                           header->flags);
    if (header->raw_bytes > FILE_MAX_BYTES)
        return rsc_fail_at(error, RSC_ELIMIT, 16, "%s: holds more than 1 GiB of profile", name);
    return 0;
}

/* The caller frees *text, even after a failure. */
static int unpack(const char *data, size_t bytes, const char *name, char **text, size_t *text_bytes,
                  struct rsc_error *error) {
    struct header header;
    *text = NULL;
    if (bytes < sizeof header)
        return rsc_fail_at(error, RSC_EFORMAT, bytes, "%s: cut at byte %zu, inside the header", name, bytes);
    memcpy(&header, data, sizeof header);
    const char *stored = data + sizeof header;
    size_t stored_bytes = bytes - sizeof header;
    int rc = check_header(&header, stored, stored_bytes, name, error);
    if (rc) return rc;
    /* The frame's own size must agree before anything is allocated. */
    if (ZSTD_getFrameContentSize(stored, stored_bytes) != header.raw_bytes || !header.raw_bytes)
        return rsc_fail_at(error, RSC_EFORMAT, 16, "%s: byte 16: the raw size does not match the frame's", name);
    *text = malloc(header.raw_bytes);
    if (!*text) return rsc_fail_memory(error, name);
    size_t got = ZSTD_decompress(*text, header.raw_bytes, stored, stored_bytes);
    if (ZSTD_isError(got) || got != header.raw_bytes)
        return rsc_fail_at(error, RSC_EFORMAT, sizeof header, "%s: byte %zu: the compressed data does not decode", name,
                           sizeof header);
    *text_bytes = got;
    return 0;
}

int rsc_profiles_recognise(const char *path) {
    char start[64];
    struct stat status;
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* of a pipe, nobody may hold the other end any more */
    ssize_t got = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) ? read(fd, start, sizeof start) : 0;
    size_t bytes = got > 0 ? (size_t)got : 0, magic_bytes = sizeof MAGIC - 1;
    if (fd >= 0) close(fd);
    return (bytes >= magic_bytes && !memcmp(start, MAGIC, magic_bytes)) || looks_like_json(start, bytes);
}

int rsc_profiles_load(const char *path, struct rsc_profile ***profiles, size_t *count, struct rsc_error *error) {
    const char *name = strcmp(path, "-") ? path : "standard input";
    char *data, *text = NULL;
    size_t bytes = 0, text_bytes = 0, magic_bytes = sizeof MAGIC - 1;
    int rc = read_file(path, name, &data, &bytes, error);
    if (rc) goto out;
    if (!bytes) {
        rc = rsc_fail_at(error, RSC_EFORMAT, 0, "%s: the file is empty", name);
    } else if (!memcmp(data, MAGIC, bytes < magic_bytes ? bytes : magic_bytes)) {
        rc = unpack(data, bytes, name, &text, &text_bytes, error);
        if (!rc) rc = rsc_profiles_parse(text, text_bytes, name, profiles, count, error);
    } else if (looks_like_json(data, bytes)) {
        rc = rsc_profiles_parse(data, bytes, name, profiles, count, error);
    } else {
        rc = rsc_fail_at(error, RSC_EFORMAT, 0, "%s: neither a reusescope profile nor JSON", name);
    }
out:
    free(data);
    free(text);
    return rc;
}

void rsc_profiles_free(struct rsc_profile **profiles, size_t count) {
    for (size_t i = 0; profiles && i < count; i++) rsc_profile_free(profiles[i]);
    free(profiles);
}

static void take_first(struct rsc_profile **out, struct rsc_profile **all, size_t count) {
    *out = all[0];
    all[0] = NULL;
    rsc_profiles_free(all, count);
}

int rsc_profile_load(struct rsc_profile **out, const char *path, struct rsc_error *error) {
    struct rsc_profile **all;
    size_t count;
    int rc = rsc_profiles_load(path, &all, &count, error);
    if (!rc) take_first(out, all, count);
    return rc;
}

int rsc_profile_parse(struct rsc_profile **out, const char *text, size_t bytes, const char *name,
                      struct rsc_error *error) {
    struct rsc_profile **all;
    size_t count;
    int rc = rsc_profiles_parse(text, bytes, name ? name : "profile", &all, &count, error);
    if (!rc) take_first(out, all, count);
    return rc;
}
