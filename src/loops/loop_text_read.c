/*
 * loop_text_read.c - the reader of the text form.
 *
 * Recursive descent over tokens; blocks nest at most RSC_LOOP_NESTING_MAX deep and
 * parentheses EXPRESSION_NESTING_MAX, so no text can exhaust the stack.
 */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/numbers.h"
#include "loops/affine.h"
#include "loops/loop_text.h"

#define NAME_BYTES_MAX 256
#define STRING_BYTES_MAX 4096
#define EXPRESSION_NESTING_MAX 64
#define PARAMS_MAX 1024

enum token_kind { TOKEN_END, TOKEN_NAME, TOKEN_NUMBER, TOKEN_STRING, TOKEN_SIGN };

struct reader {
    const char *at, *end; /* behind the current token */
    const char *name;     /* of the file */
    struct rsc_error *error;
    struct rsc_loop_program *program;
    uint32_t line; /* of the current token */

    enum token_kind kind;
    char text[STRING_BYTES_MAX]; /* of a name, string or sign ("<=") */
    int64_t number;

    struct rsc_loop_setting *settings;
    size_t setting_count;
    struct {
        char *name;
        int64_t value;
    } param[PARAMS_MAX];
    uint32_t param_count;
    const char *variable[RSC_LOOP_DEPTH_MAX];
    uint32_t depth;   /* loops around what is being read */
    uint32_t nesting; /* blocks around it */
    int expression_nesting;
};

static int complain(struct reader *reader, int code, const char *what, const char *detail) {
    int status = rsc_fail(reader->error, code, "%s:%u: %s%.80s", reader->name, reader->line, what, detail);
    if (reader->error) reader->error->line = reader->line;
    return status;
}

static int out_of_room(struct reader *reader) {
    return reader->program->node_total >= RSC_LOOP_NODES_MAX
               ? complain(reader, RSC_ELIMIT, "more than 100000 nodes", "")
               : complain(reader, RSC_ENOMEM, "out of memory", "");
}

static int read_string(struct reader *reader) {
    size_t used = 0;
    for (; reader->at < reader->end && *reader->at != '"'; reader->at++) {
        char c = *reader->at;
        if (c == '\\' && reader->at + 1 < reader->end) c = *++reader->at;
        if (c == '\n') return complain(reader, RSC_EFORMAT, "a string goes past the end of its line", "");
        if ((unsigned char)c < ' ' || c == 127) return complain(reader, RSC_EFORMAT, "a control character in a string", "");
        if (used + 1 >= sizeof reader->text) return complain(reader, RSC_ELIMIT, "a string is too long", "");
        reader->text[used++] = c;
    }
    if (reader->at >= reader->end) return complain(reader, RSC_EFORMAT, "a string has no end", "");
    reader->at++;
    reader->text[used] = '\0';
    reader->kind = TOKEN_STRING;
    return 0;
}

static int is_name_start(char c) { return isalpha((unsigned char)c) || c == '_'; }
static int is_name(char c) { return isalnum((unsigned char)c) || c == '_' || c == '.'; }

static int read_word(struct reader *reader) {
    const char *start = reader->at;
    while (reader->at < reader->end && is_name(*reader->at)) reader->at++;
    size_t length = (size_t)(reader->at - start);
    if (length >= NAME_BYTES_MAX) return complain(reader, RSC_ELIMIT, "a name or number is too long", "");
    memcpy(reader->text, start, length);
    reader->text[length] = '\0';
    if (is_name_start(*start)) {
        reader->kind = TOKEN_NAME;
        return 0;
    }
    uint64_t value;
    if (rsc_parse_u64(start, length, &value) < 0) return complain(reader, RSC_EFORMAT, "not a number: ", reader->text);
    if (value > (uint64_t)INT64_MAX) return complain(reader, RSC_ELIMIT, "a number is too large: ", reader->text);
    reader->kind = TOKEN_NUMBER;
    reader->number = (int64_t)value;
    return 0;
}

