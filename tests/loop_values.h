/* loop_values.h - what loops and guards of a sealed tree mean, evaluated as they are written, for tests to hold nests against. */
#ifndef RSC_TESTS_LOOP_VALUES_H
#define RSC_TESTS_LOOP_VALUES_H

#include "loops/tree/loop_tree.h"

/* The first value of a loop's variable and how many values it takes (0: none), with the outer variables given. */
static inline int64_t loop_trip(const struct rsc_loop_node *loop, const int64_t *value, int64_t *first) {
    int up = loop->step > 0;
    int64_t from = rsc_loop_term_at(&loop->first.term[0], value, loop->depth);
    int64_t to = rsc_loop_term_at(&loop->last.term[0], value, loop->depth);
    for (uint32_t i = 1; i < loop->first.count; i++) {
        int64_t at = rsc_loop_term_at(&loop->first.term[i], value, loop->depth);
        if (up ? at > from : at < from) from = at;
    }
    for (uint32_t i = 1; i < loop->last.count; i++) {
        int64_t at = rsc_loop_term_at(&loop->last.term[i], value, loop->depth);
        if (up ? at < to : at > to) to = at;
    }
    *first = from;
    if (up) return to < from ? 0 : (to - from) / loop->step + 1;
    return to > from ? 0 : (from - to) / -loop->step + 1;
}

static inline int condition_holds(const struct rsc_condition *condition, const int64_t *value, uint32_t depth) {
    int64_t sum = rsc_affine_at(&condition->value, value, depth);
    switch (condition->kind) {
    case RSC_WHEN_AT_LEAST: return sum >= 0;
    case RSC_WHEN_ZERO: return sum == 0;
    case RSC_WHEN_NOT_ZERO: return sum != 0;
    case RSC_WHEN_DIVISIBLE: return sum % condition->modulus == 0;
    case RSC_WHEN_INDIVISIBLE: return sum % condition->modulus != 0;
    }
    return 0;
}

static inline int guard_holds(const struct rsc_loop_node *guard, const int64_t *value) {
    for (uint32_t i = 0; i < guard->condition_count; i++)
        if (!condition_holds(&guard->condition[i], value, guard->depth)) return 0;
    return 1;
}

#endif
