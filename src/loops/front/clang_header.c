/* clang_header.c - the header of a loop: its variable, first value, condition and step. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_loop.h"

int refuse(struct header *header, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(header->reason, sizeof header->reason, format, arguments);
    va_end(arguments);
    return -1;
}

static CXCursor variable_of(struct front *front, CXCursor expression) {
    CXCursor none = {0};
    none.kind = CXCursor_InvalidFile;
    expression = front_strip(front, expression);
    if (front_kind(front, expression) != CXCursor_DeclRefExpr) return none;
    return front->clang.getCanonicalCursor(front->clang.getCursorReferenced(expression));
}

static int is_variable(struct front *front, CXCursor expression, CXCursor variable) {
    return front->clang.equalCursors(variable_of(front, expression), variable) != 0;
}

struct moving *header_moving(struct front *front, struct header *header, CXCursor variable) {
    for (unsigned i = 0; i < header->moving_count; i++)
        if (front->clang.equalCursors(header->moving[i].variable, variable)) return &header->moving[i];
    if (header->moving_count == MOVING_MAX) return NULL;
    header->moving[header->moving_count].variable = variable;
    return &header->moving[header->moving_count++];
}

static int add_start(struct front *front, struct header *header, CXCursor variable, CXCursor value) {
    struct moving *moving = header_moving(front, header, variable);
    if (!moving || moving->has_start) return refuse(header, "a loop that starts too many variables, or one twice");
    front_eval(front, value, &moving->start);
    front_convert(front, front_type(front, variable), &moving->start);
    moving->has_start = 1;
    if (moving->start.kind == VALUE_POINTER) {
        struct shape shape;
        char reason[REASON_BYTES];
        if (front_shape_of_variable(front, variable, &shape, reason, sizeof reason))
            value_opaque(&moving->start, "%s", reason);
        else front_reshape(front, &moving->start, &shape);
    }
    struct binding *binding = front_variable(front, variable);
    if (binding) front_bind(front, binding, &moving->start); /* for (i = 0, j = i; ...) */
    return 0;
}

/* int v = 0, w = n; or v = 0, w = n */
static int read_start(struct front *front, CXCursor start, struct header *header) {
    start = front_strip(front, start);
    struct kids kids = front_kids(front, start);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(start);
    if (front_kind(front, start) == CXCursor_DeclStmt) {
        for (unsigned i = 0; i < kids.count; i++) {
            struct kids parts = front_kids(front, kids.item[i]);
            if (!parts.count || !front->clang.isExpression(front_kind(front, parts.item[parts.count - 1])))
                continue; /* for (int i = 0, j; ...) */
            if (add_start(front, header, front->clang.getCanonicalCursor(kids.item[i]), parts.item[parts.count - 1]))
                return -1;
        }
        return 0;
    }
    if (front_kind(front, start) != CXCursor_BinaryOperator || kids.count != 2)
        return refuse(header, "a loop that does not start with an assignment");
    if (op == CXBinaryOperator_Comma)
        return read_start(front, kids.item[0], header) ? -1 : read_start(front, kids.item[1], header);
    CXCursor variable = variable_of(front, kids.item[0]);
    if (op != CXBinaryOperator_Assign || front_kind(front, variable) == CXCursor_InvalidFile)
        return refuse(header, "a loop that does not start with an assignment");
    return add_start(front, header, variable, kids.item[1]);
}

/* The amount c of v = v + c or v = v - c: sets *amount and *sign and returns 0. */
static int added_amount(struct front *front, CXCursor sum, CXCursor variable, CXCursor *amount, int *sign) {
    sum = front_strip(front, sum);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(sum);
    struct kids kids = front_kids(front, sum);
    if (front_kind(front, sum) != CXCursor_BinaryOperator || kids.count != 2 ||
        (op != CXBinaryOperator_Add && op != CXBinaryOperator_Sub))
        return -1;
    int second = op == CXBinaryOperator_Add && is_variable(front, kids.item[1], variable);
    if (!is_variable(front, kids.item[second], variable)) return -1;
    *amount = kids.item[!second];
    *sign = op == CXBinaryOperator_Sub ? -1 : 1;
    return 0;
}

