/*
 * loop_tree.c - builds and seals loop trees.
 *
 * Sealing walks each region once. The range of a variable is computed from those of
 * the variables around it by interval arithmetic in 128 bits, so a bound or an offset
 * that could exceed RSC_LOOP_VALUE_MAX is found before anything evaluates it. The
 * ranges may be wider than the actual values of a triangular nest.
 */
#include "loops/tree/loop_tree.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/tree/affine.h"

typedef __int128 wide;

struct rsc_loop_program *rsc_loop_program_new(void) {
    struct rsc_loop_program *program = calloc(1, sizeof *program);
    if (program) rsc_arena_init(&program->arena);
    return program;
}

void rsc_loop_program_free(struct rsc_loop_program *program) {
    if (!program) return;
    rsc_arena_free(&program->arena);
    free(program);
}

/* Makes room for one more item of `bytes` in a list of the arena; the old list stays allocated there. */
static int make_room(struct rsc_loop_program *program, void *list, uint32_t count, uint32_t *room, size_t bytes) {
    void *old, *larger;
    if (count < *room) return 0;
    uint32_t rooms = *room ? *room * 2 : 4;
    memcpy(&old, list, sizeof old);
    larger = rsc_arena_alloc(&program->arena, rooms * bytes);
    if (!larger) return RSC_ENOMEM;
    if (count) memcpy(larger, old, count * bytes);
    memcpy(list, &larger, sizeof larger);
    *room = rooms;
    return 0;
}

struct rsc_loop_array *rsc_loop_add_array(struct rsc_loop_program *program, const char *name) {
    if (program->array_count >= RSC_LOOP_ARRAYS_MAX) return NULL;
    if (make_room(program, &program->array, program->array_count, &program->array_room, sizeof *program->array))
        return NULL;
    struct rsc_loop_array *array = &program->array[program->array_count];
    *array = (struct rsc_loop_array){.name = rsc_arena_strdup(&program->arena, name), .element_bytes = 1};
    if (!array->name) return NULL;
    program->array_count++;
    program->sealed = 0;
    return array;
}

static struct rsc_loop_node *new_node(struct rsc_loop_program *program, enum rsc_loop_kind kind) {
    if (program->node_total >= RSC_LOOP_NODES_MAX) return NULL;
    struct rsc_loop_node *node = rsc_arena_alloc(&program->arena, sizeof *node);
    if (!node) return NULL;
    *node = (struct rsc_loop_node){.kind = kind, .collapse = 1, .step = 1, .size_bytes = 1};
    program->node_total++;
    program->sealed = 0;
    return node;
}

struct rsc_loop_region *rsc_loop_add_region(struct rsc_loop_program *program, const char *name) {
    if (make_room(program, &program->region, program->region_count, &program->region_room, sizeof *program->region))
        return NULL;
    struct rsc_loop_region *region = &program->region[program->region_count];
    *region = (struct rsc_loop_region){.name = rsc_arena_strdup(&program->arena, name),
                                       .root = new_node(program, RSC_NODE_BODY)};
    if (!region->name || !region->root) return NULL;
    program->region_count++;
    return region;
}

struct rsc_loop_node *rsc_loop_add_node(struct rsc_loop_program *program, struct rsc_loop_node *parent,
                                        enum rsc_loop_kind kind) {
    if (make_room(program, &parent->child, parent->child_count, &parent->child_room, sizeof *parent->child))
        return NULL;
    struct rsc_loop_node *node = new_node(program, kind);
    if (!node) return NULL;
    node->parent = parent;
    node->index = parent->child_count;
    node->depth = parent->depth + (parent->kind == RSC_NODE_LOOP);
    node->line = parent->line;
    node->file = parent->file;
    parent->child[parent->child_count++] = node;
    return node;
}

