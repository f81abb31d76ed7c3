/*
 * clang_assert.c - code that ends the program: assert(), abort(), exit(), throw.
 *
 * It is taken not to run. What its condition reads is read; nothing else depends on it. assert() is a conditional
 * expression in C++, and if (x) ; else fail(); in a statement expression in C.
 */
#include <string.h>

#include "loops/front/clang_front.h"

int front_ends_program(struct front *front, CXCursor cursor) {
    static const char *const names[] = {"__assert_fail",
                                        "__assert_perror_fail",
                                        "__assert_rtn",
                                        "abort",
                                        "exit",
                                        "_exit",
                                        "_Exit",
                                        "quick_exit",
                                        "terminate",
                                        "__builtin_trap",
                                        "__builtin_unreachable",
                                        "__builtin_abort"};
    cursor = front_strip(front, cursor);
    enum CXCursorKind kind = front_kind(front, cursor);
    struct kids kids = front_kids(front, cursor);
    if (kind == CXCursor_CXXThrowExpr) return 1;
    if (kind == CXCursor_CompoundStmt && kids.count) return front_ends_program(front, kids.item[kids.count - 1]);
    if (kind != CXCursor_CallExpr) return 0;
    CXCursor callee = front->clang.getCursorReferenced(cursor);
    if (front->clang.Cursor_isNull(callee) || !front->clang.Cursor_isNull(front->clang.getCursorDefinition(callee)))
        return 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(front_name(front, cursor), names[i])) return 1;
    return 0;
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
    if (kids.count > 2 && front_ends_program(front, kids.item[2])) return 1;
    return front_ends_program(front, kids.item[1]) ? 0 : -1;
}

void front_assume(struct front *front, CXCursor condition, int holds) {
    condition = front_strip(front, condition);
    struct kids kids = front_kids(front, condition);
    enum CXCursorKind kind = front_kind(front, condition);
    char reason[REASON_BYTES];
    struct value ignored;
    int is_cast =
        kind == CXCursor_CXXStaticCastExpr || kind == CXCursor_CXXFunctionalCastExpr || kind == CXCursor_CStyleCastExpr;
    if (is_cast && kids.count) return front_assume(front, kids.item[kids.count - 1], holds);
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
    front_eval(front, condition, &ignored);
}
