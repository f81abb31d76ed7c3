/*
 * asm_processes.c - signal and process functions for rebuilt programs.
 *
 * A handler that the program installs is called through one of ours, so that its records do
 * not interfere with the interrupted code. Before another program is started, recorded words
 * are published (also trap/process_ends.c).
 */
#include "runtime/recorder/asm_runtime.h"
#include "runtime/trap/watch_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <string.h>
#include <stdio.h>
#include <unistd.h>

/* ---- signals ---- */

#define SIGNALS 65

/* The program's action. Written whole under a lock of the kernel: sigaction() itself decides which call is last. */
static struct {
    void (*plain)(int);
    void (*detailed)(int, siginfo_t *, void *);
} handlers[SIGNALS];

static void handle(int number, siginfo_t *info, void *context) {
    struct rsc_asm_interrupted before;
    void (*plain)(int) = __atomic_load_n(&handlers[number].plain, __ATOMIC_ACQUIRE);
    void (*detailed)(int, siginfo_t *, void *) = __atomic_load_n(&handlers[number].detailed, __ATOMIC_ACQUIRE);
    rsc_asm_handler_enter(&before);
    if (before.local.busy && __builtin_setjmp(before.back)) { /* it jumps when what it interrupted is done */
        rsc_asm_handler_leave(rsc_asm_local.handler);
        return;
    }
    if (detailed) detailed(number, info, context);
    else if (plain) plain(number);
    rsc_asm_handler_leave(&before);
}

void rsc_asm_handle_signal(int number, void *info, void *context) { handle(number, info, context); }

static int is_handler(void (*handler)(int)) { return handler != SIG_DFL && handler != SIG_IGN && handler != SIG_ERR; }

static void keep_handler(int number, const struct sigaction *action) {
    int details = (action->sa_flags & SA_SIGINFO) != 0;
    __atomic_store_n(&handlers[number].plain, details ? NULL : action->sa_handler, __ATOMIC_RELEASE);
    __atomic_store_n(&handlers[number].detailed, details ? action->sa_sigaction : NULL, __ATOMIC_RELEASE);
}

RSC_INTERPOSE(int, sigaction, (int number, const struct sigaction *action, struct sigaction *before)) {
    struct sigaction ours, old;
    int known = number > 0 && number < SIGNALS;
    void (*plain)(int) = known ? handlers[number].plain : NULL;
    void (*detailed)(int, siginfo_t *, void *) = known ? handlers[number].detailed : NULL;
    if (rsc_watch_is_on() && number == SIGTRAP) return rsc_watch_trap_action(action, before);
    if (known && number == rsc_asm_samples_signal()) {
        if (action && is_handler(action->sa_handler)) keep_handler(number, action);
        return rsc_asm_samples_action(action, before);
    }
    if (action && known) {
        ours = *action;
        if (rsc_watch_is_on()) sigdelset(&ours.sa_mask, SIGTRAP);
        if (is_handler(action->sa_handler)) {
            keep_handler(number, action);
            ours.sa_sigaction = handle;
            ours.sa_flags |= SA_SIGINFO;
        }
        action = &ours;
    }
    int status = RSC_REAL(sigaction)(number, action, &old);
    if (status != 0 && known) { /* the old action */
        handlers[number].plain = plain;
        handlers[number].detailed = detailed;
    }
    if (status == 0 && before) {
        *before = old;
        if (known && old.sa_sigaction == handle) {
            if (detailed) before->sa_sigaction = detailed;
            else {
                before->sa_handler = plain;
                before->sa_flags &= ~SA_SIGINFO;
            }
        }
    }
    return status;
}

int rsc_asm_real_sigaction(int number, const struct sigaction *action, struct sigaction *before) {
    return RSC_REAL(sigaction)(number, action, before);
}

typedef void (*plain_handler)(int);
RSC_INTERPOSE(plain_handler, signal, (int number, plain_handler handler)) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, before;
    if (!is_handler(handler) && (number <= 0 || number >= SIGNALS)) return RSC_REAL(signal)(number, handler);
    sigemptyset(&action.sa_mask);
    sigaddset(&action.sa_mask, number);
    return sigaction(number, &action, &before) == 0 ? before.sa_handler : SIG_ERR;
}

/* ---- started programs ---- */

static struct rsc_ring *watched_in(void) { return rsc_asm_local.writer.ring; }

/* Counted as not watched; a rebuilt program that is followed undoes that. */
static void starts_program(int by) {
    struct rsc_ring *ring = watched_in();
    if (ring) __atomic_fetch_add(&ring->execs, (uint64_t)(int64_t)by, __ATOMIC_RELAXED);
}

void rsc_process_execs(void) {
    rsc_asm_publish();
    starts_program(1);
}
void rsc_process_stays(void) { starts_program(-1); }
void rsc_process_aborts(void) { rsc_asm_publish(); }

RSC_INTERPOSE(int, posix_spawn,
              (pid_t * pid, const char *path, const posix_spawn_file_actions_t *actions,
               const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)) {
    rsc_asm_publish();
    int status = RSC_REAL(posix_spawn)(pid, path, actions, attributes, argv, environment);
    if (!status) starts_program(1);
    return status;
}

RSC_INTERPOSE(int, posix_spawnp,
              (pid_t * pid, const char *file, const posix_spawn_file_actions_t *actions,
               const posix_spawnattr_t *attributes, char *const *argv, char *const *environment)) {
    rsc_asm_publish();
    int status = RSC_REAL(posix_spawnp)(pid, file, actions, attributes, argv, environment);
    if (!status) starts_program(1);
    return status;
}

RSC_INTERPOSE(int, system, (const char *command)) {
    rsc_asm_publish();
    if (command) starts_program(1);
    return RSC_REAL(system)(command);
}

RSC_INTERPOSE(FILE *, popen, (const char *command, const char *how)) {
    rsc_asm_publish();
    starts_program(1);
    return RSC_REAL(popen)(command, how);
}
