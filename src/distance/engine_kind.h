/*
 * engine_kind.h - the one interface behind which every engine lives.
 *
 * An engine is made from validated options, takes batches, and ends in a
 * profile whose `made.by`, `made.model` and numbers it fills; engine.c fills the
 * rest of `made` and seals.
 */
#ifndef RSC_DISTANCE_ENGINE_KIND_H
#define RSC_DISTANCE_ENGINE_KIND_H

#include <reusescope/engine.h>

/* What an engine can do beyond the histograms; engine.c refuses to be asked for the rest. */
enum {
    RSC_CAN_PHASES = 1,
    RSC_CAN_CAP = 2,       /* max_distance */
    RSC_CAN_BINS = 4,      /* bins_per_octave */
    RSC_CAN_ATTRIBUTE = 8, /* attribute = 1; without it 0 means never */
    RSC_CAN_WORKERS = 16,  /* workers > 1 */
    RSC_CAN_NO_RI = 32,
    RSC_CAN_TOP_LINES = 64,
    RSC_CAN_LOCAL = 128,      /* local and no_adjust */
    RSC_TAKES_REQUESTS = 256, /* whole objects instead of lines: line size 1, model "requests" */
    RSC_CAN_DEVICE = 512, /* a device other than 0, or on_device */
    RSC_CAN_PRIVATE = 1024, /* model "private", and cores */
    RSC_WATCHES_WORDS = 4096, /* lines are words of 8 bytes, threads are apart */
};

/* How far an engine has got, for people who wait. */
struct rsc_so_far {
    uint64_t references; /* taken; 0: not known */
    uint64_t samples;    /* of these so many were looked at, or lines kept; 0: all, or not known */
    const char *sampled; /* what they are: "lines" */
    double error; /* mean half width of the curve's error bars if it ended now, or what --error is about where the
                          * engine keeps to one; NAN: not known. An exact result has 0 */
};

struct rsc_engine_kind {
    const char *name;
    const char *parameter; /* what stands behind "NAME:" in help, such as "RATE"; NULL: nothing may */
    const char *what; /* one line for help */
    unsigned can; /* RSC_CAN_... */
    /* `parameter` is what the caller wrote behind "NAME:", NULL where there was none. */
    int (*create)(void **state, const struct rsc_engine_options *options, const char *parameter,
                  struct rsc_error *error);
    int (*push)(void *state, const struct rsc_batch *batch, struct rsc_error *error);
    /* *out is not sealed. */
    int (*finish)(void *state, struct rsc_profile **out, struct rsc_error *error);
    void (*destroy)(void *state); /* NULL is allowed */
    /* Fills what it knows of a zeroed struct whose error is NAN; changes nothing. NULL: knows nothing. */
    void (*so_far)(const void *state, struct rsc_so_far *so_far);
};

/* How far an engine has got; between pushes. engine.c */
void rsc_engine_so_far(const struct rsc_engine *engine, struct rsc_so_far *so_far);

extern const struct rsc_engine_kind rsc_engine_auto;
extern const struct rsc_engine_kind rsc_engine_exact;
extern const struct rsc_engine_kind rsc_engine_hprda;
extern const struct rsc_engine_kind rsc_engine_parallel;
extern const struct rsc_engine_kind rsc_engine_requests;
extern const struct rsc_engine_kind rsc_engine_statstack, rsc_engine_aet, rsc_engine_hotl, rsc_engine_shen;
extern const struct rsc_engine_kind rsc_engine_shards, rsc_engine_shards_max;
extern const struct rsc_engine_kind rsc_engine_mpi;
extern const struct rsc_engine_kind rsc_engine_gpu;
extern const struct rsc_engine_kind rsc_engine_featherlight; /* engine/engine_featherlight.c */
extern const struct rsc_engine_kind rsc_engine_sampled; /* multicore's */
extern const struct rsc_engine_kind rsc_engine_private; /* what exact and auto are for model "private"; multicore's */

/* All engines, ending with NULL; engine.c. */
extern const struct rsc_engine_kind *const rsc_engine_kinds[];

#endif
