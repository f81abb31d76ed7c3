/* clang_omp.c - OpenMP constructs around and between statements. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "loops/front/clang_front.h"

/* The first directive before the statement at `start` that is not yet processed. */
struct rsc_omp *front_omp_before(struct front *front, unsigned start) {
    /* directives, and the statements after them, are in text order */
    size_t low = RSC_SEARCH(0, front->omp.count, i, front->omp.item[i].next < start);
    for (size_t i = low; i < front->omp.count && front->omp.item[i].next == start; i++) {
        struct rsc_omp *omp = &front->omp.item[i];
        if (!omp->is_barrier && (!front->omp_after || omp > front->omp_after)) return omp;
    }
    return NULL;
}

struct number_reader {
    struct front *front;
    const char *at;
    int bad;
};

static int64_t sum(struct number_reader *reader);

static int64_t named(struct number_reader *reader, const char *name, size_t length) {
    struct front *front = reader->front;
    int64_t value;
    for (size_t i = front->binding_count; i-- > 0;) {
        const char *bound = front_name(front, front->binding[i].variable);
        if (strlen(bound) == length && !memcmp(bound, name, length) &&
            value_is_constant(&front->binding[i].value, &value))
            return value;
    }
    for (size_t i = 0; i < front->options->setting_count; i++) {
        struct rsc_loop_setting *setting = &front->options->settings[i];
        if (strlen(setting->name) == length && !memcmp(setting->name, name, length))
            return setting->used = 1, setting->value;
    }
    reader->bad = 1;
    return 0;
}

static int64_t atom(struct number_reader *reader) {
    while (isspace((unsigned char)*reader->at)) reader->at++;
    const char *start = reader->at;
    if (*start == '(') {
        reader->at++;
        int64_t value = sum(reader);
        while (isspace((unsigned char)*reader->at)) reader->at++;
        if (*reader->at++ != ')') reader->bad = 1, reader->at--;
        return value;
    }
    if (isdigit((unsigned char)*start)) {
        char *end;
        long long value = strtoll(start, &end, 0);
        while (strchr("uUlL", *end) && *end) end++;
        reader->at = end;
        if (value > RSC_LOOP_VALUE_MAX) reader->bad = 1;
        return value;
    }
    size_t length = 0;
    while (isalnum((unsigned char)start[length]) || start[length] == '_') length++;
    reader->at += length;
    if (!length) reader->bad = 1;
    return length ? named(reader, start, length) : 0;
}

static int64_t product(struct number_reader *reader) {
    int64_t value = atom(reader);
    for (;;) {
        while (isspace((unsigned char)*reader->at)) reader->at++;
        char op = *reader->at;
        if (reader->bad || (op != '*' && op != '/')) return value;
        reader->at++;
        int64_t by = atom(reader);
        if (reader->bad || (op == '/' && !by) || (op == '*' && __builtin_mul_overflow(value, by, &value)))
            return reader->bad = 1, 0;
        if (op == '/') value /= by;
    }
}

static int64_t sum(struct number_reader *reader) {
    int64_t value = product(reader);
    for (;;) {
        while (isspace((unsigned char)*reader->at)) reader->at++;
        char op = *reader->at;
        if (reader->bad || (op != '+' && op != '-')) return value;
        reader->at++;
        int64_t more = product(reader);
        if (op == '+' ? __builtin_add_overflow(value, more, &value) : __builtin_sub_overflow(value, more, &value))
            return reader->bad = 1, 0;
    }
}

/* Returns 1 and the value, or 0. Comparisons are for `if` clauses: a > b. */
int front_omp_number(struct front *front, const struct rsc_omp_number *number, int64_t *value) {
    struct number_reader reader = {.front = front, .at = number->text};
    if (strlen(number->text) > 200) return 0; /* parentheses recurse */
    *value = sum(&reader);
    char sign = *reader.at;
    if (!reader.bad && (sign == '<' || sign == '>') && reader.at[1] != sign) {
        int equal = reader.at[1] == '=';
        reader.at += 1 + equal;
        int64_t right = sum(&reader);
        *value = sign == '<' ? (equal ? *value <= right : *value < right) : (equal ? *value >= right : *value > right);
    }
    while (isspace((unsigned char)*reader.at)) reader.at++;
    return !reader.bad && !*reader.at;
}

