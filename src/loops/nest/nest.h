/*
 * nest.h - a region prepared for queries about its order: how many references a part
 * makes, which reference is at a place, and the place of a reference.
 *
 * The region is cut into *segments*: a segment is one instance of the largest parts
 * of the tree without thread control inside. Thread 0 alone runs it, or every thread,
 * or it is split among them (a shared loop). Loops around segments are unrolled.
 * Segments between two barriers are a *phase*.
 *
 * Counts are closed forms if the body of a loop is the same in each iteration.
 * Otherwise running sums over the iterations are kept: one if the body depends on the
 * loop's own variable alone; one per combination of remainders if outer variables
 * matter only modulo something (conditions that depend on data); else one per
 * combination of the outer values it depends on, or of their distances where the body
 * depends on these. They are computed when first needed.
 *
 * A nest can also count one reference alone: this numbers a reference's instances,
 * for samples.
 *
 * Several threads may ask one nest at the same time. Running sums are found without a lock; the one lock of a nest is
 * held while they are made or made longer.
 */
#ifndef RSC_LOOPS_NEST_NEST_H
#define RSC_LOOPS_NEST_NEST_H

#include <pthread.h>
#include <stdatomic.h>

#include "loops/tree/loop_tree.h"

#define RSC_NEST_SEGMENTS_MAX (1u << 19)
#define RSC_NEST_SUMS_BYTES_MAX (UINT64_C(1) << 30) /* of all running sums: a nest that needs more is rejected */
#define RSC_NEST_SUMS_MAX (1u << 25) /* entries of one running sum: longer loops with uneven bodies are rejected */

/* constant + sum of coefficient * value, without the zeros. */
struct rsc_nest_affine {
    int64_t constant;
    uint32_t count;
    uint32_t depths; /* bit d: variable d is in it */
    uint8_t depth[RSC_LOOP_DEPTH_MAX];
    int64_t coefficient[RSC_LOOP_DEPTH_MAX];
};

struct rsc_nest_term {
    struct rsc_nest_affine value;
    int64_t divisor;
    enum rsc_rounding rounding;
};

struct rsc_nest_condition {
    enum rsc_condition_kind kind;
    struct rsc_nest_affine value;
    int64_t modulus;
    uint32_t deepest; /* the innermost depth in it */
};

#define RSC_NEST_RECENT 8u
#define RSC_NEST_TESTS_MAX 16u

struct rsc_nest_node {
    enum rsc_loop_kind kind;
    const struct rsc_loop_node *from;
    struct rsc_nest_node *parent;
    struct rsc_nest_node **child;
    uint32_t child_count;
    uint32_t id; /* that of `from`: rises in the order of the text */
    uint32_t depth;
    uint64_t weight; /* REFERENCE: 1, or 0 if only another one is counted */

    /* LOOP */
    struct rsc_nest_term *first, *last;
    uint32_t first_count, last_count;
    int64_t step;
    int fixed; /* bounds are constant: fixed_first, fixed_trip */
    int64_t fixed_first, fixed_trip;
    int64_t least, most;
    uint32_t bound_depths;
    uint32_t outer; /* variables of the loops around it: where a reference is counted alone, maybe deeper ones */

    /* GUARD */
    struct rsc_nest_condition *condition;
    uint32_t condition_count;

    /* Counting. */
    int empty;            /* counts nothing */
    uint32_t body_depths; /* variables that the count of one pass over the children depends on */
    uint32_t depths;      /* variables that the node's own count depends on */
    int64_t body_fixed;   /* count of one pass, but for the children whose counts vary: */
    struct rsc_nest_node **varying;
    uint32_t varying_count;
    _Atomic(int64_t *) sums; /* LOOP whose body depends on its own variable alone: running sums by its value */
    /* LOOP whose body depends on outer variables only through these: running sums by value, one per combination of
     * remainders of their outer parts. */
    const struct rsc_nest_condition **residue;
    uint32_t residue_count;
    /* LOOP whose body makes the same number of references after its variable and the outer ones that the body depends on
     * have moved by this (nest_shift.c), if conditions on outer variables alone hold as before; 0: not known. */
    int64_t shift;
    const struct rsc_nest_condition **test;
    uint32_t test_count;
    _Atomic(struct rsc_nest_sums *) recent[RSC_NEST_RECENT]; /* of a residue: those last asked for */

