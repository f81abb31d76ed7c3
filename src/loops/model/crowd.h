/*
 * crowd.h - one reference among the references of all threads: when its line was
 * last touched, by whomever.
 *
 * A thread's place in its phase is a clock that all started together. While the
 * reference's thread is at place P the others are somewhere around P, how far off
 * the interleaving says; in each that can touch the line the last touch is looked
 * for, and the one that is the least time ago counts. docs/design/loops.md has the
 * formulas.
 */
#ifndef RSC_LOOPS_MODEL_CROWD_H
#define RSC_LOOPS_MODEL_CROWD_H

#include "loops/model/chance.h"
#include "loops/search/last_touch.h"
#include "loops/model/loops_model.h"
#include "loops/search/points.h"

/* A thread and its last reference before some time. */
struct rsc_latest {
    int64_t time, reached; /* of that reference; references made up to it */
    uint32_t thread;
};

struct rsc_crowd {
    struct rsc_plan *plan;
    struct rsc_search *search;
    struct rsc_nest *nest;
    const struct rsc_interleave *interleave;
    struct rsc_chance chance;
    uint64_t line_bytes, seed;
    /* The phase last looked at. */
    uint32_t phase;
    double *length; /* [threads] */
    double shortest, longest, total;
    /* Threads that can touch a target. */
    uint32_t *stamp, now;
    uint32_t *sharer, sharer_count;
    int alike;      /* some references touch it alike in every thread */
    double *reached; /* [threads] */
    /* Phases whose interleaving is drawn whole. */
    struct rsc_timeline **drawn; /* [phases]; NULL: not, or not yet */
    uint64_t runs_kept;
    struct rsc_latest *latest;   /* [threads] */
};

/* When and where the point's own thread is. */
struct rsc_moment {
    uint32_t phase, segment, thread;
    int64_t place;      /* in the phase */
    double clock;       /* iid, drift: time of the phase; bursty: in bursts of any one thread */
    double turn;        /* drift: where in its round of all threads the thread has its turn, 0..1 */
    double spread;      /* drift: how far threads are apart, as a standard deviation */
    double end;         /* references of all threads before it, in all */
    const struct rsc_timeline *timeline; /* of the phase, where it is drawn whole; else NULL */
    int64_t time;       /* there: in the timeline */
};

/* What a search found. */
struct rsc_touch {
    int found;
    double ago;      /* in the interleaving's own time: comparable between touches of one moment */
    double interval; /* references of all threads in between, the later one counted */
};

int rsc_crowd_new(struct rsc_crowd **out, struct rsc_search *search, const struct rsc_interleave *interleave,
                  const float *normal, uint64_t line_bytes, uint64_t seed, struct rsc_error *error);
void rsc_crowd_free(struct rsc_crowd *crowd);

/* Where each thread is when all have made `time` references of a phase, drawn anew where that differs. */
void rsc_crowd_places(struct rsc_crowd *crowd, uint32_t phase, double time, int64_t *place);
/* The moment of a point. */
struct rsc_moment rsc_crowd_moment(struct rsc_crowd *crowd, const struct rsc_point *point);
/* The line the point's reference is to. */
struct rsc_target rsc_crowd_target(const struct rsc_crowd *crowd, const struct rsc_point *point);

/* The thread's last touch in the phase before the moment, as a place; -1: none. */
int64_t rsc_crowd_own(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target);
/* The same as a touch. */
struct rsc_touch rsc_crowd_own_touch(struct rsc_crowd *crowd, const struct rsc_moment *moment, int64_t place);
/* The last touch by another thread in the phase, if it is less ago than `than` (found or not). */
struct rsc_touch rsc_crowd_others(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                  const struct rsc_target *target, const struct rsc_touch *than);
/* The last touch by any thread in an earlier phase. */
struct rsc_touch rsc_crowd_earlier(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                   const struct rsc_target *target);

/*
 * crowd_drawn.c: the timeline of a phase that was just looked at, or NULL where it
 * is not drawn; the same as above where it is, and the time of the last touch in
 * a whole phase whose sharers are known.
 */
const struct rsc_timeline *rsc_crowd_timeline(struct rsc_crowd *crowd, uint32_t phase);
struct rsc_touch rsc_crowd_others_drawn(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                        const struct rsc_target *target, const struct rsc_touch *than);
int64_t rsc_crowd_last_drawn(struct rsc_crowd *crowd, const struct rsc_timeline *timeline, uint32_t phase,
                             const struct rsc_target *target);
void rsc_crowd_drawn_free(struct rsc_crowd *crowd);

/*
 * The thread's own last touch, in whatever phase: *phase and *place of it, and the
 * thread's own references from it to the moment. 0: none within the last
 * RSC_CROWD_PHASES phases that touch the target.
 */
#define RSC_CROWD_PHASES 64
int rsc_crowd_own_history(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target,
                          uint32_t *phase, int64_t *place, double *interval);

/* Fills sharer[] and alike for a phase; `except` is left out. */
void rsc_crowd_sharers(struct rsc_crowd *crowd, uint32_t phase, const struct rsc_target *target, uint32_t except);
/* A thread's last touch in a phase at or before a place. */
int64_t rsc_crowd_last(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, const struct rsc_target *target,
                       int64_t at, int64_t floor);

#endif
