/*
 * guest_preload.c - loaded into the watched program (LD_PRELOAD inside the guest):
 * reports heap blocks to the collector, and makes the release of a spinlock visible, which
 * is an ordinary store on x86-64: a fence comes before it (qemu_plugin.c).
 *
 * It calls getpid() with arguments that only the collector reads (guest_calls.h); under Valgrind it executes
 * no-operations instead, which costs less.
 * Allocations go to libc's own functions by their internal names, so nothing is looked
 * up and no call can recurse.
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "collect/qemu/guest_calls.h"

#define EXPORT __attribute__((visibility("default")))

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);

#ifdef RSC_GUEST_OF_VALGRIND
/* Our Valgrind tool recognises these no-operations when it translates them. */
#define TELL(marker) __asm__ volatile(".byte 0x0f,0x1f,0x84,0x00\n\t.long %c2" ::"D"(a), "S"(b), "i"(marker) : "memory")
static void tell(long what, uintptr_t a, uintptr_t b) {
    if (what == RSC_GUEST_ALLOC) TELL(RSC_MARKER_ALLOCATED);
    else TELL(RSC_MARKER_FREED);
}
#else
static long tell(long what, uintptr_t a, uintptr_t b) { return syscall(SYS_getpid, RSC_GUEST_CALL_MAGIC, what, a, b); }
#endif

static void *allocated(void *block, size_t bytes) {
    if (block) {
        int kept = errno;
        tell(RSC_GUEST_ALLOC, (uintptr_t)block, bytes);
        errno = kept;
    }
    return block;
}

static void freed(void *block) {
    int kept = errno;
    if (block) tell(RSC_GUEST_FREE, (uintptr_t)block, 0);
    errno = kept;
}

EXPORT void *malloc(size_t bytes) { return allocated(__libc_malloc(bytes), bytes); }

EXPORT void *calloc(size_t count, size_t bytes) { return allocated(__libc_calloc(count, bytes), count * bytes); }

EXPORT void *realloc(void *block, size_t bytes) {
    void *moved = __libc_realloc(block, bytes);
    if (!moved && bytes) return NULL; /* the old one stays */
    freed(block);
    return allocated(moved, bytes);
}

EXPORT void free(void *block) {
    freed(block);
    __libc_free(block);
}

EXPORT void *memalign(size_t alignment, size_t bytes) { return allocated(__libc_memalign(alignment, bytes), bytes); }

EXPORT void *aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
    void *made = memalign(alignment, bytes);
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

/*
 * Memory that the program maps without a file is a block, too. What the C library maps for malloc() and for threads does
 * not come here.
 */
EXPORT void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    void *made = (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
    return made != MAP_FAILED && (flags & MAP_ANONYMOUS) && (protection & PROT_WRITE) ? allocated(made, bytes) : made;
}

EXPORT void *mmap64(void *, size_t, int, int, int, off_t) __attribute__((alias("mmap")));

EXPORT int munmap(void *address, size_t bytes) {
    freed(address);
    return (int)syscall(SYS_munmap, address, bytes);
}

EXPORT void *mremap(void *address, size_t bytes, size_t new_bytes, int flags, ...) {
    va_list list;
    va_start(list, flags);
    void *wanted = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
    va_end(list);
    void *moved = (void *)syscall(SYS_mremap, address, bytes, new_bytes, flags, wanted);
    if (moved == MAP_FAILED) return moved;
    freed(address);
    return allocated(moved, new_bytes);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock) {
    static int (*unlock)(pthread_spinlock_t *);
    if (!unlock) unlock = (int (*)(pthread_spinlock_t *))dlsym(RTLD_NEXT, "pthread_spin_unlock");
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
    return unlock(lock);
}
