/*
 * clang_condition.c - conditions: decided, split into cases, or assumed where they depend on data; comparisons as numbers.
 */
#include <stdio.h>

#include "loops/front/clang_front.h"

int front_is_comparison(enum CXBinaryOperatorKind op) { return op >= CXBinaryOperator_LT && op <= CXBinaryOperator_NE; }

/* l OP r with numbers on both sides. */
static int compare(struct front *front, enum CXBinaryOperatorKind op, struct value *left, struct value *right,
                   char *reason, size_t room) {
    struct rsc_affine affine, one = rsc_affine_number(1);
    int swap = op == CXBinaryOperator_LT || op == CXBinaryOperator_LE;
    struct value *a = swap ? right : left, *b = swap ? left : right;
    value_add(front, a, b, -1); /* a - b */
    if (value_affine(front, a, &affine)) return snprintf(reason, room, "%s", a->reason), -1;
    int holds;
    if (op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE) {
        holds = front_decide(front, RSC_WHEN_ZERO, &affine, 0);
        if (holds >= 0 && op == CXBinaryOperator_NE) holds = !holds;
    } else {
        if ((op == CXBinaryOperator_LT || op == CXBinaryOperator_GT) && rsc_affine_add(&affine, &one, -1))
            return snprintf(reason, room, "a number passes 2^56"), -1;
        holds = front_decide(front, RSC_WHEN_AT_LEAST, &affine, 0);
    }
    if (holds < 0) snprintf(reason, room, "it has too many cases");
    return holds;
}

/* x % m == r, by divisibility instead of a quotient. Returns 1 or 0, -1 if not affine, -2 for another form. */
static int compare_remainder(struct front *front, CXCursor left, CXCursor right, int equal) {
    struct value value, number;
    struct rsc_affine affine, remainder;
    int64_t modulus, wanted;
    left = front_strip(front, left);
    struct kids kids = front_kids(front, left);
    if (front_kind(front, left) != CXCursor_BinaryOperator || kids.count != 2 || front_has_references(front, left) ||
        front->clang.getCursorBinaryOperatorKind(left) != CXBinaryOperator_Rem)
        return -2;
    front_eval(front, right, &number);
    if (!value_is_constant(&number, &wanted)) return -2;
    front_eval(front, kids.item[1], &number);
    if (!value_is_constant(&number, &modulus) || modulus < 2 || wanted < 0 || wanted >= modulus) return -2;
    front_eval(front, kids.item[0], &value);
    if (value.kind != VALUE_NUMBER || value_affine(front, &value, &affine)) return -2;
    if ((modulus & (modulus - 1)) && front_unsigned_negative(front, left, &value)) return -2; /* 2^64 is no multiple */
    if (wanted && !type_is_unsigned(front_type(front, left)) && !front_proved(front, &affine))
        return -2; /* a negative number has a negative remainder */
    remainder = rsc_affine_number(wanted);
    if (rsc_affine_add(&affine, &remainder, -1)) return -2;
    int holds = front_decide(front, RSC_WHEN_DIVISIBLE, &affine, modulus);
    return holds < 0 ? -1 : holds == equal;
}

int front_unsigned_negative(struct front *front, CXCursor side, const struct value *value) {
    int64_t least, most;
    struct rsc_affine affine;
    if (value->kind != VALUE_NUMBER || !type_is_unsigned(front_type(front, side))) return 0;
    if (!front_value_range(front, value, &least, &most) && least >= 0) return 0;
    if (value->count == 1) {
        affine = value->term[0].value;
        if (front_proved(front, &affine)) return 0;
    }
    return 1;
}

/* 1 where x >= 0, else 0: the quotient of x + B by B, for -B <= x < B. Returns -1 if no such B is known. */
static int not_negative(struct front *front, const struct rsc_affine *x, struct value *value) {
    struct value more;
    int64_t least, most;
    value_number(value, x);
    if (front_value_range(front, value, &least, &most)) return -1;
    if (least >= 0 || most < 0 || front_proved(front, x)) {
        value_constant(value, most >= 0);
        return 0;
    }
    int64_t bound = most + 1 > -least ? most + 1 : -least;
    value_constant(&more, bound);
    value_add(front, value, &more, 1);
    value_floor_divide(front, value, bound);
    return value->kind == VALUE_NUMBER ? 0 : -1;
}