/* v++, v -= c, v = v + c, or several of them */
static int read_step(struct front *front, CXCursor step, struct header *header) {
    struct value value;
    int sign = 1;
    step = front_strip(front, step);
    struct kids kids = front_kids(front, step);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(step);
    if (front_kind(front, step) == CXCursor_BinaryOperator && op == CXBinaryOperator_Comma && kids.count == 2)
        return read_step(front, kids.item[0], header) ? -1 : read_step(front, kids.item[1], header);
    CXCursor variable = kids.count ? variable_of(front, kids.item[0]) : step;
    if (!kids.count || front_kind(front, variable) == CXCursor_InvalidFile)
        return refuse(header, "a step that cannot be read");
    struct moving *moving = header_moving(front, header, variable);
    if (!moving || moving->has_step) return refuse(header, "a loop that moves too many variables, or one twice");
    moving->has_step = 1;
    if (front_kind(front, step) == CXCursor_UnaryOperator) {
        enum CXUnaryOperatorKind unary = front->clang.getCursorUnaryOperatorKind(step);
        moving->step = unary == CXUnaryOperator_PreInc || unary == CXUnaryOperator_PostInc ? 1 : -1;
        return unary >= CXUnaryOperator_PostInc && unary <= CXUnaryOperator_PreDec
                   ? 0
                   : refuse(header, "a step that cannot be read");
    }
    if (kids.count != 2) return refuse(header, "a step that cannot be read");
    CXCursor amount = kids.item[1];
    if (op == CXBinaryOperator_Assign) {
        if (added_amount(front, kids.item[1], variable, &amount, &sign))
            return refuse(header, "the step is not an addition");
    } else if (op == CXBinaryOperator_SubAssign) {
        sign = -1;
    } else if (op != CXBinaryOperator_AddAssign) {
        return refuse(header, "the step is not an addition");
    }
    front_eval(front, amount, &value);
    if (!value_is_constant(&value, &moving->step))
        return refuse(header, "the step is not a number%s%.100s", value.kind == VALUE_OPAQUE ? ": " : "",
                      value.kind == VALUE_OPAQUE ? value.reason : "");
    moving->step *= sign;
    return 0;
}

static enum CXChildVisitResult look_for_mention(struct front *front, CXCursor cursor, void *variable) {
    return front_kind(front, cursor) == CXCursor_DeclRefExpr && is_variable(front, cursor, *(CXCursor *)variable)
               ? CXChildVisit_Break
               : CXChildVisit_Recurse;
}

static int mentions(struct front *front, CXCursor expression, CXCursor variable) {
    return front_finds(front, expression, look_for_mention, &variable);
}

/* What ++v, v++, --v or v-- in a condition is more than v at the start of the iteration it decides on; 2: another
 * operator. A while loop compares before the iteration, a do loop after the one before. */
static int moved_in_condition(struct front *front, CXCursor side, enum loop_form form) {
    switch (front->clang.getCursorUnaryOperatorKind(side)) {
    case CXUnaryOperator_PreInc: return form == LOOP_WHILE ? 1 : 0;
    case CXUnaryOperator_PreDec: return form == LOOP_WHILE ? -1 : 0;
    case CXUnaryOperator_PostInc: return form == LOOP_WHILE ? 0 : -1;
    case CXUnaryOperator_PostDec: return form == LOOP_WHILE ? 0 : 1;
    default: return 2;
    }
}

