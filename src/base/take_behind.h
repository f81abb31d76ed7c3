/*
 * take_behind.h - a thread that takes the slots of a small ring after they are filled.
 *
 * The counterpart of fill_ahead.h: the caller fills the slots, which are its own, and the
 * thread takes them in the same order. A slot belongs to the caller from
 * rsc_take_behind_slot() to rsc_take_behind_give(), and to the thread after that.
 */
#ifndef RSC_BASE_TAKE_BEHIND_H
#define RSC_BASE_TAKE_BEHIND_H

#include <pthread.h>
#include <stdint.h>

#include "base/pool.h"

/* Takes a slot. Returns 0, or an error after which it is not called again. */
typedef int rsc_take_slot(void *context, uint32_t slot, struct rsc_error *error);

struct rsc_take_behind {
    rsc_take_slot *take;
    void *context;
    uint32_t depth;
    struct rsc_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t given, taken;
    /* Under the lock: */
    uint64_t given_count, taken_count;
    int is_idle;  /* the thread waits for slots */
    int is_wanted; /* the caller waits for the thread */
    int stop;
    int status; /* 0, or the error of `take` */
    struct rsc_error error;
};

/* Returns 0 or an error, after which nothing needs to be stopped. */
int rsc_take_behind_start(struct rsc_take_behind *behind, uint32_t depth, rsc_take_slot *take, void *context,
                          struct rsc_error *error);

/* Waits until a slot is free, and returns its number; the same one until it is given. */
uint32_t rsc_take_behind_slot(struct rsc_take_behind *behind);

/* Gives the slot to the thread. Returns 0, or the error of an earlier slot. */
int rsc_take_behind_give(struct rsc_take_behind *behind, struct rsc_error *error);

/* Waits until all slots are taken. Returns 0, or the error of one. */
int rsc_take_behind_wait(struct rsc_take_behind *behind, struct rsc_error *error);

/* Takes what was given, and ends the thread. */
void rsc_take_behind_stop(struct rsc_take_behind *behind);

#endif
