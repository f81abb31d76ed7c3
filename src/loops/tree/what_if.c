/*
 * what_if.c - transforms loops: tiling, interchange, fusion, schedules, padding.
 *
 * The program is copied through its text form, and the copy's tree is changed and
 * sealed again. A tile of width B of loop x adds a loop over whole tiles, from
 * floor(least / B) to floor(most / B) of all values of x, around the outermost tiled
 * loop, and restricts x to its tile; empty tiles do nothing. If a shared loop is
 * tiled, its tile loop is shared instead.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/tree/loop_text.h"
#include "loops/model/loops_model.h"
#include "loops/nest/plan.h"

#define LOOPS_MAX RSC_LOOP_DEPTH_MAX

static const char not_proved[] = "not proved that the program computes the same in this order: check it yourself";

struct change {
    struct rsc_loop_program *program;
    struct rsc_loop_region *region;
    const char *what;
    struct rsc_error *error;
    uint32_t count;
    struct rsc_loop_node *loop[LOOPS_MAX]; /* as named */
    int64_t number[LOOPS_MAX];
};

static int bad(struct change *change, const char *why) {
    return rsc_fail(change->error, RSC_EINVAL, "what if '%.80s': %s", change->what, why);
}

/* The first loop of that name in the order of the text, inside `top`. */
static struct rsc_loop_node *find_loop(struct rsc_loop_node *top, const char *name, size_t length) {
    if (top->kind == RSC_NODE_LOOP && top->variable && strlen(top->variable) == length &&
        !memcmp(top->variable, name, length))
        return top;
    for (uint32_t i = 0; i < top->child_count; i++) {
        struct rsc_loop_node *found = find_loop(top->child[i], name, length);
        if (found) return found;
    }
    return NULL;
}

static int holds(const struct rsc_loop_node *outer, const struct rsc_loop_node *inner) {
    for (; inner; inner = inner->parent)
        if (inner == outer) return 1;
    return 0;
}

/* "i:32,j:32" or "i,j": the loops of one nest that has them all. */
static int read_names(struct change *change, const char *list, int with_number) {
    const char *first = list;
    struct rsc_loop_node *top = change->region->root;
    while (*list) {
        size_t length = strcspn(list, with_number ? ":" : ",");
        if (!length || change->count == LOOPS_MAX || (with_number && !list[length]))
            return bad(change, "not a list of loops");
        struct rsc_loop_node *loop = find_loop(list == first ? top : change->loop[0], list, length);
        if (list != first && !loop) { /* an inner loop was named before an outer one */
            loop = find_loop(top, list, length);
            if (loop && !holds(loop, change->loop[0])) loop = NULL;
        }
        if (!loop)
            return bad(change,
                       list == first ? "there is no loop of that name" : "the loops are not nested in each other");
        for (uint32_t i = 0; i < change->count; i++)
            if (change->loop[i] == loop) return bad(change, "a loop is named twice");
        change->loop[change->count] = loop;
        list += length;
        if (with_number) {
            char *end;
            change->number[change->count] = strtoll(list + 1, &end, 10);
            if (end == list + 1 || change->number[change->count] < 1 || change->number[change->count] > 1 << 30)
                return bad(change, "a tile is of 1 iteration or more");
            list = end;
        }
        change->count++;
        if (*list && (*list++ != ',' || !*list)) return bad(change, "not a list of loops");
    }
    return change->count ? 0 : bad(change, "no loops are named");
}

/* ---- rewriting every expression below a node ---- */

typedef void rewrite(struct rsc_affine *affine, uint32_t a, uint32_t b);

static void rewrite_all(struct rsc_loop_node *node, rewrite *how, uint32_t a, uint32_t b) {
    for (uint32_t i = 0; i < node->first.count; i++) how(&node->first.term[i].value, a, b);
    for (uint32_t i = 0; i < node->last.count; i++) how(&node->last.term[i].value, a, b);
    for (uint32_t i = 0; i < node->condition_count; i++) how(&node->condition[i].value, a, b);
    if (node->kind == RSC_NODE_REFERENCE) how(&node->offset, a, b);
    for (uint32_t i = 0; i < node->child_count; i++) rewrite_all(node->child[i], how, a, b);
}

static void swap_depths(struct rsc_affine *affine, uint32_t a, uint32_t b) {
    int64_t kept = affine->coefficient[a];
    affine->coefficient[a] = affine->coefficient[b];
    affine->coefficient[b] = kept;
}

