/*
 * ranks_exchange.c - see ranks_exchange.h.
 *
 * Sending, receiving and replaying overlap: a block is received into one buffer while
 * the other is replayed, and a rank sends its own touches while it already replays
 * those of the next rank; otherwise ranks would start one after the other. Touches to
 * pass on wait in the queue behind its own; when it has grown by PASSED_ON_MAX blocks
 * the rank stops receiving until some are sent, which holds back the ranks behind it.
 * Rank 0 only receives, so there is always progress.
 *
 * An empty message ends the touches of a rank.
 */
#include "distance/ranks/ranks_exchange.h"

#include <stdlib.h>

#include "base/fail.h"

#define PASSED_ON_MAX 32u /* blocks: 24 MiB */

enum { SENDING = 0, RECEIVING = 1 }; /* tickets */

struct rsc_touch_block {
    struct rsc_touch_block *next;
    uint32_t count;
    struct rsc_touch touches[]; /* the queue's per_block of them */
};

int rsc_touch_queue_add(struct rsc_touch_queue *queue, struct rsc_touch touch) {
    struct rsc_touch_block *block = queue->last;
    if (!block || block->count == queue->per_block) {
        block = malloc(sizeof *block + queue->per_block * sizeof *block->touches);
        if (!block) return RSC_ENOMEM;
        block->next = NULL;
        block->count = 0;
        if (queue->last) queue->last->next = block;
        else queue->first = block;
        queue->last = block;
        queue->blocks++;
    }
    block->touches[block->count++] = touch;
    return 0;
}

static struct rsc_touch_block *queue_take(struct rsc_touch_queue *queue) {
    struct rsc_touch_block *block = queue->first;
    if (!block) return NULL;
    queue->first = block->next;
    if (!queue->first) queue->last = NULL;
    queue->blocks--;
    return block;
}

void rsc_touch_queue_free(struct rsc_touch_queue *queue) {
    struct rsc_touch_block *block;
    while ((block = queue_take(queue))) free(block);
}

void rsc_touch_queue_renumber(struct rsc_touch_queue *queue, const uint32_t *map) {
    for (struct rsc_touch_block *block = queue->first; block; block = block->next)
        for (uint32_t i = 0; i < block->count; i++) {
            struct rsc_touch *touch = &block->touches[i];
            touch->above_and_who =
                rsc_touch_above(touch) | rsc_touch_who(map[rsc_touch_thread(touch)], rsc_touch_kind(touch));
        }
}

/* The state of the exchange. */
struct rsc_exchange_progress {
    struct rsc_touch *incoming[2];
    uint32_t filling; /* the buffer receiving now or next */
    uint64_t *lines;
    struct rsc_replayed *replayed;
    struct rsc_touch_block *outgoing; /* being sent */
    int receiving, sending;
    int came_all;  /* the rank behind has sent its last */
    int said_all;  /* and so have we */
    uint64_t mine; /* own blocks still in the queue: they do not count against blocks passed on */
};

static int replay(struct rsc_exchange *exchange, struct rsc_exchange_progress *progress,
                  const struct rsc_touch *touches, uint32_t count, struct rsc_error *error) {
    int failed = 0;
    for (uint32_t i = 0; i < count; i++) progress->lines[i] = touches[i].line;
    rsc_exact_take_out(exchange->exact, progress->lines, count, progress->replayed);
    for (uint32_t i = 0; i < count && !failed; i++) {
        const struct rsc_replayed *place = &progress->replayed[i];
        struct rsc_touch touch = touches[i];
        uint64_t since = touch.since + exchange->references;
        if (place->time != RSC_NOT_HELD) {
            failed = exchange->settle(exchange->user, rsc_touch_thread(&touch), rsc_touch_kind(&touch),
                                      rsc_touch_above(&touch) + place->above, since - place->time);
        } else if (!exchange->ranks->rank) {
            failed =
                exchange->settle(exchange->user, rsc_touch_thread(&touch), rsc_touch_kind(&touch), RSC_RD_UNKNOWN, 0);
        } else {
            touch.since = since;
            touch.above_and_who += place->above;
            failed = rsc_touch_queue_add(exchange->queue, touch);
        }
    }
    exchange->replayed += count;
    return failed ? rsc_fail_memory(error, "first touches") : 0;
}

