/*
 * clang_value.c - arithmetic on values, and deciding comparisons.
 *
 * The prover is small on purpose: an affine expression is at least 0 if interval
 * arithmetic over the loops shows it, directly or after subtracting one expression
 * known to be at least 0 (a bound of an enclosing loop, a comparison on this path).
 * What it cannot prove is split into cases, which is correct too, only longer.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/grow.h"
#include "loops/front/clang_front.h"

static const char too_large[] = "a number passes 2^56";

uint32_t front_depth(const struct front *front) {
    return front->at ? front->at->depth + (front->at->kind == RSC_NODE_LOOP) : 0;
}

void value_number(struct value *value, const struct rsc_affine *affine) {
    value->kind = VALUE_NUMBER;
    value->join = JOIN_ONE;
    value->count = 1;
    value->term[0] = (struct rsc_loop_term){.value = *affine, .divisor = 1, .rounding = RSC_ROUND_NONE};
}

void value_constant(struct value *value, int64_t number) {
    struct rsc_affine affine = rsc_affine_number(number);
    value_number(value, &affine);
}

void value_opaque(struct value *value, const char *format, ...) {
    char reason[sizeof value->reason]; /* an argument may be the old reason */
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(reason, sizeof reason, format, arguments);
    va_end(arguments);
    value->kind = VALUE_OPAQUE;
    value->is_fresh = value->of_loops = 0;
    memcpy(value->reason, reason, sizeof reason);
}

int value_is_of_loops(const struct value *value) {
    return value->kind == VALUE_NUMBER || (value->kind == VALUE_OPAQUE && value->of_loops);
}

static int is_plain(const struct value *value) {
    return value->kind == VALUE_NUMBER && value->count == 1 && value->term[0].rounding == RSC_ROUND_NONE;
}

int value_is_constant(const struct value *value, int64_t *number) {
    if (!is_plain(value) || !rsc_affine_is_number(&value->term[0].value)) return 0;
    *number = value->term[0].value.constant;
    return 1;
}

/* Checks that both are numbers; otherwise makes *into opaque and returns -1. */
static int both_numbers(struct value *into, const struct value *other) {
    if (into->kind == VALUE_NUMBER && other->kind == VALUE_NUMBER) return 0;
    if (into->kind != VALUE_OPAQUE)
        value_opaque(into, "%s", other->kind == VALUE_OPAQUE ? other->reason : "arithmetic on a pointer");
    return -1;
}

static int affine_range(const struct front *front, const struct rsc_affine *affine, int64_t *least, int64_t *most) {
    __int128 low = affine->constant, high = affine->constant;
    for (uint32_t d = 0; d < RSC_LOOP_DEPTH_MAX; d++) {
        __int128 a = (__int128)affine->coefficient[d] * front->least[d],
                 b = (__int128)affine->coefficient[d] * front->most[d];
        if (!affine->coefficient[d]) continue;
        low += a < b ? a : b;
        high += a < b ? b : a;
    }
    if (low < -RSC_LOOP_VALUE_MAX || high > RSC_LOOP_VALUE_MAX) return -1;
    *least = (int64_t)low;
    *most = (int64_t)high;
    return 0;
}

static int term_range(const struct front *front, const struct rsc_loop_term *term, int64_t *least, int64_t *most) {
    if (affine_range(front, &term->value, least, most)) return -1;
    if (term->rounding == RSC_ROUND_FLOOR) {
        *least = rsc_floor_divide(*least, term->divisor);
        *most = rsc_floor_divide(*most, term->divisor);
    } else if (term->rounding == RSC_ROUND_CEIL) {
        *least = rsc_ceil_divide(*least, term->divisor);
        *most = rsc_ceil_divide(*most, term->divisor);
    }
    return 0;
}

int front_value_range(const struct front *front, const struct value *value, int64_t *least, int64_t *most) {
    for (uint32_t i = 0; i < value->count; i++) {
        int64_t low, high;
        if (term_range(front, &value->term[i], &low, &high)) return -1;
        int larger = value->join == JOIN_MAX;
        if (!i || (larger ? low > *least : low < *least)) *least = low;
        if (!i || (larger ? high > *most : high < *most)) *most = high;
    }
    return 0;
}

