/*
 * marking.h - marks the lines that a reference touches in a bitmap, without enumerating every instance: variables that
 * change neither the address nor the loops inside them are set once, and an innermost run of addresses is marked as a
 * range.
 */
#ifndef RSC_LOOPS_NEST_MARKING_H
#define RSC_LOOPS_NEST_MARKING_H

#include "loops/search/last_touch.h"

#define RSC_ALL_THREADS UINT32_MAX

#define RSC_MARKING_BLOCK_SHIFT 6u
#define RSC_MARKING_BLOCK (1u << RSC_MARKING_BLOCK_SHIFT) /* words */

struct rsc_marking {
    struct rsc_search *search;
    const struct rsc_nest_node *reference;
    const struct rsc_nest_item *item;
    uint32_t item_index;
    uint32_t thread; /* or RSC_ALL_THREADS */
    uint32_t line_shift;
    uint32_t matters; /* bits of depths that must be enumerated */
    uint32_t at_last; /* bits of other depths whose last iteration has all that the others have; else the first has */
    uint64_t *bitmap;
    uint64_t marked_from, marked_to; /* words of it: no other has a mark */
    /* A bit for each RSC_MARKING_BLOCK words; NULL: not kept. Lines of a `full` block are marked whatever its words say,
     * and no word has a mark in a block that is not `used`. */
    uint64_t *used, *full;
    int64_t first_line, last_line;
    uint64_t runs, runs_max;
    int64_t value[RSC_LOOP_DEPTH_MAX];
};

/* Sets what matters for marking->reference. */
void rsc_marking_aim(struct rsc_marking *marking);
/* Whether the reference's conditions hold whose innermost variable is that of loop `depth`. */
int rsc_mark_checks_hold(const struct rsc_marking *marking, uint32_t depth);
/* Marks lines `from` .. `to`. */
void rsc_mark_lines(struct rsc_marking *marking, int64_t from, int64_t to);
/* Marks the lines of `count` runs of addresses, each `extent` long (0: one address), from `address` on, `stride` apart. */
int rsc_mark_rows(struct rsc_marking *marking, int64_t address, int64_t extent, int64_t stride, int64_t count);
/* How many lines are marked, and whether one is. */
uint64_t rsc_marked_count(const struct rsc_marking *marking);
int rsc_is_marked(const struct rsc_marking *marking, int64_t line);
/* Blocks that are used but not full: counting and clearing take their time. */
uint64_t rsc_marked_blocks(const struct rsc_marking *marking);
/* Takes all marks away. */
void rsc_marked_clear(struct rsc_marking *marking);
/*
 * Marks what the reference touches: in all of loop `depth` and those inside it, for the values of the loops around it;
 * in `trip` iterations of it from value `first` on; and the same if nothing inside depends on them. RSC_ELIMIT: after
 * runs_max runs, or when the watch ended it.
 */
int rsc_mark_inside(struct rsc_marking *marking, uint32_t depth);
int rsc_mark_iterations(struct rsc_marking *marking, uint32_t depth, int64_t first, int64_t trip);
int rsc_mark_run(struct rsc_marking *marking, uint32_t depth, int64_t first, int64_t trip);
/*
 * marking_box.c: marks all of the loops from `depth` on, of which loop `given` has `trip` iterations from `first` on, if
 * none of them decides the bounds of another and no condition has one of their variables; *status is as above. Returns
 * 0 otherwise.
 */
int rsc_mark_box(struct rsc_marking *marking, uint32_t depth, uint32_t given, int64_t first, int64_t trip, int *status);

#endif
