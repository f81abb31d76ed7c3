/*
 * clang_expr.c - expressions: the references they make, in order, and their value.
 */
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_front.h"

static void eval_all(struct front *front, CXCursor cursor, struct value *value, const char *reason) {
    struct kids kids = front_kids(front, cursor);
    for (unsigned i = 0; i < kids.count; i++)
        if (front->clang.isExpression(front_kind(front, kids.item[i]))) front_eval(front, kids.item[i], value);
    value_opaque(value, "%s", reason);
}

static void convert_number(struct front *front, CXType to, struct value *value) {
    int64_t least, most;
    if (type_is_floating(to)) { /* integers are exact within the mantissa */
        int64_t exact = to.kind == CXType_Double || to.kind == CXType_LongDouble ? INT64_C(1) << 53 : INT64_C(1) << 24;
        if (front_value_range(front, value, &least, &most) || least < -exact || most > exact)
            value_opaque(value, "floating-point numbers do not hold it exactly");
        return;
    }
    if (!type_is_integer(to)) {
        value_opaque(value, "it is not an integer");
        return;
    }
    long long bytes = front->clang.Type_getSizeOf(to);
    if (bytes <= 0 || bytes >= 8) return;
    if (front_value_range(front, value, &least, &most)) return value_opaque(value, "it may be too large for its type");
    int64_t high = type_is_unsigned(to) ? (INT64_C(1) << (8 * bytes)) - 1 : (INT64_C(1) << (8 * bytes - 1)) - 1;
    int64_t low = type_is_unsigned(to) ? 0 : -high - 1;
    if (to.kind == CXType_Bool) high = 1;
    if (least < low || most > high) {
        struct rsc_affine affine;
        if (value->count == 1 && value->term[0].rounding == RSC_ROUND_NONE && least < low && most <= high && low == 0) {
            affine = value->term[0].value; /* the enclosing loops' bounds may exclude it */
            if (front_proved(front, &affine)) return;
        }
        value_opaque(value, least < low && type_is_unsigned(to) ? "it may be negative in an unsigned type"
                                                                : "it may be too large for its type");
    }
}

/* A conversion to a narrower type keeps the value only if it fits. */
void front_convert(struct front *front, CXType to, struct value *value) {
    if (value->kind != VALUE_NUMBER) return;
    convert_number(front, to, value);
    value->of_loops = 1;
}

static void by_power_of_two(struct front *front, struct value *value, const struct value *right, int left_shift) {
    int64_t bits;
    struct value factor;
    if (value->kind == VALUE_POINTER) {
        value_opaque(value, "bits of an address");
        return;
    }
    if (!value_is_constant(right, &bits) || bits < 0 || bits > 55) {
        value_opaque(value, "the shift count is not a small number");
        return;
    }
    if (left_shift) {
        value_constant(&factor, INT64_C(1) << bits);
        value_multiply(front, value, &factor);
    } else if (value->kind == VALUE_NUMBER) {
        value_floor_divide(front, value, INT64_C(1) << bits); /* of a negative number too: arithmetic shift */
    }
}

/* x & (2^k - 1) is the remainder that is never negative. */
static void masked(struct front *front, struct value *value, const struct value *right) {
    int64_t mask;
    struct rsc_affine affine;
    struct value quotient, factor;
    if (value->kind == VALUE_POINTER) {
        value_opaque(value, "bits of an address");
        return;
    }
    if (!value_is_constant(right, &mask) || mask < 0 || (mask & (mask + 1))) {
        value_opaque(value, "bits of a variable");
        return;
    }
    if (value->kind != VALUE_NUMBER || value_affine(front, value, &affine)) return;
    quotient = *value;
    value_floor_divide(front, &quotient, mask + 1);
    value_constant(&factor, mask + 1);
    value_multiply(front, &quotient, &factor);
    value_add(front, value, &quotient, -1);
    if (value->kind != VALUE_NUMBER || value_affine(front, value, &affine)) return;
    front_know(front, &affine, 1, 0);
    front_know(front, &affine, -1, mask);
}

/* As unsigned, a negative number becomes a large one, with other quotients and shifts. */
static int may_wrap(struct front *front, CXType type, const struct value *value) {
    int64_t least, most;
    struct rsc_affine affine = value->term[0].value;
    if (value->kind != VALUE_NUMBER || !type_is_unsigned(type)) return 0;
    if (!front_value_range(front, value, &least, &most) && least >= 0) return 0;
    return value->count > 1 || !front_proved(front, &affine);
}