int front_proved(const struct front *front, const struct rsc_affine *affine) {
    int64_t least, most;
    if (!affine_range(front, affine, &least, &most) && least >= 0) return 1;
    for (size_t i = front->known_count; i-- > 0;) {
        struct rsc_affine rest = *affine;
        if (!rsc_affine_add(&rest, &front->known[i], -1) && !affine_range(front, &rest, &least, &most) && least >= 0)
            return 1;
    }
    return 0;
}

int front_know(struct front *front, const struct rsc_affine *affine, int64_t scale, int64_t add) {
    struct rsc_affine known = rsc_affine_number(add);
    if (rsc_affine_add(&known, affine, scale)) return 0; /* too large to be useful */
    if (RSC_GROW(front->known, front->known_room, front->known_count + 1)) return front_no_memory(front);
    front->known[front->known_count++] = known;
    return 0;
}

/* Returns 1 or 0 if the condition can be decided, else -1. */
static int settled(struct front *front, enum rsc_condition_kind kind, const struct rsc_affine *affine,
                   int64_t modulus) {
    struct rsc_affine negative = {0}, above = *affine;
    struct rsc_affine one = rsc_affine_number(1);
    if (rsc_affine_add(&negative, affine, -1) || rsc_affine_add(&negative, &one, -1) ||
        rsc_affine_add(&above, &one, -1))
        return -1;
    int below = front_proved(front, &negative); /* affine < 0 */
    switch (kind) {
    case RSC_WHEN_AT_LEAST: return front_proved(front, affine) ? 1 : below ? 0 : -1;
    case RSC_WHEN_ZERO:
        if (below || front_proved(front, &above)) return 0;
        return rsc_affine_is_number(affine) ? affine->constant == 0 : -1;
    case RSC_WHEN_DIVISIBLE:
        for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++)
            if (affine->coefficient[d] % modulus) return -1;
        return affine->constant % modulus == 0;
    default: return -1;
    }
}

static struct rsc_loop_node *add_guard(struct front *front, enum rsc_condition_kind kind,
                                       const struct rsc_affine *affine, int64_t modulus, int holds) {
    struct rsc_condition condition = {.kind = kind, .value = *affine, .modulus = modulus};
    if (!holds) {
        struct rsc_affine negative = rsc_affine_number(-1);
        if (kind == RSC_WHEN_ZERO) condition.kind = RSC_WHEN_NOT_ZERO;
        if (kind == RSC_WHEN_DIVISIBLE) condition.kind = RSC_WHEN_INDIVISIBLE;
        if (kind == RSC_WHEN_AT_LEAST) {
            if (rsc_affine_add(&negative, affine, -1)) return NULL;
            condition.value = negative;
        }
    }
    if (front->at->kind == RSC_NODE_GUARD && !front->at->child_count && front->at != front->paths->start)
        return rsc_loop_add_condition(front->program, front->at, &condition) ? NULL : front->at;
    struct rsc_loop_node *guard = rsc_loop_add_node(front->program, front->at, RSC_NODE_GUARD);
    if (guard) guard->line = 0;
    if (!guard || rsc_loop_add_condition(front->program, guard, &condition)) return NULL;
    return guard;
}

int front_decide(struct front *front, enum rsc_condition_kind kind, const struct rsc_affine *affine, int64_t modulus) {
    int known = settled(front, kind, affine, modulus);
    if (known >= 0) return known;
    struct paths *paths = front->paths;
    if (!front->at || !paths || front->flushed) return -1;
    if (paths->cursor == paths->count) {
        if (paths->count == FRONT_DECISIONS_MAX) return -1;
        paths->choice[paths->count++] = 1;
    }
    int holds = paths->choice[paths->cursor++];
    struct rsc_loop_node *guard = add_guard(front, kind, affine, modulus, holds);
    if (!guard) return front_no_memory(front);
    front->at = guard;
    if (kind == RSC_WHEN_AT_LEAST) front_know(front, affine, holds ? 1 : -1, holds ? 0 : -1);
    if (kind == RSC_WHEN_ZERO && holds) {
        front_know(front, affine, 1, 0);
        front_know(front, affine, -1, 0);
    }
    return holds;
}