/* Moves variables from depth a on b deeper. */
static void shift_depths(struct rsc_affine *affine, uint32_t a, uint32_t b) {
    for (uint32_t d = RSC_LOOP_DEPTH_MAX; d-- > a + b;) affine->coefficient[d] = affine->coefficient[d - b];
    for (uint32_t d = a; d < a + b; d++) affine->coefficient[d] = 0;
}

static int bound_uses(const struct rsc_loop_bound *bound, uint32_t depth) {
    for (uint32_t i = 0; i < bound->count; i++)
        if (bound->term[i].value.coefficient[depth]) return 1;
    return 0;
}

/* The shared loop whose iterations are split among threads, with others, by this one's; NULL: none. */
static const struct rsc_loop_node *split_by(const struct rsc_loop_node *loop) {
    const struct rsc_loop_node *node = loop;
    while (node && !(node->kind == RSC_NODE_LOOP && node->share)) node = node->parent;
    return node && loop->depth < node->depth + node->collapse ? node : NULL;
}

/* The outermost and innermost of the loops, if they are perfectly nested. */
static int find_band(struct change *change, struct rsc_loop_node **outer, struct rsc_loop_node **inner) {
    *outer = *inner = change->loop[0];
    for (uint32_t i = 1; i < change->count; i++) {
        if (change->loop[i]->depth < (*outer)->depth) *outer = change->loop[i];
        if (change->loop[i]->depth > (*inner)->depth) *inner = change->loop[i];
    }
    for (struct rsc_loop_node *node = *inner; node != *outer; node = node->parent) {
        if (!node->parent) return bad(change, "the loops are not nested in each other");
        if (node->parent->child_count != 1 || node->parent->kind != RSC_NODE_LOOP)
            return bad(change, "something else lies between the loops");
    }
    return 0;
}

/* ---- whether the order matters ---- */

struct order {
    const struct rsc_loop_node *outer, *inner;
    const struct rsc_loop_node *reference[256];
    uint32_t count;
};

static int list_references(struct order *order, const struct rsc_loop_node *node) {
    if (node->kind == RSC_NODE_REFERENCE) {
        if (order->count == 256) return 0;
        order->reference[order->count++] = node;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!list_references(order, node->child[i])) return 0;
    return 1;
}

/*
 * Any order of the band's loops is correct if every array written in it is referenced
 * by only one expression, whose elements differ for different values of the band's
 * variables, except for at most one variable: dependences are then along that variable
 * only, and its order is kept. Threads that split the loop of that variable would not keep it: `split`, the loop that is
 * shared afterwards (NULL: as before), has a variable in each of those expressions.
 */
static int any_order_will_do(const struct rsc_loop_node *outer, const struct rsc_loop_node *inner,
                             const struct rsc_loop_node *split) {
    static const struct order empty;
    struct order order = empty;
    if (!list_references(&order, outer)) return 0;
    for (uint32_t w = 0; w < order.count; w++) {
        const struct rsc_loop_node *write = order.reference[w];
        if (!write->is_write) continue;
        for (uint32_t r = 0; r < order.count; r++)
            if (order.reference[r]->array == write->array &&
                memcmp(&order.reference[r]->offset, &write->offset, sizeof write->offset))
                return 0;
        if (split && !write->offset.coefficient[split->depth]) return 0;
        uint32_t absent = 0;
        for (uint32_t d = outer->depth; d <= inner->depth; d++) absent += !write->offset.coefficient[d];
        if (absent > 1) return 0;
        /* Strides that do not overlap: each is larger than the combined reach of all smaller ones. */
        const struct rsc_loop_node *loop[LOOPS_MAX];
        uint32_t loops = 0;
        for (const struct rsc_loop_node *node = write->parent; node; node = node->parent)
            if (node->kind == RSC_NODE_LOOP && node->depth >= outer->depth && write->offset.coefficient[node->depth])
                loop[loops++] = node;
        double reach = 0, least = 0;
        for (uint32_t done = 0; done < loops; done++) {
            double next = 1e300, width = 0;
            for (uint32_t i = 0; i < loops; i++) {
                double stride = (double)llabs(write->offset.coefficient[loop[i]->depth]);
                if (stride > least && stride < next) next = stride, width = (double)(loop[i]->most - loop[i]->least);
            }
            if (next <= reach || next == 1e300) return 0; /* two of the same stride, or overlapping */
            reach += next * width;
            least = next;
        }
    }
    return 1;
}

/* ---- the changes ---- */

