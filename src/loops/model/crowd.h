/*
 * crowd.h - one reference among the references of all threads: when any thread last
 * touched its line.
 *
 * A thread's place in its phase is a clock; all threads start it together. While the
 * reference's thread is at place P, the others are near P, at distances that the
 * interleaving determines. The last touch is searched in every thread that can touch
 * the line, and the most recent one counts. docs/design/loops.md has the formulas.
 */
#ifndef RSC_LOOPS_MODEL_CROWD_H
#define RSC_LOOPS_MODEL_CROWD_H

#include "loops/model/chance.h"
#include "loops/model/leads.h"
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
    /* The current phase. */
    uint32_t phase;
    double *length; /* [threads] */
    double shortest, longest, total;
    const struct rsc_view *given_out; /* drift: its view, if chunks go to threads in drawn times (`begun`); else NULL */
    double chunk; /* drift: references of one of its dynamic chunks; 0: it has none */
    /* Threads that can touch a target. */
    uint32_t *stamp, now;
    uint32_t *sharer, sharer_count;
    int alike; /* some references touch it at the same places in every thread */
    struct rsc_reached { /* [threads]: sorted by place */
        double place;
        uint32_t thread;
    } *reached;
    uint64_t moments; /* so far */
    struct rsc_placed { /* [threads]: where each is at the moment last asked about, drawn once for each moment */
        uint64_t moment;
        double place;
        uint64_t paced; /* the moment that `pace` is of: how slow it was before that, in standard deviations */
        double pace;
    } *placed;
    int64_t *from, *to; /* [threads]: places of a window */
    /* References are divided among several draws of the interleaving; those of one draw agree on it. */
    uint32_t draws, draw; /* how many; that of the reference looked at */
    struct rsc_plan *const *dealt; /* which threads get which chunks: plans of dealings draws; none: one for all */
    uint32_t dealings;
    int by_draw; /* whether that reference's last use depends on the draw */
    struct rsc_leads *leads; /* drift: of all draws; NULL: each reference has leads of its own */
    int borrows_leads; /* from another crowd */
    /* Phases whose interleaving is drawn completely. */
    struct rsc_timeline **drawn; /* [draws][phases]; NULL: not, or not yet */
    uint64_t runs_kept;
    double runs_max; /* bursty: phases of more runs use averages */
    int shares_draws; /* phases that are alike share a few draws: their time is the band's, where many phases are looked at */
    struct rsc_latest *latest; /* [threads] */
};

/* Time and place of the point's own thread. */
struct rsc_moment {
    uint32_t phase, segment, thread;
    uint64_t number; /* of this moment; 0: places are drawn again each time */
    int64_t place; /* in the phase */
    double clock; /* iid, drift: time of the phase; bursty: in bursts of any one thread */
    double turn; /* drift: the thread's turn in a round of all threads, 0..1 */
    double end; /* references of all threads before it, in the whole run */
    const struct rsc_timeline *timeline; /* of the phase, if it is drawn completely; else NULL */
    int64_t time; /* there: in the timeline */
};

/* The result of a search. */
struct rsc_touch {
    int found;
    double ago; /* in the interleaving's own time: comparable between touches of one moment */
    double interval; /* references of all threads in between, the later one counted */
    uint32_t thread; /* of a touch by another thread in the same phase that is not drawn: which it is, */
    int64_t place; /* and its place then */
};

#define RSC_CROWD_RUNS \
    65536.0 /* runs_max unless it is changed: accurate from there on; drawing them takes about 2 ms */
int rsc_crowd_new(struct rsc_crowd **out, struct rsc_search *search, const struct rsc_interleave *interleave,
                  const float *normal, uint64_t line_bytes, uint64_t seed, struct rsc_error *error);
void rsc_crowd_free(struct rsc_crowd *crowd);
/*
 * Call before anything else: divides references among up to RSC_CROWD_DRAWS draws, if they have anything to share. With
 * `dealings` (if 0, the search's plan serves all) draw k has the plan dealt[k % dealings], which must outlive the crowd.
 */
#define RSC_CROWD_DRAWS 9u
int rsc_crowd_divide(struct rsc_crowd *crowd, struct rsc_plan *const *dealt, uint32_t dealings,
                     struct rsc_error *error);
/* The same, in the place of another one that is divided: they share the leads of `first`, which must outlive this one. */
int rsc_crowd_divide_as(struct rsc_crowd *crowd, const struct rsc_crowd *first, struct rsc_error *error);
/* From now on references are of this draw. */
void rsc_crowd_take_draw(struct rsc_crowd *crowd, uint32_t draw);