void front_standalone(struct front *front, unsigned from, unsigned to, CXCursor beside) {
    for (size_t i = 0; i < front->omp.count; i++) {
        const struct rsc_omp *omp = &front->omp.item[i];
        if (!omp->is_barrier || omp->start < from || omp->start >= to || !front->at) continue;
        if ((front->in_share || front->in_single) && !front->clang.Cursor_isNull(beside))
            front_gap(front, beside, "a barrier inside a shared loop or single, which OpenMP forbids");
        if (!front->in_parallel || front->in_share || front->in_single) continue;
        front_flush(front);
        struct rsc_loop_node *node = rsc_loop_add_node(front->program, front->at, RSC_NODE_BARRIER);
        if (!node) {
            front_no_memory(front);
            return;
        }
        node->line = 0;
    }
}

static struct rsc_loop_node *add_node(struct front *front, enum rsc_loop_kind kind, CXCursor statement) {
    const char *file;
    unsigned line;
    front_flush(front);
    struct rsc_loop_node *node = rsc_loop_add_node(front->program, front->at, kind);
    if (!node) {
        front_no_memory(front);
        return NULL;
    }
    front_place(front, statement, &file, &line);
    const char *region_file = front->program->region[front->region].file;
    node->file = region_file && !strcmp(region_file, file) ? NULL : file;
    node->line = line;
    return node;
}

static void shared_or_block(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    if (omp->is_for) front_for(front, statement, omp);
    else front_statement(front, statement);
}

static void parallel(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    int64_t number = 0, runs = 1;
    if (omp->condition.text && !front_omp_number(front, &omp->condition, &runs)) {
        front_gap(front, statement, "parallel if(%.60s): not a number", omp->condition.text);
        return;
    }
    if (!runs) { /* one thread runs it, as if the directive were absent */
        if (omp->is_for && front_kind(front, statement) == CXCursor_ForStmt) front_for(front, statement, NULL);
        else front_statement(front, statement);
        return;
    }
    if (omp->num_threads.text &&
        (!front_omp_number(front, &omp->num_threads, &number) || number < 1 || number > UINT32_MAX)) {
        front_gap(front, statement, "num_threads(%.60s): not a positive number", omp->num_threads.text);
        return;
    }
    struct rsc_loop_node *at = front->at, *node = add_node(front, RSC_NODE_PARALLEL, statement);
    if (!node) return;
    node->num_threads = (uint32_t)number;
    front->at = node;
    front->in_parallel = 1;
    shared_or_block(front, omp, statement);
    front->in_parallel = 0;
    front->at = at;
}

static void single(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    if (!front->in_parallel) {
        front_statement(front, statement);
        return;
    }
    struct rsc_loop_node *at = front->at, *node = add_node(front, RSC_NODE_SINGLE, statement);
    if (!node) return;
    node->nowait = omp->nowait || omp->is_master;
    front->at = node;
    front->in_single++;
    front_statement(front, statement);
    front->in_single--;
    front->at = at;
}

void front_construct(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    struct rsc_omp *after = front->omp_after;
    front->omp_after = omp;
    if (omp->other) {
        front_gap(front, statement, "#pragma omp %.60s is not supported", omp->other);
        front_forget_assigned(front, statement, "changes");
    } else if (omp->bad_clause) {
        front_gap(front, statement, "the clause %.60s is not supported", omp->bad_clause);
        front_forget_assigned(front, statement, "changes");
    } else if (omp->is_parallel && front->in_parallel) {
        front_gap(front, statement, "parallel inside parallel");
        front_forget_assigned(front, statement, "changes");
    } else if ((omp->is_for || omp->is_single) && !omp->is_parallel && (front->in_share || front->in_single)) {
        front_gap(front, statement, "a shared loop or single inside a shared loop or single");
        front_forget_assigned(front, statement, "changes");
    } else if (front->omp_depth == sizeof front->omp_stack / sizeof *front->omp_stack) {
        front_gap(front, statement, "constructs are nested too deep");
    } else {
        front->omp_stack[front->omp_depth++] = omp;
        if (omp->is_parallel || (omp->is_for && !front->in_parallel))
            parallel(front, omp, statement); /* an orphaned for belongs to the caller's team */
        else if (omp->is_for) front_for(front, statement, omp);
        else if (omp->is_single || omp->is_master) single(front, omp, statement);
        else front_statement(front, statement);
        front->omp_depth--;
    }
    front->omp_after = after;
}
