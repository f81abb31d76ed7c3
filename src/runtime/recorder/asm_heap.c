/*
 * asm_heap.c - the malloc family for rebuilt programs: calls libc's functions, and
 * records an event per block while the thread records, with the place of the call: the
 * call itself is recorded only when rebuilt code runs again.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "runtime/recorder/asm_runtime.h"

#ifdef RSC_ASM_STATIC
#define HEAP(type, name, parameters) RSC_INTERPOSE(type, name, parameters)
#define LIBC(name) RSC_REAL(name)
#else
/* By their internal names: looking them up would allocate. */
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
#define HEAP(type, name, parameters) \
    RSC_EXPORT type name parameters; \
    RSC_EXPORT type name parameters
#define LIBC(name) __libc_##name
#endif

static void tell_block(void *block, size_t bytes, uint64_t caller) {
    struct rsc_asm_local *local = &rsc_asm_local;
    if (local->new_caller) caller = local->new_caller;
    local->new_caller = 0;
    if (block) rsc_asm_tell_from((uintptr_t)block, rsc_record_word(RSC_RECORD_ALLOC, 1, bytes), caller);
}

static inline __attribute__((always_inline)) void *allocated(void *block, size_t bytes) {
    if (__builtin_expect(rsc_asm_recording() || rsc_asm_sampling, 0))
        tell_block(block, bytes, (uintptr_t)__builtin_return_address(0) - 1); /* the call, not what follows it */
    return block;
}

static inline void freed(void *block) {
    if (__builtin_expect(rsc_asm_recording() || rsc_asm_sampling, 0) && block)
        rsc_asm_tell((uintptr_t)block, rsc_record_word(RSC_RECORD_FREE, 1, 0));
}

HEAP(void *, malloc, (size_t bytes)) { return allocated(LIBC(malloc)(bytes), bytes); }

HEAP(void *, calloc, (size_t count, size_t bytes)) { return allocated(LIBC(calloc)(count, bytes), count * bytes); }

HEAP(void *, realloc, (void *block, size_t bytes)) {
    void *moved = LIBC(realloc)(block, bytes);
    if (!moved && bytes) return NULL; /* the old one stays */
    freed(block);
    return allocated(moved, bytes);
}

HEAP(void, free, (void *block)) {
    freed(block);
    LIBC(free)(block);
}

HEAP(void *, memalign, (size_t alignment, size_t bytes)) { return allocated(LIBC(memalign)(alignment, bytes), bytes); }

#define MEMALIGN(alignment, bytes) LIBC(memalign)(alignment, bytes)

HEAP(void *, aligned_alloc, (size_t alignment, size_t bytes)) { return allocated(MEMALIGN(alignment, bytes), bytes); }

HEAP(int, posix_memalign, (void **block, size_t alignment, size_t bytes)) {
    if (alignment < sizeof(void *) || (alignment & (alignment - 1))) return EINVAL;
    int kept = errno;
    void *made = allocated(MEMALIGN(alignment, bytes), bytes);
    errno = kept;
    if (!made) return ENOMEM;
    *block = made;
    return 0;
}

HEAP(void *, reallocarray, (void *block, size_t count, size_t each)) {
    size_t bytes;
    if (__builtin_mul_overflow(count, each, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    void *moved = LIBC(realloc)(block, bytes);
    if (!moved && bytes) return NULL;
    freed(block);
    return allocated(moved, bytes);
}

#ifndef RSC_ASM_STATIC
/*
 * C++ allocates through the library's operator new, which is not rebuilt: its caller is the place of the allocation. The
 * library's function is left in a tail call, so that it can throw.
 */
#define OPERATOR_NEW(name, parameters, arguments)                                  \
    RSC_INTERPOSE(void *, name, parameters) {                                      \
        if (__builtin_expect(rsc_asm_recording() || rsc_asm_sampling, 0))          \
            rsc_asm_local.new_caller = (uintptr_t)__builtin_return_address(0) - 1; \
        return RSC_REAL(name) arguments;                                           \
    }
OPERATOR_NEW(_Znwm, (size_t bytes), (bytes))                                                   /* new */
OPERATOR_NEW(_Znam, (size_t bytes), (bytes))                                                   /* new[] */
OPERATOR_NEW(_ZnwmRKSt9nothrow_t, (size_t bytes, const void *how), (bytes, how))               /* new (nothrow) */
OPERATOR_NEW(_ZnamRKSt9nothrow_t, (size_t bytes, const void *how), (bytes, how))
OPERATOR_NEW(_ZnwmSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment))       /* of aligned types */
OPERATOR_NEW(_ZnamSt11align_val_t, (size_t bytes, size_t alignment), (bytes, alignment))
#endif
