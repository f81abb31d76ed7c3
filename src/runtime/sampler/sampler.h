/*
 * sampler.h - sampled reuse distances of several threads, for private stacks that
 * invalidate each other's lines and for one shared stack (paper 000, section 3). Runs
 * inside a profiled program, and over recorded traces.
 *
 * Each thread counts down to its next sampled reference: one of each stretch of `period`
 * references, anywhere in it, drawn when the previous sample *begins*. So each reference is
 * sampled with probability 1 / period, and a part of the program has as many samples as its
 * references are worth, more evenly than by independent draws (which paper 000 has). With `burst` they come together,
 * and wait together: what costs is the time in which any sample waits, not their number. While no sample is active
 * anywhere (rsc_sampler_is_quiet()), nothing else is needed: fast mode. While one is, every
 * reference of every thread goes to rsc_sampler_use(): analysis mode.
 *
 *   private  the thread's own active_samples.h set. Lines that others write are taken
 *            from it; the next use of a sampled line then ends its sample as invalidated.
 *   shared   one set for all; a sample ends when any thread uses its line.
 *
 * Orders:
 *   RSC_ORDER_SEQUENTIAL  every reference has its effect on all stacks at once. The
 *       caller serialises its calls (under a fair lock, or from one thread).
 *   RSC_ORDER_PARALLEL    calls for different threads may run at the same time, without
 *       locks except for the start and the end of a shared sample. Each thread writes the
 *       lines it touched to its own log, each line once while no sample begins and the
 *       logs have not been read (a small cache of recent lines ensures that; reporting a
 *       line twice is harmless). New entries of others' logs are read for private stacks
 *       at the start and at the reuse of a sample, and by rsc_sampler_sync(); into the
 *       shared set when one of its samples begins or is reused, and before a log
 *       overflows. With in_step a short reuse waits for others' progress, but not long.
 * A private reader that falls a whole log behind while it is not parked (because it was
 * not scheduled) misses the writes in between; these cases are counted.
 *
 * Memory is one zeroed block from the caller, rsc_sampler_bytes() long; only touched pages
 * need be real, so an unused thread slot costs nothing. Nothing is allocated; of libc only
 * memory functions are used, and sched_yield() while waiting for a lock. A call may not be
 * interrupted by another for the same thread (signal handlers: the caller keeps a flag).
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
    RSC_SAMPLE_INVALIDATED, /* private: used again, after another thread wrote the line; the interval is known */
    RSC_SAMPLE_PRUNED,      /* given up: the distance is at least `distance` */
    RSC_SAMPLE_LAST_TOUCH,  /* never used again; distance: what it had reached */
    RSC_SAMPLE_CENSORED,    /* lost: more were active at once than there is room for; distance as for PRUNED */
    RSC_SAMPLE_TAKEN,       /* private: given up or lost after another thread wrote the line: if it is used again, it
                               is invalidated, else a last touch */
    RSC_SAMPLE_DROPPED,     /* of a burst: waited for longer than it lasted, and others that did stand for it */
    RSC_SAMPLE_KEPT,        /* a note, not an end: of a burst, has waited as long, and stands for dropped ones */
    RSC_SAMPLE_OUTCOMES,
};

/* Where a reference comes from: any value the caller likes. */
struct rsc_sample_place {
    uint64_t pc;
    uint32_t context;
    uint32_t thread; /* set by the sampler to the thread's identity, unless places_have_threads */
    uint8_t first, last; /* the bytes of the line that it used; in 64ths of a line of more than 64 bytes */
};

/* Sets these: an access of `size` bytes at `addr` uses them in a line of 1 << shift bytes. */
static inline void rsc_sample_place_bytes(struct rsc_sample_place *place, uint64_t addr, uint64_t size, uint64_t line,
                                          uint32_t shift) {
    const uint64_t start = line << shift, end = start + (1ull << shift) - 1, until = addr + (size ? size - 1 : 0);
    const uint32_t part = shift > 6 ? shift - 6 : 0;
    place->first = (uint8_t)((addr > start ? addr - start : 0) >> part);
    place->last = (uint8_t)(((until < end ? until : end) - start) >> part);
}

