/*
 * loop_text_read.c - the reader of the text form: statements, arrays, nests.
 *
 * Recursive descent; blocks nest at most RSC_LOOP_NESTING_MAX deep.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/tree/affine.h"
#include "loops/tree/loop_text_reader.h"

/* @12 or @"file.h":12, if there is one. */
static int location(struct reader *reader, const char **file, uint32_t *line) {
    int64_t value;
    int status = reader_take(reader, "@");
    if (status <= 0) return status;
    if (reader->kind == TOKEN_STRING) {
        *file = rsc_arena_strdup(&reader->program->arena, reader->text);
        if (!*file) return reader_out_of_room(reader);
        if ((status = reader_next(reader)) || (status = reader_expect(reader, ":"))) return status;
    }
    if (reader->kind != TOKEN_NUMBER)
        return reader_complain(reader, RSC_EFORMAT, "a line number is missing before ", reader->text);
    value = reader->number;
    if (value > UINT32_MAX) return reader_complain(reader, RSC_ELIMIT, "a line number is too large", "");
    *line = (uint32_t)value;
    return reader_next(reader);
}

static int statements(struct reader *reader, struct rsc_loop_node *parent, struct rsc_loop_region *region);

static int block(struct reader *reader, struct rsc_loop_node *node) {
    int status = reader_expect(reader, "{");
    if (status) return status;
    if (++reader->nesting >= RSC_LOOP_NESTING_MAX)
        return reader_complain(reader, RSC_ELIMIT, "blocks are nested too deep (200 at most)", "");
    status = statements(reader, node, NULL);
    reader->nesting--;
    return status ? status : reader_expect(reader, "}");
}

static int sharing(struct reader *reader, struct rsc_loop_node *loop) {
    int status, taken;
    int64_t value;
    loop->share = 1;
    if (reader_is(reader, "static")) loop->schedule = RSC_SCHEDULE_STATIC;
    else if (reader_is(reader, "dynamic")) loop->schedule = RSC_SCHEDULE_DYNAMIC;
    else if (reader_is(reader, "guided")) loop->schedule = RSC_SCHEDULE_GUIDED;
    else return reader_complain(reader, RSC_EFORMAT, "share needs static, dynamic or guided, not ", reader->text);
    if ((status = reader_next(reader))) return status;
    if (reader->kind == TOKEN_NUMBER) {
        if ((status = reader_number(reader, 1, RSC_LOOP_VALUE_MAX, "a chunk", &value))) return status;
        loop->chunk = (uint64_t)value;
    }
    if ((taken = reader_take(reader, "collapse")) < 0) return taken;
    if (taken) {
        if ((status = reader_number(reader, 1, RSC_LOOP_DEPTH_MAX, "collapse", &value))) return status;
        loop->collapse = (uint32_t)value;
    }
    taken = reader_take(reader, "nowait");
    loop->nowait = taken > 0;
    return taken < 0 ? taken : 0;
}

/* Reads the name of a loop's variable; the reader adds it after its bounds. */
static int variable(struct reader *reader, struct rsc_loop_node *loop) {
    if (reader->kind != TOKEN_NAME)
        return reader_complain(reader, RSC_EFORMAT, "a loop's variable is missing before ", reader->text);
    for (uint32_t d = 0; d < reader->depth; d++)
        if (!strcmp(reader->variable[d], reader->text))
            return reader_complain(reader, RSC_EFORMAT, "a loop around this one has the variable ", reader->text);
    if (reader->depth >= RSC_LOOP_DEPTH_MAX)
        return reader_complain(reader, RSC_ELIMIT, "loops are nested too deep (16 at most)", "");
    loop->variable = rsc_arena_strdup(&reader->program->arena, reader->text);
    if (!loop->variable) return reader_out_of_room(reader);
    int status = reader_next(reader);
    return status ? status : reader_expect(reader, "=");
}

static int body_of_loop(struct reader *reader, struct rsc_loop_node *loop) {
    reader->variable[reader->depth++] = loop->variable;
    int status = block(reader, loop);
    reader->depth--;
    return status;
}

