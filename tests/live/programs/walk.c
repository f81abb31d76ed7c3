/*
 * walk.c - walks its own stack with libunwind from a signal handler that may interrupt
 * it anywhere, also in recording copies: every walk
 * must reach main through the functions that are open. With an argument it only calls
 * them, for a debugger.
 */
#define UNW_LOCAL_ONLY
#include <libunwind.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>

static volatile int walks, whole, is_inside, cells[4096];
static volatile long total;

static void on_time(int number, siginfo_t *info, void *context) {
    unw_cursor_t cursor;
    char name[128];
    unw_word_t offset;
    int seen = 0;
    (void)number, (void)info;
    if (unw_init_local2(&cursor, context, UNW_INIT_SIGNAL_FRAME) != 0) return;
    do {
        if (unw_get_proc_name(&cursor, name, sizeof name, &offset) != 0) continue;
        if (!strcmp(name, "middle")) seen |= 1;
        if (!strcmp(name, "outer") && (seen & 1)) seen |= 2;
        if (!strcmp(name, "main") && (seen & 2)) seen |= 4;
    } while (unw_step(&cursor) > 0);
    if (!is_inside) return; /* it was elsewhere */
    walks++;
    whole += seen == 7;
}

static __attribute__((noinline)) long innermost(long n) {
    long sum = 0;
    is_inside = 1;
    for (long i = 0; i < n; i++) sum += cells[i & 4095]++;
    is_inside = 0;
    total += sum;
    return sum;
}
static __attribute__((noinline)) long middle(long n) {
    volatile long here[4] = {n};
    here[1] = innermost(here[0]);
    return here[1] + 1;
}
static __attribute__((noinline)) long outer(long n) {
    volatile long here[9] = {n};
    here[3] = middle(here[0]);
    return here[3] + 1;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_sigaction = on_time, .sa_flags = SA_SIGINFO | SA_RESTART};
    struct itimerval every = {{0, 1000}, {0, 1000}};
    (void)argv;
    if (argc > 1) return outer(100000) == 0;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &every, NULL);
    while (walks < 30) outer(20000);
    printf("%d walks, %s\n", walks > 30 ? 30 : walks, walks == whole ? "all whole" : "some broken");
    return walks != whole;
}
