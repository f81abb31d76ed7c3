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
    rsc_pool_free(feed->copiers);
    feed->copiers = NULL;
}

/* Passes the buffer to the device. */
static int commit(struct rsc_gpu_feed *feed, struct rsc_error *error) {
    if (!feed->words) return 0;
    int status = feed->plugin->commit(feed->session, feed->filled, feed->message);
    feed->words = NULL;
    feed->filled = feed->room = 0;
    return explain(feed, status, error);
}

/* Gets another buffer if the present one is full. */
static int make_room(struct rsc_gpu_feed *feed, struct rsc_error *error) {
    if (feed->filled < feed->room) return 0;
    int status = commit(feed, error);
    if (status < 0) return status;
    return explain(feed, feed->plugin->buffer(feed->session, &feed->words, &feed->tags, &feed->room, feed->message),
                   error);
}

int rsc_gpu_feed_watch(struct rsc_gpu_feed *feed, const struct rsc_gpu_watch *watch, struct rsc_gpu_result *so_far,
                       struct rsc_error *error) {
    int status = commit(feed, error);
    return status < 0 ? status : explain(feed, feed->plugin->watch(feed->session, watch, so_far, feed->message), error);
}

/*
 * Where many threads decode, several copy. On 16 cores and an H200, 256 Mi references, M/s with one and with four: uniform
 * .rsct 526-565 and 727-745, zipf 498-577 and 764-769, raw64 777-833 and 743-766.
 */
#define COPIERS 4u
#define COPY_WORDS 32768u /* by a thread at a time */
#define COPY_LEAST (2 * COPY_WORDS)

struct copy {
    uint64_t *to;
    const uint64_t *from;
    size_t count;
};

static void copy_some(void *context, size_t index) {
    const struct copy *copy = context;
    size_t first = index * COPY_WORDS, count = copy->count - first < COPY_WORDS ? copy->count - first : COPY_WORDS;
    memcpy(copy->to + first, copy->from + first, count * sizeof *copy->to);
}

static void copy_lines(struct rsc_gpu_feed *feed, uint64_t *to, const uint64_t *from, size_t count) {
    struct copy copy = {to, from, count};
    if (count >= COPY_LEAST && !feed->copiers && rsc_pool_cpu_count() >= 2 * COPIERS)
        (void)rsc_pool_new(&feed->copiers, COPIERS, NULL); /* without them it takes longer */
    if (count >= COPY_LEAST && feed->copiers)
        rsc_pool_for(feed->copiers, (count + COPY_WORDS - 1) / COPY_WORDS, copy_some, &copy);
    else memcpy(to, from, count * sizeof *to);
}

int rsc_gpu_feed_push_lines(struct rsc_gpu_feed *feed, const uint64_t *lines, const uint32_t *tags, size_t count,
                            struct rsc_error *error) {
    while (count) {
        int status = make_room(feed, error);
        if (status < 0) return status;
        size_t part = feed->room - feed->filled < count ? feed->room - feed->filled : count;
        copy_lines(feed, feed->words + feed->filled, lines, part);
        if (tags) {
            memcpy(feed->tags + feed->filled, tags, part * sizeof *tags);
            tags += part;
        }
        feed->filled += part;
        lines += part;
        count -= part;
    }
    return 0;
}

int rsc_gpu_feed_push(struct rsc_gpu_feed *feed, const struct rsc_batch *batch, struct rsc_error *error) {
    struct rsc_reference_cursor cursor;
    rsc_references_start(&cursor, batch, feed->line_shift);
    for (;;) {
        int status = make_room(feed, error);
        if (status < 0) return status;
        size_t room = feed->room - feed->filled;
        uint32_t count = rsc_references_fill(&cursor, feed->words + feed->filled, feed->from,
                                             room < RSC_GPU_FEED_BLOCK ? (uint32_t)room : RSC_GPU_FEED_BLOCK);
        if (!count) return 0;
        feed->filled += count;
    }
}

int rsc_gpu_feed_finish(struct rsc_gpu_feed *feed, struct rsc_gpu_result *result, struct rsc_gpu_bounds *bounds,
                        struct rsc_error *error) {
    int status = commit(feed, error);
    if (!status) status = explain(feed, feed->plugin->finish(feed->session, result, feed->message), error);
    if (!status && bounds) status = explain(feed, feed->plugin->bounds(feed->session, bounds, feed->message), error);
    return status;
}
