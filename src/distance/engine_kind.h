/*
 * engine_kind.h - the one interface behind which every engine lives.
 *
 * An engine is made from validated options, takes batches, and ends in a
 * profile whose `made.by`, `made.model` and numbers it fills; engine/engine.c fills
 * the rest of `made` and seals. engine/engine_table.c lists them all.
 */
#ifndef RSC_DISTANCE_ENGINE_KIND_H
#define RSC_DISTANCE_ENGINE_KIND_H

#include <reusescope/engine.h>

#include "trace/batch_columns.h"

/* What an engine can do beyond the histograms; engine/engine.c refuses the rest. */
enum {
    RSC_CAN_PHASES = 1,
    RSC_CAN_CAP = 2,       /* max_distance */
    RSC_CAN_BINS = 4,      /* bins_per_octave */
    RSC_CAN_ATTRIBUTE = 8, /* attribute = 1; without it 0 means never */
    RSC_CAN_WORKERS = 16,  /* workers > 1 */
    RSC_CAN_NO_RI = 32,
    RSC_CAN_TOP_LINES = 64,
    RSC_CAN_PRIVATE = 128,        /* model "private", and cores */
    RSC_CAN_ERROR = 256,          /* keeps to an error asked for */
    RSC_TAKES_REQUESTS = 512,     /* whole objects instead of lines: line size 1, model "requests" */
    RSC_WATCHES_WORDS = 1024,     /* lines are words of 8 bytes, threads are apart */
    RSC_WANTS_WORKERS = 2048,     /* uses all workers there are; others work alone unless told */
    RSC_RUNS_ON_RANKS = 4096,     /* one process of several, each with its part of the traces */
    RSC_MEMORY_IS_BOUNDED = 8192, /* by its parameters, whatever the trace */
};

/* Room for an engine's parsed parameters, a struct of its own. */
#define RSC_ENGINE_PARAMETERS_BYTES 192

/* How far an engine has got, for people who wait. */
struct rsc_so_far {
    uint64_t references; /* taken; 0: not known */
    uint64_t samples;    /* of these so many were looked at, or lines kept; 0: all, or not known */
    const char *sampled; /* what they are: "lines" */
    double error; /* mean half width of the curve's error bars if it ended now, or what --error is about where the
                          * engine keeps to one; NAN: not known. An exact result has 0 */
};

/* Distances as an engine finds them, for whoever watches: references of a block, in order. */
struct rsc_distance_block {
    const struct rsc_batch *batch;
    const uint64_t *lines;
    const uint32_t *from;  /* access of the batch */
    const uint32_t *stack; /* whose each is; all 0 where there is one */
    const uint32_t *rd;    /* as rsc_accumulate() takes them */
    uint32_t count;
};

struct rsc_distance_watch {
    /* Returns 0 or RSC_ENOMEM. NULL: nobody watches. */
    int (*block)(void *context, const struct rsc_distance_block *block);
    void *context;
};

struct rsc_engine_kind {
    const char *name;
    const char *parameter; /* what stands behind the name in messages, such as ":RATE"; NULL: nothing may */
    const char *what; /* one line for help */
    unsigned can; /* RSC_CAN_... */
    /*
     * Parses what stands behind "NAME:" (NULL: nothing does) into a struct of the engine's own of at most
     * RSC_ENGINE_PARAMETERS_BYTES, zeroed before; create() and memory() get it back. It holds no pointers.
     * NULL: the engine has no parameters.
     */
    int (*parse)(void *parameters, const char *text, struct rsc_error *error);
    /* Bytes it takes for so many distinct lines, growth included; 0: not many. NULL: never many. */
    uint64_t (*memory)(const struct rsc_engine_options *options, const void *parameters, uint64_t lines);
    int (*create)(void **state, const struct rsc_engine_options *options, const void *parameters,
                  struct rsc_error *error);
    int (*push)(void *state, const struct rsc_batch *batch, struct rsc_error *error);
    /* In place of push, of engines for what a program has chosen itself. NULL: takes accesses alone. */
    int (*push_columns)(void *state, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                        struct rsc_error *error);
    /* *out is not sealed. */
    int (*finish)(void *state, struct rsc_profile **out, struct rsc_error *error);
    void (*destroy)(void *state); /* NULL is allowed */
    /* Fills what it knows of a zeroed struct whose error is NAN; changes nothing. NULL: knows nothing. */
    void (*so_far)(const void *state, struct rsc_so_far *so_far);
    /* Shows every distance from now on. NULL: it has none to show. */
    void (*watch)(void *state, const struct rsc_distance_watch *watch);
};

/* Shows every distance from now on, of an exact engine; for who samples lines and has one analyse them. engine/engine.c */
void rsc_engine_watch(struct rsc_engine *engine, const struct rsc_distance_watch *watch);

/* The engines of this room. */
extern const struct rsc_engine_kind rsc_engine_exact, rsc_engine_parallel, rsc_engine_gpu, rsc_engine_mpi;
extern const struct rsc_engine_kind rsc_engine_shards, rsc_engine_shards_max;
extern const struct rsc_engine_kind rsc_engine_time, rsc_engine_hprda, rsc_engine_requests;

/* Memory of one exact stack (exact_state.h has the sizes), for all engines that keep one. engine_exact.c */
uint64_t rsc_exact_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines);

#endif
