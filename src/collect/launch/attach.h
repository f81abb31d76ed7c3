/*
 * attach.h - watches a program that is running already, for a while, and leaves it running.
 *
 * A program that was built with `reusescope cc` is asked to record itself: the request is
 * described in runtime/recorder/asm_attach.h. When the time is over, or on Ctrl-C, it is asked
 * to stop; its threads do so within a few thousand accesses. Any other program is watched from
 * outside (collect/perf/remote_watch.h) and not asked anything.
 */
#ifndef RSC_COLLECT_LAUNCH_ATTACH_H
#define RSC_COLLECT_LAUNCH_ATTACH_H

#include "collect/launch/launch.h"

/* Its executable: a path that can be opened. RSC_EINVAL: there is no such process, or it is not ours. */
int rsc_attach_find(pid_t pid, char path[PATH_MAX], struct rsc_error *error);

/*
 * Asks the program and waits until it has taken the ring, which must have been set up. RSC_EUNSUPPORTED: it did not
 * answer within `patience` seconds.
 */
int rsc_attach_start(struct rsc_launch *launch, pid_t pid, double seconds, double patience, struct rsc_error *error);

/* Begins to watch a program from outside: it is not asked, and rsc_attach_poll() says when to stop. */
void rsc_attach_begin(struct rsc_launch *launch, pid_t pid, double seconds);

/* As rsc_launch_poll(): whether the program was watched long enough, or has ended. */
int rsc_attach_poll(struct rsc_launch *launch);

/* Takes the request back. */
void rsc_attach_end(struct rsc_launch *launch);

#endif