static int name_taken(const struct front *front, const char *name) {
    static const char *const words[] = {"max", "min", "floor", "ceil"}; /* of the text form */
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (!strcmp(words[i], name)) return 1;
    for (uint32_t d = 0; d < front_depth(front); d++)
        if (!strcmp(front->variable[d], name)) return 1;
    return 0;
}

const char *front_fresh_name(struct front *front, const char *wish) {
    char name[300];
    if (!name_taken(front, wish)) return wish;
    for (unsigned i = 2; i < 1000; i++) {
        snprintf(name, sizeof name, "%.200s_%u", wish, i);
        if (!name_taken(front, name)) {
            char *copy = rsc_arena_strdup(&front->arena, name);
            return copy ? copy : (front->out_of_memory = 1, wish);
        }
    }
    return wish;
}

/* The variable of an enclosing let with this value, or of a new one. */
static int let(struct front *front, const struct rsc_loop_term *term, struct rsc_affine *affine) {
    for (const struct rsc_loop_node *node = front->at; node; node = node->parent)
        if (rsc_loop_is_let(node) && node->first.term[0].rounding == term->rounding &&
            node->first.term[0].divisor == term->divisor &&
            !memcmp(&node->first.term[0].value, &term->value, sizeof term->value)) {
            *affine = rsc_affine_variable(node->depth);
            return 0;
        }
    uint32_t depth = front_depth(front);
    int64_t least, most;
    if (!front->at || depth >= RSC_LOOP_DEPTH_MAX || term_range(front, term, &least, &most)) return -1;
    struct rsc_loop_node *node = rsc_loop_add_node(front->program, front->at, RSC_NODE_LOOP);
    if (!node || rsc_loop_add_term(front->program, &node->first, term) ||
        rsc_loop_add_term(front->program, &node->last, term))
        return front_no_memory(front);
    node->variable = front->variable[depth] = front_fresh_name(front, "q");
    node->line = 0;
    node->file = NULL;
    front->least[depth] = least;
    front->most[depth] = most;
    front->at = node;
    *affine = rsc_affine_variable(depth);
    return 0;
}

static int term_affine(struct front *front, const struct rsc_loop_term *term, struct rsc_affine *affine) {
    if (term->rounding == RSC_ROUND_NONE) {
        *affine = term->value;
        return 0;
    }
    if (rsc_affine_is_number(&term->value)) {
        *affine = rsc_affine_number(rsc_floor_divide(term->value.constant, term->divisor));
        return 0;
    }
    return let(front, term, affine);
}

static int not_affine(struct value *value, const char *reason) {
    value_opaque(value, "%s", reason);
    value->of_loops = 1;
    return -1;
}

int value_affine(struct front *front, struct value *value, struct rsc_affine *affine) {
    struct rsc_affine best, other, difference;
    if (value->kind != VALUE_NUMBER) {
        if (value->kind == VALUE_POINTER) value_opaque(value, "a pointer is used as a number");
        return -1;
    }
    if (term_affine(front, &value->term[0], &best)) return not_affine(value, "loops are nested too deep");
    for (uint32_t i = 1; i < value->count; i++) {
        if (term_affine(front, &value->term[i], &other)) return not_affine(value, "loops are nested too deep");
        difference = best;
        if (rsc_affine_add(&difference, &other, -1)) return not_affine(value, too_large);
        int at_least = front_decide(front, RSC_WHEN_AT_LEAST, &difference, 0);
        if (at_least < 0) return not_affine(value, "it has too many cases");
        if (at_least == (value->join == JOIN_MIN)) best = other;
    }
    *affine = best;
    value_number(value, affine);
    return 0;
}

