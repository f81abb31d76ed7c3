/*
 * clang_induction.c - variables that a loop changes by the same step in every iteration: *p++ = x[k]; k += 2.
 *
 * The body is run once aside, to see by how much each variable changes (a guess), and again with START + step * iteration
 * as the value: if every one of them is a step further at the end, that holds in all iterations. A variable that is not is
 * not followed. The real run comes after that.
 */
#include <string.h>

#include "loops/front/clang_loop.h"

#define TRIALS_MAX 4 /* nested: each runs the body twice more */

void header_companion(struct front *front, const struct header *header, const struct moving *moving,
                      const struct rsc_affine *variable, struct value *value) {
    struct rsc_affine way = *variable;
    struct value moved, factor;
    *value = moving->start;
    if (!moving->has_step) return;
    if (header->first.count != 1 || header->first.term[0].rounding != RSC_ROUND_NONE ||
        rsc_affine_add(&way, &header->first.term[0].value, -1)) {
        value_opaque(value, "%.60s moves along the loop in a way that is not affine",
                     front_name(front, moving->variable));
        return;
    }
    value_number(&moved, &way);
    if (moving->step % header->step == 0) {
        value_constant(&factor, moving->step / header->step);
    } else { /* by the number of the iteration */
        value_constant(&factor, header->step < 0 ? -1 : 1);
        value_multiply(front, &moved, &factor);
        value_floor_divide(front, &moved, header->step < 0 ? -header->step : header->step);
        value_constant(&factor, moving->step);
    }
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

void header_run_body(struct front *front, struct header *header) {
    struct value ignored;
    int at_body = front->at_body;
    front->in_subscript++;
    if (header->form == LOOP_WHILE) front_eval(front, header->condition, &ignored);
    front->in_subscript--;
    front->at_body = 1;
    front_statement(front, header->body);
    front->at_body = at_body;
    front->in_subscript++;
    if (header->form == LOOP_DO) front_eval(front, header->condition, &ignored);
    front->in_subscript--;
}

void header_run_aside(struct front *front, struct header *header) {
    struct rsc_loop_node *at = front->at;
    struct rsc_loop_node aside = {.kind = RSC_NODE_BODY, .parent = at, .depth = front_depth(front)};
    struct paths none = {.start = &aside}, *paths = front->paths;
    size_t pending = front->pending_count, known = front->known_count;
    int flushed = front->flushed;
    front->paths = &none;
    front->at = at ? &aside : NULL;
    front->gaps_muted++;
    front->trials++;
    header_run_body(front, header);
    front->trials--;
    front->gaps_muted--;
    front->at = at;
    front->paths = paths;
    front->pending_count = pending;
    front->known_count = known;
    front->flushed = flushed;
}

/* *step = now - before, of a pointer in elements. Returns 0, or -1 if that is not a number. */
static int difference(const struct value *now, const struct value *before, int64_t *step) {
    struct rsc_affine way;
    if (now->kind != before->kind) return -1;
    if (now->kind == VALUE_POINTER) {
        int64_t row = front_row_bytes(&before->shape);
        way = now->offset;
        if (now->array != before->array || row < 1 || rsc_affine_add(&way, &before->offset, -1) || way.constant % row)
            return -1;
        way.constant /= row;
    } else {
        if (now->kind != VALUE_NUMBER || now->count != 1 || before->count != 1 || now->term[0].divisor != 1 ||
            before->term[0].divisor != 1)
            return -1;
        way = now->term[0].value;
        if (rsc_affine_add(&way, &before->term[0].value, -1)) return -1;
    }
    *step = way.constant;
    return rsc_affine_is_number(&way) ? 0 : -1;
}

/* The variables that the body changes and whose value before the loop is known, as steps of the header. */
void header_guess_steps(struct front *front, struct header *header) {
    if (front->trials >= TRIALS_MAX) return;
    size_t mark = front->undo_count, count;
    front_forget_assigned(front, header->form == LOOP_FOR ? header->body : header->statement, "changes in the loop");
    count = front->undo_count - mark;
    struct undo *changed = rsc_arena_alloc(&front->arena, (count + 1) * sizeof *changed);
    if (!changed) {
        front_no_memory(front);
        return;
    }
    memcpy(changed, front->undo + mark, count * sizeof *changed);
    front_undo_to(front, mark);
    for (size_t i = 0; i < count; i++) {
        struct value *start = &changed[i].value;
        if (start->kind == VALUE_POINTER && start->array == UINT32_MAX) {
            CXCursor variable = front->binding[changed[i].index].variable;
            start->array = front_array_of_variable(front, variable, &start->shape);
            front_bind(front, &front->binding[changed[i].index], start);
        }
    }
    if (count) header_run_aside(front, header);
    for (size_t i = 0; i < count; i++) {
        const struct binding *binding = &front->binding[changed[i].index];
        int64_t step;
        if (binding->counter || difference(&binding->value, &changed[i].value, &step) || !step) continue;
        struct moving *moving = header_moving(front, header, binding->variable);
        if (!moving || moving->has_step) continue; /* the header moves it too */
        *moving = (struct moving){.variable = binding->variable,
                                  .start = changed[i].value,
                                  .has_start = 1,
                                  .has_step = 1,
                                  .in_body = 1,
                                  .step = step};
    }
    header_guess_rotation(front, header, changed, count);
    front_undo_to(front, mark);
}

/* Whether all are a step further at the end of an iteration; those that are not are no longer followed. */
static int one_verification(struct front *front, struct header *header, const struct rsc_affine *variable,
                            int *dropped) {
    size_t mark = front->undo_count;
    int status = 0;
    *dropped = 0;
    header_bind_companions(front, header, variable, 0);
    header_run_aside(front, header);
    for (unsigned i = 0; i < header->moving_count; i++) {
        struct moving *moving = &header->moving[i];
        struct value expected;
        int64_t off;
        if (!moving->in_body) continue;
        const struct binding *binding = front_variable(front, moving->variable);
        header_companion(front, header, moving, variable, &expected);
        if (binding && !difference(&binding->value, &expected, &off) && off == moving->step) continue;
        moving->in_body = moving->has_step = 0;
        value_opaque(&moving->start, "%.60s changes in the loop", front_name(front, moving->variable));
        *dropped = 1;
        if (moving->in_condition)
            status = refuse(header, "%.60s does not change by the same step in every iteration",
                            front_name(front, moving->variable));
    }
    front_undo_to(front, mark);
    return status;
}

int header_verify_steps(struct front *front, struct header *header, const struct rsc_affine *variable) {
    int any = 0, dropped = 1;
    for (unsigned i = 0; i < header->moving_count; i++) any |= header->moving[i].in_body;
    for (int status; any && dropped;)
        if ((status = one_verification(front, header, variable, &dropped))) return status;
    return 0;
}

/* A companion without an initialiser starts with its value before the loop. */
void header_find_start(struct front *front, struct moving *moving) {
    struct binding *binding = front_variable(front, moving->variable);
    if (moving->has_start || !binding) return;
    moving->start = binding->value;
    moving->has_start = 1;
    if (moving->start.kind == VALUE_POINTER && moving->start.array == UINT32_MAX)
        moving->start.array = front_array_of_variable(front, binding->variable, &moving->start.shape);
}

void header_bind_companions(struct front *front, struct header *header, const struct rsc_affine *variable, int after) {
    for (unsigned i = 0; i < header->moving_count; i++) {
        struct moving *moving = &header->moving[i];
        struct value value;
        header_find_start(front, moving);
        int own = front->clang.equalCursors(moving->variable, header->variable) != 0;
        if (own && (header->form == LOOP_FOR || after || !moving->in_body)) continue;
        if (!variable) value_opaque(&value, "%.60s is used after its loop", front_name(front, moving->variable));
        else if (!moving->in_body && front_assigns_variable(front, header->body, moving->variable))
            value_opaque(&value, "%.60s changes in the loop", front_name(front, moving->variable));
        else header_companion(front, header, moving, variable, &value);
        struct binding *binding = front_variable(front, moving->variable);
        if (!binding) return;
        front_bind(front, binding, &value);
        binding->in_parallel = front->in_parallel;
    }
}
