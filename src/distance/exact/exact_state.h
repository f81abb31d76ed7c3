/*
 * exact_state.h - exact reuse distances of a stream of lines, one LRU stack.
 *
 * The stack has two parts. Its top, the few lines used last, is the *recent filter*
 * (recent.h), searched by vector compares without touching memory. The rest is a
 * bitmap over time (rank_bitmap.h) with one set bit per line, at the place of its
 * last use. A reference to a line last used at slot s has
 *     RD = lines in the filter + set bits after s.
 * The line then enters the filter, and the filter's least recently used line moves to
 * the bitmap. All lines in the filter were used after all in the bitmap, so that bit
 * goes after every other. The size of the filter does not change results: where it
 * does not pay it is emptied, and blocks are processed in steps (exact_steps.h).
 *
 * The line map has one unit per line: slot of its last use + 1, or RSC_UNIT_OTHER
 * while the line is in the filter.
 *
 * Places advance with time: the place of a use follows from its time and vice versa,
 * which gives RI. When the places are used up, *compaction* renumbers the lines 0, 1,
 * 2... in order of last use, and time continues after them; times are only stored for
 * lines not used since (`old_time`, by place).
 *
 * Memory grows with distinct lines only: 4 bytes of units and 1 of entries per line
 * where lines are neighbours, at most 22 where none are, 1.2 to 1.8 of bitmap, and 8
 * of old_time (16 during compaction) unless RI is left out.
 *
 * A use may carry a 32-bit *tag* (who made it, see attribution.h): 4 more bytes per
 * line from the first tagged run on.
 */
#ifndef RSC_DISTANCE_EXACT_EXACT_STATE_H
#define RSC_DISTANCE_EXACT_EXACT_STATE_H

#include <stdint.h>

#include <reusescope/error.h>

#include "base/cpu.h"
#include "base/line_map.h"
#include "base/rank_bitmap.h"

/* RD of a first use. RDs are less than the number of lines, which fits 32 bits. */
#define RSC_RD_COLD UINT32_MAX

/* Lines are processed in blocks of this size; `run` cuts longer arrays itself. */
#define RSC_EXACT_BLOCK 2048u
#define RSC_RECENT_LANES 32u

/* The top of the stack. A line stays in its lane; `order` has its age. */
struct rsc_recent {
    uint64_t line[RSC_RECENT_LANES];
    uint16_t order[RSC_RECENT_LANES]; /* rises with last use; 0: lane not in use */
    uint64_t time[RSC_RECENT_LANES];               /* of last use */
    uint32_t tag[RSC_RECENT_LANES];
    uint32_t unit[RSC_RECENT_LANES];
    uint32_t count; /* lanes in use, from the first */
    uint32_t last;  /* the lane used last */
    int one;       /* holds no more than one line */
    uint32_t rest; /* then: blocks until more are tried again */
};

/* How far ahead references are looked up, in steps (exact_kernel.c). */
#define RSC_EXACT_AHEAD 24u
#define RSC_EXACT_GROUP 32u /* of exact_steps.h */

/* References of a block that the filter did not answer. */
struct rsc_unanswered {
    uint64_t line[RSC_EXACT_BLOCK + RSC_EXACT_AHEAD]; /* the last one repeated at the end, for lookups past it */
    uint64_t left_time[RSC_EXACT_BLOCK]; /* last use of the line that it pushed out of the filter */
    uint32_t left_tag[RSC_EXACT_BLOCK];
    uint32_t index[RSC_EXACT_BLOCK + 1]; /* in the block */
    /* Looked up ahead: first its bucket, then its unit, 0 if not known yet. exact_steps.h has its own steps. */
    uint32_t unit[RSC_EXACT_BLOCK + RSC_EXACT_GROUP];
    uint8_t lane[RSC_EXACT_BLOCK]; /* its lane in the filter */
    uint8_t above[RSC_EXACT_BLOCK]; /* lines in the filter when it came */
    uint8_t leaves[RSC_EXACT_BLOCK]; /* whether it pushed a line out */
    uint32_t count;
};

struct rsc_exact;

