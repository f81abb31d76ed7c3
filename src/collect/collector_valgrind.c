/*
 * collector_valgrind.c - any unmodified x86-64 program, under Valgrind with a tool of our own (collect/valgrind/) that
 * writes every access into the ring.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "collect/drain/ring_run.h"
#include "collect/launch/valgrind_files.h"

#define OPTIONS_MOST 24
#define LOG_BYTES 2048
/* Accesses of a thread's turn. Two threads that increment neighbouring words (a read and a write each) then lose their
 * line to each other at every other increment at least. */
#define QUANTUM 4

static int check(const struct rsc_collect_request *request, struct rsc_error *error) {
    if (request->target->guest != RSC_GUEST_X86_64)
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: Valgrind runs only x86-64 programs here: --with qemu",
                        request->target->path);
    if (request->strict)
        return rsc_fail(error, RSC_EINVAL,
                        "--order strict needs --with qemu: Valgrind runs one thread at a time in any case");
    if (request->sysroot) return rsc_fail(error, RSC_EINVAL, "--sysroot needs --with qemu");
    return rsc_valgrind_check(error);
}

/* ---- the command line ---- */

struct command {
    char **words;
    size_t count;
    char options[OPTIONS_MOST][64];
    size_t option_count;
    char roi[256];
    char preload[RSC_LAUNCH_PRELOAD_BYTES];
};

static void option(struct command *command, const char *name, uint64_t value) {
    char *text = command->options[command->option_count++];
    snprintf(text, sizeof *command->options, "%s=%llu", name, (unsigned long long)value);
    command->words[command->count++] = text;
}

static void word(struct command *command, const char *text) { command->words[command->count++] = (char *)text; }

/* With more, Valgrind ends. Each costs it 7 KiB, used or not. */
static uint64_t threads_most(void) {
    const char *fewer = getenv("REUSESCOPE_TEST_VALGRIND_THREADS"); /* for tests */
    uint64_t most = fewer ? strtoull(fewer, NULL, 10) : 0;
    return most > 1 && most < RSC_VALGRIND_THREADS ? most : RSC_VALGRIND_THREADS;
}

/* own: the program itself has the function of --roi. */
static int build_command(struct command *command, const struct rsc_launch *launch, int own,
                         const struct rsc_collect_request *request, struct rsc_error *error) {
    size_t given = 0;
    while (request->command[given]) given++;
    command->words = calloc(given + OPTIONS_MOST, sizeof *command->words);
    if (!command->words) return rsc_fail_memory(error, "command line");
    word(command, rsc_valgrind_tool_path());
    word(command, "--tool=reusescope");
    word(command, "-q");
    word(command, "--vgdb=no");
    word(command, "--sigill-diagnostics=yes"); /* in spite of -q: describe() looks for them */
    word(command, "--fair-sched=try"); /* else a thread that waits for another may run on and on */
    option(command, "--max-threads", threads_most());
    option(command, "--log-fd", (uint64_t)launch->log_fd);
    option(command, "--messages", (uint64_t)launch->log_fd);
    option(command, "--ring", (uint64_t)launch->ring_fd);
    option(command, "--follow", (uint64_t)request->follow);
    option(command, "--contexts", (uint64_t)request->contexts);
    option(command, "--seed", request->seed);
    const char *plain = getenv("REUSESCOPE_TEST_PLAIN_CODE"); /* for tests of code for other processors */
    option(command, "--plain", plain ? (uint64_t)(plain[0] - '0') & 3 : 0);
    if (request->roi_function) {
        if (strpbrk(request->roi_function, ",="))
            return rsc_fail(error, RSC_EINVAL, "--roi %.60s: not the name of a function", request->roi_function);
        if (snprintf(command->roi, sizeof command->roi, "--roi=%s", request->roi_function) >= (int)sizeof command->roi)
            return rsc_fail(error, RSC_EINVAL, "--roi: the name is too long");
        word(command, command->roi);
        option(command, "--roi-own", (uint64_t)own);
    }
    /* Valgrind looks in PATH itself, but not where execvp() looks when there is none. */
    const struct rsc_target *target = request->target;
    word(command, getenv("PATH") ? request->command[0] : target->script[0] ? target->script : target->path);
    for (size_t i = 1; i < given; i++) word(command, request->command[i]);
    return 0;
}

/* Valgrind's own messages, kept from the terminal: shown if it fails. It is inherited, as the ring is. */
static int open_log(struct rsc_error *error) {
    int fd = memfd_create("reusescope-log", MFD_CLOEXEC), kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD, RSC_LAUNCH_FD_LEAST);
    if (kept < 0) rsc_fail_errno(error, errno, "shared memory");
    if (fd >= 0) close(fd);
    return kept;
}

