/* loop_layout.c - addresses for the arrays of a loop tree. */
#include "base/fail.h"
#include "loops/tree/loop_tree.h"

/* How far references reach before the array's start, in bytes. */
static uint64_t reach_before(const struct rsc_loop_program *program, uint32_t array) {
    int64_t least = 0;
    if (rsc_loop_extents_known(&program->array[array])) return 0;
    for (uint32_t r = 0; r < program->region_count; r++)
        for (uint32_t n = 0; n < program->region[r].node_count; n++) {
            const struct rsc_loop_node *node = program->region[r].node[n];
            if (node->kind == RSC_NODE_REFERENCE && node->array == array && !node->never && node->least < least)
                least = node->least;
        }
    return (uint64_t)-least;
}

/* Moves `at` past every array with a given base that [at, at + bytes) would overlap. */
static uint64_t step_over(const struct rsc_loop_program *program, uint64_t at, uint64_t bytes, uint64_t line_bytes) {
    for (uint32_t i = 0; i < program->array_count; i++) {
        const struct rsc_loop_array *fixed = &program->array[i];
        if (!fixed->has_base || fixed->base >= at + bytes || fixed->base + fixed->bytes <= at) continue;
        at = (fixed->base + fixed->bytes + line_bytes - 1) & ~(line_bytes - 1);
        i = UINT32_MAX; /* from the start: the arrays with a base are in no order */
    }
    return at;
}

int rsc_loop_layout(struct rsc_loop_program *program, uint64_t line_bytes, struct rsc_error *error) {
    uint64_t next = 0, private_start = 0;
    const uint64_t limit = UINT64_C(1) << 62;
    for (uint32_t i = 0; i < program->array_count; i++)
        if (program->array[i].has_base && program->array[i].base > limit)
            return rsc_fail(error, RSC_ELIMIT, "--base %.60s: an address past 2^62", program->array[i].name);
    for (int pass = 0; pass < 2; pass++) {
        for (uint32_t i = 0; i < program->array_count; i++) {
            struct rsc_loop_array *array = &program->array[i];
            if (array->is_private != pass || array->has_base) continue;
            uint64_t before = (reach_before(program, i) + line_bytes - 1) & ~(line_bytes - 1);
            next = step_over(program, next, before + array->bytes, line_bytes);
            array->base = next + before;
            next = (array->base + array->bytes + line_bytes - 1) & ~(line_bytes - 1);
            if (next > limit) return rsc_fail(error, RSC_ELIMIT, "arrays take more than 2^62 bytes");
        }
        if (pass) break;
        for (uint32_t i = 0; i < program->array_count; i++) { /* there may be many copies: they must come last */
            const struct rsc_loop_array *fixed = &program->array[i];
            if (fixed->has_base && fixed->base + fixed->bytes > next) next = fixed->base + fixed->bytes;
        }
        next = private_start = (next + line_bytes - 1) & ~(line_bytes - 1);
    }
    program->private_stride = next - private_start;
    return 0;
}
