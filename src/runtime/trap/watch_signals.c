/*
 * watch_signals.c - lets a program that is watched with SIGTRAP use that signal, signal masks
 * and signal stacks itself.
 *
 * The handler of SIGTRAP stays ours. The program's own handler, if any, is called for every
 * SIGTRAP that is not ours; without one, such a signal has its default effect.
 *
 * Masks. A program that blocks all signals means those that could disturb it. SIGTRAP is
 * removed from what it blocks, and from the masks of its handlers; when it asks for its mask,
 * SIGTRAP is shown as blocked. If a SIGTRAP that is not ours comes while the program thinks it
 * is blocked, it is really blocked, sent again, and left pending: sigwait() and signalfd()
 * find it. From then on that thread's traps come late. A program that waits for SIGTRAP by
 * name is not watched, as traps would interfere. The signal of a PMU's samples
 * (perf_preload.c) is never blocked.
 *
 * Stacks. The program's own signal stack is used if it is large enough for our handler;
 * otherwise ours, which is larger, stays, and the program is shown its own.
 */
#include "runtime/trap/watch_thread.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

/* ---- SIGTRAP ---- */

static struct sigaction wanted; /* by the program; zeros: the default */

static void die_by(int number) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigset_t only;
    sigemptyset(&only);
    sigaddset(&only, number);
    rsc_asm_real_sigaction(number, &usual, NULL);
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
    syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &only, NULL, 8);
}

/* Returns it to the kernel, for a program that has blocked it. */
static void leave_pending(int number, siginfo_t *info, ucontext_t *context) {
    sigaddset(&context->uc_sigmask, number); /* blocked when this handler returns; until then it is anyway */
    if (info->si_code <= 0 && info->si_code != SI_TKILL && syscall(SYS_rt_sigqueueinfo, getpid(), number, info) == 0)
        return;
    syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), number);
}

/*
 * A debug register that fires while its event is being removed belongs to no event: the
 * kernel makes a plain SIGTRAP of it, as of a breakpoint that a debugger set (then it
 * would not come here), or as of the instruction int1 (then that is before the pc).
 */
static int is_leftover(const siginfo_t *info, const ucontext_t *context) {
    const uint8_t *pc = (const uint8_t *)(uintptr_t)context->uc_mcontext.gregs[REG_RIP];
    return info->si_code == TRAP_HWBKPT || (info->si_code == TRAP_BRKPT && pc[-1] != 0xf1 && pc[-1] != 0xcc);
}

void rsc_watch_foreign_trap(int number, void *info, void *context) {
    struct rsc_asm_interrupted before;
    if (is_leftover(info, context)) return;
    struct sigaction action = wanted;
    /* A processor exception cannot be blocked: the kernel ends a program that tries. */
    if (rsc_watch_local.trap_blocked && ((siginfo_t *)info)->si_code <= 0) {
        leave_pending(number, info, context);
        return;
    }
    if (action.sa_handler == SIG_IGN && ((siginfo_t *)info)->si_code <= 0) return;
    if (action.sa_handler == SIG_DFL || action.sa_handler == SIG_IGN) {
        die_by(number);
        return;
    }
    if (action.sa_flags & (int)SA_RESETHAND) memset(&wanted, 0, sizeof wanted);
    sigset_t blocked = action.sa_mask;
    sigdelset(&blocked, SIGTRAP);
    if (action.sa_flags & SA_NODEFER) {
        sigset_t itself;
        sigemptyset(&itself);
        sigaddset(&itself, number);
        syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &itself, NULL, 8);
    }
    syscall(SYS_rt_sigprocmask, SIG_BLOCK, &blocked, NULL, 8);
    rsc_asm_handler_enter(&before);
    if (action.sa_flags & SA_SIGINFO) action.sa_sigaction(number, info, context);
    else action.sa_handler(number);
    rsc_asm_handler_leave(&before);
}

int rsc_watch_trap_action(const struct sigaction *action, struct sigaction *before) {
    struct sigaction old = wanted;
    if (action) wanted = *action;
    if (before) *before = old;
    return 0;
}

