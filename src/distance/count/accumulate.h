/*
 * accumulate.h - from distances to a profile: what every engine that yields one
 * RD and RI per reference has in common.
 *
 * Per reference only two histogram counters are touched. Threads and phases are
 * the difference of the histogram between two moments: a phase is cut, and a
 * run of one thread closed, by comparing with a copy taken when it began. A trace
 * of one thread so pays nothing for either. Where threads alternate quickly the
 * distances are also counted one by one into their rows, and so they are by kind
 * of access from the second kind on.
 */
#ifndef RSC_DISTANCE_COUNT_ACCUMULATE_H
#define RSC_DISTANCE_COUNT_ACCUMULATE_H

#include <reusescope/trace.h>

#include "profile/profile_model.h"

/* Threads beyond these are counted but get no row of their own. */
#define RSC_THREAD_ROWS_MAX 4096u

/* What stands for a distance where there is none: a first use (as RSC_RD_COLD), and a line that another stack took away. */
#define RSC_RD_INVALIDATED (UINT32_MAX - 1)

struct rsc_thread_counts {
    uint64_t references, cold, invalidated;
    uint64_t pid, tid;
    struct rsc_histogram rd; /* RSC_BINS_COARSE; not allocated before the second thread */
};

/* Reads, writes, fetches; and kinds that have no name, which get no row. */
#define RSC_KIND_SLOTS 4u

struct rsc_kind_counts {
    uint64_t cold, invalidated; /* its references are these and the distances */
    struct rsc_histogram rd; /* RSC_BINS_FINE; not allocated before the second kind, nor for kinds not seen */
};

struct rsc_phase_counts {
    uint64_t first, references, cold, invalidated;
    struct rsc_histogram rd; /* RSC_BINS_COARSE */
};

struct rsc_accumulator {
    struct rsc_histogram rd, ri; /* RSC_BINS_FINE */
    uint64_t accesses, references, cold, invalidated;
    uint64_t rd_cap, rd_capped;

    uint32_t bins_per_octave;
    struct rsc_histogram rd_binned, ri_binned;

    struct rsc_thread_counts *threads; /* by thread number */
    uint32_t thread_count, thread_room;
    uint64_t threads_seen; /* highest number seen, plus 1 */

    uint32_t kinds_seen; /* bit k: kind k; while it is just one bit, nothing is counted by kind */
    struct rsc_kind_counts kinds[RSC_KIND_SLOTS];

    /* Phases are kept finer than asked for and joined at the end: `phases_asked`
     * times 16 to 32 of them, doubling in length as the trace goes on. */
    uint32_t phases_asked;
    struct rsc_phase_counts *phases;
    uint32_t phase_count, phase_room;
    uint64_t phase_length; /* references in each complete one */
    struct rsc_histogram phase_start; /* rd when the current one began */
    uint64_t phase_start_references, phase_start_cold, phase_start_capped, phase_start_invalidated;
};

/* Returns 0 or RSC_ENOMEM. A zeroed accumulator may always be freed. */
int rsc_accumulator_init(struct rsc_accumulator *sum, uint32_t phases, uint64_t rd_cap, uint32_t bins_per_octave);
void rsc_accumulator_free(struct rsc_accumulator *sum);

/* Makes rows for the threads and kinds of a batch that are new. Returns 0 or RSC_ENOMEM. */
int rsc_accumulator_see_threads(struct rsc_accumulator *sum, const struct rsc_batch *batch);

/*
 * Counts `count` references: rd[i] (UINT32_MAX: cold; or RSC_RD_INVALIDATED) and ri[i] (`ri` may be NULL:
 * not wanted), made by access from[i] of the batch. Returns 0 or RSC_ENOMEM.
 */
int rsc_accumulate(struct rsc_accumulator *sum, const struct rsc_batch *batch, const uint32_t *from, const uint32_t *rd,
                   const uint64_t *ri, uint32_t count);

/* Counts intervals alone, those that are not 0, of references whose distances were or will be counted without. */
void rsc_accumulate_intervals(struct rsc_accumulator *sum, const uint64_t *ri, uint32_t count);

/*
 * For engines that cut a trace in time: each worker has an accumulator of its own,
 * without phases (see phase_grid.h), and counts the first use of a line in its
 * part as cold. Where the line turns out to have been used before, that is put
 * right. In the end all are added up, in any order.
 */

/* Who made a reference: the upper half of its access's meta, kind and thread. */
static inline uint32_t rsc_meta_who(uint64_t meta) { return (uint32_t)(meta >> 32); }
static inline uint32_t rsc_who_thread(uint32_t who) { return who >> 8; }
static inline uint32_t rsc_who_kind_slot(uint32_t who) {
    uint32_t kind = who & 0xff;
    return kind < RSC_KIND_SLOTS ? kind : RSC_KIND_SLOTS - 1;
}

/* Whether anything is counted by kind. */
static inline int rsc_accumulator_by_kind(const struct rsc_accumulator *sum) {
    return (sum->kinds_seen & (sum->kinds_seen - 1)) != 0;
}

/*
 * Rows for `threads` threads in all, and for the kinds whose bits are in `kinds` if
 * that makes more than one. What was counted before is taken for thread 0's, and for
 * that of the one kind seen before. Returns 0 or RSC_ENOMEM.
 */
int rsc_accumulator_need_rows(struct rsc_accumulator *sum, uint64_t threads, uint32_t kinds);

/* Counts references made by who[i], which may be NULL where there are no rows for more than one thread or kind. */
void rsc_accumulate_part(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd, const uint64_t *ri,
                         uint32_t count);

/* Adds the counts of `from`, which has no phases. Returns 0 or RSC_ENOMEM. */
int rsc_accumulator_merge(struct rsc_accumulator *into, const struct rsc_accumulator *from);

/* Moves everything into a new profile, not sealed: `made` is the engine's to fill. NULL: out of memory. */
struct rsc_profile *rsc_accumulator_profile(struct rsc_accumulator *sum, uint64_t distinct);

#endif
