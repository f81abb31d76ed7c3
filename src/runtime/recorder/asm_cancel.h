/*
 * asm_cancel.h - a thread may be cancelled at any instruction (PTHREAD_CANCEL_ASYNCHRONOUS), but not
 * inside the runtime: it may hold a lock that others wait for, or be in the middle of publishing a
 * block.
 *
 * Disabling cancellation is not enough. pthread_cancel() checks whether the thread allows it and then
 * sends a signal; in between the thread may have entered the runtime. The signal's handler in glibc
 * 2.36 (by its source) does not check again: it checks only the *type*, and ends the thread at once.
 * So the type is made deferred as well. A request that came meanwhile takes effect when both are
 * restored.
 */
#ifndef RSC_RUNTIME_RECORDER_ASM_CANCEL_H
#define RSC_RUNTIME_RECORDER_ASM_CANCEL_H

#include <pthread.h>

struct rsc_asm_cancel {
    int state, type; /* the previous values */
};

/* Call before anything is locked: until this returns the thread may still end here. */
static inline struct rsc_asm_cancel rsc_asm_cancel_hold(void) {
    struct rsc_asm_cancel before = {PTHREAD_CANCEL_ENABLE, PTHREAD_CANCEL_DEFERRED};
    pthread_setcanceltype(PTHREAD_CANCEL_DEFERRED, &before.type);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before.state);
    return before;
}

/*
 * The thread may end in here: in pthread_setcanceltype(), which is last. pthread_setcancelstate() of glibc 2.36 ends it
 * too if the type allows that, but pthread_join() then returns NULL, not PTHREAD_CANCELED.
 */
static inline void rsc_asm_cancel_allow(struct rsc_asm_cancel before) {
    if (before.state != PTHREAD_CANCEL_DISABLE) pthread_setcancelstate(before.state, NULL);
    if (before.type != PTHREAD_CANCEL_DEFERRED) pthread_setcanceltype(before.type, NULL);
}

#endif
