/* launch.c - see launch.h. */
#include "collect/launch/launch.h"

#include <dlfcn.h>
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
#include "collect/perf/perf_probe.h"

#define RING_FD_LEAST 200 /* out of the way of programs that count on small descriptors */
#define ARGUMENTS_EXTRA 24
#define STOPPED_NS 100000000ull

/* ---- what is needed, and where it is ---- */

static const char *first_that_exists(const char *const *paths) {
    for (; *paths; paths++)
        if (access(*paths, R_OK) == 0) return *paths;
    return NULL;
}

/* A file of ours: beside the tool (a build tree) or in the library folder of its prefix. */
static const char *own_file(const char *name, char *path) {
    char self[PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    if (length <= 0) return NULL;
    self[length] = 0;
    char *slash = strrchr(self, '/');
    if (slash) *slash = 0;
    static const char *const places[] = {"%s/%s", "%s/../%s", "%s/../lib/reusescope/%s",
                                         "%s/../" RSC_LIBDIR "/reusescope/%s"};
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        int wrote = snprintf(path, PATH_MAX, places[i], self, name);
#pragma GCC diagnostic pop
        if (wrote < PATH_MAX && access(path, R_OK) == 0) return path;
    }
    return NULL;
}

const char *rsc_launch_plugin_path(void) {
    static char path[PATH_MAX];
    return own_file("libreusescope-qemu.so", path);
}

const char *rsc_launch_preload_path(enum rsc_guest guest) {
    static char path[PATH_MAX];
    return own_file(guest == RSC_GUEST_AARCH64 ? "libreusescope-guest-aarch64.so" : "libreusescope-guest-x86_64.so",
                    path);
}

const char *rsc_launch_perf_path(void) {
    static char path[PATH_MAX];
    return own_file("libreusescope-perf.so", path);
}

/*
 * QEMU runs a repeated string instruction an element at a time, a block each. Told that they are not fast, libc copies
 * with vectors instead.
 */
const char *rsc_launch_cpu(enum rsc_guest guest) { return guest == RSC_GUEST_X86_64 ? "max,-erms" : "max"; }

const char *rsc_launch_qemu_path(enum rsc_guest guest) {
    static const char *const x86_64[] = {"/usr/bin/qemu-x86_64", "/usr/local/bin/qemu-x86_64", NULL};
    static const char *const aarch64[] = {"/usr/bin/qemu-aarch64", "/usr/local/bin/qemu-aarch64", NULL};
    return first_that_exists(guest == RSC_GUEST_AARCH64 ? aarch64 : x86_64);
}

int rsc_launch_check(enum rsc_guest guest, struct rsc_error *error) {
    if (!rsc_launch_qemu_path(guest))
        return rsc_fail(error, RSC_EUNSUPPORTED, "%s is missing: apt-get install qemu-user",
                        guest == RSC_GUEST_AARCH64 ? "qemu-aarch64" : "qemu-x86_64");
    if (!rsc_launch_plugin_path())
        return rsc_fail(error, RSC_EUNSUPPORTED,
                        "libreusescope-qemu.so is missing beside the tool: build it again (make)");
    return 0;
}

/* ---- the ring ---- */

