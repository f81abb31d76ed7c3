/*
 * nest_build.c - builds a nest from a region: nodes without zero coefficients,
 * dependences of counts, segments and phases.
 */
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "base/grow.h"
#include "loops/nest/nest.h"

#define RESIDUES_MAX 8u /* different remainders that one loop's body depends on, */
#define RESIDUE_SUMS_MAX (double)(1 << 22) /* and running sums for all their combinations */
#define GUARDS_TRIED 32u /* most guards in a row tested for whether exactly one holds */

struct build {
    struct rsc_nest *nest;
    uint32_t only;
    uint64_t line_bytes;
    struct rsc_error *error;
    uint32_t *space; /* by array */
    int64_t value[RSC_LOOP_DEPTH_MAX];
    int new_phase; /* a barrier follows the last segment */
    uint32_t in_parallel, thread_limit;
};

static void *alloc(struct build *build, size_t bytes) {
    void *block = rsc_arena_alloc(&build->nest->arena, bytes ? bytes : 1);
    if (block) memset(block, 0, bytes);
    return block;
}

static void make_affine(struct rsc_nest_affine *out, const struct rsc_affine *from, uint32_t depth) {
    *out = (struct rsc_nest_affine){.constant = from->constant};
    for (uint32_t d = 0; d < depth; d++) {
        if (!from->coefficient[d]) continue;
        out->depth[out->count] = (uint8_t)d;
        out->coefficient[out->count++] = from->coefficient[d];
        out->depths |= 1u << d;
    }
}

static struct rsc_nest_term *make_terms(struct build *build, const struct rsc_loop_bound *bound, uint32_t depth,
                                        uint32_t *depths) {
    struct rsc_nest_term *term = alloc(build, bound->count * sizeof *term);
    if (!term) return NULL;
    for (uint32_t i = 0; i < bound->count; i++) {
        make_affine(&term[i].value, &bound->term[i].value, depth);
        term[i].divisor = bound->term[i].divisor;
        term[i].rounding = bound->term[i].rounding;
        *depths |= term[i].value.depths;
    }
    return term;
}

static int make_reference(struct build *build, struct rsc_nest_node *node) {
    const struct rsc_loop_node *from = node->from;
    const struct rsc_loop_array *array = &build->nest->program->array[from->array];
    make_affine(&node->address, &from->offset, from->depth);
    node->address.constant += (int64_t)array->base;
    node->size_bytes = from->size_bytes;
    node->is_write = from->is_write;
    node->is_private = array->is_private;
    node->space = build->space[from->array];
    node->address_least = from->least + (int64_t)array->base;
    node->address_most = from->most + (int64_t)array->base;
    node->reference = build->nest->reference_count++;
    node->weight = build->only == UINT32_MAX || build->only == node->reference;
    int64_t line = (int64_t)build->line_bytes, grain = line;
    for (uint32_t i = 0; i < node->address.count; i++) grain = rsc_common_divisor(node->address.coefficient[i], grain);
    int64_t rest = node->address.constant % grain;
    if (rest < 0) rest += grain;
    if (rest + node->size_bytes > grain)
        return rsc_fail(
            build->error, RSC_EUNSUPPORTED,
            "%s:%u: an access of %u bytes to %s may cross a line of %lld bytes: the models count one line per access",
            from->file                  ? from->file
            : build->nest->region->file ? build->nest->region->file
                                        : build->nest->region->name,
            from->line, from->size_bytes, array->name, (long long)line);
    build->nest->reference[node->reference] = node;
    return 0;
}

