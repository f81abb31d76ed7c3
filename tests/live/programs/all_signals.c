/*
 * all_signals default|ignored|handled|awaited: a program that uses every signal, among them the one that `run` takes for its
 * samples of processor time (SIGRTMAX - 2), and works for a few of its periods after each step. Prints what it notices.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

#define TAKEN (SIGRTMAX - 2)

static volatile char cells[100];
static volatile sig_atomic_t handled;

static void work(void) {
    const clock_t end = clock() + CLOCKS_PER_SEC / 20;
    while (clock() < end)
        for (int i = 0; i < 100; i++) cells[i]++;
}

static void count(int number) { handled += number == TAKEN; }

static void set_all(void (*handler)(int)) {
    const struct sigaction action = {.sa_handler = handler};
    for (int number = 1; number < 65; number++) sigaction(number, &action, NULL);
}

static void await_all(void) {
    const struct timespec now = {0, 0};
    struct signalfd_siginfo from_file = {0};
    siginfo_t info;
    sigset_t all;
    int number = 0;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
    work();
    kill(getpid(), SIGUSR1);
    printf("%d\n", sigwaitinfo(&all, &info) == SIGUSR1);
    work();
    kill(getpid(), SIGUSR2);
    printf("%d\n", !sigwait(&all, &number) && number == SIGUSR2);
    work();
    printf("%d\n", sigtimedwait(&all, &info, &now) < 0 && errno == EAGAIN);
    kill(getpid(), TAKEN);
    printf("%d\n", sigwaitinfo(&all, NULL) == TAKEN);
    work();
    const int file = signalfd(-1, &all, SFD_NONBLOCK);
    printf("%d\n", read(file, &from_file, sizeof from_file) < 0);
    kill(getpid(), SIGTERM);
    printf("%d\n", read(file, &from_file, sizeof from_file) > 0 && from_file.ssi_signo == SIGTERM);
}

int main(int argc, char **argv) {
    const char *how = argc > 1 ? argv[1] : "";
    struct sigaction before;
    work();
    sigaction(TAKEN, NULL, &before);
    printf("%d\n", before.sa_handler == SIG_DFL);
    if (!strcmp(how, "default")) set_all(SIG_DFL);
    else if (!strcmp(how, "ignored")) set_all(SIG_IGN);
    else if (!strcmp(how, "handled")) set_all(count);
    else await_all();
    work();
    if (!strcmp(how, "ignored") || !strcmp(how, "handled"))
        for (int i = 0; i < 20; i++) raise(TAKEN);
    work();
    sigaction(TAKEN, NULL, &before);
    printf("%d %d %d\n", before.sa_handler == SIG_DFL, before.sa_handler == count, handled);
    fflush(stdout);
    if (!strcmp(how, "default")) raise(TAKEN);
    return 3;
}