static int loop_statement(struct reader *reader, struct rsc_loop_node *loop) {
    const char *first, *last;
    int status, taken;
    if ((status = variable(reader, loop)) || (status = reader_bound(reader, &loop->first, &first)) ||
        (status = reader_expect(reader, "to")) || (status = reader_bound(reader, &loop->last, &last)))
        return status;
    if ((taken = reader_take(reader, "step")) < 0) return taken;
    if (taken && (status = reader_number(reader, -RSC_LOOP_VALUE_MAX, RSC_LOOP_VALUE_MAX, "a step", &loop->step)))
        return status;
    if (!loop->step) return reader_complain(reader, RSC_EFORMAT, "a step is 0", "");
    const char *outer = loop->step > 0 ? "max" : "min", *inner = loop->step > 0 ? "min" : "max";
    if ((first && strcmp(first, outer)) || (last && strcmp(last, inner)))
        return reader_complain(reader, RSC_EFORMAT,
                               loop->step > 0 ? "a loop upwards goes from max(...) to min(...)"
                                              : "a loop downwards goes from min(...) to max(...)",
                               "");
    if ((taken = reader_take(reader, "share")) < 0 || (taken && (taken = sharing(reader, loop)) < 0)) return taken;
    if ((status = location(reader, &loop->file, &loop->line))) return status;
    return body_of_loop(reader, loop);
}

static int let_statement(struct reader *reader, struct rsc_loop_node *loop) {
    struct rsc_loop_term value;
    int status;
    if ((status = variable(reader, loop)) || (status = reader_term(reader, &value))) return status;
    if (rsc_loop_add_term(reader->program, &loop->first, &value) ||
        rsc_loop_add_term(reader->program, &loop->last, &value))
        return reader_out_of_room(reader);
    if ((status = location(reader, &loop->file, &loop->line))) return status;
    return body_of_loop(reader, loop);
}

/* a OP b, or a % m == r, or a % m != r */
static int condition(struct reader *reader, struct rsc_loop_node *guard) {
    struct rsc_condition condition = {0};
    struct rsc_affine right;
    char sign[3];
    int status = reader_expression(reader, &condition.value), taken;
    if (status) return status;
    if ((taken = reader_take(reader, "%")) < 0) return taken;
    if (taken && (status = reader_number(reader, 2, RSC_LOOP_VALUE_MAX, "a modulus", &condition.modulus)))
        return status;
    memcpy(sign, reader->text, 2);
    sign[2] = '\0';
    int equal = reader_is(reader, "=="), unequal = reader_is(reader, "!="),
        less = reader_is(reader, "<") || reader_is(reader, "<=");
    if (!equal && !unequal && (taken || (!less && !reader_is(reader, ">") && !reader_is(reader, ">="))))
        return reader_complain(reader, RSC_EFORMAT,
                               taken ? "== or != is missing before " : "a comparison is missing before ", reader->text);
    if ((status = reader_next(reader)) || (status = reader_expression(reader, &right))) return status;
    if (taken && !rsc_affine_is_number(&right))
        return reader_complain(reader, RSC_EFORMAT, "a remainder is not a number", "");
    if ((status = reader_check(reader, rsc_affine_add(&condition.value, &right, -1)))) return status;
    if (equal || unequal) {
        condition.kind =
            taken ? (equal ? RSC_WHEN_DIVISIBLE : RSC_WHEN_INDIVISIBLE) : (equal ? RSC_WHEN_ZERO : RSC_WHEN_NOT_ZERO);
    } else {
        struct rsc_affine minus = rsc_affine_number(-1), one = rsc_affine_number(1);
        condition.kind = RSC_WHEN_AT_LEAST;
        if (less) status = reader_check(reader, rsc_affine_multiply(&condition.value, &minus));
        if (!status && !sign[1]) status = reader_check(reader, rsc_affine_add(&condition.value, &one, -1));
        if (status) return status;
    }
    status = rsc_loop_add_condition(reader->program, guard, &condition);
    if (status == RSC_ELIMIT) return reader_complain(reader, status, "more than 64 conditions", "");
    return status ? reader_out_of_room(reader) : 0;
}

static int guard_statement(struct reader *reader, struct rsc_loop_node *guard) {
    int status, more;
    do {
        if ((status = condition(reader, guard))) return status;
    } while ((more = reader_take(reader, "and")) > 0);
    if (more < 0 || (status = location(reader, &guard->file, &guard->line))) return more < 0 ? more : status;
    return block(reader, guard);
}