/* The first write by another stack to the line of a private sample. */
struct rsc_sample_taker {
    uint64_t pc;
    uint32_t context; /* of its place; parallel order keeps either pc or, with places_have_threads, context */
    uint32_t by, from; /* identities of the stacks: who wrote; and whose sample it is, which is always set */
    uint8_t first, last; /* as in the place */
    uint8_t is_known; /* 0: the line was not taken */
};

struct rsc_sample_record {
    uint32_t model; /* RSC_MODEL_... */
    uint32_t outcome;
    struct rsc_sample_place use, reuse; /* reuse: only for REUSED and INVALIDATED; pc 0 if not known */
    uint64_t line;
    uint64_t distance; /* lines and holes above */
    double variance;   /* of distance, from the sketch; 0: exact */
    uint64_t interval; /* references from use to reuse: the thread's own (private), of all threads (shared) */
    double weight;     /* references that the sample stands for: the period it was drawn with */
    struct rsc_sample_taker taker; /* of INVALIDATED, TAKEN and some LAST_TOUCH */
    uint32_t after_events; /* of samples beside a batch (batch_columns.h): how many of its events come before it */
    uint32_t burst;    /* number of its burst, from 1 (24 bits); 0: it was drawn on its own */
    uint32_t kept;     /* 1: it had an RSC_SAMPLE_KEPT */
};

/* Zero in any field selects the default. */
struct rsc_sampler_options {
    uint32_t models;      /* RSC_MODEL_... or both; default private */
    /*
     * 1: of shared samples only the outcome is wanted, for the footprint of all threads beside private samples: the shared
     * set holds no other lines, its records have no distance, and what others read need not be reported.
     */
    uint32_t only_footprint;
    uint32_t order;       /* enum rsc_sampler_order */
    double period;        /* mean references of a thread per sample, at least 1; 1000000 */
    uint64_t seed;
    uint32_t threads_most; /* at once; 64 */
    uint32_t exact_lines;  /* distance sets larger than this are sketched; 8192 */
    uint32_t samples_most; /* active at once, per stack; 1024. From 3/4 of them on the period doubles */
    uint32_t log_entries;  /* per thread, a power of two; 32768. None in sequential order */
    uint32_t prune_after;  /* samples that must have ended first; 100 */
    /*
     * When a sample begins, the oldest of all threads' (private) or of all (shared) is
     * pruned if it has waited for longer than this share of all, and at most the remaining
     * share has been pruned so (unless half of samples_most are active); 0.99; 1: never.
     */
    double prune_quantile;
    /*
     * Parallel: 1: of what others did since all logs were read, a reuse sees as many references of each as its own
     * thread made, or all if it waited meanwhile; 0: all. In a running program starting and ending a sample takes as long
     * as many references.
     */
    uint32_t in_step;
    /*
     * With in_step: a short reuse waits until the others have made as many references, those that run, up to this many
     * ticks of the processor's clock; 60000.
     */
    uint64_t await_ticks;
    /*
     * With in_step: the cores that the program may use. If they are at least twice its threads, or each thread is bound to
     * one of its own, all threads run at the same time, and what they do beside a short reuse is known from what they show
     * (sampler_beside.c). 0: not known.
     */
#define RSC_SAMPLER_CORES_BOUND 2u /* for two threads that are bound */
#define RSC_SAMPLER_CORES_LEAST 4u /* for two threads */
    uint32_t cores;
    uint32_t places_have_threads; /* 1: places name their thread (if several share a stack) */
    /*
     * From the period `burst_from` on, samples come in bursts: of each stretch of `burst` periods one part in up to `burst_parts`, drawn at random, has all
     * `burst` samples. From the period `drop_from` on, a sample that waits for longer than its burst lasted is kept if its
     * burst is the one of `burst_rounds` drawn for that, and dropped otherwise (rsc_sampler_judge()). burst 0 or 1: none.
     * Before, while the oldest sample has waited for two such stretches, bursts have `burst_short` samples, in stretches
     * as much shorter. 0: never.
     */
    uint32_t burst, burst_parts, burst_rounds, burst_short;
    double burst_from, drop_from;
    /* Takes a finished sample, on the thread that ended it: concurrently from several in parallel order. */
    void (*emit)(void *context, const struct rsc_sample_record *record);
    void *emit_context;
};

