/*
 * timeline.h - one interleaving of the threads of a phase, drawn completely, as runs
 * of references.
 *
 * If a phase is short, or runs are long, the result depends on a few draws, and
 * averages over them are inaccurate for a single reference. With a complete draw the
 * places of all threads at any time are looked up, and intervals are exact for that
 * draw.
 *
 * Times are references of all threads since the phase began; places are references
 * of one thread since then.
 */
#ifndef RSC_LOOPS_MODEL_TIMELINE_H
#define RSC_LOOPS_MODEL_TIMELINE_H

#include "base/rng.h"
#include "loops/model/loops_model.h"

struct rsc_timeline {
    uint32_t threads;
    uint32_t count;   /* runs */
    uint32_t *thread; /* [count]: its thread, in order of time */
    int64_t *time;    /* [count + 1]: when it starts; last the length of the phase */
    /* The same by thread: runs of t are own_*[first[t] .. first[t + 1] - 1), then one entry for its end. */
    uint32_t *first;    /* [threads + 1] */
    int64_t *own_time, *own_place;
};

/*
 * Assigns more references to a thread that has made all of its own. Returns how many;
 * 0: none are left. Called in the order in which threads run out.
 */
typedef int64_t rsc_timeline_deal(void *context, uint32_t thread);

/*
 * Draws a timeline of threads that have `length` references each, plus those that
 * `deal` (may be NULL) assigns. For bursty, iid and drift; `deal` must be NULL for
 * drift. Returns 0 or RSC_ENOMEM.
 */
int rsc_timeline_draw(struct rsc_timeline **out, uint32_t threads, const int64_t *length,
                      const struct rsc_interleave *interleave, struct rsc_rng *rng, rsc_timeline_deal *deal,
                      void *context);
void rsc_timeline_free(struct rsc_timeline *timeline);

/* The time of a thread's reference at `place`, which it must have. */
int64_t rsc_timeline_time(const struct rsc_timeline *timeline, uint32_t thread, int64_t place);
/* References a thread has made before `time`. */
int64_t rsc_timeline_reached(const struct rsc_timeline *timeline, uint32_t thread, int64_t time);

#endif