/* Solves side OP *bound for the variable; OP is <= (below) or >=, side is v + c, v - c or c * v. */
static int solve(struct front *front, CXCursor side, int below, struct header *header, struct value *bound) {
    struct value number, less;
    int64_t factor;
    side = front_strip(front, side);
    while (!is_variable(front, side, header->variable)) {
        struct kids kids = front_kids(front, side);
        enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(side);
        int moved = moved_in_condition(front, side, header->form);
        if (front_kind(front, side) == CXCursor_UnaryOperator && kids.count == 1 && header->form != LOOP_FOR &&
            moved < 2) {
            value_constant(&number, moved);
            value_add(front, bound, &number, -1);
            side = front_strip(front, kids.item[0]);
            continue;
        }
        if (front_kind(front, side) != CXCursor_BinaryOperator || kids.count != 2)
            return refuse(header, "the condition cannot be solved for its variable");
        int second = mentions(front, kids.item[1], header->variable);
        if (mentions(front, kids.item[0], header->variable) == second)
            return refuse(header, "the condition cannot be solved for its variable");
        front_eval(front, kids.item[!second], &number);
        if (op == CXBinaryOperator_Add) {
            value_add(front, bound, &number, -1);
        } else if (op == CXBinaryOperator_Sub && !second) {
            value_add(front, bound, &number, 1);
        } else if (op == CXBinaryOperator_Mul && value_is_constant(&number, &factor) && factor > 0) {
            value_constant(&less, factor - 1);
            if (!below) value_add(front, bound, &less, 1);
            value_floor_divide(front, bound, factor);
        } else {
            return refuse(header, "the condition cannot be solved for its variable");
        }
        side = front_strip(front, kids.item[second]);
    }
    return bound->kind == VALUE_NUMBER ? 0 : refuse(header, "bound is not affine: %.120s", bound->reason);
}

/* Whether a compared value, including the last one that ends the loop, could be negative. */
static int goes_negative(struct front *front, const struct header *header, const struct value *bound) {
    int64_t least, most;
    if (header->step > 0) {
        struct rsc_affine affine = header->first.term[0].value;
        if (!front_value_range(front, &header->first, &least, &most) && least >= 0) return 0;
        return header->first.count > 1 || header->first.term[0].divisor > 1 || !front_proved(front, &affine);
    }
    return front_value_range(front, bound, &least, &most) || least + header->step < 0;
}

static int is_multiple(const struct rsc_affine *affine, int64_t of) {
    int is = affine->constant % of == 0;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) is &= affine->coefficient[d] % of == 0;
    return is;
}

/* for (unsigned i = n - 1; i < n; i--): the bound is passed where the variable wraps. */
static int ends_below_zero(struct front *front, CXCursor side, const struct value *bound, int strict,
                           const struct header *header) {
    CXType type = front_type(front, side);
    struct value room = *bound, one, first = header->first;
    struct rsc_affine affine;
    int64_t least, most, bytes = front->clang.Type_getSizeOf(type);
    if (header->step > 0 || header->is_pointer || !type_is_unsigned(type) || bytes < 4 ||
        front_kind(front, front_strip(front, side)) != CXCursor_DeclRefExpr ||
        front_value_range(front, bound, &least, &most) || most > UINT32_MAX / 2 || header->step < -(INT64_C(1) << 30))
        return 0;
    value_constant(&one, strict);
    value_add(front, &room, &one, -1);
    value_add(front, &room, &first, -1);
    return !value_affine(front, &room, &affine) && front_proved(front, &affine);
}

