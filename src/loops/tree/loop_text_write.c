/*
 * loop_text_write.c - the writer of the text form.
 *
 * Byte offsets that are a whole number of elements are written as subscripts; any
 * split into subscripts is correct, since reading adds them up again.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "loops/tree/affine.h"
#include "loops/tree/loop_text.h"

struct writer {
    char *text;
    size_t used, room;
    int failed;
    const struct rsc_loop_program *program;
    const char *variable[RSC_LOOP_DEPTH_MAX];
};

static void put(struct writer *writer, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void put(struct writer *writer, const char *format, ...) {
    va_list arguments;
    if (writer->failed) return;
    for (;;) {
        va_start(arguments, format);
        int bytes = vsnprintf(writer->text + writer->used, writer->room - writer->used, format, arguments);
        va_end(arguments);
        if (bytes >= 0 && (size_t)bytes < writer->room - writer->used) {
            writer->used += (size_t)bytes;
            return;
        }
        size_t room = 2 * writer->room + (bytes > 0 ? (size_t)bytes : 0);
        char *larger = realloc(writer->text, room);
        if (!larger || bytes < 0) {
            if (larger) writer->text = larger;
            writer->failed = 1;
            return;
        }
        writer->text = larger;
        writer->room = room;
    }
}

static void put_string(struct writer *writer, const char *text) {
    put(writer, "\"");
    for (; *text; text++) {
        if (*text == '"' || *text == '\\') put(writer, "\\");
        put(writer, "%c", (unsigned char)*text < ' ' || *text == 127 ? ' ' : *text);
    }
    put(writer, "\"");
}

static void put_name(struct writer *writer, const char *name) {
    int plain = isalpha((unsigned char)*name) || *name == '_';
    for (const char *at = name; *at && plain; at++) plain = isalnum((unsigned char)*at) || *at == '_' || *at == '.';
    if (plain) put(writer, "%s", name);
    else put_string(writer, name);
}

static void put_affine(struct writer *writer, const struct rsc_affine *affine) {
    int any = 0;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) {
        int64_t c = affine->coefficient[d];
        if (!c) continue;
        if (any) put(writer, c < 0 ? " - " : " + ");
        else if (c < 0) put(writer, "-");
        if (c != 1 && c != -1) put(writer, "%" PRId64 "*", c < 0 ? -c : c);
        put(writer, "%s", writer->variable[d]);
        any = 1;
    }
    if (!any) put(writer, "%" PRId64, affine->constant);
    else if (affine->constant)
        put(writer, " %c %" PRId64, affine->constant < 0 ? '-' : '+',
            affine->constant < 0 ? -affine->constant : affine->constant);
}

/* In parentheses unless it is a single summand. */
static void put_operand(struct writer *writer, const struct rsc_affine *affine) {
    int summands = affine->constant != 0;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) summands += affine->coefficient[d] != 0;
    if (summands > 1) put(writer, "(");
    put_affine(writer, affine);
    if (summands > 1) put(writer, ")");
}

static void put_term(struct writer *writer, const struct rsc_loop_term *term) {
    if (term->rounding == RSC_ROUND_NONE) {
        put_affine(writer, &term->value);
        return;
    }
    put(writer, term->rounding == RSC_ROUND_FLOOR ? "floor(" : "ceil(");
    put_operand(writer, &term->value);
    put(writer, " / %" PRId64 ")", term->divisor);
}

static void put_bound(struct writer *writer, const struct rsc_loop_bound *bound, int largest) {
    if (bound->count > 1) put(writer, largest ? "max(" : "min(");
    for (uint32_t i = 0; i < bound->count; i++) {
        if (i) put(writer, ", ");
        put_term(writer, &bound->term[i]);
    }
    if (bound->count > 1) put(writer, ")");
}

static void put_location(struct writer *writer, const char *file, uint32_t line) {
    if (!line) return;
    put(writer, " @");
    if (file) {
        put_string(writer, file);
        put(writer, ":");
    }
    put(writer, "%" PRIu32, line);
}

