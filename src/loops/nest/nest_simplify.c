/*
 * nest_simplify.c - keeps counts of guarded references cheap; see nest.h.
 *
 * A clamped subscript is one reference in each of several guards, of which exactly
 * one holds: together their count is constant, though each alone is not. If one
 * reference alone is counted, conditions around it become bounds of its loops, and
 * two loops that do not bound each other may be interchanged: this numbers the
 * instances in another order, but each once.
 */
#include <string.h>

#include "loops/nest/nest.h"

#define GUARDS_MAX 64u

/* ---- guards that partition all cases ---- */

static int same_affine(const struct rsc_nest_affine *a, const struct rsc_nest_affine *b, int64_t sign,
                       int64_t constant) {
    if (a->count != b->count || a->depths != b->depths || a->constant != sign * b->constant + constant) return 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->coefficient[i] != sign * b->coefficient[i]) return 0;
    return 1;
}

int rsc_nest_same_remainder(const struct rsc_nest_condition *a, const struct rsc_nest_condition *b) {
    return a->modulus == b->modulus && same_affine(&a->value, &b->value, 1, 0);
}

/* Whether a holds when b does (opposite 0), or exactly when b does not (1). */
static int is_condition(const struct rsc_nest_condition *a, const struct rsc_nest_condition *b, int opposite) {
    if (!opposite) return a->kind == b->kind && a->modulus == b->modulus && same_affine(&a->value, &b->value, 1, 0);
    if (a->kind == RSC_WHEN_AT_LEAST) return b->kind == RSC_WHEN_AT_LEAST && same_affine(&a->value, &b->value, -1, -1);
    static const enum rsc_condition_kind other[][2] = {{RSC_WHEN_ZERO, RSC_WHEN_NOT_ZERO},
                                                       {RSC_WHEN_DIVISIBLE, RSC_WHEN_INDIVISIBLE}};
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 2; j++)
            if (a->kind == other[i][j] && b->kind == other[i][!j])
                return a->modulus == b->modulus && same_affine(&a->value, &b->value, 1, 0);
    return 0;
}

static uint32_t find_condition(const struct rsc_nest_node *guard, uint64_t left, const struct rsc_nest_condition *like,
                               int opposite) {
    for (uint32_t i = 0; i < guard->condition_count; i++)
        if (left >> i & 1 && is_condition(&guard->condition[i], like, opposite)) return i;
    return UINT32_MAX;
}

/*
 * Whether exactly one of the guards holds for all values, given the conditions left:
 * one condition divides the guards into those that have it and those that have its
 * opposite, and each part must partition the remaining cases.
 */
static int share_out(struct rsc_nest_node **guard, uint64_t *left, uint32_t count) {
    if (count == 1) return !left[0];
    for (uint32_t c = 0; c < guard[0]->condition_count; c++) {
        if (!(left[0] >> c & 1)) continue;
        const struct rsc_nest_condition *by = &guard[0]->condition[c];
        struct rsc_nest_node *part[GUARDS_MAX];
        uint64_t rest[GUARDS_MAX];
        uint32_t with = 0, without = 0;
        for (uint32_t i = 0; i < count; i++) {
            uint32_t has = find_condition(guard[i], left[i], by, 0), lacks = find_condition(guard[i], left[i], by, 1);
            if ((has == UINT32_MAX) == (lacks == UINT32_MAX)) break;
            uint32_t at = has != UINT32_MAX ? with++ : count - ++without;
            part[at] = guard[i];
            rest[at] = left[i] & ~(UINT64_C(1) << (has != UINT32_MAX ? has : lacks));
        }
        if (with + without < count || !without) continue;
        return share_out(part, rest, with) && share_out(part + with, rest + with, without);
    }
    return 0;
}

int rsc_nest_guards_share_out(struct rsc_nest_node *const *child, uint32_t count) {
    struct rsc_nest_node *guard[GUARDS_MAX];
    uint64_t left[GUARDS_MAX];
    if (count < 2 || count > GUARDS_MAX) return 0;
    for (uint32_t i = 0; i < count; i++) {
        const struct rsc_nest_node *node = child[i];
        if (node->kind != RSC_NODE_GUARD || node->empty || node->body_depths || node->condition_count > 63 ||
            node->body_fixed != child[0]->body_fixed)
            return 0;
        guard[i] = child[i];
        left[i] = (UINT64_C(1) << node->condition_count) - 1;
    }
    return share_out(guard, left, count);
}

/* ---- one reference alone ---- */

static int has_control(const struct rsc_nest_node *node) {
    if (node->kind == RSC_NODE_PARALLEL || node->kind == RSC_NODE_SINGLE || node->kind == RSC_NODE_BARRIER) return 1;
    if (node->kind == RSC_NODE_LOOP && node->from->share) return 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (has_control(node->child[i])) return 1;
    return 0;
}

/* A loop whose iteration order is free: not shared, and without thread control inside. */
static int is_free(const struct rsc_nest_node *loop) {
    if (loop->kind != RSC_NODE_LOOP || has_control(loop)) return 0;
    for (const struct rsc_nest_node *node = loop->parent; node; node = node->parent)
        if (node->kind == RSC_NODE_LOOP && node->from->share) return loop->depth >= node->depth + node->from->collapse;
    return 1;
}

static int is_alone(const struct rsc_nest_node *parent, const struct rsc_nest_node *child) {
    return parent->child_count == 1 && parent->child[0] == child;
}