/* side OP *bound, or the other way round: the last value of the loop's variable. */
static int read_bound(struct front *front, enum CXBinaryOperatorKind op, CXCursor side, struct value *bound,
                      int swapped, struct header *header) {
    struct value one;
    int up = header->step > 0, below, strict;
    if (op == CXBinaryOperator_NE) {
        below = up;
        strict = 1;
    } else if (op >= CXBinaryOperator_LT && op <= CXBinaryOperator_GE) {
        below = (op == CXBinaryOperator_LT || op == CXBinaryOperator_LE) != swapped;
        strict = op == CXBinaryOperator_LT || op == CXBinaryOperator_GT;
    } else {
        return refuse(header, "the condition is not a comparison");
    }
    if (below != up && !ends_below_zero(front, side, bound, strict, header))
        return refuse(header, "the step leads away from the bound");
    if (below != up) { /* the last value is the one before it would be negative */
        value_constant(bound, 0);
        below = up;
        strict = 0;
        header->wraps = 1;
    }
    value_constant(&one, 1);
    if (op == CXBinaryOperator_NE) { /* it ends only if it starts on the right side of the bound */
        struct value way = *bound, from = header->first;
        struct rsc_affine affine;
        if (front_kind(front, front_strip(front, side)) == CXCursor_BinaryOperator)
            return refuse(header, "with != the variable must stand alone");
        value_add(front, &way, &from, -1);
        if (!up) {
            struct value minus;
            value_constant(&minus, -1);
            value_multiply(front, &way, &minus);
        }
        if (value_affine(front, &way, &affine) || !front_proved(front, &affine))
            return refuse(header, "with != the loop may not end");
        if (!is_multiple(&affine, header->step)) return refuse(header, "with != the steps may pass the bound");
    }
    if (strict) value_add(front, bound, &one, up ? -1 : 1);
    if (!header->wraps && type_is_unsigned(front_type(front, side)) && goes_negative(front, header, bound))
        return refuse(header, "compared as unsigned, the variable could be negative");
    if (solve(front, side, below, header, bound)) return -1;
    if (!header->has_last) header->last = *bound;
    else value_join(front, &header->last, bound, up ? JOIN_MIN : JOIN_MAX);
    header->has_last = 1;
    return header->last.kind == VALUE_NUMBER ? 0 : refuse(header, "bound is not affine: %.120s", header->last.reason);
}

/* A pointer into the same array as the loop's, as a number of elements from its first value. */
static int count_elements(const struct header *header, struct value *bound) {
    int64_t row = front_row_bytes(&header->pointer.shape);
    struct rsc_affine way = bound->offset;
    if (bound->kind != VALUE_POINTER || bound->array != header->pointer.array ||
        rsc_affine_add(&way, &header->pointer.offset, -1) || way.constant % row)
        return -1;
    way.constant /= row;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) {
        if (way.coefficient[d] % row) return -1;
        way.coefficient[d] /= row;
    }
    value_number(bound, &way);
    return 0;
}

/* v or v-- as a condition: v != 0. */
static int is_truth(struct front *front, CXCursor condition, struct header *header) {
    struct kids kids = front_kids(front, condition);
    if (front_kind(front, condition) == CXCursor_UnaryOperator && kids.count == 1) {
        enum CXUnaryOperatorKind op = front->clang.getCursorUnaryOperatorKind(condition);
        if (op < CXUnaryOperator_PostInc || op > CXUnaryOperator_PreDec) return 0;
        condition = front_strip(front, kids.item[0]);
    }
    return is_variable(front, condition, header->variable);
}

static int read_condition(struct front *front, CXCursor condition, struct header *header) {
    struct value bound;
    if (header->counts_iterations) return header_read_together(front, condition, header);
    condition = front_strip(front, condition);
    if (is_truth(front, condition, header)) {
        value_constant(&bound, 0);
        return read_bound(front, CXBinaryOperator_NE, condition, &bound, 0, header);
    }
    struct kids kids = front_kids(front, condition);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(condition);
    if (front_kind(front, condition) != CXCursor_BinaryOperator || kids.count != 2)
        return refuse(header, "the condition is not a comparison");
    if (op == CXBinaryOperator_LAnd)
        return read_condition(front, kids.item[0], header) ? -1 : read_condition(front, kids.item[1], header);
    int second = mentions(front, kids.item[1], header->variable);
    if (mentions(front, kids.item[0], header->variable) == second)
        return refuse(header, "the condition has its variable on no side or on both");
    CXCursor other = kids.item[!second];
    front_eval(front, other, &bound);
    if (header->is_pointer ? count_elements(header, &bound) : bound.kind != VALUE_NUMBER)
        return refuse(header, "bound is not affine: %.120s",
                      bound.kind == VALUE_OPAQUE    ? bound.reason
                      : bound.kind == VALUE_POINTER ? "a pointer"
                                                    : "a number is compared with a pointer");
    if (front_unsigned_negative(front, other, &bound)) return refuse(header, "an unsigned bound could be negative");
    return read_bound(front, op, kids.item[second], &bound, second, header);
}

