/*
 * launch.h - starting a program with the collector inside and seeing it through to its end.
 *
 * The program runs in our process group with our terminal, input and output. Keys
 * that send signals (Ctrl-C) reach it directly; signals sent to us alone are passed
 * on. Its end is ours: rsc_launch_poll() reports how it exited.
 */
#ifndef RSC_COLLECT_LAUNCH_LAUNCH_H
#define RSC_COLLECT_LAUNCH_LAUNCH_H

#include <sys/resource.h>
#include <sys/types.h>

#include <reusescope/error.h>

#include "collect/launch/target.h"
#include "runtime/ring/ring.h"

#define RSC_LAUNCH_FD_LEAST \
    200 /* of files that a program inherits: out of the way of those that count on small numbers */
#define RSC_LAUNCH_VARIABLES 2

struct rsc_launch {
    struct rsc_ring *ring; /* mapped; the memory has no name */
    int ring_fd;
    pid_t pid;
    int running;
    int status; /* of waitpid() */
    struct rusage usage;
    double seconds; /* wall */
    uint64_t started_ns, stopped_ns; /* stopped_ns: 0 while it is not */
};

struct rsc_launch_command {
    const char *path; /* what is executed */
    char **words;     /* NULL at the end */
    struct {
        const char *name, *value; /* value NULL: unset */
    } environment[RSC_LAUNCH_VARIABLES]; /* up to the first without a name */
};

/* The ring, which the program inherits as ring_fd. Close it also after a failure. */
int rsc_launch_open(struct rsc_launch *launch, struct rsc_error *error);

/* Starts the program, once the ring says what it is to do. */
int rsc_launch_start(struct rsc_launch *launch, const struct rsc_launch_command *command, struct rsc_error *error);

/*
 * Runs the program once without QEMU, its input and output cut off, and measures
 * its processor time in seconds. RSC_EUNSUPPORTED for another machine's program.
 */
int rsc_launch_native_seconds(const struct rsc_target *target, char *const *argv, double *seconds,
                              struct rsc_error *error);

/* Has the program ended? Fills status and usage when it has. */
int rsc_launch_poll(struct rsc_launch *launch);

/* Unmaps the ring and restores signal handling. */
void rsc_launch_close(struct rsc_launch *launch);

/* A file of ours, beside the tool (a build tree) or in the library folder of its prefix: `path` (PATH_MAX), or NULL. */
const char *rsc_launch_own_file(const char *name, char *path);

#endif
