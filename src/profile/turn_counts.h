/*
 * turn_counts.h - how the threads of a run took turns, and which interleaving of `loops` is nearest to that.
 *
 * A turn is a run of accesses of one thread without another's in between. Turns are counted in windows of
 * RSC_TURNS_WINDOW accesses: where a window has a single thread, the others may have been waiting, so turns there
 * say nothing, unless that is how most of the work of several threads was done.
 */
#ifndef RSC_PROFILE_TURN_COUNTS_H
#define RSC_PROFILE_TURN_COUNTS_H

#include <stddef.h>
#include <stdint.h>

#define RSC_TURNS_WINDOW 65536u

/* All zero: not known. */
struct rsc_turns {
    uint64_t accesses, turns; /* all */
    uint64_t others;          /* accesses of all threads but the busiest */
    uint64_t mixed, mixed_turns; /* those in windows of several threads */
    uint64_t threads;            /* sum over the accesses in mixed: threads in their window */
    uint64_t regular; /* mixed turns whose thread waited for as many turns as the one before it: all of them if threads
                         go round in a fixed order */
    uint64_t grain; /* accesses of other threads among which the order of half of all is not known (order_bounds.h) */
};

/* Counts turns while accesses go by. Zeroed, it is ready. */
struct rsc_turn_counter {
    struct rsc_turns sum;
    struct rsc_turn_thread {
        uint64_t accesses, last_turn; /* last_turn: number of its last turn, from 1 */
        uint64_t window; /* number of the last window that it is in */
    } *thread; /* by thread number; owned */
    uint32_t thread_room;
    uint32_t now; /* the thread whose turn it is */
    uint64_t waited; /* turns between the last two of that thread */
    /* The window so far. */
    uint64_t window;
    uint32_t accesses, threads;
    uint64_t turns, regular;
};

/* `meta`: as in a batch. Returns 0 or RSC_ENOMEM. */
int rsc_turns_count(struct rsc_turn_counter *counter, const uint64_t *meta, uint32_t count);
/* Fills *out, and frees what the counter owns. */
void rsc_turns_finish(struct rsc_turn_counter *counter, struct rsc_turns *out);

/*
 * The name of the nearest interleaving ("lockstep", "iid" or "bursty:N") in `text`, and *threads that ran at the same
 * time on average. Returns -1 if turns are not known or there was one thread only.
 */
int rsc_turns_nearest(const struct rsc_turns *turns, double *threads, char *text, size_t text_bytes);

#endif
