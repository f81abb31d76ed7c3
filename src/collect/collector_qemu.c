/*
 * collector_qemu.c - any unmodified x86-64 or AArch64 program, in QEMU's user-mode emulator: the plugin
 * (collect/qemu/) writes every access into the ring.
 */
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "collect/drain/ring_run.h"
#include "collect/launch/qemu_files.h"

#define ARGUMENTS_EXTRA 24

static int check(const struct rsc_collect_request *request, struct rsc_error *error) {
    if (request->quantum)
        return rsc_fail(error, RSC_EINVAL, "--quantum needs --with valgrind: QEMU runs threads at the same time");
    return rsc_qemu_check(request->target->guest, error);
}

/* ---- the command line ---- */

struct command {
    char **words;
    size_t count;
    char plugin[2 * PATH_MAX + 512];
    char preload[RSC_LAUNCH_PRELOAD_BYTES];
    char seed[32];
};

static void word(struct command *command, const char *text) { command->words[command->count++] = (char *)text; }

/* QEMU's options are comma-separated lists: a comma in a value is doubled. */
static size_t double_commas(char *to, const char *text) {
    size_t used = 0;
    for (; *text; text++) {
        to[used++] = *text;
        if (*text == ',') to[used++] = ',';
    }
    to[used] = 0;
    return used;
}

static int build_command(struct command *command, const struct rsc_launch *launch,
                         const struct rsc_collect_request *request, struct rsc_error *error) {
    const struct rsc_target *target = request->target;
    char *const *argv = request->command;
    size_t given = 0, used;
    while (argv[given]) given++;
    command->words = calloc(given + ARGUMENTS_EXTRA, sizeof *command->words);
    if (!command->words) return rsc_fail_memory(error, "command line");
    strcpy(command->plugin, "file=");
    used = 5 + double_commas(command->plugin + 5, rsc_qemu_plugin_path());
    used += (size_t)snprintf(command->plugin + used, sizeof command->plugin - used,
                             ",ring=%d,contexts=%d,follow=%d,strict=%d,skip=%llu,for=%llu,marked=%d", launch->ring_fd,
                             request->contexts, request->follow, request->strict, (unsigned long long)request->skip,
                             (unsigned long long)request->length, request->roi_marked);
    if (request->roi_function) {
        if (strpbrk(request->roi_function, ",="))
            return rsc_fail(error, RSC_EINVAL, "--roi %.60s: not the name of a function", request->roi_function);
        used +=
            (size_t)snprintf(command->plugin + used, sizeof command->plugin - used, ",roi=%s", request->roi_function);
    }
    if (used >= sizeof command->plugin) return rsc_fail(error, RSC_EINVAL, "--roi: the name is too long");
    snprintf(command->seed, sizeof command->seed, "%llu", (unsigned long long)request->seed);
    word(command, rsc_qemu_path(target->guest));
    word(command, "-cpu");
    word(command, rsc_qemu_cpu(target->guest));
    word(command, "-seed");
    word(command, command->seed);
    const char *sysroot = request->sysroot;
    if (!sysroot && target->guest == RSC_GUEST_AARCH64 && access("/usr/aarch64-linux-gnu/lib", X_OK) == 0)
        sysroot = "/usr/aarch64-linux-gnu";
    if (sysroot) {
        word(command, "-L");
        word(command, sysroot);
    }
    word(command, "-plugin");
    word(command, command->plugin);
    const char *preload = request->objects || request->follow ? rsc_qemu_preload_path(target->guest) : NULL;
    if (preload && target->dynamic && rsc_launch_preload(command->preload, sizeof command->preload, preload) == 0) {
        word(command, "-E");
        word(command, command->preload);
    }
    word(command, "-0");
    word(command, target->script[0] ? target->interpreter : argv[0]);
    word(command, target->path);
    if (target->script_argument[0]) word(command, target->script_argument);
    if (target->script[0]) word(command, target->script);
    for (size_t i = 1; i < given; i++) word(command, argv[i]);
    return 0;
}

static int start(struct rsc_collector *collector, struct rsc_error *error) {
    struct command *command = calloc(1, sizeof *command);
    if (!command) return rsc_fail_memory(error, "command line");
    int status = build_command(command, &collector->launch, collector->request, error);
    struct rsc_launch_command launched = {.path = command->words ? command->words[0] : NULL,
                                          .words = command->words,
                                          .environment = {{"LD_PRELOAD", NULL}}}; /* -E passes it to the guest */
    if (!status) status = rsc_ring_run_start(collector, error);
    if (!status) status = rsc_launch_start(&collector->launch, &launched, error);
    free(command->words);
    free(command);
    return status;
}

static int finish(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error) {
    if (!collector->launch.ring->images) /* QEMU has printed the reason */
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: QEMU did not start the collector",
                        collector->request->target->path);
    return rsc_ring_run_finish(collector, whole, error);
}

static void describe(const struct rsc_collector *collector, struct rsc_run_facts *facts) {
    struct rsc_drain_stats stats;
    const struct rsc_launch *launch = &collector->launch;
    rsc_ring_run_describe_cpu(collector, facts, &stats);
    rsc_ring_run_warn(collector, facts, &stats);
    if (!launch->running && WIFSIGNALED(launch->status) && WTERMSIG(launch->status) == SIGILL &&
        collector->request->target->guest == RSC_GUEST_X86_64)
        rsc_facts_add(facts,
                      "if it was an AVX-512 instruction, which QEMU 7.2 does not support: unless the program checks "
                      "the processor at run time, build it for x86-64-v3 or lower");
}

const struct rsc_collector_kind rsc_collector_qemu = {
    .name = "qemu",
    .gives = 1u << RSC_TAKES_ACCESSES,
    .check = check,
    .start = start,
    .next = rsc_ring_run_next,
    .finish = finish,
    .describe = describe,
    .close = rsc_ring_run_close,
};