static int make_node(struct build *build, struct rsc_nest_node **out, struct rsc_nest_node *parent,
                     const struct rsc_loop_node *from) {
    struct rsc_nest_node *node = alloc(build, sizeof *node);
    if (!node) return rsc_fail_memory(build->error, "loop nest");
    *out = node;
    node->kind = from->kind;
    node->from = from;
    node->parent = parent;
    node->id = from->id;
    node->depth = from->depth;
    if (from->kind == RSC_NODE_LOOP) {
        node->first = make_terms(build, &from->first, from->depth, &node->bound_depths);
        node->last = make_terms(build, &from->last, from->depth, &node->bound_depths);
        if (!node->first || !node->last) return rsc_fail_memory(build->error, "loop nest");
        node->first_count = from->first.count;
        node->last_count = from->last.count;
        node->step = from->step;
        node->least = from->least;
        node->most = from->most;
        if (!node->bound_depths) {
            node->fixed_trip = rsc_nest_trip(node, build->value, &node->fixed_first);
            node->fixed = 1;
        }
    }
    if (from->kind == RSC_NODE_GUARD) {
        node->condition = alloc(build, from->condition_count * sizeof *node->condition);
        if (!node->condition) return rsc_fail_memory(build->error, "loop nest");
        node->condition_count = from->condition_count;
        for (uint32_t i = 0; i < from->condition_count; i++) {
            struct rsc_nest_condition *condition = &node->condition[i];
            condition->kind = from->condition[i].kind;
            condition->modulus = from->condition[i].modulus;
            make_affine(&condition->value, &from->condition[i].value, from->depth);
            condition->deepest = condition->value.depths ? 31 - (uint32_t)__builtin_clz(condition->value.depths) : 0;
        }
    }
    if (from->kind == RSC_NODE_REFERENCE) return make_reference(build, node);
    node->child = alloc(build, from->child_count * sizeof *node->child);
    if (!node->child) return rsc_fail_memory(build->error, "loop nest");
    for (uint32_t i = 0; i < from->child_count; i++) {
        if (from->child[i]->never) continue;
        int status = make_node(build, &node->child[node->child_count], node, from->child[i]);
        if (status < 0) return status;
        node->child_count++;
    }
    return 0;
}

/* Whether it contains thread control, so that it cannot run as one piece. */
static int is_control(const struct rsc_nest_node *node) {
    if (node->kind == RSC_NODE_PARALLEL || node->kind == RSC_NODE_SINGLE || node->kind == RSC_NODE_BARRIER) return 1;
    if (node->kind == RSC_NODE_LOOP && node->from->share) return 1;
    for (uint32_t i = 0; i < node->child_count; i++)
        if (is_control(node->child[i])) return 1;
    return 0;
}

/* Puts neighbouring children that can run as one piece under a new body. */
static int gather_plain(struct build *build, struct rsc_nest_node *node) {
    if (!is_control(node) || node->kind == RSC_NODE_SINGLE || (node->kind == RSC_NODE_LOOP && node->from->share))
        return 0;
    uint32_t kept = 0;
    for (uint32_t i = 0; i < node->child_count;) {
        if (is_control(node->child[i])) {
            int status = gather_plain(build, node->child[i]);
            if (status < 0) return status;
            node->child[kept++] = node->child[i++];
            continue;
        }
        uint32_t end = i;
        while (end < node->child_count && !is_control(node->child[end])) end++;
        struct rsc_nest_node *body = alloc(build, sizeof *body);
        if (!body) return rsc_fail_memory(build->error, "loop nest");
        body->kind = RSC_NODE_BODY;
        body->from = node->child[i]->from;
        body->parent = node;
        body->id = node->child[i]->id;
        body->depth = node->depth + (node->kind == RSC_NODE_LOOP);
        body->child = alloc(build, (end - i) * sizeof *body->child);
        if (!body->child) return rsc_fail_memory(build->error, "loop nest");
        for (; i < end; i++) {
            body->child[body->child_count++] = node->child[i];
            node->child[i]->parent = body;
        }
        node->child[kept++] = body;
    }
    node->child_count = kept;
    return 0;
}

struct residues {
    const struct rsc_nest_node *loop;
    const struct rsc_nest_condition *item[RESIDUES_MAX];
    uint32_t count;
    double combinations;
};

/* Collects how the nodes below a loop depend on variables outside it; 0 if not only through remainders. */
static int collect_residues(const struct rsc_nest_node *node, struct residues *residues) {
    uint32_t outer = residues->loop->outer;
    if (node->empty) return 1;
    if (node->kind == RSC_NODE_LOOP && node != residues->loop && node->bound_depths & outer) return 0;
    for (uint32_t i = 0; node->kind == RSC_NODE_GUARD && i < node->condition_count; i++) {
        const struct rsc_nest_condition *condition = &node->condition[i];
        if (!(condition->value.depths & outer)) continue;
        if (condition->kind != RSC_WHEN_DIVISIBLE && condition->kind != RSC_WHEN_INDIVISIBLE) return 0;
        uint32_t at = 0;
        while (at < residues->count && !rsc_nest_same_remainder(residues->item[at], condition)) at++;
        if (at < residues->count) continue;
        if (residues->count == RESIDUES_MAX) return 0;
        residues->item[residues->count++] = condition;
        residues->combinations *= (double)condition->modulus;
    }
    for (uint32_t i = 0; i < node->child_count; i++)
        if (!collect_residues(node->child[i], residues)) return 0;
    return 1;
}

