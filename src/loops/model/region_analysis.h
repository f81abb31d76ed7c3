/* region_analysis.h - shared by the parts of an analysis; loops_model.h is the interface for others. */
#ifndef RSC_LOOPS_MODEL_REGION_ANALYSIS_H
#define RSC_LOOPS_MODEL_REGION_ANALYSIS_H

#include "loops/model/crowd.h"
#include "loops/model/footprint.h"
#include "loops/model/loops_model.h"
#include "loops/model/strata.h"
#include "loops/model/team.h"
#include "loops/model/windows.h"
#include "loops/nest/distinct.h"

#define RSC_LOOPS_SLICES 32u
#define RSC_LOOPS_GRID_MAX 600u

struct rsc_loops_analysis {
    const struct rsc_loop_program *program;
    uint32_t region;
    struct rsc_loops_options options;
    struct rsc_nest *nest;
    struct rsc_points points;
    struct rsc_loops_strata strata; /* empty: not needed yet */
    uint64_t *lines;               /* distinct lines of each space (nest.h), at the number of threads last analysed */
    struct rsc_distinct_picks *picks; /* by space */
    uint64_t references, distinct; /* at one thread */
    int has_private;               /* some arrays are private to threads */
    int rectangular;               /* all bounds are constant, and nothing is conditional: less work is enough */
    float *normal;
    struct rsc_loops_team *team; /* during an analysis */
};

/* Samples of one number of threads, in the order of the points, and totals. */
struct rsc_loops_samples {
    struct rsc_reuse_sample *sample;
    size_t count;
    uint32_t *reference;
    uint8_t *draw;     /* [count]: the draw of the interleaving that its distance depends on, from 1; 0: none */
    uint32_t draws;    /* how many there are; 1: each sample may have one of its own */
    uint32_t *stratum; /* [count]; not set if `strata` is NULL: each reference is one then */
    const struct rsc_loops_strata *strata;
    double references; /* of all threads */
    double cold;       /* first uses: exact */
    double lines;      /* a cache of so many lines has no other misses; 0: not known */
    double long_lines; /* distances from here on are counted, or like counted ones; 0: none are */
    int one_order;     /* nothing about the interleaving is drawn: errors at different places are independent */
    double spread;     /* share of long distances that were counted by lines spread over all, not exactly */
};

/* How many of the sizes are at most `distance`. */
size_t rsc_loops_sizes_up_to(const uint64_t *size, size_t sizes, double distance);

/* How often the reuses of each reference miss at each of some sizes. */
struct rsc_loops_tally {
    size_t sizes;
    uint32_t strata;
    double *by;     /* [stratum][sizes + 1]: samples that are reuses; then those that miss at each size */
    double *weight; /* [stratum]: references that these represent */
    double *ratio;  /* [sizes]: miss ratio of all, first uses included */
    double all;     /* sum of weight */
    double cold;    /* first uses per reference */
};
int rsc_loops_tally_new(struct rsc_loops_tally *tally, const struct rsc_loops_samples *samples, uint32_t references,
                        const uint64_t *size, size_t sizes);
void rsc_loops_tally_free(struct rsc_loops_tally *tally);
/* What one sample of a stratum adds to the variance of ratio[g]; n samples add an n-th of it. */
double rsc_loops_tally_variance(const struct rsc_loops_tally *tally, uint32_t stratum, size_t g);

/* curve_draws.c: adds to variance[sizes] what one more draw of the interleaving differs by, from this mean of draws. */
int rsc_loops_draws_variance(const struct rsc_loops_samples *samples, const struct rsc_loops_tally *tally,
                             const uint64_t *size, double *variance);

/* A curve over `size` from samples with distances. */
int rsc_loops_curve(const struct rsc_loops_samples *samples, uint32_t reference_count, const uint64_t *size,
                    size_t sizes, double confidence, uint64_t line_bytes, struct rsc_mrc_point *mrc);

/* 8 sizes per octave, each once, from 1 to the first that holds `lines`. */
size_t rsc_loops_grid(uint64_t lines, uint64_t *size);

/* Called once it is known how many searches a point takes: other parts can begin then. A negative result ends the work. */
struct rsc_loops_known {
    int (*begin)(struct rsc_loops_analysis *analysis, void *context, double searches_each);
    void *context;
};
/*
 * Looks at every `every`-th point; 1: at as many as options.samples says. Fills distances. Uses `windows` too if not
 * NULL. With `dealings`, the search's plan is that of the draw looked at. `known` may be NULL.
 */
int rsc_loops_sample_crowd(struct rsc_loops_analysis *analysis, struct rsc_search *search,
                           const struct rsc_interleave *interleave, uint32_t every, double distinct,
                           struct rsc_loops_samples *samples, struct rsc_windows *windows,
                           struct rsc_plan *const *dealt, uint32_t dealings, const struct rsc_loops_known *known,
                           struct rsc_error *error);
/* References of all threads between the point and the last use of its line, the point counted; 0: it is the first. */
double rsc_loops_interval(struct rsc_crowd *crowd, const struct rsc_point *point, struct rsc_moment *moment);
/*
 * The random numbers and the draw of point number `at`: a point looked at again is at the same moment. Draws are spread
 * evenly over neighbouring points, and by another number than places are over those of a stratum.
 */
static inline void rsc_loops_draw_as(struct rsc_crowd *crowd, size_t at) {
    rsc_crowd_take_draw(crowd, (uint32_t)(fmod((double)at * 0.41421356237309503, 1) * crowd->draws));
    rsc_rng_seed(&crowd->chance.rng, crowd->seed + 0x9E3779B97F4A7C15u * (at + 1), 61);
}
/* counted_lines.c: corrects the distances of long reuses by counts of some of them. Sample i is of point number at[i]. */
int rsc_loops_count_lines(const struct rsc_loops_analysis *analysis, struct rsc_loops_crowds *crowds,
                          const struct rsc_points *points, const uint32_t *at, struct rsc_loops_samples *samples);
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