/* [e][e]... with as many as the array has extents, added up to bytes. */
static int subscripts(struct reader *reader, const struct rsc_loop_array *array, struct rsc_affine *offset) {
    int status;
    *offset = (struct rsc_affine){0};
    for (uint32_t i = 0; i < array->rank; i++) {
        struct rsc_affine index, extent = rsc_affine_number((int64_t)array->extent[i]);
        if ((status = reader_check(reader, rsc_affine_multiply(offset, &extent)))) return status;
        if ((status = reader_expect(reader, "[")) || (status = reader_expression(reader, &index)) ||
            (status = reader_expect(reader, "]")))
            return status;
        if ((status = reader_check(reader, rsc_affine_add(offset, &index, 1)))) return status;
    }
    if (reader_is(reader, "["))
        return reader_complain(reader, RSC_EFORMAT, "more subscripts than the array has extents: ", array->name);
    struct rsc_affine bytes = rsc_affine_number((int64_t)array->element_bytes);
    return reader_check(reader, rsc_affine_multiply(offset, &bytes));
}

static int reference_statement(struct reader *reader, struct rsc_loop_node *reference, int is_write) {
    int status, taken;
    int64_t size;
    reference->is_write = is_write;
    if (reader->kind != TOKEN_NAME && reader->kind != TOKEN_STRING)
        return reader_complain(reader, RSC_EFORMAT, "an array's name is missing before ", reader->text);
    for (reference->array = 0; reference->array < reader->program->array_count; reference->array++)
        if (!strcmp(reader->program->array[reference->array].name, reader->text)) break;
    if (reference->array == reader->program->array_count)
        return reader_complain(reader, RSC_EFORMAT, "no array has this name: ", reader->text);
    const struct rsc_loop_array *array = &reader->program->array[reference->array];
    size = array->element_bytes > UINT32_MAX ? 0 : (int64_t)array->element_bytes;
    if ((status = reader_next(reader)) || (taken = reader_take(reader, "byte")) < 0) return status ? status : taken;
    status = taken ? reader_expression(reader, &reference->offset) : subscripts(reader, array, &reference->offset);
    if (status || (taken = reader_take(reader, "size")) < 0) return status ? status : taken;
    if (taken && (status = reader_number(reader, 1, UINT32_MAX, "a size", &size))) return status;
    if (!size) return reader_complain(reader, RSC_EFORMAT, "elements this large need a size: ", array->name);
    reference->size_bytes = (uint32_t)size;
    if ((status = location(reader, &reference->file, &reference->line))) return status;
    if (reader->kind != TOKEN_STRING) return 0;
    reference->text = rsc_arena_strdup(&reader->program->arena, reader->text);
    return reference->text ? reader_next(reader) : reader_out_of_room(reader);
}

static int gap_statement(struct reader *reader, struct rsc_loop_region *region, int assumed) {
    struct rsc_loop_gap gap = {.assumed = assumed};
    int status = location(reader, &gap.file, &gap.line);
    if (status) return status;
    if (reader->kind != TOKEN_STRING)
        return reader_complain(
            reader, RSC_EFORMAT,
            assumed ? "assume needs a reason in quotes, not " : "without needs a reason in quotes, not ", reader->text);
    if (!(gap.reason = rsc_arena_strdup(&reader->program->arena, reader->text))) return reader_out_of_room(reader);
    if ((status = reader_next(reader))) return status;
    if (reader->kind == TOKEN_STRING) {
        if (!(gap.text = rsc_arena_strdup(&reader->program->arena, reader->text))) return reader_out_of_room(reader);
        if ((status = reader_next(reader))) return status;
    }
    return rsc_loop_add_gap(reader->program, region, &gap) ? reader_out_of_room(reader) : 0;
}

static int parallel_statement(struct reader *reader, struct rsc_loop_node *node) {
    int64_t threads = 0;
    int status, taken = reader_take(reader, "threads");
    if (taken < 0) return taken;
    if (taken && (status = reader_number(reader, 1, UINT32_MAX, "a number of threads", &threads))) return status;
    node->num_threads = (uint32_t)threads;
    if ((status = location(reader, &node->file, &node->line))) return status;
    return block(reader, node);
}

static int single_statement(struct reader *reader, struct rsc_loop_node *node) {
    int status, taken = reader_take(reader, "nowait");
    node->nowait = taken > 0;
    if (taken < 0 || (status = location(reader, &node->file, &node->line))) return taken < 0 ? taken : status;
    return block(reader, node);
}

