/*
 * asm_jumps.c - longjmp() for rebuilt programs: the calls that it leaves have ended, and so have signal handlers.
 *
 * A handler that interrupted the runtime itself cannot be left before that is done: we go back to it, and the jump
 * follows when it has finished (rsc_asm_jump_follows()).
 */
#include "runtime/recorder/asm_runtime.h"

#include <setjmp.h>
#include <signal.h>

#define STACK_POINTER 6 /* in a jmp_buf, in glibc and musl */

static __thread struct {
    void (*jump)(struct __jmp_buf_tag *, int); /* NULL: none */
    struct __jmp_buf_tag *to;
    int value;
} waiting __attribute__((tls_model("initial-exec")));

static uintptr_t stack_of(const struct __jmp_buf_tag *to) {
    uint64_t word;
    __builtin_memcpy(&word, (const char *)to + STACK_POINTER * sizeof word, sizeof word);
#ifdef __GLIBC__
    uint64_t guard;
    __asm__("movq %%fs:0x30, %0" : "=r"(guard));
    word = (word >> 17 | word << 47) ^ guard;
#endif
    return (uintptr_t)word;
}

/* Whether a jump to that stack pointer leaves the handler. */
static int leaves(const struct rsc_asm_interrupted *handler, uintptr_t stack) {
    const uintptr_t frame = (uintptr_t)handler;
    stack_t alternate = {0};
    sigaltstack(NULL, &alternate);
    const uintptr_t start = (uintptr_t)alternate.ss_sp;
    const size_t bytes = alternate.ss_flags & SS_DISABLE ? 0 : alternate.ss_size;
    const int frame_there = frame - start < bytes, stack_there = stack - start < bytes;
    return frame_there == stack_there ? stack > frame : frame_there;
}

static void before_jump(void (*jump)(struct __jmp_buf_tag *, int), struct __jmp_buf_tag *to, int value) {
    const uintptr_t stack = stack_of(to);
    struct rsc_asm_interrupted *handler;
    while ((handler = rsc_asm_local.handler) && leaves(handler, stack)) {
        if (handler->local.busy) {
            waiting.jump = jump;
            waiting.to = to;
            waiting.value = value;
            __builtin_longjmp(handler->back, 1);
        }
        rsc_asm_handler_leave(handler);
    }
    rsc_asm_unwinds(stack);
}

void rsc_asm_jump_follows(void) {
    void (*jump)(struct __jmp_buf_tag *, int) = waiting.jump;
    if (__builtin_expect(!jump, 1)) return;
    waiting.jump = NULL;
    before_jump(jump, waiting.to, waiting.value);
    jump(waiting.to, waiting.value);
}

#define JUMPS(name)                                                      \
    RSC_INTERPOSE(void, name, (struct __jmp_buf_tag to[1], int value)) { \
        before_jump(RSC_REAL(name), to, value);                          \
        RSC_REAL(name)(to, value);                                       \
        __builtin_unreachable();                                         \
    }
JUMPS(longjmp)
JUMPS(_longjmp)
JUMPS(siglongjmp)
#ifdef __GLIBC__
void __longjmp_chk(struct __jmp_buf_tag to[1], int value) __attribute__((noreturn));
JUMPS(__longjmp_chk)
#endif
