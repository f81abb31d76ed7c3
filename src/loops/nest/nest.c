/*
 * nest.c - counts, places and references of a nest; see nest.h.
 *
 * value[] holds the variables by depth; a function may change those of the loops
 * inside its node, never those around it.
 */
#include "loops/nest/nest.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* What rsc_nest_unrank_body() finds, of a whole run of `node`. */
static const struct rsc_nest_node *unrank(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t at,
                                          int64_t *value, int64_t *began);

#define SUMS_LISTS 65536u
#define SUMS_BYTES_MAX (UINT64_C(512) << 20) /* past this, rsc_nest_trim() drops running sums */

static int64_t term_at(const struct rsc_nest_term *term, const int64_t *value) {
    int64_t sum = rsc_nest_affine_at(&term->value, value);
    if (term->rounding == RSC_ROUND_NONE) return sum;
    return term->rounding == RSC_ROUND_FLOOR ? rsc_floor_divide(sum, term->divisor)
                                             : rsc_ceil_divide(sum, term->divisor);
}

int64_t rsc_nest_trip(const struct rsc_nest_node *loop, const int64_t *value, int64_t *first) {
    if (loop->fixed) {
        *first = loop->fixed_first;
        return loop->fixed_trip;
    }
    int up = loop->step > 0;
    int64_t from = term_at(&loop->first[0], value), to = term_at(&loop->last[0], value);
    for (uint32_t i = 1; i < loop->first_count; i++) {
        int64_t at = term_at(&loop->first[i], value);
        if (up ? at > from : at < from) from = at;
    }
    for (uint32_t i = 1; i < loop->last_count; i++) {
        int64_t at = term_at(&loop->last[i], value);
        if (up ? at < to : at > to) to = at;
    }
    *first = from;
    if (loop->step == 1) return to < from ? 0 : to - from + 1;
    if (up) return to < from ? 0 : (to - from) / loop->step + 1;
    return to > from ? 0 : (from - to) / -loop->step + 1;
}

int rsc_nest_condition_holds(const struct rsc_nest_condition *condition, const int64_t *value) {
    int64_t sum = rsc_nest_affine_at(&condition->value, value);
    switch (condition->kind) {
    case RSC_WHEN_AT_LEAST: return sum >= 0;
    case RSC_WHEN_ZERO: return sum == 0;
    case RSC_WHEN_NOT_ZERO: return sum != 0;
    case RSC_WHEN_DIVISIBLE: return sum % condition->modulus == 0;
    case RSC_WHEN_INDIVISIBLE: return sum % condition->modulus != 0;
    }
    return 0;
}

int rsc_nest_guard_holds(const struct rsc_nest_node *guard, const int64_t *value) {
    for (uint32_t i = 0; i < guard->condition_count; i++)
        if (!rsc_nest_condition_holds(&guard->condition[i], value)) return 0;
    return 1;
}

int64_t rsc_nest_body(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t *value) {
    int64_t sum = node->body_fixed;
    for (uint32_t i = 0; i < node->varying_count; i++) sum += rsc_nest_count(nest, node->varying[i], value);
    return sum;
}

int64_t rsc_nest_count(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t *value) {
    if (node->empty) return 0;
    switch (node->kind) {
    case RSC_NODE_REFERENCE: return (int64_t)node->weight;
    case RSC_NODE_BARRIER: return 0;
    case RSC_NODE_GUARD: return rsc_nest_guard_holds(node, value) ? rsc_nest_body(nest, node, value) : 0;
    case RSC_NODE_LOOP: break;
    default: return rsc_nest_body(nest, node, value);
    }
    int64_t first, trip = rsc_nest_trip(node, value, &first);
    if (trip <= 0) return 0;
    if (!(node->body_depths >> node->depth & 1)) return trip * rsc_nest_body(nest, node, value);
    const int64_t *sum = rsc_nest_sums(nest, node, value, first, trip);
    return sum ? sum[trip] - sum[0] : 0;
}

/* ---- running sums ---- */

static void drop_sums(struct rsc_nest *nest) {
    _Atomic(struct rsc_nest_sums *) *list = nest->sums;
    for (uint32_t i = 0; list && i < SUMS_LISTS; i++) {
        for (struct rsc_nest_sums *sums = list[i], *next; sums; sums = next) {
            next = sums->next;
            free(sums);
        }
        atomic_init(&list[i], NULL);
    }
    nest->sums_bytes = 0;
}

