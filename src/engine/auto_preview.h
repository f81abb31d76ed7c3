/*
 * auto_preview.h - what a sample of lines would make of references whose distances are
 * known: which of them it would have kept, and how far off the miss ratio curve of those
 * is.
 *
 * The larger part of a sample's error is in which lines it has: a few lines with many
 * references weigh on the curve if they are in, and are missing if they are not. That
 * shows without taking the sample: it is enough to count the true distances of the lines
 * that would be in it, a hash per reference. The rest, distances counted in few lines,
 * is not seen here.
 */
#ifndef RSC_ENGINE_AUTO_PREVIEW_H
#define RSC_ENGINE_AUTO_PREVIEW_H

#include "distance/count/accumulate.h"

struct rsc_auto_preview {
    double rate;
    uint64_t limit, offset; /* of the hash of lines kept */
    struct rsc_histogram kept; /* true distances of references to kept lines */
    uint64_t cold_kept;
    /* what all references had come to when it began: */
    struct rsc_histogram start_rd;
    uint64_t start_references, start_cold;
};

/* Lines by hash, as the shards engine takes them. Returns 0 or RSC_ENOMEM; a zeroed preview may be freed. */
int rsc_auto_preview_init(struct rsc_auto_preview *preview, double rate, uint64_t seed);
void rsc_auto_preview_free(struct rsc_auto_preview *preview);

/* Starts, again or for the first time; `sum` has what was counted of all references. */
void rsc_auto_preview_start(struct rsc_auto_preview *preview, const struct rsc_accumulator *sum);

/* A block of references with their distances (RSC_RD_COLD: first uses). */
void rsc_auto_preview_take(struct rsc_auto_preview *preview, const uint64_t *lines, const uint32_t *rd, uint32_t count);

/*
 * Mean absolute error of the curve since the start, over 8 sizes an octave from 1 line to
 * `distinct`. Sizes up to half of `small_lines` come from bursts (auto_curve.h) and count
 * as right.
 */
double rsc_auto_preview_error(const struct rsc_auto_preview *preview, const struct rsc_accumulator *sum,
                              uint64_t small_lines, uint64_t distinct);

#endif
