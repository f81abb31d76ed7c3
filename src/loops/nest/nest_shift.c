/*
 * nest_shift.c - loops whose body makes the same number of references after all variables around it have
 * moved by the same amount.
 *
 * In a triangle of (i, j) the body of j often depends on j - i alone, and on remainders of both (conditions that depend
 * on data). Running sums of j then serve all i with the same remainder: N sums of N become a few.
 *
 * Let the loop's own variable and the outer ones that its body depends on move on by M. A variable of a loop inside moves
 * by w M, where w is the sum of its bounds' coefficients times the w of their variables: all bounds must agree on it.
 * A condition must not notice: its own sum of that kind is 0, or a multiple of its modulus with M. One that has outer
 * variables only may notice: whether it holds becomes part of what a sum is kept for.
 */
#include <stdlib.h>

#include "loops/nest/nest.h"

#define SHIFT_MOST INT64_C(1024) /* with more remainders little would be shared */
#define TESTS_AT (RSC_LOOP_DEPTH_MAX - 1) /* where a key has which conditions hold */
#define COEFFICIENT_MOST (INT64_C(1) << 20)

struct shift {
    const struct rsc_nest_node *loop;
    int64_t weight[RSC_LOOP_DEPTH_MAX]; /* of each variable, in units of the shift */
    int64_t by;
    const struct rsc_nest_condition *test[RSC_NEST_TESTS_MAX];
    uint32_t tests;
};

/* How far the sum moves, in units of the shift; returns 0 if it is too large to say. */
static int moved(const struct shift *shift, const struct rsc_nest_affine *affine, int64_t *sum) {
    *sum = 0;
    for (uint32_t i = 0; i < affine->count; i++) {
        if (llabs(affine->coefficient[i]) > COEFFICIENT_MOST) return 0;
        *sum += affine->coefficient[i] * shift->weight[affine->depth[i]];
        if (llabs(*sum) > COEFFICIENT_MOST) return 0;
    }
    return 1;
}

static int follow_condition(struct shift *shift, const struct rsc_nest_condition *condition) {
    int64_t sum;
    if (!moved(shift, &condition->value, &sum)) return 0;
    if (!sum) return 1;
    if (condition->kind == RSC_WHEN_DIVISIBLE || condition->kind == RSC_WHEN_INDIVISIBLE) {
        int64_t every = condition->modulus / rsc_common_divisor(sum, condition->modulus);
        if (every > SHIFT_MOST) return 0;
        shift->by *= every / rsc_common_divisor(shift->by, every);
        return shift->by <= SHIFT_MOST;
    }
    if (condition->value.depths & ~shift->loop->outer || shift->tests == RSC_NEST_TESTS_MAX) return 0;
    shift->test[shift->tests++] = condition;
    return 1;
}

static int follow_bounds(struct shift *shift, const struct rsc_nest_node *loop, const struct rsc_nest_term *term,
                         uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        int64_t sum, divisor = term[i].rounding == RSC_ROUND_NONE ? 1 : term[i].divisor;
        if (divisor > COEFFICIENT_MOST || !moved(shift, &term[i].value, &sum) ||
            sum != shift->weight[loop->depth] * divisor)
            return 0;
    }
    return 1;
}

static int follow_body(struct shift *shift, const struct rsc_nest_node *node);

static int follow(struct shift *shift, const struct rsc_nest_node *node) {
    if (node->kind == RSC_NODE_LOOP) {
        int64_t sum = 0, divisor = 1;
        if (!node->fixed) {
            divisor = node->first[0].rounding == RSC_ROUND_NONE ? 1 : node->first[0].divisor;
            if (!moved(shift, &node->first[0].value, &sum) || sum % divisor) return 0;
        }
        shift->weight[node->depth] = sum / divisor;
        if (!node->fixed && (!follow_bounds(shift, node, node->first, node->first_count) ||
                             !follow_bounds(shift, node, node->last, node->last_count)))
            return 0;
    }
    for (uint32_t i = 0; node->kind == RSC_NODE_GUARD && i < node->condition_count; i++)
        if (!follow_condition(shift, &node->condition[i])) return 0;
    return follow_body(shift, node);
}

/* Children whose counts do not vary need not be followed. */
static int follow_body(struct shift *shift, const struct rsc_nest_node *node) {
    for (uint32_t i = 0; i < node->varying_count; i++)
        if (!follow(shift, node->varying[i])) return 0;
    return 1;
}

void rsc_nest_find_shift(struct rsc_nest *nest, struct rsc_nest_node *loop) {
    struct shift shift = {.loop = loop, .by = 1};
    uint32_t own = 1u << loop->depth, others = loop->body_depths & ~own;
    if (!(loop->body_depths & own) || !others || loop->residue_count || loop->body_depths >> TESTS_AT) return;
    for (uint32_t d = 0; d < RSC_LOOP_DEPTH_MAX; d++) shift.weight[d] = loop->body_depths >> d & 1;
    if (!follow_body(&shift, loop)) return;
    loop->test = rsc_arena_alloc(&nest->arena, (shift.tests + (size_t)1) * sizeof *loop->test);
    if (!loop->test) {
        nest->status = RSC_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < shift.tests; i++) loop->test[i] = shift.test[i];
    loop->test_count = shift.tests;
    loop->shift = shift.by;
}

void rsc_nest_shift_values(const struct rsc_nest_node *loop, const int64_t *value, int64_t first, int64_t *values) {
    uint32_t others = loop->body_depths & ~(1u << loop->depth);
    uint32_t outermost = (uint32_t)__builtin_ctz(others);
    int64_t from = value[outermost], rest = from % loop->shift;
    for (uint32_t d = outermost + 1; others >> d; d++)
        if (others >> d & 1) values[d] = value[d] - from;
    values[outermost] = rest < 0 ? rest + loop->shift : rest;
    values[loop->depth] = first - from;
    for (uint32_t i = 0; i < loop->test_count; i++)
        values[TESTS_AT] |= (int64_t)rsc_nest_condition_holds(loop->test[i], value) << i;
}
