/*
 * A timer's handler leaves whatever runs, hundreds of times, also the recorder itself; then touch() makes a known number
 * of accesses, 2,001 in each of the rounds asked for. It prints how many jumps there were, and how often the handler ran
 * (17 accesses of touch() each).
 */
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>

#include "touch.h"

static sigjmp_buf back;
static volatile sig_atomic_t wanted, handled;
static int cells[1000], stack_cells[64];

static void leave(int number) {
    (void)number;
    handled++;
    touch(stack_cells, 8);
    if (wanted) {
        wanted--;
        siglongjmp(back, 1);
    }
}

__attribute__((noinline)) static void busy(void) {
    for (;;)
        for (volatile int i = 0; i < 100; i++) cells[i]++;
}

int main(int argc, char **argv) {
    struct sigaction action = {.sa_handler = leave, .sa_flags = argc > 3 ? SA_ONSTACK : 0};
    struct itimerval often = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    static char other_stack[65536];
    stack_t other = {.ss_sp = other_stack, .ss_size = sizeof other_stack};
    volatile int most = atoi(argv[1]), rounds = atoi(argv[2]);
    sigaltstack(&other, NULL);
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &often, NULL);
    if (!sigsetjmp(back, 1)) wanted = most;
    if (wanted) busy();
    setitimer(ITIMER_REAL, &never, NULL);
    for (int i = 0; i < rounds; i++) touch(cells, 1000);
    printf("%d %d\n", most - wanted, handled);
    return 0;
}
