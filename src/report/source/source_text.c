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

static int read_path(struct rsc_source *source, const char *path) {
    struct stat status;
    if (stat(path, &status) < 0 || !is_readable(&status)) return 0;
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC), found = 0;
    if (fd < 0) return 0;
    if (fstat(fd, &status) == 0 && is_readable(&status)) {
        size_t room = (size_t)status.st_size;
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

static int read_below(struct rsc_source *source, const char *folder, const char *name) {
    char path[PATH_MAX];
    for (const char *end = name; end; end = strchr(end, '/')) {
        while (*end == '/') end++;
        if (!*end) break;
        if (climbs(end) || snprintf(path, sizeof path, "%s/%s", folder, end) >= (int)sizeof path) continue;
        int found = read_path(source, path);
        if (found) return found;
    }
    return 0;
}

int rsc_source_read(struct rsc_source *source, const char *name, const char *const *folders, size_t folder_count) {
    *source = (struct rsc_source){0};
    for (size_t i = 0; i < folder_count; i++) {
        int found = read_below(source, folders[i], name);
        if (found) return found;
    }
    return read_path(source, name);
}

void rsc_source_free(struct rsc_source *source) {
    free(source->text);
    free(source->lines);
    *source = (struct rsc_source){0};
}
