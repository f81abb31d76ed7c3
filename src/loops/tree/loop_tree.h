/*
 * loop_tree.h - the loop tree: the front end and the text form produce it, the models
 * read it.
 *
 * A program is a list of arrays and a list of regions. A region is analysed
 * separately and starts with an empty cache: an outermost loop, or an OpenMP parallel
 * construct with its contents. Its body is a tree of nodes that run in order. Every
 * parameter is already a number; only the variables of the enclosing loops are left,
 * identified by their depth (0: outermost of the region).
 *
 * Threads: outside PARALLEL nodes thread 0 runs alone (the others wait); in a PARALLEL
 * node every thread runs the body, a loop with `share` is split among them, and thread
 * 0 alone runs SINGLE. All threads wait for each other at the start and end of a
 * PARALLEL node, at BARRIER, and after a shared loop or a SINGLE without `nowait`.
 *
 * A program is built by the rsc_loop_add_...() functions and then sealed; sealing
 * checks it, finds the range of every variable and fills the fields marked
 * "sealed". Evaluating a sealed program cannot overflow. The program owns
 * everything (one arena).
 */
#ifndef RSC_LOOPS_TREE_LOOP_TREE_H
#define RSC_LOOPS_TREE_LOOP_TREE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#include "base/arena.h"

#define RSC_LOOP_DEPTH_MAX 16
#define RSC_LOOP_RANK_MAX 16      /* dimensions of an array */
#define RSC_LOOP_NODES_MAX 100000 /* of a program: bounds the size of a hostile file's tree */
#define RSC_LOOP_NESTING_MAX 200  /* nested blocks, including loops */
#define RSC_LOOP_ARRAYS_MAX 4096
#define RSC_LOOP_TERMS_MAX 64 /* of a bound; also conditions of a guard */
/* No constant, coefficient, value of a variable or byte offset of a sealed program is larger than this. */
#define RSC_LOOP_VALUE_MAX (INT64_C(1) << 56)

/* constant + sum of coefficient[d] * variable of depth d. Coefficients of depths that do not enclose it are 0. */
struct rsc_affine {
    int64_t constant;
    int64_t coefficient[RSC_LOOP_DEPTH_MAX];
};

enum rsc_rounding { RSC_ROUND_NONE, RSC_ROUND_FLOOR, RSC_ROUND_CEIL };

/* floor or ceil of affine / divisor (1 or more; with RSC_ROUND_NONE it is 1). */
struct rsc_loop_term {
    struct rsc_affine value;
    int64_t divisor;
    enum rsc_rounding rounding;
};

/*
 * A loop takes first, first + step, ... up to `last`, which is inclusive. `first` is
 * the largest of its terms, `last` the smallest; with a negative step the other way
 * round.
 */
struct rsc_loop_bound {
    struct rsc_loop_term *term;
    uint32_t count; /* 1 or more */
};

enum rsc_condition_kind {
    RSC_WHEN_AT_LEAST,    /* value >= 0 */
    RSC_WHEN_ZERO,        /* value == 0 */
    RSC_WHEN_NOT_ZERO,    /* value != 0 */
    RSC_WHEN_DIVISIBLE,   /* value is a multiple of modulus */
    RSC_WHEN_INDIVISIBLE, /* value is not a multiple of modulus */
};

struct rsc_condition {
    enum rsc_condition_kind kind;
    struct rsc_affine value;
    int64_t modulus; /* 2 or more for the last two kinds, else 0 */
};

enum rsc_schedule { RSC_SCHEDULE_STATIC, RSC_SCHEDULE_DYNAMIC, RSC_SCHEDULE_GUIDED };

enum rsc_loop_kind {
    RSC_NODE_BODY,      /* the root of a region, or a block */
    RSC_NODE_LOOP,      /* sequential, or shared among threads */
    RSC_NODE_GUARD,     /* children run when all conditions hold */
    RSC_NODE_REFERENCE, /* a leaf: one load or store */
    RSC_NODE_PARALLEL,
    RSC_NODE_SINGLE,
    RSC_NODE_BARRIER, /* a leaf */
};

struct rsc_loop_node {
    enum rsc_loop_kind kind;
    struct rsc_loop_node *parent; /* NULL: root of a region */
    struct rsc_loop_node **child;
    uint32_t child_count, child_room;
    uint32_t index;   /* among its parent's children */
    uint32_t depth;   /* loops around it; a LOOP's variable has this depth */
    const char *file; /* NULL: the region's */
    uint32_t line;    /* 1-based; 0: not known */