static void number_arithmetic(struct front *front, enum CXBinaryOperatorKind op, CXType type, struct value *left,
                              struct value *right) {
    int64_t number;
    int divides = op == CXBinaryOperator_Div || op == CXBinaryOperator_Rem || op == CXBinaryOperator_Shr ||
                  op == CXBinaryOperator_DivAssign || op == CXBinaryOperator_RemAssign ||
                  op == CXBinaryOperator_ShrAssign;
    int shifts = op == CXBinaryOperator_Shr || op == CXBinaryOperator_ShrAssign;
    if (divides && (may_wrap(front, type, left) || (!shifts && may_wrap(front, type, right)))) {
        value_opaque(left, "an unsigned number could be negative");
        return;
    }
    switch (op) {
    case CXBinaryOperator_Add:
    case CXBinaryOperator_AddAssign:
        if (left->kind == VALUE_NUMBER && right->kind == VALUE_POINTER) {
            struct value swap = *left;
            *left = *right;
            *right = swap;
        }
        if (left->kind == VALUE_POINTER) front_pointer_plus(front, left, right, 1);
        else value_add(front, left, right, 1);
        break;
    case CXBinaryOperator_Sub:
    case CXBinaryOperator_SubAssign:
        if (left->kind == VALUE_POINTER && right->kind == VALUE_POINTER) front_pointer_difference(front, left, right);
        else if (left->kind == VALUE_POINTER) front_pointer_plus(front, left, right, -1);
        else value_add(front, left, right, -1);
        break;
    case CXBinaryOperator_Mul:
    case CXBinaryOperator_MulAssign: value_multiply(front, left, right); break;
    case CXBinaryOperator_Div:
    case CXBinaryOperator_Rem:
    case CXBinaryOperator_DivAssign:
    case CXBinaryOperator_RemAssign:
        if (right->kind == VALUE_OPAQUE) value_opaque(left, "%s", right->reason);
        else if (!value_is_constant(right, &number)) value_opaque(left, "a division by a variable");
        else if (op == CXBinaryOperator_Div || op == CXBinaryOperator_DivAssign) value_divide(front, left, number);
        else value_remainder(front, left, number);
        break;
    case CXBinaryOperator_Shl:
    case CXBinaryOperator_Shr:
    case CXBinaryOperator_ShlAssign:
    case CXBinaryOperator_ShrAssign:
        by_power_of_two(front, left, right, op == CXBinaryOperator_Shl || op == CXBinaryOperator_ShlAssign);
        break;
    case CXBinaryOperator_And:
    case CXBinaryOperator_AndAssign: masked(front, left, right); break;
    default: value_opaque(left, "an operation that is not affine"); break;
    }
}

static void arithmetic(struct front *front, enum CXBinaryOperatorKind op, CXType type, struct value *left,
                       struct value *right) {
    int of_loops = value_is_of_loops(left) && value_is_of_loops(right);
    if (left->kind != VALUE_OPAQUE && right->kind == VALUE_OPAQUE) value_opaque(left, "%s", right->reason);
    else if (left->kind != VALUE_OPAQUE) number_arithmetic(front, op, type, left, right);
    left->of_loops = of_loops;
}

static void eval_logical(struct front *front, CXCursor cursor, struct kids kids, struct value *value) {
    char reason[REASON_BYTES];
    if (!front_has_references(front, kids.item[1])) { /* short-circuiting does not matter: only the left side reads */
        if (front_has_references(front, kids.item[0])) front_eval(front, kids.item[0], value);
        value_opaque(value, "a truth value is used as a number");
        return;
    }
    int holds = front_condition(front, cursor, reason, sizeof reason);
    if (holds < 0) value_opaque(value, "%s", reason);
    else value_constant(value, holds);
}

