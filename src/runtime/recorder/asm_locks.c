/*
 * asm_locks.c - locks, conditions, semaphores, barriers and threads of pthreads and C11 for
 * rebuilt programs: each orders what its threads recorded (asm_sync.h). Taken and released
 * locks and barriers are also events.
 *
 * A lock that is free is taken by the function that does not wait: then there is nothing to
 * do before it. Functions of C11 call libc's own, not these.
 */
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>

#include "runtime/recorder/asm_sync.h"

#define RECORDING __builtin_expect(rsc_asm_recording(), 0)

/* ---- locks ---- */

static inline void locked(const volatile void *lock, enum rsc_asm_sync how) {
    rsc_asm_sync_after(how);
    if (RECORDING) rsc_asm_put((uintptr_t)lock, rsc_record_word(RSC_RECORD_LOCK, 1, 0));
}
static inline void unlocks(const volatile void *lock) {
    if (RECORDING) rsc_asm_put((uintptr_t)lock, rsc_record_word(RSC_RECORD_LOCK, 1, 1));
    rsc_asm_sync_before(RSC_SYNC_RELEASES);
}

/* A robust mutex whose owner died is taken, too. */
#define LOCKS(name, try_name, type, busy)                                      \
    RSC_INTERPOSE(int, try_name, (type * lock)) {                              \
        int status = RSC_REAL(try_name)(lock);                                 \
        if (!status || status == EOWNERDEAD) locked(lock, RSC_SYNC_ACQUIRES);  \
        return status;                                                         \
    }                                                                          \
    RSC_INTERPOSE(int, name, (type * lock)) {                                  \
        int status = rsc_asm_sync_matters() ? RSC_REAL(try_name)(lock) : busy; \
        enum rsc_asm_sync how = RSC_SYNC_ACQUIRES;                             \
        if (status && status != EOWNERDEAD) {                                  \
            rsc_asm_sync_before(how = RSC_SYNC_WAITS);                         \
            status = RSC_REAL(name)(lock);                                     \
        }                                                                      \
        if (!status || status == EOWNERDEAD) locked(lock, how);                \
        else rsc_asm_sync_after(how);                                          \
        return status;                                                         \
    }
#define UNLOCKS(name, type)                   \
    RSC_INTERPOSE(int, name, (type * lock)) { \
        unlocks(lock);                        \
        return RSC_REAL(name)(lock);          \
    }
/* Up to a time. */
#define LOCKS_UNTIL(name, parameters, arguments)                           \
    RSC_INTERPOSE(int, name, parameters) {                                 \
        rsc_asm_sync_before(RSC_SYNC_WAITS);                               \
        int status = RSC_REAL(name) arguments;                             \
        if (!status || status == EOWNERDEAD) locked(lock, RSC_SYNC_WAITS); \
        else rsc_asm_sync_after(RSC_SYNC_WAITS);                           \
        return status;                                                     \
    }
#define TIME const struct timespec *time

LOCKS(pthread_mutex_lock, pthread_mutex_trylock, pthread_mutex_t, EBUSY)
LOCKS_UNTIL(pthread_mutex_timedlock, (pthread_mutex_t * lock, TIME), (lock, time))
LOCKS_UNTIL(pthread_mutex_clocklock, (pthread_mutex_t * lock, clockid_t clock, TIME), (lock, clock, time))
UNLOCKS(pthread_mutex_unlock, pthread_mutex_t)
LOCKS(pthread_spin_lock, pthread_spin_trylock, pthread_spinlock_t, EBUSY)
UNLOCKS(pthread_spin_unlock, pthread_spinlock_t)
LOCKS(pthread_rwlock_rdlock, pthread_rwlock_tryrdlock, pthread_rwlock_t, EBUSY)
LOCKS(pthread_rwlock_wrlock, pthread_rwlock_trywrlock, pthread_rwlock_t, EBUSY)
LOCKS_UNTIL(pthread_rwlock_timedrdlock, (pthread_rwlock_t * lock, TIME), (lock, time))
LOCKS_UNTIL(pthread_rwlock_timedwrlock, (pthread_rwlock_t * lock, TIME), (lock, time))
LOCKS_UNTIL(pthread_rwlock_clockrdlock, (pthread_rwlock_t * lock, clockid_t clock, TIME), (lock, clock, time))
LOCKS_UNTIL(pthread_rwlock_clockwrlock, (pthread_rwlock_t * lock, clockid_t clock, TIME), (lock, clock, time))
UNLOCKS(pthread_rwlock_unlock, pthread_rwlock_t)
LOCKS(mtx_lock, mtx_trylock, mtx_t, thrd_busy)
LOCKS_UNTIL(mtx_timedlock, (mtx_t * lock, TIME), (lock, time))
UNLOCKS(mtx_unlock, mtx_t)

/* ---- other calls ---- */

#define RELEASES(name, parameters, arguments)   \
    RSC_INTERPOSE(int, name, parameters) {      \
        rsc_asm_sync_before(RSC_SYNC_RELEASES); \
        return RSC_REAL(name) arguments;        \
    }
#define WAITS(how, name, parameters, arguments) \
    RSC_INTERPOSE(int, name, parameters) {      \
        rsc_asm_sync_before(how);               \
        int status = RSC_REAL(name) arguments;  \
        rsc_asm_sync_after(how);                \
        return status;                          \
    }