/* crowd_moment.c */
/* The place of each thread when all have made `time` references of a phase; drawn at random if not determined. */
void rsc_crowd_places(struct rsc_crowd *crowd, uint32_t phase, double time, int64_t *place);
/* The moment of a thread's reference, without its number and end; the moment of a point. */
struct rsc_moment rsc_crowd_moment_at(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, int64_t place);
struct rsc_moment rsc_crowd_moment(struct rsc_crowd *crowd, const struct rsc_point *point);
/* References another thread would have made in its phase if the phase were endless. */
double rsc_crowd_reached(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread);
/* Drift, in the current phase: the clock when the thread is at `place`; the time between two, if its pace is even. */
double rsc_crowd_clock(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, double place);
double rsc_crowd_time_between(const struct rsc_crowd *crowd, uint32_t thread, double from, double to);
/* Drift: the time a thread took for its last references before the moment; the same for all of one moment. */
double rsc_crowd_elapsed(struct rsc_crowd *crowd, const struct rsc_moment *moment, uint32_t thread, double references);
/* References that the other threads have made at a moment whose clock is `clock`. */
double rsc_crowd_made_by_others(struct rsc_crowd *crowd, const struct rsc_moment *moment, double clock);

/* The line the point's reference is to. */
struct rsc_target rsc_crowd_target(const struct rsc_crowd *crowd, const struct rsc_point *point);

/* The thread's last touch in the phase before the moment, as a place; -1: none. */
int64_t rsc_crowd_own(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target);
/* The same as a touch. */
struct rsc_touch rsc_crowd_own_touch(struct rsc_crowd *crowd, const struct rsc_moment *moment, int64_t place);
/* The last touch by another thread in the phase, if it is more recent than `than` (found or not). */
struct rsc_touch rsc_crowd_others(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                  const struct rsc_target *target, const struct rsc_touch *than);
/*
 * crowd_window.c: marks the lines that all threads use between the last use of the point's line and the point;
 * `in_phase`: that use is in the same phase. The thread's own last use there is at place `own` (-1: none); `by_other`:
 * another's is later. RSC_ELIMIT: they take more than `runs` runs.
 */
struct rsc_touched;
int rsc_crowd_mark_window(struct rsc_crowd *crowd, struct rsc_touched *touched, const struct rsc_moment *moment,
                          const struct rsc_touch *since, int in_phase, int64_t own, int by_other, uint64_t runs);

/* The last touch by any thread in an earlier phase. */
struct rsc_touch rsc_crowd_earlier(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                   const struct rsc_target *target);

/*
 * crowd_drawn.c: the timeline of the current phase, or NULL if it is not drawn; the
 * functions above for a drawn phase; and the time of the last touch in a whole phase
 * whose sharers are known.
 */
const struct rsc_timeline *rsc_crowd_timeline(struct rsc_crowd *crowd, uint32_t phase);
struct rsc_touch rsc_crowd_others_drawn(struct rsc_crowd *crowd, const struct rsc_moment *moment,
                                        const struct rsc_target *target, const struct rsc_touch *than);
int64_t rsc_crowd_last_drawn(struct rsc_crowd *crowd, const struct rsc_timeline *timeline, uint32_t phase,
                             const struct rsc_target *target);
/* Drops what is drawn if it is too much. No moment or timeline may be in use. */
void rsc_crowd_trim_drawn(struct rsc_crowd *crowd);
void rsc_crowd_drawn_free(struct rsc_crowd *crowd);

/*
 * The thread's own last touch in any phase: its *phase and *place, and the thread's
 * own references from it to the moment. Returns 0 if there is none within the last
 * RSC_CROWD_PHASES phases that touch the target.
 */
#define RSC_CROWD_PHASES 64
int rsc_crowd_own_history(struct rsc_crowd *crowd, const struct rsc_moment *moment, const struct rsc_target *target,
                          uint32_t *phase, int64_t *place, double *interval);

/* Fills length[], shortest, longest and total. */
void rsc_crowd_look_at(struct rsc_crowd *crowd, uint32_t phase);
/* References made by all threads when each has made `clock` (or all of its own). */
double rsc_crowd_made(struct rsc_crowd *crowd, uint32_t phase, double clock);

/* Fills sharer[] and alike for a phase, without thread `except`. */
void rsc_crowd_sharers(struct rsc_crowd *crowd, uint32_t phase, const struct rsc_target *target, uint32_t except);
/* A thread's last touch in a phase at or before a place. */
int64_t rsc_crowd_last(struct rsc_crowd *crowd, uint32_t phase, uint32_t thread, const struct rsc_target *target,
                       int64_t at, int64_t floor);

#endif