static void forget_recent(struct rsc_nest_node *node) {
    for (uint32_t i = 0; i < RSC_NEST_RECENT; i++) node->recent[i] = NULL;
    for (uint32_t i = 0; i < node->child_count; i++) forget_recent(node->child[i]);
}

void rsc_nest_trim(struct rsc_nest *nest) {
    if (nest->sums_bytes <= SUMS_BYTES_MAX) return;
    drop_sums(nest);
    forget_recent(nest->root);
}

void rsc_nest_free(struct rsc_nest *nest) {
    if (!nest) return;
    drop_sums(nest);
    free(nest->sums);
    free(nest->item);
    free(nest->segment);
    free(nest->segment_values);
    free(nest->phase);
    rsc_arena_free(&nest->arena);
    pthread_mutex_destroy(&nest->lock);
    free(nest);
}

/* Those of `node` under `values` that have room for `wanted` iterations; NULL: none; *shorter: the longest of the others. */
static struct rsc_nest_sums *look_up(struct rsc_nest_sums *sums, uint64_t key, const void *node, const int64_t *values,
                                     int64_t wanted, struct rsc_nest_sums **shorter) {
    *shorter = NULL;
    for (; sums; sums = sums->next)
        if (sums->key == key && sums->node == node && !memcmp(sums->values, values, sizeof sums->values)) {
            if (sums->room >= wanted) return sums;
            *shorter = sums; /* the longest of them: it came last */
            return NULL;
        }
    return NULL;
}

/* The list that `key` is in; NULL: out of memory. */
static _Atomic(struct rsc_nest_sums *) *list_of(struct rsc_nest *nest, uint64_t key) {
    _Atomic(struct rsc_nest_sums *) *list = atomic_load_explicit(&nest->sums, memory_order_acquire);
    if (!list) {
        pthread_mutex_lock(&nest->lock);
        list = nest->sums;
        if (!list) {
            list = calloc(SUMS_LISTS, sizeof *list);
            nest->sums = list;
        }
        pthread_mutex_unlock(&nest->lock);
    }
    return list ? &list[key % SUMS_LISTS] : NULL;
}

/* With the lock. Where longer ones are wanted, the shorter ones stay, as somebody may point to them. */
static struct rsc_nest_sums *add_sums(struct rsc_nest *nest, _Atomic(struct rsc_nest_sums *) *list, uint64_t key,
                                      const void *node, const int64_t *values, int64_t wanted) {
    struct rsc_nest_sums *shorter, *sums = look_up(*list, key, node, values, wanted, &shorter);
    if (sums) return sums; /* somebody was faster */
    int64_t room = shorter && 2 * shorter->room > wanted ? 2 * shorter->room : wanted;
    size_t bytes = sizeof(struct rsc_nest_sums) + (size_t)(room + 1) * sizeof(int64_t);
    if (wanted > (int64_t)RSC_NEST_SUMS_MAX || nest->sums_bytes + bytes > RSC_NEST_SUMS_BYTES_MAX) {
        nest->status = RSC_ELIMIT;
        return NULL;
    }
    if (!(sums = malloc(bytes))) {
        nest->status = RSC_ENOMEM;
        return NULL;
    }
    *sums = (struct rsc_nest_sums){.key = key, .node = node, .room = room, .next = *list};
    memcpy(sums->values, values, sizeof sums->values);
    sums->sum[0] = 0;
    if (shorter) {
        int64_t length = shorter->length;
        memcpy(sums->sum, shorter->sum, (size_t)(length + 1) * sizeof *sums->sum);
        sums->length = length;
    }
    nest->sums_bytes += bytes;
    atomic_store_explicit(list, sums, memory_order_release);
    return sums;
}

/*
 * The running sums of `node` under `values`, with room for `wanted` iterations; those from `length` on must be added up,
 * with the lock. Each that is made for more iterations has twice the room of the last.
 */