static int start(struct rsc_collector *collector, struct rsc_error *error) {
    const struct rsc_collect_request *request = collector->request;
    const char *library = request->objects || request->follow ? rsc_valgrind_preload_path() : NULL;
    if (request->wanted.what == RSC_TAKES_LINES && rsc_collect_limited(request))
        return rsc_fail(error, RSC_EINVAL,
                        "--sample lines: --roi, --skip, --for and --follow need every access (--engine shards:%.20s)",
                        request->wanted.rate_text);
    struct command *command = calloc(1, sizeof *command);
    if (!command) return rsc_fail_memory(error, "command line");
    struct rsc_launch *launch = &collector->launch;
    const struct rsc_wanted *wanted = &request->wanted;
    launch->ring->valgrind = 1;
    if (wanted->what == RSC_TAKES_LINES) {
        launch->ring->keep_lines = 1;
        launch->ring->keep_shift = (uint64_t)__builtin_ctz(wanted->line_bytes);
        launch->ring->keep_limit = wanted->lines.limit;
        launch->ring->keep_offset = wanted->lines.offset;
    }
    launch->log_fd = open_log(error);
    int status = launch->log_fd < 0 ? RSC_EIO : rsc_ring_run_start(collector, error);
    if (!status) status = build_command(command, launch, rsc_ring_run_roi(collector) > 0, request, error);
    struct rsc_launch_command launched = {.path = rsc_valgrind_tool_path(),
                                          .words = command->words,
                                          .environment = {{"VALGRIND_LAUNCHER", rsc_valgrind_launcher_path()}}};
    if (library && request->target->dynamic &&
        rsc_launch_preload(command->preload, sizeof command->preload, library) == 0) {
        launched.environment[1].name = "LD_PRELOAD";
        launched.environment[1].value = strchr(command->preload, '=') + 1;
    }
    if (!status) status = rsc_launch_start(launch, &launched, error);
    free(command->words);
    free(command);
    if (status < 0) return status;
    struct rsc_drain_window window = {.skip = request->skip,
                                      .length = request->length,
                                      .marked = request->roi_marked,
                                      .function = request->roi_function != NULL,
                                      .quantum = request->quantum ? request->quantum : QUANTUM,
                                      .fine = !request->quantum};
    rsc_drain_set_window(((struct rsc_ring_run *)collector->state)->drain, &window);
    return 0;
}

/* The first line of Valgrind's messages with this in it, without its prefix "==PID== "; NULL: none. */
static char *log_line(const struct rsc_collector *collector, char *text, const char *wanted) {
    ssize_t got = pread(collector->launch.log_fd, text, LOG_BYTES - 1, 0);
    text[got > 0 ? got : 0] = 0;
    for (char *rest = text, *line; (line = strsep(&rest, "\n"));) {
        if (!*line || !strstr(line, wanted)) continue;
        char *prefix = strncmp(line, "==", 2) && strncmp(line, "--", 2) ? NULL : strchr(line, ' ');
        return prefix ? prefix + 1 : line;
    }
    return NULL;
}

static int finish(struct rsc_collector *collector, struct rsc_whole_run *whole, struct rsc_error *error) {
    char text[LOG_BYTES];
    if (!collector->launch.ring->images) {
        const char *line = log_line(collector, text, "");
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s: Valgrind did not start it (--with qemu may)%s%s",
                        collector->request->target->path, line ? ": " : "", line ? line : "");
    }
    return rsc_ring_run_finish(collector, whole, error);
}

static void describe(const struct rsc_collector *collector, struct rsc_run_facts *facts) {
    struct rsc_drain_stats stats;
    char text[LOG_BYTES];
    rsc_ring_run_describe_cpu(collector, facts, &stats);
    if (stats.threads > 1)
        rsc_facts_add(
            facts,
            RSC_DETAIL
            "Valgrind ran one thread at a time, in the same order in every run; they are interleaved in turns of %llu "
            "accesses (--quantum)%s, except where they use the same data; --with qemu runs them at the same time",
            (unsigned long long)(collector->request->quantum ? collector->request->quantum : QUANTUM),
            collector->request->quantum ? "" : ", or less where they write to one line");
    rsc_ring_run_warn(collector, facts, &stats);
    if (log_line(collector, text, "Max number of threads"))
        rsc_facts_add(facts,
                      "warning: Valgrind ended the program when it started more than %llu threads at once: run it "
                      "--with qemu",
                      (unsigned long long)threads_most() - 1); /* it does not use the first number */
    const char *why = log_line(collector, text, "the 'impossible' happened")          ? "an internal error"
                      : log_line(collector, text, "memory management: out of memory") ? "out of memory"
                                                                                      : NULL;
    if (why) rsc_facts_add(facts, "warning: Valgrind failed and ended the program (%s): run it --with qemu", why);
    if (!collector->launch.running && WIFSIGNALED(collector->launch.status) &&
        WTERMSIG(collector->launch.status) == SIGILL) {
        const char *line = log_line(collector, text, "unhandled instruction");
        if (line) /* else the program has one that no processor has */
            rsc_facts_add(facts, "Valgrind does not support all instructions (AVX-512 is missing): %s", line);
    }
}

const struct rsc_collector_kind rsc_collector_valgrind = {
    .name = "valgrind",
    .gives = 1u << RSC_TAKES_ACCESSES | 1u << RSC_TAKES_LINES,
    .knows_order = 1,
    .check = check,
    .start = start,
    .next = rsc_ring_run_next,
    .finish = finish,
    .describe = describe,
    .close = rsc_ring_run_close,
};
