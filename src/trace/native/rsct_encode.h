/*
 * rsct_encode.h - from the columns of a batch to the columns of a frame.
 *
 * An encoder collects accesses and events until its frame is full, then packs
 * them. It owns all its buffers and reuses them from frame to frame.
 */
#ifndef RSC_TRACE_NATIVE_RSCT_ENCODE_H
#define RSC_TRACE_NATIVE_RSCT_ENCODE_H

#include <reusescope/trace.h>

#include "trace/native/rsct_format.h"

struct rsct_encoder;

int rsct_encoder_new(struct rsct_encoder **out, const struct rsc_trace_writer_options *options, int pcs,
                     struct rsc_error *error);
void rsct_encoder_free(struct rsct_encoder *encoder);

/* How much of a batch an encoder has taken; starts at zeros. */
struct rsct_position {
    uint32_t access, event;
};

/*
 * Takes accesses and events of `batch` from *position on, and advances it.
 * Returns 1 when the frame is full and must be packed (then call again), 0 when
 * the batch is used up, negative on failure.
 */
int rsct_encoder_add(struct rsct_encoder *encoder, const struct rsc_batch *batch, struct rsct_position *position,
                     struct rsc_error *error);

/* Encodes no pcs from here on. Call before the first access. */
void rsct_encoder_drop_pcs(struct rsct_encoder *encoder);

/* Whether anything was added since the last pack, and how many accesses. */
int rsct_encoder_pending(const struct rsct_encoder *encoder);
uint32_t rsct_encoder_accesses(const struct rsct_encoder *encoder);

/* Continues an empty encoder at the access after the last one in `full`. */
void rsct_encoder_follow(struct rsct_encoder *encoder, const struct rsct_encoder *full);

/* Packs what was added into one frame, header included; *data belongs to the encoder. */
int rsct_encoder_pack(struct rsct_encoder *encoder, struct rsct_frame_header *header, const uint8_t **data,
                      size_t *bytes, struct rsc_error *error);

#endif
