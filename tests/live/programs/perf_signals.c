/*
 * perf_signals.c - programs that want SIGTRAP, signal masks or signal stacks for
 * themselves, while their reuses are watched by SIGTRAP.
 *
 *     perf_signals WHAT [watched]       prints "WHAT ok", or what went wrong
 */
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define CELLS 20000
static double cells[CELLS];
static volatile double kept;

/* Reuses of 20,000 accesses, some thousands of them. */
static __attribute__((noinline)) void work(int rounds) {
    double sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < CELLS; i++) sum += cells[i];
    kept = sum;
}

static int check(int right, const char *what) {
    if (right) return 0;
    printf("wrong: %s\n", what);
    exit(3);
}

/* ---- SIGTRAP of its own ---- */

static volatile sig_atomic_t traps, codes;
static void on_trap(int number, siginfo_t *info, void *context) {
    (void)context;
    traps += number == SIGTRAP;
    codes |= info->si_code > 0 ? 1 : 2;
    work(1);
}
static void own_trap(void) {
    struct sigaction action = {.sa_sigaction = on_trap, .sa_flags = SA_SIGINFO}, before;
    check(sigaction(SIGTRAP, &action, NULL) == 0, "sigaction");
    check(sigaction(SIGTRAP, NULL, &before) == 0 && before.sa_sigaction == on_trap, "its handler is reported");
    for (int i = 0; i < 50; i++) {
        work(20);
        raise(SIGTRAP);
        __asm__ volatile("int3");
    }
    check(traps == 100, "each of its traps came once");
    check(codes == 3, "by raise() and by int3");
    signal(SIGTRAP, SIG_IGN);
    raise(SIGTRAP);
    work(500);
}
static void dies_by_trap(void) {
    work(500);
    raise(SIGTRAP);
}

/* ---- signal stacks ---- */

static char small[16384], large[262144];
static volatile uintptr_t handler_stack;
static void on_usr(int number) {
    char here;
    (void)number;
    handler_stack = (uintptr_t)&here;
    work(3);
}
static void stacks(void) {
    stack_t first = {.ss_sp = small, .ss_size = sizeof small}, second = {.ss_sp = large, .ss_size = sizeof large}, told;
    struct sigaction action = {.sa_handler = on_usr, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    work(200);
    check(sigaltstack(NULL, &told) == 0 && told.ss_flags & SS_DISABLE, "no stack was set");
    check(sigaltstack(&first, NULL) == 0, "sigaltstack");
    check(sigaltstack(NULL, &told) == 0 && told.ss_sp == small && told.ss_size == sizeof small, "the small one is told");
    raise(SIGUSR1);
    work(200);
    check(sigaltstack(&second, &told) == 0 && told.ss_sp == small, "the small one was before");
    raise(SIGUSR1);
    check(handler_stack >= (uintptr_t)large && handler_stack < (uintptr_t)large + sizeof large, "the large one is used");
    work(500);
    check(sigaltstack(&first, &told) == 0 && told.ss_sp == large && told.ss_size == sizeof large, "the large one was before");
    raise(SIGUSR1);
    work(200);
    first.ss_flags = SS_DISABLE;
    check(sigaltstack(&first, &told) == 0 && told.ss_sp == small, "the small one was set again");
    check(sigaltstack(NULL, &told) == 0 && told.ss_flags & SS_DISABLE, "no stack is set any more");
    raise(SIGUSR1);
    work(200);
}

/* The kernel refuses the same sizes, for the same reasons. */
static void refused(void) {
    stack_t stack = {.ss_sp = large};
    work(200);
    errno = 0;
    while (sigaltstack(&stack, NULL) != 0 && errno == ENOMEM && stack.ss_size < sizeof large) stack.ss_size++;
    printf("least %zu\n", stack.ss_size);
    stack.ss_size = sizeof large;
    stack.ss_flags = 0x1234;
    check(sigaltstack(&stack, NULL) != 0 && errno == EINVAL, "flags that mean nothing");
    work(200);
}

/*
 * A processor with larger registers: signal frames of LEAST_STACK bytes, for who asks, and as many bytes used. Sizes
 * that libc makes of that are four times it.
 */
#ifdef LEAST_STACK
static unsigned asked, is_watched;
unsigned long getauxval(unsigned long type) {
    unsigned long (*real)(unsigned long) = (unsigned long (*)(unsigned long))dlsym(RTLD_NEXT, "getauxval");
    asked += type == AT_MINSIGSTKSZ;
    return type == AT_MINSIGSTKSZ ? LEAST_STACK : real(type);
}
long sysconf(int name) {
    long (*real)(int) = (long (*)(int))dlsym(RTLD_NEXT, "sysconf");
    return name == _SC_MINSIGSTKSZ ? LEAST_STACK : name == _SC_SIGSTKSZ ? 4 * LEAST_STACK : real(name);
}
static void on_deep(int number) {
    volatile char frame[LEAST_STACK];
    (void)number;
    for (size_t i = 0; i < sizeof frame; i += 64) frame[i] = (char)i;
    work(20);
}
static void frames(void) {
    struct sigaction action = {.sa_handler = on_deep, .sa_flags = SA_ONSTACK};
    sigaction(SIGUSR1, &action, NULL);
    for (int i = 0; i < 20; i++) {
        work(50);
        raise(SIGUSR1);
    }
    check(asked > 0 || !is_watched, "the runtime asks how large frames are");
}
#endif

/* ---- masks ---- */

static void blocked(void) {
    sigset_t all, told;
    sigfillset(&all);
    check(pthread_sigmask(SIG_BLOCK, &all, NULL) == 0, "pthread_sigmask");
    check(pthread_sigmask(SIG_SETMASK, NULL, &told) == 0 && sigismember(&told, SIGTRAP) && sigismember(&told, SIGUSR1), "told as blocked");
    work(1000);
    raise(SIGTRAP); /* stays pending */
    work(10);
    check(sigpending(&told) == 0 && sigismember(&told, SIGTRAP), "pending");
    struct timespec none = {0, 0};
    sigset_t trap;
    sigemptyset(&trap);
    sigaddset(&trap, SIGTRAP);
    check(sigtimedwait(&trap, NULL, &none) == SIGTRAP, "waited for");
    sigemptyset(&all);
    check(sigprocmask(SIG_SETMASK, &all, &told) == 0 && sigismember(&told, SIGTRAP), "was blocked");
}

static volatile sig_atomic_t alarms;
static void on_alarm(int number) {
    (void)number;
    alarms++;
    work(1);
}
static void full_masks(void) {
    struct sigaction action = {.sa_handler = on_alarm};
    struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    sigfillset(&action.sa_mask);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    while (alarms < 100) work(3);
    setitimer(ITIMER_REAL, &never, NULL);
}

static void by_file(void) {
    sigset_t wanted;
    struct signalfd_siginfo info;
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGUSR1);
    sigaddset(&wanted, SIGUSR2);
    check(sigprocmask(SIG_BLOCK, &wanted, NULL) == 0, "sigprocmask");
    int fd = signalfd(-1, &wanted, 0);
    for (int i = 0; i < 20; i++) {
        work(50);
        kill(getpid(), i % 2 ? SIGUSR1 : SIGUSR2);
        check(read(fd, &info, sizeof info) == sizeof info && (int)info.ssi_signo == (i % 2 ? SIGUSR1 : SIGUSR2), "signalfd");
    }
    close(fd);
}

