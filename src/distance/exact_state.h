/*
 * exact_state.h - exact reuse distances of a stream of lines, one stack.
 *
 * Per distinct line the table holds the slot of its last use; the rank bitmap
 * has one set bit per line at that slot. A reference to a line last used at slot
 * s has
 *     RD = set bits after s,
 * then the bit moves to the top. When the bitmap is full, *compaction* renumbers
 * the lines 0, 1, 2... in order of last use, and appending goes on behind them.
 *
 * RI needs the time (reference number) of the last use. Places appended since
 * the last compaction run in step with time, so theirs follows from the slot;
 * only lines not used since then need one remembered (`old_time`, by place).
 *
 * Memory grows with distinct lines only: the table (16 bytes an entry, 5/16 to
 * 5/8 full), 8 bytes a line of old_time, and 1.2 to 1.8 bytes a line of bitmap.
 *
 * A use may carry a 32-bit *tag* (who made it, see attribution.h). Slots fit 32
 * bits, so the tag of a line's last use shares the table entry with its slot and
 * costs no memory.
 */
#ifndef RSC_DISTANCE_EXACT_STATE_H
#define RSC_DISTANCE_EXACT_STATE_H

#include <stdint.h>

#include <reusescope/error.h>

#include "base/cpu.h"
#include "base/rank_bitmap.h"
#include "base/u64_table.h"

/* RD of a first use. RDs are less than the number of lines, which fits 32 bits. */
#define RSC_RD_COLD UINT32_MAX

struct rsc_exact {
    struct rsc_u64_table table; /* line -> slot of last use + 1, and the tag of that use << 32 */
    struct rsc_rank_bitmap rank;
    uint64_t now;           /* references seen */
    uint64_t compacted;     /* lines there were at the last compaction: places below are old */
    uint64_t time_of_first; /* time of the first place after those */
    uint64_t *old_time;     /* [place below compacted]: time of that use */
    uint64_t old_time_bytes;
    uint64_t last_line; /* the reference just before, if now > 0 */
    struct rsc_u64_entry *last_entry;
    uint64_t places_least;
    uint64_t peak_bytes; /* most memory held at once, growth included */
    int (*run)(struct rsc_exact *, const uint64_t *, uint32_t, uint32_t *, uint64_t *);
    int (*run_tagged)(struct rsc_exact *, const uint64_t *, const uint32_t *, uint32_t, uint32_t *, uint64_t *,
                      uint32_t *);
};

/*
 * `places_least` is the least size of the bitmap, for tests that want compaction
 * often; 0 is the default. Returns 0 or RSC_ENOMEM. A zeroed struct may always be
 * freed.
 */
int rsc_exact_init(struct rsc_exact *exact, enum rsc_simd simd, uint64_t places_least);
void rsc_exact_free(struct rsc_exact *exact);

/*
 * Takes `count` lines in order and writes for each its RD (RSC_RD_COLD for a
 * first use) and RI (0 for a first use). Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
static inline int rsc_exact_run(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, uint32_t *rd,
                                uint64_t *ri) {
    return exact->run(exact, lines, count, rd, ri);
}

/*
 * The same, for uses with tags: last_tag[i] is the tag of the use before (0 for a
 * first use, and after a use without tag).
 */
static inline int rsc_exact_run_tagged(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags,
                                       uint32_t count, uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return exact->run_tagged(exact, lines, tags, count, rd, ri, last_tag);
}

/* The time (reference number) of the use at `slot`. */
static inline uint64_t rsc_exact_time(const struct rsc_exact *exact, uint32_t slot) {
    uint64_t place = rsc_rank_place(slot);
    if (place >= exact->compacted) return exact->time_of_first + (place - exact->compacted);
    return exact->old_time[place];
}

/* Distinct lines so far. */
static inline uint64_t rsc_exact_distinct(const struct rsc_exact *exact) { return exact->table.used; }

/* Renumbers the lines; called by the kernels when the bitmap is full. */
int rsc_exact_compact(struct rsc_exact *exact);
/* Makes room in the table; the kernels' other slow path. */
int rsc_exact_grow(struct rsc_exact *exact);

/* The kernel, compiled for each width. */
int rsc_exact_run_plain(struct rsc_exact *, const uint64_t *, uint32_t, uint32_t *, uint64_t *);
int rsc_exact_run_avx2(struct rsc_exact *, const uint64_t *, uint32_t, uint32_t *, uint64_t *);
int rsc_exact_run_avx512(struct rsc_exact *, const uint64_t *, uint32_t, uint32_t *, uint64_t *);
int rsc_exact_run_tagged_plain(struct rsc_exact *, const uint64_t *, const uint32_t *, uint32_t, uint32_t *,
                               uint64_t *, uint32_t *);
int rsc_exact_run_tagged_avx2(struct rsc_exact *, const uint64_t *, const uint32_t *, uint32_t, uint32_t *,
                              uint64_t *, uint32_t *);
int rsc_exact_run_tagged_avx512(struct rsc_exact *, const uint64_t *, const uint32_t *, uint32_t, uint32_t *,
                                uint64_t *, uint32_t *);

#endif