/* Running sums by value for each combination of remainders, where these are fewer than for all outer values. */
static void find_residues(struct rsc_nest *nest, struct rsc_nest_node *loop) {
    struct residues residues = {.loop = loop, .combinations = 1};
    uint32_t own = 1u << loop->depth;
    if (!(loop->body_depths & own) || !(loop->body_depths & loop->outer) || llabs(loop->step) != 1) return;
    double length = (double)loop->most - (double)loop->least + 1;
    if (!collect_residues(loop, &residues) || !residues.count || residues.combinations * length > RESIDUE_SUMS_MAX)
        return;
    loop->residue = rsc_arena_alloc(&nest->arena, residues.count * sizeof *loop->residue);
    if (!loop->residue) {
        nest->status = RSC_ENOMEM;
        return;
    }
    memcpy(loop->residue, residues.item, residues.count * sizeof *loop->residue);
    loop->residue_count = residues.count;
}

/* Whether a loop has as many iterations wherever it starts: from i to i + 9, and a let, which has one. */
static int has_even_trip(const struct rsc_nest_node *loop) {
    const struct rsc_nest_term *first = &loop->first[0], *last = &loop->last[0];
    if (loop->first_count != 1 || loop->last_count != 1 || first->divisor != last->divisor ||
        first->rounding != last->rounding || first->value.count != last->value.count ||
        first->value.depths != last->value.depths)
        return 0;
    for (uint32_t i = 0; i < first->value.count; i++)
        if (first->value.coefficient[i] != last->value.coefficient[i]) return 0;
    return first->rounding == RSC_ROUND_NONE || first->value.constant == last->value.constant;
}

static void find_depths(struct rsc_nest *nest, struct rsc_nest_node *node) {
    if (node->kind == RSC_NODE_REFERENCE) {
        node->empty = !node->weight;
        return;
    }
    int64_t value[RSC_LOOP_DEPTH_MAX] = {0};
    node->empty = 1;
    node->outer = node->parent ? node->parent->outer : 0;
    if (node->parent && node->parent->kind == RSC_NODE_LOOP) node->outer |= 1u << node->parent->depth;
    for (uint32_t i = 0; i < node->child_count; i++) find_depths(nest, node->child[i]);
    node->varying = rsc_arena_alloc(&nest->arena, (node->child_count + (size_t)1) * sizeof(struct rsc_nest_node *));
    if (!node->varying) {
        nest->status = RSC_ENOMEM;
        return;
    }
    for (uint32_t i = 0; i < node->child_count; i++) {
        if (node->child[i]->empty) continue;
        node->empty = 0;
        uint32_t end = i + 1; /* end of a row of guards of which exactly one holds */
        while (end < node->child_count && node->child[end]->kind == RSC_NODE_GUARD && end - i < GUARDS_TRIED) {
            if (rsc_nest_guards_share_out(node->child + i, ++end - i)) break;
        }
        if (end == i + 1 || !rsc_nest_guards_share_out(node->child + i, end - i)) {
            node->body_depths |= node->child[i]->depths;
            if (node->child[i]->depths) {
                node->varying[node->varying_count++] = node->child[i];
                continue;
            }
            end = i + 1;
        }
        for (; i < end; i++) node->body_fixed += rsc_nest_count(nest, node->child[i], value);
        i--;
    }
    node->depths = node->body_depths;
    if (node->kind == RSC_NODE_LOOP) {
        uint32_t own = 1u << node->depth;
        int even = !(node->body_depths & own) && !node->from->share && has_even_trip(node);
        node->depths = (node->depths & ~own) | (even ? 0 : node->bound_depths);
    }
    if (node->kind == RSC_NODE_GUARD)
        for (uint32_t i = 0; i < node->condition_count; i++) node->depths |= node->condition[i].value.depths;
    if (node->empty) node->depths = node->body_depths = 0;
    if (node->kind != RSC_NODE_LOOP) return;
    find_residues(nest, node);
    rsc_nest_find_shift(nest, node);
}

/* Whether it has one iteration, with a variable that is in none of `used`. */
static int is_idle_let(const struct rsc_nest_node *loop, uint32_t used) {
    return !(used >> loop->depth & 1) && loop->step == 1 && has_even_trip(loop) &&
           loop->first[0].value.constant == loop->last[0].value.constant;
}

