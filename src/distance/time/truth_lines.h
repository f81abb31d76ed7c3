/*
 * truth_lines.h - true distances between the uses of some lines, counted in those
 * lines (SHARDS), and their sampling error.
 *
 * Lines are taken by hash at the rate 1/2^k, at most 4096 of them, in 16 random
 * parts. A Fenwick tree over the order of last uses holds vectors of 16 counts, so
 * one descent gives a distance in lines of each part; these give 16 distances that
 * each leave a part out (for the jackknife), and the full one. Distances are scaled
 * by distinct lines so far over sampled lines so far, both of which are known, so a
 * distance over all lines is exact.
 */
#ifndef RSC_DISTANCE_TIME_TRUTH_LINES_H
#define RSC_DISTANCE_TIME_TRUTH_LINES_H

#include <stdint.h>

#include "base/rng.h"
#include "base/u64_table.h"
#include "distance/time/last_use.h"

#define RSC_SAMPLE_PARTS 16u
#define RSC_SAMPLE_LINES 4096u
#define RSC_SAMPLE_PLACES (2 * RSC_SAMPLE_LINES)

/* The count of each part: one vector. Counts stay below 2^16. */
typedef uint16_t rsc_part_counts __attribute__((vector_size(2 * RSC_SAMPLE_PARTS)));

struct rsc_truth_lines {
    struct rsc_rng rng;
    struct rsc_u64_table lines; /* line -> place of its last use + 1 */
    rsc_part_counts *tree;      /* [place + 1]; owned */
    rsc_part_counts *live;      /* one: lines of each part; owned */
    uint64_t *line_at;          /* [place]; owned */
    uint64_t *time_at;          /* [place]: of that last use; owned */
    uint8_t *part_at;           /* [place]: RSC_SAMPLE_PARTS if its line was used again since; owned */
    uint64_t offset;            /* of the hash, from its seed */
    uint32_t next, count;       /* places used; lines */
    uint32_t rate_shift;        /* k */
    uint32_t scaled_for;        /* the count for which `share` holds; 0: none */
    double share[RSC_SAMPLE_PARTS + 1]; /* 1 / (lines other than one's own, without that part; with all) */
    uint64_t moves;             /* references with a distance to count */
    uint64_t repeats;           /* and those without */
    uint32_t bin_count;
    uint64_t *ri; /* [part][fine bin]: intervals of the part's lines; a reference counts 2^k. Owned */
    uint64_t *rd; /* [part][fine bin]: distances without that part; [RSC_SAMPLE_PARTS]: with all; not those that
                   * are 0 with all. Owned */
    uint64_t first_from; /* first uses from this time on are counted; none unless set */
    uint64_t *first;     /* [fine bin]: their times; a line counts 2^k. Owned */
};

/* References of a block; those of sampled lines are picked. */
struct rsc_line_uses {
    const uint64_t *line;
    const uint32_t *picked; /* [picked_count]: indices into `line`, in order; at the previous rate */
    uint32_t picked_count;
    const uint32_t *index; /* line[i] is that of references index[i] to index[i+1]-1; NULL: of reference i */
    uint64_t now;          /* references before these */
    uint32_t count;        /* references */
    double distinct_before, distinct_after; /* lines before and after these */
};

/* Returns 0 or RSC_ENOMEM. A zeroed sample may always be freed. */
int rsc_truth_lines_init(struct rsc_truth_lines *sample, uint64_t seed);
void rsc_truth_lines_free(struct rsc_truth_lines *sample);

/* Processes the picked ones. Lowers the rate when there are too many lines or too much work: check rate_shift before
 * picking more. */
void rsc_truth_lines_take(struct rsc_truth_lines *sample, const struct rsc_line_uses *uses);

#endif