/* exact_kernel.c, compiled per width. */
struct rsc_exact_kernel {
    int (*run)(struct rsc_exact *, const uint64_t *lines, const uint32_t *tags, uint32_t count, uint32_t *rd,
               uint64_t *ri, uint32_t *last_tag);
    /* Every line's new slot, and the time of its use by new place. */
    void (*renumber)(struct rsc_exact *, uint64_t *new_time);
    /*
     * `run` in two halves, for one thread each. in_steps, called once per block of at most RSC_EXACT_BLOCK, returns
     * whether the block can be split; otherwise it needs `run`, after everything before is answered. exchange gives the
     * slots of the lines' last uses (room for RSC_EXACT_GROUP more) after rsc_exact_make_room(); answer turns these
     * into distances, and `intervals`, which either thread may call, into intervals. `time` is the number of
     * references before the block.
     */
    int (*in_steps)(struct rsc_exact *, const uint64_t *lines, uint32_t count);
    int (*exchange)(struct rsc_exact *, const uint64_t *lines, uint32_t count, uint32_t *slots);
    void (*answer)(struct rsc_exact *, const uint32_t *slots, uint32_t count, uint64_t time, uint32_t *rd);
    void (*intervals)(const struct rsc_exact *, const uint32_t *slots, uint32_t count, uint64_t time, uint64_t *ri);
};
extern RSC_WIDE_DECLARE(const struct rsc_exact_kernel, rsc_exact);

struct rsc_exact {
    struct rsc_line_map map;
    struct rsc_rank_bitmap rank;
    uint64_t now; /* references seen */
    uint64_t distinct; /* lines held */
    uint32_t in_stack; /* of exact_steps.h: the same, as of the reference answered next */
    uint64_t compacted; /* lines at the last compaction: lower places are old */
    uint32_t compacted_slot; /* the same as a slot */
    uint64_t time_of_place; /* time minus place, of later uses */
    uint64_t places; /* rsc_rank_places() of the bitmap */
    uint64_t *old_time; /* [place below compacted]: time of that use; NULL without RI */
    uint64_t old_time_bytes;
    int no_ri;
    uint64_t places_least;
    uint64_t peak_bytes; /* most memory held at once, growth included */
    const struct rsc_exact_kernel *kernel;
    struct rsc_recent recent;
    struct rsc_unanswered unanswered;
};

/*
 * `places_least` is the least size of the bitmap, for tests that need frequent
 * compaction; 0 is the default. Returns 0 or RSC_ENOMEM. A zeroed struct may always
 * be freed.
 */
int rsc_exact_init(struct rsc_exact *exact, enum rsc_simd simd, uint64_t places_least);
void rsc_exact_free(struct rsc_exact *exact);

/* Turns RI off: `ri` may be NULL from then on. Only before the first run. */
void rsc_exact_leave_out_ri(struct rsc_exact *exact);

/*
 * Processes `count` lines in order and writes for each its RD (RSC_RD_COLD for a
 * first use) and RI (0 for a first use). Returns 0, RSC_ENOMEM or RSC_ELIMIT.
 */
int rsc_exact_run(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, uint32_t *rd, uint64_t *ri);

/*
 * The same, for uses with tags: last_tag[i] is the tag of the use before (0 for a
 * first use, and after a use without tag). The first run decides: all runs of a
 * state are tagged, or none.
 */
int rsc_exact_run_tagged(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags, uint32_t count,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag);

/* The time (reference number) of the use at `slot`. */
static inline uint64_t rsc_exact_time(const struct rsc_exact *exact, uint32_t slot) {
    if (slot >= exact->compacted_slot) return exact->time_of_place + rsc_rank_place(slot);
    return exact->old_time ? exact->old_time[rsc_rank_place(slot)] : 0;
}

/* Distinct lines so far. */
static inline uint64_t rsc_exact_distinct(const struct rsc_exact *exact) { return exact->distinct; }

/* Moves lines from the filter to the bitmap, oldest first, until it holds `keep`. Returns 0 or an error. */
int rsc_exact_shrink_recent(struct rsc_exact *exact, uint32_t keep);

/* Whether rsc_exact_make_room() has nothing to do. */
static inline int rsc_exact_has_room(const struct rsc_exact *exact, uint32_t count) {
    return !exact->recent.count && exact->now - exact->time_of_place + count <= exact->places;
}

/* Empties the filter, and compacts if there are no places for a block of `count`. Everything before must be
 * answered. */
int rsc_exact_make_room(struct rsc_exact *exact, uint32_t count);

/* The kernel's exchange(). Returns 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_exact_exchange(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, uint32_t *slots);

/*
 * Rarely called by the kernels. compact: renumbers the lines to make a place for a
 * use at `time`, later than any in the bitmap. add: the unit of a line, added if new;
 * 0: failed (see *status).
 */
int rsc_exact_compact(struct rsc_exact *exact, uint64_t time);
uint32_t rsc_exact_add(struct rsc_exact *exact, uint64_t line, int *status);

#endif