static void eval_binary(struct front *front, CXCursor cursor, struct value *value) {
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(cursor);
    struct kids kids = front_kids(front, cursor);
    struct value right;
    int64_t number;
    if (kids.count != 2) return eval_all(front, cursor, value, "an operation that cannot be read");
    if (op == CXBinaryOperator_Assign) {
        front_eval(front, kids.item[1], value);
        front_convert(front, front_type(front, kids.item[0]), value);
        front_store(front, kids.item[0], value, 0);
        if (value->is_fresh) { /* now the target points there: p = q = malloc() */
            value->is_fresh = 0;
            if (front_kind(front, front_strip(front, kids.item[0])) == CXCursor_DeclRefExpr)
                front_eval(front, kids.item[0], value);
        }
        return;
    }
    if (op == CXBinaryOperator_LAnd || op == CXBinaryOperator_LOr) return eval_logical(front, cursor, kids, value);
    front_eval(front, kids.item[0], value);
    front_eval(front, kids.item[1], &right);
    CXType type = front_type(front, cursor);
    if (op == CXBinaryOperator_Comma) {
        *value = right;
    } else if (front_is_comparison(op)) {
        front_truth(front, op, kids.item, value, &right);
    } else if (type_is_floating(type) && value->kind == VALUE_NUMBER && right.kind == VALUE_NUMBER &&
               (op == CXBinaryOperator_Add || op == CXBinaryOperator_Sub || op == CXBinaryOperator_Mul)) {
        arithmetic(front, op, type, value, &right); /* of whole numbers: floord(n, 32) + 1 */
        front_convert(front, type, value);
    } else if (type.kind != CXType_Pointer && !type_is_integer(type)) {
        int of_loops = value_is_of_loops(value) && value_is_of_loops(&right);
        value_opaque(value, "floating-point arithmetic");
        value->of_loops = of_loops;
    } else {
        arithmetic(front, op, type, value, &right);
        front_convert(front, type, value);
        int bits = op == CXBinaryOperator_Xor || op == CXBinaryOperator_Or || op == CXBinaryOperator_And; /* 5 ^ 3 */
        if (bits && value->kind == VALUE_OPAQUE && front_constant(front, cursor, &number))
            value_constant(value, number);
    }
}

/* The type in which a compound assignment computes: i -= 2u is unsigned for an int i. */
static CXType compound_type(struct front *front, CXCursor cursor, CXCursor target, CXCursor right) {
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(cursor);
    CXType type = front_type(front, target), other = front_type(front, right);
    int shifts = op == CXBinaryOperator_ShlAssign || op == CXBinaryOperator_ShrAssign;
    long long bytes = front->clang.Type_getSizeOf(type), more = front->clang.Type_getSizeOf(other);
    int wider = type_is_integer(type) && type_is_integer(other) && more >= (bytes > 4 ? bytes : 4);
    return wider && !shifts && type_is_unsigned(other) ? other : type;
}

static void eval_compound(struct front *front, CXCursor cursor, struct value *value) {
    struct kids kids = front_kids(front, cursor);
    struct value right, old;
    CXCursor target;
    if (kids.count != 2) return eval_all(front, cursor, value, "an operation that cannot be read");
    front_eval(front, kids.item[1], &right);
    target = front_strip(front, kids.item[0]);
    value_opaque(value, "%.60s changes", front_source(front, target));
    CXType type = front_type(front, target);
    if (front_kind(front, target) == CXCursor_DeclRefExpr && (type_is_integer(type) || type.kind == CXType_Pointer)) {
        size_t made = front->pending_count;
        front_load(front, target, &old);
        front->pending_count = made; /* front_store() adds the read */
        CXType computed = compound_type(front, cursor, target, kids.item[1]);
        arithmetic(front, front->clang.getCursorBinaryOperatorKind(cursor), computed, &old, &right);
        front_convert(front, type, &old);
        *value = old;
    }
    front_store(front, kids.item[0], value, 1);
}

static void eval_increment(struct front *front, CXCursor target, int sign, int before, struct value *value) {
    struct value old, one, now;
    CXType type = front_type(front, front_strip(front, target));
    value_opaque(&old, "%.60s changes", front_source(front, target));
    if (front_kind(front, front_strip(front, target)) == CXCursor_DeclRefExpr &&
        (type_is_integer(type) || type.kind == CXType_Pointer)) {
        size_t made = front->pending_count;
        front_load(front, front_strip(front, target), &old);
        front->pending_count = made;
    }
    now = old;
    value_constant(&one, 1);
    arithmetic(front, sign > 0 ? CXBinaryOperator_Add : CXBinaryOperator_Sub, type, &now, &one);
    front_convert(front, type, &now);
    front_store(front, target, &now, 1);
    *value = before ? now : old;
}