static int statements(struct reader *reader, struct rsc_loop_node *parent, struct rsc_loop_region *region) {
    static const struct {
        const char *word;
        enum rsc_loop_kind kind;
    } words[] = {{"for", RSC_NODE_LOOP},       {"let", RSC_NODE_LOOP},        {"when", RSC_NODE_GUARD},
                 {"read", RSC_NODE_REFERENCE}, {"write", RSC_NODE_REFERENCE}, {"parallel", RSC_NODE_PARALLEL},
                 {"single", RSC_NODE_SINGLE},  {"barrier", RSC_NODE_BARRIER}, {"block", RSC_NODE_BODY}};
    int status = 0;
    while (!status && !reader_is(reader, "}")) {
        size_t w = 0;
        int assumed = region && reader_is(reader, "assume");
        if (region && (assumed || reader_is(reader, "without"))) {
            if (!(status = reader_next(reader))) status = gap_statement(reader, region, assumed);
            continue;
        }
        while (w < sizeof words / sizeof *words && !reader_is(reader, words[w].word)) w++;
        if (w == sizeof words / sizeof *words)
            return reader_complain(reader, RSC_EFORMAT,
                                   "for, let, when, read, write, parallel, single, barrier or } is missing before ",
                                   reader->kind == TOKEN_NUMBER ? "a number" : reader->text);
        struct rsc_loop_node *node = rsc_loop_add_node(reader->program, parent, words[w].kind);
        if (!node) return reader_out_of_room(reader);
        node->line = 0;
        node->file = NULL;
        if ((status = reader_next(reader))) return status;
        switch (node->kind) {
        case RSC_NODE_LOOP:
            status = words[w].word[0] == 'l' ? let_statement(reader, node) : loop_statement(reader, node);
            break;
        case RSC_NODE_GUARD: status = guard_statement(reader, node); break;
        case RSC_NODE_REFERENCE: status = reference_statement(reader, node, words[w].word[0] == 'w'); break;
        case RSC_NODE_PARALLEL: status = parallel_statement(reader, node); break;
        case RSC_NODE_SINGLE: status = single_statement(reader, node); break;
        case RSC_NODE_BARRIER: status = location(reader, &node->file, &node->line); break;
        case RSC_NODE_BODY: status = block(reader, node); break;
        }
    }
    return status;
}

static int nest(struct reader *reader) {
    struct rsc_loop_region *region;
    int status, taken;
    if (reader->kind != TOKEN_STRING && reader->kind != TOKEN_NAME)
        return reader_complain(reader, RSC_EFORMAT, "a nest's name is missing before ", reader->text);
    for (uint32_t i = 0; i < reader->program->region_count; i++)
        if (!strcmp(reader->program->region[i].name, reader->text))
            return reader_complain(reader, RSC_EFORMAT, "two nests have the name ", reader->text);
    if (!(region = rsc_loop_add_region(reader->program, reader->text))) return reader_out_of_room(reader);
    if ((status = reader_next(reader)) || (taken = reader_take(reader, "function")) < 0) return status ? status : taken;
    if (taken) {
        if (reader->kind != TOKEN_STRING && reader->kind != TOKEN_NAME)
            return reader_complain(reader, RSC_EFORMAT, "a function's name is missing before ", reader->text);
        if (!(region->function = rsc_arena_strdup(&reader->program->arena, reader->text)))
            return reader_out_of_room(reader);
        if ((status = reader_next(reader))) return status;
    }
    if ((status = location(reader, &region->file, &region->line)) || (status = reader_expect(reader, "{")))
        return status;
    reader->nesting = 1;
    if ((status = statements(reader, region->root, region))) return status;
    return reader_expect(reader, "}");
}

