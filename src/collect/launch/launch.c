/* launch.c - see launch.h. */
#include "collect/launch/launch.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/personality.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/fail.h"
#include "base/own_file.h"
#include "base/pool.h"
#include "collect/launch/attach.h"

#define STOPPED_NS 100000000ull

const char *rsc_launch_own_file(const char *name, char *path) { return rsc_own_file(name, path) ? path : NULL; }

int rsc_launch_preload(char *text, size_t room, const char *library) {
    char name[64];
    const char *given = getenv("LD_PRELOAD");
    if (strpbrk(library, ",: ")) {
        int fd = open(library, O_RDONLY | O_CLOEXEC), kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD, RSC_LAUNCH_FD_LEAST);
        if (fd >= 0) close(fd);
        if (kept < 0) return -1;
        snprintf(name, sizeof name, "/proc/self/fd/%d", kept);
        library = name;
    }
    int ours_only = !given || !*given || strchr(given, ',');
    snprintf(text, room, "LD_PRELOAD=%s%s%.*s", library, ours_only ? "" : ":", ours_only ? 0 : PATH_MAX,
             ours_only ? "" : given);
    return 0;
}

/* ---- the ring ---- */

uint32_t rsc_launch_cores(void) {
    const char *given = getenv("REUSESCOPE_TEST_CORES"); /* for tests */
    return given ? (uint32_t)atoi(given) : rsc_pool_cpu_count();
}

