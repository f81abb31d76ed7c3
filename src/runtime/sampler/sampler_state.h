/*
 * sampler_state.h - the sampler's internal state, for sampler.c (threads, samples),
 * sampler_logs.c (logs between threads in parallel order) and sampler_memory.c
 * (layout).
 *
 * Ownership in parallel order: fields marked "own" belong to the thread of the slot
 * (or, while it is parked, to whoever has made `parked` PARK_BUSY); fields marked
 * "atomic" to all threads; fields under `shared_lock` are marked so. In sequential
 * order one caller at a time owns everything.
 */
#ifndef RSC_RUNTIME_SAMPLER_SAMPLER_STATE_H
#define RSC_RUNTIME_SAMPLER_SAMPLER_STATE_H

#include "runtime/sampler/sampler.h"

#define RECENT_LINES 4096u     /* lines of the cache that keeps logs short; 64 KiB per thread */
#define KNOWN_LINES \
    1024u      /* lines whose use has no effect, known to a thread; 8 KiB, to stay in the first-level cache */
#define FILTER_COUNTERS 16384u /* counters that identify lines without a sample */
#define AGE_BINS 1024u         /* 16 per octave */

enum { PARK_NOT, PARK_WAITING, PARK_BUSY };

#define SHOWN_MOST 512u  /* references that a thread shows others (sampler_beside.c) */
#define TOUCHED_LOOK 4096u /* references of a thread after which it ends its samples that others touched */
#define BESIDE_MOST 512u /* references of a thread until a reuse for which others are looked at one by one */
#define BESIDE_FAR 65536u /* the same for all together */
#define MET_MOST 4096u
#define PACE_SHIFT 10

/* What a thread did last. Atomic, but for the last two, which are its own. */
struct shown {
    uint64_t count, line[SHOWN_MOST], pc[SHOWN_MOST];
    uint64_t pace;  /* ticks of the processor's clock per 1 << PACE_SHIFT of its references; 0: not known */
    uint64_t alive; /* when it last ran */
    struct {
        uint64_t line, reuse;
    } met[MET_MOST]; /* lines of others, and the number of the reuse that they were met in */
    uint64_t reuses;
};

/* The shared distance of a reuse of the thread whose sample began at its reference `since`; UINT64_MAX: none. */
struct rsc_beside {
    uint64_t since, distance, interval;
    int is_by_other; /* another thread used the line first: */
    struct rsc_sample_place by;
    /* A longer one: references of the others meanwhile; distance and interval are the thread's own. 0: not. */
    double others;
};

struct sampler_thread;

/* Facts of an active sample from its start. */
struct sample_facts {
    struct rsc_sample_place use;
    uint64_t born; /* references of all threads before it */
    uint64_t own; /* of its thread */
    uint64_t analysed, parks; /* references of all threads in analysis mode, and times that one waited, before it */
    const struct sampler_thread *by;
    double weight;
    struct rsc_sample_taker taker;
    uint64_t taken_when; /* in parallel order: `when` of the log entry */
    uint64_t patience; /* references of all threads after which it is kept or dropped; 0: never */
    uint32_t burst, kept;
    /* Shared: another thread used its line while its own one may yet have used it before (sampler_beside.c): that use. */
    int is_touched;
    struct rsc_sample_place toucher;
    struct rsc_active_distance touched;
    uint64_t touched_interval;
};

#define LOW_48 0xffffffffffffull

/*
 * A line reported to others: line, epoch of the shared set << 1 | written, its thread's references, what used it (pc
 * or context, first and last byte), and when: of several that took a line, the first counts. The last three have 48
 * bits; above them, `at` and `when` have the thread's identity, for a slot may have another one when it is read. All
 * atomic.
 */
struct log_entry {
    uint64_t line, told, at, place, when;
};

struct recent_line {
    uint64_t line, told; /* reported: `turn` << 1 | written */
};

