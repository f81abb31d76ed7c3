/*
 * attach.h - watches a program that is running already, for a while, and leaves it running.
 *
 * The program must have been built with `reusescope cc`. The request is described in
 * runtime/recorder/asm_attach.h. When the time is over, or on Ctrl-C, the program is asked
 * to stop; its threads do so within a few thousand accesses.
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

/* As rsc_launch_poll(): whether the program was watched long enough, or has ended. */
int rsc_attach_poll(struct rsc_launch *launch);

/* Takes the request back. */
void rsc_attach_end(struct rsc_launch *launch);

#endif