static int find_path(struct rsc_nest_node *reference, struct rsc_error *error) {
    reference->path_length = reference->depth;
    for (struct rsc_nest_node *node = reference->parent; node; node = node->parent) {
        if (node->kind == RSC_NODE_LOOP) reference->path[node->depth] = node;
        if (node->kind != RSC_NODE_GUARD) continue;
        for (uint32_t i = 0; i < node->condition_count; i++) {
            if (reference->check_count == RSC_LOOP_TERMS_MAX)
                return rsc_fail(error, RSC_ELIMIT, "line %u: more than %d conditions around a reference",
                                reference->from->line, RSC_LOOP_TERMS_MAX);
            reference->check[reference->check_count++] = &node->condition[i];
        }
    }
    uint32_t used = reference->address.depths, bounds[RSC_LOOP_DEPTH_MAX];
    for (uint32_t i = 0; i < reference->check_count; i++) used |= reference->check[i]->value.depths;
    for (uint32_t d = reference->path_length; d--;) {
        bounds[d] = is_idle_let(reference->path[d], used) ? 0 : reference->path[d]->bound_depths;
        used |= bounds[d];
    }
    for (uint32_t d = 0; d < reference->path_length; d++) {
        for (uint32_t e = d + 1; e < reference->path_length; e++) reference->inner_depths[d] |= bounds[e];
        for (uint32_t i = 0; i < reference->check_count; i++)
            if (reference->check[i]->deepest > d) reference->inner_depths[d] |= reference->check[i]->value.depths;
    }
    return 0;
}

/* ---- segments ---- */

static int grow(void *list, uint32_t count, uint32_t *room, size_t each, struct rsc_error *error) {
    size_t now = *room;
    if (rsc_grow(list, &now, count + 1ull, each)) return rsc_fail_memory(error, "segments of a loop nest");
    *room = (uint32_t)now;
    return 0;
}

/* Where each iteration of a collapsed loop begins, if the trip count of the loop inside depends on it. */
static int find_starts(struct build *build, struct rsc_nest_item *item) {
    struct rsc_nest_node *outer = item->node;
    int64_t value[RSC_LOOP_DEPTH_MAX] = {0}, first, none, trip;
    if (item->group != 2 || outer->bound_depths || item->inner->bound_depths != 1u << outer->depth)
        return rsc_fail(
            build->error, RSC_ELIMIT,
            "line %u: of collapsed loops whose bounds depend on each other, only two are analysed, with bounds "
            "that depend on no other loop",
            item->inner->from->line);
    trip = rsc_nest_trip(outer, value, &first);
    if (trip > 1 << 25)
        return rsc_fail(build->error, RSC_ELIMIT, "line %u: uneven loops of more than 2^25 iterations",
                        item->inner->from->line);
    if (!(item->starts = alloc(build, ((size_t)trip + 1) * sizeof *item->starts))) return RSC_ENOMEM;
    item->start_count = trip;
    item->starts[0] = 0;
    for (int64_t i = 0; i < trip; i++) {
        value[outer->depth] = first + i * outer->step;
        item->starts[i + 1] = item->starts[i] + rsc_nest_trip(item->inner, value, &none);
    }
    return 0;
}

static int find_item(struct build *build, struct rsc_nest_node *node, enum rsc_nest_who who) {
    struct rsc_nest *nest = build->nest;
    for (uint32_t i = 0; i < nest->item_count; i++)
        if (nest->item[i].node == node) return (int)i;
    if (grow(&nest->item, nest->item_count, &nest->item_room, sizeof *nest->item, build->error) < 0) return RSC_ENOMEM;
    struct rsc_nest_item *item = &nest->item[nest->item_count];
    *item = (struct rsc_nest_item){.node = node, .who = who, .inner = node, .thread_limit = build->thread_limit};
    int status;
    if (who == RSC_RUN_SHARED) {
        item->group = node->from->collapse;
        item->schedule = node->from->schedule;
        item->chunk = node->from->chunk;
        uint32_t own = 1u << node->depth;
        for (uint32_t g = 1; g < item->group; g++) {
            if (item->inner->child_count != 1 || item->inner->child[0]->kind != RSC_NODE_LOOP) {
                item->group = g; /* an inner loop never runs, so neither does its body */
                break;
            }
            item->inner = item->inner->child[0];
            if (item->inner->bound_depths & own && (status = find_starts(build, item))) return status;
            own |= 1u << item->inner->depth;
        }
    }
    return (int)nest->item_count++;
}