static void eval_address(struct front *front, CXCursor inner, struct value *value) {
    struct place place;
    struct shape shape;
    front_place_of(front, inner, &place);
    if (place.opaque || place.array == UINT32_MAX || place.shape.rank == RSC_LOOP_RANK_MAX) {
        value_opaque(value, "%s", place.opaque ? place.reason : "the address of a variable");
        return;
    }
    shape = place.shape; /* &a[i] is a pointer to one of those */
    memmove(shape.extent + 1, shape.extent, shape.rank * sizeof *shape.extent);
    shape.extent[0] = 0;
    shape.rank++;
    value->kind = VALUE_POINTER;
    value->array = place.array;
    value->offset = place.offset;
    value->shape = shape;
}

static void eval_unary(struct front *front, CXCursor cursor, struct value *value) {
    struct kids kids = front_kids(front, cursor);
    struct value minus;
    int64_t number;
    if (kids.count != 1) return eval_all(front, cursor, value, "an operation that cannot be read");
    switch (front->clang.getCursorUnaryOperatorKind(cursor)) {
    case CXUnaryOperator_Plus:
    case CXUnaryOperator_Extension: front_eval(front, kids.item[0], value); break;
    case CXUnaryOperator_Minus:
        front_eval(front, kids.item[0], value);
        if (type_is_integer(front_type(front, cursor))) {
            value_constant(&minus, -1);
            value_multiply(front, value, &minus);
            front_convert(front, front_type(front, cursor), value);
        }
        break;
    case CXUnaryOperator_PreInc: eval_increment(front, kids.item[0], 1, 1, value); break;
    case CXUnaryOperator_PreDec: eval_increment(front, kids.item[0], -1, 1, value); break;
    case CXUnaryOperator_PostInc: eval_increment(front, kids.item[0], 1, 0, value); break;
    case CXUnaryOperator_PostDec: eval_increment(front, kids.item[0], -1, 0, value); break;
    case CXUnaryOperator_Deref: front_load(front, cursor, value); break;
    case CXUnaryOperator_AddrOf: eval_address(front, kids.item[0], value); break;
    default:
        front_eval(front, kids.item[0], value);
        int of_loops = value_is_of_loops(value);
        if (front_constant(front, cursor, &number)) value_constant(value, number);
        else if (value->kind != VALUE_OPAQUE) value_opaque(value, "an operation that is not affine");
        value->of_loops = of_loops;
        break;
    }
}

/* a < b ? a : b and similar forms. Returns 1 if it is one of them. */
static int eval_minimum(struct front *front, CXCursor condition, CXCursor yes, CXCursor no, struct value *value) {
    condition = front_strip(front, condition);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(condition);
    struct kids kids = front_kids(front, condition);
    struct value left, right;
    if (front_kind(front, condition) != CXCursor_BinaryOperator || kids.count != 2 || op < CXBinaryOperator_LT ||
        op > CXBinaryOperator_GE)
        return 0;
    int straight = front_same_text(front, kids.item[0], yes) && front_same_text(front, kids.item[1], no);
    int crossed = !straight && front_same_text(front, kids.item[0], no) && front_same_text(front, kids.item[1], yes);
    if (!straight && !crossed) return 0;
    front_eval(front, kids.item[0], &left);
    front_eval(front, kids.item[1], &right);
    if (front_unsigned_negative(front, kids.item[0], &left) || front_unsigned_negative(front, kids.item[1], &right)) {
        value_opaque(value, "an unsigned number could be negative");
        value->of_loops = value_is_of_loops(&left) && value_is_of_loops(&right);
        return 1;
    }
    int less = op == CXBinaryOperator_LT || op == CXBinaryOperator_LE;
    int of_loops = value_is_of_loops(&left) && value_is_of_loops(&right);
    value_join(front, &left, &right, less == straight ? JOIN_MIN : JOIN_MAX);
    *value = left;
    value->of_loops = of_loops;
    return 1;
}

static int same_value(const struct value *a, const struct value *b) {
    if (a->kind != VALUE_NUMBER || b->kind != VALUE_NUMBER || a->count != b->count || a->join != b->join) return 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->term[i].divisor != b->term[i].divisor ||
            memcmp(&a->term[i].value, &b->term[i].value, sizeof a->term[i].value))
            return 0;
    return 1;
}