    /* REFERENCE */
    uint32_t reference; /* number among the region's references */
    struct rsc_nest_affine address; /* of the first byte, thread 0's copy */
    uint32_t size_bytes;
    int is_write, is_private;
    uint32_t space; /* references of different spaces never share a line */
    int64_t address_least, address_most;
    uint32_t path_length; /* loops around it, outermost first: */
    struct rsc_nest_node *path[RSC_LOOP_DEPTH_MAX];
    uint32_t check_count; /* conditions of the guards around it */
    const struct rsc_nest_condition *check[RSC_LOOP_TERMS_MAX];
    uint32_t inner_depths
        [RSC_LOOP_DEPTH_MAX]; /* [d]: variables that bounds of path[d + 1..] (but for lets that nothing uses) and conditions deeper than d have */
};

enum rsc_nest_who { RSC_RUN_BY_ONE, RSC_RUN_BY_ALL, RSC_RUN_SHARED };

/* A part of the tree whose instances are segments. */
struct rsc_nest_item {
    struct rsc_nest_node *node; /* a shared loop, or a part that runs as a whole (a synthetic BODY of neighbours) */
    enum rsc_nest_who who;
    uint32_t group; /* shared: number of loops split together */
    struct rsc_nest_node *inner; /* shared: the innermost of those */
    /* Two loops split together of which the inner one's bounds have the outer variable: [outer trip + 1], the number of
     * iterations before each of the outer loop. NULL otherwise: then every outer iteration has equally many. */
    int64_t *starts;
    int64_t start_count; /* of the outer loop */
    uint32_t thread_limit; /* num_threads of its PARALLEL; 0: none */
    enum rsc_schedule schedule;
    uint64_t chunk;
};

struct rsc_nest_segment {
    uint32_t item, phase;
    uint32_t values; /* index into segment_values of the outer variables (item's depth many) */
    uint32_t same; /* the first equivalent segment: same item, same counts */
    int64_t total; /* references of a whole run */
};

struct rsc_nest_phase {
    uint32_t first, count; /* segments */
};

struct rsc_nest_sums { /* running sums of a loop (or group) for certain outer values */
    uint64_t key;
    const void *node;
    int64_t values[RSC_LOOP_DEPTH_MAX];
    _Atomic int64_t length; /* iterations added up */
    int64_t room; /* and that there is room for */
    struct rsc_nest_sums *next;
    int64_t sum[]; /* room + 1 */
};

struct rsc_nest {
    struct rsc_arena arena;
    const struct rsc_loop_program *program;
    const struct rsc_loop_region *region;
    struct rsc_nest_node *root;
    struct rsc_nest_node **reference; /* by number */
    uint32_t reference_count;
    uint32_t space_count;
    struct rsc_nest_item *item;
    uint32_t item_count, item_room;
    struct rsc_nest_segment *segment;
    uint32_t segment_count, segment_room;
    int64_t *segment_values;
    uint32_t value_count, value_room;
    struct rsc_nest_phase *phase;
    uint32_t phase_count, phase_room;
    pthread_mutex_t lock; /* of running sums and the arena; the one who holds it may take it again */
    _Atomic(_Atomic(struct rsc_nest_sums *) *) sums; /* hash table of lists */
    uint64_t sums_bytes; /* of all lists */
    _Atomic int status; /* RSC_ENOMEM or RSC_ELIMIT once a count failed: counts are wrong from then on */
    const atomic_int *wanted; /* not NULL: instead of the program's watch, 0 when the work is to end */
};

/*
 * `only`: the number of the reference that alone is counted, or UINT32_MAX for
 * all. The program must be sealed and laid out, and outlive the nest.
 */
int rsc_nest_new(struct rsc_nest **out, const struct rsc_loop_program *program, uint32_t region, uint32_t only,
                 uint64_t line_bytes, struct rsc_error *error);
