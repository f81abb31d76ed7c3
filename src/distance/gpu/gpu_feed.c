/* gpu_feed.c - see gpu_feed.h. */
#include "distance/gpu/gpu_feed.h"

#include <string.h>

#include "base/fail.h"
#include "trace/references.h"

static int explain(const struct rsc_gpu_feed *feed, int status, struct rsc_error *error) {
    return status < 0 ? rsc_fail(error, status, "%s", feed->message) : 0;
}

int rsc_gpu_feed_open(struct rsc_gpu_feed *feed, const struct rsc_gpu_options *options, uint32_t line_bytes,
                      struct rsc_error *error) {
    memset(feed, 0, sizeof *feed);
    feed->line_shift = (uint32_t)__builtin_ctz(line_bytes);
    int status = rsc_gpu_load(&feed->plugin, error);
    if (!status) status = explain(feed, feed->plugin->open(&feed->session, options, feed->message), error);
    if (status < 0) feed->plugin = NULL;
    return status;
}

void rsc_gpu_feed_close(struct rsc_gpu_feed *feed) {
    if (feed->plugin) feed->plugin->close(feed->session);
    feed->plugin = NULL;
}

int rsc_gpu_feed_block(const struct rsc_gpu_feed *feed, struct rsc_gpu_block **block, struct rsc_error *error) {
    char message[RSC_GPU_MESSAGE_BYTES];
    int status = feed->plugin->block(feed->session, block, message);
    return status < 0 ? rsc_fail(error, status, "%s", message) : 0;
}

/* Passes the block being filled to the device. */
static int send_filled(struct rsc_gpu_feed *feed, struct rsc_error *error) {
    struct rsc_gpu_block *block = feed->block;
    if (!block) return 0;
    feed->block = NULL;
    return explain(feed, feed->plugin->send(feed->session, block, feed->filled, feed->message), error);
}

int rsc_gpu_feed_send(struct rsc_gpu_feed *feed, struct rsc_gpu_block *block, size_t count, struct rsc_error *error) {
    int status = send_filled(feed, error);
    if (status < 0) return status;
    return explain(feed, feed->plugin->send(feed->session, block, count, feed->message), error);
}

/* Gets another block if the present one is full. */
static int make_room(struct rsc_gpu_feed *feed, struct rsc_error *error) {
    if (feed->block && feed->filled < feed->block->room) return 0;
    int status = send_filled(feed, error);
    feed->filled = 0;
    return status < 0 ? status : rsc_gpu_feed_block(feed, &feed->block, error);
}

int rsc_gpu_feed_watch(struct rsc_gpu_feed *feed, const struct rsc_gpu_watch *watch, struct rsc_gpu_result *so_far,
                       struct rsc_error *error) {
    int status = send_filled(feed, error);
    return status < 0 ? status : explain(feed, feed->plugin->watch(feed->session, watch, so_far, feed->message), error);
}

int rsc_gpu_feed_rows(struct rsc_gpu_feed *feed, struct rsc_gpu_rows *rows, struct rsc_error *error) {
    int status = send_filled(feed, error);
    return status < 0 ? status : explain(feed, feed->plugin->rows(feed->session, rows, feed->message), error);
}

int rsc_gpu_feed_push(struct rsc_gpu_feed *feed, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_reference_cursor cursor;
    rsc_references_start(&cursor, batch, feed->line_shift);
    for (;;) {
        int status = make_room(feed, error);
        if (status < 0) return status;
        size_t room = feed->block->room - feed->filled;
        uint32_t count = rsc_references_fill(&cursor, feed->block->words + feed->filled, feed->from,
                                             room < RSC_GPU_FEED_BLOCK ? (uint32_t)room : RSC_GPU_FEED_BLOCK);
        if (!count) return 0;
        feed->filled += count;
    }
}

int rsc_gpu_feed_finish(struct rsc_gpu_feed *feed, struct rsc_gpu_result *result, struct rsc_gpu_bounds *bounds,
                        struct rsc_error *error) {
    int status = send_filled(feed, error);
    if (!status) status = explain(feed, feed->plugin->finish(feed->session, result, feed->message), error);
    if (!status && bounds) status = explain(feed, feed->plugin->bounds(feed->session, bounds, feed->message), error);
    return status;
}
