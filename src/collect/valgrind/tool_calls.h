/* tool_calls.h - which of the program's system calls wait, and for what (tool_schedule.c). */
#ifndef RSC_COLLECT_VALGRIND_TOOL_CALLS_H
#define RSC_COLLECT_VALGRIND_TOOL_CALLS_H

#include <pub_tool_basics.h>

struct rsc_tool_call {
    UWord number, args[6];
};

/* What a call needs of the file in its first argument, as of poll(); 0: it is not such a call. */
Short rsc_call_events(UWord number);

/* Of a call that writes: a pipe or socket with room may still not have enough. */
int rsc_call_may_be_too_large(const struct rsc_tool_call *call);

/* Of a call that needs a file: the program wants an error instead of waiting. */
int rsc_call_must_not_wait(const struct rsc_tool_call *call);

/* It waits for time, other processes, signals or several files; or for a futex that the tool does not keep. */
int rsc_call_waits_outside(const struct rsc_tool_call *call);

#endif
