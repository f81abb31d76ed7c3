/*
 * hprda.h - HP-RDA, the highly parallel reuse distance analysis of paper 002, over a
 * stream of lines. Approximate; docs/design/hp-rda.md describes the error and the
 * interpretation of the paper.
 *
 *   preprocess  runs of one line become one reference; the others have distance 0
 *   divide      into local traces of `local` references, 64 to a block, blocks to
 *               fragments
 *   analyse     each local trace by itself                       (hprda_block.h)
 *   merge       local traces in a block, blocks in a fragment, fragments in the
 *               trace, by formula 1                              (hprda_join.h)
 *   adjust      distances beyond M, the distinct lines of the fragment, by the
 *               effective factor M / sum of counts               (hprda_tally.h)
 *
 * Blocks are analysed and merged in groups, so memory holds a group and not a
 * fragment. Groups, threads and vector widths never change results: every distance
 * depends only on local traces, blocks and fragments, and histograms are sums.
 *
 * In addition to the published estimate every reuse has a lower and an upper bound on
 * its true distance: at least the lines of any one piece of the trace it spans, at
 * most those of all of them, and fewer than all lines.
 */
#ifndef RSC_DISTANCE_HPRDA_HPRDA_H
#define RSC_DISTANCE_HPRDA_HPRDA_H

#include "distance/hprda/hprda_join.h"

#define RSC_HPRDA_LOCAL 2048u
#define RSC_HPRDA_LOCAL_MIN 2u
#define RSC_HPRDA_LOCAL_MAX 65536u
#define RSC_HPRDA_FRAGMENT 0x4000000u

struct rsc_hprda_options {
    uint32_t local;        /* references in a local trace; 0: RSC_HPRDA_LOCAL */
    uint32_t fragment;     /* references in a fragment, after removal of runs, below 2^31; 0: RSC_HPRDA_FRAGMENT */
    uint32_t group_blocks; /* blocks held at a time; 0: as many as make about 4 M references */
    uint32_t workers;      /* OpenMP threads; 0: 1 */
    int no_adjust;
};

/* The four parts of the paper's breakdown (its figure 15), in processor seconds of all threads together. */
enum {
    RSC_HPRDA_SECONDS_LOCAL,
    RSC_HPRDA_SECONDS_MERGE_LOCALS,
    RSC_HPRDA_SECONDS_MERGE_BLOCKS, /* fragments too */
    RSC_HPRDA_SECONDS_ADJUST,
    RSC_HPRDA_SECONDS_COUNT,
};

struct rsc_hprda {
    struct rsc_hprda_options options;
    uint64_t *group; /* references not yet analysed */
    uint32_t filled, group_room;
    uint64_t last; /* line of the last reference, once there is one */
    uint32_t in_fragment; /* references of the fragment that were analysed */

    struct rsc_hprda_work *works;   /* one per worker */
    struct rsc_hprda_block *blocks; /* of the group */
    struct rsc_hprda_part_lines parts[RSC_HPRDA_PARTS];
    struct rsc_hprda_spans block_counts, fragment_counts;
    uint64_t local_counts, local_counts_so_far; /* sums over local traces: of the fragment, of finished fragments */

    uint64_t references, repeats; /* all, and those removed as runs */
    uint64_t distinct;            /* as of the last group */
    struct rsc_hprda_sums sums; /* of finished fragments; repeats are added by rsc_hprda_finish() */
    double seconds[RSC_HPRDA_SECONDS_COUNT];
};

/* Return 0, RSC_EINVAL, RSC_ENOMEM or RSC_ELIMIT (a part of the lines is full). A zeroed analysis may be freed. */
int rsc_hprda_init(struct rsc_hprda *hprda, const struct rsc_hprda_options *options);
int rsc_hprda_push(struct rsc_hprda *hprda, const uint64_t *lines, uint32_t count);
/* After this references, distinct (the cold ones) and sums are final. */
int rsc_hprda_finish(struct rsc_hprda *hprda);
void rsc_hprda_free(struct rsc_hprda *hprda);

/* Whether this build has OpenMP; without it one thread does everything. */
int rsc_hprda_has_openmp(void);

#endif