#define CONDITION pthread_cond_t *condition
#define MUTEX pthread_mutex_t *mutex
WAITS(RSC_SYNC_WAITS, pthread_cond_wait, (CONDITION, MUTEX), (condition, mutex))
WAITS(RSC_SYNC_WAITS, pthread_cond_timedwait, (CONDITION, MUTEX, TIME), (condition, mutex, time))
WAITS(RSC_SYNC_WAITS, pthread_cond_clockwait, (CONDITION, MUTEX, clockid_t clock, TIME),
      (condition, mutex, clock, time))
RELEASES(pthread_cond_signal, (CONDITION), (condition))
RELEASES(pthread_cond_broadcast, (CONDITION), (condition))
WAITS(RSC_SYNC_WAITS, cnd_wait, (cnd_t * condition, mtx_t *mutex), (condition, mutex))
WAITS(RSC_SYNC_WAITS, cnd_timedwait, (cnd_t * condition, mtx_t *mutex, TIME), (condition, mutex, time))
RELEASES(cnd_signal, (cnd_t * condition), (condition))
RELEASES(cnd_broadcast, (cnd_t * condition), (condition))

RSC_INTERPOSE(int, sem_trywait, (sem_t * semaphore)) {
    int status = RSC_REAL(sem_trywait)(semaphore);
    if (!status) rsc_asm_sync_after(RSC_SYNC_ACQUIRES);
    return status;
}
RSC_INTERPOSE(int, sem_wait, (sem_t * semaphore)) {
    int kept = errno;
    if (rsc_asm_sync_matters() && RSC_REAL(sem_trywait)(semaphore) == 0) {
        rsc_asm_sync_after(RSC_SYNC_ACQUIRES);
        return 0;
    }
    errno = kept;
    rsc_asm_sync_before(RSC_SYNC_WAITS);
    int status = RSC_REAL(sem_wait)(semaphore);
    rsc_asm_sync_after(RSC_SYNC_WAITS);
    return status;
}
WAITS(RSC_SYNC_WAITS, sem_timedwait, (sem_t * semaphore, TIME), (semaphore, time))
WAITS(RSC_SYNC_WAITS, sem_clockwait, (sem_t * semaphore, clockid_t clock, TIME), (semaphore, clock, time))
RELEASES(sem_post, (sem_t * semaphore), (semaphore))

RSC_INTERPOSE(int, pthread_barrier_wait, (pthread_barrier_t * barrier)) {
    if (RECORDING) rsc_asm_put((uintptr_t)barrier, rsc_record_word(RSC_RECORD_BARRIER, 1, 0));
    rsc_asm_sync_before(RSC_SYNC_WAITS);
    int status = RSC_REAL(pthread_barrier_wait)(barrier);
    rsc_asm_sync_after(RSC_SYNC_WAITS);
    return status;
}

/* ---- threads: a new one takes its first time itself, and one that ends publishes its words ---- */

RSC_INTERPOSE(int, pthread_create,
              (pthread_t * thread, const pthread_attr_t *attributes, void *(*function)(void *), void *argument)) {
    rsc_asm_sync_creates();
    return RSC_REAL(pthread_create)(thread, attributes, function, argument);
}
RSC_INTERPOSE(int, thrd_create, (thrd_t * thread, thrd_start_t function, void *argument)) {
    rsc_asm_sync_creates();
    return RSC_REAL(thrd_create)(thread, function, argument);
}
WAITS(RSC_SYNC_WAITS, pthread_join, (pthread_t thread, void **result), (thread, result))
WAITS(RSC_SYNC_WAITS, pthread_tryjoin_np, (pthread_t thread, void **result), (thread, result))
WAITS(RSC_SYNC_WAITS, pthread_timedjoin_np, (pthread_t thread, void **result, TIME), (thread, result, time))
WAITS(RSC_SYNC_WAITS, pthread_clockjoin_np, (pthread_t thread, void **result, clockid_t clock, TIME),
      (thread, result, clock, time))
WAITS(RSC_SYNC_WAITS, thrd_join, (thrd_t thread, int *result), (thread, result))

/* ---- once: whoever runs it releases it, before the others are let in ---- */

static __thread void (*once)(void) __attribute__((tls_model("initial-exec")));
static void run_once(void) {
    once();
    rsc_asm_sync_before(RSC_SYNC_RELEASES);
}
RSC_INTERPOSE(int, pthread_once, (pthread_once_t * flag, void (*function)(void))) {
    void (*outer)(void) = once;
    once = function;
    rsc_asm_sync_before(RSC_SYNC_WAITS);
    int status = RSC_REAL(pthread_once)(flag, run_once);
    once = outer;
    rsc_asm_sync_after(RSC_SYNC_WAITS);
    return status;
}
RSC_INTERPOSE(void, call_once, (once_flag * flag, void (*function)(void))) {
    void (*outer)(void) = once;
    once = function;
    rsc_asm_sync_before(RSC_SYNC_WAITS);
    RSC_REAL(call_once)(flag, run_once);
    once = outer;
    rsc_asm_sync_after(RSC_SYNC_WAITS);
}
