/*
 * plan.h - who runs what: the segments of a nest at one number of threads.
 *
 * Static schedules are split as libgomp does: without a chunk, one piece a thread,
 * the first trip % T threads one iteration longer; with one, chunks in turn.
 * Dynamic chunks go to the thread that has made the fewest references so far (the
 * lowest number of those), which is what happens when threads run equally fast;
 * guided chunks likewise, each as long as libgomp makes it; rsc_plan_deal_as() has
 * them dealt out in a drawn interleaving instead. Threads beyond a
 * construct's num_threads have nothing to do in it.
 *
 * Places of a thread in a segment are counted from 0.
 */
#ifndef RSC_LOOPS_NEST_PLAN_H
#define RSC_LOOPS_NEST_PLAN_H

#include "loops/nest/nest.h"
#include "loops/model/timeline.h"

enum rsc_split { RSC_SPLIT_NONE, RSC_SPLIT_BLOCK, RSC_SPLIT_CYCLIC, RSC_SPLIT_TABLE };

/* One segment, as all like it are split. */
struct rsc_view {
    int ready;
    const struct rsc_nest_item *item;
    enum rsc_nest_who who;
    uint32_t threads; /* who take part */
    int64_t total;    /* references of a whole run */
    enum rsc_split split;
    int64_t trip, chunk;
    int64_t body;        /* references of an iteration, where all are alike */
    const int64_t *sums; /* else: running sums over all iterations; the nest's */
    /* RSC_SPLIT_TABLE */
    uint32_t chunk_count;
    int64_t *start;   /* [chunk_count + 1] */
    uint32_t *owner;  /* [chunk_count] */
    uint32_t *turn;   /* [chunk_count]: its number among the owner's */
    uint32_t *first;  /* [threads + 1]: each thread's part of list */
    uint32_t *list;   /* chunks by owner, in order */
    int64_t *done;    /* [by list]: the owner's iterations before it */
    int64_t *made;    /* [by list]: the owner's references before it */
    struct rsc_timeline *timeline; /* in which the chunks were dealt out; NULL: not drawn */
};

struct rsc_plan {
    struct rsc_nest *nest;
    uint32_t threads;
    int has_schedule; /* schedule and chunk stand for those of the source */
    enum rsc_schedule schedule;
    uint64_t chunk;
    struct rsc_interleave dealing; /* how threads come for chunks, if `deals` */
    int deals;
    uint64_t deal_seed;
    struct rsc_view *view; /* by segment; only those that are `same` to themselves are filled */
    double *phase_start;   /* [phase_count + 1]: references of all threads before it */
};

/* `schedule` may be NULL. The nest must outlive the plan. */
int rsc_plan_new(struct rsc_plan **out, struct rsc_nest *nest, uint32_t threads, const char *schedule,
                 struct rsc_error *error);
void rsc_plan_free(struct rsc_plan *plan);

/*
 * From now on dynamic and guided chunks go to threads as they come under this
 * interleaving (bursty or iid), drawn once for all segments that are alike, where
 * that takes few draws. To be called before any view is asked for.
 */
void rsc_plan_deal_as(struct rsc_plan *plan, const struct rsc_interleave *interleave, uint64_t seed);
/* Whether some loop that threads share is dynamic or guided. */
int rsc_plan_has_dealing(const struct rsc_plan *plan);

/* "static", "dynamic,4", "guided": 0 or RSC_EINVAL. */
int rsc_schedule_parse(const char *text, enum rsc_schedule *schedule, uint64_t *chunk, struct rsc_error *error);
/* How many iterations libgomp's guided schedule gives away next. */
int64_t rsc_guided_next(int64_t remaining, uint32_t threads, int64_t chunk);

/* The view of a segment, made if need be; NULL when memory is out (nest->status). */
const struct rsc_view *rsc_plan_view(struct rsc_plan *plan, uint32_t segment);
/* The schedule that holds for an item. */
void rsc_plan_schedule(const struct rsc_plan *plan, const struct rsc_nest_item *item, enum rsc_schedule *schedule,
                       uint64_t *chunk);
/* Sets the variables around a segment. */
void rsc_plan_values(const struct rsc_plan *plan, uint32_t segment, int64_t *value);

/* A thread's iterations and references in the segment. */
int64_t rsc_view_iterations(const struct rsc_view *view, uint32_t thread);
int64_t rsc_view_length(const struct rsc_view *view, uint32_t thread);
/* The m-th iteration of a thread, in whole numbers of the loop; who has iteration i, and as which of its own. */
int64_t rsc_view_iteration(const struct rsc_view *view, uint32_t thread, int64_t m);
uint32_t rsc_view_owner(const struct rsc_view *view, int64_t iteration, int64_t *m);
/* The thread's last iteration (as its m) that is not after i; -1: none. */
int64_t rsc_view_not_after(const struct rsc_view *view, uint32_t thread, int64_t iteration);
/* References of the thread before its iteration m; which m a place is in, *rest references into it. */
int64_t rsc_view_before(const struct rsc_view *view, uint32_t thread, int64_t m);
int64_t rsc_view_find(const struct rsc_view *view, uint32_t thread, int64_t place, int64_t *rest);

#endif