/* Starts everything that can start. */
static int start(struct rsc_exchange *exchange, struct rsc_exchange_progress *progress, struct rsc_error *error) {
    struct rsc_ranks *ranks = exchange->ranks;
    struct rsc_touch_queue *queue = exchange->queue;
    int status = 0;
    /* At most one more block will be passed on from data already here, and another from the message now coming. */
    int room = queue->blocks < progress->mine + PASSED_ON_MAX - 2;
    if (!progress->receiving && !progress->came_all && room) {
        status = ranks->start_receive(ranks, RECEIVING, ranks->rank + 1, progress->incoming[progress->filling],
                                      queue->per_block * sizeof(struct rsc_touch), error);
        progress->receiving = 1;
    }
    if (status < 0 || !ranks->rank || progress->sending || progress->said_all) return status;
    progress->outgoing = queue_take(queue);
    if (progress->outgoing && progress->mine) progress->mine--;
    if (!progress->outgoing && !progress->came_all) return 0;
    size_t bytes = progress->outgoing ? progress->outgoing->count * sizeof(struct rsc_touch) : 0;
    exchange->sent_bytes += bytes;
    progress->sending = 1;
    progress->said_all = !bytes;
    return ranks->start_send(ranks, SENDING, ranks->rank - 1, progress->outgoing ? progress->outgoing->touches : NULL,
                             bytes, error);
}

static int move_on(struct rsc_exchange *exchange, struct rsc_exchange_progress *progress, struct rsc_error *error) {
    struct rsc_ranks *ranks = exchange->ranks;
    for (;;) {
        size_t bytes = 0;
        int status = start(exchange, progress, error);
        if (status < 0 || (!progress->sending && !progress->receiving)) return status;
        uint32_t tickets = (uint32_t)progress->sending << SENDING | (uint32_t)progress->receiving << RECEIVING;
        status = ranks->wait_any(ranks, tickets, &bytes, error);
        if (status < 0) return status;
        if (status == SENDING) {
            progress->sending = 0;
            free(progress->outgoing);
            progress->outgoing = NULL;
            continue;
        }
        const struct rsc_touch *touches = progress->incoming[progress->filling];
        if (bytes % sizeof *touches)
            return rsc_fail(error, RSC_EFORMAT, "a block of first touches has %zu bytes", bytes);
        progress->receiving = 0;
        progress->came_all = !bytes;
        progress->filling ^= 1;
        status = start(exchange, progress, error); /* the next may arrive while these are replayed */
        if (!status) status = replay(exchange, progress, touches, (uint32_t)(bytes / sizeof *touches), error);
        if (status < 0) return status;
    }
}

int rsc_exchange_run(struct rsc_exchange *exchange, struct rsc_error *error) {
    const struct rsc_ranks *ranks = exchange->ranks;
    const uint32_t per_block = exchange->queue->per_block;
    struct rsc_exchange_progress *progress = exchange->progress = calloc(1, sizeof *progress);
    if (!progress) return rsc_fail_memory(error, "first touches");
    progress->came_all = ranks->rank + 1 == ranks->size;
    progress->mine = exchange->queue->blocks;
    if (!progress->came_all) {
        progress->incoming[0] = malloc(per_block * sizeof(struct rsc_touch));
        progress->incoming[1] = malloc(per_block * sizeof(struct rsc_touch));
        progress->lines = malloc(per_block * sizeof *progress->lines);
        progress->replayed = malloc(per_block * sizeof *progress->replayed);
        if (!progress->incoming[0] || !progress->incoming[1] || !progress->lines || !progress->replayed)
            return rsc_fail_memory(error, "first touches");
    }
    return move_on(exchange, progress, error);
}

void rsc_exchange_free(struct rsc_exchange *exchange) {
    struct rsc_exchange_progress *progress = exchange->progress;
    if (!progress) return;
    free(progress->incoming[0]);
    free(progress->incoming[1]);
    free(progress->lines);
    free(progress->replayed);
    free(progress->outgoing);
    free(progress);
    exchange->progress = NULL;
}
