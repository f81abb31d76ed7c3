/*
 * thread_stacks.h - which private stack each thread has: its own, or its group's (core_groups.h). Stacks are numbered as
 * their first threads come.
 */
#ifndef RSC_MULTICORE_THREAD_STACKS_H
#define RSC_MULTICORE_THREAD_STACKS_H

#include <reusescope/trace.h>

#include "multicore/core_groups.h"

#define RSC_NO_STACK UINT32_MAX

struct rsc_thread_stacks {
    struct rsc_core_groups groups;
    uint32_t *of_group;  /* or RSC_NO_STACK; owned */
    uint32_t *of_thread; /* the same; owned */
    uint32_t thread_room;
    struct rsc_thread_stack {
        uint32_t thread; /* its first */
        uint64_t pid, tid;
    } *stacks; /* owned */
    uint32_t count, room;
};

/* `cores` as rsc_core_groups_parse() takes them. Returns 0 or an error; a zeroed struct may always be freed. */
int rsc_thread_stacks_init(struct rsc_thread_stacks *stacks, const char *cores, struct rsc_error *error);
void rsc_thread_stacks_free(struct rsc_thread_stacks *stacks);

/* Gives a thread that has none its stack; the batch may name it. Returns 1 if the stack is new, 0, or RSC_ENOMEM. */
int rsc_thread_stacks_add(struct rsc_thread_stacks *stacks, const struct rsc_batch *batch, uint32_t thread);

/* The thread's stack, or RSC_NO_STACK. */
static inline uint32_t rsc_thread_stacks_of(const struct rsc_thread_stacks *stacks, uint32_t thread) {
    return thread < stacks->thread_room ? stacks->of_thread[thread] : RSC_NO_STACK;
}

#endif
