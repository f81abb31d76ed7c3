/*
 * fault_preload.c - makes the n-th call of a kind fail, in a program that it is preloaded into (LD_PRELOAD).
 *
 *   FAULT_KIND   alloc, mmap, read, write, thread, fork or perf
 *   FAULT_AT     which call fails, from 1; 0: none
 *   FAULT_COUNT  a file: how many calls there were is written there at the end
 *
 * Only the process itself counts, not the programs that it starts.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum kind { NONE, ALLOC, MAP, READ, WRITE, THREAD, FORK, PERF };
static const char *const names[] = {"", "alloc", "mmap", "read", "write", "thread", "fork", "perf"};
static enum kind chosen;
static unsigned long at, calls;
static pid_t owner;

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);
extern void *__libc_memalign(size_t alignment, size_t bytes);
void *aligned_alloc(size_t alignment, size_t bytes);

static int fails(enum kind kind) {
    if (kind != chosen) return 0;
    return __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED) == at && getpid() == owner;
}

static __attribute__((constructor)) void start(void) {
    const char *kind = getenv("FAULT_KIND"), *which = getenv("FAULT_AT");
    at = which ? strtoul(which, NULL, 10) : 0;
    owner = getpid();
    for (int i = 1; kind && i <= PERF; i++)
        if (!strcmp(kind, names[i])) chosen = (enum kind)i;
    unsetenv("LD_PRELOAD");
}

static __attribute__((destructor)) void end(void) {
    const char *path = getenv("FAULT_COUNT");
    char text[32];
    chosen = NONE;
    int fd = path && getpid() == owner ? open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600) : -1;
    if (fd < 0) return;
    int length = snprintf(text, sizeof text, "%lu", calls);
    if (syscall(SYS_write, fd, text, (size_t)length) != length) _exit(99);
    close(fd);
}

static void *no_memory(void) {
    errno = ENOMEM;
    return NULL;
}

void *malloc(size_t bytes) { return fails(ALLOC) ? no_memory() : __libc_malloc(bytes); }
void *calloc(size_t count, size_t bytes) { return fails(ALLOC) ? no_memory() : __libc_calloc(count, bytes); }
void *realloc(void *old, size_t bytes) { return fails(ALLOC) ? no_memory() : __libc_realloc(old, bytes); }
void *aligned_alloc(size_t alignment, size_t bytes) {
    return fails(ALLOC) ? no_memory() : __libc_memalign(alignment, bytes);
}
int posix_memalign(void **out, size_t alignment, size_t bytes) {
    void *made = fails(ALLOC) ? NULL : __libc_memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *out = made;
    return 0;
}

void *mmap(void *place, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if (!fails(MAP)) return (void *)syscall(SYS_mmap, place, bytes, protection, flags, fd, offset);
    errno = ENOMEM;
    return MAP_FAILED;
}

ssize_t read(int fd, void *to, size_t bytes) {
    if (!fails(READ)) return syscall(SYS_read, fd, to, bytes);
    errno = EIO;
    return -1;
}

ssize_t pread(int fd, void *to, size_t bytes, off_t offset) {
    if (!fails(READ)) return syscall(SYS_pread64, fd, to, bytes, offset);
    errno = EIO;
    return -1;
}

/* The results, not the messages. */
ssize_t write(int fd, const void *from, size_t bytes) {
    if (fd == STDERR_FILENO || !fails(WRITE)) return syscall(SYS_write, fd, from, bytes);
    errno = ENOSPC;
    return -1;
}

int fsync(int fd) {
    if (!fails(WRITE)) return (int)syscall(SYS_fsync, fd);
    errno = EIO;
    return -1;
}

int rename(const char *from, const char *to) {
    if (!fails(WRITE)) return (int)syscall(SYS_rename, from, to);
    errno = ENOSPC;
    return -1;
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*routine)(void *), void *argument) {
    static int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
    if (fails(THREAD)) return EAGAIN;
    if (!real) real = (int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *))dlsym(RTLD_NEXT, "pthread_create");
    return real(thread, attributes, routine, argument);
}

pid_t fork(void) {
    static pid_t (*real)(void);
    if (!real) real = (pid_t(*)(void))dlsym(RTLD_NEXT, "fork");
    if (!fails(FORK)) return real();
    errno = EAGAIN;
    return -1;
}

long syscall(long number, ...) {
    static long (*real)(long, ...);
    va_list words;
    long w[6];
    va_start(words, number);
    for (int i = 0; i < 6; i++) w[i] = va_arg(words, long);
    va_end(words);
    if (!real) real = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
    if (number == SYS_perf_event_open && fails(PERF)) {
        errno = EACCES;
        return -1;
    }
    return real(number, w[0], w[1], w[2], w[3], w[4], w[5]);
}