/*
 * Evaluates both branches, each under its own assumption, if neither splits nor
 * reads: if they give the same value, no case distinction is needed. This reduces
 * the polyhedral compilers' floord(n, d), n < 0 ? -((-n + d - 1) / d) : n / d, to one
 * quotient.
 */
static int eval_same_branches(struct front *front, CXCursor condition, CXCursor yes, CXCursor no, struct value *value) {
    condition = front_strip(front, condition);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(condition);
    struct kids kids = front_kids(front, condition);
    struct value left, right, other;
    struct rsc_affine affine, one = rsc_affine_number(1);
    if (front_kind(front, condition) != CXCursor_BinaryOperator || kids.count != 2 || op < CXBinaryOperator_LT ||
        op > CXBinaryOperator_GE)
        return 0;
    if (front_has_references(front, condition) || front_has_references(front, yes) || front_has_references(front, no))
        return 0;
    front_eval(front, kids.item[0], &left);
    front_eval(front, kids.item[1], &right);
    if (front_unsigned_negative(front, kids.item[0], &left) || front_unsigned_negative(front, kids.item[1], &right))
        return 0;
    int greater = op == CXBinaryOperator_GT || op == CXBinaryOperator_GE;
    if (greater) value_add(front, &left, &right, -1);
    else {
        value_add(front, &right, &left, -1);
        left = right;
    }
    if (left.kind != VALUE_NUMBER || left.count != 1 || left.term[0].rounding != RSC_ROUND_NONE) return 0;
    affine = left.term[0].value; /* condition: affine >= 0, or > 0 */
    if ((op == CXBinaryOperator_LT || op == CXBinaryOperator_GT) && rsc_affine_add(&affine, &one, -1)) return 0;
    size_t known = front->known_count;
    struct paths *paths = front->paths;
    front->paths = NULL; /* no splitting */
    front_know(front, &affine, 1, 0);
    front_eval(front, yes, value);
    front->known_count = known;
    front_know(front, &affine, -1, -1);
    front_eval(front, no, &other);
    front->known_count = known;
    front->paths = paths;
    return same_value(value, &other);
}

static void eval_conditional(struct front *front, CXCursor cursor, struct value *value) {
    struct kids kids = front_kids(front, cursor);
    char reason[REASON_BYTES];
    if (kids.count != 3) return eval_all(front, cursor, value, "a condition that cannot be read");
    CXType type = front_type(front, cursor);
    int asserts = front_asserts(front, cursor);
    if (asserts >= 0) {
        front_assume(front, kids.item[0], asserts);
        return front_eval(front, kids.item[asserts ? 1 : 2], value);
    }
    if (type_is_integer(type) || type_is_floating(type)) { /* floor() gives whole numbers as floating-point ones */
        if (!front_has_references(front, cursor) &&
            eval_minimum(front, kids.item[0], kids.item[1], kids.item[2], value))
            return;
        struct rsc_loop_node *at = front->at;
        if (type_is_integer(type) && eval_same_branches(front, kids.item[0], kids.item[1], kids.item[2], value)) return;
        front->at = at; /* lets made in this attempt stay in the tree, empty, and are dropped later */
    }
    int reads = front_has_references(front, kids.item[1]) || front_has_references(front, kids.item[2]);
    if (!reads && !type_is_integer(type) && type.kind != CXType_Pointer) { /* a number that nothing depends on */
        front_eval(front, kids.item[0], value);
        value_opaque(value, "it is not an integer");
        return;
    }
    front->no_chance += !reads;
    int holds = front_condition(front, kids.item[0], reason, sizeof reason);
    front->no_chance -= !reads;
    if (holds < 0) {
        if (reads) front_gap(front, cursor, "which side is read is not affine: %s", reason);
        value_opaque(value, "%s", reason);
        return;
    }
    front_eval(front, kids.item[holds ? 1 : 2], value);
}

static int is_scalar(CXType type) {
    return type_is_integer(type) || type_is_floating(type) || type.kind == CXType_Pointer;
}

static int is_statement(enum CXCursorKind kind) { return kind >= CXCursor_FirstStmt && kind <= CXCursor_LastStmt; }