static int interchange(struct change *change) {
    struct rsc_loop_node *outer, *inner;
    if (change->count != 2) return bad(change, "two loops change places");
    int status = find_band(change, &outer, &inner);
    if (status < 0) return status;
    if (outer->share != inner->share && outer->collapse > 1) return bad(change, "collapsed loops are split together");
    for (struct rsc_loop_node *node = inner; node != outer; node = node->parent)
        for (uint32_t d = outer->depth; d < node->depth; d++)
            if ((d == outer->depth || node == inner) && (bound_uses(&node->first, d) || bound_uses(&node->last, d)))
                return bad(change, "bounds of one loop depend on the other");
    uint32_t a = outer->depth, b = inner->depth;
    struct rsc_loop_node kept = *outer;
    outer->variable = inner->variable;
    outer->first = inner->first;
    outer->last = inner->last;
    outer->step = inner->step;
    outer->line = inner->line;
    inner->variable = kept.variable;
    inner->first = kept.first;
    inner->last = kept.last;
    inner->step = kept.step;
    inner->line = kept.line;
    rewrite_all(outer, swap_depths, a, b);
    return 0;
}

static struct rsc_loop_term plain_term(int64_t constant) {
    return (struct rsc_loop_term){.value.constant = constant, .divisor = 1};
}

static int tile(struct change *change) {
    struct rsc_loop_node *outer, *inner;
    int status = find_band(change, &outer, &inner);
    if (status < 0) return status;
    uint32_t at = outer->depth, n = change->count;
    if (change->region->depth_max + n > RSC_LOOP_DEPTH_MAX) return bad(change, "loops would be nested too deeply");
    int64_t least[LOOPS_MAX], most[LOOPS_MAX];
    for (uint32_t i = 0; i < n; i++) {
        struct rsc_loop_node *loop = change->loop[i];
        if (loop->step != 1 && loop->step != -1) return bad(change, "a loop with a step of more than 1 is not tiled");
        if (split_by(loop) && split_by(loop)->collapse > 1) return bad(change, "collapsed loops are not tiled");
        if (loop->never) return bad(change, "the loop never runs");
        least[i] = rsc_floor_divide(loop->least, change->number[i]);
        most[i] = rsc_floor_divide(loop->most, change->number[i]);
    }
    rewrite_all(outer, shift_depths, at, n);
    struct rsc_loop_node *parent = outer->parent, *around = parent;
    uint32_t place = outer->index;
    for (uint32_t i = 0; i < n; i++) {
        struct rsc_loop_node *loop = change->loop[i],
                             *tiles = rsc_loop_add_node(change->program, around, RSC_NODE_LOOP);
        char name[96];
        snprintf(name, sizeof name, "%.80s_tile", loop->variable);
        if (!tiles) return rsc_fail_memory(change->error, "tiled loops");
        tiles->variable = rsc_arena_strdup(&change->program->arena, name);
        tiles->step = loop->step;
        tiles->line = loop->line;
        tiles->file = loop->file;
        struct rsc_loop_term from = plain_term(loop->step > 0 ? least[i] : most[i]);
        struct rsc_loop_term to = plain_term(loop->step > 0 ? most[i] : least[i]);
        struct rsc_loop_term low = plain_term(0), high = plain_term(change->number[i] - 1);
        low.value.coefficient[at + i] = high.value.coefficient[at + i] = change->number[i];
        tiles->collapse = 1;
        if (!tiles->variable || rsc_loop_add_term(change->program, &tiles->first, &from) < 0 ||
            rsc_loop_add_term(change->program, &tiles->last, &to) < 0 ||
            rsc_loop_add_term(change->program, &loop->first, loop->step > 0 ? &low : &high) < 0 ||
            rsc_loop_add_term(change->program, &loop->last, loop->step > 0 ? &high : &low) < 0)
            return rsc_fail_memory(change->error, "tiled loops");
        if (loop->share) {
            tiles->share = 1;
            tiles->schedule = loop->schedule;
            tiles->chunk = loop->chunk;
            tiles->nowait = loop->nowait;
            loop->share = loop->nowait = 0;
            loop->chunk = 0;
        }
        around = tiles;
    }
    /* The first tile loop, added last to the parent, replaces the nest; the nest moves into the innermost tile loop. */
    struct rsc_loop_node *holder = rsc_loop_add_node(change->program, around, RSC_NODE_BODY);
    if (!holder) return rsc_fail_memory(change->error, "tiled loops");
    parent->child[place] = parent->child[--parent->child_count];
    around->child[0] = outer;
    return 0;
}

static int set_chunk(struct change *change, struct rsc_loop_node *node, uint64_t chunk) {
    int found = node->kind == RSC_NODE_LOOP && node->share;
    if (found) node->chunk = chunk;
    for (uint32_t i = 0; i < node->child_count; i++) found |= set_chunk(change, node->child[i], chunk);
    return found;
}

