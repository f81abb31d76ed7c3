/*
 * rounds_state.h - the state of the parallel engine in rounds. engine_rounds.c explains the method, and
 * pushes; rounds_work.c processes a round, step by step; rounds_kernel.c has the loops.
 */
#ifndef RSC_DISTANCE_PARALLEL_ROUNDS_STATE_H
#define RSC_DISTANCE_PARALLEL_ROUNDS_STATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "base/line_map.h"
#include "base/pool.h"
#include "base/rank_bitmap.h"
#include "distance/count/accumulate.h"
#include "distance/exact/exact_state.h"
#include "distance/count/late_attribution.h"
#include "distance/count/phase_grid.h"
#include "distance/engine_kind.h"

/* Lines are distributed to parts by hash. With 64 parts, a part of a million lines
 * stays in a core's own cache, and distributing still writes to few places at
 * once. */
#define RSC_PARTS 64u
/* References of a piece: 32 lines of the bitmap. A worker's data for one piece stays in its own cache. */
#define RSC_PIECE_MOST (32u * RSC_RANK_LINE_SLOTS)
/* Pieces per worker in a round. 9, 18, 36 and 72 gave 122, 127, 121 and 107 M references/s with 16 workers (uniform,
 * 600 K lines). */
#define RSC_SLICE_PIECES 18u
#define RSC_ROUNDS_BLOCK RSC_EXACT_BLOCK
/* The most ranges of the bitmap, each updated by one worker at a time; and the range of lines without a bit. */
#define RSC_RANGES_MOST 64u
#define RSC_RANGE_NONE RSC_RANGES_MOST
#define RSC_TAKEN_BLOCK 510u

/* References as pushed; `who` and `tag` are NULL if not needed. */
struct rounds_columns {
    uint64_t *line; /* with tags: finally outcomes (late_attribution.h) */
    uint32_t *who, *tag;
    uint64_t first, count; /* number of the first in the trace, and how many */
};

/* The number of a stay, in order of arrival, and its last use (a reference of the piece). */
struct rounds_use {
    uint16_t number, last;
};

/*
 * A stay: a line's time in the recent filter, from the reference that brought it in, whose distance is not yet
 * known, to its last use there. Columns of a round; those of piece p begin at p * piece length.
 */
struct rounds_stays {
    /* by part, in order of leaving */
    uint64_t
        *key; /* the line; once looked up, the slot of its last use before + 1, 0 if none, and that use's tag << 32 */
    struct rounds_use *use;
    uint32_t *last_tag; /* its tag; NULL where there are none */
    /* by number */
    uint16_t *at; /* reference of the piece that brought the line in */
    uint16_t *left; /* last use + 1 of the line it pushed out; 0: none */
    uint8_t *above; /* lines in the filter when it came */
};

struct rounds_piece {
    uint32_t count, stays;
    uint32_t part_end[RSC_PARTS];
    uint32_t left_count; /* lines left in the filter at the end, and... */
    uint16_t left[RSC_RECENT_LANES]; /* ...their last uses, oldest first */
};

/* Slots of bits that one slice clears in one range, in blocks. */
struct rounds_taken {
    uint32_t next; /* block number; 0: none */
    uint32_t count;
    uint32_t slot[RSC_TAKEN_BLOCK];
};

/* Pieces that one worker answers, in order, with its own stack. */
struct rounds_slice {
    uint32_t first_piece, end_piece;
    uint32_t first_slot; /* of its first reference: the first of a bitmap line */
    struct rsc_rank_bitmap rank;
    uint64_t *own; /* bits of all its last uses, laid out as in the bitmap */
    uint64_t own_words;
    struct rounds_taken *taken; /* blocks; 0 is not used */
    uint32_t taken_count, taken_room;
    uint32_t taken_in[RSC_RANGES_MOST + 1]; /* newest block of each range; the last is for lines not used before */
};

/* A part of the lines, with the slots of their last uses. */
struct rounds_part {
    struct rsc_line_map map;
    uint64_t distinct;
};

/* A worker's counts and working memory. */
struct rounds_worker {
    struct rsc_accumulator sum;
    struct rsc_phase_part phases;
    struct rsc_exact filter; /* only its recent filter is used */
    uint32_t rd[RSC_ROUNDS_BLOCK], last_tag[RSC_ROUNDS_BLOCK], who[RSC_ROUNDS_BLOCK];
    uint64_t ri[RSC_ROUNDS_BLOCK];
    uint64_t line[RSC_PIECE_MOST]; /* by number of stay; then the lookup results */
    uint32_t tag[RSC_PIECE_MOST];
    uint16_t last_use[RSC_PIECE_MOST];
    uint8_t part[RSC_PIECE_MOST];
};