int rsc_loop_add_term(struct rsc_loop_program *program, struct rsc_loop_bound *bound,
                      const struct rsc_loop_term *term) {
    if (bound->count >= RSC_LOOP_TERMS_MAX) return RSC_ELIMIT;
    struct rsc_loop_term *more = rsc_arena_alloc(&program->arena, (bound->count + 1) * sizeof *more);
    if (!more) return RSC_ENOMEM;
    if (bound->count) memcpy(more, bound->term, bound->count * sizeof *more);
    struct rsc_loop_term *added = &more[bound->count++];
    *added = *term;
    if (added->rounding != RSC_ROUND_NONE && added->divisor > 0 &&
        (added->divisor == 1 || rsc_affine_is_number(&added->value))) {
        if (added->divisor > 1) added->value = rsc_affine_number(rsc_loop_term_at(added, NULL, 0));
        added->divisor = 1;
        added->rounding = RSC_ROUND_NONE;
    }
    bound->term = more;
    return 0;
}

int rsc_loop_add_condition(struct rsc_loop_program *program, struct rsc_loop_node *guard,
                           const struct rsc_condition *condition) {
    if (guard->condition_count >= RSC_LOOP_TERMS_MAX) return RSC_ELIMIT;
    struct rsc_condition *more = rsc_arena_alloc(&program->arena, (guard->condition_count + 1) * sizeof *more);
    if (!more) return RSC_ENOMEM;
    if (guard->condition_count) memcpy(more, guard->condition, guard->condition_count * sizeof *more);
    more[guard->condition_count++] = *condition;
    guard->condition = more;
    return 0;
}

int rsc_loop_add_gap(struct rsc_loop_program *program, struct rsc_loop_region *region,
                     const struct rsc_loop_gap *from) {
    if (region->gap_count >= RSC_LOOP_NODES_MAX) return RSC_ELIMIT;
    if (make_room(program, &region->gap, region->gap_count, &region->gap_room, sizeof *region->gap)) return RSC_ENOMEM;
    struct rsc_loop_gap *gap = &region->gap[region->gap_count];
    *gap = *from;
    if (from->file) gap->file = rsc_arena_strdup(&program->arena, from->file);
    if (from->text) gap->text = rsc_arena_strdup(&program->arena, from->text);
    gap->reason = rsc_arena_strdup(&program->arena, from->reason);
    if ((from->file && !gap->file) || (from->text && !gap->text) || !gap->reason) return RSC_ENOMEM;
    region->gap_count++;
    return 0;
}

const char *rsc_schedule_name(enum rsc_schedule schedule) {
    static const char *const names[] = {"static", "dynamic", "guided"};
    return names[schedule];
}

static int same_term(const struct rsc_loop_term *a, const struct rsc_loop_term *b) {
    return a->divisor == b->divisor && a->rounding == b->rounding && !memcmp(&a->value, &b->value, sizeof a->value);
}

int rsc_loop_is_let(const struct rsc_loop_node *loop) {
    return loop->kind == RSC_NODE_LOOP && !loop->share && loop->step == 1 && loop->first.count == 1 &&
           loop->last.count == 1 && same_term(&loop->first.term[0], &loop->last.term[0]);
}

/* State of the walk down the tree. */
struct walk {
    struct rsc_loop_program *program;
    struct rsc_loop_region *region;
    const char *name;
    struct rsc_error *error;
    int64_t least[RSC_LOOP_DEPTH_MAX], most[RSC_LOOP_DEPTH_MAX];
    int follows[RSC_LOOP_DEPTH_MAX];
    const struct rsc_loop_term *quotient[RSC_LOOP_DEPTH_MAX]; /* floor(E / d) that the variable is; NULL: it is none */
    int in_single;
    uint32_t collapse_left; /* loops below that are split together with one above */
    uint32_t nesting; /* nodes around this one, all kinds */
    const struct rsc_loop_node *bad; /* what an error is about */
    const char *what;
};