static struct rsc_nest_sums *find_sums(struct rsc_nest *nest, const void *node,
                                       const int64_t values[RSC_LOOP_DEPTH_MAX], int64_t wanted) {
    uint64_t key = (uintptr_t)node >> 4;
    for (uint32_t d = 0; d < RSC_LOOP_DEPTH_MAX; d++) {
        if (!values[d]) continue;
        key = (key ^ (uint64_t)values[d] ^ (uint64_t)d << 58) * 0x9E3779B97F4A7C15ull;
        key ^= key >> 29;
    }
    _Atomic(struct rsc_nest_sums *) *list = list_of(nest, key);
    if (!list) {
        nest->status = RSC_ENOMEM;
        return NULL;
    }
    struct rsc_nest_sums *shorter, *sums = atomic_load_explicit(list, memory_order_acquire);
    sums = look_up(sums, key, node, values, wanted, &shorter);
    if (sums) return sums;
    pthread_mutex_lock(&nest->lock);
    sums = add_sums(nest, list, key, node, values, wanted);
    pthread_mutex_unlock(&nest->lock);
    return sums;
}

static int has_length(struct rsc_nest_sums *sums, int64_t length) {
    return atomic_load_explicit(&sums->length, memory_order_acquire) >= length;
}

/* What sums there are stays right after a count failed, but no more are made: counts get no larger from then on. */
static int may_sum(struct rsc_nest *nest) { return nest->status >= 0 && !rsc_nest_stopped(nest); }

/* Running sums by value: index 0 is the first possible value in the loop's direction. */
static void sum_by_value(struct rsc_nest *nest, const struct rsc_nest_node *loop, int64_t *value, int64_t *sum) {
    int64_t kept = value[loop->depth], length = loop->most - loop->least + 1;
    sum[0] = 0;
    for (int64_t k = 0; k < length && may_sum(nest); k++) {
        value[loop->depth] = loop->step > 0 ? loop->least + k : loop->most - k;
        sum[k + 1] = sum[k] + rsc_nest_body(nest, loop, value);
    }
    value[loop->depth] = kept;
}

/* NULL: nest->status has the reason. */
static const int64_t *value_sums(struct rsc_nest *nest, struct rsc_nest_node *loop, int64_t *value) {
    int64_t *sum = atomic_load_explicit(&loop->sums, memory_order_acquire), length = (loop->most - loop->least) + 1;
    if (sum) return sum;
    pthread_mutex_lock(&nest->lock);
    if (!loop->sums && nest->status >= 0) {
        if (length > (int64_t)RSC_NEST_SUMS_MAX) nest->status = RSC_ELIMIT;
        else if (!(sum = rsc_arena_alloc(&nest->arena, (size_t)(length + 1) * sizeof *sum))) nest->status = RSC_ENOMEM;
        else sum_by_value(nest, loop, value, sum);
        if (nest->status >= 0) atomic_store_explicit(&loop->sums, sum, memory_order_release);
    }
    sum = loop->sums;
    pthread_mutex_unlock(&nest->lock);
    return sum;
}

/* The same where outer variables matter by remainders only. */
static const int64_t *residue_sums(struct rsc_nest *nest, struct rsc_nest_node *loop, int64_t *value) {
    int64_t values[RSC_LOOP_DEPTH_MAX] = {0}, length = loop->most - loop->least + 1;
    for (uint32_t i = 0; i < loop->residue_count; i++) {
        const struct rsc_nest_affine *affine = &loop->residue[i]->value;
        int64_t modulus = loop->residue[i]->modulus, rest = 0;
        for (uint32_t t = 0; t < affine->count; t++)
            if (loop->outer >> affine->depth[t] & 1) rest += affine->coefficient[t] * value[affine->depth[t]];
        rest %= modulus;
        values[i] = rest < 0 ? rest + modulus : rest;
    }
    _Atomic(struct rsc_nest_sums *) *recent =
        &loop->recent[(values[0] + 2 * values[1] + 4 * values[2]) % RSC_NEST_RECENT];
    struct rsc_nest_sums *sums = atomic_load_explicit(recent, memory_order_acquire);
    if (!sums || memcmp(sums->values, values, sizeof values)) {
        sums = find_sums(nest, loop, values, length);
        atomic_store_explicit(recent, sums, memory_order_release);
    }
    if (sums && !has_length(sums, length)) {
        pthread_mutex_lock(&nest->lock);
        if (sums->length < length && nest->status >= 0) {
            sum_by_value(nest, loop, value, sums->sum);
            if (nest->status >= 0) atomic_store_explicit(&sums->length, length, memory_order_release);
        }
        pthread_mutex_unlock(&nest->lock);
    }
    return sums && has_length(sums, length) ? sums->sum : NULL;
}