static int add_segment(struct build *build, struct rsc_nest_node *node, enum rsc_nest_who who) {
    struct rsc_nest *nest = build->nest;
    int index = find_item(build, node, who);
    if (index < 0) return index;
    struct rsc_nest_item *item = &nest->item[index];
    if (nest->segment_count == RSC_NEST_SEGMENTS_MAX)
        return rsc_fail(build->error, RSC_ELIMIT, "line %u: threads meet more than %u times in this region",
                        node->from->line, RSC_NEST_SEGMENTS_MAX);
    if (grow(&nest->segment, nest->segment_count, &nest->segment_room, sizeof *nest->segment, build->error) < 0 ||
        grow(&nest->phase, nest->phase_count, &nest->phase_room, sizeof *nest->phase, build->error) < 0)
        return RSC_ENOMEM;
    while (nest->value_count + item->node->depth >= nest->value_room)
        if (grow(&nest->segment_values, nest->value_room, &nest->value_room, sizeof *nest->segment_values,
                 build->error) < 0)
            return RSC_ENOMEM;
    if (build->new_phase || !nest->phase_count) {
        nest->phase[nest->phase_count++] = (struct rsc_nest_phase){.first = nest->segment_count};
        build->new_phase = 0;
    }
    struct rsc_nest_segment *segment = &nest->segment[nest->segment_count];
    *segment = (struct rsc_nest_segment){.item = (uint32_t)index,
                                         .phase = nest->phase_count - 1,
                                         .values = nest->value_count,
                                         .same = nest->segment_count};
    memcpy(nest->segment_values + nest->value_count, build->value, node->depth * sizeof *build->value);
    nest->value_count += node->depth;
    segment->total = rsc_nest_count(nest, node, build->value);
    uint32_t outer = node->depth ? (1u << node->depth) - 1 : 0;
    if (!(node->depths & outer)) /* the same for all outer values: the item's first segment represents all */
        for (uint32_t i = 0; i < nest->segment_count; i++)
            if (nest->segment[i].item == segment->item) {
                segment->same = i;
                break;
            }
    nest->phase[nest->phase_count - 1].count++;
    nest->segment_count++;
    return 0;
}

static int unroll(struct build *build, struct rsc_nest_node *node) {
    int status = 0;
    if (!is_control(node)) return add_segment(build, node, build->in_parallel ? RSC_RUN_BY_ALL : RSC_RUN_BY_ONE);
    switch (node->kind) {
    case RSC_NODE_BARRIER: build->new_phase = 1; return 0;
    case RSC_NODE_GUARD:
        if (!rsc_nest_guard_holds(node, build->value)) return 0;
        break;
    case RSC_NODE_SINGLE:
        status = add_segment(build, node, RSC_RUN_BY_ONE);
        if (!node->from->nowait) build->new_phase = 1;
        return status;
    case RSC_NODE_PARALLEL:
        build->new_phase = 1;
        build->in_parallel++;
        build->thread_limit = node->from->num_threads;
        break;
    case RSC_NODE_LOOP:
        if (node->from->share) {
            status = add_segment(build, node, RSC_RUN_SHARED);
            if (!node->from->nowait) build->new_phase = 1;
            return status;
        }
        break;
    default: break;
    }
    int64_t first = 0, trip = node->kind == RSC_NODE_LOOP ? rsc_nest_trip(node, build->value, &first) : 1;
    for (int64_t k = 0; k < trip && status >= 0 && !rsc_nest_stopped(build->nest); k++) {
        if (node->kind == RSC_NODE_LOOP) build->value[node->depth] = first + k * node->step;
        if (k > (int64_t)RSC_NEST_SEGMENTS_MAX)
            return rsc_fail(build->error, RSC_ELIMIT, "line %u: threads meet more than %u times in this region",
                            node->from->line, RSC_NEST_SEGMENTS_MAX);
        for (uint32_t i = 0; i < node->child_count && status >= 0; i++) status = unroll(build, node->child[i]);
    }
    if (node->kind == RSC_NODE_PARALLEL) {
        build->new_phase = 1;
        build->in_parallel--;
        build->thread_limit = 0;
    }
    return status;
}

/*
 * Arrays whose references can share a line (bases can be given, and a program can
 * reach past an array's end) form one space; each private array is its own.
 */