int rsc_launch_open(struct rsc_launch *launch, struct rsc_error *error) {
    memset(launch, 0, sizeof *launch);
    launch->ring_fd = launch->log_fd = -1;
    int fd = memfd_create("reusescope", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return rsc_fail_errno(error, errno, "shared memory");
    /* Inherited on purpose: the copy above RSC_LAUNCH_FD_LEAST has no close-on-exec flag. */
    launch->ring_fd = fcntl(fd, F_DUPFD, RSC_LAUNCH_FD_LEAST);
    close(fd);
    if (launch->ring_fd < 0 || fchmod(launch->ring_fd, 0600) != 0 ||
        ftruncate(launch->ring_fd, (off_t)sizeof(struct rsc_ring)) != 0 ||
        /* the program inherits it and must not be able to truncate it */
        fcntl(launch->ring_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return rsc_fail_errno(error, errno, "shared memory");
    launch->ring =
        mmap(NULL, sizeof(struct rsc_ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, launch->ring_fd, 0);
    if (launch->ring == MAP_FAILED) {
        launch->ring = NULL;
        return rsc_fail(error, RSC_ENOMEM,
                        "out of memory: records of accesses need %zu MiB of address space: %s (ulimit -v allows less?)",
                        sizeof(struct rsc_ring) >> 20, strerror(errno));
    }
    launch->ring->magic = RSC_RING_MAGIC;
    launch->ring->cores = rsc_launch_cores();
    launch->ring->parent_pid = (uint32_t)getpid();
    /* For tests of crowds, which otherwise take thousands of threads. */
    const char *slots = getenv("REUSESCOPE_TEST_SLOTS");
    if (slots) launch->ring->slots_most = (uint64_t)strtoul(slots, NULL, 10);
    /* For tests of full plans, which otherwise takes millions of pieces of code. */
    const char *plan_words = getenv("REUSESCOPE_TEST_PLAN_WORDS");
    uint64_t room = plan_words ? strtoull(plan_words, NULL, 10) : RSC_PLAN_WORDS;
    if (room < RSC_PLAN_WORDS) launch->ring->plan_words = RSC_PLAN_WORDS - room;
    return 0;
}

/* ---- signals ---- */

static const int passed_on[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP, SIGUSR1, SIGUSR2};
#define PASSED_ON (sizeof passed_on / sizeof *passed_on)
static struct sigaction before_us[PASSED_ON];
static volatile pid_t forward_to;

/* The terminal's signals (Ctrl-C) come from the kernel and reach the whole process group. */
static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    if (forward_to > 0 && info->si_code <= 0) kill(forward_to, number);
}

/* If SIGCHLD is ignored, the kernel discards the child's status; so it is not ignored here. */
static struct sigaction child_before_us;
static void keep_children(void) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &usual, &child_before_us);
}
static void restore_children(void) { sigaction(SIGCHLD, &child_before_us, NULL); }

/* Ignored signals (nohup, background jobs) stay ignored, here and in the program. */
static void set_signals(void) {
    keep_children();
    for (size_t i = 0; i < PASSED_ON; i++) {
        struct sigaction action = {.sa_sigaction = pass_on, .sa_flags = SA_RESTART | SA_SIGINFO};
        sigaction(passed_on[i], NULL, &before_us[i]);
        if (before_us[i].sa_handler != SIG_IGN) sigaction(passed_on[i], &action, NULL);
    }
}

static void reset_signals(void) {
    for (size_t i = 0; i < PASSED_ON; i++) sigaction(passed_on[i], &before_us[i], NULL);
    restore_children();
}

/* ---- the program ---- */

static void become(const struct rsc_launch_command *command, int report_fd) {
    for (size_t i = 0; i < RSC_LAUNCH_VARIABLES && command->environment[i].name; i++) {
        if (command->environment[i].value) setenv(command->environment[i].name, command->environment[i].value, 1);
        else unsetenv(command->environment[i].name);
    }
    personality(ADDR_NO_RANDOMIZE); /* the same addresses in every run, if the kernel allows it */
    execv(command->path, command->words);
    int reason = errno;
    ssize_t ignored = write(report_fd, &reason, sizeof reason);
    (void)ignored;
    _exit(127);
}

int rsc_launch_start(struct rsc_launch *launch, const struct rsc_launch_command *command, struct rsc_error *error) {
    int report[2], reason = 0, status = 0;
    assert(launch->ring && !launch->running);
    if (pipe2(report, O_CLOEXEC) != 0) return rsc_fail_errno(error, errno, "pipe");
    fflush(NULL);
    launch->started_ns = rsc_ring_now_ns();
    /* A signal between here and the process id would be caught and passed on to nobody. */
    sigset_t held, before;
    sigemptyset(&held);
    for (size_t i = 0; i < PASSED_ON; i++) sigaddset(&held, passed_on[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    set_signals();
    launch->pid = fork();
    if (launch->pid == 0) {
        reset_signals();
        sigprocmask(SIG_SETMASK, &before, NULL);
        become(command, report[1]);
    }
    forward_to = launch->pid > 0 ? launch->pid : 0;
    sigprocmask(SIG_SETMASK, &before, NULL);
    close(report[1]);
    if (launch->pid < 0) {
        status = rsc_fail_errno(error, errno, "fork");
    } else {
        launch->running = read(report[0], &reason, sizeof reason) != (ssize_t)sizeof reason;
    }
    if (launch->pid > 0 && !launch->running) {
        waitpid(launch->pid, NULL, 0);
        status = rsc_fail_errno(error, reason, command->path);
    }
    close(report[0]);
    return status;
}

double rsc_usage_seconds(const struct rusage *usage) {
    return (double)(usage->ru_utime.tv_sec + usage->ru_stime.tv_sec) +
           1e-6 * (double)(usage->ru_utime.tv_usec + usage->ru_stime.tv_usec);
}

int rsc_launch_native(const struct rsc_target *target, char *const *argv, struct rsc_native_run *native,
                      struct rsc_error *error) {
#if defined(__x86_64__)
    const enum rsc_guest host = RSC_GUEST_X86_64;
#elif defined(__aarch64__)
    const enum rsc_guest host = RSC_GUEST_AARCH64;
#else
    const enum rsc_guest host = RSC_GUEST_UNKNOWN;
#endif
    if (target->guest != host)
        return rsc_fail(error, RSC_EUNSUPPORTED, "--native: %s is a program for another machine", target->path);
    const char *path = target->script[0] ? target->script : target->path;
    int report[2], reason = 0;
    if (pipe2(report, O_CLOEXEC) != 0) return rsc_fail_errno(error, errno, "pipe");
    fflush(NULL);
    keep_children();
    pid_t pid = fork();
    if (pid == 0) {
        restore_children();
        int nothing = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
        execv(path, argv);
        reason = errno;
        ssize_t ignored = write(report[1], &reason, sizeof reason);
        (void)ignored;
        _exit(127);
    }
    int status = pid < 0 ? rsc_fail_errno(error, errno, "fork") : 0;
    close(report[1]);
    if (!status && read(report[0], &reason, sizeof reason) == (ssize_t)sizeof reason)
        status = rsc_fail_errno(error, reason, path);
    close(report[0]);
    struct rusage usage = {0};
    while (pid > 0 && wait4(pid, &native->status, 0, &usage) < 0)
        if (errno != EINTR) {
            status = rsc_fail_errno(error, errno, "wait");
            break;
        }
    restore_children();
    native->seconds = rsc_usage_seconds(&usage);
    return status;
}

/*
 * The program stopped itself: our shell must see it, so we stop and continue with it.
 * Keys stop and continue both of us at slightly different moments: wait for that.
 */
static void stop_with(struct rsc_launch *launch) {
    if (!launch->stopped_ns || rsc_ring_now_ns() - launch->stopped_ns < STOPPED_NS) return;
    launch->stopped_ns = 0;
    raise(SIGSTOP);
    kill(launch->pid, SIGCONT);
}

int rsc_launch_poll(struct rsc_launch *launch) {
    if (!launch->running) return 1;
    if (launch->attached) return rsc_attach_poll(launch);
    pid_t got = wait4(launch->pid, &launch->status, WNOHANG | WUNTRACED | WCONTINUED, &launch->usage);
    if (got == 0) stop_with(launch);
    if (got == 0 || (got < 0 && errno == EINTR)) return 0;
    if (got > 0 && (WIFSTOPPED(launch->status) || WIFCONTINUED(launch->status))) {
        launch->stopped_ns = WIFSTOPPED(launch->status) ? rsc_ring_now_ns() : 0;
        return 0;
    }
    launch->running = 0;
    forward_to = 0;
    reset_signals(); /* a second Ctrl-C ends us too */
    launch->seconds = 1e-9 * (double)(rsc_ring_now_ns() - launch->started_ns);
    return 1;
}

void rsc_launch_close(struct rsc_launch *launch) {
    if (launch->attached) rsc_attach_end(launch);
    if (launch->ring) {
        __atomic_store_n(&launch->ring->detached, 1, __ATOMIC_RELEASE);
        munmap(launch->ring, sizeof(struct rsc_ring));
    }
    if (launch->ring_fd >= 0) close(launch->ring_fd);
    if (launch->log_fd >= 0) close(launch->log_fd);
    launch->ring = NULL;
    launch->ring_fd = launch->log_fd = -1;
    if (launch->pid && !launch->attached) reset_signals();
}
