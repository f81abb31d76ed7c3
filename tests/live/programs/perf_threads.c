/*
 * perf_threads.c - threads and processes whose reuses are watched.
 *
 *     perf_threads many COUNT AT_ONCE   COUNT threads, AT_ONCE at a time, each for some milliseconds
 *     perf_threads fork                 works, as its child does
 *     perf_threads exec                 works, then becomes "perf_threads work"
 *     perf_threads held COUNT           holds so many debug registers of its own
 *     perf_threads work                 works
 */
#include <linux/hw_breakpoint.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CELLS 20000
static double cells[CELLS];
static volatile double kept;

static __attribute__((noinline)) void work(int rounds) {
    double sum = 0;
    for (int round = 0; round < rounds; round++)
        for (int i = 0; i < CELLS; i++) sum += cells[i];
    kept = sum;
}

static void *thread(void *rounds) {
    work((int)(intptr_t)rounds);
    return NULL;
}

static int many(int count, int at_once) {
    pthread_t *threads = calloc((size_t)count, sizeof *threads);
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 65536);
    for (int from = 0; from < count; from += at_once) {
        int to = from + at_once < count ? from + at_once : count;
        for (int i = from; i < to; i++)
            if (pthread_create(&threads[i], &small, thread, (void *)(intptr_t)20) != 0) return 4;
        for (int i = from; i < to; i++) pthread_join(threads[i], NULL);
    }
    free(threads);
    return 0;
}

static int hold(int count) {
    static uint64_t other[4];
    for (int i = 0; i < count; i++) {
        struct perf_event_attr attr = {.type = PERF_TYPE_BREAKPOINT, .size = sizeof attr, .bp_type = HW_BREAKPOINT_RW,
                                       .bp_len = HW_BREAKPOINT_LEN_8, .bp_addr = (uintptr_t)&other[i], .exclude_kernel = 1, .exclude_hv = 1};
        if (syscall(SYS_perf_event_open, &attr, 0, -1, -1, PERF_FLAG_FD_CLOEXEC) < 0) return 5;
    }
    return 0;
}

int main(int argc, char **argv) {
    const char *what = argc > 1 ? argv[1] : "work";
    int status = 0;
    if (!strcmp(what, "held")) status = hold(atoi(argv[2])); /* before the first sample */
    for (int i = 0; i < CELLS; i++) cells[i] = argc + i;
    if (!strcmp(what, "many")) status = many(atoi(argv[2]), atoi(argv[3]));
    else if (!strcmp(what, "fork")) {
        work(500);
        pid_t pid = fork();
        work(500);
        if (pid == 0) {
            puts("child ok");
            fflush(stdout);
            _exit(0);
        }
        int ended = 0;
        status = waitpid(pid, &ended, 0) != pid || ended != 0;
    } else if (!strcmp(what, "exec")) {
        work(500);
        execl(argv[0], argv[0], "work", (char *)NULL);
        return 6;
    } else {
        work(1000);
    }
    puts(status ? "wrong" : "ok");
    return status;
}
