/*
 * rsct_worker.h - decodes frames in one of several threads: verifies, unpacks and rebuilds
 * accesses, for pieces.h. Reading the stored frames in order is the reader's.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_WORKER_H
#define RSC_TRACE_NATIVE_RSCT_WORKER_H

#include "trace/native/rsct_frame.h"
#include "trace/pieces.h"

struct rsct_piece {
    struct rsct_frame frame; /* as stored; its columns have not been read if `later` */
    int later;
    uint64_t before;         /* frames before it */
};
void rsct_piece_free(void *piece);

/* The functions of struct rsc_piece_kind. */
int rsct_worker_new(void **out, const struct rsc_input *input, int without_pcs, int without_events,
                    struct rsc_error *error);
void rsct_worker_free(void *worker);
int rsct_worker_start(void *worker, void *piece, struct rsc_error *error);
int rsct_worker_next(void *worker, const struct rsc_columns *to, struct rsc_batch *batch, uint64_t *index,
                     struct rsc_error *error);

#endif