/* The variables in `depths`, as a key of sums. */
static void take_values(int64_t *values, uint32_t depths, const int64_t *value) {
    for (uint32_t d = 0; depths >> d; d++)
        if (depths >> d & 1) values[d] = value[d];
}

const int64_t *rsc_nest_sums(struct rsc_nest *nest, const struct rsc_nest_node *loop, int64_t *value, int64_t first,
                             int64_t trip) {
    uint32_t others = loop->body_depths & ~(1u << loop->depth);
    int by_value = !others && (loop->step == 1 || loop->step == -1);
    if (by_value || loop->residue_count) {
        struct rsc_nest_node *keeps = (struct rsc_nest_node *)loop;
        const int64_t *sum = by_value ? value_sums(nest, keeps, value) : residue_sums(nest, keeps, value);
        return sum ? sum + (loop->step > 0 ? first - loop->least : loop->most - first) : NULL;
    }
    /* Of the outer variables that decide the bounds only where it starts matters: sums go on where shorter ones end. */
    int64_t values[RSC_LOOP_DEPTH_MAX] = {0};
    if (loop->shift) rsc_nest_shift_values(loop, value, first, values);
    else {
        take_values(values, others, value);
        values[loop->depth] = first;
    }
    struct rsc_nest_sums *sums = find_sums(nest, loop, values, trip);
    if (!sums) return NULL;
    if (!has_length(sums, trip)) {
        int64_t kept = value[loop->depth];
        pthread_mutex_lock(&nest->lock);
        for (int64_t k = sums->length; k < trip && may_sum(nest);) {
            value[loop->depth] = first + k * loop->step;
            sums->sum[k + 1] = sums->sum[k] + rsc_nest_body(nest, loop, value);
            k++;
            if (nest->status >= 0) atomic_store_explicit(&sums->length, k, memory_order_release);
        }
        pthread_mutex_unlock(&nest->lock);
        value[loop->depth] = kept;
    }
    return has_length(sums, trip) ? sums->sum : NULL;
}

/* ---- groups of shared loops ---- */

static const struct rsc_nest_node *group_loop(const struct rsc_nest_item *item, uint32_t g) {
    const struct rsc_nest_node *loop = item->node;
    while (g--) loop = loop->child[0];
    return loop;
}

int64_t rsc_nest_group_trip(const struct rsc_nest_item *item, int64_t *value) {
    int64_t trip = 1, first;
    if (item->starts) return item->starts[item->start_count];
    for (uint32_t g = 0; g < item->group; g++) trip *= rsc_nest_trip(group_loop(item, g), value, &first);
    return trip;
}

void rsc_nest_group_values(const struct rsc_nest_item *item, int64_t *value, int64_t iteration) {
    int64_t first;
    if (item->group == 1) {
        rsc_nest_trip(item->node, value, &first);
        value[item->node->depth] = first + iteration * item->node->step;
        return;
    }
    if (item->starts) {
        int64_t i = RSC_SEARCH(1, item->start_count + 1, at, item->starts[at] <= iteration) - 1;
        rsc_nest_trip(item->node, value, &first);
        value[item->node->depth] = first + i * item->node->step;
        rsc_nest_trip(item->inner, value, &first);
        value[item->inner->depth] = first + (iteration - item->starts[i]) * item->inner->step;
        return;
    }
    for (uint32_t g = item->group; g--;) {
        const struct rsc_nest_node *loop = group_loop(item, g);
        int64_t trip = rsc_nest_trip(loop, value, &first);
        value[loop->depth] = first + (trip ? iteration % trip : 0) * loop->step;
        iteration = trip ? iteration / trip : 0;
    }
}