void front_truth(struct front *front, enum CXBinaryOperatorKind op, CXCursor sides[2], struct value *left,
                 struct value *right) {
    struct rsc_affine affine, one = rsc_affine_number(1);
    struct value above;
    int swap = op == CXBinaryOperator_LT || op == CXBinaryOperator_LE;
    int equal = op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE;
    int of_loops = value_is_of_loops(left) && value_is_of_loops(right);
    struct value difference = swap ? *right : *left;
    if (left->kind != VALUE_NUMBER || right->kind != VALUE_NUMBER || front_unsigned_negative(front, sides[0], left) ||
        front_unsigned_negative(front, sides[1], right))
        goto unknown;
    value_add(front, &difference, swap ? left : right, -1);
    if (value_affine(front, &difference, &affine)) goto unknown;
    if ((op == CXBinaryOperator_LT || op == CXBinaryOperator_GT) && rsc_affine_add(&affine, &one, -1)) goto unknown;
    if (not_negative(front, &affine, left)) goto unknown;
    if (equal) { /* x >= 0, but not x >= 1 */
        if (rsc_affine_add(&affine, &one, -1) || not_negative(front, &affine, &above)) goto unknown;
        value_add(front, left, &above, -1);
        value_constant(&above, 1);
        if (op == CXBinaryOperator_NE) {
            value_add(front, &above, left, -1);
            *left = above;
        }
    }
    if (left->kind == VALUE_NUMBER) return;
unknown:
    value_opaque(left, "a truth value is used as a number");
    left->of_loops = of_loops;
}

int front_condition(struct front *front, CXCursor cursor, char *reason, size_t room) {
    struct value left, right;
    struct rsc_affine affine;
    size_t made = front->pending_count;
    cursor = front_strip(front, cursor);
    enum CXCursorKind kind = front_kind(front, cursor);
    struct kids kids = front_kids(front, cursor);
    if (kind == CXCursor_UnaryOperator && front->clang.getCursorUnaryOperatorKind(cursor) == CXUnaryOperator_LNot &&
        kids.count == 1) {
        int holds = front_condition(front, kids.item[0], reason, room);
        return holds < 0 ? -1 : !holds;
    }
    if (kind == CXCursor_BinaryOperator && kids.count == 2) {
        enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(cursor);
        if (op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr) {
            int holds = front_condition(front, kids.item[0], reason, room);
            if (holds < 0) {
                if (front_has_references(front, kids.item[1]))
                    front_gap(front, kids.item[1], "whether this is read is not affine: %.100s", reason);
                return -1;
            }
            return holds == (op == CXBinaryOperator_LOr) ? holds : front_condition(front, kids.item[1], reason, room);
        }
        if (front_is_comparison(op)) {
            if (op == CXBinaryOperator_EQ || op == CXBinaryOperator_NE) {
                int holds = compare_remainder(front, kids.item[0], kids.item[1], op == CXBinaryOperator_EQ);
                if (holds > -2) return holds < 0 ? (snprintf(reason, room, "it has too many cases"), -1) : holds;
            }
            front_eval(front, kids.item[0], &left);
            front_eval(front, kids.item[1], &right);
            if (left.kind == VALUE_OPAQUE || right.kind == VALUE_OPAQUE) {
                snprintf(reason, room, "%s", left.kind == VALUE_OPAQUE ? left.reason : right.reason);
                return value_is_of_loops(&left) && value_is_of_loops(&right)
                           ? front_given_chance(front, cursor, made, reason, room)
                           : front_chance(front, cursor, made, reason);
            }
            if (left.kind == VALUE_POINTER && right.kind == VALUE_POINTER && left.array == right.array) {
                value_number(&left, &left.offset);
                value_number(&right, &right.offset);
                return compare(front, op, &left, &right, reason, room);
            }
            if (left.kind == VALUE_POINTER || right.kind == VALUE_POINTER)
                return snprintf(reason, room, "a comparison of pointers"), -1;
            if (front_unsigned_negative(front, kids.item[0], &left) ||
                front_unsigned_negative(front, kids.item[1], &right))
                return snprintf(reason, room, "an unsigned number could be negative"), -1;
            return compare(front, op, &left, &right, reason, room);
        }
    }
    front_eval(front, cursor, &left);
    if (left.kind == VALUE_OPAQUE) {
        snprintf(reason, room, "%s", left.reason);
        return left.of_loops ? front_given_chance(front, cursor, made, reason, room)
                             : front_chance(front, cursor, made, reason);
    }
    if (left.kind != VALUE_NUMBER || value_affine(front, &left, &affine))
        return snprintf(reason, room, "%s", left.kind == VALUE_OPAQUE ? left.reason : "a pointer as a condition"), -1;
    int zero = front_decide(front, RSC_WHEN_ZERO, &affine, 0);
    if (zero < 0) return snprintf(reason, room, "it has too many cases"), -1;
    return !zero;
}