struct rounds_engine;
typedef void rounds_gather_fn(struct rounds_engine *engine, struct rounds_worker *worker, uint32_t piece);
typedef int rounds_look_up_fn(struct rounds_engine *engine, uint32_t part);
typedef void rounds_answer_fn(struct rounds_engine *engine, struct rounds_worker *worker, struct rounds_slice *slice);
typedef void rounds_count_lines_fn(struct rsc_rank_bitmap *rank, uint32_t lines);
typedef void rounds_renumber_fn(struct rounds_engine *engine, uint32_t part, uint64_t *new_time);

/* The steps of a round, in order, after the pushing thread's. */
enum rounds_step {
    ROUNDS_CUT,
    ROUNDS_GATHER,
    ROUNDS_LOOK_UP,
    ROUNDS_FORESEE,
    ROUNDS_BUILD,
    ROUNDS_ANSWER,
    ROUNDS_STEPS
};

struct rounds_engine {
    const struct rsc_log *log;
    int no_ri;
    uint32_t workers;
    uint32_t piece_length, slice_pieces; /* a round has workers * slice_pieces pieces at most */
    struct rsc_pool *pool;
    rounds_gather_fn *gather;
    rounds_look_up_fn *look_up;
    rounds_answer_fn *answer;
    rounds_count_lines_fn *count_lines;
    rounds_renumber_fn *renumber;

    /* the pushing thread's own */
    struct rsc_accumulator sum; /* accesses and names of threads; everything at the end */
    struct rounds_columns columns[3];
    uint32_t filling; /* which of them */
    uint32_t first_kind; /* of the first access */
    struct rsc_late_tags tags;
    struct rsc_distance_watch watch;
    uint32_t from[RSC_ROUNDS_BLOCK];

    /* the round's */
    struct rounds_columns *round;
    uint64_t threads; /* seen so far... */
    uint32_t kinds; /* ...and kinds, by bits */
    struct rounds_stays stays;
    struct rounds_piece *piece;
    uint32_t piece_count;
    struct rounds_slice *slice; /* `workers` of them */
    uint32_t slice_count;
    struct rounds_part part[RSC_PARTS];
    uint64_t part_multiplier;
    uint32_t range_shift, range_count; /* slot >> range_shift is the range */
    struct rsc_phase_grid grid;

    /* The stack between rounds: one bit per line at the place of its last use, as in exact_state.h. */
    uint64_t *base; /* words as those of rank_bitmap.h; the eighth of each line is not used */
    uint64_t places;
    uint64_t first_place; /* of the round: the first of a bitmap line */
    uint64_t next_place; /* of the next one */
    uint64_t time_of_place; /* time minus place, of uses after the last compaction */
    uint32_t compacted_slot;
    uint64_t *old_time, *new_time; /* [place]: time of earlier uses, and room for those of the next; NULL without RI */
    uint64_t old_time_bytes, new_time_bytes;
    uint64_t rounds, compactions;
    atomic_uint_fast64_t step_ns[ROUNDS_STEPS]; /* processor time */

    atomic_int stop; /* failed, or being destroyed */
    pthread_mutex_t lock; /* for all that follows, and the grid */
    pthread_cond_t changed;
    struct rounds_worker **idle; /* free workers: idle_count */
    uint32_t idle_count;
    int busy; /* a round is under way */
    struct rounds_columns *attributing; /* NULL: none */
    struct rsc_error error; /* the first; valid if status < 0 */
    int status;
};

/* ---- rounds_work.c ---- */

/* Allocates columns and stays for rounds of this many references. Returns 0 or RSC_ENOMEM. */
int rsc_rounds_make_round(struct rounds_engine *engine);
void rsc_rounds_free_round(struct rounds_engine *engine);

static inline uint64_t rounds_length(const struct rounds_engine *engine) {
    return (uint64_t)engine->workers * engine->slice_pieces * engine->piece_length;
}

/* A task: processes the round, and has it attributed. */
void rsc_rounds_round(void *engine);

/* Shows distances to the observer, if there is one. */
void rsc_rounds_show(struct rounds_engine *engine, const uint32_t *rd, uint32_t count);

/* Records the first failure, and stops. */
void rsc_rounds_fail(struct rounds_engine *engine, int status);

/* The loops, compiled per width. */
RSC_WIDE_DECLARE(rounds_gather_fn, rsc_rounds_gather);
RSC_WIDE_DECLARE(rounds_look_up_fn, rsc_rounds_look_up);
RSC_WIDE_DECLARE(rounds_answer_fn, rsc_rounds_answer);
RSC_WIDE_DECLARE(rounds_count_lines_fn, rsc_rounds_count_lines);
RSC_WIDE_DECLARE(rounds_renumber_fn, rsc_rounds_renumber);

#endif