/* Finds break, goto and return, which end a loop early. Loops and switches inside have their own breaks. */
static enum CXChildVisitResult look_for_jump(struct front *front, CXCursor cursor, void *context) {
    enum CXCursorKind kind = front_kind(front, cursor);
    (void)context;
    if (kind == CXCursor_GotoStmt || kind == CXCursor_ReturnStmt || kind == CXCursor_BreakStmt)
        return CXChildVisit_Break;
    if (kind == CXCursor_ForStmt || kind == CXCursor_CXXForRangeStmt || kind == CXCursor_WhileStmt ||
        kind == CXCursor_DoStmt || kind == CXCursor_SwitchStmt)
        return CXChildVisit_Continue;
    return CXChildVisit_Recurse;
}

static enum CXChildVisitResult look_for_break(struct front *front, CXCursor cursor, void *context) {
    return front_kind(front, cursor) == CXCursor_ContinueStmt ? CXChildVisit_Break
                                                              : look_for_jump(front, cursor, context);
}

int front_runs_once(struct front *front, CXCursor statement) {
    struct kids kids = front_kids(front, statement);
    int64_t again;
    return front_kind(front, statement) == CXCursor_DoStmt && kids.count == 2 &&
           front_constant(front, kids.item[1], &again) && !again &&
           !front_finds(front, kids.item[0], look_for_break, NULL);
}

/* The loop's variable is the one in the condition. */
static int choose_variable(struct front *front, CXCursor condition, struct header *header) {
    struct moving *chosen = NULL;
    for (unsigned i = 0; i < header->moving_count; i++) {
        struct moving *moving = &header->moving[i];
        if (!mentions(front, condition, moving->variable)) continue;
        if (!moving->in_body && front_assigns_variable(front, header->body, moving->variable))
            return refuse(header, "%.60s is changed in the loop", front_name(front, moving->variable));
        if (!moving->has_step) continue; /* for (i = 0, n = size(); i < n; i++) */
        header_find_start(front, moving); /* for (; i < n; i++) */
        moving->in_condition = 1;
        header->counts_iterations = chosen != NULL;
        if (!chosen) chosen = moving;
    }
    if (!chosen || !chosen->has_start)
        return refuse(header, "the condition's variable is not started and moved by the loop");
    header->variable = chosen->variable;
    if (header->counts_iterations) {
        value_constant(&header->first, 0);
        header->step = 1;
        return 0;
    }
    header->first = chosen->start;
    header->step = chosen->step;
    if (!header->step) return refuse(header, "the step is 0");
    if (header->first.kind == VALUE_POINTER) { /* counted in elements */
        header->is_pointer = 1;
        header->pointer = header->first;
        if (front_row_bytes(&header->pointer.shape) < 1) return refuse(header, "a pointer to data of unknown size");
        value_constant(&header->first, 0);
        return 0;
    }
    if (!type_is_integer(front_type(front, header->variable)))
        return refuse(header, "the loop's variable is not an integer");
    if (header->first.kind != VALUE_NUMBER)
        return refuse(header, "first value is not affine: %.100s",
                      header->first.kind == VALUE_OPAQUE ? header->first.reason : "a pointer");
    return 0;
}

/* A variable of the condition or of the step that the body changes; companions of the loop's variable may change. */
static int refuse_changing_bound(struct front *front, struct header *header, CXCursor expression) {
    struct kids kids = front_kids(front, expression);
    for (unsigned i = 0; i < kids.count; i++)
        if (refuse_changing_bound(front, header, kids.item[i])) return -1;
    if (front_kind(front, expression) != CXCursor_DeclRefExpr) return 0;
    CXCursor variable = front->clang.getCursorReferenced(expression);
    for (unsigned i = 0; i < header->moving_count; i++)
        if (front->clang.equalCursors(front->clang.getCanonicalCursor(header->moving[i].variable),
                                      front->clang.getCanonicalCursor(variable)))
            return 0;
    if (!front_assigns_variable(front, header->body, variable)) return 0;
    return refuse(header, "%.60s, a bound or step of the loop, is changed in the loop", front_name(front, variable));
}

