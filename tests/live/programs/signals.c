/* Says "ready", then counts the signals it gets and works on until it got SIGTERM or SIGINT, or is ended. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static volatile sig_atomic_t got[65], stop;

static void count(int number) {
    got[number]++;
    if (number == SIGINT || number == SIGTERM || number == SIGHUP || number == SIGQUIT) stop = number;
}

int main(int argc, char **argv) {
    static volatile long cells[64];
    if (argc < 2 || strcmp(argv[1], "default")) {
        static const int all[] = {SIGINT, SIGTERM, SIGUSR1, SIGUSR2, SIGQUIT, SIGHUP, SIGCONT, SIGWINCH};
        for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
            struct sigaction old;
            sigaction(all[i], NULL, &old);
            if (old.sa_handler != SIG_IGN) signal(all[i], count);
            else printf("ignored %d\n", all[i]);
        }
    }
    printf("ready\n");
    fflush(stdout);
    if (argc > 1 && !strcmp(argv[1], "stop")) raise(SIGSTOP);
    if (argc > 1 && !strcmp(argv[1], "quick")) return 0;
    while (!stop) {
        cells[0]++;
        if (argc > 1 && !strcmp(argv[1], "stop") && got[SIGCONT]) stop = SIGCONT;
        usleep(1000);
    }
    printf("usr1 %d usr2 %d cont %d stopped by %d\n", got[SIGUSR1], got[SIGUSR2], got[SIGCONT] > 0, stop);
    return 10;
}