/* ---- masks ---- */

int rsc_watch_sample_signal;

static int change_mask(int how, const sigset_t *set, sigset_t *before, int (*real)(int, const sigset_t *, sigset_t *)) {
    struct rsc_watch_local *local = &rsc_watch_local;
    sigset_t ours;
    uint8_t was = local->trap_blocked;
    if (set && how != SIG_UNBLOCK) {
        int blocks = sigismember(set, SIGTRAP) == 1;
        ours = *set;
        sigdelset(&ours, SIGTRAP);
        if (rsc_watch_sample_signal) sigdelset(&ours, rsc_watch_sample_signal);
        set = &ours;
        if (blocks) local->trap_blocked = 1;
        else if (how == SIG_SETMASK) local->trap_blocked = 0;
    } else if (set && sigismember(set, SIGTRAP)) {
        local->trap_blocked = 0;
    }
    int status = real(how, set, before);
    if (status != 0) local->trap_blocked = was;
    else if (before && was) sigaddset(before, SIGTRAP);
    return status;
}

RSC_INTERPOSE(int, pthread_sigmask, (int how, const sigset_t *set, sigset_t *before)) {
    if (!rsc_watch_is_on()) return RSC_REAL(pthread_sigmask)(how, set, before);
    return change_mask(how, set, before, RSC_REAL(pthread_sigmask));
}

RSC_INTERPOSE(int, sigprocmask, (int how, const sigset_t *set, sigset_t *before)) {
    if (!rsc_watch_is_on()) return RSC_REAL(sigprocmask)(how, set, before);
    return change_mask(how, set, before, RSC_REAL(sigprocmask));
}

/* Whether SIGTRAP is waited for by name: a set that also has signals nobody waits for means "all of them". */
static void waits_for(const sigset_t *set) {
    if (rsc_watch_is_on() && set && sigismember(set, SIGTRAP) == 1 &&
        !(sigismember(set, SIGSEGV) && sigismember(set, SIGILL)))
        rsc_watch_turn_off(RSC_WATCH_SIGNAL_WANTED);
}

/* Around a wait for a signal, which orders this thread behind the one that sent it. */
static void begin_wait(const sigset_t *set) {
    waits_for(set);
    if (rsc_watch_signal_awaited) rsc_watch_signal_awaited();
}

static int end_wait(int result) {
    if (rsc_watch_signal_came) rsc_watch_signal_came();
    return result;
}

static int is_timers(int result, const siginfo_t *info) {
    return result > 0 && rsc_watch_timer_came && rsc_watch_timer_came(info);
}

RSC_INTERPOSE(int, sigtimedwait, (const sigset_t *set, siginfo_t *info, const struct timespec *most)) {
    siginfo_t own, *to = info ? info : &own;
    int result;
    begin_wait(set);
    do result = RSC_REAL(sigtimedwait)(set, to, most);
    while (is_timers(result, to));
    return end_wait(result);
}

RSC_INTERPOSE(int, sigwaitinfo, (const sigset_t *set, siginfo_t *info)) {
    siginfo_t own, *to = info ? info : &own;
    int result;
    begin_wait(set);
    do result = RSC_REAL(sigwaitinfo)(set, to);
    while (is_timers(result, to));
    return end_wait(result);
}

RSC_INTERPOSE(int, sigwait, (const sigset_t *set, int *number)) {
    const int timers = rsc_watch_timer_signal ? rsc_watch_timer_signal() : 0, error = errno;
    if (!timers || sigismember(set, timers) != 1) {
        begin_wait(set);
        return end_wait(RSC_REAL(sigwait)(set, number));
    }
    int result;
    do result = sigwaitinfo(set, NULL);
    while (result < 0 && errno == EINTR);
    const int status = result < 0 ? errno : 0;
    errno = error;
    if (!status) *number = result;
    return status;
}

