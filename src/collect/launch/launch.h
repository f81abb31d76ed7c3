/*
 * launch.h - starts a program with the collector inside and follows it to its end.
 *
 * The program runs in our process group with our terminal, input and output. Keys that send
 * signals (Ctrl-C) reach it directly; signals sent only to us are passed on. We end when it
 * ends: rsc_launch_poll() reports how it exited.
 */
#ifndef RSC_COLLECT_LAUNCH_LAUNCH_H
#define RSC_COLLECT_LAUNCH_LAUNCH_H

#include <limits.h>
#include <sys/resource.h>
#include <sys/types.h>

#include <reusescope/error.h>

#include "collect/launch/target.h"
#include "runtime/ring/ring.h"

#define RSC_LAUNCH_FD_LEAST 200 /* for inherited files: high, because some programs expect the low numbers to be free */
#define RSC_LAUNCH_VARIABLES 2

struct rsc_launch {
    struct rsc_ring *ring; /* mapped; anonymous memory */
    int ring_fd;
    int log_fd; /* messages of the program that runs ours; -1: none */
    pid_t pid;
    int running;
    int status; /* of waitpid() */
    struct rusage usage;
    double seconds; /* wall */
    uint64_t started_ns, stopped_ns; /* stopped_ns: 0 while running */
    int attached; /* the program is not our child (attach.h) */
    uint64_t until_ns, enough_ns; /* when to stop watching it; when it was asked to stop, 0: not yet */
    int let_go; /* it runs on */
};

struct rsc_launch_command {
    const char *path; /* the file to execute */
    char **words; /* NULL at the end */
    struct {
        const char *name, *value; /* value NULL: unset */
    } environment[RSC_LAUNCH_VARIABLES]; /* ends at the first without a name */
};

/* Cores that the program may use. */
uint32_t rsc_launch_cores(void);

/* Creates the ring, which the program inherits as ring_fd. Close it after a failure too. */
int rsc_launch_open(struct rsc_launch *launch, struct rsc_error *error);

/* Starts the program, after the ring has been set up for it. */
int rsc_launch_start(struct rsc_launch *launch, const struct rsc_launch_command *command, struct rsc_error *error);

/* Processor time, in user and kernel mode. */
double rsc_usage_seconds(const struct rusage *usage);

/* An unwatched run of a program. */
struct rsc_native_run {
    double seconds; /* of processor time; 0: there was none */
    int status; /* of wait() */
};

/*
 * Runs the program once unwatched, with its input and output closed off. RSC_EUNSUPPORTED
 * for another machine's program.
 */
int rsc_launch_native(const struct rsc_target *target, char *const *argv, struct rsc_native_run *native,
                      struct rsc_error *error);

/* Whether the program has ended. If so, fills status and usage. */
int rsc_launch_poll(struct rsc_launch *launch);

/* Unmaps the ring and restores signal handling. */
void rsc_launch_close(struct rsc_launch *launch);

/*
 * Finds one of our files, beside the tool (a build tree) or in the library folder of its prefix: `path` (PATH_MAX),
 * or NULL.
 */
const char *rsc_launch_own_file(const char *name, char *path);

/*
 * "LD_PRELOAD=..." for the program: our library, then the user's. Neither ld.so's list nor QEMU's options can quote, so
 * a path that they would split is passed as a descriptor. Returns 0, or -1 if that failed.
 */
#define RSC_LAUNCH_PRELOAD_BYTES (2 * PATH_MAX + 64)
int rsc_launch_preload(char *text, size_t room, const char *library);

#endif