static int next(struct reader *reader) {
    for (; reader->at < reader->end; reader->at++) {
        if (*reader->at == '#') {
            while (reader->at < reader->end && *reader->at != '\n') reader->at++;
            if (reader->at >= reader->end) break;
        }
        if (*reader->at == '\n') reader->line++;
        else if (*reader->at != ' ' && *reader->at != '\t' && *reader->at != '\r') break;
    }
    if (reader->at >= reader->end) {
        reader->kind = TOKEN_END;
        memcpy(reader->text, "the end", sizeof "the end");
        return 0;
    }
    char c = *reader->at;
    if (c == '"') return reader->at++, read_string(reader);
    if (isalnum((unsigned char)c) || c == '_') return read_word(reader);
    int pair = reader->at + 1 < reader->end && reader->at[1] == '=' && strchr("<>=!", c);
    if (!c || !strchr("{}[]()+-*/%,=<>!@:", c)) {
        char shown[2] = {(unsigned char)c < ' ' || (unsigned char)c > 126 ? '?' : c, 0};
        return complain(reader, RSC_EFORMAT, "a character that means nothing here: ", shown);
    }
    memcpy(reader->text, reader->at, pair ? 2 : 1);
    reader->text[pair ? 2 : 1] = '\0';
    reader->at += pair ? 2 : 1;
    reader->kind = TOKEN_SIGN;
    return 0;
}

static int is(const struct reader *reader, const char *word) {
    return (reader->kind == TOKEN_SIGN || reader->kind == TOKEN_NAME) && !strcmp(reader->text, word);
}

/* Takes the word if it is the next one: 1 taken, 0 another one, negative an error. */
static int take(struct reader *reader, const char *word) {
    if (!is(reader, word)) return 0;
    int status = next(reader);
    return status < 0 ? status : 1;
}

static int expect(struct reader *reader, const char *word) {
    if (!is(reader, word)) {
        char what[64] = "'";
        strcat(strcat(what, word), "' is missing before ");
        return complain(reader, RSC_EFORMAT, what, reader->kind == TOKEN_NUMBER ? "a number" : reader->text);
    }
    return next(reader);
}

static int expression(struct reader *reader, struct rsc_affine *value);

static int check(struct reader *reader, int status) {
    if (status == RSC_ELIMIT) return complain(reader, RSC_ELIMIT, "a number is too large (2^56 is the most)", "");
    if (status == RSC_EUNSUPPORTED) return complain(reader, RSC_EFORMAT, "a product of two variables is not affine", "");
    return status;
}

static int named_value(struct reader *reader, struct rsc_affine *value) {
    for (uint32_t d = reader->depth; d-- > 0;)
        if (!strcmp(reader->variable[d], reader->text)) {
            *value = rsc_affine_variable(d);
            return next(reader);
        }
    for (uint32_t i = 0; i < reader->param_count; i++)
        if (!strcmp(reader->param[i].name, reader->text)) {
            *value = rsc_affine_number(reader->param[i].value);
            return next(reader);
        }
    return complain(reader, RSC_EFORMAT, "no loop variable or param has this name: ", reader->text);
}

static int factor(struct reader *reader, struct rsc_affine *value) {
    int status;
    if (reader->kind == TOKEN_NUMBER) {
        struct rsc_affine one = rsc_affine_number(1);
        *value = (struct rsc_affine){0};
        if ((status = check(reader, rsc_affine_add(value, &one, reader->number)))) return status;
        return next(reader);
    }
    if (reader->kind == TOKEN_NAME) return named_value(reader, value);
    int minus = is(reader, "-");
    if (!minus && !is(reader, "(")) return complain(reader, RSC_EFORMAT, "an expression is missing before ", reader->text);
    if (++reader->expression_nesting > EXPRESSION_NESTING_MAX) return complain(reader, RSC_ELIMIT, "an expression is nested too deep", "");
    if ((status = next(reader))) return status;
    status = minus ? factor(reader, value) : expression(reader, value);
    reader->expression_nesting--;
    if (status) return status;
    if (!minus) return expect(reader, ")");
    struct rsc_affine negative = rsc_affine_number(-1);
    return check(reader, rsc_affine_multiply(value, &negative));
}

static int product(struct reader *reader, struct rsc_affine *value) {
    int status = factor(reader, value);
    while (!status && (status = take(reader, "*")) > 0) {
        struct rsc_affine by;
        status = factor(reader, &by);
        if (!status) status = check(reader, rsc_affine_multiply(value, &by));
    }
    return status;
}

