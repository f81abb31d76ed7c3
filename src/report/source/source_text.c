/*
 * source_text.c - finds and reads source files.
 *
 * A profile may come from anywhere and name any file, so a file is checked before and
 * after it is opened: pipes, devices and the like are never read.
 */
#include "report/source/source_text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <reusescope/error.h>

#include "base/inputs.h"

static int is_readable(const struct stat *status) {
    return S_ISREG(status->st_mode) && status->st_size >= 0 && status->st_size <= (off_t)RSC_SOURCE_BYTES_MAX;
}

/* Reads an open file, at most `room` bytes; negative on errors. */
static ssize_t read_all(int fd, char *to, size_t room) {
    size_t used = 0;
    while (used < room) {
        ssize_t got = read(fd, to + used, room - used);
        if (got < 0 && errno == EINTR) continue;
        if (got < 0) return -1;
        if (!got) break;
        used += (size_t)got;
    }
    return (ssize_t)used;
}

/* Cuts the text into lines. */
static int split(struct rsc_source *source, size_t bytes) {
    size_t count = bytes > 0;
    for (size_t i = 0; i + 1 < bytes; i++) count += source->text[i] == '\n';
    source->lines = calloc(count + 1, sizeof *source->lines);
    if (!source->lines) return RSC_ENOMEM;
    for (size_t at = 0; at < bytes;) {
        size_t end = at;
        while (end < bytes && source->text[end] != '\n') end++;
        size_t stop = end > at && source->text[end - 1] == '\r' ? end - 1 : end;
        for (size_t i = at; i < stop; i++)
            if (!source->text[i]) source->text[i] = '?';
        source->text[stop] = 0;
        source->lines[source->line_count++] = source->text + at;
        at = end + 1;
    }
    return 1;
}

/* Where files may lie that are handed on; NULL: anywhere. */
struct fence {
    const char *const *folders; /* and the current one */
    size_t folder_count;
    const char *refused; /* why the last file was not read; NULL: it was, or there is none */
};

/* Whether `path`, which has no links, is below the folder. */
static int is_below(const char *path, const char *folder) {
    char real[PATH_MAX];
    if (!realpath(folder, real)) return 0;
    size_t length = strlen(real);
    if (length == 1) return 1; /* the root */
    return !strncmp(path, real, length) && path[length] == '/';
}

/* Sets the reason why the file must not be handed on, if there is one. Writes its name without links to `real`. */
static void check_fence(struct fence *fence, const char *path, const struct stat *status, char real[PATH_MAX]) {
    int inside = realpath(path, real) && is_below(real, ".");
    for (size_t i = 0; !inside && *real && i < fence->folder_count; i++) inside = is_below(real, fence->folders[i]);
    fence->refused = !inside                        ? "outside the current folder (--source-path DIR)"
                     : !(status->st_mode & S_IROTH) ? "not readable by others"
                                                    : NULL;
}

static int read_path(struct rsc_source *source, const char *path, struct fence *fence) {
    struct stat status;
    char real[PATH_MAX] = "";
    if (stat(path, &status) < 0 || !is_readable(&status)) return 0;
    if (fence) {
        check_fence(fence, path, &status, real);
        if (fence->refused) return 0;
        path = real;
    }
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC | (fence ? O_NOFOLLOW : 0)), found = 0;
    if (fd < 0) return 0;
    if (fstat(fd, &status) == 0 && is_readable(&status) && (!fence || status.st_mode & S_IROTH)) {
        size_t room = (size_t)status.st_size;
        rsc_input_opened(fd);
        source->text = malloc(room + 1);
        ssize_t bytes = source->text ? read_all(fd, source->text, room) : 0;
        found = !source->text ? RSC_ENOMEM : bytes < 0 ? 0 : split(source, (size_t)bytes);
    }
    close(fd);
    if (found != 1) rsc_source_free(source);
    return found;
}

/* Whether a component of the name is "..". */
static int climbs(const char *name) {
    for (const char *at = name; at; at = strchr(at, '/')) {
        if (*at == '/') at++;
        if (at[0] == '.' && at[1] == '.' && (!at[2] || at[2] == '/')) return 1;
    }
    return 0;
}

static int read_below(struct rsc_source *source, const char *folder, const char *name, struct fence *fence) {
    char path[PATH_MAX];
    for (const char *end = name; end; end = strchr(end, '/')) {
        while (*end == '/') end++;
        if (!*end) break;
        if (climbs(end) || snprintf(path, sizeof path, "%s/%s", folder, end) >= (int)sizeof path) continue;
        int found = read_path(source, path, fence);
        if (found) return found;
    }
    return 0;
}

static int find(struct rsc_source *source, const char *name, const char *const *folders, size_t folder_count,
                struct fence *fence) {
    *source = (struct rsc_source){0};
    for (size_t i = 0; i < folder_count; i++) {
        int found = read_below(source, folders[i], name, fence);
        if (found) return found;
    }
    return read_path(source, name, fence);
}

int rsc_source_read(struct rsc_source *source, const char *name, const char *const *folders, size_t folder_count) {
    return find(source, name, folders, folder_count, NULL);
}

int rsc_source_read_shareable(struct rsc_source *source, const char *name, const char *const *folders,
                              size_t folder_count, const char **refused) {
    struct fence fence = {folders, folder_count, NULL};
    int found = find(source, name, folders, folder_count, &fence);
    *refused = found == 1 ? NULL : fence.refused;
    return found;
}

void rsc_source_free(struct rsc_source *source) {
    free(source->text);
    free(source->lines);
    *source = (struct rsc_source){0};
}
