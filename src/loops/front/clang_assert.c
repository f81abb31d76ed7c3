/*
 * clang_assert.c - code that ends the program: assert(), abort(), exit(), throw.
 *
 * It is taken not to run, unless its condition is about loop variables alone and may hold: then the loop may end early,
 * which is a gap. What its condition reads is read; nothing else depends on it. assert() is a conditional
 * expression in C++, and if (x) ; else fail(); in a statement expression in C.
 */
#include <string.h>

#include "loops/front/clang_front.h"

static int ends_program(struct front *front, CXCursor cursor) {
    static const char *const names[] = {
        "__assert_fail", "__assert_perror_fail", "__assert_rtn",          "abort",          "exit", "_exit", "_Exit",
        "quick_exit",    "__builtin_trap",       "__builtin_unreachable", "__builtin_abort"};
    cursor = front_strip(front, cursor);
    enum CXCursorKind kind = front_kind(front, cursor);
    struct kids kids = front_kids(front, cursor);
    if (kind == CXCursor_CXXThrowExpr) return 1;
    if (kind == CXCursor_CompoundStmt && kids.count) return ends_program(front, kids.item[kids.count - 1]);
    if (kind != CXCursor_CallExpr) return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(front_name(front, cursor), names[i]))
            return front_is_known(front, cursor, !strncmp(names[i], "__assert", 8)); /* that takes its text */
    return front->is_cxx && !strcmp(front_name(front, cursor), "terminate") &&
           front->clang.Location_isInSystemHeader(
               front->clang.getCursorLocation(front->clang.getCursorReferenced(cursor)));
}

struct kids front_if_kids(struct front *front, CXCursor statement) {
    struct kids kids = front_kids(front, statement);
    while (kids.count && (front_kind(front, kids.item[0]) == CXCursor_DeclStmt ||
                          front_kind(front, kids.item[0]) == CXCursor_VarDecl)) {
        kids.item++;
        kids.count--;
    }
    return kids;
}

int front_asserts(struct front *front, CXCursor statement) {
    struct kids kids = front_if_kids(front, statement);
    enum CXCursorKind kind = front_kind(front, statement);
    if ((kind != CXCursor_IfStmt && kind != CXCursor_ConditionalOperator) || kids.count < 2) return -1;
    if (kids.count > 2 && ends_program(front, kids.item[2])) return 1;
    return ends_program(front, kids.item[1]) ? 0 : -1;
}

/* Whether left OP right is sure to hold. */
static int is_sure(struct front *front, enum CXBinaryOperatorKind op, struct value *left, struct value *right) {
    struct rsc_affine more, less = {0}, one = rsc_affine_number(1);
    value_add(front, left, right, -1);
    if (value_affine(front, left, &more) || rsc_affine_add(&less, &more, -1)) return 0;
    int strict = op == CXBinaryOperator_LT || op == CXBinaryOperator_GT || op == CXBinaryOperator_NE;
    if (strict && (rsc_affine_add(&more, &one, -1) || rsc_affine_add(&less, &one, -1))) return 0;
    int above = front_proved(front, &more), below = front_proved(front, &less);
    switch (op) {
    case CXBinaryOperator_GT:
    case CXBinaryOperator_GE: return above;
    case CXBinaryOperator_LT:
    case CXBinaryOperator_LE: return below;
    case CXBinaryOperator_EQ: return above && below;
    default: return above || below;
    }
}

/* A comparison, or a number as a truth value. */
static void assume_plain(struct front *front, CXCursor condition, int holds) {
    static const enum CXBinaryOperatorKind opposite[] = {CXBinaryOperator_GE, CXBinaryOperator_LE, CXBinaryOperator_GT,
                                                         CXBinaryOperator_LT, CXBinaryOperator_NE, CXBinaryOperator_EQ};
    struct kids kids = front_kids(front, condition);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(condition);
    struct value left, right;
    if (front_kind(front, condition) == CXCursor_BinaryOperator && kids.count == 2 && front_is_comparison(op)) {
        front_eval(front, kids.item[0], &left);
        front_eval(front, kids.item[1], &right);
    } else {
        op = CXBinaryOperator_NE;
        front_eval(front, condition, &left);
        value_constant(&right, 0);
    }
    if (left.kind != VALUE_NUMBER || right.kind != VALUE_NUMBER) return; /* it depends on data */
    if (op >= CXBinaryOperator_LT && op <= CXBinaryOperator_NE && !holds) op = opposite[op - CXBinaryOperator_LT];
    int wraps = kids.count == 2 && (front_unsigned_negative(front, kids.item[0], &left) ||
                                    front_unsigned_negative(front, kids.item[1], &right));
    if (wraps || !is_sure(front, op, &left, &right))
        front_gap(front, condition, "the program may end here, which depends on loop variables");
}

void front_assume(struct front *front, CXCursor condition, int holds) {
    condition = front_strip(front, condition);
    struct kids kids = front_kids(front, condition);
    enum CXCursorKind kind = front_kind(front, condition);
    char reason[REASON_BYTES];
    int is_cast =
        kind == CXCursor_CXXStaticCastExpr || kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CStyleCastExpr;
    if (is_cast && kids.count) return front_assume(front, kids.item[kids.count - 1], holds);
    if (kind == CXCursor_CallExpr && !strcmp(front_name(front, condition), "__builtin_expect") &&
        front->clang.Cursor_getNumArguments(condition) > 0)
        return front_assume(front, front->clang.Cursor_getArgument(condition, 0), holds);
    if (kind == CXCursor_UnaryOperator && kids.count == 1 &&
        front->clang.getCursorUnaryOperatorKind(condition) == CXUnaryOperator_LNot)
        return front_assume(front, kids.item[0], !holds);
    if (kind == CXCursor_BinaryOperator && kids.count == 2) {
        enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(condition);
        if (op == (holds ? CXBinaryOperator_LAnd : CXBinaryOperator_LOr)) { /* both sides are read */
            front_assume(front, kids.item[0], holds);
            return front_assume(front, kids.item[1], holds);
        }
        if ((op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr) && front_has_references(front, kids.item[1])) {
            if (front_condition(front, condition, reason, sizeof reason) < 0)
                front_gap(front, condition, "which side is read is not affine: %s", reason);
            return;
        }
    }
    assume_plain(front, condition, holds);
}
