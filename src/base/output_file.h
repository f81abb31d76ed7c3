/*
 * output_file.h - files that appear whole or not at all.
 *
 * Data goes to a temporary file in the same folder (mode as open() with 0666
 * and the umask) and is renamed on commit; an aborted file leaves nothing. Where
 * the file system supports it, the temporary file has no name, so that even a
 * killed process leaves nothing. The path "-" is standard output, written directly.
 * Targets that are not regular files (/dev/null, a pipe, a device) are written in
 * place.
 */
#ifndef RSC_BASE_OUTPUT_FILE_H
#define RSC_BASE_OUTPUT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

struct rsc_output_file {
    int fd;
    int in_place;    /* nothing to rename or remove */
    uint64_t bytes;  /* written so far */
    char *path;      /* owned */
    int unnamed;     /* the temporary file gets its name on commit */
    char *temporary; /* owned; NULL when in place or unnamed */
};

int rsc_output_open(struct rsc_output_file *file, const char *path, struct rsc_error *error);

/* The same; always_named avoids unnamed files, as on a file system without O_TMPFILE. */
int rsc_output_open_with(struct rsc_output_file *file, const char *path, int always_named, struct rsc_error *error);

int rsc_output_write(struct rsc_output_file *file, const void *data, size_t bytes, struct rsc_error *error);

/* Keeps an existing `path` as `path.old` when keep_old, then renames. */
int rsc_output_commit(struct rsc_output_file *file, int keep_old, struct rsc_error *error);

/* Removes what was written; harmless after commit or on a zeroed struct with fd -1. */
void rsc_output_abort(struct rsc_output_file *file);

/* open + write + commit. */
int rsc_output_whole(const char *path, const void *data, size_t bytes, int keep_old, struct rsc_error *error);

#endif
