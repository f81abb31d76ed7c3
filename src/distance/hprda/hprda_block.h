/*
 * hprda_block.h - HP-RDA's first two steps, on one block of a trace: the analysis of
 * its local traces and the merging of their results (paper 002, sections III-C, III-D
 * and IV-A). One thread works on a block; blocks are independent.
 *
 * A block is up to 64 local traces. For each the analysis yields
 *   - the distances of reuses inside it, which are exact,
 *   - an access_info for every line in it: `first`, how many other lines came
 *     before its first use, and `latest`, how many came after its last,
 *   - its count of distinct lines.
 * Merging follows each line through the block's local traces: by formula 1 the reuse
 * from trace i to trace j has distance latest_i + sum of counts between + first_j. It
 * leaves one node per line, which is to the block what an access_info is to a local
 * trace.
 *
 * The paper's local array has an entry per reference, non-zero where it is the last
 * use of its line so far; here it is a bitmap, so 64 entries are counted at once. Its
 * hash table lists the access_infos of a line; here they are in one array in order of
 * local traces, which visits them in the same order.
 */
#ifndef RSC_DISTANCE_HPRDA_HPRDA_BLOCK_H
#define RSC_DISTANCE_HPRDA_HPRDA_BLOCK_H

#include <time.h>

#include "base/cpu.h"
#include "base/u64_table.h"
#include "distance/hprda/hprda_spans.h"
#include "distance/hprda/hprda_tally.h"

#define RSC_HPRDA_BLOCK_TRACES 64u /* local traces in a block: the paper's threads per thread block */
#define RSC_HPRDA_PARTS 64u /* of a block's nodes, by a hash of their line: parts are merged in parallel */

/* A line in a block. */
struct rsc_hprda_node {
    uint64_t line;
    uint32_t first, latest; /* as published: sums, too large where local traces overlap */
    uint32_t first_low, latest_low; /* at least this many other lines before the first use, after the last */
};

/* The result of a block. */
struct rsc_hprda_block {
    struct rsc_hprda_node *nodes; /* owned; part p is start[p] .. start[p + 1] - 1 */
    uint32_t room;
    uint32_t start[RSC_HPRDA_PARTS + 1];
    uint32_t distinct; /* lines in the block */
    uint64_t local_counts; /* sum of the counts of its local traces */
};

struct rsc_hprda_info {
    uint32_t line; /* index into the block's lines */
    uint32_t first, latest;
};

/* A line while its block is processed. */
struct rsc_hprda_line {
    uint64_t line;
    uint32_t trace; /* 1 + the last merged local trace with it; 0: none yet */
    uint32_t first, first_low, latest;
};

/* One thread's working memory. */
struct rsc_hprda_work {
    uint32_t local;
    int (*analyse_local)(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count, uint32_t start);
    struct rsc_u64_table table; /* line -> (1 + its index) << 32 | place in the block of its last use */
    uint64_t *bits; /* the local array: one bit per reference of the local trace, set at last uses */
    uint32_t *owner; /* by reference of the local trace: its access_info */
    struct rsc_hprda_info *infos;
    uint32_t info_count, info_start[RSC_HPRDA_BLOCK_TRACES + 1];
    struct rsc_hprda_line *lines;
    uint32_t line_count;
    struct rsc_hprda_spans counts; /* of the block's local traces */
    struct rsc_hprda_tally tally;
    double local_seconds, merge_seconds;
};

/* Return 0 or RSC_ENOMEM. A zeroed work or block may be freed. */
int rsc_hprda_work_init(struct rsc_hprda_work *work, uint32_t local);
void rsc_hprda_work_free(struct rsc_hprda_work *work);
void rsc_hprda_block_free(struct rsc_hprda_block *block);

/* Both steps on `count` references, at most 64 full local traces, without runs of one line. */
int rsc_hprda_block_run(struct rsc_hprda_work *work, struct rsc_hprda_block *block, const uint64_t *references,
                        uint32_t count);

/* The part a line belongs to. */
static inline uint32_t rsc_hprda_part(uint64_t line) { return (uint32_t)(line * 0xD6E8FEB86659FD93ull >> 58); }

/* Processor seconds of the calling thread, independent of other load. */
static inline double rsc_hprda_clock(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* hprda_kernel.c, compiled per width. */
typedef int rsc_hprda_local_fn(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count, uint32_t start);
RSC_WIDE_DECLARE(rsc_hprda_local_fn, rsc_hprda_local);

#endif
