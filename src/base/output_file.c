/*
 * output_file.c - files that appear whole or not at all.
 *
 * Opening checks everything that could be wrong with the name, so that a long
 * analysis does not end with "Is a directory": a link is followed to its target
 * (the link stays, the target is replaced; links and pipes that others planted in
 * /tmp are refused), a target that is not a regular file is opened in place, a read-only file
 * is refused. Data then goes to a temporary file
 * in the target's folder: an unnamed one (O_TMPFILE) where the file system supports
 * that, else one with a random name created with O_EXCL. On commit rename() puts it
 * in place.
 *
 * Writing to a closed pipe returns an error here only if the program ignores
 * SIGPIPE; otherwise that signal ends it, as in other tools.
 */
#include "base/output_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/inputs.h"

#define LINKS_MAX 40          /* as many as the kernel follows */
#define TEMPORARY_ATTEMPTS 16 /* names have 64 random bits: even one collision means that something else is wrong */
#define PARTIAL_ATTEMPTS 1000
#define MODE (0666 & ~rsc_inputs_hidden())
#define PLANTED 1 /* beside negative errno values */

/* The folder part of `path` with its slash, "" for the current folder, followed by `name`. Owned by the caller. */
static char *beside(const char *path, const char *name) {
    const char *slash = strrchr(path, '/');
    int folder = slash ? (int)(slash - path) + 1 : 0;
    char *joined;
    return asprintf(&joined, "%.*s%s", folder, path, name) < 0 ? NULL : joined;
}

/*
 * Is `path` one of the kernel's links to an open file (/proc/self/fd/1, where
 * /dev/stdout leads)? Its text is only a description and must not be followed.
 */
static int is_descriptor_link(const char *path) {
    struct statfs where;
    int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
    if (fd < 0) return 0;
    int yes = fstatfs(fd, &where) == 0 && where.f_type == PROC_SUPER_MAGIC;
    close(fd);
    return yes;
}

/*
 * Whether someone else may have planted this link or pipe: it lies in a folder where everyone can make files (/tmp) and
 * belongs neither to us nor to the folder's owner. The kernel refuses to follow those too, where it is asked to.
 */
static int is_planted(const char *path) {
    struct stat link, folder;
    char *name = beside(path, ".");
    int known = name && stat(name, &folder) == 0 && lstat(path, &link) == 0;
    free(name);
    if (!known) return 1;
    int open_to_all = (folder.st_mode & (S_ISVTX | S_IWOTH)) == (S_ISVTX | S_IWOTH);
    return open_to_all && link.st_uid != geteuid() && link.st_uid != folder.st_uid;
}

/*
 * Follows links in the last component of file->path, so that file->path names
 * the file itself, which may not exist yet. Returns 0, a negative errno, or PLANTED.
 */
static int follow_links(struct rsc_output_file *file) {
    char target[PATH_MAX];
    for (int links = 0; links < LINKS_MAX; links++) {
        ssize_t length = readlink(file->path, target, sizeof target - 1);
        if (length < 0) return 0; /* not a link */
        if (is_descriptor_link(file->path)) {
            file->in_place = 1;
            return 0;
        }
        target[length] = '\0';
        if (is_planted(file->path)) return PLANTED;
        char *next = target[0] == '/' ? strdup(target) : beside(file->path, target);
        if (!next) return -ENOMEM;
        free(file->path);
        file->path = next;
    }
    return -ELOOP;
}

/* A name for a temporary file that should not exist yet: PATH.partial, PATH.partial2, ..., or a random one beside PATH.
 * Owned by the caller; NULL without memory or randomness. */
static char *temporary_name(const struct rsc_output_file *file, int attempt) {
    uint64_t random;
    char name[40], *joined;
    if (file->naming == RSC_OUTPUT_PARTIAL) {
        if (attempt) snprintf(name, sizeof name, "%d", attempt + 1);
        return asprintf(&joined, "%s.partial%s", file->path, attempt ? name : "") < 0 ? NULL : joined;
    }
    if (getrandom(&random, sizeof random, 0) != sizeof random) return NULL;
    snprintf(name, sizeof name, ".reusescope-%016llx.tmp", (unsigned long long)random);
    return beside(file->path, name);
}

/*
 * Sets file->temporary to such a name, and creates that file or links the unnamed one to
 * the name. Returns 0 or a negative errno.
 */