static int expression(struct reader *reader, struct rsc_affine *value) {
    int status = product(reader, value);
    while (!status && (is(reader, "+") || is(reader, "-"))) {
        struct rsc_affine more;
        int sign = is(reader, "+") ? 1 : -1;
        if ((status = next(reader)) || (status = product(reader, &more))) break;
        status = check(reader, rsc_affine_add(value, &more, sign));
    }
    return status;
}

/* An expression that must be a number, from `least` to `most`. */
static int number(struct reader *reader, int64_t least, int64_t most, const char *what, int64_t *value) {
    struct rsc_affine affine;
    int status = expression(reader, &affine);
    if (status) return status;
    if (!rsc_affine_is_number(&affine)) return complain(reader, RSC_EFORMAT, what, " is not a number");
    if (affine.constant < least || affine.constant > most) return complain(reader, RSC_EFORMAT, what, " is out of range");
    *value = affine.constant;
    return 0;
}

/* expression, floor(expression / n) or ceil(expression / n) */
static int term(struct reader *reader, struct rsc_loop_term *term) {
    int status;
    *term = (struct rsc_loop_term){.divisor = 1, .rounding = RSC_ROUND_NONE};
    if (!is(reader, "floor") && !is(reader, "ceil")) return expression(reader, &term->value);
    term->rounding = is(reader, "floor") ? RSC_ROUND_FLOOR : RSC_ROUND_CEIL;
    if ((status = next(reader)) || (status = expect(reader, "(")) || (status = expression(reader, &term->value)) ||
        (status = expect(reader, "/")) || (status = number(reader, 1, RSC_LOOP_VALUE_MAX, "a divisor", &term->divisor)))
        return status;
    return expect(reader, ")");
}

/* term, max(term, ...) or min(term, ...); *joined is "max", "min" or NULL. */
static int bound(struct reader *reader, struct rsc_loop_bound *bound, const char **joined) {
    struct rsc_loop_term one;
    int status, more;
    *joined = is(reader, "max") ? "max" : is(reader, "min") ? "min" : NULL;
    if (*joined && ((status = next(reader)) || (status = expect(reader, "(")))) return status;
    do {
        if ((status = term(reader, &one))) return status;
        status = rsc_loop_add_term(reader->program, bound, &one);
        if (status == RSC_ELIMIT) return complain(reader, status, "more than 64 terms in a bound", "");
        if (status) return out_of_room(reader);
        more = *joined ? take(reader, ",") : 0;
    } while (more > 0);
    if (more < 0) return more;
    return *joined ? expect(reader, ")") : 0;
}

/* @12 or @"file.h":12, if there is one. */
static int location(struct reader *reader, const char **file, uint32_t *line) {
    int64_t value;
    int status = take(reader, "@");
    if (status <= 0) return status;
    if (reader->kind == TOKEN_STRING) {
        *file = rsc_arena_strdup(&reader->program->arena, reader->text);
        if (!*file) return out_of_room(reader);
        if ((status = next(reader)) || (status = expect(reader, ":"))) return status;
    }
    if (reader->kind != TOKEN_NUMBER) return complain(reader, RSC_EFORMAT, "a line number is missing before ", reader->text);
    value = reader->number;
    if (value > UINT32_MAX) return complain(reader, RSC_ELIMIT, "a line number is too large", "");
    *line = (uint32_t)value;
    return next(reader);
}

static int statements(struct reader *reader, struct rsc_loop_node *parent, struct rsc_loop_region *region);

static int block(struct reader *reader, struct rsc_loop_node *node) {
    int status = expect(reader, "{");
    if (status) return status;
    if (++reader->nesting >= RSC_LOOP_NESTING_MAX) return complain(reader, RSC_ELIMIT, "blocks are nested too deep (200 at most)", "");
    status = statements(reader, node, NULL);
    reader->nesting--;
    return status ? status : expect(reader, "}");
}