struct sampler_thread {
    /* own */
    struct rsc_active_samples set;
    struct sample_facts *facts; /* [samples_most] */
    struct recent_line *recent; /* [RECENT_LINES] */
    uint64_t *known; /* [KNOWN_LINES]: line << 1 | written; see rsc_sampler_knows() */
    uint64_t known_turn; /* `turn` that they are valid for: the last one it noticed */
    uint64_t known_epoch; /* `shared_epoch` then: uses that it reports were in this epoch */
    uint64_t skipped_bits[2]; /* of reads and writes: rsc_sampler_find_needs() */
    uint64_t *cursor; /* [threads_most]: how far each slot's log was read */
    struct rsc_rng rng;
    uint64_t countdown;
    uint64_t left; /* of the stretch that the sample counted down to is drawn from, after it */
    uint64_t after; /* of the stretch of the burst, after it */
    uint64_t gap; /* of the burst: one sample in each stretch of this length */
    double drawn_with; /* the period of the countdown */
    uint32_t burst, burst_left; /* number of the burst, 0: none; samples to come in it after the next */
    uint32_t unjudged; /* the oldest sample neither kept nor dropped yet */
    uint32_t other; /* the thread whose samples it judges next, if that is parked */
    uint32_t identity;
    uint32_t alone; /* it has the lock, and no log is needed: rsc_sampler_hold_alone() */
    uint32_t is_busy; /* others stand by for it */
    uint32_t woke; /* it waited for others: what they did meanwhile is not yet in the shared set */
    struct rsc_beside beside; /* of its last reuse */
    struct shown *shown; /* NULL: nobody needs it */
    uint32_t laid_out; /* its arrays are placed: once the slot was first taken */
    /* atomic */
    uint32_t taken; /* the slot belongs to a thread */
    uint32_t parked; /* PARK_... */
    uint32_t reading; /* has private samples: others must report their writes to it */
    uint32_t asked; /* another thread asks it to prune its oldest sample */
    uint32_t
        skips; /* of `set`, as known to others: lines only in lower levels need not be reported, except sampled lines */
    uint32_t awaits; /* it waits for others to come as far (rsc_sampler_await()) */
    uint64_t stalled; /* `references` at which it was waited for in vain, and 1: it may not run */
    uint64_t oldest; /* when its oldest sample was born, and 1; 0: it has none */
    uint64_t oldest_weight; /* << 1 | kept */
    uint64_t due; /* references of all threads at which `unjudged` is judged */
    uint32_t bound_to; /* the only core that it may run on, from 1; 0: it may run on several, or it is not known */
    uint64_t touched_due; /* own references at which samples that others touched are ended; 0: there are none */
    uint64_t references, analysed, samples, lost_logs; /* written only by the owner */
    uint64_t log_head; /* entries written */
    struct log_entry *log; /* ring */
    /* written under shared_lock: how far it was read into the shared set, and its references when all logs last were */
    uint64_t shared_cursor, merged_at;
} __attribute__((aligned(64)));

/*
 * For pruning: how long samples waited for their end, in references of all threads. All fields are atomic; weights are
 * whole references.
 */
struct ages {
    uint64_t begun, ended; /* samples; pruned ones count as ended */
    uint64_t weight, pruned; /* weights of those ended, and of those pruned */
    uint64_t limit, limit_at; /* the last quantile found, and `ended` at that time */
    uint64_t bins[AGE_BINS]; /* weights */
};

