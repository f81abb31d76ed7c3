/*
 * running_thread.h - whether a thread of the watched program still runs. The program says in the ring which threads it
 * has, and can name any: one of the tool's own, or of a process that waits for the tool, would be waited for without end.
 */
#ifndef RSC_COLLECT_DRAIN_RUNNING_THREAD_H
#define RSC_COLLECT_DRAIN_RUNNING_THREAD_H

#include <stdint.h>

#define RSC_ANCESTORS_MAX 64u

/* The tool, its parent, and so on. */
struct rsc_ancestors {
    uint32_t pids[RSC_ANCESTORS_MAX], count;
};
void rsc_ancestors_find(struct rsc_ancestors *ancestors);

/* The system's letter for the thread's state; 0: it is gone: killed, or its process ended or called exec. */
char rsc_thread_state(uint32_t pid, uint32_t tid);

enum rsc_running {
    RSC_THREAD_GONE,
    RSC_THREAD_OURS, /* of the tool or an ancestor */
    RSC_THREAD_LEFT, /* it runs in a session of its own: a daemon */
    RSC_THREAD_RUNS, /* only these are waited for */
};
enum rsc_running rsc_thread_running(const struct rsc_ancestors *ancestors, uint32_t pid, uint32_t tid);

#endif