/* The first ; from *at on that is not in brackets or quotes; *at moves past it. */
static void pass_semicolon(struct front *front, unsigned *at, unsigned end) {
    int depth = 0;
    for (; *at < end; ++*at) {
        char c = front->text[*at];
        if (c == '#' && *at && front->text[*at - 1] == '\n') { /* a line marker */
            while (*at < end && front->text[*at] != '\n') ++*at;
            continue;
        }
        if (c == '"' || c == '\'')
            while (++*at < end && front->text[*at] != c) *at += front->text[*at] == '\\';
        else if (strchr("([{", c) && c) depth++;
        else if (strchr(")]}", c) && c) depth--;
        else if (c == ';' && !depth) {
            ++*at;
            return;
        }
    }
}

void front_for_parts(struct front *front, CXCursor statement, struct for_parts *parts) {
    struct kids kids = front_kids(front, statement);
    CXCursor none = front->clang.getNullCursor();
    unsigned at, end, first, second, start, stop;
    *parts = (struct for_parts){none, none, none, none};
    if (!kids.count) return;
    parts->body = kids.item[kids.count - 1];
    front_extent(front, statement, &at, &end);
    if (end > front->bytes) end = (unsigned)front->bytes;
    while (at < end && front->text[at] != '(') at++;
    first = ++at;
    pass_semicolon(front, &first, end);
    second = first;
    pass_semicolon(front, &second, end);
    for (unsigned i = 0; i + 1 < kids.count; i++) {
        front_extent(front, kids.item[i], &start, &stop);
        if (start < first) parts->start = kids.item[i];
        else if (start < second) parts->condition = kids.item[i];
        else parts->step = kids.item[i];
    }
}

int header_read_for(struct front *front, struct header *header) {
    struct for_parts parts;
    front_for_parts(front, header->statement, &parts);
    header->body = parts.body;
    if (front->clang.Cursor_isNull(parts.condition) || front->clang.Cursor_isNull(parts.step))
        return refuse(header, "a loop without condition or step");
    if (!front->clang.Cursor_isNull(parts.start) && read_start(front, parts.start, header)) return -1;
    size_t touches = front->touches;
    if (read_step(front, parts.step, header) || choose_variable(front, parts.condition, header) ||
        read_condition(front, parts.condition, header))
        return -1;
    if (front->touches != touches) return refuse(header, "its condition or step accesses memory in every iteration");
    if (front_finds(front, header->body, look_for_jump, NULL))
        return refuse(header, "break, goto or return ends the loop early");
    return refuse_changing_bound(front, header, parts.condition) || refuse_changing_bound(front, header, parts.step)
               ? -1
               : 0;
}

int header_read_while(struct front *front, struct header *header) {
    struct rsc_affine way, first;
    if (front_finds(front, header->body, look_for_jump, NULL))
        return refuse(header, "break, goto or return ends the loop early");
    size_t touches = front->touches;
    if (choose_variable(front, header->condition, header) || read_condition(front, header->condition, header))
        return -1;
    if (front->touches != touches) return refuse(header, "its condition accesses memory in every iteration");
    if (refuse_changing_bound(front, header, header->condition)) return -1;
    if (header->form == LOOP_WHILE) return 0;
    struct value last = header->last;
    if (header->first.count != 1 || value_affine(front, &last, &way) || value_affine(front, &header->first, &first) ||
        rsc_affine_add(&way, &first, -1))
        return refuse(header, "a do loop whose trip count is not affine");
    if (header->step < 0) {
        struct rsc_affine back = {0};
        if (rsc_affine_add(&back, &way, -1)) return refuse(header, "a number passes 2^56");
        way = back;
    }
    return front_proved(front, &way)
               ? 0
               : refuse(header, "a do loop that may run once although its condition does not hold");
}
