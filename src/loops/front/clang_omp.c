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
        /* the one being processed may be of another statement: that of a call, of a function before or after this one */
        int is_other = !front->omp_after || front->omp_after->next != start;
        if (!omp->is_barrier && (is_other || omp > front->omp_after)) return omp;
    }
    return NULL;
}

struct number_reader {
    struct front *front;
    const struct rsc_omp *omp;
    const char *at;
    int bad;
};

static int64_t sum(struct number_reader *reader);

static int64_t named(struct number_reader *reader, const char *name, size_t length) {
    struct front *front = reader->front;
    int64_t value;
    char *copy = rsc_arena_strndup(&front->arena, name, length);
    if (!copy) return reader->bad = 1, front_no_memory(front);
    CXCursor variable = front_named(front, reader->omp, copy);
    if (front_kind(front, variable) == CXCursor_EnumConstantDecl) {
        value = front->clang.getEnumConstantDeclValue(variable);
        return value > RSC_LOOP_VALUE_MAX || value < -RSC_LOOP_VALUE_MAX ? (reader->bad = 1, 0) : value;
    }
    for (size_t i = front->binding_count; i-- > 0;) /* in an instance of a template it has another cursor */
        if (!strcmp(front_name(front, front->binding[i].variable), copy) &&
            front_means(front, reader->omp, copy, front->binding[i].variable)) {
            variable = front->binding[i].variable;
            break;
        }
    if (front_kind(front, variable) == CXCursor_VarDecl || front_kind(front, variable) == CXCursor_ParmDecl) {
        const struct binding *binding = front_variable(front, variable);
        int64_t most;
        if (binding && binding->value.kind == VALUE_NUMBER &&
            !front_value_range(front, &binding->value, &value, &most) && value == most)
            return value;
        return reader->bad = 1, 0; /* what --set gives is its value already */
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
int front_omp_number(struct front *front, const struct rsc_omp *omp, const struct rsc_omp_number *number,
                     int64_t *value) {
    struct number_reader reader = {.front = front, .omp = omp, .at = number->text};
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
        if (front->in_share || front->in_single)
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

/* A loop of the tree over 0 to count - 1 that the threads share, one iteration at a time. */
static struct rsc_loop_node *add_shared_loop(struct front *front, CXCursor statement, const char *name, int64_t count,
                                             enum rsc_schedule schedule) {
    uint32_t depth = front_depth(front);
    if (depth >= RSC_LOOP_DEPTH_MAX) return front_gap(front, statement, "loops are nested too deep"), NULL;
    struct rsc_loop_node *loop = add_node(front, RSC_NODE_LOOP, statement);
    struct rsc_loop_term first = {.value = rsc_affine_number(0), .divisor = 1},
                         last = {.value = rsc_affine_number(count - 1), .divisor = 1};
    if (!loop || rsc_loop_add_term(front->program, &loop->first, &first) ||
        rsc_loop_add_term(front->program, &loop->last, &last))
        return front_no_memory(front), NULL;
    loop->step = loop->share = 1;
    loop->chunk = 1;
    loop->schedule = schedule;
    loop->variable = front->variable[depth] = front_fresh_name(front, name);
    front->least[depth] = 0;
    front->most[depth] = count - 1;
    return loop;
}

/* Each statement of the block is a section: iterations of a loop, given out one by one as libgomp does. */
static void sections(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    struct kids kids = front_kids(front, statement);
    struct rsc_loop_node *at = front->at, *loop = NULL;
    if (front_kind(front, statement) != CXCursor_CompoundStmt || !kids.count)
        front_gap(front, statement, "sections without a block of statements");
    else loop = add_shared_loop(front, statement, "section", kids.count, RSC_SCHEDULE_DYNAMIC);
    if (!loop) return;
    loop->nowait = omp->nowait && !omp->is_parallel;
    int in_share = front->in_share;
    front->in_share = 1;
    for (unsigned i = 0; i < kids.count && !front->out_of_memory; i++) {
        struct rsc_loop_node *guard = rsc_loop_add_node(front->program, loop, RSC_NODE_GUARD);
        struct rsc_condition mine = {.kind = RSC_WHEN_ZERO, .value = rsc_affine_variable(loop->depth)};
        mine.value.constant = -(int64_t)i;
        if (!guard || rsc_loop_add_condition(front->program, guard, &mine)) {
            front_no_memory(front);
            break;
        }
        guard->line = 0;
        front->at = guard;
        front_statement(front, kids.item[i]);
        front_flush(front);
    }
    front->in_share = in_share;
    front->at = at;
    front_forget_assigned(front, statement, "changes in a section");
}

static enum CXChildVisitResult look_for_call(struct front *front, CXCursor cursor, void *name) {
    return front_kind(front, cursor) == CXCursor_CallExpr && !strcmp(front_name(front, cursor), name) &&
                   front_is_known(front, cursor, 0)
               ? CXChildVisit_Break
               : CXChildVisit_Recurse;
}

/* Whether the threads split the work of a statement by their numbers, and by nothing else. */
static int splits_by_number(struct front *front, CXCursor statement) {
    unsigned start, end;
    if (!front_finds(front, statement, look_for_call, "omp_get_thread_num")) return 0;
    front_extent(front, statement, &start, &end);
    for (size_t i = 0; i < front->omp.count; i++) {
        const struct rsc_omp *omp = &front->omp.item[i];
        if (omp->start >= start && omp->start < end && !omp->is_ignored) return 0;
    }
    return 1;
}

static const char unknown_team[] = "the number of threads is not known (--set omp_get_num_threads=N gives it)";

int front_thread_call(struct front *front, const char *name, struct value *value) {
    if (!strcmp(name, "omp_get_thread_num")) {
        struct rsc_affine number = rsc_affine_number(0);
        if (!front->thread && front->in_parallel) {
            value_opaque(value, front->by_number
                                    ? unknown_team
                                    : "omp_get_thread_num() beside shared loops, single or barriers is not followed");
            return 1;
        }
        if (front->thread) number = rsc_affine_variable(front->thread->depth);
        value_number(value, &number);
        return 1;
    }
    if (strcmp(name, "omp_get_num_threads") || !front->in_parallel) return 0;
    if (front->team) value_constant(value, front->team);
    else value_opaque(value, unknown_team);
    return 1;
}

static void shared_or_block(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    if (front->reduction) front_reduce(front, omp, statement);
    else if (omp->is_for) front_for(front, statement, omp);
    else if (omp->is_sections) sections(front, omp, statement);
    else front_statement(front, statement);
}

/* How many threads a construct has that asks for that; 0: not known. */
static int64_t threads_of(struct front *front, CXCursor statement, int64_t clause) {
    int64_t given;
    if (clause || !(front->by_number || front_finds(front, statement, look_for_call, "omp_get_num_threads")))
        return clause;
    return front_setting(front, "omp_get_num_threads", &given) && given > 0 ? given : 0;
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
    front_copies_write(front, statement);
    front_statement(front, statement);
    front->in_single--;
    front->at = at;
}

static void parallel(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    int64_t number = 0, runs = 1;
    if (omp->condition.text && !front_omp_number(front, omp, &omp->condition, &runs)) {
        front_gap(front, statement, "parallel if(%.60s): not a number", omp->condition.text);
        return;
    }
    if (!runs) { /* one thread runs it, as if the directive were absent */
        front_copies_write(front, statement);
        if (omp->is_for && front_is_for(front, statement)) front_for(front, statement, NULL);
        else front_statement(front, statement);
        return;
    }
    if (omp->num_threads.text &&
        (!front_omp_number(front, omp, &omp->num_threads, &number) || number < 1 || number > UINT32_MAX)) {
        front_gap(front, statement, "num_threads(%.60s): not a positive number", omp->num_threads.text);
        return;
    }
    front->by_number = !omp->is_for && !omp->is_sections && !omp->reduced && splits_by_number(front, statement);
    front->team = number = threads_of(front, statement, number);
    struct rsc_loop_node *at = front->at, *node = add_node(front, RSC_NODE_PARALLEL, statement);
    if (!node) return;
    node->num_threads = number > UINT32_MAX ? UINT32_MAX : (uint32_t)number;
    front->at = node;
    front->in_parallel = 1;
    front_copies_write(front, statement);
    if (front->by_number && number) {
        struct rsc_loop_node *loop = add_shared_loop(front, statement, "thread", number, RSC_SCHEDULE_STATIC);
        if (loop) front->at = loop;
        front->thread = loop;
        front->in_share = loop != NULL;
    }
    if (omp->is_master) single(front, omp, statement); /* parallel master */
    else shared_or_block(front, omp, statement);
    if (front->thread) front->in_share = 0;
    front->thread = NULL;
    front->by_number = 0;
    front->team = 0;
    front->in_parallel = 0;
    front->at = at;
}

/* cancel does nothing unless the environment has OMP_CANCELLATION=true; the condition of its `if` clause may read memory. */
static int cancels(struct front *front, CXCursor statement) {
    unsigned start, end;
    if (front->omp_depth) return 0; /* the construct around it was looked at */
    front_extent(front, statement, &start, &end);
    for (size_t i = 0; i < front->omp.count; i++) {
        const struct rsc_omp *omp = &front->omp.item[i];
        if (!omp->is_cancel || omp->start < start || omp->start >= end) continue;
        if (omp->condition.text) return 1;
        front_assumption(front, statement, "cancel: taken to do nothing, as without OMP_CANCELLATION=true");
    }
    return 0;
}

/* The directive between a shared loop's and the loop: one that makes another loop of it, such as tile. */
static const struct rsc_omp *transforms(struct front *front, const struct rsc_omp *omp, CXCursor statement) {
    unsigned start, end;
    front_extent(front, statement, &start, &end);
    return omp->is_for ? front_omp_before(front, start) : NULL;
}

void front_construct(struct front *front, struct rsc_omp *omp, CXCursor statement) {
    struct rsc_omp *after = front->omp_after;
    struct front_reduction reduction;
    struct front_copies copies = {0};
    front->omp_after = omp;
    const struct rsc_omp *inner = transforms(front, omp, statement);
    if (inner) {
        front_gap(front, statement, "#pragma omp%.60s of a shared loop is not supported", inner->text);
        front_skip(front, statement, "changes");
    } else if (cancels(front, statement)) {
        front_gap(front, statement, "#pragma omp cancel with a condition is not supported");
        front_skip(front, statement, "changes");
    } else if (omp->other) {
        front_gap(front, statement, "#pragma omp %.60s is not supported", omp->other);
        front_skip(front, statement, "changes");
    } else if (omp->bad_clause) {
        front_gap(front, statement, "the clause %.60s is not supported", omp->bad_clause);
        front_skip(front, statement, "changes");
    } else if (omp->is_parallel && front->in_parallel) {
        front_gap(front, statement, "parallel inside parallel");
        front_skip(front, statement, "changes");
    } else if ((omp->is_for || omp->is_sections || omp->is_single) && !omp->is_parallel &&
               (front->in_share || front->in_single)) {
        front_gap(front, statement, "a shared loop or single inside a shared loop or single");
        front_skip(front, statement, "changes");
    } else if (front_copies_read(front, omp, statement, &copies)) {
        front_gap(front, statement, "the copies of %.60s for each thread are not supported", copies.bad);
        front_skip(front, statement, "changes");
    } else if (front->omp_depth == sizeof front->omp_stack / sizeof *front->omp_stack) {
        front_gap(front, statement, "constructs are nested too deep");
    } else if (omp->reduced && front_reduction_read(front, omp, statement, &reduction)) {
        front_gap(front, statement,
                  "reduction over %.60s: only one array with one dimension of known length is supported", omp->reduced);
        front_skip(front, statement, "changes");
    } else {
        int shares = omp->is_for || omp->is_sections;
        front->omp_stack[front->omp_depth++] = omp;
        front->reduction = omp->reduced ? &reduction : NULL;
        front->copies = copies.count ? &copies : NULL;
        if (omp->ordered)
            front_assumption(front, statement, "ordered: iterations are assumed not to wait for each other");
        if (omp->is_parallel || (shares && !front->in_parallel))
            parallel(front, omp, statement); /* an orphaned for belongs to the caller's team */
        else if (shares) {
            front_copies_write(front, statement);
            shared_or_block(front, omp, statement);
        } else if (omp->is_single || omp->is_master) single(front, omp, statement);
        else front_statement(front, statement);
        front->omp_depth--;
    }
    front->omp_after = after;
}