static void negate(struct value *value) {
    for (uint32_t i = 0; i < value->count; i++) {
        struct rsc_loop_term *term = &value->term[i];
        struct rsc_affine negative = rsc_affine_number(term->rounding == RSC_ROUND_FLOOR ? term->divisor - 1 : 0);
        if (rsc_affine_add(&negative, &term->value, -1)) {
            value_opaque(value, too_large);
            return;
        }
        term->value = negative; /* -floor(E/d) = floor((-E + d - 1)/d) */
    }
    if (value->join != JOIN_ONE) value->join = value->join == JOIN_MIN ? JOIN_MAX : JOIN_MIN;
}

void value_add(struct front *front, struct value *into, const struct value *more, int sign) {
    struct value other = *more;
    struct rsc_affine affine;
    if (both_numbers(into, more)) return;
    if (sign < 0) negate(&other);
    if (other.kind == VALUE_OPAQUE) {
        value_opaque(into, "%s", other.reason);
        return;
    }
    if (!is_plain(&other) && is_plain(into)) {
        struct value swap = *into;
        *into = other;
        other = swap;
    }
    if (!is_plain(&other) && value_affine(front, &other, &affine)) {
        value_opaque(into, "%s", other.reason);
        return;
    }
    affine = other.term[0].value;
    /* A quotient plus a variable: as a let, so that other expressions can share it. */
    if (!is_plain(into) && into->count == 1 && !rsc_affine_is_number(&affine)) {
        struct rsc_affine quotient;
        if (value_affine(front, into, &quotient)) return;
    }
    for (uint32_t i = 0; i < into->count; i++) /* floor(E/d) + A = floor((E + d A)/d) */
        if (rsc_affine_add(&into->term[i].value, &affine, into->term[i].divisor)) {
            value_opaque(into, too_large);
            return;
        }
}

void value_multiply(struct front *front, struct value *into, const struct value *by) {
    struct value other = *by;
    struct rsc_affine affine, factor;
    int64_t number;
    if (both_numbers(into, by)) return;
    if (!value_is_constant(&other, &number)) {
        struct value swap = *into;
        if (!value_is_constant(&swap, &number)) {
            if (!value_affine(front, into, &affine) && !value_affine(front, &other, &factor))
                value_opaque(into, "a product of two variables is not affine");
            else if (into->kind != VALUE_OPAQUE) value_opaque(into, "%s", other.reason);
            return;
        }
        *into = other;
    }
    if (number == -1) {
        negate(into);
        return;
    }
    if (!is_plain(into) && value_affine(front, into, &affine)) return;
    factor = rsc_affine_number(number);
    if (rsc_affine_multiply(&into->term[0].value, &factor)) value_opaque(into, too_large);
}

void value_floor_divide(struct front *front, struct value *into, int64_t by) {
    (void)front;
    if (into->kind != VALUE_NUMBER || by == 1) return;
    for (uint32_t i = 0; i < into->count; i++) {
        struct rsc_loop_term *term = &into->term[i];
        __int128 divisor = (__int128)term->divisor * by; /* floor(floor(E/a)/b) = floor(E/ab) */
        if (divisor > RSC_LOOP_VALUE_MAX) {
            value_opaque(into, too_large);
            return;
        }
        term->divisor = (int64_t)divisor;
        term->rounding = RSC_ROUND_FLOOR;
        int exact = term->value.constant % term->divisor == 0;
        for (int d = 0; d < RSC_LOOP_DEPTH_MAX && exact; d++) exact = term->value.coefficient[d] % term->divisor == 0;
        if (!exact && !rsc_affine_is_number(&term->value)) continue;
        if (!exact) {
            term->value = rsc_affine_number(rsc_floor_divide(term->value.constant, term->divisor));
        } else {
            term->value.constant /= term->divisor;
            for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) term->value.coefficient[d] /= term->divisor;
        }
        term->divisor = 1;
        term->rounding = RSC_ROUND_NONE;
    }
}

