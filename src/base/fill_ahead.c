/* fill_ahead.c - see fill_ahead.h. */
#include "base/fill_ahead.h"

static void fill_slots(void *argument) {
    struct rsc_fill_ahead *ahead = argument;
    pthread_mutex_lock(&ahead->lock);
    while (ahead->status > 0) {
        while (!ahead->stop && ahead->made - ahead->taken + (uint64_t)ahead->reading >= ahead->depth)
            pthread_cond_wait(&ahead->changed, &ahead->lock);
        if (ahead->stop) break;
        uint64_t number = ahead->made;
        struct rsc_error error;
        pthread_mutex_unlock(&ahead->lock);
        int status = ahead->fill(ahead->context, number, &error);
        pthread_mutex_lock(&ahead->lock);
        if (status > 0) ahead->made++;
        else ahead->status = status;
        if (status < 0) ahead->error = error;
        pthread_cond_broadcast(&ahead->changed);
    }
    pthread_mutex_unlock(&ahead->lock);
}

static void destroy(struct rsc_fill_ahead *ahead) {
    pthread_cond_destroy(&ahead->changed);
    pthread_mutex_destroy(&ahead->lock);
}

int rsc_fill_ahead_start(struct rsc_fill_ahead *ahead, uint32_t depth, rsc_fill *fill, void *context,
                         struct rsc_error *error) {
    *ahead = (struct rsc_fill_ahead){.fill = fill, .context = context, .depth = depth, .status = 1};
    pthread_mutex_init(&ahead->lock, NULL);
    pthread_cond_init(&ahead->changed, NULL);
    int status = rsc_pool_new(&ahead->pool, 1, error);
    if (status < 0) destroy(ahead);
    else rsc_pool_submit(ahead->pool, fill_slots, ahead);
    return status;
}

int rsc_fill_ahead_next(struct rsc_fill_ahead *ahead, uint32_t *slot, struct rsc_error *error) {
    int status = 1;
    pthread_mutex_lock(&ahead->lock);
    ahead->reading = 0;
    pthread_cond_broadcast(&ahead->changed);
    while (ahead->taken == ahead->made && ahead->status > 0) pthread_cond_wait(&ahead->changed, &ahead->lock);
    if (ahead->taken < ahead->made) {
        *slot = (uint32_t)(ahead->taken++ % ahead->depth);
        ahead->reading = 1;
    } else {
        status = ahead->status;
        if (status < 0 && error) *error = ahead->error;
    }
    pthread_mutex_unlock(&ahead->lock);
    return status;
}

int rsc_fill_ahead_ended(struct rsc_fill_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    int ended = ahead->status <= 0;
    pthread_mutex_unlock(&ahead->lock);
    return ended;
}

void rsc_fill_ahead_stop(struct rsc_fill_ahead *ahead) {
    pthread_mutex_lock(&ahead->lock);
    ahead->stop = 1;
    pthread_cond_broadcast(&ahead->changed);
    pthread_mutex_unlock(&ahead->lock);
    rsc_pool_free(ahead->pool);
    destroy(ahead);
}
