/* region_analysis.h - shared by the parts of an analysis; loops_model.h is the interface for others. */
#ifndef RSC_LOOPS_MODEL_REGION_ANALYSIS_H
#define RSC_LOOPS_MODEL_REGION_ANALYSIS_H

#include "loops/model/crowd.h"
#include "loops/model/footprint.h"
#include "loops/model/loops_model.h"
#include "loops/model/windows.h"

#define RSC_LOOPS_SLICES 32u
#define RSC_LOOPS_GRID_MAX 600u

struct rsc_loops_analysis {
    const struct rsc_loop_program *program;
    uint32_t region;
    struct rsc_loops_options options;
    struct rsc_nest *nest;
    struct rsc_points points;
    uint64_t *lines;               /* distinct lines of each space (nest.h), at the number of threads last analysed */
    uint64_t references, distinct; /* at one thread */
    int has_private;               /* some arrays are private to threads */
    float *normal;
};

/* Samples of one number of threads, in the order of the points, and totals. */
struct rsc_loops_samples {
    struct rsc_reuse_sample *sample;
    size_t count;
    uint32_t *reference;
    double references; /* of all threads */
    double cold;       /* first uses: exact */
    double lines;      /* a cache of so many lines has no other misses; 0: not known */
};

/* A curve over `size` from samples with distances. */
int rsc_loops_curve(const struct rsc_loops_samples *samples, uint32_t reference_count, const uint64_t *size,
                    size_t sizes, double confidence, uint64_t line_bytes, struct rsc_mrc_point *mrc);

/* 8 sizes per octave, each once, from 1 to the first that holds `lines`. */
size_t rsc_loops_grid(uint64_t lines, uint64_t *size);

/* By the paper's model: private intervals at the base number of threads, converted to `threads`. */
int rsc_loops_sample_racetrack(struct rsc_loops_analysis *analysis, uint32_t threads, uint32_t every,
                               struct rsc_loops_samples *samples, struct rsc_error *error);
/* Adjusts weights after points were skipped: each reference's samples represent all its instances. */
void rsc_loops_samples_weigh(const struct rsc_points *points, struct rsc_loops_samples *samples, double references);
void rsc_loops_samples_free(struct rsc_loops_samples *samples);
int rsc_loops_samples_new(struct rsc_loops_samples *samples, size_t count, struct rsc_error *error);

/* The private caches' view. */
int rsc_loops_private_view(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                           const struct rsc_interleave *interleave, struct rsc_loops_private *own,
                           struct rsc_error *error);

#endif
