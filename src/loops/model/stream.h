/*
 * stream.h - the references of all threads in one order, drawn under an
 * interleaving. The oracle simulates it from the start, windows from some time on.
 *
 * Each thread's references come from its walk. The interleaving chooses the next
 * thread; threads at a barrier wait, and all start together in each phase.
 */
#ifndef RSC_LOOPS_MODEL_STREAM_H
#define RSC_LOOPS_MODEL_STREAM_H

#include "base/rng.h"
#include "loops/nest/walk.h"

#define RSC_STREAM_BUFFER 64u

struct rsc_stream_runner {
    struct rsc_walk *walk;
    uint64_t line[RSC_STREAM_BUFFER];
    uint32_t reference[RSC_STREAM_BUFFER];
    uint32_t at, count;
    int ended;         /* no more in this phase */
    double pace, block_left; /* drift: time between two references, and references left in its block */
};

struct rsc_stream_due {
    double time; /* of the thread's next reference */
    uint32_t thread;
};

struct rsc_stream {
    struct rsc_plan *plan;
    struct rsc_interleave interleave;
    struct rsc_rng rng;
    struct rsc_stream_runner *runner; /* [threads] */
    uint32_t *active;                 /* threads that may have references left in this phase */
    struct rsc_stream_due *due;       /* drift: the same as a heap */
    uint32_t active_count;
    uint32_t phase;
    uint32_t turn;
    uint64_t turn_left;
    int64_t *handed_out;
};

/*
 * `hands_out`: dynamic and guided chunks go to threads as they come; else by the
 * plan. Racetrack is not an interleaving: RSC_EINVAL.
 */
int rsc_stream_new(struct rsc_stream **out, struct rsc_plan *plan, const struct rsc_interleave *interleave,
                   uint64_t line_bytes, uint64_t seed, int hands_out, struct rsc_error *error);
void rsc_stream_free(struct rsc_stream *stream);

/* Goes to a phase: each thread to its place[], or (NULL) to the start. With hands_out, only to the start of the first
 * phase. */
void rsc_stream_start(struct rsc_stream *stream, uint32_t phase, const int64_t *place);

/* The next references, up to `count`, across phases; `thread` may be NULL. 0: end of the region. */
uint32_t rsc_stream_next(struct rsc_stream *stream, uint64_t *line, uint32_t *reference, uint32_t *thread,
                         uint32_t count);

#endif
