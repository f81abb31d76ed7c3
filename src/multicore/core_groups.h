/*
 * core_groups.h - which threads share a stack: "0-1,2-3" makes two groups of two.
 *
 * Threads are numbered in order of appearance. A group is a number, a range, or
 * several of those joined by +. A thread in no group has its own stack.
 */
#ifndef RSC_MULTICORE_CORE_GROUPS_H
#define RSC_MULTICORE_CORE_GROUPS_H

#include <stdint.h>

#include <reusescope/engine.h>
#include <reusescope/error.h>

#define RSC_CORE_RANGES_MAX 4096u

struct rsc_core_groups {
    struct {
        uint32_t first, last; /* threads, both included */
        uint32_t group;
    } *ranges; /* ascending; owned */
    uint32_t range_count;
    uint32_t group_count;
};

#define RSC_NO_GROUP UINT32_MAX

/* `text` may be NULL: no groups. Returns 0 or a negative code. A zeroed struct may always be freed. */
int rsc_core_groups_parse(struct rsc_core_groups *groups, const char *text, struct rsc_error *error);
void rsc_core_groups_free(struct rsc_core_groups *groups);

/* Warns of groups without any of the threads seen, 0 to thread_count - 1: usually a number too high. */
void rsc_core_groups_warn(const struct rsc_core_groups *groups, uint64_t thread_count, const struct rsc_log *log);

/* The group of a thread, or RSC_NO_GROUP. */
uint32_t rsc_core_groups_of(const struct rsc_core_groups *groups, uint32_t thread);

#endif
