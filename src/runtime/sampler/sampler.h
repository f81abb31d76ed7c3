/*
 * sampler.h - sampled reuse distances of several threads, for private stacks that
 * invalidate each other's lines and for one shared stack (paper 000, section 3): what
 * runs inside of a profiled program, and over recorded traces.
 *
 * Each thread counts down to its next sampled reference; the number is drawn from a
 * geometric distribution when the sample before it *begins*. While no sample is
 * active anywhere (rsc_sampler_is_quiet()), that is all: fast mode. While one is,
 * every reference of every thread is handed to rsc_sampler_use(): analysis mode.
 *
 *   private  the thread's own active_samples.h set. Lines that others write are taken
 *            from it: a sampled line so ends its sample as invalidated.
 *   shared   one set for all; a sample ends when any thread uses its line.
 *
 * Orders:
 *   RSC_ORDER_SEQUENTIAL  every reference has its effect on all stacks at once. The
 *       caller makes calls one after the other (under a fair lock, or from one thread).
 *   RSC_ORDER_PARALLEL    calls for different threads may run at the same time, without
 *       locks but for the start and the end of a shared sample. Each thread writes what
 *       it touched to a log of its own, each line once for as long as no sample begins
 *       and nobody has read the logs (a small cache of recent lines sees to that; a line
 *       told twice does no harm). Others' logs are read as far as they are new: for private
 *       stacks at the start and at the reuse of a sample, and by rsc_sampler_sync(); into
 *       the shared set when one of its samples begins or is reused, and before a log
 *       overflows. No thread ever waits for another to get somewhere. `skew` also reads
 *       every so many references.
 * A private reader that falls a whole log behind while it is not parked (because it was
 * kept from running) misses the writes in between; how often that happened is counted.
 *
 * Memory is one zeroed block from the caller, rsc_sampler_bytes() long, of which only
 * what is touched need ever be real: a thread slot that is never used costs nothing.
 * Nothing is allocated, no libc beyond memory functions, sched_yield() while waiting for
 * a lock. A call may not be interrupted by another for the same thread (signal handlers:
 * the caller keeps a flag).
 */
#ifndef RSC_RUNTIME_SAMPLER_SAMPLER_H
#define RSC_RUNTIME_SAMPLER_SAMPLER_H

#include <stddef.h>
#include <stdint.h>

#include "base/rng.h"
#include "runtime/sampler/active_samples.h"

enum { RSC_MODEL_PRIVATE = 1, RSC_MODEL_SHARED = 2 };

enum rsc_sampler_order { RSC_ORDER_SEQUENTIAL, RSC_ORDER_PARALLEL };

enum rsc_sample_outcome {
    RSC_SAMPLE_REUSED,      /* distance and interval are known */
    RSC_SAMPLE_INVALIDATED, /* private: another thread wrote the line */
    RSC_SAMPLE_PRUNED,      /* given up on: the distance is `distance` or more */
    RSC_SAMPLE_LAST_TOUCH,  /* never used again; distance: what it had come to */
    RSC_SAMPLE_CENSORED,    /* lost: more were active at once than there is room for; distance as for PRUNED */
};

/* Where a reference comes from: whatever the caller likes. */
struct rsc_sample_place {
    uint64_t pc;
    uint32_t context;
    uint32_t thread; /* set by the sampler to the thread's identity, unless places_have_threads */
};

struct rsc_sample_record {
    uint32_t model; /* RSC_MODEL_... */
    uint32_t outcome;
    struct rsc_sample_place use, reuse; /* reuse: only of REUSED; pc 0 where it is not known */
    uint64_t line;
    uint64_t distance; /* lines and holes above */
    double variance;   /* of distance, from the sketch; 0: exact */
    uint64_t interval; /* references from use to reuse: the thread's own (private), everybody's (shared) */
    double weight;     /* references that the sample stands for: the period it was drawn with */
};