static int fail(struct walk *walk, const struct rsc_loop_node *node, int code, const char *what) {
    const char *file = node->file ? node->file : walk->region->file;
    walk->bad = node;
    walk->what = what;
    if (node->line && (!file || !strcmp(file, walk->name)))
        return rsc_fail(walk->error, code, "%s:%u: %s", walk->name, node->line, what);
    if (node->line) return rsc_fail(walk->error, code, "%s: %s:%u: %s", walk->name, file, node->line, what);
    return rsc_fail(walk->error, code, "%s: %s: %s", walk->name, walk->region->name, what);
}

static int too_large(wide value) { return value > RSC_LOOP_VALUE_MAX || value < -RSC_LOOP_VALUE_MAX; }

/*
 * With q = floor(E / d), E - d q is 0 to d - 1, which the ranges of E and q alone do not show: they make i - 1024 q as
 * wide as i. Every quotient, from the innermost on, is replaced by its remainder.
 */
static void narrow_by_remainders(const struct walk *walk, const struct rsc_affine *affine, uint32_t depth, wide *least,
                                 wide *most) {
    wide constant = affine->constant, coefficient[RSC_LOOP_DEPTH_MAX], from = 0, to = 0;
    for (uint32_t d = 0; d < depth; d++) coefficient[d] = affine->coefficient[d];
    for (uint32_t d = depth; d--;) {
        const struct rsc_loop_term *quotient = walk->quotient[d];
        if (!quotient || !coefficient[d] || coefficient[d] % quotient->divisor) continue;
        wide factor = -coefficient[d] / quotient->divisor, rest = factor * (quotient->divisor - 1), low, high;
        coefficient[d] = 0;
        constant -= factor * quotient->value.constant;
        int large = too_large(factor) || too_large(constant);
        for (uint32_t e = 0; e < d; e++) {
            coefficient[e] -= factor * quotient->value.coefficient[e];
            large |= too_large(coefficient[e]);
        }
        if (large) return;
        from += rest < 0 ? rest : 0;
        to += rest > 0 ? rest : 0;
        low = from + constant;
        high = to + constant;
        for (uint32_t e = 0; e < depth; e++) {
            wide a = coefficient[e] * walk->least[e], b = coefficient[e] * walk->most[e];
            low += a < b ? a : b;
            high += a < b ? b : a;
        }
        if (low > *most || high < *least) return; /* of a loop without iterations */
        if (low > *least) *least = low;
        if (high < *most) *most = high;
    }
}

/* The range of an affine expression; RSC_ELIMIT if it, or a part of it, is too large. */
static int affine_range(const struct walk *walk, const struct rsc_affine *affine, uint32_t depth, wide *least,
                        wide *most) {
    wide low = affine->constant, high = affine->constant, reach = low < 0 ? -low : low;
    for (uint32_t d = 0; d < depth; d++) {
        wide c = affine->coefficient[d], a, b;
        if (!c) continue;
        if (too_large(c)) return RSC_ELIMIT;
        a = c * walk->least[d];
        b = c * walk->most[d];
        low += a < b ? a : b;
        high += a < b ? b : a;
        wide far = (a < 0 ? -a : a) > (b < 0 ? -b : b) ? (a < 0 ? -a : a) : (b < 0 ? -b : b);
        reach += far;
    }
    if (too_large(reach)) return RSC_ELIMIT;
    *least = low;
    *most = high;
    narrow_by_remainders(walk, affine, depth, least, most);
    return 0;
}

static int follows_share(const struct walk *walk, const struct rsc_affine *affine, uint32_t depth) {
    for (uint32_t d = 0; d < depth; d++)
        if (affine->coefficient[d] && walk->follows[d]) return 1;
    return 0;
}

static int uses_variable(const struct rsc_affine *affine, uint32_t depth) {
    for (uint32_t d = 0; d < depth; d++)
        if (affine->coefficient[d]) return 1;
    return 0;
}

static int64_t divide(const struct rsc_loop_term *term, wide value) {
    if (term->rounding == RSC_ROUND_NONE) return (int64_t)value;
    return term->rounding == RSC_ROUND_FLOOR ? rsc_floor_divide((int64_t)value, term->divisor)
                                             : rsc_ceil_divide((int64_t)value, term->divisor);
}

