/* thread_stacks.c - see thread_stacks.h. */
#include "multicore/thread_stacks.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"

int rsc_thread_stacks_init(struct rsc_thread_stacks *stacks, const char *cores, struct rsc_error *error) {
    memset(stacks, 0, sizeof *stacks);
    int status = rsc_core_groups_parse(&stacks->groups, cores, error);
    if (status < 0) return status;
    stacks->of_group = malloc((stacks->groups.group_count + 1ull) * sizeof *stacks->of_group);
    if (!stacks->of_group) {
        rsc_thread_stacks_free(stacks);
        return rsc_fail_memory(error, "private stacks");
    }
    for (uint32_t i = 0; i < stacks->groups.group_count; i++) stacks->of_group[i] = RSC_NO_STACK;
    return 0;
}

void rsc_thread_stacks_free(struct rsc_thread_stacks *stacks) {
    rsc_core_groups_free(&stacks->groups);
    free(stacks->of_group);
    free(stacks->of_thread);
    free(stacks->stacks);
    memset(stacks, 0, sizeof *stacks);
}

static int know_thread(struct rsc_thread_stacks *stacks, uint32_t thread) {
    if (thread < stacks->thread_room) return 0;
    uint32_t room = stacks->thread_room ? stacks->thread_room : 64;
    while (room <= thread) room *= 2;
    uint32_t *more = realloc(stacks->of_thread, room * sizeof *more);
    if (!more) return RSC_ENOMEM;
    for (uint32_t t = stacks->thread_room; t < room; t++) more[t] = RSC_NO_STACK;
    stacks->of_thread = more;
    stacks->thread_room = room;
    return 0;
}

int rsc_thread_stacks_add(struct rsc_thread_stacks *stacks, const struct rsc_batch *batch, uint32_t thread) {
    const uint32_t group = rsc_core_groups_of(&stacks->groups, thread);
    uint32_t *of_group = group == RSC_NO_GROUP ? NULL : &stacks->of_group[group];
    if (know_thread(stacks, thread) < 0) return RSC_ENOMEM;
    if (of_group && *of_group != RSC_NO_STACK) {
        stacks->of_thread[thread] = *of_group;
        return 0;
    }
    if (RSC_GROW(stacks->stacks, stacks->room, stacks->count + 1)) return RSC_ENOMEM;
    struct rsc_thread_stack *stack = &stacks->stacks[stacks->count];
    *stack = (struct rsc_thread_stack){.thread = thread, .tid = thread};
    if (batch->threads && thread < batch->thread_count) {
        stack->pid = batch->threads[thread].pid;
        stack->tid = batch->threads[thread].tid;
    }
    stacks->of_thread[thread] = stacks->count;
    if (of_group) *of_group = stacks->count;
    stacks->count++;
    return 1;
}