struct rsc_sampler {
    uint32_t active; /* atomic; first: rsc_sampler_is_quiet(). Stacks with active samples */
    uint32_t readers; /* atomic: private stacks with active samples */
    uint32_t shared_active; /* atomic: shared samples */
    uint32_t slots; /* atomic: slots above were never taken */
    uint64_t turn; /* atomic: a change makes all `recent` caches stale */
    uint64_t period; /* atomic: the bits of a double */
    uint64_t backed_off; /* atomic: samples begun when the period was last doubled for want of room */
    uint64_t shared_epoch; /* atomic: renumberings << 32 | epoch of the shared set */
    uint64_t shared_due; /* atomic: references of all threads at which shared_unjudged is judged */
    uint64_t shared_oldest; /* atomic: when the oldest shared sample was born, and 1; 0: there is none */
    uint64_t bursts; /* atomic: begun */
    uint32_t awaited; /* atomic: threads that wait for others to come as far */
    uint64_t parks; /* atomic: times that a thread waited for others */
    uint32_t busy; /* atomic: threads in which a sample begins or ends, in a running program */
    uint32_t shared_skips; /* atomic: `skips` of the shared set */
    uint32_t shared_lock;
    struct rsc_sampler_options options;
    struct sampler_thread *threads;
    char *thread_arrays; /* of the first slot; those of the others follow */
    uint64_t hash_key; /* of all sets */
    uint64_t all_references; /* in sequential order */
    uint64_t told; /* atomic; unless in_step: entries written to logs so far */
    /* under shared_lock */
    struct rsc_active_samples shared;
    struct sample_facts *shared_facts;
    uint32_t shared_unjudged;
    /* atomic */
    uint16_t *filter; /* [FILTER_COUNTERS]: samples whose line maps there */
    struct ages *ages[2]; /* private, shared */
    uint64_t ended_references, ended_analysed, ended_samples, ended_lost; /* of ended threads */
};

static inline uint64_t load_relaxed(const uint64_t *field) { return __atomic_load_n(field, __ATOMIC_RELAXED); }
static inline void store_relaxed(uint64_t *field, uint64_t value) { __atomic_store_n(field, value, __ATOMIC_RELAXED); }
/* For counters that only their owner writes. */
static inline void add_own(uint64_t *field, uint64_t more) { store_relaxed(field, load_relaxed(field) + more); }

static inline int is_parallel(const struct rsc_sampler *sampler) {
    return sampler->options.order == RSC_ORDER_PARALLEL;
}
/* Whether there is a shared stack, of which distances are measured. */
static inline int has_shared_stack(const struct rsc_sampler *sampler) {
    return sampler->options.models & RSC_MODEL_SHARED && !sampler->options.only_footprint;
}
static inline uint32_t slots_in_use(const struct rsc_sampler *sampler) {
    return __atomic_load_n(&sampler->slots, __ATOMIC_ACQUIRE);
}
static inline uint32_t filter_of(uint64_t line) { return (uint32_t)(line * 0x9E3779B97F4A7C15ull >> 50); /* 14 bits */ }

/*
 * With more threads it is cheaper to report a write to the private stacks of others than to ask whether it matters to them.
 */
#define ASKED_MOST 8u

/*
 * Parallel order: bits of hashes that are all zero only in lines that some set needs for its sketches, of what the
 * thread reads and of what it writes; private stacks do not need what others only read. Needs grow only with `turn`.
 */
static inline uint64_t bits_skipped(uint32_t skips) { return (1ull << skips) - 1; }
static inline void rsc_sampler_find_needs(const struct rsc_sampler *sampler, struct sampler_thread *thread) {
    const uint32_t slots = slots_in_use(sampler);
    uint64_t reads = thread->set.active ? bits_skipped(thread->set.skips) : UINT64_MAX, writes;
    if (has_shared_stack(sampler) && __atomic_load_n(&sampler->shared_active, __ATOMIC_RELAXED))
        reads &= bits_skipped(__atomic_load_n(&sampler->shared_skips, __ATOMIC_RELAXED));
    writes = reads;
    if (__atomic_load_n(&sampler->readers, __ATOMIC_RELAXED) > __atomic_load_n(&thread->reading, __ATOMIC_RELAXED)) {
        if (slots > ASKED_MOST) writes = 0;
        for (uint32_t i = 0; writes && i < slots; i++) {
            const struct sampler_thread *other = &sampler->threads[i];
            if (other != thread && __atomic_load_n(&other->reading, __ATOMIC_RELAXED))
                writes &= bits_skipped(__atomic_load_n(&other->skips, __ATOMIC_RELAXED));
        }
    }
    thread->skipped_bits[0] = reads;
    thread->skipped_bits[1] = writes;
}