/* 1: at least 0; 0: at most 0; -1: unknown. A quotient has the sign of its dividend. */
static int sign_of(struct front *front, struct value *value) {
    struct rsc_affine affine, negative = {0};
    if (value->count == 1) affine = value->term[0].value;
    else if (value_affine(front, value, &affine)) return -1;
    if (front_proved(front, &affine)) return 1;
    if (!rsc_affine_add(&negative, &affine, -1) && front_proved(front, &negative)) return 0;
    if (value_affine(front, value, &affine)) return -1;
    return front_decide(front, RSC_WHEN_AT_LEAST, &affine, 0);
}

void value_divide(struct front *front, struct value *into, int64_t by) {
    if (into->kind != VALUE_NUMBER) {
        if (into->kind == VALUE_POINTER) value_opaque(into, "arithmetic on a pointer");
        return;
    }
    if (!by) {
        value_opaque(into, "a division by 0");
        return;
    }
    if (by < 0) negate(into);
    if (into->kind != VALUE_NUMBER) return;
    by = by < 0 ? -by : by;
    int sign = by == 1 ? 1 : sign_of(front, into);
    if (sign < 0) {
        if (into->kind == VALUE_NUMBER) value_opaque(into, "the sign of what is divided is not known");
        return;
    }
    if (!sign) negate(into);
    value_floor_divide(front, into, by);
    if (!sign && into->kind == VALUE_NUMBER) negate(into);
}

void value_remainder(struct front *front, struct value *into, int64_t by) {
    struct value quotient, factor;
    struct rsc_affine affine;
    int64_t least, most;
    by = by < 0 ? -by : by; /* the sign of the divisor does not matter in C */
    if (!by) value_opaque(into, "a division by 0");
    if (into->kind == VALUE_POINTER) value_opaque(into, "arithmetic on a pointer");
    if (into->kind != VALUE_NUMBER || value_affine(front, into, &affine)) return;
    if (!affine_range(front, &affine, &least, &most) && least >= 0 && most < by) return;
    int sign = sign_of(front, into);
    quotient = *into;
    value_divide(front, &quotient, by);
    value_constant(&factor, by);
    value_multiply(front, &quotient, &factor);
    value_add(front, into, &quotient, -1);
    if (into->kind != VALUE_NUMBER || value_affine(front, into, &affine)) return;
    if (sign == 1) { /* 0 to by - 1, which interval arithmetic does not find */
        front_know(front, &affine, 1, 0);
        front_know(front, &affine, -1, by - 1);
    }
}

/* Drops terms that another term always dominates. */
static void drop_needless(struct front *front, struct value *value) {
    for (uint32_t i = 0; i < value->count; i++)
        for (uint32_t j = 0; j < value->count; j++) {
            struct rsc_affine above = value->term[i].value;
            if (i == j || value->term[i].divisor != 1 || value->term[j].divisor != 1) continue;
            if (rsc_affine_add(&above, &value->term[j].value, -1) || !front_proved(front, &above)) continue;
            uint32_t out = value->join == JOIN_MIN ? i : j;
            value->term[out] = value->term[--value->count];
            i = UINT32_MAX; /* from the start */
            break;
        }
    if (value->count == 1) value->join = JOIN_ONE;
}

void value_join(struct front *front, struct value *into, const struct value *other, enum value_join join) {
    struct rsc_affine affine;
    struct value more = *other;
    if (both_numbers(into, other)) return;
    if (into->join != JOIN_ONE && into->join != join && value_affine(front, into, &affine)) return;
    if (more.join != JOIN_ONE && more.join != join && value_affine(front, &more, &affine)) {
        value_opaque(into, "%s", more.reason);
        return;
    }
    if (into->count + more.count > FRONT_TERMS_MAX) {
        value_opaque(into, "a minimum or maximum of more than %d", FRONT_TERMS_MAX);
        return;
    }
    into->join = join;
    memcpy(into->term + into->count, more.term, more.count * sizeof *more.term);
    into->count += more.count;
    drop_needless(front, into);
}