/* The range of a bound, whose terms are joined by max (want_largest) or min. */
static int bound_range(const struct walk *walk, const struct rsc_loop_bound *bound, int want_largest, uint32_t depth,
                       int64_t *least, int64_t *most, int *follows, int *uses) {
    for (uint32_t i = 0; i < bound->count; i++) {
        const struct rsc_loop_term *term = &bound->term[i];
        wide low, high;
        if (affine_range(walk, &term->value, depth, &low, &high)) return RSC_ELIMIT;
        int64_t a = divide(term, low), b = divide(term, high);
        if (!i || (want_largest ? a > *least : a < *least)) *least = a;
        if (!i || (want_largest ? b > *most : b < *most)) *most = b;
        *follows |= follows_share(walk, &term->value, depth);
        *uses |= uses_variable(&term->value, depth);
    }
    return 0;
}

static int check_terms(const struct rsc_loop_bound *bound) {
    for (uint32_t i = 0; i < bound->count; i++)
        if (bound->term[i].divisor < 1 || (bound->term[i].rounding == RSC_ROUND_NONE && bound->term[i].divisor != 1))
            return -1;
    return bound->count ? 0 : -1;
}

static int seal_loop(struct walk *walk, struct rsc_loop_node *loop) {
    int64_t first_least, first_most, last_least, last_most;
    int up = loop->step > 0, first_follows = 0, last_follows = 0, uses = 0;
    uint32_t d = loop->depth;
    if (d >= RSC_LOOP_DEPTH_MAX) return fail(walk, loop, RSC_ELIMIT, "loops are nested too deep (16 at most)");
    if (!loop->step || too_large(loop->step)) return fail(walk, loop, RSC_EFORMAT, "a loop's step is 0 or too large");
    if (check_terms(&loop->first) || check_terms(&loop->last))
        return fail(walk, loop, RSC_EFORMAT, "a loop's bound is missing or divides by less than 1");
    if (bound_range(walk, &loop->first, up, d, &first_least, &first_most, &first_follows, &uses) ||
        bound_range(walk, &loop->last, !up, d, &last_least, &last_most, &last_follows, &uses))
        return fail(walk, loop, RSC_ELIMIT, "a loop's bound is too large (2^56 is the most)");
    loop->least = up ? first_least : last_least;
    loop->most = up ? last_most : first_most;
    loop->depends = uses && !rsc_loop_is_let(loop);
    if (loop->least > loop->most) loop->never = 1;
    walk->least[d] = loop->least;
    walk->most[d] = loop->most;
    walk->quotient[d] =
        rsc_loop_is_let(loop) && loop->first.term[0].rounding == RSC_ROUND_FLOOR ? &loop->first.term[0] : NULL;
    loop->follows_share = loop->share || walk->collapse_left > 0 || (first_follows && last_follows);
    walk->follows[d] = loop->follows_share;
    return 0;
}

/* The loops that a shared loop splits together must be perfectly nested. */
static int check_collapse(struct walk *walk, const struct rsc_loop_node *loop) {
    const struct rsc_loop_node *at = loop;
    for (uint32_t left = loop->collapse; left > 1; left--) {
        if (at->child_count != 1 || at->child[0]->kind != RSC_NODE_LOOP || at->child[0]->share)
            return fail(walk, loop, RSC_EFORMAT, "collapse needs perfectly nested loops");
        at = at->child[0];
    }
    return 0;
}

static int seal_guard(struct walk *walk, struct rsc_loop_node *guard) {
    for (uint32_t i = 0; i < guard->condition_count; i++) {
        const struct rsc_condition *condition = &guard->condition[i];
        int divides = condition->kind == RSC_WHEN_DIVISIBLE || condition->kind == RSC_WHEN_INDIVISIBLE;
        wide low, high;
        if (divides && condition->modulus < 2)
            return fail(walk, guard, RSC_EFORMAT, "a condition's modulus is less than 2");
        if (affine_range(walk, &condition->value, guard->depth, &low, &high))
            return fail(walk, guard, RSC_ELIMIT, "a condition's value is too large (2^56 is the most)");
        if (condition->kind == RSC_WHEN_AT_LEAST && high < 0) guard->never = 1;
        if (condition->kind == RSC_WHEN_ZERO && (high < 0 || low > 0)) guard->never = 1;
        if (condition->kind == RSC_WHEN_NOT_ZERO && low == 0 && high == 0) guard->never = 1;
    }
    return 0;
}