/* Whether rsc_sampler_use() would only change counts, because no set needs the line, and no sample is of it. */
static inline int rsc_sampler_ignores(const struct rsc_sampler *sampler, const struct sampler_thread *thread,
                                      uint64_t line, uint64_t hash, int is_write) {
    return ((hash & thread->skipped_bits[is_write]) != 0) &
           !__atomic_load_n(&sampler->filter[filter_of(line)], __ATOMIC_RELAXED);
}

/*
 * Parallel order: lines that the thread has used, or written, since the last time a sample began
 * or a line was taken anywhere. All interested threads have seen them, so using them again only
 * changes counts: rsc_sampler_pass_known() instead of rsc_sampler_use(). Anything that invalidates
 * this changes `turn`; between checks (rsc_sampler_check_known()) samples that others begin are
 * seen late, as everything is in this order.
 */
static inline uint64_t *known_place(const struct sampler_thread *thread, uint64_t line) {
    return &thread->known[(line ^ line >> 10) % KNOWN_LINES];
}
static inline int rsc_sampler_knows(const struct sampler_thread *thread, uint64_t line, int is_write) {
    return (*known_place(thread, line) | !is_write) == (line << 1 | 1);
}
static inline int rsc_sampler_has_news(const struct rsc_sampler *sampler, const struct sampler_thread *thread) {
    return __builtin_expect(load_relaxed(&sampler->turn) != thread->known_turn, 0);
}
/* All uses so far are reported: what follows comes after samples that began meanwhile. */
static inline void rsc_sampler_check_known(const struct rsc_sampler *sampler, struct sampler_thread *thread) {
    uint64_t turn = load_relaxed(&sampler->turn);
    if (__builtin_expect(turn == thread->known_turn, 1)) return;
    __builtin_memset(thread->known, 0xff, KNOWN_LINES * sizeof *thread->known); /* no line has that number */
    rsc_sampler_find_needs(sampler, thread);
    thread->known_turn = turn;
    thread->known_epoch = load_relaxed(&sampler->shared_epoch);
}
/* The line is used now, or before anything else reads the thread's state. */
static inline void rsc_sampler_note_known(const struct sampler_thread *thread, uint64_t line, int is_write) {
    *known_place(thread, line) = line << 1 | (uint64_t)is_write;
}
/* `count` uses of known lines: fewer than the countdown. */
static inline void rsc_sampler_pass_known(struct sampler_thread *thread, uint64_t count) {
    thread->countdown -= count;
    add_own(&thread->references, count);
    add_own(&thread->analysed, count);
}

/* Whether a write of the line matters to the private stack of another thread. */
static inline int rsc_sampler_is_for_others(const struct rsc_sampler *sampler, const struct sampler_thread *thread,
                                            uint64_t line, uint64_t hash) {
    const uint32_t slots = slots_in_use(sampler), level = rsc_active_level_of(hash);
    if (__atomic_load_n(&sampler->readers, __ATOMIC_RELAXED) <= __atomic_load_n(&thread->reading, __ATOMIC_RELAXED))
        return 0;
    if (slots > ASKED_MOST || __atomic_load_n(&sampler->filter[filter_of(line)], __ATOMIC_RELAXED)) return 1;
    for (uint32_t i = 0; i < slots; i++) {
        const struct sampler_thread *other = &sampler->threads[i];
        if (other != thread && __atomic_load_n(&other->reading, __ATOMIC_RELAXED) &&
            level >= __atomic_load_n(&other->skips, __ATOMIC_RELAXED))
            return 1;
    }
    return 0;
}

/* References of all threads so far. */
static inline uint64_t everybodys_references(const struct rsc_sampler *sampler) {
    if (!is_parallel(sampler)) return sampler->all_references;
    uint64_t sum = load_relaxed(&sampler->ended_references);
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) sum += load_relaxed(&sampler->threads[i].references);
    return sum;
}