/* ({ int x = a; int y = b; x < y ? x : y; }), as minima of polyhedral compilers are written: declarations and a value. */
static void eval_statements(struct front *front, CXCursor cursor, struct value *value) {
    struct kids kids = front_kids(front, cursor);
    if (kids.count == 1 && front_kind(front, kids.item[0]) == CXCursor_CompoundStmt)
        kids = front_kids(front, kids.item[0]);
    if (kids.count == 1 && front_asserts(front, kids.item[0]) >= 0) { /* assert() of glibc */
        struct kids parts = front_kids(front, kids.item[0]);
        int holds = front_asserts(front, kids.item[0]);
        unsigned other = holds ? 1 : 2;
        if (other >= parts.count || front_kind(front, parts.item[other]) == CXCursor_NullStmt) {
            front_assume(front, parts.item[0], holds);
            value_opaque(value, "it is not an integer");
            return;
        }
    }
    unsigned plain = 0;
    while (plain + 1 < kids.count && front_kind(front, kids.item[plain]) == CXCursor_DeclStmt) plain++;
    if (plain + 1 != kids.count || is_statement(front_kind(front, kids.item[plain]))) {
        if (front_has_references(front, cursor)) front_gap(front, cursor, "a statement in an expression");
        value_opaque(value, "a statement in an expression");
        return;
    }
    for (unsigned i = 0; i < plain; i++) front_simple(front, kids.item[i]);
    front_eval(front, kids.item[plain], value);
}

/* new (p) T: at an address that is given. */
static int is_placed(struct front *front, CXCursor cursor) {
    const char *text = strstr(front_source(front, cursor), "new");
    return front_kind(front, cursor) == CXCursor_CXXNewExpr && text && text[3 + (text[3] == ' ')] == '(';
}

void front_eval(struct front *front, CXCursor cursor, struct value *value) {
    struct kids kids;
    int64_t number;
    cursor = front_strip(front, front_designated(front, cursor));
    value_opaque(value, "it is not an integer");
    if (front->out_of_memory) return;
    if (++front->nesting > FRONT_NESTING_MAX) {
        front->nesting--;
        front_gap(front, cursor, "an expression is nested too deep");
        return;
    }
    switch ((int)front_kind(front, cursor)) {
    case CXCursor_IntegerLiteral:
    case CXCursor_CharacterLiteral:
    case CXCursor_UnaryExpr: /* sizeof */
        if (front_constant(front, cursor, &number)) value_constant(value, number);
        else value_opaque(value, "a number passes 2^56");
        break;
    case CXCursor_FloatingLiteral:
    case CXCursor_ImaginaryLiteral: value->of_loops = 1; break;
    case CXCursor_StringLiteral: value->is_fresh = 1; break;
    case CXCursor_CXXThisExpr: front_eval_this(front, value); break;
    case CXCursor_CompoundLiteralExpr:
    case CXCursor_CXXNewExpr:
        if (front_kind(front, cursor) == CXCursor_CXXNewExpr) front_gap(front, cursor, "new in a loop is not followed");
        eval_all(front, cursor, value, "the address of what is made here is not known");
        value->is_fresh = !is_placed(front, cursor);
        break;
    case CXCursor_DeclRefExpr: {
        CXCursor referenced = front->clang.getCursorReferenced(cursor);
        enum CXCursorKind kind = front_kind(front, referenced);
        if (kind == CXCursor_EnumConstantDecl && front_constant(front, cursor, &number)) value_constant(value, number);
        else if (kind == CXCursor_VarDecl || kind == CXCursor_ParmDecl) front_load(front, cursor, value);
        else if (type_is_integer(front_type(front, cursor)) && front_constant(front, cursor, &number))
            value_constant(value, number); /* the argument of a template */
        else if (kind == CXCursor_UnexposedDecl) front_gap(front, cursor, "a name of a structured binding");
        break;
    }
    case CXCursor_ArraySubscriptExpr:
    case CXCursor_MemberRefExpr: front_load(front, cursor, value); break;
    case CXCursor_InitListExpr: /* int i{0} */
        kids = front_kids(front, cursor);
        if (kids.count > 1 || !is_scalar(front_type(front, cursor))) eval_all(front, cursor, value, "a list of values");
        else if (kids.count) front_eval(front, kids.item[0], value);
        else value_constant(value, 0);
        break;
    case CXCursor_CXXStaticCastExpr:
    case CXCursor_CXXReinterpretCastExpr:
    case CXCursor_CXXConstCastExpr:
    case CXCursor_CXXDynamicCastExpr:
    case CXCursor_CXXFunctionalCastExpr:
    case CXCursor_CStyleCastExpr: {
        CXType type = front_type(front, cursor);
        kids = front_kids(front, cursor);
        if (!kids.count) break;
        front_eval(front, kids.item[kids.count - 1], value);
        if (type.kind == CXType_Pointer) {
            struct shape shape;
            if (value->kind == VALUE_POINTER && !front_shape_of_type(front, type, &shape))
                front_reshape(front, value, &shape);
        } else if (value->kind == VALUE_POINTER && type_is_integer(type)) { /* (uintptr_t)p + 8: steps of one byte */
            if (front->clang.Type_getSizeOf(type) < 8) value_opaque(value, "a part of an address");
            value->shape = (struct shape){.rank = 1, .element = type, .element_bytes = 1};
        } else {
            front_convert(front, type, value);
        }
        break;
    }
    case CXCursor_BinaryOperator: eval_binary(front, cursor, value); break;
    case CXCursor_CompoundAssignOperator: eval_compound(front, cursor, value); break;
    case CXCursor_UnaryOperator: eval_unary(front, cursor, value); break;
    case CXCursor_ConditionalOperator: eval_conditional(front, cursor, value); break;
    case CXCursor_CallExpr: front_call(front, cursor, value); break;
    case CXCursor_GenericSelectionExpr:
        front_gap(front, cursor, "which branch _Generic chooses is not known (write the types without typedef names)");
        break;
    case CXCursor_CXXDeleteExpr:
        front_gap(front, cursor, "delete in a loop is not followed");
        eval_all(front, cursor, value, "it is not an integer");
        break;
    case CXCursor_StmtExpr: eval_statements(front, cursor, value); break;
    case CXCursor_UnexposedExpr: /* x ?: y, atomic operations and others that libclang does not tell apart */
        if (front_constant(front, cursor, &number)) value_constant(value, number); /* offsetof() */
        else if (front_kids(front, cursor).count) front_gap(front, cursor, "an expression that is not supported");
        break;
    default: eval_all(front, cursor, value, "it is not an integer"); break;
    }
    front->nesting--;
}

