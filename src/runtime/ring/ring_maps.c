/*
 * ring_maps.c - notes of what this process has mapped: /proc/self/maps, in as many notes as it takes. A note ends before
 * a line with a file, so that a file's .bss, which has no name, stays with it.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "runtime/ring/ring.h"

/* Where the last line with a file begins; `used` if there is only one such line. */
static size_t last_file(const char *text, size_t used) {
    const char *slash = memrchr(text, '/', used);
    const char *line = slash ? memrchr(text, '\n', (size_t)(slash - text)) : NULL;
    return line ? (size_t)(line + 1 - text) : used;
}

uint64_t rsc_ring_note_maps(struct rsc_ring *ring, enum rsc_note_type type, uint64_t process, char *text, size_t room) {
    uint64_t end = 0;
    size_t used = 0;
    ssize_t got = 1;
    int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && got > 0) {
        got = read(fd, text + used, room - used);
        if (got > 0) used += (size_t)got;
        if (!used || (got > 0 && used < room)) continue;
        size_t part = got > 0 ? last_file(text, used) : used;
        uint64_t now = rsc_ring_note(ring, type, process, text, (uint32_t)part);
        if (now) end = now;
        if (used -= part) memmove(text, text + part, used);
    }
    if (fd >= 0) close(fd);
    return end;
}
