/*
 * engine_kind.h - the interface of every engine.
 *
 * An engine is made from validated options, takes batches, and makes a profile. It
 * fills the numbers, `made.by` and `made.model`; engine/engine.c fills the rest of
 * `made` and seals. engine/engine_table.c lists all engines.
 */
#ifndef RSC_DISTANCE_ENGINE_KIND_H
#define RSC_DISTANCE_ENGINE_KIND_H

#include <reusescope/engine.h>

#include "trace/batch_columns.h"

/* An engine's abilities beyond the histograms; engine/engine.c refuses other options. */
enum {
    RSC_CAN_PHASES = 1,
    RSC_CAN_CAP = 2,       /* max_distance */
    RSC_CAN_BINS = 4,      /* bins_per_octave */
    RSC_CAN_ATTRIBUTE = 8, /* attribute = 1; without this flag 0 means never */
    RSC_CAN_WORKERS = 16,  /* workers > 1 */
    RSC_CAN_NO_RI = 32,
    RSC_CAN_TOP_LINES = 64,
    RSC_CAN_PRIVATE = 128,        /* model "private", and cores */
    RSC_CAN_ERROR = 256,          /* honours --error */
    RSC_TAKES_REQUESTS = 512,     /* whole objects instead of lines: line size 1, model "requests" */
    RSC_WATCHES_WORDS = 1024,     /* lines are words of 8 bytes, each thread separate */
    RSC_WANTS_WORKERS = 2048,     /* uses all workers by default; others use one unless asked */
    RSC_RUNS_ON_RANKS = 4096,     /* one process of several, each with part of the traces */
    RSC_MEMORY_IS_BOUNDED = 8192, /* by its parameters, for any trace */
    RSC_REFUSES_WIDE = 16384,     /* accesses that make too many references (trace/references.h), by itself */
};

/* Room for an engine's parsed parameters, a struct of its own. */
#define RSC_ENGINE_PARAMETERS_BYTES 208

/* Progress of an engine, for display. */
struct rsc_so_far {
    uint64_t references; /* taken; 0: not known */
    uint64_t samples;    /* how many of these were examined, or lines kept; 0: all, or not known */
    const char *sampled; /* what they are: "lines" */
    double error; /* mean half width of the curve's error bars if it ended now,
                          * or the error that --error bounds if the engine honours it;
                          * NAN: not known; 0: exact */
};

/*
 * Distances as an engine finds them, for an observer: references of a block, in order. The parallel engine shows blocks
 * in any order, one at a time, from its threads, with no more than `rd` and `count`.
 */
struct rsc_distance_block {
    const struct rsc_batch *batch;
    const uint64_t *lines;
    const uint32_t *from;  /* access of the batch */
    const uint32_t *stack; /* the stack of each; all 0 if there is one */
    const uint32_t *rd;    /* as rsc_accumulate() takes them */
    uint32_t count;
};

struct rsc_distance_watch {
    /* Returns 0 or RSC_ENOMEM. NULL: no observer. */
    int (*block)(void *context, const struct rsc_distance_block *block);
    void *context;
};

struct rsc_part_kind; /* trace/source.h */

struct rsc_engine_kind {
    const char *name;
    const char *parameter; /* parameter syntax for messages, such as ":RATE"; NULL: no parameters */
    const char *what; /* one line for help */
    unsigned can; /* RSC_CAN_... */
    /*
     * Parses the text after "NAME:" (NULL: none) into the engine's own struct of at most
     * RSC_ENGINE_PARAMETERS_BYTES, zeroed before; create() and memory() get it back. It holds no pointers.
     * NULL: the engine has no parameters.
     */
    int (*parse)(void *parameters, const char *text, struct rsc_error *error);
    /* Bytes used for this many distinct lines, growth included; 0: few. NULL: always few. */
    uint64_t (*memory)(const struct rsc_engine_options *options, const void *parameters, uint64_t lines);
    int (*create)(void **state, const struct rsc_engine_options *options, const void *parameters,
                  struct rsc_error *error);
    int (*push)(void *state, const struct rsc_batch *batch, struct rsc_error *error);
    /* Used instead of push by engines that take a running program's own samples. NULL: takes only accesses. */
    int (*push_columns)(void *state, const struct rsc_batch *batch, const struct rsc_batch_columns *columns,
                        struct rsc_error *error);
    /*
     * What the threads that decode a trace make of it, and taking that: in order, instead of the trace's batches
     * (rsc_trace_use_parts()). The kind lives in the state. NULL: takes batches.
     */
    const struct rsc_part_kind *(*parts)(void *state);
    int (*push_part)(void *state, void *part, const struct rsc_batch *batch, struct rsc_error *error);
    /* *out is not sealed. */
    int (*finish)(void *state, struct rsc_profile **out, struct rsc_error *error);
    void (*destroy)(void *state); /* NULL is allowed */
    /* Fills the fields it knows of a zeroed struct whose error is NAN; changes nothing. NULL: nothing known. */
    void (*so_far)(const void *state, struct rsc_so_far *so_far);
    /* Memory of the engine now. NULL: not counted. */
    uint64_t (*bytes)(const void *state);
    /* Says that about this many accesses will come in all; before the first. NULL: of no use. */
    void (*expect)(void *state, uint64_t accesses);
    /* It may use a second thread from the first batch on; the numbers stay the same. NULL: it has no use for one. */
    void (*two_threads)(void *state);
    /* Shows every distance to the observer from now on. NULL: it has none. */
    void (*watch)(void *state, const struct rsc_distance_watch *watch);
};

/*
 * Shows every distance of an engine to the observer from now on. RSC_EUNSUPPORTED: it has none to show. Used by line
 * sampling and --every-size. engine/engine.c
 */
int rsc_engine_watch(struct rsc_engine *engine, const struct rsc_distance_watch *watch);

/* The engines of this room. */
extern const struct rsc_engine_kind rsc_engine_exact, rsc_engine_parallel, rsc_engine_gpu, rsc_engine_mpi;
extern const struct rsc_engine_kind rsc_engine_shards, rsc_engine_shards_max;
extern const struct rsc_engine_kind rsc_engine_time, rsc_engine_hprda, rsc_engine_requests, rsc_engine_requests_shards;

/* Memory of one exact stack (exact_state.h has the sizes), for all engines that have one. engine_exact.c */
uint64_t rsc_exact_memory(const struct rsc_engine_options *options, const void *parameters, uint64_t lines);

#endif
