/*
 * tool_schedule.h - which thread runs. Valgrind runs one at a time, but any that waits for its lock may be the next; here
 * they take turns, in an order that depends on nothing but what the program does: the same in every run.
 *
 * A thread has the turn for a number of blocks of code, then the next one that can run, by Valgrind's numbers. Whether
 * one can run must not depend on when the kernel wakes it. So the tool keeps futexes itself: a thread that waits for
 * one leaves the turns at that call, and takes part again from the call that wakes it. A thread that reads from a pipe
 * without data, or writes to a full one, leaves them until there is data, or room, when a turn ends. Meanwhile these
 * threads rest in the kernel, in a call that signals interrupt as they would the program's own.
 *
 * Not repeatable: a thread that waits for time, for another process, for several files at once or for a signal. It takes
 * part again when its call returns.
 *
 * Everything here needs Valgrind's lock.
 */
#ifndef RSC_COLLECT_VALGRIND_TOOL_SCHEDULE_H
#define RSC_COLLECT_VALGRIND_TOOL_SCHEDULE_H

#include <pub_tool_basics.h>

/* Whether it is the thread's turn: then it may write to the ring. */
int rsc_schedule_has(ThreadId thread);

/* Client code is about to run: whether it may. If not, it must not run a single block. */
int rsc_schedule_may_run(ThreadId thread);

/* Of this process. */
int rsc_schedule_living(void);

/* The program's only thread, at its start or after a fork. */
void rsc_schedule_reset(ThreadId thread);

/* A thread is about to be created by `parent`; that failed; it is there. */
void rsc_schedule_create(ThreadId parent, ThreadId child);
void rsc_schedule_not_created(void);
void rsc_schedule_arrive(ThreadId thread);

/* A thread has run its last instruction. */
void rsc_schedule_end(ThreadId thread);

/* A thread's blocks have stopped; `left` of those that it may run before others do. */
void rsc_schedule_stop(ThreadId thread, Int left);

/* The kernel is about to be called, and has been. */
void rsc_schedule_call(ThreadId thread);
void rsc_schedule_called(ThreadId thread);

/* A signal's handler will run instead of what was interrupted. */
void rsc_schedule_signal(ThreadId thread);

#endif
