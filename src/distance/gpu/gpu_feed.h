/*
 * gpu_feed.h - feeds a session of the GPU plugin (gpu_plugin.h) with lines, in blocks of page-locked memory. Accesses are
 * cut into lines directly there, by the session's thread (rsc_gpu_feed_push()) or by those that decode a trace (gpu_part.h),
 * and the device copies full blocks while the next are filled.
 */
#ifndef RSC_DISTANCE_GPU_GPU_FEED_H
#define RSC_DISTANCE_GPU_GPU_FEED_H

#include <reusescope/trace.h>

#include "distance/gpu/gpu_load.h"

#define RSC_GPU_FEED_BLOCK 4096u

/* The bytes of its line that each of `count` references touches, as struct rsc_gpu_block has them. */
typedef void rsc_gpu_bytes_of(const struct rsc_batch *batch, const uint32_t *from, const uint64_t *lines,
                              uint64_t *bytes, uint32_t count, uint32_t line_shift);

struct rsc_gpu_feed {
    const struct rsc_gpu_plugin *plugin; /* NULL: not open */
    void *session;
    uint32_t line_shift;
    rsc_gpu_bytes_of *bytes_of; /* fills blocks' bytes; NULL: they have none */
    struct rsc_gpu_block *block; /* being filled; NULL: none at present */
    size_t filled;
    uint32_t from[RSC_GPU_FEED_BLOCK];
    char message[RSC_GPU_MESSAGE_BYTES];
};

/*
 * `options` are for words that are line numbers, so its line shifts are 0. Return 0 or an
 * error with a message: RSC_EUNSUPPORTED if the plugin, the driver or a device is missing.
 */
int rsc_gpu_feed_open(struct rsc_gpu_feed *feed, const struct rsc_gpu_options *options, uint32_t line_bytes,
                      struct rsc_error *error);
/* From now on rows are counted, or outcomes taken; `so_far` is of the references before. */
int rsc_gpu_feed_watch(struct rsc_gpu_feed *feed, const struct rsc_gpu_watch *watch, struct rsc_gpu_result *so_far,
                       struct rsc_error *error);
/* The rows counted so far. */
int rsc_gpu_feed_rows(struct rsc_gpu_feed *feed, struct rsc_gpu_rows *rows, struct rsc_error *error);

int rsc_gpu_feed_push(struct rsc_gpu_feed *feed, const struct rsc_batch *batch, struct rsc_error *error);

/* A block to fill, from any thread; and the first `count` lines of one, which is the session's again. */
int rsc_gpu_feed_block(const struct rsc_gpu_feed *feed, struct rsc_gpu_block **block, struct rsc_error *error);
int rsc_gpu_feed_send(struct rsc_gpu_feed *feed, struct rsc_gpu_block *block, size_t count, struct rsc_error *error);

/* `bounds` is NULL except for hp-rda. */
int rsc_gpu_feed_finish(struct rsc_gpu_feed *feed, struct rsc_gpu_result *result, struct rsc_gpu_bounds *bounds,
                        struct rsc_error *error);
/* A zeroed feed may be closed. No thread may fill a block then. */
void rsc_gpu_feed_close(struct rsc_gpu_feed *feed);

#endif
