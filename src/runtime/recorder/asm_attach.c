/*
 * asm_attach.c - see asm_attach.h.
 *
 * System calls are made directly: libc's functions are points at which a thread may be
 * cancelled, and the program may have replaced them.
 */
#include "runtime/recorder/asm_attach.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static int open_directly(const char *path, int flags) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags | O_CLOEXEC | O_NOCTTY, 0);
}

/* Nobody else may ask: the file must be one of the program's own user. */
static int is_ours(int fd, uint32_t user, uint32_t *bytes) {
    struct stat file;
    if (fstat(fd, &file) != 0 || !S_ISREG(file.st_mode) || file.st_uid != user) return 0;
    *bytes = (uint32_t)file.st_size;
    return 1;
}

int rsc_attach_request(uint32_t user, uint32_t pid) {
    char path[RSC_ATTACH_PATH], text[64] = "";
    uint32_t bytes;
    rsc_attach_path(path, user, pid);
    int fd = open_directly(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) return -1;
    ssize_t got = is_ours(fd, user, &bytes) ? syscall(SYS_read, fd, text, sizeof text - 1) : 0;
    syscall(SYS_close, fd);
    char *end;
    uint64_t tool = strtoull(text, &end, 10), ring = got > 0 && *end == ' ' ? strtoull(end + 1, &end, 10) : 0;
    if (got <= 0 || *end != '\n' || !tool || !ring) return -1; /* it is still being written, or none of ours */
    rsc_attach_number(rsc_attach_text(rsc_attach_number(rsc_attach_text(path, "/proc/"), tool), "/fd/"), ring);
    fd = open_directly(path, O_RDWR);
    if (fd >= 0 && is_ours(fd, user, &bytes)) return fd;
    if (fd >= 0) syscall(SYS_close, fd);
    return -1;
}
