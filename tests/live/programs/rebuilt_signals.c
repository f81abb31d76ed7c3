/*
 * rebuilt_signals.c - handlers that run rebuilt code while rebuilt code runs: by a
 * timer, by raise(), nested, on a stack of their own, and left by siglongjmp().
 *
 *     rebuilt_signals SIGNALS      says how many came, and what was counted
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "touch.h"

static int from_main[1024], from_handler[1024], nested[64];
static volatile sig_atomic_t alarms, wanted;
static sigjmp_buf out;

static void on_nested(int number) {
    (void)number;
    touch(nested, 64);
}

static void on_alarm(int number, siginfo_t *info, void *context) {
    (void)number, (void)info, (void)context;
    touch(from_handler, 1024);
    if (++alarms % 8 == 0) raise(SIGUSR1);
}

static void on_jump(int number) {
    (void)number;
    touch(nested, 1);
    siglongjmp(out, 1);
}

int main(int argc, char **argv) {
    static char stack[65536];
    stack_t other = {.ss_sp = stack, .ss_size = sizeof stack};
    struct sigaction action = {.sa_sigaction = on_alarm, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART}, before;
    struct itimerval every = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
    long rounds = 0, jumps = 0;
    wanted = argc > 1 ? atoi(argv[1]) : 100;
    sigaltstack(&other, NULL);
    signal(SIGUSR1, on_nested);
    sigaction(SIGALRM, &action, NULL);
    sigaction(SIGALRM, NULL, &before);
    if (before.sa_sigaction != on_alarm || !(before.sa_flags & SA_SIGINFO)) return 3;
    setitimer(ITIMER_REAL, &every, NULL);
    while (alarms < wanted) {
        touch(from_main, 1024);
        rounds++;
    }
    setitimer(ITIMER_REAL, &never, NULL);
    if (signal(SIGUSR2, on_jump) != SIG_DFL) return 4;
    for (int i = 0; i < 20; i++) {
        if (!sigsetjmp(out, 1)) raise(SIGUSR2);
        jumps++;
        touch(from_main, 1024);
        rounds++;
    }
    if (signal(SIGUSR2, SIG_IGN) != on_jump) return 5;
    raise(SIGUSR2);
    for (int i = 0; i < 1024; i++)
        if (from_main[i] != rounds || from_handler[i] != alarms) return 6;
    printf("%ld rounds, %d alarms, %d nested, %ld jumps\n", rounds, (int)alarms, nested[1], jumps);
    return 0;
}