static int make_temporary(struct rsc_output_file *file) {
    char descriptor[40];
    int attempts = file->naming == RSC_OUTPUT_PARTIAL ? PARTIAL_ATTEMPTS : TEMPORARY_ATTEMPTS;
    snprintf(descriptor, sizeof descriptor, "/proc/self/fd/%d", file->fd);
    for (int attempt = 0; attempt < attempts; attempt++) {
        free(file->temporary);
        file->temporary = temporary_name(file, attempt);
        if (!file->temporary) return -ENOMEM;
        if (file->unnamed) {
            if (linkat(AT_FDCWD, descriptor, AT_FDCWD, file->temporary, AT_SYMLINK_FOLLOW) == 0) return 0;
        } else {
            file->fd = open(file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, MODE);
            if (file->fd >= 0) return 0;
        }
        if (errno != EEXIST) break;
    }
    int reason = errno;
    free(file->temporary); /* not ours to remove */
    file->temporary = NULL;
    return -reason;
}

/* Opens a temporary file, unnamed if possible. Returns 0 or a negative errno. */
static int open_temporary(struct rsc_output_file *file) {
    char *folder = beside(file->path, ".");
    if (!folder) return -ENOMEM;
    if (file->naming == RSC_OUTPUT_UNNAMED && access("/proc/self/fd", X_OK) == 0)
        file->fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, MODE);
    free(folder);
    file->unnamed = file->fd >= 0;
    return file->unnamed ? 0 : make_temporary(file);
}

/* Opens the file to write for file->path, with links already followed. Returns 0, a negative errno, or PLANTED. */
static int open_target(struct rsc_output_file *file) {
    struct stat old;
    int exists = stat(file->path, &old) == 0;
    if (!exists && errno != ENOENT) return -errno;
    if (exists && !file->in_place && !S_ISREG(old.st_mode) && is_planted(file->path)) return PLANTED;
    if (exists && (file->in_place || !S_ISREG(old.st_mode))) {
        file->in_place = 1;
        file->fd = open(file->path, O_WRONLY | O_APPEND | O_NOCTTY | O_CLOEXEC);
        return file->fd < 0 ? -errno : 0;
    }
    size_t length = strlen(file->path);
    if (length == 0) return -ENOENT;
    if (file->path[length - 1] == '/') return -EISDIR;
    if (exists && faccessat(AT_FDCWD, file->path, W_OK, AT_EACCESS) != 0) return -errno;

    int status = open_temporary(file);
    /* open() would have kept the old file's mode: a private file stays private. What was read may be more so. */
    if (status == 0 && exists && fchmod(file->fd, old.st_mode & 0777 & ~rsc_inputs_hidden()) != 0) status = -errno;
    return status;
}

int rsc_output_open_with(struct rsc_output_file *file, const char *path, enum rsc_output_naming naming,
                         struct rsc_error *error) {
    int status;
    memset(file, 0, sizeof *file);
    file->naming = naming;
    file->fd = -1;
    file->path = strdup(path);
    if (!file->path) return rsc_fail_memory(error, "output file name");
    if (strcmp(path, "-") == 0) {
        file->in_place = 1;
        fflush(stdout); /* text that stdio still buffers comes first */
        file->fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
        if (file->fd >= 0) return 0;
        status = -errno;
        path = "standard output";
    } else {
        status = follow_links(file);
        if (status == 0) status = open_target(file);
        if (status == 0) return 0;
    }
    rsc_output_abort(file);
    if (status == PLANTED)
        return rsc_fail(error, RSC_EIO, "%s: another user made this link or pipe in a folder open to all; not used",
                        path);
    return rsc_fail_errno(error, -status, path);
}

int rsc_output_open(struct rsc_output_file *file, const char *path, struct rsc_error *error) {
    return rsc_output_open_with(file, path, RSC_OUTPUT_UNNAMED, error);
}

static const char *name_for_people(const struct rsc_output_file *file) {
    return file->in_place && strcmp(file->path, "-") == 0 ? "standard output" : file->path;
}

int rsc_output_write(struct rsc_output_file *file, const void *data, size_t bytes, struct rsc_error *error) {
    const char *from = data;
    while (bytes) {
        ssize_t written = write(file->fd, from, bytes);
        if (written < 0 && errno == EINTR) continue;
        if (written < 0 && errno == EAGAIN) { /* standard output is non-blocking */
            struct pollfd ready = {.fd = file->fd, .events = POLLOUT};
            if (poll(&ready, 1, -1) >= 0 || errno == EINTR) continue;
        }
        if (written <= 0) return rsc_fail_errno(error, written < 0 ? errno : EIO, name_for_people(file));
        from += written;
        bytes -= (size_t)written;
        file->bytes += (uint64_t)written;
    }
    return 0;
}