static int sharing(struct reader *reader, struct rsc_loop_node *loop) {
    int status, taken;
    int64_t value;
    loop->share = 1;
    if (is(reader, "static")) loop->schedule = RSC_SCHEDULE_STATIC;
    else if (is(reader, "dynamic")) loop->schedule = RSC_SCHEDULE_DYNAMIC;
    else if (is(reader, "guided")) loop->schedule = RSC_SCHEDULE_GUIDED;
    else return complain(reader, RSC_EFORMAT, "share needs static, dynamic or guided, not ", reader->text);
    if ((status = next(reader))) return status;
    if (reader->kind == TOKEN_NUMBER) {
        if ((status = number(reader, 1, RSC_LOOP_VALUE_MAX, "a chunk", &value))) return status;
        loop->chunk = (uint64_t)value;
    }
    if ((taken = take(reader, "collapse")) < 0) return taken;
    if (taken) {
        if ((status = number(reader, 1, RSC_LOOP_DEPTH_MAX, "collapse", &value))) return status;
        loop->collapse = (uint32_t)value;
    }
    taken = take(reader, "nowait");
    loop->nowait = taken > 0;
    return taken < 0 ? taken : 0;
}

/* The name of a loop's variable; its bounds are read before it is known to the reader. */
static int variable(struct reader *reader, struct rsc_loop_node *loop) {
    if (reader->kind != TOKEN_NAME) return complain(reader, RSC_EFORMAT, "a loop's variable is missing before ", reader->text);
    for (uint32_t d = 0; d < reader->depth; d++)
        if (!strcmp(reader->variable[d], reader->text)) return complain(reader, RSC_EFORMAT, "a loop around this one has the variable ", reader->text);
    if (reader->depth >= RSC_LOOP_DEPTH_MAX) return complain(reader, RSC_ELIMIT, "loops are nested too deep (16 at most)", "");
    loop->variable = rsc_arena_strdup(&reader->program->arena, reader->text);
    if (!loop->variable) return out_of_room(reader);
    int status = next(reader);
    return status ? status : expect(reader, "=");
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
    if ((status = variable(reader, loop)) || (status = bound(reader, &loop->first, &first)) ||
        (status = expect(reader, "to")) || (status = bound(reader, &loop->last, &last)))
        return status;
    if ((taken = take(reader, "step")) < 0) return taken;
    if (taken && (status = number(reader, -RSC_LOOP_VALUE_MAX, RSC_LOOP_VALUE_MAX, "a step", &loop->step))) return status;
    if (!loop->step) return complain(reader, RSC_EFORMAT, "a step is 0", "");
    const char *outer = loop->step > 0 ? "max" : "min", *inner = loop->step > 0 ? "min" : "max";
    if ((first && strcmp(first, outer)) || (last && strcmp(last, inner)))
        return complain(reader, RSC_EFORMAT, loop->step > 0 ? "a loop upwards goes from max(...) to min(...)" : "a loop downwards goes from min(...) to max(...)", "");
    if ((taken = take(reader, "share")) < 0 || (taken && (taken = sharing(reader, loop)) < 0)) return taken;
    if ((status = location(reader, &loop->file, &loop->line))) return status;
    return body_of_loop(reader, loop);
}

static int let_statement(struct reader *reader, struct rsc_loop_node *loop) {
    struct rsc_loop_term value;
    int status;
    if ((status = variable(reader, loop)) || (status = term(reader, &value))) return status;
    if (rsc_loop_add_term(reader->program, &loop->first, &value) || rsc_loop_add_term(reader->program, &loop->last, &value)) return out_of_room(reader);
    if ((status = location(reader, &loop->file, &loop->line))) return status;
    return body_of_loop(reader, loop);
}

/* a OP b, or a % m == r, or a % m != r */
static int condition(struct reader *reader, struct rsc_loop_node *guard) {
    struct rsc_condition condition = {0};
    struct rsc_affine right;
    char sign[3];
    int status = expression(reader, &condition.value), taken;
    if (status) return status;
    if ((taken = take(reader, "%")) < 0) return taken;
    if (taken && (status = number(reader, 2, RSC_LOOP_VALUE_MAX, "a modulus", &condition.modulus))) return status;
    memcpy(sign, reader->text, 2);
    sign[2] = '\0';
    int equal = is(reader, "=="), unequal = is(reader, "!="), less = is(reader, "<") || is(reader, "<=");
    if (!equal && !unequal && (taken || (!less && !is(reader, ">") && !is(reader, ">="))))
        return complain(reader, RSC_EFORMAT, taken ? "== or != is missing before " : "a comparison is missing before ", reader->text);
    if ((status = next(reader)) || (status = expression(reader, &right))) return status;
    if (taken && !rsc_affine_is_number(&right)) return complain(reader, RSC_EFORMAT, "a remainder is not a number", "");
    if ((status = check(reader, rsc_affine_add(&condition.value, &right, -1)))) return status;
    if (equal || unequal) {
        condition.kind = taken ? (equal ? RSC_WHEN_DIVISIBLE : RSC_WHEN_INDIVISIBLE) : (equal ? RSC_WHEN_ZERO : RSC_WHEN_NOT_ZERO);
    } else {
        struct rsc_affine minus = rsc_affine_number(-1), one = rsc_affine_number(1);
        condition.kind = RSC_WHEN_AT_LEAST;
        if (less) status = check(reader, rsc_affine_multiply(&condition.value, &minus));
        if (!status && !sign[1]) status = check(reader, rsc_affine_add(&condition.value, &one, -1));
        if (status) return status;
    }
    status = rsc_loop_add_condition(reader->program, guard, &condition);
    if (status == RSC_ELIMIT) return complain(reader, status, "more than 64 conditions", "");
    return status ? out_of_room(reader) : 0;
}