/* Turns a condition into a bound of the loop of its innermost variable. Returns 0 if impossible. */
static int make_bound(struct rsc_nest *nest, struct rsc_nest_node *loop, const struct rsc_nest_condition *condition) {
    struct rsc_nest_term term = {
        .value = {.constant = condition->value.constant}, .divisor = 1, .rounding = RSC_ROUND_NONE};
    int64_t own = 0;
    for (uint32_t i = 0; i < condition->value.count; i++) {
        if (condition->value.depth[i] == loop->depth) {
            own = condition->value.coefficient[i];
            continue;
        }
        term.value.depth[term.value.count] = condition->value.depth[i];
        term.value.coefficient[term.value.count++] = condition->value.coefficient[i];
        term.value.depths |= 1u << condition->value.depth[i];
    }
    if ((own != 1 && own != -1) || (loop->step != 1 && loop->step != -1)) return 0;
    if (own == 1) { /* v + rest >= 0: v is at least -rest */
        term.value.constant = -term.value.constant;
        for (uint32_t i = 0; i < term.value.count; i++) term.value.coefficient[i] = -term.value.coefficient[i];
    }
    int at_first = own == loop->step;
    uint32_t count = at_first ? loop->first_count : loop->last_count;
    struct rsc_nest_term *terms = rsc_arena_alloc(&nest->arena, (count + 1) * sizeof *terms);
    if (!terms) return 0;
    memcpy(terms, at_first ? loop->first : loop->last, count * sizeof *terms);
    terms[count] = term;
    if (at_first) {
        loop->first = terms;
        loop->first_count++;
    } else {
        loop->last = terms;
        loop->last_count++;
    }
    loop->bound_depths |= term.value.depths;
    loop->fixed = 0;
    return 1;
}

static void move_conditions(struct rsc_nest *nest, struct rsc_nest_node *guard) {
    uint32_t kept = 0;
    for (uint32_t i = 0; i < guard->condition_count; i++) {
        const struct rsc_nest_condition condition = guard->condition[i];
        int moved = 0;
        struct rsc_nest_node *node = guard;
        while (condition.kind == RSC_WHEN_AT_LEAST && condition.value.count && node->parent &&
               is_alone(node->parent, node)) {
            node = node->parent;
            if (node->kind == RSC_NODE_BODY || node->kind == RSC_NODE_SINGLE || node->kind == RSC_NODE_PARALLEL) break;
            if (node->kind != RSC_NODE_LOOP) continue;
            if (!is_free(node)) break;
            if (node->depth != condition.deepest) continue;
            moved = make_bound(nest, node, &condition);
            break;
        }
        if (!moved) guard->condition[kept++] = condition;
    }
    guard->condition_count = kept;
}

static int depends_on(const struct rsc_nest_node *node, uint32_t depth) {
    if (node->kind == RSC_NODE_LOOP && node->bound_depths >> depth & 1) return 1;
    if (node->kind == RSC_NODE_GUARD)
        for (uint32_t i = 0; i < node->condition_count; i++)
            if (node->condition[i].value.depths >> depth & 1) return 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (depends_on(node->child[i], depth)) return 1;
    return 0;
}

/*
 * If the bounds of the inner of two loops depend on a loop further out, and its body
 * on the outer one: moves the inner loop outwards, so that the body of the outer one
 * depends on the outer one alone.
 */
static void swap_outwards(struct rsc_nest_node *inner) {
    for (struct rsc_nest_node *outer = inner->parent;
         outer && outer->parent && is_free(outer) && is_alone(outer, inner); outer = inner->parent) {
        if (!inner->bound_depths || inner->bound_depths >> outer->depth & 1 || outer->bound_depths ||
            !depends_on(inner, outer->depth))
            return;
        struct rsc_nest_node *around = outer->parent;
        uint32_t place = 0;
        while (around->child[place] != outer) place++;
        struct rsc_nest_node **children = outer->child;
        uint32_t count = inner->child_count;
        around->child[place] = inner;
        inner->parent = around;
        outer->child = inner->child;
        outer->child_count = count;
        for (uint32_t i = 0; i < count; i++) outer->child[i]->parent = outer;
        inner->child = children; /* room for one */
        inner->child[0] = outer;
        inner->child_count = 1;
        outer->parent = inner;
    }
}

static int counts_nothing(const struct rsc_nest_node *node) {
    if (node->kind == RSC_NODE_REFERENCE) return !node->weight;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!counts_nothing(node->child[i])) return 0;
    return 1;
}

/* Within pieces that run as a whole: drops children without references, and moves conditions into loops. */
static void simplify(struct rsc_nest *nest, struct rsc_nest_node *node, int inside) {
    if (counts_nothing(node)) return;
    inside |= node->kind == RSC_NODE_SINGLE || (node->kind == RSC_NODE_LOOP && node->from->share) || !has_control(node);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!inside || !counts_nothing(node->child[i])) node->child[kept++] = node->child[i];
    node->child_count = kept;
    for (uint32_t i = 0; i < node->child_count; i++) simplify(nest, node->child[i], inside);
    if (node->kind == RSC_NODE_GUARD && inside) move_conditions(nest, node);
}

static void swap_below(struct rsc_nest_node *node) {
    for (uint32_t i = 0; i < node->child_count; i++) swap_below(node->child[i]);
    if (is_free(node) && node->child_count) swap_outwards(node);
}

void rsc_nest_simplify_alone(struct rsc_nest *nest) {
    simplify(nest, nest->root, 0);
    swap_below(nest->root);
}
