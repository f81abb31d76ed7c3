/*
 * process_ends.c - ways to end a process without its destructors: what is known of its threads is
 * handed over before. Both runtimes have these (recorder/, perf_preload.c), each with its own
 * rsc_process_...() functions (watch_thread.h).
 *
 * All of them may be called in signal handlers, and most in a child of vfork(), which shares the
 * memory of its parent: libc's functions are looked up at the start.
 */
#include "runtime/trap/watch_thread.h"

#include <stdarg.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

RSC_INTERPOSE(int, execve, (const char *path, char *const *argv, char *const *environment)) {
    rsc_process_execs();
    int status = RSC_REAL(execve)(path, argv, environment);
    rsc_process_stays();
    return status;
}

RSC_INTERPOSE(int, execvpe, (const char *file, char *const *argv, char *const *environment)) {
    rsc_process_execs();
    int status = RSC_REAL(execvpe)(file, argv, environment);
    rsc_process_stays();
    return status;
}

RSC_INTERPOSE(int, fexecve, (int fd, char *const *argv, char *const *environment)) {
    rsc_process_execs();
    int status = RSC_REAL(fexecve)(fd, argv, environment);
    rsc_process_stays();
    return status;
}

/* A handler of SIGABRT may jump back into the program. */
RSC_INTERPOSE(void, abort, (void)) {
    rsc_process_aborts();
    RSC_REAL(abort)();
    __builtin_unreachable();
}

/* Those that need nothing of libc's own. */
#ifdef RSC_ASM_STATIC
#define REPLACES(type, name, parameters)      \
    RSC_EXPORT type __wrap_##name parameters; \
    RSC_EXPORT type __wrap_##name parameters
#define OURS(name) __wrap_##name
#else
#define REPLACES(type, name, parameters) RSC_EXPORT type name parameters
#define OURS(name) name
#endif

static _Noreturn void end_now(int status) {
    rsc_process_ends();
    for (;;) syscall(SYS_exit_group, status);
}

REPLACES(void, _exit, (int status)) { end_now(status); }
REPLACES(void, _Exit, (int status)) { end_now(status); }

REPLACES(int, execv, (const char *path, char *const *argv)) { return OURS(execve)(path, argv, environ); }
REPLACES(int, execvp, (const char *file, char *const *argv)) { return OURS(execvpe)(file, argv, environ); }

/* A list of words that ends with NULL, as an array on the caller's stack. */
#define WORDS(argv, first)                 \
    va_list words;                         \
    size_t count = 1;                      \
    va_start(words, first);                \
    while (va_arg(words, char *)) count++; \
    va_end(words);                         \
    char *argv[count + 1];                 \
    argv[0] = (char *)first;               \
    va_start(words, first);                \
    for (size_t i = 1; i <= count; i++) argv[i] = va_arg(words, char *);

REPLACES(int, execl, (const char *path, const char *first, ...)) {
    WORDS(argv, first)
    va_end(words);
    return OURS(execve)(path, argv, environ);
}

REPLACES(int, execlp, (const char *file, const char *first, ...)) {
    WORDS(argv, first)
    va_end(words);
    return OURS(execvpe)(file, argv, environ);
}

REPLACES(int, execle, (const char *path, const char *first, ...)) {
    WORDS(argv, first)
    char *const *environment = va_arg(words, char *const *);
    va_end(words);
    return OURS(execve)(path, argv, environment);
}

/* The first function to be registered is the last that quick_exit() calls. */
static __attribute__((constructor(101))) void prepare(void) {
    at_quick_exit(rsc_process_ends);
#ifndef RSC_ASM_STATIC
    find_execve();
    find_execvpe();
    find_fexecve();
    find_abort();
#endif
}
