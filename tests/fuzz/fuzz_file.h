/* fuzz_file.h - any bytes as a file in memory. */
#ifndef RSC_TESTS_FUZZ_FILE_H
#define RSC_TESTS_FUZZ_FILE_H

#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fuzz_check.h"

/* The path of a file with these bytes, until the next call. */
static inline const char *fuzz_file(const uint8_t *data, size_t bytes) {
    static char path[64];
    static int fd = -1;
    if (fd < 0) fd = memfd_create("fuzz", MFD_CLOEXEC);
    FUZZ_CHECK(fd >= 0 && ftruncate(fd, 0) == 0 && pwrite(fd, data, bytes, 0) == (ssize_t)bytes);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

#endif
