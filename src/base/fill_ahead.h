/*
 * fill_ahead.h - a thread that fills the slots of a small ring before they are read.
 *
 * The slots are the caller's. Each belongs to the thread until it is filled, then to the
 * reader until that asks for the next.
 */
#ifndef RSC_BASE_FILL_AHEAD_H
#define RSC_BASE_FILL_AHEAD_H

#include <pthread.h>
#include <stdint.h>

#include "base/pool.h"

/* Fills slot `number` % depth. Returns 1; 0 at the end, or an error: it is not called again. */
typedef int rsc_fill(void *context, uint64_t number, struct rsc_error *error);

struct rsc_fill_ahead {
    rsc_fill *fill;
    void *context;
    uint32_t depth; /* slots: filled, being filled, or being read */
    struct rsc_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock: */
    uint64_t made, taken;
    int reading; /* the last one taken is still being read */
    int stop;
    int status; /* 1 while there may be more, then what `fill` returned */
    struct rsc_error error;
};

/* Returns 0 or an error, after which nothing needs to be stopped. */
int rsc_fill_ahead_start(struct rsc_fill_ahead *ahead, uint32_t depth, rsc_fill *fill, void *context,
                         struct rsc_error *error);

/* The slot filled next, valid until the next call. Returns 1, or what `fill` returned instead. */
int rsc_fill_ahead_next(struct rsc_fill_ahead *ahead, uint32_t *slot, struct rsc_error *error);

/* Whether the last call of `fill` has returned. */
int rsc_fill_ahead_ended(struct rsc_fill_ahead *ahead);

/* Waits for the thread. */
void rsc_fill_ahead_stop(struct rsc_fill_ahead *ahead);

#endif