#define RSC_NO_THREAD UINT32_MAX

struct rsc_sampler;

/* Bytes for rsc_sampler_init(), and the part of them per thread of threads_most. */
size_t rsc_sampler_bytes(const struct rsc_sampler_options *options, size_t *per_thread);

/* `zeroed` is 64-byte aligned and stays owned by the caller. */
struct rsc_sampler *rsc_sampler_init(const struct rsc_sampler_options *options, void *zeroed);

/*
 * Begins a thread: returns its slot, or RSC_NO_THREAD if there are already
 * threads_most. Its random numbers depend only on the seed and `identity`. Any thread
 * may call this.
 */
uint32_t rsc_sampler_thread_begin(struct rsc_sampler *sampler, uint32_t identity);

/* Ends a thread: its private samples are last touches. Its slot may be reused. */
void rsc_sampler_thread_end(struct rsc_sampler *sampler, uint32_t slot);

/* Whether only the number of references matters: fast mode. One load. */
static inline int rsc_sampler_is_quiet(const struct rsc_sampler *sampler) {
    return !__atomic_load_n((const uint32_t *)sampler, __ATOMIC_RELAXED); /* its first field: active samples */
}

/* References of the thread up to and including the next sampled one: at least 1. */
uint64_t rsc_sampler_countdown(const struct rsc_sampler *sampler, uint32_t slot);

/* `count` references of the thread passed in fast mode: fewer than rsc_sampler_countdown(). */
void rsc_sampler_pass(struct rsc_sampler *sampler, uint32_t slot, uint64_t count);

/* One reference of the thread, in analysis mode or the sampled one. */
void rsc_sampler_use(struct rsc_sampler *sampler, uint32_t slot, uint64_t line, int is_write,
                     const struct rsc_sample_place *place);

/*
 * The thread has synchronised with others (barrier, join, lock): it sees their writes. For parallel order; in
 * sequential order it already has.
 */
void rsc_sampler_sync(struct rsc_sampler *sampler, uint32_t slot);

/*
 * The thread is about to wait, and makes no other call until it has unparked. Its samples
 * wait with it: threads whose logs it falls behind with read them for it, and prune its
 * oldest sample when that is due. Unparking waits for such a thread.
 */
void rsc_sampler_park(struct rsc_sampler *sampler, uint32_t slot);
void rsc_sampler_unpark(struct rsc_sampler *sampler, uint32_t slot);

/* Drops or keeps samples that have waited for longer than their burst: the thread's, shared ones, a parked thread's. */
void rsc_sampler_judge(struct rsc_sampler *sampler, uint32_t slot);

/* Changes the period, for samples drawn from now on. Any thread may call this. */
void rsc_sampler_set_period(struct rsc_sampler *sampler, double period);

/* Doubles the period, if it is still the one given: once, if several threads call it. Returns whether it did. */
int rsc_sampler_double_period(struct rsc_sampler *sampler, double period);

/* The weight of the thread's next sample: the period it was drawn with. */
double rsc_sampler_weight(const struct rsc_sampler *sampler, uint32_t slot);

/* The end: every thread ends, shared samples are last touches. No other call may be running. */
void rsc_sampler_finish(struct rsc_sampler *sampler);

/* Sums over all threads so far, of counts that each thread publishes as it runs. */
struct rsc_sampler_counts {
    uint64_t references, analysed; /* analysed: handed to rsc_sampler_use() while samples were active */
    uint64_t samples; /* begun */
    double period; /* now */
    uint64_t lost_logs; /* times that a private reader was a whole log behind, and missed part of it */
};
void rsc_sampler_get_counts(const struct rsc_sampler *sampler, struct rsc_sampler_counts *counts);

#endif
