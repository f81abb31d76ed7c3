/*
 * asm_samples.c - measures how much of the program's processor time is spent in code
 * that was not rebuilt, and so is not recorded.
 *
 * Every recording thread has a timer on its own processor time. When it fires, the
 * interrupted pc is looked up among the rebuilt modules: two counts in the ring. The
 * signal comes while the thread runs, never while it waits, so it interrupts no long
 * system call. The signal stays ours whatever the program does with it: others of that
 * number go on to the program's handler. 100 per second of processor time: 1,000 samples, 10 s, give a share of
 * 10 % to within 2 points.
 */
#include "runtime/recorder/asm_runtime.h"

#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#define RANGES_MAX 256u
#define PERIOD_NS 10000000
#define SAMPLE_SIGNAL (SIGRTMAX - 2)

static void on_sample(int number, siginfo_t *info, void *context);

static struct rsc_ring *counted_in;
static struct {
    uintptr_t start, stop;
} ranges[RANGES_MAX];
static uint32_t range_count;
static struct sigaction programs; /* the program's own action for the signal */

void rsc_asm_samples_range(uintptr_t start, uintptr_t stop) {
    uint32_t number = __atomic_load_n(&range_count, __ATOMIC_RELAXED);
    if (number == RANGES_MAX || start >= stop) return;
    ranges[number].start = start;
    ranges[number].stop = stop;
    __atomic_store_n(&range_count, number + 1, __ATOMIC_RELEASE);
}

int rsc_asm_samples_signal(void) { return counted_in ? SAMPLE_SIGNAL : 0; }

int rsc_asm_samples_is_one(const void *of) {
    const siginfo_t *info = of;
    return info->si_signo == SAMPLE_SIGNAL && info->si_code == SI_TIMER && info->si_value.sival_ptr == &counted_in;
}

/* Another of that number, as the program's action has it. */
static void pass_on(int number, siginfo_t *info, void *context) {
    const struct sigaction action = programs, to_default = {.sa_handler = SIG_DFL};
    if (action.sa_handler == SIG_IGN) return;
    if (action.sa_handler != SIG_DFL) {
        if (action.sa_flags & (int)SA_RESETHAND) programs.sa_handler = SIG_DFL;
        rsc_asm_handle_signal(number, info, context);
        return;
    }
    rsc_asm_real_sigaction(number, &to_default, NULL);
    syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), number); /* comes when this handler returns */
}

int rsc_asm_samples_action(const struct sigaction *action, struct sigaction *before) {
    const struct sigaction old = programs;
    if (action) {
        struct sigaction ours = {.sa_sigaction = on_sample,
                                 .sa_mask = action->sa_mask,
                                 .sa_flags =
                                     (action->sa_flags & (int)SA_NODEFER) | SA_RESTART | SA_SIGINFO | SA_ONSTACK};
        if (action->sa_handler != SIG_DFL && action->sa_handler != SIG_IGN && !(action->sa_flags & SA_RESTART))
            ours.sa_flags &= ~SA_RESTART;
        programs = *action;
        if (rsc_asm_real_sigaction(SAMPLE_SIGNAL, &ours, NULL) != 0) return -1;
    }
    if (before) *before = old;
    return 0;
}

static void on_sample(int number, siginfo_t *info, void *context) {
    uintptr_t pc = (uintptr_t)((ucontext_t *)context)->uc_mcontext.gregs[REG_RIP];
    uint32_t count = __atomic_load_n(&range_count, __ATOMIC_ACQUIRE);
    int seen = 0;
    if (!rsc_asm_samples_is_one(info)) {
        pass_on(number, info, context);
        return;
    }
    if (rsc_asm_local.busy) return; /* the runtime itself counts as neither */
    for (uint32_t i = 0; i < count && !seen; i++) seen = pc >= ranges[i].start && pc < ranges[i].stop;
    __atomic_fetch_add(&counted_in->samples, 1, __ATOMIC_RELAXED);
    if (!seen) __atomic_fetch_add(&counted_in->samples_unseen, 1, __ATOMIC_RELAXED);
}

void rsc_asm_samples_start(struct rsc_ring *ring) {
    struct sigaction action = {.sa_sigaction = on_sample, .sa_flags = SA_RESTART | SA_SIGINFO | SA_ONSTACK}, before;
    if (rsc_asm_real_sigaction(SAMPLE_SIGNAL, NULL, &before) != 0 || before.sa_handler != SIG_DFL) return;
    counted_in = ring;
    if (rsc_asm_real_sigaction(SAMPLE_SIGNAL, &action, NULL) != 0) counted_in = NULL;
}

/* By system calls: libc's timers would belong to the process. */
void rsc_asm_samples_thread(void) {
    struct sigevent event = {
        .sigev_notify = SIGEV_THREAD_ID, .sigev_signo = SAMPLE_SIGNAL, .sigev_value.sival_ptr = &counted_in};
    struct itimerspec every = {{0, PERIOD_NS}, {0, PERIOD_NS}};
    int timer;
    if (!counted_in) return;
    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_THREAD_CPUTIME_ID, &event, &timer) != 0) return;
    rsc_asm_local.sample_timer = timer + 1;
    syscall(SYS_timer_settime, timer, 0, &every, NULL);
}

void rsc_asm_samples_thread_end(void) {
    if (rsc_asm_local.sample_timer) syscall(SYS_timer_delete, rsc_asm_local.sample_timer - 1);
    rsc_asm_local.sample_timer = 0;
}
