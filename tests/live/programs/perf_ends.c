/*
 * Sweeps 300 times, 2 * 32,768 accesses each time, and ends in the way that the letter of its argument says. No
 * function of libc that touches memory is called: what remains is counted alike with every collector.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SWEEPS = 300, LATER = 100, CELLS = 1 << 15 };
static volatile long cells[CELLS];
static jmp_buf place;
static atomic_int waits; /* the other thread has swept */

static __attribute__((noinline)) void sweep(void) {
    for (int i = 0; i < CELLS; i++) cells[i]++;
}
static void sweep_times(int times) {
    for (int i = 0; i < times; i++) sweep();
}
static void end_in_handler(int number) {
    (void)number;
    sweep_times(LATER);
    _exit(0);
}
static void jump_back(int number) {
    (void)number;
    longjmp(place, 1);
}
static void last(void) { sweep_times(LATER); }
static void *wait_forever(void *unused) {
    (void)unused;
    sweep_times(LATER);
    waits = 1;
    for (;;) pause();
}

/* Children that end by _exit(). */
static void have_children(int count) {
    for (int i = 0; i < count; i++)
        if (!fork()) {
            sweep_times(LATER);
            _exit(0);
        }
    while (wait(NULL) > 0) continue;
}

/* A child that is killed in the middle. Prints how many times it has swept. */
static int kill_a_child(void) {
    volatile long *done = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (done == MAP_FAILED) return 1;
    pid_t child = fork();
    while (!child) {
        sweep();
        ++*done;
    }
    while (*done < 4000) usleep(1000);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    printf("%ld\n", *done);
    return 0;
}

int main(int argc, char **argv) {
    const char how = argc > 1 ? argv[1][0] : 'r';
    char *again[] = {argv[0], (char *)"n", NULL}, *no[] = {(char *)"/nowhere", NULL};
    pthread_t thread;
    if (how == 'n') return 0;
    if (how == 'K') return kill_a_child();
    if (how == 'q') at_quick_exit(last);
    if (how == 't' && pthread_create(&thread, NULL, wait_forever, NULL) != 0) return 1;
    sweep_times(SWEEPS);
    switch (how) {
    case 'e': _exit(0);
    case 'E': _Exit(0);
    case 'q': quick_exit(0);
    case '1': execl(argv[0], argv[0], "n", (char *)NULL); break;
    case '2': execlp(argv[0], argv[0], "n", (char *)NULL); break;
    case '3': execle(argv[0], argv[0], "n", (char *)NULL, environ); break;
    case '4': execv(argv[0], again); break;
    case '5': execve(argv[0], again, environ); break;
    case '6': execvp(argv[0], again); break;
    case '7': execvpe(argv[0], again, environ); break;
    case '8': fexecve(open(argv[0], O_RDONLY | O_CLOEXEC), again, environ); break;
    case 'a': abort();
    case 'k': kill(getpid(), SIGKILL); break;
    case 's': raise(SIGTERM); break;
    case 'y': syscall(SYS_exit_group, 0); break;
    case 'h':
        signal(SIGUSR1, end_in_handler);
        raise(SIGUSR1);
        break;
    case 'v':
        if (!vfork()) _exit(0);
        wait(NULL);
        sweep_times(LATER);
        _exit(0);
    case 'V':
        if (!vfork()) execv(argv[0], again);
        wait(NULL);
        sweep_times(LATER);
        _exit(0);
    case 'f':
        execv(no[0], no);
        sweep_times(LATER);
        _exit(0);
    case 'j':
        signal(SIGABRT, jump_back);
        if (!setjmp(place)) abort();
        sweep_times(LATER);
        _exit(0);
    case 't':
        while (!waits) usleep(1000);
        _exit(0);
    case 'c': have_children(8); break;
    default: break;
    }
    return 0;
}
