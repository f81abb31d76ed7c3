/*
 * clang_together.c - conditions on several variables that all move: for (i = 0, j = n - 1; i < j; i++, j--).
 *
 * The loop's variable is then the number k of the iteration, from 0. Every variable is START + step * k, so each comparison
 * is that of an expression which is affine in k with 0, and limits k. The values are first taken at k = 0, which gives a
 * last k, and then in all iterations up to the comparison that ends the loop: there they must fit their types.
 */
#include "loops/front/clang_loop.h"

/* The loop goes on while way >= 1; `depth` is that of k. */
static int limit(struct front *front, struct header *header, uint32_t depth, struct rsc_affine way) {
    struct rsc_affine one = rsc_affine_number(1);
    struct value last;
    int64_t nearer = -way.coefficient[depth];
    if (nearer < 1) return refuse(header, "the steps lead away from the bound");
    way.coefficient[depth] = 0;
    if (rsc_affine_add(&way, &one, -1)) return refuse(header, "a number passes 2^56");
    value_number(&last, &way);
    value_floor_divide(front, &last, nearer);
    if (header->has_last) value_join(front, &header->last, &last, JOIN_MIN);
    else header->last = last;
    header->has_last = 1;
    return header->last.kind == VALUE_NUMBER ? 0 : refuse(header, "bound is not affine: %.120s", header->last.reason);
}

/* With != the two sides must meet. */
static int limit_unequal(struct front *front, struct header *header, uint32_t depth, struct rsc_affine way) {
    struct rsc_affine from, negative = {0};
    if (way.coefficient[depth] > 0) {
        if (rsc_affine_add(&negative, &way, -1)) return refuse(header, "a number passes 2^56");
        way = negative;
    }
    from = way;
    from.coefficient[depth] = 0;
    int64_t nearer = -way.coefficient[depth];
    int meets = nearer && from.constant % nearer == 0;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX && meets; d++) meets = from.coefficient[d] % nearer == 0;
    if (!meets || !front_proved(front, &from)) return refuse(header, "with != the loop may not end");
    return limit(front, header, depth, way);
}

static int compare(struct front *front, struct header *header, uint32_t depth, CXCursor condition) {
    struct value left, right, one;
    condition = front_strip(front, condition);
    struct kids kids = front_kids(front, condition);
    enum CXBinaryOperatorKind op = front->clang.getCursorBinaryOperatorKind(condition);
    if (front_kind(front, condition) != CXCursor_BinaryOperator || kids.count != 2)
        return refuse(header, "the condition is not a comparison");
    if (op == CXBinaryOperator_LAnd)
        return compare(front, header, depth, kids.item[0]) ? -1 : compare(front, header, depth, kids.item[1]);
    if (!front_is_comparison(op) || op == CXBinaryOperator_EQ)
        return refuse(header, "the condition is not a comparison");
    front_eval(front, kids.item[0], &left);
    front_eval(front, kids.item[1], &right);
    if (left.kind == VALUE_POINTER && right.kind == VALUE_POINTER && left.array == right.array) {
        value_number(&left, &left.offset);
        value_number(&right, &right.offset);
    }
    if (left.kind != VALUE_NUMBER || right.kind != VALUE_NUMBER)
        return refuse(header, "bound is not affine: %.120s",
                      left.kind == VALUE_OPAQUE    ? left.reason
                      : right.kind == VALUE_OPAQUE ? right.reason
                                                   : "pointers into different arrays");
    if (front_unsigned_negative(front, kids.item[0], &left) || front_unsigned_negative(front, kids.item[1], &right))
        return refuse(header, "compared as unsigned, a variable could be negative");
    int below = op == CXBinaryOperator_LT || op == CXBinaryOperator_LE || op == CXBinaryOperator_NE;
    struct value *way = below ? &right : &left;
    value_add(front, way, below ? &left : &right, -1);
    value_constant(&one, 1);
    if (op == CXBinaryOperator_LE || op == CXBinaryOperator_GE) value_add(front, way, &one, 1);
    if (way->kind != VALUE_NUMBER || way->join == JOIN_MAX || (op == CXBinaryOperator_NE && way->count > 1))
        return refuse(header, "the condition cannot be solved for its variables");
    for (uint32_t i = 0; i < way->count; i++)
        if (way->term[i].rounding != RSC_ROUND_NONE)
            return refuse(header, "the condition cannot be solved for its variables");
        else if (op == CXBinaryOperator_NE ? limit_unequal(front, header, depth, way->term[i].value)
                                           : limit(front, header, depth, way->term[i].value))
            return -1;
    return 0;
}

/* Solves the condition, with values that hold from iteration 0 to `most`. */
static int solve(struct front *front, struct header *header, CXCursor condition, int64_t most) {
    uint32_t depth = front_depth(front);
    struct rsc_affine iteration = rsc_affine_variable(depth);
    struct rsc_loop_node *at = front->at;
    struct paths *paths = front->paths;
    size_t mark = front->undo_count;
    front->least[depth] = 0;
    front->most[depth] = most;
    for (unsigned i = 0; i < header->moving_count; i++) {
        struct value value;
        if (!header->moving[i].in_condition) continue;
        header_companion(front, header, &header->moving[i], &iteration, &value);
        struct binding *binding = front_variable(front, header->moving[i].variable);
        if (binding) front_bind(front, binding, &value);
    }
    header->has_last = 0;
    front->paths = NULL; /* the cases could depend on the iteration, whose loop is not there yet */
    int status = compare(front, header, depth, condition);
    front->paths = paths;
    front_undo_to(front, mark);
    if (front->at != at && !status) status = refuse(header, "the condition cannot be solved for its variables");
    front->at = at;
    return status;
}

int header_read_together(struct front *front, CXCursor condition, struct header *header) {
    int64_t least, most, again;
    if (front_depth(front) >= RSC_LOOP_DEPTH_MAX) return refuse(header, "loops are nested too deep (16 at most)");
    if (front_assigns_counters(front, condition))
        return refuse(header, "the condition changes one of several variables that move");
    if (solve(front, header, condition, 0)) return -1;
    if (front_value_range(front, &header->last, &least, &most)) return refuse(header, "a bound passes 2^56");
    if (solve(front, header, condition, most < 0 ? 0 : most + 1)) return -1;
    if (front_value_range(front, &header->last, &least, &again) || again > most)
        return refuse(header, "the condition cannot be solved for its variables");
    return 0;
}
