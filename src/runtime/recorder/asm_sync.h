/*
 * asm_sync.h - called before and after everything by which a thread of a rebuilt program
 * synchronises with others.
 *
 * What a thread wrote before it releases something must be analysed before what another
 * writes after it acquired it. Times ensure that: rsc_asm_sync_before() is called before the
 * real function, and no word written earlier is later than that time; rsc_asm_sync_after() is
 * called when the real function has returned, and no word written later is earlier than that.
 *
 *   releases         others may now go on (unlock, post, signal, a new thread): before()
 *   may wait         barrier, lock that is taken, condition, join: before() and after()
 *   acquires at once a lock that is free: after()
 */
#ifndef RSC_RUNTIME_RECORDER_ASM_SYNC_H
#define RSC_RUNTIME_RECORDER_ASM_SYNC_H

#include "runtime/recorder/asm_runtime.h"
#include "runtime/trap/watch_thread.h"

enum rsc_asm_sync {
    RSC_SYNC_RELEASES,
    RSC_SYNC_ACQUIRES, /* it did not wait */
    RSC_SYNC_WAITS, /* it may wait, or has waited */
};

void rsc_asm_sync_before_in_c(enum rsc_asm_sync how) __attribute__((visibility("hidden")));
void rsc_asm_sync_after_in_c(void) __attribute__((visibility("hidden")));

/* The process has created a thread, or another process: before that there is nobody to synchronise with. */
extern int rsc_asm_has_others __attribute__((visibility("hidden")));

static inline int rsc_asm_sync_matters(void) {
    return __builtin_expect(rsc_asm_has_others, 0) && (rsc_asm_recording() || rsc_asm_sampling);
}
/* Many programs are ended while they wait. */
static inline void rsc_asm_sync_before(enum rsc_asm_sync how) {
    if (how == RSC_SYNC_WAITS && rsc_watch_is_on()) rsc_watch_tell();
    if (rsc_asm_sync_matters()) rsc_asm_sync_before_in_c(how);
}
static inline void rsc_asm_sync_after(enum rsc_asm_sync how) {
    (void)how; /* whether it waited or not, the thread now sees what others did */
    if (rsc_asm_sync_matters()) rsc_asm_sync_after_in_c();
}
/* A signal is sent, perhaps to the process itself. */
static inline void rsc_asm_sync_signals(void) {
    if (rsc_watch_is_on()) rsc_watch_tell();
    rsc_asm_sync_before(RSC_SYNC_RELEASES);
}
/* A thread or process is about to be created. */
static inline void rsc_asm_sync_creates(void) {
    rsc_asm_has_others = 1;
    rsc_asm_sync_before(RSC_SYNC_RELEASES);
}

/*
 * RSC_SYNC_CALL(name, before, after): interposes a function of any integer and pointer arguments, up to twelve. One
 * that has fewer does not look at the others, and one that returns less, or nothing, leaves what it leaves: both hold
 * for calls on x86-64.
 */
typedef uintptr_t rsc_word;
#define RSC_SYNC_PARAMETERS                                                                                      \
    (rsc_word a, rsc_word b, rsc_word c, rsc_word d, rsc_word e, rsc_word f, rsc_word g, rsc_word h, rsc_word i, \
     rsc_word j, rsc_word k, rsc_word l)
#define RSC_SYNC_ARGUMENTS (a, b, c, d, e, f, g, h, i, j, k, l)
#define RSC_SYNC_CALL(name, before, after)                   \
    RSC_INTERPOSE(rsc_word, name, RSC_SYNC_PARAMETERS) {     \
        before;                                              \
        rsc_word result = RSC_REAL(name) RSC_SYNC_ARGUMENTS; \
        after;                                               \
        return result;                                       \
    }
#define RSC_SYNC_RELEASING(name) RSC_SYNC_CALL(name, rsc_asm_sync_before(RSC_SYNC_RELEASES), (void)0)
#define RSC_SYNC_SIGNALLING(name) RSC_SYNC_CALL(name, rsc_asm_sync_signals(), (void)0)
#define RSC_SYNC_ACQUIRING(name) RSC_SYNC_CALL(name, (void)0, rsc_asm_sync_after(RSC_SYNC_ACQUIRES))
#define RSC_SYNC_BOTH(name) \
    RSC_SYNC_CALL(name, rsc_asm_sync_before(RSC_SYNC_RELEASES), rsc_asm_sync_after(RSC_SYNC_ACQUIRES))
#define RSC_SYNC_WAITING(name) \
    RSC_SYNC_CALL(name, rsc_asm_sync_before(RSC_SYNC_WAITS), rsc_asm_sync_after(RSC_SYNC_WAITS))

#endif