/* Those in analysis mode. */
static inline uint64_t everybodys_analysed(const struct rsc_sampler *sampler) {
    uint64_t sum = load_relaxed(&sampler->ended_analysed);
    for (uint32_t i = 0; i < slots_in_use(sampler); i++) sum += load_relaxed(&sampler->threads[i].analysed);
    return sum;
}

/* sampler_ends.c */

/* Whether to prune the oldest sample, as another one begins at reference `now`. */
int rsc_sampler_is_due(const struct rsc_sampler *sampler, struct ages *all, uint64_t born, double weight, int kept,
                       uint64_t now, int crowded);

/* Passes on the record of a sample. */
void rsc_sampler_emit(struct rsc_sampler *sampler, uint32_t model, const struct rsc_active_samples *set,
                      uint32_t sample, const struct sample_facts *facts, uint32_t outcome, uint64_t interval,
                      const struct rsc_sample_place *reuse);

/* Ends a sample and passes its record on; reuse NULL if it was not reused, or not by the calling thread. */
void rsc_sampler_end_private(struct rsc_sampler *sampler, struct sampler_thread *thread, uint32_t sample,
                             uint32_t outcome, const struct rsc_sample_place *reuse);
void rsc_sampler_end_shared(struct rsc_sampler *sampler, uint32_t sample, uint32_t outcome,
                            const struct rsc_sample_place *reuse);

/* The same for a shared one, by a reuse in its own thread that looked at what others did beside it. */
void rsc_sampler_end_beside(struct rsc_sampler *sampler, uint32_t sample, const struct rsc_beside *beside,
                            const struct rsc_sample_place *reuse);

/* Ends the thread's shared samples that others touched, if it can no longer have used the line first; or all. Locked. */
void rsc_sampler_end_touched(struct rsc_sampler *sampler, struct sampler_thread *thread, int all);

/*
 * `thread` used the line of a shared sample; at `place`, if that is known. Ends the sample, or leaves that to its own
 * thread. Returns whether it ended.
 */
int rsc_sampler_touch_shared(struct rsc_sampler *sampler, uint32_t sample, const struct sampler_thread *thread,
                             const struct rsc_sample_place *place);

/* Publish which lines the thread's set does not need, its oldest sample, and when the oldest undecided one must be judged. */
void rsc_sampler_tell_skips(struct sampler_thread *thread);
void rsc_sampler_tell_oldest(struct sampler_thread *thread);
void rsc_sampler_tell_shared_oldest(struct rsc_sampler *sampler);
void rsc_sampler_tell_due(const struct rsc_active_samples *set, const struct sample_facts *facts, uint32_t *unjudged,
                          uint64_t *due);

/* sampler_memory.c: places the arrays of a slot that is taken for the first time. */
void rsc_sampler_lay_out_slot(struct rsc_sampler *sampler, struct sampler_thread *thread);

/* The time of the processor, of which all cores have the same. */
static inline uint64_t rsc_sampler_ticks(void) {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#else
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#endif
}

/* sampler_beside.c, in a running program with more than one thread */

/* Whether all threads that do not wait are bound to a core each. */
int rsc_sampler_are_apart(const struct rsc_sampler *sampler);

/* Whether no thread waits for a core: there are enough for all and the tool too, or each is bound to one. */
static inline int rsc_sampler_all_run(const struct rsc_sampler *sampler) {
    return 2 * slots_in_use(sampler) <= sampler->options.cores || rsc_sampler_are_apart(sampler);
}

/* The thread runs. */
void rsc_sampler_is_alive(struct sampler_thread *thread);

/* One of its references in a row, from `at` 0 on: returns the next `at`. And how long it took to make some. */
uint32_t rsc_sampler_show(struct sampler_thread *thread, uint32_t at, uint64_t line, uint64_t pc);
void rsc_sampler_keep_pace(struct sampler_thread *thread, uint64_t references, uint64_t ticks);

/* A private sample is about to end by a reuse: sets thread->beside. */
void rsc_sampler_look_beside(struct rsc_sampler *sampler, struct sampler_thread *thread, uint32_t sample);

