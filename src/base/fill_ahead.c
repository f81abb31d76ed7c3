/* fill_ahead.c - see fill_ahead.h. */
#include "base/fill_ahead.h"

#include <assert.h>
#include <stdlib.h>

#include "base/fail.h"

/* All under the lock. */

static int is_over(const struct rsc_fill_ahead *ahead) { return ahead->stop || ahead->status <= 0; }

/* Whether a worker can begin the next slot. */
static int has_room(const struct rsc_fill_ahead *ahead) {
    return !ahead->taking && ahead->begun - ahead->taken + (uint64_t)ahead->reading < ahead->depth;
}

/* Whether the reader's next slot is filled, or there is none. */
static int is_ready(const struct rsc_fill_ahead *ahead) {
    if (ahead->taken < ahead->begun) return ahead->slots[ahead->taken % ahead->depth].status != 0;
    return ahead->status <= 0;
}

static void wake(struct rsc_fill_ahead *ahead) {
    if (ahead->asleep && is_over(ahead)) pthread_cond_broadcast(&ahead->room);
    else if (ahead->asleep && has_room(ahead)) pthread_cond_signal(&ahead->room);
    if (ahead->waiting && is_ready(ahead)) pthread_cond_signal(&ahead->ready);
}

/* Takes the next slot and fills it outside the lock. Returns whether there was one. */
static int fill_one(struct rsc_fill_ahead *ahead, uint32_t worker) {
    while (!is_over(ahead) && !has_room(ahead)) {
        ahead->asleep++;
        pthread_cond_wait(&ahead->room, &ahead->lock);
        ahead->asleep--;
    }
    if (is_over(ahead)) return 0;
    uint64_t number = ahead->begun;
    struct rsc_error error = {0};
    ahead->taking = 1;
    pthread_mutex_unlock(&ahead->lock);
    int status = ahead->take(ahead->context, number, &error);
    pthread_mutex_lock(&ahead->lock);
    ahead->taking = 0;
    if (status <= 0) {
        ahead->status = status;
        ahead->error = error;
        return 0;
    }
    ahead->slots[number % ahead->depth].status = 0;
    ahead->begun++;
    wake(ahead);
    if (ahead->make) {
        pthread_mutex_unlock(&ahead->lock);
        status = ahead->make(ahead->context, worker, number, &error);
        pthread_mutex_lock(&ahead->lock);
    }
    assert(status);
    ahead->slots[number % ahead->depth].status = status;
    if (status < 0) ahead->slots[number % ahead->depth].error = error;
    wake(ahead);
    return 1;
}

static void fill_slots(void *argument) {
    struct rsc_fill_ahead *ahead = argument;
    pthread_mutex_lock(&ahead->lock);
    uint32_t worker = ahead->workers++;
    while (fill_one(ahead, worker)) continue;
    wake(ahead);
    pthread_mutex_unlock(&ahead->lock);
}

static void destroy(struct rsc_fill_ahead *ahead) {
    pthread_cond_destroy(&ahead->room);
    pthread_cond_destroy(&ahead->ready);
    pthread_mutex_destroy(&ahead->lock);
    free(ahead->slots);
}

int rsc_fill_ahead_start(struct rsc_fill_ahead *ahead, uint32_t depth, uint32_t workers, rsc_fill_take *take,
                         rsc_fill_make *make, void *context, struct rsc_error *error) {
    *ahead = (struct rsc_fill_ahead){.take = take, .make = make, .context = context, .depth = depth, .status = 1};
    ahead->slots = calloc(depth, sizeof *ahead->slots);
    if (!ahead->slots) return rsc_fail_memory(error, "decode-ahead");
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->room, NULL);
    pthread_cond_init(&ahead->ready, NULL);
    int status = rsc_pool_new(&ahead->pool, workers, error);
    if (status < 0) {
        destroy(ahead);
        return status;
    }
    unsigned started = rsc_pool_workers(ahead->pool); /* as many as there are threads: none waits for another */
    for (unsigned i = 0; i < started; i++) rsc_pool_submit(ahead->pool, fill_slots, ahead);
    return 0;
}

int rsc_fill_ahead_next(struct rsc_fill_ahead *ahead, uint32_t *slot, struct rsc_error *error) {
    pthread_mutex_lock(&ahead->lock);
    ahead->reading = 0;
    wake(ahead);
    while (!is_ready(ahead)) {
        ahead->waiting = 1;
        pthread_cond_wait(&ahead->ready, &ahead->lock);
        ahead->waiting = 0;
    }
    int status = ahead->status;
    const struct rsc_error *why = &ahead->error;
    if (ahead->taken < ahead->begun) {
        *slot = (uint32_t)(ahead->taken % ahead->depth);
        status = ahead->slots[*slot].status;
        why = &ahead->slots[*slot].error;
        if (status > 0) {
            ahead->taken++;
            ahead->reading = 1;
        } else {
            ahead->stop = 1; /* nothing after it will be read */
        }
    }
    if (status < 0 && error) *error = *why;
    wake(ahead);
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

int rsc_fill_ahead_ended(struct rsc_fill_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    int ended = ahead->status <= 0 && !ahead->taking && ahead->taken == ahead->begun;
    pthread_mutex_unlock(&ahead->lock);
    return ended;
}

void rsc_fill_ahead_stop(struct rsc_fill_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = 1;
    wake(ahead);
    pthread_mutex_unlock(&ahead->lock);
    rsc_pool_free(ahead->pool);
    destroy(ahead);
}