    /* LOOP */
    const char *variable;
    struct rsc_loop_bound first, last;
    int64_t step; /* not 0 */
    int share; /* its iterations are split among threads; only in PARALLEL, never in another shared loop or SINGLE */
    enum rsc_schedule schedule;
    uint64_t chunk; /* 0: none given (static: one piece per thread; dynamic and guided: 1) */
    uint32_t collapse; /* 1 or more: number of perfectly nested loops split together */
    int nowait; /* also SINGLE */

    /* GUARD */
    struct rsc_condition *condition;
    uint32_t condition_count;

    /* REFERENCE */
    uint32_t array; /* index into arrays */
    int is_write;
    uint32_t size_bytes; /* 1 or more */
    struct rsc_affine offset; /* bytes from the array's start */
    const char *text; /* as in the source; NULL: not known */

    /* PARALLEL */
    uint32_t num_threads; /* 0: the number given to the analysis */

    /* Sealed. */
    uint32_t id; /* 0.. in the order of the region's text, all kinds counted */
    int has_barrier; /* it contains a barrier */
    int in_parallel; /* it is inside a PARALLEL node */
    struct rsc_loop_node *shared_loop; /* the shared loop around it (of a shared loop: itself); NULL: none */
    int depends; /* LOOP: its trip count depends on an outer variable */
    int never; /* cannot run: a loop without iterations, or a guard that never holds, around or in it */
    int64_t least, most; /* LOOP: its variable lies in here; REFERENCE: its offset does (least > most: never) */
    /*
     * The variable (LOOP) or offset (REFERENCE) changes with the shared loop: it is
     * that loop's variable (or one of the collapsed), or both of its bounds or its
     * subscripts contain one that does. Otherwise every iteration does the same.
     */
    int follows_share;
};

/* An array or scalar in memory that references access. */
struct rsc_loop_array {
    const char *name;
    uint64_t element_bytes; /* 1 or more */
    uint32_t rank; /* 0: a scalar */
    uint64_t extent[RSC_LOOP_RANK_MAX]; /* extent[0] may be 0: not known, as of a pointer */
    int is_private; /* one per thread: thread t's starts at base + t * program->private_stride */
    int has_base; /* base was given, not laid out */
    uint64_t base; /* address of its first byte: rsc_loop_layout() */
    uint64_t bytes; /* sealed: of the extents; if those are not known, as far as references could reach */
};

/* Source that the front end could not represent as a tree, or only with an assumption, for the results to report. */
struct rsc_loop_gap {
    int assumed; /* it is in the tree, under the assumption that `reason` names */
    const char *file; /* NULL: the region's */
    uint32_t line;
    const char *text; /* source text; NULL: none */
    const char *reason; /* "subscript is not affine: it reads idx[i]" */
};

struct rsc_loop_region {
    const char *name; /* unique in the program: "gemm:12" */
    const char *file; /* NULL: not known */
    const char *function;
    uint32_t line;
    struct rsc_loop_node *root; /* a BODY */
    struct rsc_loop_gap *gap; /* left out of the tree, or assumed */
    uint32_t gap_count, gap_room;

    /* Sealed. */
    uint32_t node_count, reference_count; /* nodes of the tree; REFERENCE nodes among them */
    uint32_t depth_max; /* deepest nesting of loops */
    struct rsc_loop_node **node; /* [node_count], by id */
};

/* Asked now and then during long work on a program; go_on() returns 0 to end it. */
struct rsc_loop_watch {
    int (*go_on)(void *context);
    void *context;
    uint32_t asked;
    int stopped;
};

struct rsc_loop_program {
    struct rsc_arena arena;
    struct rsc_loop_array *array;
    uint32_t array_count, array_room;
    struct rsc_loop_region *region;
    uint32_t region_count, region_room;
    uint32_t node_total;
    int sealed;
    uint64_t private_stride; /* bytes between two threads' copies of the private arrays: rsc_loop_layout() */
    struct rsc_loop_watch *watch; /* NULL: none */
};

static inline int rsc_loop_stopped(const struct rsc_loop_program *program) {
    struct rsc_loop_watch *watch = program->watch;
    if (!watch || watch->stopped) return watch != NULL;
    if (++watch->asked % 256) return 0;
    return watch->stopped = !watch->go_on(watch->context);
}