static int make_ring(struct rsc_launch *launch, struct rsc_error *error) {
    int fd = memfd_create("reusescope", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (fd < 0) return rsc_fail_errno(error, errno, "shared memory");
    /* Inherited on purpose: the copy above RING_FD_LEAST is without close-on-exec. */
    launch->ring_fd = fcntl(fd, F_DUPFD, RING_FD_LEAST);
    close(fd);
    if (launch->ring_fd < 0 || fchmod(launch->ring_fd, 0600) != 0 ||
        ftruncate(launch->ring_fd, (off_t)sizeof(struct rsc_ring)) != 0 ||
        /* the program inherits it: it must not be able to cut it off under us */
        fcntl(launch->ring_fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0)
        return rsc_fail_errno(error, errno, "shared memory");
    launch->ring =
        mmap(NULL, sizeof(struct rsc_ring), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, launch->ring_fd, 0);
    if (launch->ring == MAP_FAILED) {
        launch->ring = NULL;
        return rsc_fail(error, RSC_ENOMEM, "shared memory of %zu MiB: %s (ulimit -v may be too small)",
                        sizeof(struct rsc_ring) >> 20, strerror(errno));
    }
    launch->ring->magic = RSC_RING_MAGIC;
    launch->ring->parent_pid = (uint32_t)getpid();
    /* For tests of what happens when plans are full, which takes millions of pieces of code. */
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

/* The terminal's own signals (Ctrl-C) come from the kernel and reach the program's group by themselves. */
static void pass_on(int number, siginfo_t *info, void *context) {
    (void)context;
    if (forward_to > 0 && info->si_code <= 0) kill(forward_to, number);
}

/* Where SIGCHLD is ignored the kernel takes the child's status away: here it must not be. */
static struct sigaction child_before_us;
static void keep_children(void) {
    struct sigaction usual = {.sa_handler = SIG_DFL};
    sigaction(SIGCHLD, &usual, &child_before_us);
}
static void restore_children(void) { sigaction(SIGCHLD, &child_before_us, NULL); }

/* What is ignored (nohup, background jobs) stays so, here and in the program. */
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

/* ---- the command line ---- */

struct command {
    char **words;
    size_t count;
    const char *path; /* what is executed */
    int perf; /* a library is loaded into it (`preload`) that samples */
    char rebuilt[512]; /* what a rebuilt program finds in its environment; "": it runs under QEMU */
    char plugin[2 * PATH_MAX + 512];
    char preload[2 * PATH_MAX + 64];
    char seed[32];
};

static void word(struct command *command, const char *text) { command->words[command->count++] = (char *)text; }

/* QEMU's options are lists with commas: one in a value is doubled. */
static size_t double_commas(char *to, const char *text) {
    size_t used = 0;
    for (; *text; text++) {
        to[used++] = *text;
        if (*text == ',') to[used++] = ',';
    }
    to[used] = 0;
    return used;
}

/*
 * LD_PRELOAD for the guest, the user's own after ours. Neither ld.so's list nor
 * QEMU's -E can quote: a path they would split goes by a descriptor.
 */
static void preload_word(struct command *command, const char *path) {
    char name[64];
    const char *given = getenv("LD_PRELOAD");
    if (strpbrk(path, ",: ")) {
        int fd = open(path, O_RDONLY | O_CLOEXEC), kept = fd < 0 ? -1 : fcntl(fd, F_DUPFD, RING_FD_LEAST);
        if (fd >= 0) close(fd);
        if (kept < 0) return;
        snprintf(name, sizeof name, "/proc/self/fd/%d", kept);
        path = name;
    }
    int ours_only = !given || !*given || strchr(given, ',');
    snprintf(command->preload, sizeof command->preload, "LD_PRELOAD=%s%s%.*s", path, ours_only ? "" : ":",
             ours_only ? 0 : PATH_MAX, ours_only ? "" : given);
    word(command, "-E");
    word(command, command->preload);
}

static int build_command(struct command *command, const struct rsc_launch *launch, const struct rsc_target *target,
                         char *const *argv, const struct rsc_launch_options *options, struct rsc_error *error) {
    size_t given = 0, used;
    while (argv[given]) given++;
    command->words = calloc(given + ARGUMENTS_EXTRA, sizeof *command->words);
    if (!command->words) return rsc_fail_memory(error, "command line");
    int marked = options->roi && !strcmp(options->roi, "marked");
    strcpy(command->plugin, "file=");
    used = 5 + double_commas(command->plugin + 5, rsc_launch_plugin_path());
    used += (size_t)snprintf(command->plugin + used, sizeof command->plugin - used,
                             ",ring=%d,contexts=%d,follow=%d,strict=%d,skip=%llu,for=%llu,marked=%d", launch->ring_fd,
                             options->contexts, options->follow, options->strict, (unsigned long long)options->skip,
                             (unsigned long long)options->length, marked);
    if (options->roi && !marked) {
        if (strpbrk(options->roi, ",="))
            return rsc_fail(error, RSC_EINVAL, "--roi %.60s: not the name of a function", options->roi);
        used += (size_t)snprintf(command->plugin + used, sizeof command->plugin - used, ",roi=%s", options->roi);
    }
    if (used >= sizeof command->plugin) return rsc_fail(error, RSC_EINVAL, "--roi: the name is too long");
    snprintf(command->seed, sizeof command->seed, "%llu", (unsigned long long)options->seed);
    command->path = rsc_launch_qemu_path(target->guest);
    word(command, command->path);
    word(command, "-cpu");
    word(command, rsc_launch_cpu(target->guest));
    word(command, "-seed");
    word(command, command->seed);
    const char *sysroot = options->sysroot;
    if (!sysroot && target->guest == RSC_GUEST_AARCH64 && access("/usr/aarch64-linux-gnu/lib", X_OK) == 0)
        sysroot = "/usr/aarch64-linux-gnu";
    if (sysroot) {
        word(command, "-L");
        word(command, sysroot);
    }
    word(command, "-plugin");
    word(command, command->plugin);
    const char *preload = options->objects || options->follow ? rsc_launch_preload_path(target->guest) : NULL;
    if (preload && target->dynamic) preload_word(command, preload);
    word(command, "-0");
    word(command, target->script[0] ? target->interpreter : argv[0]);
    word(command, target->path);
    if (target->script_argument[0]) word(command, target->script_argument);
    if (target->script[0]) word(command, target->script);
    for (size_t i = 1; i < given; i++) word(command, argv[i]);
    return 0;
}

/* A rebuilt program as it stands: only its environment tells the runtime inside of us. */
static int build_rebuilt_command(struct command *command, const struct rsc_launch *launch,
                                 const struct rsc_target *target, char *const *argv,
                                 const struct rsc_launch_options *options, struct rsc_error *error) {
    size_t given = 0;
    while (argv[given]) given++;
    command->words = calloc(given + 1, sizeof *command->words);
    if (!command->words) return rsc_fail_memory(error, "command line");
    for (size_t i = 0; i < given; i++) word(command, argv[i]);
    command->path = target->path;
    launch->ring->rebuilt = 1;
    launch->ring->keep_lines = options->keep_lines != 0;
    launch->ring->keep_limit = options->keep_limit;
    launch->ring->keep_offset = options->keep_offset;
    launch->ring->keep_shift = options->keep_shift;
    launch->ring->sampled = (uint64_t)options->sampled;
    launch->ring->sampler_planned = options->planned;
    launch->ring->sampler_first = options->planned_first;
    launch->ring->sampler = options->sampler;
    int marked = options->roi && !strcmp(options->roi, "marked");
    const char *plain = getenv("REUSESCOPE_TEST_PLAIN_CODE");
    if (options->pmu) {
        const struct rsc_perf_pmu *pmu = options->pmu;
        const char *library = rsc_launch_perf_path(), *also = getenv("LD_PRELOAD");
        if (!library || strpbrk(library, ": "))
            return rsc_fail(error, RSC_EUNSUPPORTED,
                            library ? "libreusescope-perf.so lies in a folder whose name has a space or a colon"
                                    : "libreusescope-perf.so is missing beside the tool: build it again (make)");
        snprintf(command->preload, sizeof command->preload, "%s%s%.*s", library, also && *also ? ":" : "", PATH_MAX,
                 also ? also : "");
        command->perf = 1;
        snprintf(
            command->rebuilt, sizeof command->rebuilt,
            "ring=%d,follow=%d,ibs=%d,latency=%d,type=%u,loads=%llu,stores=%llu,leader=%llu,config1=%llu,config2=%llu,precise=%d,exclude=%d",
            launch->ring_fd, options->follow, pmu->kind == RSC_PMU_AMD_IBS, pmu->latency, pmu->type,
            (unsigned long long)(pmu->kind == RSC_PMU_AMD_IBS ? pmu->config : pmu->loads),
            (unsigned long long)pmu->stores, (unsigned long long)pmu->leader, (unsigned long long)pmu->latency_config1,
            (unsigned long long)pmu->config2, pmu->precise, pmu->user_only_by_exclude);
    }
    launch->ring->watch.period = options->watch_period;
    launch->ring->watch.rate = options->watch_rate;
    launch->ring->watch.seed = options->seed;
    launch->ring->watch.registers = options->watch_registers;
    launch->ring->watch.lines = (uint32_t)options->watch_lines;
    launch->ring->watch.frames = options->contexts ? RSC_WATCH_FRAMES : 0;
    if (!options->pmu)
        snprintf(command->rebuilt, sizeof command->rebuilt,
                 "ring=%d,follow=%d,skip=%llu,marked=%d,samples=%d,watch=%d,plain=%d", launch->ring_fd, options->follow,
                 (unsigned long long)options->skip, marked,
                 !getenv("REUSESCOPE_TEST_NO_SAMPLES"), /* for tests in which no signal may come in between */
                 options->watch,
                 plain && plain[0] == '1'); /* `plain` for tests of code for processors without AVX-512 */
    return 0;
}

static void become(const struct command *command, int report_fd) {
    if (command->perf) setenv("LD_PRELOAD", command->preload, 1);
    if (command->perf) setenv(RSC_PERF_ENVIRONMENT, command->rebuilt, 1);
    else if (command->rebuilt[0]) setenv(RSC_ASM_ENVIRONMENT, command->rebuilt, 1);
    else unsetenv("LD_PRELOAD"); /* the guest gets it by -E, QEMU does not */
    personality(ADDR_NO_RANDOMIZE); /* the same addresses every time, where the kernel lets us */
    execv(command->path, command->words);
    int reason = errno;
    ssize_t ignored = write(report_fd, &reason, sizeof reason);
    (void)ignored;
    _exit(127);
}

int rsc_launch_start(struct rsc_launch *launch, const struct rsc_target *target, char *const *argv,
                     const struct rsc_launch_options *options, struct rsc_error *error) {
    struct command *command = calloc(1, sizeof *command);
    int report[2] = {-1, -1}, reason = 0, status;
    memset(launch, 0, sizeof *launch);
    launch->ring_fd = -1;
    if (!command) return rsc_fail_memory(error, "command line");
    if ((status = make_ring(launch, error)) < 0) goto out;
    launch->ring->unread = (uint64_t)options->unread;
    status = (options->rebuilt ? build_rebuilt_command : build_command)(command, launch, target, argv, options, error);
    if (status < 0) goto out;
    if (pipe2(report, O_CLOEXEC) != 0) {
        status = rsc_fail_errno(error, errno, "pipe");
        goto out;
    }
    fflush(NULL);
    launch->started_ns = rsc_ring_now_ns();
    set_signals();
    launch->pid = fork();
    if (launch->pid == 0) reset_signals();
    if (launch->pid == 0) become(command, report[1]);
    if (launch->pid < 0) {
        status = rsc_fail_errno(error, errno, "fork");
        goto out;
    }
    forward_to = launch->pid;
    close(report[1]);
    report[1] = -1;
    if (read(report[0], &reason, sizeof reason) == (ssize_t)sizeof reason) {
        waitpid(launch->pid, NULL, 0);
        status = rsc_fail_errno(error, reason, command->path);
        goto out;
    }
    launch->running = 1;
out:
    if (report[0] >= 0) close(report[0]);
    if (report[1] >= 0) close(report[1]);
    free(command->words);
    free(command);
    return status;
}

int rsc_launch_native_seconds(const struct rsc_target *target, char *const *argv, double *seconds,
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
    fflush(NULL);
    keep_children();
    pid_t pid = fork();
    if (pid < 0) return rsc_fail_errno(error, errno, "fork");
    if (pid == 0) {
        restore_children();
        int nothing = open("/dev/null", O_RDWR);
        for (int fd = 0; fd < 3; fd++) dup2(nothing, fd);
        execv(target->script[0] ? target->script : target->path, argv);
        _exit(127);
    }
    struct rusage usage;
    int status;
    while (wait4(pid, &status, 0, &usage) < 0)
        if (errno != EINTR) return rsc_fail_errno(error, errno, "wait");
    restore_children();
    *seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
               1e-6 * (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
    return 0;
}

/*
 * A program that stopped itself: our shell is to see it, so we stop with it and go
 * on with it. Keys stop and continue us both, not at quite the same moment: that
 * is waited out.
 */
static void stop_with(struct rsc_launch *launch) {
    if (!launch->stopped_ns || rsc_ring_now_ns() - launch->stopped_ns < STOPPED_NS) return;
    launch->stopped_ns = 0;
    raise(SIGSTOP);
    kill(launch->pid, SIGCONT);
}

int rsc_launch_poll(struct rsc_launch *launch) {
    if (!launch->running) return 1;
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
    if (launch->ring) {
        __atomic_store_n(&launch->ring->detached, 1, __ATOMIC_RELEASE);
        munmap(launch->ring, sizeof(struct rsc_ring));
    }
    if (launch->ring_fd >= 0) close(launch->ring_fd);
    launch->ring = NULL;
    launch->ring_fd = -1;
    if (launch->pid) reset_signals();
}