RSC_INTERPOSE(int, signalfd, (int fd, const sigset_t *set, int flags)) {
    const int timers = rsc_watch_timer_signal ? rsc_watch_timer_signal() : 0;
    waits_for(set);
    if (!timers || sigismember(set, timers) != 1) return RSC_REAL(signalfd)(fd, set, flags);
    sigset_t without = *set;
    sigdelset(&without, timers);
    return RSC_REAL(signalfd)(fd, &without, flags);
}

/* ---- stacks ---- */

/* Stack that our handler and the unwinder need, in addition to the kernel's frame. */
#define HANDLER_BYTES 45056u
#define FRAME_BYTES_USUAL 4096u /* for kernels that do not report it: no processor they support has more */

/* The program's own setting, per thread; flags SS_DISABLE: none. */
static __thread stack_t programs_stack __attribute__((tls_model("initial-exec"))) = {.ss_flags = SS_DISABLE};

/* For one of our handlers: the kernel's frame is 2 to 11 KiB, depending on the processor's registers. */
static size_t stack_need(void) {
    size_t frame = getauxval(AT_MINSIGSTKSZ);
    return ((frame ? frame : FRAME_BYTES_USUAL) + HANDLER_BYTES + 63) & ~(size_t)63;
}

/* The same again for the program's handlers, which had less than that and may be interrupted by ours. */
size_t rsc_watch_stack_bytes(void) { return 2 * stack_need(); }

static int is_enough(const stack_t *stack) { return !(stack->ss_flags & SS_DISABLE) && stack->ss_size >= stack_need(); }

static void take_ours(struct rsc_watch_thread *thread) {
    stack_t ours = {.ss_sp = thread->stack, .ss_size = thread->stack_bytes};
    thread->own_stack = syscall(SYS_sigaltstack, &ours, NULL) == 0;
}

void rsc_watch_stack_begins(struct rsc_watch_thread *thread) {
    stack_t before;
    if (syscall(SYS_sigaltstack, NULL, &before) != 0 || before.ss_flags & SS_ONSTACK || is_enough(&before)) return;
    programs_stack = before;
    take_ours(thread);
}

void rsc_watch_stack_ends(struct rsc_watch_thread *thread) {
    stack_t none = {.ss_flags = SS_DISABLE};
    if (!thread->own_stack) return;
    syscall(SYS_sigaltstack, programs_stack.ss_flags & SS_DISABLE ? &none : &programs_stack, NULL);
    thread->own_stack = 0;
}

/*
 * The kernel decides which stacks it refuses: the least size depends on the processor and on what the process may
 * use of it. So it is given the program's, and then ours if needed; no signal comes in between.
 */
static int change_stack(struct rsc_watch_thread *thread, const stack_t *stack) {
    const uint64_t all = ~0ull;
    uint64_t mask;
    if (syscall(SYS_rt_sigprocmask, SIG_BLOCK, &all, &mask, 8) != 0) return -1;
    int status = (int)syscall(SYS_sigaltstack, stack, NULL), kept = errno;
    if (status == 0) {
        programs_stack = *stack;
        programs_stack.ss_flags &= SS_DISABLE;
        thread->own_stack = 0;
        if (!is_enough(stack)) take_ours(thread);
    }
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &mask, NULL, 8);
    errno = kept;
    return status;
}

RSC_INTERPOSE(int, sigaltstack, (const stack_t *stack, stack_t *before)) {
    struct rsc_watch_thread *thread = rsc_watch_is_on() ? rsc_watch_local.thread : NULL;
    if (!thread) return RSC_REAL(sigaltstack)(stack, before);
    stack_t now;
    if (syscall(SYS_sigaltstack, NULL, &now) != 0) return -1;
    if (thread->own_stack) {
        int on_it = now.ss_flags & SS_ONSTACK && !(programs_stack.ss_flags & SS_DISABLE);
        now = programs_stack;
        now.ss_flags |= on_it ? SS_ONSTACK : 0;
    }
    if (stack && change_stack(thread, stack) != 0) return -1;
    if (before) *before = now;
    return 0;
}
