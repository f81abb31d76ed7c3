/*
 * batch_columns.h - optional columns of a batch of a running program: for programs that choose references, finish
 * samples or watch reuses themselves. Most batches have none.
 */
#ifndef RSC_TRACE_BATCH_COLUMNS_H
#define RSC_TRACE_BATCH_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

struct rsc_order_bounds; /* profile/order_bounds.h */
struct rsc_profile;
struct rsc_sample_record; /* runtime/sampler/sampler.h */
struct rsc_watch_record;  /* runtime/watch/watch_records.h */

/* Facts known only at the end of a run. A field unknown to a collector is zero. */
struct rsc_whole_run {
    const struct rsc_order_bounds
        *order; /* how well the order of threads is known; NULL: they are not merged by time */
    uint64_t accesses, references;
    const uint64_t *thread_references; /* [thread_count], by thread number */
    uint32_t thread_count;
    const uint32_t *pids; /* [process_count], by the top 16 bits of their addresses */
    uint32_t process_count;
    /* Of finished samples: */
    uint64_t analysed;   /* references analysed */
    uint64_t begun;      /* samples; those that were never finished are last touches, */
    int goes_on;         /* unless the program runs on unwatched: what became of them is not known */
    double begun_weight; /* references that they represent */
    /* Of watched pairs: */
    const char *sampling; /* how uses were chosen */
    double handler_seconds;
    uint64_t traps, dropped;
    /* Adds call paths, which records refer to by number, and mapped files to a profile. NULL: there are none. */
    int (*fill)(const void *context, struct rsc_profile *profile);
    const void *context;
};

/* The addresses of an instruction in two successive executions by a thread. */
struct rsc_step {
    uint64_t pc, from, to;
    uint32_t bytes;
};

struct rsc_batch_columns {
    /* A sample of lines: references of the same thread left out before each access, [count]. NULL: none were. */
    const uint64_t *skipped;
    /* The same: references of all threads before each access, [count]. NULL: not known. */
    const uint64_t *passed;
    /* Samples that the program finished, their threads by number. */
    const struct rsc_sample_record *samples;
    size_t sample_count;
    /* Steps of instructions that the program noted beside its samples. */
    const struct rsc_step *steps;
    size_t step_count;
    /* Watched pairs: sampled uses and how their watches ended, in order within each thread. */
    const struct rsc_watch_record *watched;
    size_t watched_count;
    /* With the last batch; stays until the engines are finished. */
    const struct rsc_whole_run *whole;
};

#endif
