/*
 * bench_asm.c - what rebuilding costs: processor time of programs built by `reusescope
 * cc`, as a ratio to the same build without it.
 *
 *   bench_asm TOOL SOURCE [ROUNDS [KERNEL...]]
 *
 * TOOL is the tool, SOURCE bench/programs/kernels.c. Each kernel is built at -O2 in
 * both ways; then four variants alternate, ROUNDS times (5); the least time of each counts:
 *
 *   plain       without reusescope
 *   fast        rebuilt, by itself
 *   buffer      recording every reference into its thread's buffer, which nobody reads
 *   recording   the same while this process drains the buffer and decodes accesses on
 *               the other cores, without analysis
 *
 * Times are the program's own, user and system. Bars: geometric means of 1.3 fast and
 * 3 recording (read, the dearer one), none past 2.5 fast.
 */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/numbers.h"
#include "bench/watched.h"

static const char *const all[] = {"gemm", "jacobi", "stencil", "chase", "histogram", "stream", "cg", "sort", "join"};
#define KERNELS (sizeof all / sizeof *all)

static char folder[] = "/tmp/bench_asm.XXXXXX";

static void build(const char *prefix, const char *source, const char *kernel, const char *way) {
    char command[8192];
    snprintf(command, sizeof command, "%s gcc -O2 -g -w -DKERNEL_%s '%s' -o %s/%s.%s", prefix, kernel, source, folder,
             kernel, way);
    need(system(command) == 0 ? 0 : -1, command);
}

/* By itself, its output cut off. */
static double alone(const char *path) {
    struct rusage usage;
    int status = 0;
    pid_t pid = fork();
    if (pid == 0) {
        dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO);
        execl(path, path, (char *)NULL);
        _exit(127);
    }
    need(wait4(pid, &status, 0, &usage) == pid && status == 0 ? 0 : -1, path);
    return cpu_of(&usage);
}

/* Recording every reference; the program's own processor time. */
static double recording(char *path, int unread, double *references) {
    char *argv[] = {path, NULL};
    struct rsc_target target;
    struct rsc_collect_request request = {.target = &target, .command = argv, .contexts = 1, .unread = unread};
    struct rsc_run_facts facts;
    struct rsc_error error;
    need(rsc_target_find(&target, path, &error), path);
    need(target.rebuilt ? 0 : -1, "rebuilt");
    double cpu = watch_to_end(&rsc_collector_rebuilt, &request, &facts);
    if (!unread) *references = (double)facts.accesses;
    return cpu;
}

static double least(double a, double b) { return a < b ? a : b; }

int main(int argc, char **argv) {
    char prefix[4096], plain[256], rebuilt[256];
    double log_fast = 0, log_buffer = 0, log_full = 0, worst = 0;
    int rounds = argc > 3 ? atoi(argv[3]) : 5, count = 0;
    if (argc < 3) {
        fprintf(stderr, "usage: bench_asm TOOL bench/programs/kernels.c [ROUNDS [KERNEL...]]\n");
        return 2;
    }
    need(mkdtemp(folder) ? 0 : -1, "a folder in /tmp");
    snprintf(prefix, sizeof prefix, "'%s' cc -q", argv[1]);
    printf("%-10s %9s %7s %8s %10s %12s %22s\n", "kernel", "plain s", "fast", "buffer", "recording", "references",
           "ns a reference more");
    for (size_t i = 0; i < (argc > 4 ? (size_t)argc - 4 : KERNELS); i++) {
        const char *kernel = argc > 4 ? argv[4 + i] : all[i];
        double base = INFINITY, fast = INFINITY, buffer = INFINITY, full = INFINITY, references = 0;
        build("", argv[2], kernel, "plain");
        build(prefix, argv[2], kernel, "rebuilt");
        snprintf(plain, sizeof plain, "%s/%s.plain", folder, kernel);
        snprintf(rebuilt, sizeof rebuilt, "%s/%s.rebuilt", folder, kernel);
        int null = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO);
        for (int round = 0; round < rounds; round++) {
            base = least(base, alone(plain));
            fast = least(fast, alone(rebuilt));
            fflush(stdout);
            dup2(null, STDOUT_FILENO);
            buffer = least(buffer, recording(rebuilt, 1, &references));
            full = least(full, recording(rebuilt, 0, &references));
            dup2(out, STDOUT_FILENO);
        }
        close(null);
        close(out);
        printf("%-10s %9.3f %6.2fx %7.2fx %9.2fx %10.1f M %22.2f\n", kernel, base, fast / base, buffer / base,
               full / base, references / 1e6, 1e9 * (full - base) / references);
        put_number("fast", fast / base, "%s", kernel);
        put_number("buffer", buffer / base, "%s", kernel);
        put_number("recording", full / base, "%s", kernel);
        fflush(stdout);
        log_fast += log(fast / base);
        log_buffer += log(buffer / base);
        log_full += log(full / base);
        if (fast / base > worst) worst = fast / base;
        count++;
        unlink(plain);
        unlink(rebuilt);
    }
    rmdir(folder);
    printf("geometric means: fast %.2fx, buffer %.2fx, recording %.2fx; worst fast %.2fx\n", exp(log_fast / count),
           exp(log_buffer / count), exp(log_full / count), worst);
    return 0;
}
