/*
 * auto_preview.h - predicts the error of a line sample from references whose distances
 * are known: which of them it would keep, and how far their miss ratio curve is from the
 * true one.
 *
 * Most of a sample's error comes from which lines it contains: a few lines with many
 * references distort the curve whether they are in or out. This can be measured without
 * sampling: count the true distances of the lines that would be in the sample, at one
 * hash per reference. The rest of the error, from measuring distances in few lines, is
 * not included.
 */
#ifndef RSC_ENGINE_AUTO_PREVIEW_H
#define RSC_ENGINE_AUTO_PREVIEW_H

#include "distance/count/accumulate.h"

struct rsc_auto_preview {
    double rate;
    uint64_t limit, offset; /* of the hash of lines kept */
    struct rsc_histogram kept; /* true distances of references to kept lines */
    uint64_t cold_kept;
    /* counts of all references when it began: */
    struct rsc_histogram start_rd;
    uint64_t start_references, start_cold;
};

/* Chooses lines by hash, as the shards engine does. Returns 0 or RSC_ENOMEM; a zeroed preview may be freed. */
int rsc_auto_preview_init(struct rsc_auto_preview *preview, double rate, uint64_t seed);
void rsc_auto_preview_free(struct rsc_auto_preview *preview);

/* Starts or restarts; `sum` holds the counts of all references so far. */
void rsc_auto_preview_start(struct rsc_auto_preview *preview, const struct rsc_accumulator *sum);

/* A block of references with their distances (RSC_RD_COLD: first uses). */
void rsc_auto_preview_take(struct rsc_auto_preview *preview, const uint64_t *lines, const uint32_t *rd, uint32_t count);

/*
 * Mean absolute error of the curve since the start, over 8 sizes per octave from 1 line
 * to `distinct`. Sizes up to half of `small_lines` come from bursts (auto_curve.h) and
 * count as exact.
 */
double rsc_auto_preview_error(const struct rsc_auto_preview *preview, const struct rsc_accumulator *sum,
                              uint64_t small_lines, uint64_t distinct);

#endif
