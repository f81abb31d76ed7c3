/*
 * team.h - the threads that make an analysis: as many as there are processors, but at most 8.
 *
 * An analysis is made of parts (the curve, the private view, members of the band), each of which is begun once what it
 * needs is there; inside a part, loops over points are divided among the threads that are free. The caller only waits,
 * and asks its watch meanwhile. With one processor the caller makes everything itself, one after the other. What is made
 * does not depend on how many threads there are.
 */
#ifndef RSC_LOOPS_MODEL_TEAM_H
#define RSC_LOOPS_MODEL_TEAM_H

#include "loops/model/crowd.h"

struct rsc_loops_analysis;
struct rsc_loops_team;

#define RSC_LOOPS_WORKERS_MOST 8u
#define RSC_LOOPS_PARTS_MOST 8u

/* NULL: no memory. `several`: 0 if the caller is to make everything. */
struct rsc_loops_team *rsc_loops_team_new(struct rsc_loops_analysis *analysis, int several);
/* Begins a part; may be called inside another one. Contexts must outlive the team. */
typedef int rsc_loops_part(struct rsc_loops_analysis *analysis, void *context, struct rsc_error *error);
void rsc_loops_team_add(struct rsc_loops_team *team, rsc_loops_part *make, void *context);
/* Waits for all parts and frees the team. Returns the status of the first part, in the order of adding, that failed. */
int rsc_loops_team_end(struct rsc_loops_team *team, struct rsc_error *error);

/* Calls body(context, i) once for every i below count, in any order and by any thread of the team. */
void rsc_loops_team_each(struct rsc_loops_team *team, size_t count, void (*body)(void *context, size_t index),
                         void *context);
/* Threads that may be inside such a loop at once. */
uint32_t rsc_loops_team_size(const struct rsc_loops_team *team);

/*
 * A crowd for each thread of the team: equal ones, whose random numbers are to be seeded for each point. The first is the
 * one given, which stays the caller's; it must not be in use, and its search must outlive the others.
 */
struct rsc_loops_crowds {
    pthread_mutex_t lock;
    uint32_t count, free_count;
    struct rsc_crowd *crowd[RSC_LOOPS_WORKERS_MOST];
    uint32_t free[RSC_LOOPS_WORKERS_MOST]; /* numbers of those that nobody has */
    struct rsc_search search[RSC_LOOPS_WORKERS_MOST]; /* of all but the first */
};
int rsc_loops_crowds_new(struct rsc_loops_crowds **out, const struct rsc_loops_team *team, struct rsc_crowd *crowd,
                         struct rsc_error *error);
void rsc_loops_crowds_free(struct rsc_loops_crowds *crowds);
/* One that nobody else has, as its number; give it back before the body of the loop ends. */
uint32_t rsc_loops_crowds_take(struct rsc_loops_crowds *crowds);
void rsc_loops_crowds_give(struct rsc_loops_crowds *crowds, uint32_t number);
/* Searches by all of them so far. No other thread may use any. */
uint64_t rsc_loops_crowds_searches(const struct rsc_loops_crowds *crowds);

#endif
