/*
 * bench_collect.c - how fast the QEMU collector records, when nobody analyses.
 *
 *   bench_collect PROGRAM [ARGUMENTS]
 *
 * The program runs natively, under plain QEMU, and under QEMU with the collector
 * while this process only takes the blocks. Bar: 150 M references/s of the
 * program's processor time on integer code.
 */
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/watched.h"

static double plain_qemu(const struct rsc_target *target, char **argv) {
    struct rusage usage;
    pid_t pid = fork();
    if (pid == 0) {
        char *words[64] = {(char *)rsc_launch_qemu_path(target->guest), (char *)"-cpu", (char *)"max", (char *)target->path};
        for (size_t i = 1; argv[i] && i < 59; i++) words[3 + i] = argv[i];
        if (!freopen("/dev/null", "w", stdout)) _exit(1);
        execv(words[0], words);
        _exit(127);
    }
    need(wait4(pid, NULL, 0, &usage) == pid ? 0 : -1, "qemu");
    return cpu_of(&usage);
}

static void measure(const struct rsc_target *target, char **argv, int contexts) {
    struct rsc_launch_options options = {.contexts = contexts, .seed = 1};
    struct rsc_drain_stats stats;
    double wall, cpu = watch_to_end(target, argv, &options, &stats, &wall);
    printf("collector%s: %.2f s, %.1f M references, %.0f M references/s of processor time, %.0f M/s of wall time, waited %.2f s\n",
           contexts ? " with call paths" : "", cpu, (double)stats.accesses / 1e6, (double)stats.accesses / cpu / 1e6,
           (double)stats.accesses / wall / 1e6, 1e-9 * (double)stats.waited_ns);
}

int main(int argc, char **argv) {
    struct rsc_target target;
    struct rsc_error error;
    double native = 0;
    if (argc < 2) {
        fprintf(stderr, "usage: bench_collect PROGRAM [ARGUMENTS]\n");
        return 2;
    }
    need(rsc_target_find(&target, argv[1], &error), argv[1]);
    need(rsc_launch_check(target.guest, &error), "QEMU and the plugin");
    need(rsc_launch_native_seconds(&target, argv + 1, &native, &error), "native run");
    printf("native: %.2f s; plain QEMU: %.2f s\n", native, plain_qemu(&target, argv + 1));
    fflush(stdout);
    measure(&target, argv + 1, 0);
    measure(&target, argv + 1, 1);
    return 0;
}
