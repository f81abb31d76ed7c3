/*
 * tool_libc.c - the C library functions that ring_writer.c uses, as system calls: a Valgrind tool is linked without a C
 * library. memcpy() and memset() are in Valgrind's core.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static int error_number;
int *__errno_location(void) { return &error_number; }

static long call(long number, long a, long b, long c, long d, long e, long f) {
    register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
    long result;
    __asm__ volatile("syscall"
                     : "=a"(result)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    if (result < 0 && result > -4096) {
        error_number = (int)-result;
        return -1;
    }
    return result;
}

long syscall(long number, ...) {
    va_list list;
    long word[6];
    va_start(list, number);
    for (int i = 0; i < 6; i++) word[i] = va_arg(list, long);
    va_end(list);
    return call(number, word[0], word[1], word[2], word[3], word[4], word[5]);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
    return (int)call(SYS_clock_gettime, clock, (long)now, 0, 0, 0, 0);
}
int nanosleep(const struct timespec *time, struct timespec *left) {
    return (int)call(SYS_nanosleep, (long)time, (long)left, 0, 0, 0, 0);
}
int kill(pid_t pid, int number) { return (int)call(SYS_kill, pid, number, 0, 0, 0, 0); }
int open(const char *path, int flags, ...) { return (int)call(SYS_open, (long)path, flags, 0, 0, 0, 0); }
ssize_t read(int fd, void *to, size_t bytes) { return call(SYS_read, fd, (long)to, (long)bytes, 0, 0, 0); }
int close(int fd) { return (int)call(SYS_close, fd, 0, 0, 0, 0, 0); }

char *strrchr(const char *text, int wanted) {
    const char *found = NULL;
    for (;; text++) {
        if (*text == (char)wanted) found = text;
        if (!*text) return (char *)found;
    }
}

/* For guest_code.c. */
int strcmp(const char *a, const char *b) {
    while (*a && *a == *b) a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}
