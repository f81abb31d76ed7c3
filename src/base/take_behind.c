/* take_behind.c - see take_behind.h. */
#include "base/take_behind.h"

#include <assert.h>

static void take_slots(void *argument) {
    struct rsc_take_behind *behind = argument;
    pthread_mutex_lock(&behind->lock);
    for (;;) {
        while (behind->taken_count == behind->given_count && !behind->stop) {
            behind->is_idle = 1;
            pthread_cond_wait(&behind->given, &behind->lock);
        }
        behind->is_idle = 0;
        if (behind->taken_count == behind->given_count) break;
        if (!behind->status) {
            struct rsc_error error = {0};
            pthread_mutex_unlock(&behind->lock);
            int status = behind->take(behind->context, (uint32_t)(behind->taken_count % behind->depth), &error);
            pthread_mutex_lock(&behind->lock);
            behind->status = status;
            behind->error = error;
        }
        behind->taken_count++;
        if (behind->is_wanted) pthread_cond_signal(&behind->taken);
    }
    pthread_mutex_unlock(&behind->lock);
}

int rsc_take_behind_start(struct rsc_take_behind *behind, uint32_t depth, rsc_take_slot *take, void *context,
                          struct rsc_error *error) {
    *behind = (struct rsc_take_behind){.take = take, .context = context, .depth = depth};
    int status = rsc_pool_new(&behind->pool, 1, error);
    if (status < 0) return status;
    pthread_mutex_init(&behind->lock, NULL);
    pthread_cond_init(&behind->given, NULL);
    pthread_cond_init(&behind->taken, NULL);
    rsc_pool_submit(behind->pool, take_slots, behind);
    return 0;
}

/* Under the lock: waits until at most `most` slots are not taken. */
static void wait_for(struct rsc_take_behind *behind, uint64_t most) {
    while (behind->given_count - behind->taken_count > most) {
        behind->is_wanted = 1;
        if (behind->is_idle) pthread_cond_signal(&behind->given);
        pthread_cond_wait(&behind->taken, &behind->lock);
    }
    behind->is_wanted = 0;
}

uint32_t rsc_take_behind_slot(struct rsc_take_behind *behind) {
    pthread_mutex_lock(&behind->lock);
    wait_for(behind, behind->depth - 1);
    uint32_t slot = (uint32_t)(behind->given_count % behind->depth);
    pthread_mutex_unlock(&behind->lock);
    return slot;
}

int rsc_take_behind_give(struct rsc_take_behind *behind, struct rsc_error *error) {
    pthread_mutex_lock(&behind->lock);
    behind->given_count++;
    assert(behind->given_count - behind->taken_count <= behind->depth);
    /* Waking a thread takes as long as a slot or two: it is worth it for several. */
    if (behind->is_idle && behind->given_count - behind->taken_count >= behind->depth / 2)
        pthread_cond_signal(&behind->given);
    int status = behind->status;
    if (status < 0) *error = behind->error;
    pthread_mutex_unlock(&behind->lock);
    return status;
}

int rsc_take_behind_wait(struct rsc_take_behind *behind, struct rsc_error *error) {
    pthread_mutex_lock(&behind->lock);
    wait_for(behind, 0);
    int status = behind->status;
    if (status < 0) *error = behind->error;
    pthread_mutex_unlock(&behind->lock);
    return status;
}

void rsc_take_behind_stop(struct rsc_take_behind *behind) {
    pthread_mutex_lock(&behind->lock);
    behind->stop = 1;
    pthread_cond_signal(&behind->given);
    pthread_mutex_unlock(&behind->lock);
    rsc_pool_free(behind->pool);
    pthread_cond_destroy(&behind->given);
    pthread_cond_destroy(&behind->taken);
    pthread_mutex_destroy(&behind->lock);
}
