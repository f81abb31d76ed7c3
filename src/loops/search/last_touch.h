/*
 * last_touch.h - finds the last reference to some bytes before a place, without
 * enumerating the places between.
 *
 * For every reference that can reach the bytes, its last instance before the place
 * is the lexicographically largest vector of loop variables that (a) lies before
 * the place, (b) is within bounds and guards, (c) has its address in the range.
 * (a) is a short list of cases: the variables equal the place's up to some depth and
 * are smaller there. Within a case the variables are chosen from the outside in,
 * largest first, and a range of values is dropped as soon as interval arithmetic
 * shows that (b) and (c) cannot hold in it. Variables of large stride that are not
 * outermost are fixed first: the address leaves them few values. The result is exact;
 * only its cost depends on how tight the intervals are.
 */
#ifndef RSC_LOOPS_SEARCH_LAST_TOUCH_H
#define RSC_LOOPS_SEARCH_LAST_TOUCH_H

#include "loops/nest/plan.h"

/* The bytes searched for, from low to high, inclusive: accesses that begin there. */
struct rsc_target {
    uint32_t space;
    int64_t low, high;
    int reaching; /* also those that begin before and reach them: `low` need not be where accesses can begin */
    int writes_only;
    enum rsc_target_which {
        RSC_TARGET_ANY,
        RSC_TARGET_ALIKE,
        RSC_TARGET_APART
    } which; /* by `alike` of the reference */
};

struct rsc_search {
    struct rsc_plan *plan;
    struct rsc_nest *nest;
    uint32_t *by_item;      /* references of each item: by_item[item_first[i] .. item_first[i + 1]) */
    uint32_t *item_first;
    uint32_t *segments;     /* segments of each item, in order: segments[segment_first[i] ..) */
    uint32_t *segment_first;
    uint8_t *alike;         /* by reference: it touches the same bytes at the same places in every thread */
    /* By reference: another of the item, before or after it in the text, that touches the same bytes in every iteration
     * in which it does, and maybe in more; UINT32_MAX: none. */
    uint32_t *before, *after;
    uint64_t searches; /* number so far */
    uint32_t found; /* where in segments[] one was found last */

    /* The current search. */
    const struct rsc_nest_node *reference;
    const struct rsc_view *view; /* NULL: iterations of all threads count */
    uint32_t thread;
    uint32_t limit_depth; /* depth whose value must be less than the place's; UINT32_MAX: none */
    int64_t limit; /* iterations of that loop (of the thread's, for the shared one) at most */
    int64_t m; /* found: the thread's iteration */
    int any; /* only find out whether there is one, not which is last */
    int64_t low, high; /* address range; the parts of fixed variables are subtracted when used */
    int64_t coefficient[RSC_LOOP_DEPTH_MAX];
    int64_t value[RSC_LOOP_DEPTH_MAX];
    int64_t from[RSC_LOOP_DEPTH_MAX], to[RSC_LOOP_DEPTH_MAX]; /* box */
    uint32_t pinned; /* bits of depths whose value is fixed in advance: */
    int64_t pin[RSC_LOOP_DEPTH_MAX];
};

int rsc_search_new(struct rsc_search **out, struct rsc_plan *plan, struct rsc_error *error);
void rsc_search_free(struct rsc_search *search);

/*
 * The place of `thread`'s last touch in the segment at or before place `at` (past
 * the end: all of it); -1: none after place `floor` (-1: none at all).
 */
int64_t rsc_last_touch(struct rsc_search *search, uint32_t segment, uint32_t thread, const struct rsc_target *target,
                       int64_t at, int64_t floor);

/* The last segment before `segment` in which any thread touches the target; -1: none. */
int64_t rsc_last_segment(struct rsc_search *search, uint32_t segment, const struct rsc_target *target);

/* The first address at which the reference touches the target. */
static inline int64_t rsc_target_low(const struct rsc_target *target, const struct rsc_nest_node *reference) {
    return target->reaching ? target->low - (int64_t)reference->size_bytes + 1 : target->low;
}

/* Whether the reference's addresses, as a whole, reach the target. */
static inline int rsc_can_touch(const struct rsc_nest_node *reference, const struct rsc_target *target) {
    return reference->space == target->space && reference->address_least <= target->high &&
           reference->address_most >= rsc_target_low(target, reference) &&
           (reference->is_write || !target->writes_only);
}

/* Whether `a` touches every byte that `b` does: in the same loops, under no other conditions. */
int rsc_covers(const struct rsc_nest_node *a, const struct rsc_nest_node *b);
/* Whether `by`, one of search->before or after of the reference, stands for it in a search for the target. */
int rsc_stands_for(const struct rsc_search *search, uint32_t by, const struct rsc_nest_node *reference,
                   const struct rsc_target *target);

/* Whether any instance of the reference does. */
int rsc_ever_touches(struct rsc_search *search, const struct rsc_nest_node *reference, const struct rsc_target *target);

/* The segment of item number `item` whose outer variables have these values; -1: there is none. */
int64_t rsc_find_segment(struct rsc_search *search, uint32_t item, const int64_t *value);

/*
 * Iterations of a shared item that may touch the target by `reference`: all lie in
 * *low .. *high (iterations of the loop). Returns 0 for none; 2 if the address does
 * not depend on the shared loops.
 */
int rsc_touching_iterations(struct rsc_search *search, uint32_t segment, const struct rsc_nest_node *reference,
                            const struct rsc_target *target, int64_t *low, int64_t *high);

#endif