void rsc_nest_free(struct rsc_nest *nest);
/* nest_simplify.c: whether exactly one of these children, guards of bodies with equal counts, holds for all values. */
int rsc_nest_guards_share_out(struct rsc_nest_node *const *child, uint32_t count);
/* Whether two conditions are about the remainder of the same sum. */
int rsc_nest_same_remainder(const struct rsc_nest_condition *a, const struct rsc_nest_condition *b);
/* For a nest that counts one reference alone: turns the conditions around it into bounds, before depths are known. */
void rsc_nest_simplify_alone(struct rsc_nest *nest);
/* nest_shift.c: finds loop->shift. */
void rsc_nest_find_shift(struct rsc_nest *nest, struct rsc_nest_node *loop);
/* What the running sums from `first` on depend on, by depth; the rest is 0. */
void rsc_nest_shift_values(const struct rsc_nest_node *loop, const int64_t *value, int64_t first, int64_t *values);
/* Frees running sums if they are too many. No pointer to any, nor the nest, may be in use. */
void rsc_nest_trim(struct rsc_nest *nest);

/* Whether the program's watch, or who looks after it, wants the work to end; nest->status is set then. */
static inline int rsc_nest_stopped(struct rsc_nest *nest) {
    int stopped =
        nest->wanted ? !atomic_load_explicit(nest->wanted, memory_order_relaxed) : rsc_loop_stopped(nest->program);
    if (!stopped) return 0;
    if (nest->status >= 0) nest->status = RSC_ELIMIT;
    return 1;
}

/* The greatest one; b >= 0. */
static inline int64_t rsc_common_divisor(int64_t a, int64_t b) {
    if (a < 0) a = -a;
    for (int64_t rest; b; a = b, b = rest) rest = a % b;
    return a;
}

static inline int64_t rsc_nest_affine_at(const struct rsc_nest_affine *affine, const int64_t *value) {
    int64_t sum = affine->constant;
    for (uint32_t i = 0; i < affine->count; i++) sum += affine->coefficient[i] * value[affine->depth[i]];
    return sum;
}

/* Iterations of a loop and its first value. */
int64_t rsc_nest_trip(const struct rsc_nest_node *loop, const int64_t *value, int64_t *first);
int rsc_nest_condition_holds(const struct rsc_nest_condition *condition, const int64_t *value);
int rsc_nest_guard_holds(const struct rsc_nest_node *guard, const int64_t *value);

/* References of a node, given the variables around it. */
int64_t rsc_nest_count(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t *value);
/* References of one pass over a node's children (for a loop: of the iteration whose value is set). */
int64_t rsc_nest_body(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t *value);
/*
 * Running sums of a loop with an uneven body: sum[k] - sum[0] is the number of
 * references of the first k iterations. NULL: out of memory or too long (nest->status).
 */
const int64_t *rsc_nest_sums(struct rsc_nest *nest, const struct rsc_nest_node *loop, int64_t *value, int64_t first,
                             int64_t trip);
/* The same over the flattened iterations of an item's shared loops. */
const int64_t *rsc_nest_group_sums(struct rsc_nest *nest, const struct rsc_nest_item *item, int64_t *value,
                                   int64_t trip);
/* Flattened iterations of a shared item, and the variables of one of them. */
int64_t rsc_nest_group_trip(const struct rsc_nest_item *item, int64_t *value);
void rsc_nest_group_values(const struct rsc_nest_item *item, int64_t *value, int64_t iteration);
/* Whether iterations of the group differ in count. */
static inline int rsc_nest_group_uneven(const struct rsc_nest_item *item) {
    uint32_t own = 0;
    for (uint32_t g = 0; g < item->group; g++) own |= 1u << (item->node->depth + g);
    return (item->inner->body_depths & own) != 0;
}

/*
 * The reference at place `at` (0..) of one pass over the children of `node`; value[]
 * gets the variables inside, and began[d], for each loop passed at depth d, how many
 * references before `at` its current iteration began.
 */
const struct rsc_nest_node *rsc_nest_unrank_body(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t at,
                                                 int64_t *value, int64_t *began);
/* The iteration of a loop that contains the reference at place *at; *at becomes the place in it; -1: nest->status. */
int64_t rsc_nest_iteration_at(struct rsc_nest *nest, const struct rsc_nest_node *loop, int64_t *value, int64_t first,
                              int64_t trip, int64_t *at);
/* References made in one pass over `top`'s children before `reference` with these values. */
int64_t rsc_nest_rank(struct rsc_nest *nest, const struct rsc_nest_node *top, const struct rsc_nest_node *reference,
                      int64_t *value);

#endif
