/*
 * bench_collect.c - how fast the QEMU collector records, without analysis.
 *
 *   bench_collect SOURCE [ROUNDS [KERNEL|PROGRAM...]]
 *
 * SOURCE is bench/programs/kernels.c; the named kernels are built at -O2, by default
 * those of integer code. A PROGRAM is anything with a slash in it, run without
 * arguments. Five variants alternate, ROUNDS times (5); the least time of each counts:
 *
 *   plain       under QEMU alone
 *   callbacks   under QEMU with a plugin whose callback for memory accesses is empty
 *   buffer      recording every reference into its thread's buffer, which nobody reads
 *   recorded    the same while this process drains the buffer and decodes accesses on
 *               the other cores
 *   paths       with calls and returns too
 *
 * Times are the program's own processor time, user and system. Bar: 150 M references/s
 * recorded on integer code where QEMU alone is faster than that; for join it is not.
 */
#include <fcntl.h>
#include <limits.h>
#include <math.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bench/watched.h"
#include "collect/launch/qemu_files.h"

static const char *const integer_code[] = {"histogram", "sort", "join"};
#define KERNELS (sizeof integer_code / sizeof *integer_code)

enum way { PLAIN, CALLBACKS, BUFFER, RECORDED, PATHS, WAYS };
static const char *const names[WAYS] = {"plain", "callbacks", "buffer", "recorded", "paths"};

static char folder[] = "/tmp/bench_collect.XXXXXX", empty_plugin[PATH_MAX];

static double under_qemu(const struct rsc_target *target, char *argv0, const char *plugin) {
    struct rusage usage;
    char *words[8] = {(char *)rsc_qemu_path(target->guest), (char *)"-cpu", (char *)rsc_qemu_cpu(target->guest)};
    int count = 3, status = 0;
    if (plugin) words[count++] = (char *)"-plugin", words[count++] = (char *)plugin;
    words[count++] = argv0;
    pid_t pid = fork();
    if (pid == 0) {
        execv(words[0], words);
        _exit(127);
    }
    need(wait4(pid, &status, 0, &usage) == pid && status == 0 ? 0 : -1, "qemu");
    return cpu_of(&usage);
}

static double measure(const struct rsc_target *target, char *path, enum way way, double *references) {
    char *argv[] = {path, NULL};
    struct rsc_collect_request request = {
        .target = target, .command = argv, .contexts = way == PATHS, .unread = way == BUFFER, .seed = 1};
    struct rsc_run_facts facts;
    if (way == PLAIN) return under_qemu(target, path, NULL);
    if (way == CALLBACKS) return under_qemu(target, path, empty_plugin);
    double cpu = watch_to_end(&rsc_collector_qemu, &request, &facts);
    if (way == RECORDED) *references = (double)facts.accesses;
    return cpu;
}

static void compare(char *path, const char *name, int rounds) {
    struct rsc_target target;
    struct rsc_error error;
    double least[WAYS], references = 0;
    need(rsc_target_find(&target, path, &error), path);
    need(rsc_qemu_check(target.guest, &error), "QEMU and the plugin");
    for (int way = 0; way < WAYS; way++) least[way] = INFINITY;
    int null = open("/dev/null", O_WRONLY), out = dup(STDOUT_FILENO);
    fflush(stdout);
    dup2(null, STDOUT_FILENO);
    for (int round = 0; round < rounds; round++)
        for (int way = 0; way < WAYS; way++) {
            double cpu = measure(&target, path, (enum way)way, &references);
            if (cpu < least[way]) least[way] = cpu;
        }
    dup2(out, STDOUT_FILENO);
    close(null);
    close(out);
    printf("%-10s %8.1f M", name, references / 1e6);
    for (int way = 0; way < WAYS; way++) printf(" %9.0f", references / least[way] / 1e6);
    printf("\n");
    fflush(stdout);
}

int main(int argc, char **argv) {
    int rounds = argc > 2 ? atoi(argv[2]) : 5;
    char command[8192], path[PATH_MAX];
    if (argc < 2 || rounds < 1) {
        fprintf(stderr, "usage: bench_collect bench/programs/kernels.c [ROUNDS [KERNEL|PROGRAM...]]\n");
        return 2;
    }
    need(mkdtemp(folder) ? 0 : -1, "a folder in /tmp");
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    need(length > 0 ? 0 : -1, "/proc/self/exe");
    path[length] = 0;
    snprintf(empty_plugin, sizeof empty_plugin, "%.*s/libempty_plugin.so", (int)(strrchr(path, '/') - path), path);
    printf("M references/s of the program's processor time\n%-10s %10s", "", "references");
    for (int way = 0; way < WAYS; way++) printf(" %9s", names[way]);
    printf("\n");
    for (size_t i = 0; i < (argc > 3 ? (size_t)argc - 3 : KERNELS); i++) {
        const char *kernel = argc > 3 ? argv[3 + i] : integer_code[i];
        if (strchr(kernel, '/')) {
            compare(argv[3 + i], strrchr(kernel, '/') + 1, rounds);
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, kernel);
        snprintf(command, sizeof command, "gcc -O2 -g -w -DKERNEL_%s '%s' -o %s", kernel, argv[1], path);
        need(system(command) == 0 ? 0 : -1, command);
        compare(path, kernel, rounds);
        unlink(path);
    }
    rmdir(folder);
    return 0;
}