static int seal_reference(struct walk *walk, struct rsc_loop_node *reference) {
    wide low, high;
    if (reference->array >= walk->program->array_count)
        return fail(walk, reference, RSC_EFORMAT, "a reference to no array");
    if (!reference->size_bytes) return fail(walk, reference, RSC_EFORMAT, "a reference of no bytes");
    walk->region->reference_count++;
    reference->follows_share = follows_share(walk, &reference->offset, reference->depth);
    if (reference->never) {
        reference->least = 0;
        reference->most = -1;
        return 0;
    }
    if (affine_range(walk, &reference->offset, reference->depth, &low, &high))
        return fail(walk, reference, RSC_ELIMIT, "a subscript's value is too large (2^56 bytes are the most)");
    reference->least = (int64_t)low;
    reference->most = (int64_t)high;
    struct rsc_loop_array *array = &walk->program->array[reference->array];
    wide end = high + reference->size_bytes;
    if (!rsc_loop_extents_known(array) && end > 0 && (uint64_t)end > array->bytes) array->bytes = (uint64_t)end;
    return 0;
}

static int check_sharing(struct walk *walk, struct rsc_loop_node *node) {
    int waits =
        node->kind == RSC_NODE_BARRIER || node->kind == RSC_NODE_SINGLE || (node->kind == RSC_NODE_LOOP && node->share);
    if (!waits)
        return node->kind == RSC_NODE_PARALLEL && node->in_parallel
                   ? fail(walk, node, RSC_EFORMAT, "parallel in parallel")
                   : 0;
    if (!node->in_parallel)
        return fail(walk, node, RSC_EFORMAT, "a shared loop, single or barrier outside of parallel");
    if (walk->in_single || (node->parent && node->parent->shared_loop))
        return fail(walk, node, RSC_EFORMAT, "a shared loop, single or barrier inside a shared loop or single");
    return 0;
}

static int seal_node(struct walk *walk, struct rsc_loop_node *node) {
    const struct rsc_loop_node *parent = node->parent;
    int status = 0;
    node->id = walk->region->node_count++;
    node->depth = parent ? parent->depth + (parent->kind == RSC_NODE_LOOP) : 0;
    node->in_parallel = parent && (parent->in_parallel || parent->kind == RSC_NODE_PARALLEL);
    node->shared_loop = parent ? parent->shared_loop : NULL;
    node->never = parent ? parent->never : 0;
    node->has_barrier = node->follows_share = node->depends = 0;
    if (walk->nesting >= RSC_LOOP_NESTING_MAX)
        return fail(walk, node, RSC_ELIMIT, "blocks are nested too deep (200 at most)");
    if ((status = check_sharing(walk, node))) return status;
    if (node->kind == RSC_NODE_LOOP && node->share) {
        node->shared_loop = node;
        if (!node->collapse || node->collapse > RSC_LOOP_DEPTH_MAX || (status = check_collapse(walk, node)))
            return status ? status : fail(walk, node, RSC_EFORMAT, "collapse is 0 or more than 16");
    }
    if (node->kind == RSC_NODE_LOOP) status = seal_loop(walk, node);
    if (node->kind == RSC_NODE_GUARD) status = seal_guard(walk, node);
    if (node->kind == RSC_NODE_REFERENCE) status = seal_reference(walk, node);
    if (status) return status;
    uint32_t collapse_above = walk->collapse_left;
    if (node->kind == RSC_NODE_LOOP) {
        if (node->share) walk->collapse_left = node->collapse - 1;
        else if (walk->collapse_left) walk->collapse_left--;
    }
    if (node->kind == RSC_NODE_SINGLE) walk->in_single++;
    walk->nesting++;
    for (uint32_t i = 0; i < node->child_count && !status; i++) {
        node->child[i]->parent = node;
        node->child[i]->index = i;
        status = seal_node(walk, node->child[i]);
        node->has_barrier |= node->child[i]->has_barrier;
    }
    walk->nesting--;
    if (node->kind == RSC_NODE_SINGLE) walk->in_single--;
    walk->collapse_left = collapse_above;
    if (node->kind == RSC_NODE_PARALLEL || node->kind == RSC_NODE_BARRIER ||
        ((node->share || node->kind == RSC_NODE_SINGLE) && !node->nowait))
        node->has_barrier = 1;
    return status;
}

