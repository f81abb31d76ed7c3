/*
 * clang_loop.c - for loops: variable, first value, condition, step.
 *
 * for (v = FIRST; v OP BOUND; v += STEP). The variable may be on either side, also as
 * v + c or c * v; the condition may be a conjunction. Other variables may change along
 * with it (w = START; w += c): their value is START + c (v - FIRST) / STEP. Everything
 * else is a gap.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_front.h"

#define MOVING_MAX 6

/* A variable that the header initialises, changes, or both. */
struct moving {
    CXCursor variable;
    struct value start;
    int has_start, has_step;
    int64_t step;
};

struct header {
    CXCursor statement, variable, body;
    struct value first, last; /* last is inclusive */
    int has_last;
    int64_t step;
    struct moving moving[MOVING_MAX]; /* the loop's variable is one of them */
    unsigned moving_count;
    char reason[REASON_BYTES];
};

static int refuse(struct header *header, const char *format, ...) __attribute__((format(printf, 2, 3)));

static int refuse(struct header *header, const char *format, ...) {
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

static struct moving *moving_of(struct front *front, struct header *header, CXCursor variable) {
    for (unsigned i = 0; i < header->moving_count; i++)
        if (front->clang.equalCursors(header->moving[i].variable, variable)) return &header->moving[i];
    if (header->moving_count == MOVING_MAX) return NULL;
    header->moving[header->moving_count].variable = variable;
    return &header->moving[header->moving_count++];
}

static int add_start(struct front *front, struct header *header, CXCursor variable, CXCursor value) {
    struct moving *moving = moving_of(front, header, variable);
    if (!moving || moving->has_start) return refuse(header, "a loop that starts too many variables, or one twice");
    front_eval(front, value, &moving->start);
    front_convert(front, front_type(front, variable), &moving->start);
    moving->has_start = 1;
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
                return refuse(header, "the loop's variable has no first value");
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
    struct moving *moving = moving_of(front, header, variable);
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

/* Solves side OP *bound for the variable; OP is <= (below) or >=, side is v + c, v - c or c * v. */
static int solve(struct front *front, CXCursor side, int below, struct header *header, struct value *bound) {
    struct value number, less;
    int64_t factor;
    side = front_strip(front, side);
    while (!is_variable(front, side, header->variable)) {
        struct kids kids = front_kids(front, side);
        enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(side);
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

static int read_condition(struct front *front, CXCursor condition, struct header *header) {
    struct value bound, one;
    condition = front_strip(front, condition);
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
    int up = header->step > 0, below, strict;
    if (op == CXBinaryOperator_NE) {
        if (header->step != 1 && header->step != -1) return refuse(header, "with != the step must be 1 or -1");
        below = up;
        strict = 1;
    } else if (op >= CXBinaryOperator_LT && op <= CXBinaryOperator_GE) {
        below = (op == CXBinaryOperator_LT || op == CXBinaryOperator_LE) != second;
        strict = op == CXBinaryOperator_LT || op == CXBinaryOperator_GT;
    } else {
        return refuse(header, "the condition is not a comparison");
    }
    if (below != up) return refuse(header, "the step leads away from the bound");
    front_eval(front, other, &bound);
    if (bound.kind != VALUE_NUMBER)
        return refuse(header, "bound is not affine: %.120s", bound.kind == VALUE_OPAQUE ? bound.reason : "a pointer");
    if (front_unsigned_negative(front, other, &bound)) return refuse(header, "an unsigned bound could be negative");
    value_constant(&one, 1);
    if (op == CXBinaryOperator_NE) { /* it ends only if it starts on the right side of the bound */
        struct value way = bound, from = header->first;
        struct rsc_affine affine;
        if (front_kind(front, front_strip(front, kids.item[second])) != CXCursor_DeclRefExpr)
            return refuse(header, "with != the variable must stand alone");
        value_add(front, &way, &from, -1);
        if (!up) {
            struct value minus;
            value_constant(&minus, -1);
            value_multiply(front, &way, &minus);
        }
        if (value_affine(front, &way, &affine) || !front_proved(front, &affine))
            return refuse(header, "with != the loop may not end");
    }
    if (strict) value_add(front, &bound, &one, up ? -1 : 1);
    if (type_is_unsigned(front_type(front, kids.item[second])) && goes_negative(front, header, &bound))
        return refuse(header, "compared as unsigned, the variable could be negative");
    if (solve(front, kids.item[second], below, header, &bound)) return -1;
    if (!header->has_last) header->last = bound;
    else value_join(front, &header->last, &bound, up ? JOIN_MIN : JOIN_MAX);
    header->has_last = 1;
    return header->last.kind == VALUE_NUMBER ? 0 : refuse(header, "bound is not affine: %.120s", header->last.reason);
}

/* Finds break, goto and return, which end a loop early. Loops and switches inside have their own breaks. */
static enum CXChildVisitResult look_for_jump(struct front *front, CXCursor cursor, void *context) {
    enum CXCursorKind kind = front_kind(front, cursor);
    (void)context;
    if (kind == CXCursor_GotoStmt || kind == CXCursor_ReturnStmt || kind == CXCursor_BreakStmt)
        return CXChildVisit_Break;
    if (kind == CXCursor_ForStmt || kind == CXCursor_WhileStmt || kind == CXCursor_DoStmt ||
        kind == CXCursor_SwitchStmt)
        return CXChildVisit_Continue;
    return CXChildVisit_Recurse;
}

/* The loop's variable is the one in the condition. */
static int choose_variable(struct front *front, CXCursor condition, struct header *header) {
    struct moving *chosen = NULL;
    for (unsigned i = 0; i < header->moving_count; i++) {
        if (!mentions(front, condition, header->moving[i].variable)) continue;
        if (chosen) return refuse(header, "the condition has more than one variable that moves");
        chosen = &header->moving[i];
    }
    if (!chosen || !chosen->has_start || !chosen->has_step)
        return refuse(header, "the condition's variable is not started and moved by the loop");
    header->variable = chosen->variable;
    header->first = chosen->start;
    header->step = chosen->step;
    if (!header->step) return refuse(header, "the step is 0");
    if (!type_is_integer(front_type(front, header->variable)))
        return refuse(header, "the loop's variable is not an integer");
    if (header->first.kind != VALUE_NUMBER)
        return refuse(header, "first value is not affine: %.100s",
                      header->first.kind == VALUE_OPAQUE ? header->first.reason : "a pointer");
    return 0;
}

static int read_header(struct front *front, struct header *header) {
    struct kids kids = front_kids(front, header->statement);
    if (kids.count != 4) return refuse(header, "a loop without first value, condition or step");
    header->body = kids.item[3];
    if (read_start(front, kids.item[0], header) || read_step(front, kids.item[2], header) ||
        choose_variable(front, kids.item[1], header) || read_condition(front, kids.item[1], header))
        return -1;
    if (front_finds(front, header->body, look_for_jump, NULL))
        return refuse(header, "break, goto or return ends the loop early");
    if (front_assigns_variable(front, header->body, header->variable))
        return refuse(header, "the loop's variable is changed in the loop");
    return 0;
}

/* Converts a value to a bound; a join of the wrong kind splits the statement. */
static int make_bound(struct front *front, struct header *header, struct value *value, enum value_join allowed) {
    struct rsc_affine affine;
    if (value->join != JOIN_ONE && value->join != allowed && value_affine(front, value, &affine))
        return refuse(header, "bound is not affine: %.120s", value->reason);
    return 0;
}

static int fits(struct front *front, const struct header *header, int64_t least, int64_t most) {
    CXType type = front_type(front, header->variable);
    long long bytes = front->clang.Type_getSizeOf(type);
    int bits = bytes >= 1 && bytes < 8 ? 8 * (int)bytes : 62;
    int64_t high = type_is_unsigned(type) ? (INT64_C(1) << bits) - 1 : (INT64_C(1) << (bits - 1)) - 1;
    int64_t low = type_is_unsigned(type) ? 0 : -high - 1;
    if (least > most) return 1;
    if (header->step > 0) return least >= low && most <= high - header->step;
    return most <= high && least >= low - header->step;
}

static struct rsc_loop_node *add_loop(struct front *front, struct header *header, int64_t *least, int64_t *most) {
    int up = header->step > 0;
    uint32_t depth = front_depth(front);
    const char *file;
    unsigned line;
    int64_t low, high;
    if (depth >= RSC_LOOP_DEPTH_MAX) return refuse(header, "loops are nested too deep (16 at most)"), NULL;
    if (front_value_range(front, &header->first, least, &low) || front_value_range(front, &header->last, &high, most) ||
        (!up && (front_value_range(front, &header->last, least, &low) ||
                 front_value_range(front, &header->first, &high, most))))
        return refuse(header, "a bound passes 2^56"), NULL;
    if (!fits(front, header, *least, *most))
        return refuse(header, "the loop's variable could pass the end of its type"), NULL;
    struct rsc_loop_node *loop = rsc_loop_add_node(front->program, front->at, RSC_NODE_LOOP);
    if (!loop) return front_no_memory(front), NULL;
    for (uint32_t i = 0; i < header->first.count; i++)
        if (rsc_loop_add_term(front->program, &loop->first, &header->first.term[i]))
            return front_no_memory(front), NULL;
    for (uint32_t i = 0; i < header->last.count; i++)
        if (rsc_loop_add_term(front->program, &loop->last, &header->last.term[i])) return front_no_memory(front), NULL;
    loop->step = header->step;
    loop->variable = front_fresh_name(front, front_name(front, header->variable));
    front_place(front, header->statement, &file, &line);
    const char *region_file = front->program->region[front->region].file;
    loop->file = region_file && !strcmp(region_file, file) ? NULL : file;
    loop->line = line;
    return loop;
}

/* Inside the loop every plain term of its bounds limits the variable. */
static void know_bounds(struct front *front, const struct rsc_loop_node *loop) {
    int up = loop->step > 0;
    for (int side = 0; side < 2; side++) {
        const struct rsc_loop_bound *bound = side ? &loop->last : &loop->first;
        for (uint32_t i = 0; i < bound->count; i++) {
            struct rsc_affine way = rsc_affine_variable(loop->depth);
            if (bound->term[i].rounding != RSC_ROUND_NONE || rsc_affine_add(&way, &bound->term[i].value, -1)) continue;
            front_know(front, &way, (side == 0) == up ? 1 : -1, 0);
        }
    }
}

static int check_collapse(const struct rsc_loop_node *loop) {
    const struct rsc_loop_node *at = loop;
    for (uint32_t left = loop->collapse; left > 1; left--) {
        if (at->child_count != 1 || at->child[0]->kind != RSC_NODE_LOOP || rsc_loop_is_let(at->child[0])) return -1;
        at = at->child[0];
    }
    return 0;
}

static int share_loop(struct front *front, struct rsc_loop_node *loop, const struct rsc_omp *omp,
                      struct header *header) {
    int64_t number;
    if (omp->schedule == RSC_OMP_RUNTIME && !front->options->schedule_given)
        return refuse(header, "schedule(runtime) is not in the source (--schedule gives one)");
    loop->share = 1;
    loop->schedule = omp->schedule == RSC_OMP_DYNAMIC  ? RSC_SCHEDULE_DYNAMIC
                     : omp->schedule == RSC_OMP_GUIDED ? RSC_SCHEDULE_GUIDED
                                                       : RSC_SCHEDULE_STATIC;
    loop->nowait = omp->nowait && !omp->is_parallel;
    if (omp->chunk.text) {
        if (!front_omp_number(front, &omp->chunk, &number) || number < 1)
            return refuse(header, "the schedule's chunk is not a positive number: %.60s", omp->chunk.text);
        loop->chunk = (uint64_t)number;
    }
    if (omp->collapse.text) {
        if (!front_omp_number(front, &omp->collapse, &number) || number < 1 || number > RSC_LOOP_DEPTH_MAX)
            return refuse(header, "collapse is not a number from 1 to 16: %.60s", omp->collapse.text);
        loop->collapse = (uint32_t)number;
    }
    return 0;
}

/* The value of a companion variable in an iteration: START + c (v - FIRST) / STEP. */
static void companion_value(struct front *front, const struct header *header, const struct moving *moving,
                            const struct rsc_affine *variable, struct value *value) {
    struct rsc_affine way = *variable;
    struct value moved, factor;
    *value = moving->start;
    if (!moving->has_step) return;
    if (header->first.count != 1 || header->first.term[0].rounding != RSC_ROUND_NONE || moving->step % header->step ||
        rsc_affine_add(&way, &header->first.term[0].value, -1)) {
        value_opaque(value, "%.60s moves along the loop in a way that is not affine",
                     front_name(front, moving->variable));
        return;
    }
    value_number(&moved, &way);
    value_constant(&factor, moving->step / header->step);
    value_multiply(front, &moved, &factor);
    if (value->kind == VALUE_POINTER) {
        int64_t row = front_row_bytes(&value->shape);
        if (row < 0 || moved.kind != VALUE_NUMBER || rsc_affine_add(&value->offset, &moved.term[0].value, row))
            value_opaque(value, "an offset passes 2^56 bytes");
    } else {
        value_add(front, value, &moved, 1);
        front_convert(front, front_type(front, moving->variable), value);
    }
}

/* Binds the companions before the body (with the loop's variable) or after the loop (without). */
static void bind_companions(struct front *front, struct header *header, const struct rsc_affine *variable) {
    for (unsigned i = 0; i < header->moving_count; i++) {
        struct moving *moving = &header->moving[i];
        struct value value;
        if (front->clang.equalCursors(moving->variable, header->variable)) continue;
        if (!variable) value_opaque(&value, "%.60s is used after its loop", front_name(front, moving->variable));
        else if (front_assigns_variable(front, header->body, moving->variable))
            value_opaque(&value, "%.60s changes in the loop", front_name(front, moving->variable));
        else companion_value(front, header, moving, variable, &value);
        struct binding *binding = front_variable(front, moving->variable);
        if (!binding) return;
        front_bind(front, binding, &value);
        binding->in_parallel = front->in_parallel;
    }
}

/* A companion without an initialiser starts with its value before the loop. */
static void start_companions(struct front *front, struct header *header) {
    for (unsigned i = 0; i < header->moving_count; i++) {
        struct moving *moving = &header->moving[i];
        if (moving->has_start) continue;
        struct binding *binding = front_variable(front, moving->variable);
        if (!binding) return;
        moving->start = binding->value;
        if (moving->start.kind == VALUE_POINTER && moving->start.array == UINT32_MAX)
            moving->start.array = front_array_of_variable(front, binding->variable, &moving->start.shape);
    }
}

struct sharing {
    CXCursor statement;
    const struct rsc_omp *share;
};

static void for_path(struct front *front, void *data) {
    const struct sharing *sharing = data;
    struct header header = {.statement = sharing->statement};
    int64_t least, most;
    struct rsc_loop_node *loop = NULL;
    front->in_subscript++; /* scalars in a header are in registers, even with --count-scalars */
    int bad = read_header(front, &header);
    front->in_subscript--;
    if (!bad) {
        int up = header.step > 0;
        bad = make_bound(front, &header, &header.first, up ? JOIN_MAX : JOIN_MIN) ||
              make_bound(front, &header, &header.last, up ? JOIN_MIN : JOIN_MAX);
    }
    front_flush(front);
    if (!bad) loop = add_loop(front, &header, &least, &most);
    if (loop && sharing->share && share_loop(front, loop, sharing->share, &header)) {
        loop->parent->child_count--;
        loop = NULL;
    }
    if (!loop) {
        if (!front->out_of_memory) front_gap(front, sharing->statement, "loop left out: %s", header.reason);
        front_forget_assigned(front, sharing->statement, "changes in a loop that is not affine");
        return;
    }
    struct value value;
    struct rsc_affine variable = rsc_affine_variable(loop->depth);
    front->variable[loop->depth] = loop->variable;
    front->least[loop->depth] = least;
    front->most[loop->depth] = most;
    start_companions(front, &header);
    front_forget_assigned(front, header.body, "changes in the loop");
    know_bounds(front, loop);
    struct binding *binding = front_variable(front, header.variable);
    if (!binding) return;
    value_number(&value, &variable);
    front_bind(front, binding, &value);
    binding->counter++;
    binding->in_parallel = front->in_parallel;
    front->at = loop;
    bind_companions(front, &header, &variable);
    int in_share = front->in_share;
    if (sharing->share) front->in_share = 1;
    front->at_body = 1;
    front_statement(front, header.body);
    front->at_body = 0;
    front->in_share = in_share;
    if (sharing->share && check_collapse(loop)) {
        front_gap(front, sharing->statement,
                  "collapse(%u): the loops are not perfectly nested, or their bounds need a quotient", loop->collapse);
        loop->collapse = 1;
    }
    front_forget_assigned(front, header.body, "changes in a loop");
    bind_companions(front, &header, NULL);
    if (!(binding = front_variable(front, header.variable))) return;
    binding->counter--;
    value_opaque(&value, "%.60s is used after its loop", front_name(front, header.variable));
    front_bind(front, binding, &value);
}

void front_for(struct front *front, CXCursor statement, const struct rsc_omp *share) {
    struct sharing sharing = {statement, share};
    if (front_kind(front, statement) != CXCursor_ForStmt) {
        front_gap(front, statement, "the directive is not followed by a for loop");
        front_forget_assigned(front, statement, "changes");
        return;
    }
    front_paths(front, for_path, &sharing);
}
