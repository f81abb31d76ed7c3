/*
 * gpu_feed.h - feeds batches to a session of the GPU plugin (gpu_plugin.h): accesses
 * are cut into lines directly in page-locked memory, which the device copies while the
 * next lines are cut.
 */
#ifndef RSC_DISTANCE_GPU_GPU_FEED_H
#define RSC_DISTANCE_GPU_GPU_FEED_H

#include <reusescope/trace.h>

#include "base/pool.h"
#include "distance/gpu/gpu_load.h"

#define RSC_GPU_FEED_BLOCK 4096u

struct rsc_gpu_feed {
    const struct rsc_gpu_plugin *plugin; /* NULL: not open */
    void *session;
    uint32_t line_shift;
    uint64_t *words; /* the plugin's buffer; NULL: none at present */
    uint32_t *tags;  /* beside it; NULL: words have none */
    size_t room, filled;
    struct rsc_pool *copiers; /* for many lines at once; NULL: none yet, or too few processors. Owned */
    uint32_t from[RSC_GPU_FEED_BLOCK];
    char message[RSC_GPU_MESSAGE_BYTES];
};

/*
 * `options` are for words that are line numbers, so its line shifts are 0. Return 0 or an
 * error with a message: RSC_EUNSUPPORTED if the plugin, the driver or a device is missing.
 */
int rsc_gpu_feed_open(struct rsc_gpu_feed *feed, const struct rsc_gpu_options *options, uint32_t line_bytes,
                      struct rsc_error *error);
/* Has the outcomes of all references from now on taken; `so_far` is of those before. */
int rsc_gpu_feed_watch(struct rsc_gpu_feed *feed, const struct rsc_gpu_watch *watch, struct rsc_gpu_result *so_far,
                       struct rsc_error *error);
int rsc_gpu_feed_push(struct rsc_gpu_feed *feed, const struct rsc_batch *batch, struct rsc_error *error);
/* The same for lines that were cut elsewhere. `tags` is NULL if there are none. */
int rsc_gpu_feed_push_lines(struct rsc_gpu_feed *feed, const uint64_t *lines, const uint32_t *tags, size_t count,
                            struct rsc_error *error);
/* `bounds` is NULL except for hp-rda. */
int rsc_gpu_feed_finish(struct rsc_gpu_feed *feed, struct rsc_gpu_result *result, struct rsc_gpu_bounds *bounds,
                        struct rsc_error *error);
/* A zeroed feed may be closed. */
void rsc_gpu_feed_close(struct rsc_gpu_feed *feed);

#endif