const int64_t *rsc_nest_group_sums(struct rsc_nest *nest, const struct rsc_nest_item *item, int64_t *value,
                                   int64_t trip) {
    if (item->group == 1) {
        int64_t first;
        rsc_nest_trip(item->node, value, &first);
        return rsc_nest_sums(nest, item->node, value, first, trip);
    }
    uint32_t depths = 0, own = 0;
    for (uint32_t g = 0; g < item->group; g++) {
        depths |= group_loop(item, g)->bound_depths;
        own |= 1u << (item->node->depth + g);
    }
    depths = (depths | item->inner->body_depths) & ~own;
    int64_t values[RSC_LOOP_DEPTH_MAX] = {0};
    take_values(values, depths, value);
    struct rsc_nest_sums *sums = find_sums(nest, item, values, trip);
    if (!sums) return NULL;
    if (!has_length(sums, trip)) {
        pthread_mutex_lock(&nest->lock);
        for (int64_t i = sums->length; i < trip && may_sum(nest);) {
            rsc_nest_group_values(item, value, i);
            sums->sum[i + 1] = sums->sum[i] + rsc_nest_body(nest, item->inner, value);
            i++;
            if (nest->status >= 0) atomic_store_explicit(&sums->length, i, memory_order_release);
        }
        pthread_mutex_unlock(&nest->lock);
    }
    return has_length(sums, trip) ? sums->sum : NULL;
}

/* ---- places ---- */

const struct rsc_nest_node *rsc_nest_unrank_body(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t at,
                                                 int64_t *value, int64_t *began) {
    for (uint32_t i = 0; i < node->child_count; i++) {
        const struct rsc_nest_node *child = node->child[i];
        int64_t count = rsc_nest_count(nest, child, value);
        if (at < count) return unrank(nest, child, at, value, began);
        at -= count;
    }
    return NULL;
}

int64_t rsc_nest_iteration_at(struct rsc_nest *nest, const struct rsc_nest_node *loop, int64_t *value, int64_t first,
                              int64_t trip, int64_t *at) {
    if (!(loop->body_depths >> loop->depth & 1)) {
        int64_t body = rsc_nest_body(nest, loop, value);
        if (body <= 0) return -1;
        int64_t k = *at / body;
        *at -= k * body;
        return k;
    }
    const int64_t *sum = rsc_nest_sums(nest, loop, value, first, trip);
    if (!sum) return -1;
    /* sum[low] <= *at < sum[low + 1], counted from sum[0] */
    int64_t low = RSC_SEARCH(1, trip, i, sum[i] - sum[0] <= *at) - 1;
    *at -= sum[low] - sum[0];
    assert(*at >= 0 && low < trip);
    return low;
}

static const struct rsc_nest_node *unrank(struct rsc_nest *nest, const struct rsc_nest_node *node, int64_t at,
                                          int64_t *value, int64_t *began) {
    if (node->kind == RSC_NODE_REFERENCE) return node;
    if (node->kind != RSC_NODE_LOOP) return rsc_nest_unrank_body(nest, node, at, value, began);
    int64_t first, trip = rsc_nest_trip(node, value, &first),
                   k = rsc_nest_iteration_at(nest, node, value, first, trip, &at);
    if (k < 0) return NULL;
    value[node->depth] = first + k * node->step;
    if (began) began[node->depth] = at;
    const struct rsc_nest_node *found = rsc_nest_unrank_body(nest, node, at, value, began);
    return found;
}

int64_t rsc_nest_rank(struct rsc_nest *nest, const struct rsc_nest_node *top, const struct rsc_nest_node *reference,
                      int64_t *value) {
    int64_t place = 0;
    for (const struct rsc_nest_node *node = reference; node != top; node = node->parent) {
        const struct rsc_nest_node *parent = node->parent;
        for (uint32_t i = 0; parent->child[i] != node; i++) place += rsc_nest_count(nest, parent->child[i], value);
        if (parent == top || parent->kind != RSC_NODE_LOOP) continue;
        int64_t first, trip = rsc_nest_trip(parent, value, &first);
        int64_t k = (value[parent->depth] - first) / parent->step;
        assert(k >= 0 && k < trip);
        if (!(parent->body_depths >> parent->depth & 1)) {
            place += k * rsc_nest_body(nest, parent, value);
        } else {
            int64_t kept = value[parent->depth];
            const int64_t *sum = rsc_nest_sums(nest, parent, value, first, trip);
            value[parent->depth] = kept;
            if (sum) place += sum[k] - sum[0];
        }
    }
    return place;
}