/* "static", "dynamic,4": of every shared loop. */
static int set_schedule(struct change *change, struct rsc_loop_node *node, enum rsc_schedule schedule, uint64_t chunk) {
    int found = node->kind == RSC_NODE_LOOP && node->share;
    if (found) {
        node->schedule = schedule;
        node->chunk = chunk;
    }
    for (uint32_t i = 0; i < node->child_count; i++) found |= set_schedule(change, node->child[i], schedule, chunk);
    return found;
}

static int change_schedule(struct change *change, const char *text) {
    enum rsc_schedule kind;
    uint64_t chunk;
    struct rsc_error why;
    if (rsc_schedule_parse(text, &kind, &chunk, &why) < 0)
        return bad(change, "not static, dynamic or guided, with a chunk of 1 iteration or more");
    return set_schedule(change, change->region->root, kind, chunk) ? 0 : bad(change, "no loop is shared among threads");
}

static int same_bound(const struct rsc_loop_bound *a, const struct rsc_loop_bound *b) {
    if (a->count != b->count) return 0;
    for (uint32_t i = 0; i < a->count; i++)
        if (a->term[i].divisor != b->term[i].divisor || a->term[i].rounding != b->term[i].rounding ||
            memcmp(&a->term[i].value, &b->term[i].value, sizeof a->term[i].value) != 0)
            return 0;
    return 1;
}

/* Whether an array that is written below `a` is referenced below `b`. */
static int writes_into(const struct rsc_loop_node *a, const struct rsc_loop_node *b) {
    if (a->kind == RSC_NODE_REFERENCE && b->kind == RSC_NODE_REFERENCE) return a->is_write && a->array == b->array;
    const struct rsc_loop_node *down = a->kind == RSC_NODE_REFERENCE ? b : a;
    for (uint32_t i = 0; i < down->child_count; i++)
        if (down == a ? writes_into(a->child[i], b) : writes_into(a, b->child[i])) return 1;
    return 0;
}

/* The loop beside it takes the same iterations: its body follows in each of them. */
static int fuse(struct change *change, const char **note) {
    struct rsc_loop_node *loop = change->loop[0], *parent = loop->parent, *first = loop, *other;
    if (change->count != 1) return bad(change, "one loop is fused, with the next");
    if (parent->kind == RSC_NODE_PARALLEL && parent->child_count == 1) first = parent; /* two parallel loops */
    parent = first->parent;
    uint32_t place = 0;
    while (parent && place < parent->child_count && parent->child[place] != first) place++;
    if (!parent || place + 1 >= parent->child_count) return bad(change, "no loop follows it");
    struct rsc_loop_node *next = other = parent->child[place + 1];
    if (first != loop && next->kind == RSC_NODE_PARALLEL && next->child_count == 1 &&
        next->num_threads == first->num_threads)
        other = next->child[0];
    if (other->kind != RSC_NODE_LOOP || (first == loop) != (next == other)) return bad(change, "no loop follows it");
    if (!same_bound(&loop->first, &other->first) || !same_bound(&loop->last, &other->last) ||
        loop->step != other->step || loop->share != other->share || loop->schedule != other->schedule ||
        loop->chunk != other->chunk || loop->collapse > 1 || other->collapse > 1)
        return bad(change, "the loop that follows it has other bounds or another schedule");
    if (writes_into(loop, other) || writes_into(other, loop)) *note = not_proved;
    for (uint32_t i = 0; i < other->child_count; i++) {
        if (!rsc_loop_add_node(change->program, loop, RSC_NODE_BODY))
            return rsc_fail_memory(change->error, "fused loops");
        loop->child[loop->child_count - 1] = other->child[i];
        other->child[i]->parent = loop;
    }
    loop->nowait = other->nowait;
    memmove(&parent->child[place + 1], &parent->child[place + 2],
            (parent->child_count - place - 2) * sizeof *parent->child);
    parent->child_count--;
    return 0;
}

/*
 * pad=a:8 - the rows of a get 8 elements more. Done on the text, where subscripts are by dimension; an access by byte
 * would stay where it was.
 */
