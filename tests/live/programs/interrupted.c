/*
 * interrupted - works until a timer has interrupted it 20 times; prints how often it worked.
 *
 * Truth. Each call of sweep() reads and writes 100 lines and returns, 201 references. What the system writes to and reads
 * from the stack for a signal is not the program's.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/time.h>

static _Alignas(64) volatile char lines[100][64];
static volatile sig_atomic_t ticks;

static void on_tick(int number) {
    (void)number;
    ticks++;
}

__attribute__((noinline)) void sweep(void) {
    for (int i = 0; i < 100; i++) lines[i][0] = (char)(lines[i][0] + 1);
}

int main(void) {
    const struct sigaction action = {.sa_handler = on_tick, .sa_flags = SA_RESTART};
    const struct itimerval every = {{0, 1000}, {0, 1000}}, never = {{0, 0}, {0, 0}};
    long calls = 0;
    sigaction(SIGALRM, &action, NULL);
    setitimer(ITIMER_REAL, &every, NULL);
    for (; ticks < 20 || calls < 2000; calls++) sweep();
    setitimer(ITIMER_REAL, &never, NULL);
    printf("%ld\n", calls);
    return 0;
}