static void waits_for_trap(void) {
    sigset_t wanted;
    struct signalfd_siginfo info;
    work(300);
    sigemptyset(&wanted);
    sigaddset(&wanted, SIGTRAP);
    check(sigprocmask(SIG_BLOCK, &wanted, NULL) == 0, "sigprocmask");
    int fd = signalfd(-1, &wanted, 0);
    work(300);
    raise(SIGTRAP);
    check(read(fd, &info, sizeof info) == sizeof info && info.ssi_signo == SIGTRAP && info.ssi_pid == (uint32_t)getpid(), "its own SIGTRAP and no other");
    close(fd);
}

/* ---- out of handlers ---- */

static sigjmp_buf back;
static void on_jump(int number) {
    (void)number;
    work(2);
    siglongjmp(back, 1);
}
static void jumps(void) {
    volatile int left = 300;
    struct sigaction action = {.sa_handler = on_jump};
    sigaction(SIGUSR2, &action, NULL);
    sigsetjmp(back, 1);
    work(5);
    if (left-- > 0) raise(SIGUSR2);
    work(1000);
}

int main(int argc, char **argv) {
    for (int i = 0; i < CELLS; i++) cells[i] = argc + i;
    static const struct {
        const char *name;
        void (*run)(void);
    } all[] = {{"trap", own_trap},        {"dies", dies_by_trap},    {"stacks", stacks}, {"blocked", blocked},
               {"refused", refused},
#ifdef LEAST_STACK
               {"frames", frames},
#endif
               {"full_masks", full_masks}, {"signalfd", by_file}, {"waits", waits_for_trap}, {"jumps", jumps}};
#ifdef LEAST_STACK
    is_watched = argc > 2;
#endif
    for (size_t i = 0; argc > 1 && i < sizeof all / sizeof *all; i++)
        if (!strcmp(argv[1], all[i].name)) {
            all[i].run();
            printf("%s ok\n", argv[1]);
            return 0;
        }
    return 2;
}