/* Zero in any field is the default. */
struct rsc_sampler_options {
    uint32_t models;      /* RSC_MODEL_... or both; private */
    uint32_t order;       /* enum rsc_sampler_order */
    uint64_t skew;        /* parallel: read the logs every so many references of a thread; 0: no */
    double period;        /* references of a thread per sample, on average, 1 or more; 1000000 */
    uint64_t seed;
    uint32_t threads_most; /* at once; 64 */
    uint32_t exact_lines;  /* distance sets larger than this are sketched; 8192 */
    uint32_t samples_most; /* active at once, of each stack; 1024. From 3/4 of them on the period doubles */
    uint32_t log_entries;  /* of each thread, a power of two; 32768. None in sequential order */
    uint32_t prune_after;  /* samples that must have ended first; 100 */
    /*
     * The oldest sample goes, when one begins, if its distance is greater than this part
     * of all, and no more than the rest have gone so (unless half of samples_most are
     * active); 0.99; 1: never.
     */
    double prune_quantile;
    /*
     * Parallel: threads take turns of so many of their own references, as far as distances tell: what
     * others use is seen from the next turn on. 0: at once, however long a sample's begin and end take.
     */
    uint32_t turn;
    uint32_t places_have_threads; /* 1: places say which thread it is (where several share a stack) */
    /* Takes a finished sample, on the thread that ended it: at the same time from several where order is parallel. */
    void (*emit)(void *context, const struct rsc_sample_record *record);
    void *emit_context;
};

#define RSC_NO_THREAD UINT32_MAX

struct rsc_sampler;

/* Bytes for rsc_sampler_init(), and those of them that each of threads_most takes. */
size_t rsc_sampler_bytes(const struct rsc_sampler_options *options, size_t *per_thread);

/* `zeroed` is 64-byte aligned and stays the caller's. */
struct rsc_sampler *rsc_sampler_init(const struct rsc_sampler_options *options, void *zeroed);

/*
 * A thread begins: its slot, or RSC_NO_THREAD when threads_most are there. The
 * numbers it draws depend on the seed and `identity` alone. Any thread may call this.
 */
uint32_t rsc_sampler_thread_begin(struct rsc_sampler *sampler, uint32_t identity);

/* It ends: its private samples are last touches. Its slot may be had by another. */
void rsc_sampler_thread_end(struct rsc_sampler *sampler, uint32_t slot);

/* Whether nothing needs to be known of references but their number: fast mode. One load. */
static inline int rsc_sampler_is_quiet(const struct rsc_sampler *sampler) {
    return !__atomic_load_n((const uint32_t *)sampler, __ATOMIC_RELAXED); /* its first field: samples active */
}

/* References of the thread until the next one that is sampled, that one included: 1 or more. */
uint64_t rsc_sampler_countdown(const struct rsc_sampler *sampler, uint32_t slot);

/* `count` references of the thread went by in fast mode: fewer than rsc_sampler_countdown(). */
void rsc_sampler_pass(struct rsc_sampler *sampler, uint32_t slot, uint64_t count);

/* One reference of the thread, in analysis mode or the one that is sampled. */
void rsc_sampler_use(struct rsc_sampler *sampler, uint32_t slot, uint64_t line, int is_write,
                     const struct rsc_sample_place *place);

/* The thread has met others (barrier, join, lock): it sees what they wrote. Parallel; in sequential order it has. */
void rsc_sampler_sync(struct rsc_sampler *sampler, uint32_t slot);

/*
 * The thread is about to wait, and makes no other call until it has unparked: threads
 * whose logs it falls behind with read them for it. Unparking waits for one that does.
 */
void rsc_sampler_park(struct rsc_sampler *sampler, uint32_t slot);
void rsc_sampler_unpark(struct rsc_sampler *sampler, uint32_t slot);

/* Another period, for samples drawn from now on. Any thread may call this. */
void rsc_sampler_set_period(struct rsc_sampler *sampler, double period);

/* The end: every thread ends, shared samples are last touches. No other call may be under way. */
void rsc_sampler_finish(struct rsc_sampler *sampler);

/* Sums over all threads so far, of counts that each publishes as it goes. */
struct rsc_sampler_counts {
    uint64_t references, analysed; /* analysed: handed to rsc_sampler_use() while samples were active */
    uint64_t samples; /* begun */
    double period; /* now */
    uint64_t lost_logs; /* times that a private reader was a whole log behind, and missed some of it */
};
void rsc_sampler_get_counts(const struct rsc_sampler *sampler, struct rsc_sampler_counts *counts);

#endif
