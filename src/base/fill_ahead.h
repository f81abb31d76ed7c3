/*
 * fill_ahead.h - threads that fill the slots of a small ring before they are read.
 *
 * The slots are the caller's. Each belongs to a thread until it is filled, then to the
 * reader until that asks for the next. Filling has two steps: `take` is called in the
 * order of the slots, by one thread at a time; `make` for several slots at once. The
 * reader gets the slots in order, whatever the number of threads.
 */
#ifndef RSC_BASE_FILL_AHEAD_H
#define RSC_BASE_FILL_AHEAD_H

#include <pthread.h>
#include <stdint.h>

#include "base/pool.h"

/* Begins to fill slot `number` % depth. Returns 1; 0 at the end, or an error: it is not called again. */
typedef int rsc_fill_take(void *context, uint64_t number, struct rsc_error *error);

/* Fills it, in worker `worker`. Returns 1 or an error, with which the reader's slots end. */
typedef int rsc_fill_make(void *context, uint32_t worker, uint64_t number, struct rsc_error *error);

struct rsc_fill_ahead {
    rsc_fill_take *take;
    rsc_fill_make *make; /* NULL: `take` does it all */
    void *context;
    uint32_t depth; /* slots: filled, being filled, or being read */
    struct rsc_pool *pool;
    pthread_mutex_t lock;
    /*
     * Each wakes one thread, and only if one sleeps that can go on. With sixteen workers, waking all at every change cost
     * a quarter of the speed of shards:0.01.
     */
    pthread_cond_t room;  /* for workers: a slot can be begun, or there are no more */
    pthread_cond_t ready; /* for the reader: its slot is filled, or there are no more */
    /* Under the lock: */
    uint32_t workers; /* started so far: each takes its number from here */
    uint32_t asleep;  /* workers that wait for room */
    int waiting;      /* the reader waits */
    uint64_t begun, taken;
    int taking;  /* a worker is in `take` */
    int reading; /* the last one taken is still being read */
    int stop;
    int status; /* 1 while there may be more, then what `take` returned instead */
    struct rsc_error error;
    struct {
        int status; /* 0: being filled; 1: filled; or why not */
        struct rsc_error error;
    } *slots; /* [depth] */
};

/* Starts up to `workers` threads. Returns 0 or an error, after which nothing needs to be stopped. */
int rsc_fill_ahead_start(struct rsc_fill_ahead *ahead, uint32_t depth, uint32_t workers, rsc_fill_take *take,
                         rsc_fill_make *make, void *context, struct rsc_error *error);

/* The slot filled next, valid until the next call. Returns 1, or what `take` or `make` returned instead. */
int rsc_fill_ahead_next(struct rsc_fill_ahead *ahead, uint32_t *slot, struct rsc_error *error);

/* Whether the last call of `take` and `make` has returned. */
int rsc_fill_ahead_ended(struct rsc_fill_ahead *ahead);

/* Waits for the threads. */
void rsc_fill_ahead_stop(struct rsc_fill_ahead *ahead);

#endif
