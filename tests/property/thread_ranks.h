/*
 * thread_ranks.h - ranks (distance/ranks/ranks.h) that are threads of one process.
 *
 * A message is through when both ends have started it, as large ones are in MPI, so
 * that whoever counts on messages being kept for him waits for ever, and is found out.
 */
#ifndef RSC_TESTS_THREAD_RANKS_H
#define RSC_TESTS_THREAD_RANKS_H

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "distance/ranks/ranks.h"

#define THREAD_RANKS_MAX 8u

struct thread_message {
    enum { MESSAGE_FREE = 0, MESSAGE_SENDING, MESSAGE_RECEIVING, MESSAGE_THROUGH } state;
    uint32_t peer;
    uint64_t number; /* in the order they were started */
    const void *from;
    void *to;
    size_t bytes, room;
};

struct thread_world {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    uint64_t started;
    int aborted, abort_status;
    struct thread_rank {
        struct rsc_ranks ranks; /* first: this is what others see */
        struct thread_world *world;
        struct thread_message messages[RSC_RANK_TICKETS];
    } rank[THREAD_RANKS_MAX];
};

/* The oldest message of a rank in `state` with `peer`, or NULL. */
static inline struct thread_message *thread_oldest(struct thread_rank *rank, int state, uint32_t peer) {
    struct thread_message *oldest = NULL;
    for (uint32_t i = 0; i < RSC_RANK_TICKETS; i++) {
        struct thread_message *message = &rank->messages[i];
        if ((int)message->state != state || message->peer != peer) continue;
        if (!oldest || message->number < oldest->number) oldest = message;
    }
    return oldest;
}

/* Carries over what has both its ends, from one rank to another. Too long for its room: cut, and told so by its length. */
static inline void thread_carry(struct thread_world *world, uint32_t from, uint32_t to) {
    struct thread_message *sent, *received;
    while ((sent = thread_oldest(&world->rank[from], MESSAGE_SENDING, to)) &&
           (received = thread_oldest(&world->rank[to], MESSAGE_RECEIVING, from))) {
        size_t bytes = sent->bytes < received->room ? sent->bytes : received->room;
        if (bytes) memcpy(received->to, sent->from, bytes);
        received->bytes = sent->bytes;
        sent->state = received->state = MESSAGE_THROUGH;
        pthread_cond_broadcast(&world->changed);
    }
}

static inline int thread_start(struct rsc_ranks *ranks, uint32_t ticket, struct thread_message message,
                               struct rsc_error *error) {
    struct thread_rank *rank = (struct thread_rank *)ranks;
    struct thread_world *world = rank->world;
    int status = 0;
    pthread_mutex_lock(&world->lock);
    if (rank->messages[ticket].state != MESSAGE_FREE)
        status = rsc_fail(error, RSC_EINVAL, "ticket %u is in use", ticket);
    if (!status) {
        message.number = world->started++;
        rank->messages[ticket] = message;
        if (!world->aborted && message.state == MESSAGE_SENDING) thread_carry(world, ranks->rank, message.peer);
        if (!world->aborted && message.state == MESSAGE_RECEIVING) thread_carry(world, message.peer, ranks->rank);
    }
    pthread_mutex_unlock(&world->lock);
    return status;
}

static inline int thread_start_send(struct rsc_ranks *ranks, uint32_t ticket, uint32_t to, const void *data,
                                    size_t bytes, struct rsc_error *error) {
    struct thread_message message = {.state = MESSAGE_SENDING, .peer = to, .from = data, .bytes = bytes};
    return thread_start(ranks, ticket, message, error);
}

static inline int thread_start_receive(struct rsc_ranks *ranks, uint32_t ticket, uint32_t from, void *data, size_t room,
                                       struct rsc_error *error) {
    struct thread_message message = {.state = MESSAGE_RECEIVING, .peer = from, .to = data, .room = room};
    return thread_start(ranks, ticket, message, error);
}

static inline int thread_wait_any(struct rsc_ranks *ranks, uint32_t tickets, size_t *bytes, struct rsc_error *error) {
    struct thread_rank *rank = (struct thread_rank *)ranks;
    struct thread_world *world = rank->world;
    int found = -1;
    pthread_mutex_lock(&world->lock);
    for (;;) {
        for (uint32_t i = 0; i < RSC_RANK_TICKETS && found < 0; i++)
            if (tickets >> i & 1 && rank->messages[i].state == MESSAGE_THROUGH) found = (int)i;
        if (found >= 0 || world->aborted) break;
        pthread_cond_wait(&world->changed, &world->lock);
    }
    if (found >= 0) {
        *bytes = rank->messages[found].bytes;
        rank->messages[found].state = MESSAGE_FREE;
    } else {
        found = rsc_fail(error, RSC_EIO, "another rank has failed");
    }
    pthread_mutex_unlock(&world->lock);
    return found;
}

static inline void thread_abort(struct rsc_ranks *ranks, int status) {
    struct thread_world *world = ((struct thread_rank *)ranks)->world;
    pthread_mutex_lock(&world->lock);
    world->aborted = 1;
    world->abort_status = status;
    pthread_cond_broadcast(&world->changed);
    pthread_mutex_unlock(&world->lock);
}

static inline void thread_world_init(struct thread_world *world, uint32_t size) {
    memset(world, 0, sizeof *world);
    pthread_mutex_init(&world->lock, NULL);
    pthread_cond_init(&world->changed, NULL);
    for (uint32_t i = 0; i < size; i++) {
        world->rank[i].world = world;
        world->rank[i].ranks = (struct rsc_ranks){.rank = i,
                                                  .size = size,
                                                  .start_send = thread_start_send,
                                                  .start_receive = thread_start_receive,
                                                  .wait_any = thread_wait_any,
                                                  .abort = thread_abort};
    }
}

static inline void thread_world_free(struct thread_world *world) {
    pthread_mutex_destroy(&world->lock);
    pthread_cond_destroy(&world->changed);
}

/* Runs body(arg, rank) for every rank, each in a thread, and waits for all. */
struct thread_body {
    void (*body)(void *arg, uint32_t rank);
    void *arg;
    uint32_t rank;
};
static inline void *thread_body_run(void *given) {
    struct thread_body *body = given;
    body->body(body->arg, body->rank);
    return NULL;
}
static inline int thread_world_run(uint32_t size, void (*body)(void *arg, uint32_t rank), void *arg) {
    struct thread_body bodies[THREAD_RANKS_MAX];
    pthread_t threads[THREAD_RANKS_MAX];
    for (uint32_t i = 0; i < size; i++) {
        bodies[i] = (struct thread_body){body, arg, i};
        if (pthread_create(&threads[i], NULL, thread_body_run, &bodies[i]) != 0) abort();
    }
    for (uint32_t i = 0; i < size; i++) pthread_join(threads[i], NULL);
    return 0;
}

#endif
