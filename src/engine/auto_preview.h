/*
 * auto_preview.h - predicts the error of a line sample, and the bars it would state, from
 * references whose distances are known.
 *
 * Most of a sample's error comes from which lines it contains: a few lines with many
 * references distort the curve whether they are in or out. This can be measured without
 * sampling: count the true distances of the lines that would be in the sample, at one
 * hash per reference. The error of measuring distances in few lines is not included; in
 * the bars it is, as chance alone would have it.
 */
#ifndef RSC_ENGINE_AUTO_PREVIEW_H
#define RSC_ENGINE_AUTO_PREVIEW_H

#include "base/histogram.h"
#include "estimate/line_bars.h"

struct rsc_auto_preview {
    double rate;
    uint64_t limit, offset; /* of the hash of lines kept */
    struct rsc_histogram all, kept; /* true distances: of all references taken, and of those to kept lines */
    struct rsc_line_groups groups; /* the kept ones, by group of their line */
    uint64_t references, cold, cold_kept;
};

/* Of the curve that a sample would give. */
struct rsc_auto_expected {
    double error;  /* mean absolute one */
    double stated; /* mean half width of its bars */
};

/* Chooses lines by hash, as the shards engine does. Returns 0 or RSC_ENOMEM; a zeroed preview may be freed. */
int rsc_auto_preview_init(struct rsc_auto_preview *preview, double rate, uint64_t seed);
void rsc_auto_preview_free(struct rsc_auto_preview *preview);

/* Forgets everything taken. */
void rsc_auto_preview_restart(struct rsc_auto_preview *preview);

/* A block of references with their distances (RSC_RD_COLD: first uses). */
void rsc_auto_preview_take(struct rsc_auto_preview *preview, const uint64_t *lines, const uint32_t *rd, uint32_t count);

/*
 * Over 8 sizes per octave from 1 line to `distinct`. Sizes up to half of `small_lines` come
 * from bursts (auto_curve.h) and count as exact.
 */
struct rsc_auto_expected rsc_auto_preview_expect(const struct rsc_auto_preview *preview, uint64_t small_lines,
                                                 uint64_t distinct, double confidence_percent);

#endif