/* Whether the thread will itself know of a reuse of its sample, begun at its reference `since`: it is that young. */
int rsc_sampler_settles_itself(const struct rsc_sampler *sampler, const struct sampler_thread *thread, uint64_t since);

/* sampler_logs.c */
void rsc_sampler_lock(struct rsc_sampler *sampler);
/*
 * Waits while a sample begins or ends in another thread, unless that one waits for this one. It takes as long as tens
 * of other references; threads that continued meanwhile would seem to use that much more between the two.
 */
void rsc_sampler_wait_for_busy(const struct rsc_sampler *sampler);
static inline int rsc_sampler_is_held_up(const struct rsc_sampler *sampler) {
    return __atomic_load_n(&sampler->busy, __ATOMIC_RELAXED) && !__atomic_load_n(&sampler->awaited, __ATOMIC_RELAXED);
}
static inline void rsc_sampler_stand_by(const struct rsc_sampler *sampler) {
    if (__builtin_expect(rsc_sampler_is_held_up(sampler), 0)) rsc_sampler_wait_for_busy(sampler);
}
void rsc_sampler_unlock(struct rsc_sampler *sampler);

/*
 * Parallel order, while no other thread has been seen: takes the lock, and until rsc_sampler_let_go() uses go to the sets at once
 * instead of to a log that only their own thread would read. Not for long: a thread that begins may have to wait.
 */
void rsc_sampler_hold_alone(struct rsc_sampler *sampler, struct sampler_thread *thread);
void rsc_sampler_let_go(struct rsc_sampler *sampler, struct sampler_thread *thread);

/*
 * A use that begins no sample, by a thread that is alone: the caller counts it. Returns 0 if it may end a sample: then
 * rsc_sampler_use() does all.
 */
static inline int rsc_sampler_use_alone(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line,
                                        uint64_t hash) {
    struct rsc_active_samples *own = &thread->set, *shared = &sampler->shared;
    if (!own->active && !shared->active) return 0;
    if (own->active && rsc_active_use_hashed(own, line, hash, own->now) != RSC_NO_SAMPLE) return 0;
    if (!shared->active) return 1;
    if (!has_shared_stack(sampler)) return !shared->marks[rsc_active_mark(hash)];
    return rsc_active_use_hashed(shared, line, hash, shared->now) == RSC_NO_SAMPLE;
}

/*
 * In a running program: waits until each other thread has made `made` references since all logs were read, but not
 * long: what a short reuse sees of them is then what they do meanwhile, not what they happened to have reported.
 * Those that wait, or may not run, are not waited for. Not under shared_lock.
 */
void rsc_sampler_await(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t made);

/* Whether a thread waits for this one: it reports what it has. */
static inline int rsc_sampler_is_awaited(const struct rsc_sampler *sampler) {
    return __builtin_expect(__atomic_load_n(&sampler->awaited, __ATOMIC_RELAXED) != 0, 0);
}

/* Reports a use to others, if any is interested and has not seen it. */
void rsc_sampler_tell(struct rsc_sampler *sampler, struct sampler_thread *thread, uint64_t line, int is_write,
                      const struct rsc_sample_place *place);

/* Removes from the thread's set what others wrote since the last call. */
void rsc_sampler_read_logs(struct rsc_sampler *sampler, struct sampler_thread *thread);

/* Skips their writes so far: before a first private sample. */
void rsc_sampler_skip_logs(struct rsc_sampler *sampler, struct sampler_thread *thread);

/* Reads a thread's log into the shared set. Under shared_lock. */
void rsc_sampler_merge_log(struct rsc_sampler *sampler, struct sampler_thread *thread);
/* Reads all logs; others' only as far as `in_step` says, unless a sample begins. */
void rsc_sampler_merge_in_step(struct rsc_sampler *sampler, struct sampler_thread *thread, int begins);

/* Call after the shared set's epoch changed. Under shared_lock. */
void rsc_sampler_publish_epoch(struct rsc_sampler *sampler);

#endif
