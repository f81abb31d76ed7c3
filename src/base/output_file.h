/*
 * output_file.h - files that appear whole or not at all.
 *
 * Data goes to a temporary file in the same folder (mode as open() with 0666 and
 * the umask, less what inputs.h hides), reaches the disk, and is renamed on commit, so that after a power
 * cut there is the old file or the new one. An aborted file leaves nothing. Where
 * the file system supports it, the temporary file has no name, so that even a
 * killed process leaves nothing. What is too dear for that, a recording, is written to
 * PATH.partial, which stays if the process is killed. The path "-" is standard output, written directly.
 * Targets that are not regular files (/dev/null, a pipe, a device) are written in
 * place.
 */
#ifndef RSC_BASE_OUTPUT_FILE_H
#define RSC_BASE_OUTPUT_FILE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* How the temporary file is named. */
enum rsc_output_naming {
    RSC_OUTPUT_UNNAMED, /* not, if the file system can do that; else as the next */
    RSC_OUTPUT_HIDDEN,  /* .reusescope-RANDOM.tmp */
    RSC_OUTPUT_PARTIAL, /* PATH.partial, or with a number behind it if that exists */
};

struct rsc_output_file {
    int fd;
    int in_place;    /* nothing to rename or remove */
    uint64_t bytes;  /* written so far */
    char *path;      /* owned */
    int unnamed;     /* the temporary file gets its name on commit */
    enum rsc_output_naming naming;
    char *temporary; /* owned; NULL when in place or unnamed */
};

int rsc_output_open(struct rsc_output_file *file, const char *path, struct rsc_error *error);

int rsc_output_open_with(struct rsc_output_file *file, const char *path, enum rsc_output_naming naming,
                         struct rsc_error *error);

int rsc_output_write(struct rsc_output_file *file, const void *data, size_t bytes, struct rsc_error *error);

/* Truncates the file to its first `bytes`. Returns 0, or -1: it is in place, or cannot be. */
int rsc_output_cut_back(struct rsc_output_file *file, uint64_t bytes);

/* Whether a write failed with this errno because there is no more room. */
int rsc_output_ran_out(int errno_value);

/* Keeps an existing `path` as `path.old` when keep_old, then renames. */
int rsc_output_commit(struct rsc_output_file *file, int keep_old, struct rsc_error *error);

/*
 * Instead of commit: leaves what was written as PATH.partial, for an incomplete file whose
 * parts can be used. An existing PATH is not touched. Returns the new name, which the
 * caller frees; NULL if nothing could be kept, as always in place.
 */
char *rsc_output_leave_partial(struct rsc_output_file *file);

/* Removes what was written; harmless after commit or on a zeroed struct with fd -1. */
void rsc_output_abort(struct rsc_output_file *file);

/* open + write + commit. */
int rsc_output_whole(const char *path, const void *data, size_t bytes, int keep_old, struct rsc_error *error);

#endif
