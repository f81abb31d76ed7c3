/*
 * counting.h - everything but the stack of an engine that yields one distance per reference,
 * at once and in order: cuts accesses into lines and tags them, counts distances
 * (accumulate.h), attributes them to code and data (attribution.h) and to single lines
 * (top_lines.h), and makes the profile.
 *
 *   rsc_counting_begin(batch)
 *   while (rsc_counting_next())        fills lines, from and, if attributed, tags of a block
 *       the engine's stack             fills rd, ri and, if attributed, last_tag
 *       rsc_counting_take()            counts the block
 *   rsc_counting_profile(), rsc_counting_fill_code()
 *
 * A block is small enough for its columns to stay in L1 and L2 between these steps. Blocks can be counted in a thread
 * of their own (rsc_counting_behind()), while the stack goes through the next ones: the numbers are the same.
 */
#ifndef RSC_DISTANCE_COUNT_COUNTING_H
#define RSC_DISTANCE_COUNT_COUNTING_H

#include "base/take_behind.h"
#include "distance/count/access_tags.h"
#include "distance/count/accumulate.h"
#include "distance/count/attribution_news.h"
#include "distance/count/top_lines.h"
#include "distance/engine_kind.h"
#include "trace/references.h"

#define RSC_COUNTING_BLOCK 2048u
#define RSC_COUNTING_DEPTH 16u /* blocks of 80 KiB between the two threads */

/*
 * A column of a block. With room to spare at its end, columns that are read together begin at different places of a page of
 * 4 KiB; otherwise they would compete for the same sets of L1, and loads would wait for stores to other columns.
 */
#define RSC_COUNTING_COLUMN(type, name) type name[RSC_COUNTING_BLOCK + 128 / sizeof(type)]

/* What the stack finds of a block, and what counting needs to know of its accesses. */
struct rsc_counting_block {
    uint32_t count;
    RSC_COUNTING_COLUMN(uint32_t, from); /* access of the batch; in `behind`, of addr and meta */
    RSC_COUNTING_COLUMN(uint32_t, rd);
    RSC_COUNTING_COLUMN(uint32_t, tag);
    RSC_COUNTING_COLUMN(uint32_t, last_tag);
    RSC_COUNTING_COLUMN(uint64_t, ri);
    /* In `behind`, where the batch is gone: */
    uint32_t first; /* access of the batch */
    int begins;     /* a batch: with news */
    struct rsc_attribution_news news;
    RSC_COUNTING_COLUMN(uint64_t, addr);
    RSC_COUNTING_COLUMN(uint64_t, meta);
};

struct rsc_counting {
    struct rsc_accumulator sum;
    struct rsc_access_tags tags;
    struct rsc_top_lines top; /* wanted 0: none */
    struct rsc_distance_watch watch;
    const struct rsc_log *log;
    uint32_t line_shift;
    int no_ri;
    struct rsc_reference_cursor cursor; /* in `batch` */
    const struct rsc_batch *batch;      /* of the last rsc_counting_begin() */
    uint64_t references;                /* given to the stack */
    struct rsc_counting_block *block;   /* the one before the stack */
    RSC_COUNTING_COLUMN(uint64_t, lines); /* of it */
    RSC_COUNTING_COLUMN(uint32_t, stack); /* for observers; set by engines with more than one stack */
    RSC_COUNTING_COLUMN(uint64_t, objects); /* the object of each reference */

    struct rsc_counting_block *blocks; /* one; or RSC_COUNTING_DEPTH of `behind`; owned */
    int is_behind, begins; /* begins: no block of the batch was given yet */
    struct rsc_take_behind behind; /* takes blocks; only its thread uses `sum` then, but for `accesses` */
    struct rsc_thread *threads;    /* the names in the last batch; owned */
    uint32_t thread_count, thread_room;
};

/* `keep_objects`: the engine uses rsc_counting_objects(). Returns 0 or RSC_ENOMEM; may be freed either way. */
int rsc_counting_init(struct rsc_counting *counting, const struct rsc_engine_options *options, int keep_objects);
void rsc_counting_free(struct rsc_counting *counting);

/*
 * From now on blocks are counted in another thread, unless someone looks at each (top lines, objects, an observer), or
 * there is no thread to be had. Before the first batch.
 */
void rsc_counting_behind(struct rsc_counting *counting);

/*
 * Goes on from everything counted by `from`, between two batches; nothing was counted here yet. The options of the two
 * are the same, without top lines. Returns 0 or RSC_ENOMEM.
 */
int rsc_counting_go_on_from(struct rsc_counting *counting, struct rsc_counting *from);

/* Starts a batch, which must stay valid until its last block is counted. Returns 0 or an error. */
int rsc_counting_begin(struct rsc_counting *counting, const struct rsc_batch *batch, struct rsc_error *error);

/* Whether references have tags. The same for all references of a batch. */
static inline int rsc_counting_tagged(const struct rsc_counting *counting) {
    return counting->tags.attribution != NULL;
}

/* The next block of the batch. Returns its number of references; 0 at the end of the batch. */
uint32_t rsc_counting_next(struct rsc_counting *counting);

/* Counts the block. Returns 0 or an error. */
int rsc_counting_take(struct rsc_counting *counting, struct rsc_error *error);

/* The object of each reference of the block just counted, as numbered by objects.h; NULL: not known. */
static inline const uint64_t *rsc_counting_objects(const struct rsc_counting *counting) {
    return counting->tags.attribution ? counting->objects : NULL;
}

/* A new profile, not sealed, without code; the engine fills `made`. NULL: out of memory. */
struct rsc_profile *rsc_counting_profile(struct rsc_counting *counting, uint64_t distinct);

/* Fills the attributed rows; call after everything that uses rsc_counting_objects(). Returns 0 or RSC_ENOMEM. */
int rsc_counting_fill_code(struct rsc_counting *counting, struct rsc_profile *profile);

#endif