static int guard_statement(struct reader *reader, struct rsc_loop_node *guard) {
    int status, more;
    do {
        if ((status = condition(reader, guard))) return status;
    } while ((more = take(reader, "and")) > 0);
    if (more < 0 || (status = location(reader, &guard->file, &guard->line))) return more < 0 ? more : status;
    return block(reader, guard);
}

/* [e][e]... with as many as the array has extents, added up to bytes. */
static int subscripts(struct reader *reader, const struct rsc_loop_array *array, struct rsc_affine *offset) {
    int status;
    *offset = (struct rsc_affine){0};
    for (uint32_t i = 0; i < array->rank; i++) {
        struct rsc_affine index, extent = rsc_affine_number((int64_t)array->extent[i]);
        if ((status = check(reader, rsc_affine_multiply(offset, &extent)))) return status;
        if ((status = expect(reader, "[")) || (status = expression(reader, &index)) || (status = expect(reader, "]"))) return status;
        if ((status = check(reader, rsc_affine_add(offset, &index, 1)))) return status;
    }
    if (is(reader, "[")) return complain(reader, RSC_EFORMAT, "more subscripts than the array has extents: ", array->name);
    struct rsc_affine bytes = rsc_affine_number((int64_t)array->element_bytes);
    return check(reader, rsc_affine_multiply(offset, &bytes));
}

static int reference_statement(struct reader *reader, struct rsc_loop_node *reference, int is_write) {
    int status, taken;
    int64_t size;
    reference->is_write = is_write;
    if (reader->kind != TOKEN_NAME && reader->kind != TOKEN_STRING) return complain(reader, RSC_EFORMAT, "an array's name is missing before ", reader->text);
    for (reference->array = 0; reference->array < reader->program->array_count; reference->array++)
        if (!strcmp(reader->program->array[reference->array].name, reader->text)) break;
    if (reference->array == reader->program->array_count) return complain(reader, RSC_EFORMAT, "no array has this name: ", reader->text);
    const struct rsc_loop_array *array = &reader->program->array[reference->array];
    size = array->element_bytes > UINT32_MAX ? 0 : (int64_t)array->element_bytes;
    if ((status = next(reader)) || (taken = take(reader, "byte")) < 0) return status ? status : taken;
    status = taken ? expression(reader, &reference->offset) : subscripts(reader, array, &reference->offset);
    if (status || (taken = take(reader, "size")) < 0) return status ? status : taken;
    if (taken && (status = number(reader, 1, UINT32_MAX, "a size", &size))) return status;
    if (!size) return complain(reader, RSC_EFORMAT, "elements this large need a size: ", array->name);
    reference->size_bytes = (uint32_t)size;
    if ((status = location(reader, &reference->file, &reference->line))) return status;
    if (reader->kind != TOKEN_STRING) return 0;
    reference->text = rsc_arena_strdup(&reader->program->arena, reader->text);
    return reference->text ? next(reader) : out_of_room(reader);
}

static int without_statement(struct reader *reader, struct rsc_loop_region *region) {
    const char *file = NULL, *text = NULL;
    uint32_t line = 0;
    int status = location(reader, &file, &line);
    if (status) return status;
    if (reader->kind != TOKEN_STRING) return complain(reader, RSC_EFORMAT, "without needs a reason in quotes, not ", reader->text);
    char *reason = rsc_arena_strdup(&reader->program->arena, reader->text);
    if (!reason) return out_of_room(reader);
    if ((status = next(reader))) return status;
    if (reader->kind == TOKEN_STRING) {
        if (!(text = rsc_arena_strdup(&reader->program->arena, reader->text))) return out_of_room(reader);
        if ((status = next(reader))) return status;
    }
    status = rsc_loop_add_gap(reader->program, region, file, line, text, reason);
    return status ? out_of_room(reader) : 0;
}

