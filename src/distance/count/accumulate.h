/*
 * accumulate.h - from distances to a profile: shared by every engine that yields one
 * RD and RI per reference.
 *
 * Each reference updates only two histogram counters. Threads and phases are
 * differences of the histogram between two times: a phase, or a run of one thread, is
 * counted by comparing with a copy taken when it began. So a trace of one thread pays
 * nothing for either. Where threads alternate quickly, distances are also counted one
 * by one in their rows. The same is done per kind of access from the second kind on.
 */
#ifndef RSC_DISTANCE_COUNT_ACCUMULATE_H
#define RSC_DISTANCE_COUNT_ACCUMULATE_H

#include <reusescope/trace.h>

#include "base/cpu.h"
#include "profile/profile_model.h"

/* Values for references without a distance: a first use (as RSC_RD_COLD), and a line that another stack took away. */
#define RSC_RD_INVALIDATED (UINT32_MAX - 1)

struct rsc_thread_counts {
    uint64_t references, cold, invalidated;
    uint64_t pid, tid;
    struct rsc_histogram rd; /* RSC_BINS_COARSE; not allocated before the second thread */
};

/* Reads, writes, fetches; and unnamed kinds, which get no row. */
#define RSC_KIND_SLOTS 4u

struct rsc_kind_counts {
    uint64_t cold, invalidated; /* its references are these plus the distances */
    struct rsc_histogram rd; /* RSC_BINS_FINE; not allocated before the second kind, nor for kinds not seen */
};

struct rsc_phase_counts {
    uint64_t first, references, cold, invalidated;
    struct rsc_histogram rd; /* RSC_BINS_COARSE */
};

struct rsc_accumulator;
/* Counts distances, intervals and references without; by kind if `who` is not NULL. accumulate_kernel.c */
typedef void rsc_accumulate_values(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd,
                                   const uint64_t *ri, uint32_t count);
RSC_WIDE_DECLARE(rsc_accumulate_values, rsc_accumulate_values);

struct rsc_accumulator {
    rsc_accumulate_values *count_values;
    struct rsc_histogram rd, ri; /* RSC_BINS_FINE */
    uint64_t accesses, references, cold, invalidated;
    uint64_t rd_cap, rd_capped;

    uint32_t bins_per_octave;
    struct rsc_histogram rd_binned, ri_binned;

    struct rsc_thread_counts *threads; /* by thread number */
    uint32_t thread_count, thread_room;
    uint64_t threads_seen; /* highest number seen, plus 1 */

    uint32_t kinds_seen; /* bit k: kind k; with a single bit set, nothing is counted by kind */
    struct rsc_kind_counts kinds[RSC_KIND_SLOTS];

    /* Phases are kept finer than requested and joined at the end: `phases_asked`
     * times 16 to 32 of them, doubling in length as the trace grows. */
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
int rsc_accumulator_copy(struct rsc_accumulator *copy, const struct rsc_accumulator *sum); /* 0 or RSC_ENOMEM */

/* Makes rows for new threads and kinds of a batch. Returns 0 or RSC_ENOMEM. */
int rsc_accumulator_see_threads(struct rsc_accumulator *sum, const struct rsc_batch *batch);

/*
 * Counts `count` references: rd[i] (UINT32_MAX: cold; or RSC_RD_INVALIDATED) and ri[i] (`ri` may be NULL:
 * not wanted), made by access from[i] of the batch. Returns 0 or RSC_ENOMEM.
 */
int rsc_accumulate(struct rsc_accumulator *sum, const struct rsc_batch *batch, const uint32_t *from, const uint32_t *rd,
                   const uint64_t *ri, uint32_t count);

/* Counts only intervals, those that are not 0, of references whose distances are counted separately. */
void rsc_accumulate_intervals(struct rsc_accumulator *sum, const uint64_t *ri, uint32_t count);

/*
 * For engines that cut a trace in time: each worker has its own accumulator, without
 * phases (see phase_grid.h), and counts the first use of a line in its part as cold.
 * If the line was used before, this is corrected later. At the end all are added up,
 * in any order.
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
 * Makes rows for `threads` threads in all, and for the kinds whose bits are in
 * `kinds` if that makes more than one. Earlier counts are assigned to thread 0 and to
 * the only kind seen before. Returns 0 or RSC_ENOMEM.
 */
int rsc_accumulator_need_rows(struct rsc_accumulator *sum, uint64_t threads, uint32_t kinds);

/* Counts references made by who[i]. `who` may be NULL if there are rows for only one thread and kind. */
void rsc_accumulate_part(struct rsc_accumulator *sum, const uint32_t *who, const uint32_t *rd, const uint64_t *ri,
                         uint32_t count);

/* Adds the counts of `from`, which has no phases. Returns 0 or RSC_ENOMEM. */
int rsc_accumulator_merge(struct rsc_accumulator *into, const struct rsc_accumulator *from);

/* Warns of threads that have no rows. */
void rsc_accumulator_warn(const struct rsc_accumulator *sum, const struct rsc_log *log);

/* Moves everything into a new profile, not sealed; the engine fills `made`. NULL: out of memory. */
struct rsc_profile *rsc_accumulator_profile(struct rsc_accumulator *sum, uint64_t distinct);

#endif
