/*
 * plan.h - assigns the segments of a nest to threads, at one number of threads.
 *
 * Static schedules are split as libgomp does: without a chunk, one piece per thread,
 * the first trip % T threads one iteration longer; with a chunk size, chunks
 * round-robin. Dynamic chunks go to the thread that has made the fewest references so
 * far (of several, the lowest number), as with equally fast threads; guided chunks
 * likewise, with libgomp's lengths; rsc_plan_deal_as() assigns them to the thread that
 * is free first in a drawn interleaving instead. Threads beyond a construct's num_threads do not take part in
 * it.
 *
 * Places of a thread in a segment are counted from 0.
 *
 * Several threads may ask one plan at the same time: a view is made by one of them, with the plan's lock.
 */
#ifndef RSC_LOOPS_NEST_PLAN_H
#define RSC_LOOPS_NEST_PLAN_H

#include "loops/nest/nest.h"
#include "loops/model/timeline.h"

enum rsc_split { RSC_SPLIT_NONE, RSC_SPLIT_BLOCK, RSC_SPLIT_CYCLIC, RSC_SPLIT_TABLE };

/* The split of a segment and all segments equivalent to it. */
struct rsc_view {
    atomic_int ready; /* the rest stays as it is then */
    const struct rsc_nest_item *item;
    enum rsc_nest_who who;
    uint32_t threads; /* number of threads that take part */
    int64_t total;    /* references of a whole run */
    enum rsc_split split;
    int64_t trip, chunk;
    double comes_after; /* dynamic: references of a chunk on average, after which a thread comes for the next; 0: not */
    int64_t body; /* references per iteration, if all are equal */
    const int64_t *sums; /* else: running sums over all iterations; the nest's */
    /* RSC_SPLIT_TABLE */
    uint32_t chunk_count;
    int64_t *start; /* [chunk_count + 1] */
    uint32_t *owner; /* [chunk_count] */
    uint32_t *turn; /* [chunk_count]: its number among the owner's */
    uint32_t *first; /* [threads + 1]: each thread's part of list */
    uint32_t *list; /* chunks by owner, in order */
    int64_t *done; /* [by list]: the owner's iterations before it */
    int64_t *made; /* [by list]: the owner's references before it */
    struct rsc_timeline *timeline; /* iid, bursty: in which the chunks were assigned; NULL: not drawn */
    double *begun; /* drift: when each chunk of list begins, in references of a thread of even pace, each thread's
                      followed by when it has no more: thread t's from first[t] + t on; NULL: not drawn */
};

struct rsc_plan {
    struct rsc_nest *nest;
    uint32_t threads;
    int has_schedule; /* schedule and chunk replace the source's */
    enum rsc_schedule schedule;
    uint64_t chunk;
    struct rsc_interleave dealing; /* how threads come for chunks, if `deals` */
    int deals;
    uint64_t deal_seed;
    pthread_mutex_t lock;
    struct rsc_view *view; /* by segment; filled only for the first of equivalent segments (`same`) */
    double *phase_start; /* [phase_count + 1]: references of all threads before it */
};

/* `schedule` may be NULL. The nest must outlive the plan. */
int rsc_plan_new(struct rsc_plan **out, struct rsc_nest *nest, uint32_t threads, const char *schedule,
                 struct rsc_error *error);
void rsc_plan_free(struct rsc_plan *plan);

/*
 * From now on dynamic and guided chunks go to threads in the order of this
 * interleaving (bursty, iid or drift), drawn once for all equivalent segments, if that
 * takes few draws. Call before any rsc_plan_view().
 */
void rsc_plan_deal_as(struct rsc_plan *plan, const struct rsc_interleave *interleave, uint64_t seed);
/* Whether some loop that threads share is dynamic or guided. */
int rsc_plan_has_dealing(const struct rsc_plan *plan);

/* "static", "dynamic,4", "guided": 0 or RSC_EINVAL. */
int rsc_schedule_parse(const char *text, enum rsc_schedule *schedule, uint64_t *chunk, struct rsc_error *error);
/* The size of the next chunk in libgomp's guided schedule. */
int64_t rsc_guided_next(int64_t remaining, uint32_t threads, int64_t chunk);

/* The view of a segment, created if needed; NULL when out of memory (nest->status). */
const struct rsc_view *rsc_plan_view(struct rsc_plan *plan, uint32_t segment);
/* The schedule of an item. */
void rsc_plan_schedule(const struct rsc_plan *plan, const struct rsc_nest_item *item, enum rsc_schedule *schedule,
                       uint64_t *chunk);
/* Sets the variables around a segment. */
void rsc_plan_values(const struct rsc_plan *plan, uint32_t segment, int64_t *value);

/* A thread's iterations and references in the segment. */
int64_t rsc_view_iterations(const struct rsc_view *view, uint32_t thread);
int64_t rsc_view_length(const struct rsc_view *view, uint32_t thread);
/* The m-th iteration of a thread, as an iteration of the loop; the owner of iteration i, and its number m there. */
int64_t rsc_view_iteration(const struct rsc_view *view, uint32_t thread, int64_t m);
uint32_t rsc_view_owner(const struct rsc_view *view, int64_t iteration, int64_t *m);
/* The thread's last iteration (as its m) at or before i; -1: none. */
int64_t rsc_view_not_after(const struct rsc_view *view, uint32_t thread, int64_t iteration);
/* References of the thread before its iteration m; the iteration m of a place, which is *rest references into it. */
int64_t rsc_view_before(const struct rsc_view *view, uint32_t thread, int64_t m);
int64_t rsc_view_find(const struct rsc_view *view, uint32_t thread, int64_t place, int64_t *rest);

/*
 * Of views that have `begun`: the thread's chunk that runs at a time, or that has its reference at `place`: the times
 * of its begin and end, and the thread's references before it and in it. Behind the last chunk: it is empty and ends at
 * INFINITY.
 */
struct rsc_view_chunk {
    double from, to;
    int64_t before, count;
};
struct rsc_view_chunk rsc_view_chunk_at(const struct rsc_view *view, uint32_t thread, double time);
struct rsc_view_chunk rsc_view_chunk_of(const struct rsc_view *view, uint32_t thread, int64_t place);

#endif