static enum CXChildVisitResult look_for_reference(struct front *front, CXCursor cursor, void *context) {
    (void)context;
    enum CXCursorKind kind = front_kind(front, cursor);
    int touches = kind == CXCursor_ArraySubscriptExpr || kind == CXCursor_CompoundAssignOperator ||
                  (kind == CXCursor_CallExpr && !front_call_is_pure(front, cursor));
    if (kind == CXCursor_UnaryExpr) return CXChildVisit_Continue; /* sizeof a[0] reads nothing */
    if (kind == CXCursor_BinaryOperator)
        touches = front->clang.getCursorBinaryOperatorKind(cursor) == CXBinaryOperator_Assign;
    if (kind == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind op = front->clang.getCursorUnaryOperatorKind(cursor);
        touches = op == CXUnaryOperator_Deref || (op >= CXUnaryOperator_PostInc && op <= CXUnaryOperator_PreDec);
    }
    if (kind == CXCursor_MemberRefExpr) touches = 1;
    if (kind == CXCursor_DeclRefExpr && front->options->count_scalars && !type_is_integer(front_type(front, cursor)))
        touches = 1;
    return touches ? CXChildVisit_Break : CXChildVisit_Recurse;
}

static enum CXChildVisitResult look_for_memory(struct front *front, CXCursor cursor, void *context) {
    enum CXCursorKind kind = front_kind(front, cursor);
    enum CXUnaryOperatorKind op = front->clang.getCursorUnaryOperatorKind(cursor);
    int scalar = kind == CXCursor_BinaryOperator || kind == CXCursor_CompoundAssignOperator ||
                 (kind == CXCursor_UnaryOperator && op != CXUnaryOperator_Deref);
    if (scalar && !front->options->count_scalars) return CXChildVisit_Recurse;
    if (kind == CXCursor_ContinueStmt) return CXChildVisit_Break; /* skips what may touch it */
    return look_for_reference(front, cursor, context);
}

/* Whether it may touch memory; scalar variables in registers do not count. */
int front_touches_memory(struct front *front, CXCursor cursor) {
    return front_finds(front, cursor, look_for_memory, NULL);
}

/* Whether evaluating it may touch memory or change anything. */
int front_has_references(struct front *front, CXCursor cursor) {
    return front_finds(front, cursor, look_for_reference, NULL);
}
