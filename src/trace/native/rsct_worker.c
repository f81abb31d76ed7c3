/* rsct_worker.c - see rsct_worker.h. */
#include "trace/native/rsct_worker.h"

#include <stdlib.h>

#include "base/fail.h"
#include "trace/native/rsct_decode.h"

struct rsct_worker {
    const struct rsc_input *input; /* its name, for messages */
    struct rsct_unpacker unpacker;
    struct rsct_frame frame; /* unpacked; the payload is `own` or the piece's */
    struct rsct_frame own;   /* columns that were read here */
    struct rsct_decoder *decoder;
    const struct rsct_piece *piece;
    uint32_t done; /* accesses of the frame */
};

void rsct_piece_free(void *piece) { rsct_frame_free(&((struct rsct_piece *)piece)->frame); }

void rsct_worker_free(void *to) {
    struct rsct_worker *worker = to;
    worker->frame.payload = NULL;
    rsct_frame_free(&worker->frame);
    rsct_frame_free(&worker->own);
    rsct_unpacker_free(&worker->unpacker);
    rsct_decoder_free(worker->decoder);
    free(worker);
}

int rsct_worker_new(void **out, const struct rsc_input *input, int without_pcs, int without_events,
                    struct rsc_error *error) {
    struct rsct_worker *worker = calloc(1, sizeof *worker);
    if (!worker) return rsc_fail_memory(error, "trace decoder");
    worker->input = input;
    int status = rsct_unpacker_init(&worker->unpacker, without_pcs, without_events, error);
    if (!status) status = rsct_decoder_new(&worker->decoder, 0, without_pcs, without_events, error);
    if (status < 0) rsct_worker_free(worker);
    else *out = worker;
    return status;
}

static int piece_damaged(const struct rsct_worker *worker, const char *problem, struct rsc_error *error) {
    return rsct_frame_damaged(worker->input, worker->piece->before, worker->frame.offset, problem, error);
}

int rsct_worker_start(void *to, void *from, struct rsc_error *error) {
    struct rsct_worker *worker = to;
    struct rsct_frame *frame = &worker->frame;
    const struct rsct_piece *piece = worker->piece = from;
    frame->header = piece->frame.header;
    frame->offset = piece->frame.offset;
    frame->payload = piece->frame.payload;
    worker->done = 0;
    if (piece->later) {
        worker->own.header = piece->frame.header;
        worker->own.offset = piece->frame.offset;
        int status = rsct_frame_read_columns(&worker->own, worker->input, piece->before, error);
        if (status < 0) return status;
        frame->payload = worker->own.payload;
    }
    const char *problem = rsct_frame_unpack(frame, &worker->unpacker);
    if (!problem) problem = rsct_decoder_start(worker->decoder, frame);
    return problem ? piece_damaged(worker, problem, error) : 0;
}

int rsct_worker_next(void *from, const struct rsc_columns *to, struct rsc_batch *batch, uint64_t *index,
                     struct rsc_error *error) {
    struct rsct_worker *worker = from;
    const char *problem = NULL;
    int status = rsct_decoder_next(worker->decoder, to, batch, 0, &problem);
    if (status < 0) return piece_damaged(worker, problem, error);
    *index = worker->frame.header.first + worker->done;
    if (status) worker->done += batch->count;
    return status;
}