static int parallel_statement(struct reader *reader, struct rsc_loop_node *node) {
    int64_t threads = 0;
    int status, taken = take(reader, "threads");
    if (taken < 0) return taken;
    if (taken && (status = number(reader, 1, UINT32_MAX, "a number of threads", &threads))) return status;
    node->num_threads = (uint32_t)threads;
    if ((status = location(reader, &node->file, &node->line))) return status;
    return block(reader, node);
}

static int single_statement(struct reader *reader, struct rsc_loop_node *node) {
    int status, taken = take(reader, "nowait");
    node->nowait = taken > 0;
    if (taken < 0 || (status = location(reader, &node->file, &node->line))) return taken < 0 ? taken : status;
    return block(reader, node);
}

static int statements(struct reader *reader, struct rsc_loop_node *parent, struct rsc_loop_region *region) {
    static const struct {
        const char *word;
        enum rsc_loop_kind kind;
    } words[] = {{"for", RSC_NODE_LOOP},        {"let", RSC_NODE_LOOP},        {"when", RSC_NODE_GUARD},
                 {"read", RSC_NODE_REFERENCE},  {"write", RSC_NODE_REFERENCE}, {"parallel", RSC_NODE_PARALLEL},
                 {"single", RSC_NODE_SINGLE},   {"barrier", RSC_NODE_BARRIER}, {"block", RSC_NODE_BODY}};
    int status = 0;
    while (!status && !is(reader, "}")) {
        size_t w = 0;
        if (region && (status = take(reader, "without"))) {
            status = status < 0 ? status : without_statement(reader, region);
            continue;
        }
        while (w < sizeof words / sizeof *words && !is(reader, words[w].word)) w++;
        if (w == sizeof words / sizeof *words)
            return complain(reader, RSC_EFORMAT, "for, let, when, read, write, parallel, single, barrier or } is missing before ",
                            reader->kind == TOKEN_NUMBER ? "a number" : reader->text);
        struct rsc_loop_node *node = rsc_loop_add_node(reader->program, parent, words[w].kind);
        if (!node) return out_of_room(reader);
        node->line = 0;
        node->file = NULL;
        if ((status = next(reader))) return status;
        switch (node->kind) {
        case RSC_NODE_LOOP: status = words[w].word[0] == 'l' ? let_statement(reader, node) : loop_statement(reader, node); break;
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
    if (reader->kind != TOKEN_STRING && reader->kind != TOKEN_NAME) return complain(reader, RSC_EFORMAT, "a nest's name is missing before ", reader->text);
    for (uint32_t i = 0; i < reader->program->region_count; i++)
        if (!strcmp(reader->program->region[i].name, reader->text)) return complain(reader, RSC_EFORMAT, "two nests have the name ", reader->text);
    if (!(region = rsc_loop_add_region(reader->program, reader->text))) return out_of_room(reader);
    if ((status = next(reader)) || (taken = take(reader, "function")) < 0) return status ? status : taken;
    if (taken) {
        if (reader->kind != TOKEN_STRING && reader->kind != TOKEN_NAME) return complain(reader, RSC_EFORMAT, "a function's name is missing before ", reader->text);
        if (!(region->function = rsc_arena_strdup(&reader->program->arena, reader->text))) return out_of_room(reader);
        if ((status = next(reader))) return status;
    }
    if ((status = location(reader, &region->file, &region->line)) || (status = expect(reader, "{"))) return status;
    reader->nesting = 1;
    if ((status = statements(reader, region->root, region))) return status;
    return expect(reader, "}");
}

static int array(struct reader *reader) {
    struct rsc_loop_array *array;
    int64_t value;
    int status, taken;
    if (reader->kind != TOKEN_STRING && reader->kind != TOKEN_NAME) return complain(reader, RSC_EFORMAT, "an array's name is missing before ", reader->text);
    for (uint32_t i = 0; i < reader->program->array_count; i++)
        if (!strcmp(reader->program->array[i].name, reader->text)) return complain(reader, RSC_EFORMAT, "two arrays have the name ", reader->text);
    if (reader->program->array_count >= RSC_LOOP_ARRAYS_MAX) return complain(reader, RSC_ELIMIT, "more than 4096 arrays", "");
    if (!(array = rsc_loop_add_array(reader->program, reader->text))) return out_of_room(reader);
    if ((status = next(reader)) || (status = number(reader, 1, RSC_LOOP_VALUE_MAX, "an element's size", &value))) return status;
    array->element_bytes = (uint64_t)value;
    while ((taken = take(reader, "[")) > 0) {
        if (array->rank == RSC_LOOP_RANK_MAX) return complain(reader, RSC_ELIMIT, "more than 16 extents: ", array->name);
        value = 0; /* [] first: not known */
        if ((array->rank || !is(reader, "]")) && (status = number(reader, 1, RSC_LOOP_VALUE_MAX, "an extent", &value))) return status;
        if ((status = expect(reader, "]"))) return status;
        array->extent[array->rank++] = (uint64_t)value;
    }
    if (taken < 0 || (taken = take(reader, "private")) < 0) return taken;
    array->is_private = taken;
    if ((taken = take(reader, "base")) <= 0) return taken;
    if (reader->kind != TOKEN_NUMBER) return complain(reader, RSC_EFORMAT, "a base's address is missing before ", reader->text);
    if (array->is_private) return complain(reader, RSC_EFORMAT, "a private array has no base of its own: ", array->name);
    array->has_base = 1;
    array->base = (uint64_t)reader->number;
    return next(reader);
}

static int param(struct reader *reader) {
    int64_t value;
    int status;
    if (reader->kind != TOKEN_NAME) return complain(reader, RSC_EFORMAT, "a param's name is missing before ", reader->text);
    if (reader->param_count == PARAMS_MAX) return complain(reader, RSC_ELIMIT, "more than 1024 params", "");
    char *name = rsc_arena_strdup(&reader->program->arena, reader->text);
    if (!name) return out_of_room(reader);
    if ((status = next(reader)) || (status = expect(reader, "=")) ||
        (status = number(reader, -RSC_LOOP_VALUE_MAX, RSC_LOOP_VALUE_MAX, "a param", &value)))
        return status;
    for (size_t i = 0; i < reader->setting_count; i++)
        if (!strcmp(reader->settings[i].name, name)) {
            value = reader->settings[i].value;
            reader->settings[i].used = 1;
        }
    if (value > RSC_LOOP_VALUE_MAX || value < -RSC_LOOP_VALUE_MAX) return complain(reader, RSC_ELIMIT, "a value is too large (2^56 is the most): ", name);
    reader->param[reader->param_count].name = name;
    reader->param[reader->param_count++].value = value;
    return 0;
}

static int whole(struct reader *reader) {
    int status;
    if ((status = next(reader)) || (status = expect(reader, "loops"))) return status;
    if (reader->kind != TOKEN_NUMBER) return complain(reader, RSC_EFORMAT, "a version is missing before ", reader->text);
    if (reader->number != 1) return complain(reader, RSC_EVERSION, "the text form's version is newer than this tool", "");
    status = next(reader);
    while (!status && reader->kind != TOKEN_END) {
        int (*part)(struct reader *) = is(reader, "param") ? param : is(reader, "array") ? array : is(reader, "nest") ? nest : NULL;
        if (!part) return complain(reader, RSC_EFORMAT, "param, array or nest is missing before ", reader->kind == TOKEN_NUMBER ? "a number" : reader->text);
        if (!(status = next(reader))) status = part(reader);
    }
    return status;
}

int rsc_loop_text_matches(const char *text, size_t bytes) {
    static const char word[] = "loops";
    for (size_t i = 0; i < bytes; i++) {
        if (text[i] == '#') {
            while (i < bytes && text[i] != '\n') i++;
        } else if (!isspace((unsigned char)text[i])) {
            return bytes - i > sizeof word && !memcmp(text + i, word, sizeof word - 1) && isspace((unsigned char)text[i + sizeof word - 1]);
        }
    }
    return 0;
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
    if (!status) status = rsc_loop_seal(made, name, error);
    free(reader);
    if (!status) *program = made;
    else rsc_loop_program_free(made);
    return status;
}
