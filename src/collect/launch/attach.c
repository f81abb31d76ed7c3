/* attach.c - see attach.h. */
#include "collect/launch/attach.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fail.h"
#include "runtime/recorder/asm_attach.h"

#define LOOK_US 5000
#define ENOUGH_NS 100000000ull /* for threads that run to publish what they have */

static volatile sig_atomic_t interrupted;
static struct sigaction interrupt_before, terminate_before;
static void interrupt(int number) {
    (void)number;
    interrupted = 1;
}

int rsc_attach_find(pid_t pid, char path[PATH_MAX], struct rsc_error *error) {
    char link[64];
    struct stat folder, file;
    snprintf(link, sizeof link, "/proc/%d", (int)pid);
    if (pid <= 0 || stat(link, &folder) != 0) return rsc_fail(error, RSC_EINVAL, "process %d: there is none", (int)pid);
    if (folder.st_uid != geteuid())
        return rsc_fail(error, RSC_EINVAL, "process %d: it belongs to another user", (int)pid);
    snprintf(link, sizeof link, "/proc/%d/exe", (int)pid);
    ssize_t length = readlink(link, path, PATH_MAX - 1);
    if (length <= 0)
        return rsc_fail(error, RSC_EINVAL, "process %d: its program is not known: %s", (int)pid, strerror(errno));
    path[length] = 0;
    if (stat(path, &file) != 0) snprintf(path, PATH_MAX, "%s", link); /* it was deleted or replaced */
    return 0;
}

/* The file appears whole: the program may look at any time. */
static int leave_request(const struct rsc_launch *launch, pid_t pid, struct rsc_error *error) {
    char folder[RSC_ATTACH_PATH], path[RSC_ATTACH_PATH], made[RSC_ATTACH_PATH + 32], text[64];
    struct stat found;
    rsc_attach_folder(folder, (uint32_t)geteuid());
    rsc_attach_path(path, (uint32_t)geteuid(), (uint32_t)pid);
    snprintf(made, sizeof made, "%s/.%d", folder, (int)getpid());
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) return rsc_fail_errno(error, errno, folder);
    if (lstat(folder, &found) != 0 || !S_ISDIR(found.st_mode) || found.st_uid != geteuid())
        return rsc_fail(error, RSC_EINVAL, "%s: not a folder of this user", folder);
    int fd = open(made, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) return rsc_fail_errno(error, errno, made);
    int length = snprintf(text, sizeof text, "%d %d\n", (int)getpid(), launch->ring_fd);
    int written = write(fd, text, (size_t)length) == length;
    close(fd);
    if (written && link(made, path) == 0) {
        unlink(made);
        return 0;
    }
    int reason = errno;
    unlink(made);
    if (reason == EEXIST)
        return rsc_fail(error, RSC_EINVAL, "process %d: another reusescope attach watches it (or remove %s)", (int)pid,
                        path);
    return rsc_fail_errno(error, reason, path);
}

/* Not one that has ended and waits for its parent. */
static int is_there(pid_t pid) {
    char path[64], text[512];
    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
    if (fd >= 0) close(fd);
    if (got <= 0) return 0;
    text[got] = 0;
    const char *state = strrchr(text, ')'); /* its name, in parentheses, can be anything */
    return !state || (strncmp(state, ") Z", 3) && strncmp(state, ") X", 3));
}

static void take_signals(void) {
    struct sigaction stop = {.sa_handler = interrupt};
    interrupted = 0;
    sigaction(SIGINT, &stop, &interrupt_before);
    sigaction(SIGTERM, &stop, &terminate_before);
}

static void start_clock(struct rsc_launch *launch, double seconds) {
    launch->running = 1;
    launch->started_ns = rsc_ring_now_ns();
    launch->until_ns = launch->started_ns + (uint64_t)(1e9 * seconds);
}

void rsc_attach_begin(struct rsc_launch *launch, pid_t pid, double seconds) {
    launch->attached = 1;
    launch->pid = pid;
    take_signals();
    start_clock(launch, seconds);
}

int rsc_attach_start(struct rsc_launch *launch, pid_t pid, double seconds, double patience, struct rsc_error *error) {
    launch->attached = 1;
    int status = leave_request(launch, pid, error);
    if (status < 0) return status;
    launch->pid = pid;
    take_signals();
    uint64_t began = rsc_ring_now_ns();
    while (!__atomic_load_n(&launch->ring->images, __ATOMIC_ACQUIRE)) {
        if (!is_there(pid)) return rsc_fail(error, RSC_EUNSUPPORTED, "process %d: it has ended", (int)pid);
        if (interrupted || 1e-9 * (double)(rsc_ring_now_ns() - began) > patience)
            return rsc_fail(error, RSC_EUNSUPPORTED,
                            "process %d did not answer: it is idle, or another reusescope watches it", (int)pid);
        usleep(LOOK_US);
    }
    start_clock(launch, seconds);
    return 0;
}

int rsc_attach_poll(struct rsc_launch *launch) {
    uint64_t now = rsc_ring_now_ns();
    int gone = !is_there(launch->pid);
    if (!gone && !interrupted && now < launch->until_ns) return 0;
    if (!launch->enough_ns) {
        launch->enough_ns = now;
        launch->seconds = 1e-9 * (double)(now - launch->started_ns);
        __atomic_store_n(&launch->ring->enough, 1, __ATOMIC_RELEASE);
    }
    int asked = launch->ring->images != 0; /* otherwise it is watched from outside: nothing is left to publish */
    if (!gone && asked && now - launch->enough_ns < ENOUGH_NS) return 0;
    __atomic_store_n(&launch->ring->detached, 1, __ATOMIC_RELEASE);
    launch->running = 0;
    launch->let_go = !gone;
    return 1;
}

void rsc_attach_end(struct rsc_launch *launch) {
    char path[RSC_ATTACH_PATH];
    if (!launch->pid) return;
    rsc_attach_path(path, (uint32_t)geteuid(), (uint32_t)launch->pid);
    unlink(path);
    rsc_attach_folder(path, (uint32_t)geteuid());
    rmdir(path); /* if nobody else asks */
    sigaction(SIGINT, &interrupt_before, NULL);
    sigaction(SIGTERM, &terminate_before, NULL);
}