/*
 * The part of a number of elements that goes to subscript i, subtracted from `rest`.
 * With `nearest` the rest may be negative, so that [i][j - 1] stays in its row.
 */
static int64_t split(const struct rsc_loop_array *array, uint32_t i, int64_t *rest, int nearest) {
    int64_t stride = 1;
    if (i + 1 == array->rank) return *rest;
    for (uint32_t j = i + 1; j < array->rank; j++) stride *= (int64_t)array->extent[j];
    int64_t index = rsc_floor_divide(*rest + (nearest ? stride / 2 : 0), stride);
    *rest -= index * stride;
    return index;
}

static int whole_elements(const struct rsc_loop_array *array, const struct rsc_affine *offset) {
    int64_t element = (int64_t)array->element_bytes;
    for (uint32_t i = 1; i < array->rank; i++)
        if (!array->extent[i]) return 0;
    if (!array->rank) return rsc_affine_is_number(offset) && !offset->constant;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++)
        if (offset->coefficient[d] % element) return 0;
    return offset->constant % element == 0;
}

static void put_place(struct writer *writer, const struct rsc_loop_array *array, const struct rsc_affine *offset) {
    if (!whole_elements(array, offset)) {
        put(writer, " byte ");
        put_affine(writer, offset);
        return;
    }
    struct rsc_affine rest = *offset;
    rest.constant /= (int64_t)array->element_bytes;
    for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) rest.coefficient[d] /= (int64_t)array->element_bytes;
    for (uint32_t i = 0; i < array->rank; i++) {
        struct rsc_affine index = {0};
        int upwards = 0, any = 0; /* variables left for the later subscripts */
        for (int d = 0; d < RSC_LOOP_DEPTH_MAX; d++) {
            index.coefficient[d] = split(array, i, &rest.coefficient[d], 1);
            upwards |= rest.coefficient[d] > 0;
            any |= rest.coefficient[d] != 0;
        }
        index.constant =
            split(array, i, &rest.constant, upwards || (!any && rest.constant < 0 && array->extent[i] > 8));
        put(writer, "[");
        put_affine(writer, &index);
        put(writer, "]");
    }
}

static void put_reference(struct writer *writer, const struct rsc_loop_node *node) {
    const struct rsc_loop_array *array = &writer->program->array[node->array];
    put(writer, node->is_write ? "write " : "read ");
    put_name(writer, array->name);
    put_place(writer, array, &node->offset);
    if (node->size_bytes != array->element_bytes) put(writer, " size %" PRIu32, node->size_bytes);
    put_location(writer, node->file, node->line);
    if (node->text) {
        put(writer, " ");
        put_string(writer, node->text);
    }
    put(writer, "\n");
}

static void put_loop(struct writer *writer, const struct rsc_loop_node *loop) {
    int let = rsc_loop_is_let(loop);
    put(writer, "%s %s = ", let ? "let" : "for", loop->variable);
    put_bound(writer, &loop->first, loop->step > 0);
    if (!let) {
        put(writer, " to ");
        put_bound(writer, &loop->last, loop->step < 0);
    }
    if (loop->step != 1) put(writer, " step %" PRId64, loop->step);
    if (loop->share) {
        put(writer, " share %s", rsc_schedule_name(loop->schedule));
        if (loop->chunk) put(writer, " %" PRIu64, loop->chunk);
        if (loop->collapse > 1) put(writer, " collapse %" PRIu32, loop->collapse);
        if (loop->nowait) put(writer, " nowait");
    }
}

static void put_condition(struct writer *writer, const struct rsc_condition *condition) {
    if (condition->modulus) put_operand(writer, &condition->value);
    else put_affine(writer, &condition->value);
    switch (condition->kind) {
    case RSC_WHEN_AT_LEAST: put(writer, " >= 0"); break;
    case RSC_WHEN_ZERO: put(writer, " == 0"); break;
    case RSC_WHEN_NOT_ZERO: put(writer, " != 0"); break;
    case RSC_WHEN_DIVISIBLE: put(writer, " %% %" PRId64 " == 0", condition->modulus); break;
    case RSC_WHEN_INDIVISIBLE: put(writer, " %% %" PRId64 " != 0", condition->modulus); break;
    }
}