int rsc_output_cut_back(struct rsc_output_file *file, uint64_t bytes) {
    if (file->in_place || ftruncate(file->fd, (off_t)bytes) < 0) return -1;
    if (lseek(file->fd, (off_t)bytes, SEEK_SET) < 0) return -1;
    file->bytes = bytes;
    return 0;
}

int rsc_output_ran_out(int errno_value) {
    return errno_value == ENOSPC || errno_value == EDQUOT || errno_value == EFBIG;
}

/*
 * Makes `path.old` a second name of `path`, so that the rename that follows
 * never leaves a moment without a file; where the file system has no hard links
 * (or forbids them), the file is moved instead. Returns 0 or a negative errno.
 */
static int keep_as_old(const struct rsc_output_file *file) {
    struct stat old;
    char *kept = NULL, *second = NULL;
    int status = 0;
    if (lstat(file->path, &old) != 0) return errno == ENOENT ? 0 : -errno;
    if (!S_ISREG(old.st_mode)) return 0;
    if (asprintf(&kept, "%s.old", file->path) < 0) return -ENOMEM;
    if (asprintf(&second, "%s.old", file->temporary) < 0) {
        free(kept);
        return -ENOMEM;
    }
    if (link(file->path, second) == 0) {
        if (rename(second, kept) != 0) status = -errno;
        unlink(second); /* still there if the rename failed, or if path.old already was the same file */
    } else if (rename(file->path, kept) != 0) {
        status = -errno;
    }
    free(kept);
    free(second);
    return status;
}

/* Waits until the file's data is on the disk, where the file system can. Returns 0 or a negative errno. */
static int reach_disk(int fd) {
    while (fsync(fd) != 0) {
        if (errno == EINTR) continue;
        return errno == EINVAL || errno == EROFS || errno == ENOSYS || errno == ENOTSUP ? 0 : -errno;
    }
    return 0;
}

/* The same for the folder, and so for the names in it. The data is safe: a failure is not one of ours. */
static void folder_reaches_disk(const struct rsc_output_file *file) {
    char *folder = beside(file->path, ".");
    int fd = folder ? open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;
    if (fd >= 0) reach_disk(fd);
    if (fd >= 0) close(fd);
    free(folder);
}

char *rsc_output_leave_partial(struct rsc_output_file *file) {
    if (file->in_place || file->fd < 0) return NULL;
    if (file->naming != RSC_OUTPUT_PARTIAL) {
        char *hidden = file->temporary;
        file->naming = RSC_OUTPUT_PARTIAL;
        file->unnamed = 1;
        file->temporary = NULL;
        if (make_temporary(file) < 0) {
            file->temporary = hidden; /* removed by abort */
            return NULL;
        }
        if (hidden) unlink(hidden);
        free(hidden);
    }
    reach_disk(file->fd);
    folder_reaches_disk(file);
    char *name = file->temporary;
    file->temporary = NULL; /* abort leaves it */
    rsc_output_abort(file);
    return name;
}

int rsc_output_commit(struct rsc_output_file *file, int keep_old, struct rsc_error *error) {
    int status = file->unnamed ? make_temporary(file) : 0;
    if (status == 0 && !file->in_place) status = reach_disk(file->fd);
    /* when close() is interrupted, Linux has closed the file anyway */
    if (close(file->fd) != 0 && errno != EINTR && status == 0) status = -errno;
    file->fd = -1;
    if (!file->in_place) {
        if (status == 0 && keep_old) status = keep_as_old(file);
        if (status == 0 && rename(file->temporary, file->path) != 0) status = -errno;
        if (status == 0) {
            free(file->temporary);
            file->temporary = NULL;
            folder_reaches_disk(file);
        }
    }
    if (status != 0) rsc_fail_errno(error, -status, name_for_people(file));
    rsc_output_abort(file);
    return status == 0 ? 0 : status == -ENOMEM ? RSC_ENOMEM : RSC_EIO;
}

void rsc_output_abort(struct rsc_output_file *file) {
    if (file->fd >= 0) close(file->fd);
    if (file->temporary) unlink(file->temporary);
    free(file->temporary);
    free(file->path);
    file->temporary = file->path = NULL;
    file->fd = -1;
}

int rsc_output_whole(const char *path, const void *data, size_t bytes, int keep_old, struct rsc_error *error) {
    struct rsc_output_file file;
    int status = rsc_output_open(&file, path, error);
    if (status < 0) return status;
    status = rsc_output_write(&file, data, bytes, error);
    if (status < 0) {
        rsc_output_abort(&file);
        return status;
    }
    return rsc_output_commit(&file, keep_old, error);
}