static void list_nodes(struct rsc_loop_node **list, struct rsc_loop_node *node, uint32_t *depth_max) {
    list[node->id] = node;
    if (node->kind == RSC_NODE_LOOP && node->depth + 1 > *depth_max) *depth_max = node->depth + 1;
    for (uint32_t i = 0; i < node->child_count; i++) list_nodes(list, node->child[i], depth_max);
}

/* Bytes of the extents, or RSC_ELIMIT. */
static int declared_bytes(struct rsc_loop_array *array) {
    wide bytes = array->element_bytes;
    if (array->rank > RSC_LOOP_RANK_MAX || !array->element_bytes) return RSC_ELIMIT;
    for (uint32_t i = 0; i < array->rank; i++) {
        if (array->extent[i] > (uint64_t)RSC_LOOP_VALUE_MAX) return RSC_ELIMIT;
        bytes *= array->extent[i];
        if (too_large(bytes)) return RSC_ELIMIT;
    }
    if (too_large(bytes)) return RSC_ELIMIT;
    array->bytes = (uint64_t)bytes;
    return 0;
}

/* A region that is too large has that as its gap, and is empty. */
static int leave_out(struct walk *walk, struct rsc_loop_region *region) {
    struct rsc_loop_gap gap = {
        .file = walk->bad->file, .line = walk->bad->line, .reason = walk->what, .text = walk->bad->text};
    region->root->child_count = 0;
    region->node_count = region->reference_count = 0;
    if (rsc_loop_add_gap(walk->program, region, &gap)) return rsc_fail_memory(walk->error, "loop tree");
    return seal_node(walk, region->root);
}

static int seal(struct rsc_loop_program *program, const char *name, int leaves_out, struct rsc_error *error) {
    for (uint32_t i = 0; i < program->array_count; i++)
        if (declared_bytes(&program->array[i]))
            return rsc_fail(error, RSC_ELIMIT, "%s: array %.60s is too large (2^56 bytes are the most)", name,
                            program->array[i].name);
    for (uint32_t i = 0; i < program->region_count; i++) {
        struct rsc_loop_region *region = &program->region[i];
        struct walk walk = {.program = program, .region = region, .name = name, .error = error};
        region->node_count = region->reference_count = region->depth_max = 0;
        int status = seal_node(&walk, region->root);
        if (status == RSC_ELIMIT && leaves_out && walk.what) {
            walk = (struct walk){
                .program = program, .region = region, .name = name, .error = error, .bad = walk.bad, .what = walk.what};
            status = leave_out(&walk, region);
        }
        if (status) return status;
        region->node = rsc_arena_alloc(&program->arena, region->node_count * sizeof *region->node);
        if (!region->node) return rsc_fail_memory(error, "loop tree");
        list_nodes(region->node, region->root, &region->depth_max);
    }
    program->sealed = 1;
    return 0;
}

int rsc_loop_seal(struct rsc_loop_program *program, const char *name, struct rsc_error *error) {
    return seal(program, name, 0, error);
}

int rsc_loop_seal_each(struct rsc_loop_program *program, const char *name, struct rsc_error *error) {
    return seal(program, name, program->region_count > 1, error);
}