static int pad(struct rsc_error *error, const char *what, char **text, size_t *bytes) {
    const char *list = what + strlen("pad="), *colon = strrchr(list, ':');
    char *end, name[200], line[220], *at, *stop, *open;
    unsigned long long more = colon ? strtoull(colon + 1, &end, 10) : 0;
    if (!colon || *end || !more || more > 1 << 20 || colon - list > 150)
        return rsc_fail(error, RSC_EINVAL, "what if '%.80s': not an array and elements, as pad=a:8", what);
    for (int quoted = 0; quoted < 2; quoted++) {
        snprintf(name, sizeof name, quoted ? "\"%.*s\"" : "%.*s", (int)(colon - list), list);
        snprintf(line, sizeof line, "\narray %s ", name);
        if ((at = strstr(*text, line))) break;
    }
    if (!at) return rsc_fail(error, RSC_EINVAL, "what if '%.80s': there is no array of that name", what);
    stop = strchr(at + 1, '\n');
    for (open = stop; open > at && *open != '[';) open--;
    if (open == at || open[-1] != ']' || open[1] == ']')
        return rsc_fail(error, RSC_EINVAL, "what if '%.80s': the array has no rows", what);
    for (int k = 0; k < 2; k++) {
        snprintf(line, sizeof line, "%s %s byte ", k ? "write" : "read", name);
        if (strstr(*text, line))
            return rsc_fail(error, RSC_EINVAL, "what if '%.80s': the array is also accessed by byte", what);
    }
    char *larger = malloc(*bytes + 32);
    if (!larger) return rsc_fail_memory(error, "what if");
    size_t head = (size_t)(open + 1 - *text);
    unsigned long long extent = strtoull(open + 1, &end, 10);
    memcpy(larger, *text, head);
    head += (size_t)sprintf(larger + head, "%llu", extent + more);
    memcpy(larger + head, end, *bytes - (size_t)(end - *text) + 1);
    *bytes = head + *bytes - (size_t)(end - *text);
    free(*text);
    *text = larger;
    return 0;
}

int rsc_loops_what_if(struct rsc_loop_program **out, const struct rsc_loop_program *program, uint32_t region,
                      const char *what, const char **note, struct rsc_error *error) {
    struct change change = {.what = what, .error = error};
    char *text = NULL;
    size_t bytes;
    *out = NULL;
    *note = NULL;
    if (region >= program->region_count)
        return rsc_fail(error, RSC_EINVAL, "region %u: there are %u", region, program->region_count);
    int status = rsc_loop_text_write(program, &text, &bytes);
    if (status < 0) return rsc_fail_memory(error, "what if");
    const char *name = program->region[region].name;
    int pads = !strncmp(what, "pad=", 4);
    if (pads && (status = pad(error, what, &text, &bytes)) < 0) {
        free(text);
        return status;
    }
    status = rsc_loop_text_read(text, bytes, name, NULL, 0, &change.program, error);
    free(text);
    if (status < 0) return status;
    change.region = &change.program->region[region];
    if (!strncmp(what, "tile=", 5)) {
        status = read_names(&change, what + 5, 1);
        struct rsc_loop_node *outer, *inner;
        if (status >= 0) status = find_band(&change, &outer, &inner);
        if (status >= 0 && !any_order_will_do(outer, inner, NULL)) *note = not_proved;
        if (status >= 0) status = tile(&change);
    } else if (!strncmp(what, "interchange=", 12)) {
        status = read_names(&change, what + 12, 0);
        struct rsc_loop_node *outer, *inner;
        if (status >= 0) status = find_band(&change, &outer, &inner);
        const struct rsc_loop_node *split = NULL; /* the schedule stays with the place: the loop that comes there */
        if (status >= 0 && !split_by(outer) != !split_by(inner)) split = split_by(outer) ? inner : outer;
        if (status >= 0 && !any_order_will_do(outer, inner, split)) *note = not_proved;
        if (status >= 0) status = interchange(&change);
    } else if (!strncmp(what, "chunk=", 6)) {
        char *end;
        unsigned long long chunk = strtoull(what + 6, &end, 10);
        if (what[6] < '0' || what[6] > '9' || *end || !chunk || chunk > 1ull << 40)
            status = bad(&change, "a chunk is of 1 iteration or more");
        else if (!set_chunk(&change, change.region->root, chunk))
            status = bad(&change, "no loop is shared among threads");
    } else if (!strncmp(what, "schedule=", 9)) {
        status = change_schedule(&change, what + 9);
    } else if (!strncmp(what, "fuse=", 5)) {
        status = read_names(&change, what + 5, 0);
        if (status >= 0) status = fuse(&change, note);
    } else if (!pads) {
        status = rsc_fail(
            error, RSC_EINVAL,
            "what if '%.80s': not chunk=N, schedule=KIND, tile=i:N,j:N, interchange=i,j, fuse=i or pad=a:N", what);
    }
    if (status >= 0) status = rsc_loop_seal(change.program, name, error);
    if (status < 0) {
        rsc_loop_program_free(change.program);
        return status;
    }
    *out = change.program;
    return 0;
}