static void put_children(struct writer *writer, const struct rsc_loop_node *node, int indent);

static void put_node(struct writer *writer, const struct rsc_loop_node *node, int indent) {
    put(writer, "%*s", 2 * indent, "");
    switch (node->kind) {
    case RSC_NODE_REFERENCE: put_reference(writer, node); return;
    case RSC_NODE_BARRIER: put(writer, "barrier"); break;
    case RSC_NODE_BODY: put(writer, "block"); break;
    case RSC_NODE_LOOP: put_loop(writer, node); break;
    case RSC_NODE_GUARD:
        put(writer, "when ");
        for (uint32_t i = 0; i < node->condition_count; i++) {
            if (i) put(writer, " and ");
            put_condition(writer, &node->condition[i]);
        }
        break;
    case RSC_NODE_PARALLEL:
        put(writer, "parallel");
        if (node->num_threads) put(writer, " threads %" PRIu32, node->num_threads);
        break;
    case RSC_NODE_SINGLE: put(writer, node->nowait ? "single nowait" : "single"); break;
    }
    if (node->kind != RSC_NODE_BODY) put_location(writer, node->file, node->line);
    if (node->kind == RSC_NODE_BARRIER) {
        put(writer, "\n");
        return;
    }
    put(writer, " {\n");
    if (node->kind == RSC_NODE_LOOP) writer->variable[node->depth] = node->variable;
    put_children(writer, node, indent + 1);
    put(writer, "%*s}\n", 2 * indent, "");
}

static void put_children(struct writer *writer, const struct rsc_loop_node *node, int indent) {
    for (uint32_t i = 0; i < node->child_count; i++) put_node(writer, node->child[i], indent);
}

static void put_array(struct writer *writer, const struct rsc_loop_array *array) {
    put(writer, "array ");
    put_name(writer, array->name);
    put(writer, " %" PRIu64, array->element_bytes);
    for (uint32_t i = 0; i < array->rank; i++) {
        put(writer, i ? "[" : " [");
        if (array->extent[i]) put(writer, "%" PRIu64, array->extent[i]);
        put(writer, "]");
    }
    if (array->is_private) put(writer, " private");
    if (array->has_base) put(writer, " base 0x%" PRIx64, array->base);
    put(writer, "\n");
}

static void put_region(struct writer *writer, const struct rsc_loop_region *region) {
    put(writer, "\nnest ");
    put_name(writer, region->name);
    if (region->function) {
        put(writer, " function ");
        put_name(writer, region->function);
    }
    put_location(writer, region->file, region->line);
    put(writer, " {\n");
    for (uint32_t i = 0; i < region->gap_count; i++) {
        put(writer, region->gap[i].assumed ? "  assume" : "  without");
        put_location(writer, region->gap[i].file, region->gap[i].line);
        put(writer, " ");
        put_string(writer, region->gap[i].reason);
        if (region->gap[i].text) {
            put(writer, " ");
            put_string(writer, region->gap[i].text);
        }
        put(writer, "\n");
    }
    put_children(writer, region->root, 1);
    put(writer, "}\n");
}

int rsc_loop_text_write(const struct rsc_loop_program *program, char **text, size_t *bytes) {
    struct writer writer = {.room = 4096, .program = program};
    writer.text = malloc(writer.room);
    *text = NULL;
    if (!writer.text) return RSC_ENOMEM;
    put(&writer, "loops 1\n");
    for (uint32_t i = 0; i < program->array_count; i++) put_array(&writer, &program->array[i]);
    for (uint32_t i = 0; i < program->region_count; i++) put_region(&writer, &program->region[i]);
    if (writer.failed) {
        free(writer.text);
        return RSC_ENOMEM;
    }
    *text = writer.text;
    *bytes = writer.used;
    return 0;
}