/* Building. NULL (or -1 for indices) when out of memory or past a limit above. Strings are copied. */
struct rsc_loop_program *rsc_loop_program_new(void);
void rsc_loop_program_free(struct rsc_loop_program *program);
/* Pointers to arrays and regions are valid until the next is added; nodes never move. */
struct rsc_loop_array *rsc_loop_add_array(struct rsc_loop_program *program, const char *name);
struct rsc_loop_region *rsc_loop_add_region(struct rsc_loop_program *program, const char *name);
struct rsc_loop_node *rsc_loop_add_node(struct rsc_loop_program *program, struct rsc_loop_node *parent,
                                        enum rsc_loop_kind kind);
/* Adds a term to a bound (quotients of numbers become numbers) / a condition to a guard; 0, RSC_ENOMEM or RSC_ELIMIT. */
int rsc_loop_add_term(struct rsc_loop_program *program, struct rsc_loop_bound *bound, const struct rsc_loop_term *term);
int rsc_loop_add_condition(struct rsc_loop_program *program, struct rsc_loop_node *guard,
                           const struct rsc_condition *condition);
/* `gap` is copied with its strings. */
int rsc_loop_add_gap(struct rsc_loop_program *program, struct rsc_loop_region *region, const struct rsc_loop_gap *gap);

/*
 * Checks the whole program and fills the fields marked "sealed". Messages begin with
 * `name` (a file). May be called again after nodes were added or changed. Errors:
 * RSC_EFORMAT for an invalid tree (a shared loop outside PARALLEL), RSC_ELIMIT if
 * values could exceed RSC_LOOP_VALUE_MAX, RSC_ENOMEM.
 */
int rsc_loop_seal(struct rsc_loop_program *program, const char *name, struct rsc_error *error);
/* The same, but of several regions one with values that are too large becomes empty and has that as its gap. */
int rsc_loop_seal_each(struct rsc_loop_program *program, const char *name, struct rsc_error *error);

/*
 * Assigns addresses to arrays without has_base: in order, each from the next line
 * boundary, from 0, shared ones first; arrays with a base are skipped over. If
 * references could reach before the start of an array of unknown extent, it begins
 * that much later. line_bytes is a power of two. Returns 0, or RSC_ELIMIT when out of
 * addresses.
 */
int rsc_loop_layout(struct rsc_loop_program *program, uint64_t line_bytes, struct rsc_error *error);

static inline int rsc_loop_extents_known(const struct rsc_loop_array *array) {
    return !array->rank || array->extent[0];
}

const char *rsc_schedule_name(enum rsc_schedule schedule);
/* Of all loops that are shared among threads: "static", "dynamic,4", "static collapse(2)", "sequential"; several different
 * ones joined by "; ". */
void rsc_loop_region_schedule(const struct rsc_loop_region *region, char *text, size_t room);
/* Whether a region of a sealed program only initialises or prints data. (loop_aside.c) */
int rsc_loop_region_is_aside(const struct rsc_loop_region *region);

/* Evaluating a sealed program: value[d] is the variable of depth d. */
static inline int64_t rsc_affine_at(const struct rsc_affine *affine, const int64_t *value, uint32_t depth) {
    int64_t sum = affine->constant;
    for (uint32_t d = 0; d < depth; d++) sum += affine->coefficient[d] * value[d];
    return sum;
}

static inline int64_t rsc_floor_divide(int64_t a, int64_t b) { return a / b - (a % b < 0); } /* b > 0 */
static inline int64_t rsc_ceil_divide(int64_t a, int64_t b) { return a / b + (a % b > 0); } /* b > 0 */

static inline int64_t rsc_loop_term_at(const struct rsc_loop_term *term, const int64_t *value, uint32_t depth) {
    int64_t sum = rsc_affine_at(&term->value, value, depth);
    if (term->rounding == RSC_ROUND_NONE) return sum;
    return term->rounding == RSC_ROUND_FLOOR ? rsc_floor_divide(sum, term->divisor)
                                             : rsc_ceil_divide(sum, term->divisor);
}

/* A loop of one iteration by its form (first == last, one term each), which expresses quotients and remainders. */
int rsc_loop_is_let(const struct rsc_loop_node *loop);

#endif