static int array(struct reader *reader) {
    struct rsc_loop_array *array;
    int64_t value;
    int status, taken;
    if (reader->kind != TOKEN_STRING && reader->kind != TOKEN_NAME)
        return reader_complain(reader, RSC_EFORMAT, "an array's name is missing before ", reader->text);
    for (uint32_t i = 0; i < reader->program->array_count; i++)
        if (!strcmp(reader->program->array[i].name, reader->text))
            return reader_complain(reader, RSC_EFORMAT, "two arrays have the name ", reader->text);
    if (reader->program->array_count >= RSC_LOOP_ARRAYS_MAX)
        return reader_complain(reader, RSC_ELIMIT, "more than 4096 arrays", "");
    if (!(array = rsc_loop_add_array(reader->program, reader->text))) return reader_out_of_room(reader);
    if ((status = reader_next(reader)) ||
        (status = reader_number(reader, 1, RSC_LOOP_VALUE_MAX, "an element's size", &value)))
        return status;
    array->element_bytes = (uint64_t)value;
    while ((taken = reader_take(reader, "[")) > 0) {
        if (array->rank == RSC_LOOP_RANK_MAX)
            return reader_complain(reader, RSC_ELIMIT, "more than 16 extents: ", array->name);
        value = 0; /* [] first: not known */
        if ((array->rank || !reader_is(reader, "]")) &&
            (status = reader_number(reader, 1, RSC_LOOP_VALUE_MAX, "an extent", &value)))
            return status;
        if ((status = reader_expect(reader, "]"))) return status;
        array->extent[array->rank++] = (uint64_t)value;
    }
    if (taken < 0 || (taken = reader_take(reader, "private")) < 0) return taken;
    array->is_private = taken;
    if ((taken = reader_take(reader, "base")) <= 0) return taken;
    if (reader->kind != TOKEN_NUMBER)
        return reader_complain(reader, RSC_EFORMAT, "a base's address is missing before ", reader->text);
    if (array->is_private)
        return reader_complain(reader, RSC_EFORMAT, "a private array has no base of its own: ", array->name);
    array->has_base = 1;
    array->base = (uint64_t)reader->number;
    return reader_next(reader);
}

static int param(struct reader *reader) {
    int64_t value;
    int status;
    if (reader->kind != TOKEN_NAME)
        return reader_complain(reader, RSC_EFORMAT, "a param's name is missing before ", reader->text);
    if (reader->param_count == PARAMS_MAX) return reader_complain(reader, RSC_ELIMIT, "more than 1024 params", "");
    char *name = rsc_arena_strdup(&reader->program->arena, reader->text);
    if (!name) return reader_out_of_room(reader);
    if ((status = reader_next(reader)) || (status = reader_expect(reader, "=")) ||
        (status = reader_number(reader, -RSC_LOOP_VALUE_MAX, RSC_LOOP_VALUE_MAX, "a param", &value)))
        return status;
    for (size_t i = 0; i < reader->setting_count; i++)
        if (!strcmp(reader->settings[i].name, name)) {
            value = reader->settings[i].value;
            reader->settings[i].used = 1;
        }
    if (value > RSC_LOOP_VALUE_MAX || value < -RSC_LOOP_VALUE_MAX)
        return reader_complain(reader, RSC_ELIMIT, "a value is too large (2^56 is the most): ", name);
    reader->param[reader->param_count].name = name;
    reader->param[reader->param_count++].value = value;
    return 0;
}

static int whole(struct reader *reader) {
    int status;
    if ((status = reader_next(reader)) || (status = reader_expect(reader, "loops"))) return status;
    if (reader->kind != TOKEN_NUMBER)
        return reader_complain(reader, RSC_EFORMAT, "a version is missing before ", reader->text);
    if (reader->number != 1)
        return reader_complain(reader, RSC_EVERSION, "the text form's version is newer than this tool", "");
    status = reader_next(reader);
    while (!status && reader->kind != TOKEN_END) {
        int (*part)(struct reader *) = reader_is(reader, "param")   ? param
                                       : reader_is(reader, "array") ? array
                                       : reader_is(reader, "nest")  ? nest
                                                                    : NULL;
        if (!part)
            return reader_complain(reader, RSC_EFORMAT, "param, array or nest is missing before ",
                                   reader->kind == TOKEN_NUMBER ? "a number" : reader->text);
        if (!(status = reader_next(reader))) status = part(reader);
    }
    return status;
}

int rsc_loop_text_read(const char *text, size_t bytes, const char *name, struct rsc_loop_setting *settings,
                       size_t setting_count, struct rsc_loop_program **program, struct rsc_error *error) {
    *program = NULL;
    if (bytes > RSC_LOOP_TEXT_BYTES_MAX) return rsc_fail(error, RSC_ELIMIT, "%s: larger than 16 MiB", name);
    struct reader *reader = calloc(1, sizeof *reader);
    struct rsc_loop_program *made = rsc_loop_program_new();
    int status = reader && made ? 0 : rsc_fail_memory(error, name);
    if (!status) {
        reader->at = text;
        reader->end = text + bytes;
        reader->name = name;
        reader->error = error;
        reader->program = made;
        reader->line = 1;
        reader->settings = settings;
        reader->setting_count = setting_count;
        status = whole(reader);
    }
    if (!status) status = rsc_loop_seal_each(made, name, error);
    free(reader);
    if (!status) *program = made;
    else rsc_loop_program_free(made);
    return status;
}