static int find_spaces(struct build *build) {
    const struct rsc_loop_program *program = build->nest->program;
    const struct rsc_loop_region *region = build->nest->region;
    uint32_t count = program->array_count;
    int64_t line = (int64_t)build->line_bytes;
    build->space = alloc(build, (count + 1) * sizeof *build->space);
    int64_t *least = alloc(build, (count + 1) * sizeof *least), *most = alloc(build, (count + 1) * sizeof *most);
    if (!build->space || !least || !most) return rsc_fail_memory(build->error, "loop nest");
    for (uint32_t i = 0; i < count; i++) {
        build->space[i] = i;
        least[i] = INT64_MAX;
        most[i] = INT64_MIN;
    }
    for (uint32_t n = 0; n < region->node_count; n++) {
        const struct rsc_loop_node *node = region->node[n];
        if (node->kind != RSC_NODE_REFERENCE || node->never) continue;
        int64_t base = (int64_t)program->array[node->array].base;
        int64_t low = rsc_floor_divide(base + node->least, line);
        int64_t high = rsc_floor_divide(base + node->most + node->size_bytes - 1, line);
        if (low < least[node->array]) least[node->array] = low;
        if (high > most[node->array]) most[node->array] = high;
    }
    for (uint32_t i = 0; i < count; i++)
        for (uint32_t j = 0; j < i; j++) {
            if (program->array[i].is_private || program->array[j].is_private) continue;
            if (least[i] > most[j] || least[j] > most[i]) continue;
            uint32_t from = build->space[i], to = build->space[j];
            for (uint32_t k = 0; k <= i; k++)
                if (build->space[k] == from) build->space[k] = to;
        }
    build->nest->space_count = count;
    return 0;
}

/* Upper bound on the number of references. */
static double most_references(const struct rsc_nest_node *node) {
    double sum = node->kind == RSC_NODE_REFERENCE;
    for (uint32_t i = 0; i < node->child_count; i++) sum += most_references(node->child[i]);
    if (node->kind != RSC_NODE_LOOP) return sum;
    double step = node->step < 0 ? -(double)node->step : (double)node->step;
    return sum * (((double)node->most - (double)node->least) / step + 1);
}

int rsc_nest_new(struct rsc_nest **out, const struct rsc_loop_program *program, uint32_t region, uint32_t only,
                 uint64_t line_bytes, struct rsc_error *error) {
    struct rsc_nest *nest = calloc(1, sizeof *nest);
    if (!nest) return rsc_fail_memory(error, "loop nest");
    pthread_mutexattr_t again;
    pthread_mutexattr_init(&again);
    pthread_mutexattr_settype(&again, PTHREAD_MUTEX_RECURSIVE);
    pthread_mutex_init(&nest->lock, &again);
    pthread_mutexattr_destroy(&again);
    rsc_arena_init(&nest->arena);
    nest->program = program;
    nest->region = &program->region[region];
    struct build build = {.nest = nest, .only = only, .line_bytes = line_bytes, .error = error};
    nest->reference = alloc(&build, (nest->region->reference_count + 1) * sizeof *nest->reference);
    int status = nest->reference ? find_spaces(&build) : rsc_fail_memory(error, "loop nest");
    if (status >= 0 && !nest->region->root->never) status = make_node(&build, &nest->root, NULL, nest->region->root);
    if (status >= 0 && nest->root) {
        status = gather_plain(&build, nest->root);
        if (status >= 0 && most_references(nest->root) > 4e18)
            status = rsc_fail(error, RSC_ELIMIT, "%s: up to %.2g references are too many to number", nest->region->name,
                              most_references(nest->root));
        if (status >= 0 && only != UINT32_MAX) rsc_nest_simplify_alone(nest);
        if (status >= 0) find_depths(nest, nest->root);
        for (uint32_t i = 0; i < nest->reference_count && status >= 0 && only == UINT32_MAX; i++) /* for searches */
            status = find_path(nest->reference[i], error);
        if (status >= 0 && nest->status >= 0) status = unroll(&build, nest->root);
        if (status >= 0 && nest->status < 0)
            status = nest->status == RSC_ENOMEM
                         ? rsc_fail_memory(error, "loop nest")
                         : rsc_fail(error, RSC_ELIMIT,
                                    "%s: uneven loops of more than %u iterations, or of more than 1 GiB of counts, are "
                                    "not analysed: smaller sizes (-D, --set) may show the same",
                                    nest->region->name, RSC_NEST_SUMS_MAX);
    }
    if (status < 0) {
        rsc_nest_free(nest);
        return status;
    }
    *out = nest;
    return 0;
}
