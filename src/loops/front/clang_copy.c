/*
 * clang_copy.c - memcpy(), memmove(), memset(), and the copies of reductions, as loops over their bytes.
 *
 * The loop takes the largest steps of up to 8 bytes that divide the length and all offsets, so no step crosses a line.
 */
#include <string.h>

#include "loops/front/clang_front.h"

static uint64_t common_divisor(uint64_t a, const struct rsc_affine *affine) {
    for (int d = -1; d < RSC_LOOP_DEPTH_MAX; d++) {
        int64_t value = d < 0 ? affine->constant : affine->coefficient[d];
        uint64_t b = (uint64_t)(value < 0 ? -value : value);
        while (b) {
            uint64_t rest = a % b;
            a = b;
            b = rest;
        }
    }
    return a;
}

static void divide(struct rsc_affine *affine, int64_t by) {
    affine->constant /= by;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) affine->coefficient[d] /= by;
}

static int add_reference(struct front *front, struct rsc_loop_node *loop, CXCursor cursor,
                         const struct front_span *span, const char *text, int64_t step) {
    const char *region_file = front->program->region[front->region].file, *file;
    struct rsc_affine variable = rsc_affine_variable(loop->depth);
    struct rsc_loop_node *node = rsc_loop_add_node(front->program, loop, RSC_NODE_REFERENCE);
    unsigned line;
    if (!node) return front_no_memory(front);
    node->array = span->array;
    node->is_write = span->is_write;
    node->size_bytes = (uint32_t)step;
    node->offset = span->offset;
    if (rsc_affine_add(&node->offset, &variable, step)) return -1;
    node->text = text;
    front_place(front, cursor, &file, &line);
    node->line = line;
    node->file = region_file && !strcmp(region_file, file) ? NULL : file;
    return 0;
}

int front_copy(struct front *front, CXCursor cursor, const char *text, const struct front_span *span, unsigned count,
               const struct rsc_affine *bytes) {
    uint32_t depth = front_depth(front);
    uint64_t step = common_divisor(8, bytes);
    struct rsc_loop_term first = {.value = rsc_affine_number(0), .divisor = 1}, last = {.value = *bytes, .divisor = 1};
    struct rsc_affine one = rsc_affine_number(1);
    struct value range;
    if (!front->at || depth >= RSC_LOOP_DEPTH_MAX) return -1;
    for (unsigned i = 0; i < count; i++) step = common_divisor(step, &span[i].offset);
    divide(&last.value, (int64_t)step);
    if (rsc_affine_add(&last.value, &one, -1)) return -1;
    value_number(&range, &last.value);
    front->least[depth] = 0;
    if (front_value_range(front, &range, &(int64_t){0}, &front->most[depth])) return -1;
    front_flush(front);
    struct rsc_loop_node *loop = rsc_loop_add_node(front->program, front->at, RSC_NODE_LOOP);
    if (!loop || rsc_loop_add_term(front->program, &loop->first, &first) ||
        rsc_loop_add_term(front->program, &loop->last, &last))
        return front_no_memory(front);
    loop->step = 1;
    loop->variable = front->variable[depth] = front_fresh_name(front, "word");
    loop->line = 0;
    loop->file = NULL;
    for (unsigned i = 0; i < count; i++)
        if (add_reference(front, loop, cursor, &span[i], text, (int64_t)step)) return -1;
    front->flushed = 1; /* the rest of the statement can no longer be split */
    return 0;
}

int front_copy_call(struct front *front, CXCursor call, const char *name, struct value *value) {
    int copies = !strcmp(name, "memcpy") || !strcmp(name, "memmove"), sets = !strcmp(name, "memset");
    struct value from, length;
    struct rsc_affine bytes;
    if ((!copies && !sets) || front->clang.Cursor_getNumArguments(call) != 3) return 0;
    front_eval(front, front->clang.Cursor_getArgument(call, 0), value);
    front_eval(front, front->clang.Cursor_getArgument(call, 1), &from);
    front_eval(front, front->clang.Cursor_getArgument(call, 2), &length);
    if (value->kind == VALUE_POINTER) front_stored(front, value->array, INT64_MIN, value->shape.element, value);
    if (!front->at) return 1;
    const struct value *bad = value->kind == VALUE_OPAQUE            ? value
                              : copies && from.kind == VALUE_OPAQUE  ? &from
                              : value_affine(front, &length, &bytes) ? &length
                                                                     : NULL;
    struct front_span span[2] = {{from.array, 0, from.offset}, {value->array, 1, value->offset}};
    if (bad || value->kind != VALUE_POINTER || (copies && from.kind != VALUE_POINTER)) {
        front_gap(front, call, "%s of bytes that are not known: %.100s", name, bad ? bad->reason : "not a pointer");
        value_opaque(value, "the result of %s is not known", name);
    } else if (front_copy(front, call, front_source(front, call), copies ? span : span + 1, copies ? 2 : 1, &bytes)) {
        front_gap(front, call, "%s: loops are nested too deep, or the length passes 2^56 bytes", name);
    }
    return 1;
}
