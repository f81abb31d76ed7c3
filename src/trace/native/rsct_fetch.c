/*
 * rsct_fetch.c - see rsct_fetch.h.
 *
 * Unpacking a frame takes about as long as simulating a third of it, and the reader
 * would wait meanwhile: so frames are unpacked before they are needed.
 */
#include "trace/native/rsct_fetch.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/pool.h"

#define FRAMES 3u /* ready, being made ready, or being read */

struct rsct_fetch {
    struct rsct_frames *frames;
    uint64_t before; /* frames before the first of these */
    struct rsc_pool *pool;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* Under the lock: */
    uint64_t made, taken;
    int reading; /* the last one taken is still being read */
    int stop;
    int status; /* 1 while there may be more */
    struct rsc_error error;
    /* Each is the thread's until made, then the reader's until the next is asked for. */
    struct rsct_frame ring[FRAMES];
};

static int make_ready(struct rsct_fetch *fetch, uint64_t number, struct rsc_error *error) {
    const unsigned char *data;
    uint32_t magic = 0;
    int64_t got = rsc_input_peek(fetch->frames->input, sizeof magic, &data, error);
    if (got >= (int64_t)sizeof magic) memcpy(&magic, data, sizeof magic);
    if (got < 0) return (int)got;
    if (magic != RSCT_FRAME_MAGIC) return 0;
    int status = rsct_frames_read(fetch->frames, &fetch->ring[number % FRAMES], fetch->before + number, error);
    return status < 0 ? status : 1;
}

static void fetch_frames(void *argument) {
    struct rsct_fetch *fetch = argument;
    pthread_mutex_lock(&fetch->lock);
    while (fetch->status > 0) {
        while (!fetch->stop && fetch->made - fetch->taken + (uint64_t)fetch->reading >= FRAMES)
            pthread_cond_wait(&fetch->changed, &fetch->lock);
        if (fetch->stop) break;
        uint64_t number = fetch->made;
        struct rsc_error error;
        pthread_mutex_unlock(&fetch->lock);
        int status = make_ready(fetch, number, &error);
        pthread_mutex_lock(&fetch->lock);
        if (status > 0) fetch->made++;
        else fetch->status = status;
        if (status < 0) fetch->error = error;
        pthread_cond_broadcast(&fetch->changed);
    }
    pthread_mutex_unlock(&fetch->lock);
}

int rsct_fetch_new(struct rsct_fetch **out, struct rsct_frames *frames, uint64_t before, struct rsc_error *error) {
    struct rsct_fetch *fetch = calloc(1, sizeof *fetch);
    *out = NULL;
    if (!fetch) return rsc_fail_memory(error, "trace frames");
    fetch->frames = frames;
    fetch->before = before;
    fetch->status = 1;
    pthread_mutex_init(&fetch->lock, NULL);
    pthread_cond_init(&fetch->changed, NULL);
    int status = rsc_pool_new(&fetch->pool, 1, error);
    if (status < 0) {
        rsct_fetch_free(fetch);
        return status;
    }
    rsc_pool_submit(fetch->pool, fetch_frames, fetch);
    *out = fetch;
    return 0;
}

int rsct_fetch_next(struct rsct_fetch *fetch, struct rsct_frame **frame, struct rsc_error *error) {
    int status = 1;
    pthread_mutex_lock(&fetch->lock);
    fetch->reading = 0;
    pthread_cond_broadcast(&fetch->changed);
    while (fetch->taken == fetch->made && fetch->status > 0) pthread_cond_wait(&fetch->changed, &fetch->lock);
    if (fetch->taken < fetch->made) {
        *frame = &fetch->ring[fetch->taken++ % FRAMES];
        fetch->reading = 1;
    } else {
        status = fetch->status;
        if (status < 0 && error) *error = fetch->error;
    }
    pthread_mutex_unlock(&fetch->lock);
    return status;
}

void rsct_fetch_free(struct rsct_fetch *fetch) {
    if (!fetch) return;
    pthread_mutex_lock(&fetch->lock);
    fetch->stop = 1;
    pthread_cond_broadcast(&fetch->changed);
    pthread_mutex_unlock(&fetch->lock);
    rsc_pool_free(fetch->pool); /* waits for the thread */
    for (uint32_t i = 0; i < FRAMES; i++) rsct_frame_free(&fetch->ring[i]);
    pthread_cond_destroy(&fetch->changed);
    pthread_mutex_destroy(&fetch->lock);
    free(fetch);
}
