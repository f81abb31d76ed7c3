/* last_touch.c - see last_touch.h; lexmax.c chooses the variables. */
#include "loops/search/last_touch.h"

#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "loops/search/lexmax.h"

int rsc_covers(const struct rsc_nest_node *a, const struct rsc_nest_node *b) {
    if (a->space != b->space || a->address.constant != b->address.constant || a->address.count != b->address.count ||
        a->size_bytes < b->size_bytes || a->path_length > b->path_length || a->check_count > b->check_count)
        return 0;
    for (uint32_t i = 0; i < a->address.count; i++)
        if (a->address.depth[i] != b->address.depth[i] || a->address.coefficient[i] != b->address.coefficient[i])
            return 0;
    for (uint32_t d = 0; d < a->path_length; d++)
        if (a->path[d] != b->path[d]) return 0;
    for (uint32_t i = 0; i < a->check_count; i++) {
        uint32_t j = 0;
        while (j < b->check_count && a->check[i] != b->check[j]) j++;
        if (j == b->check_count) return 0;
    }
    return 1;
}

int rsc_stands_for(const struct rsc_search *search, uint32_t by, const struct rsc_nest_node *reference,
                   const struct rsc_target *target) {
    return by != UINT32_MAX && rsc_can_touch(search->nest->reference[by], target) &&
           search->alike[by] == search->alike[reference->reference];
}

/* How many iterations back, from `least` on, an address that moves by `stride` in each is in low..high; -1: never. */
static int64_t iterations_back(int64_t address, int64_t stride, int64_t low, int64_t high, int64_t least) {
    if (stride < 0) { /* seen from the other end */
        stride = -stride;
        address = low + high - address;
    }
    address -= stride * least;
    if (address <= high) return address >= low ? least : -1;
    if (!stride) return -1;
    int64_t more = (address - high - 1) / stride + 1;
    return address - stride * more >= low ? least + more : -1;
}

static int may_touch(const struct rsc_search *search, const struct rsc_nest_node *node,
                     const struct rsc_target *target) {
    return rsc_can_touch(node, target) &&
           (!target->which || (target->which == RSC_TARGET_ALIKE) == search->alike[node->reference]);
}

/*
 * Where the loop has more inside than references: looks at the references just before place `at`, which is that of
 * child number `child`, in this iteration.
 */
static int64_t look_at_neighbours(const struct rsc_search *search, const struct rsc_nest_node *body, int64_t child,
                                  const int64_t *place, const struct rsc_target *target, int64_t at, int64_t floor) {
    for (; child >= 0 && body->child[child]->kind == RSC_NODE_REFERENCE; child--, at--) {
        if (at <= floor) return -1;
        if (!may_touch(search, body->child[child], target)) continue;
        int64_t address = rsc_nest_affine_at(&body->child[child]->address, place);
        if (address >= rsc_target_low(target, body->child[child]) && address <= target->high) return at;
    }
    return at <= floor ? -1 : -3;
}

/*
 * Looks at the references at and before place `at` within the iterations of the innermost loop. Returns the place of
 * the last one that touches the target; -1: there is none after `floor`; -2: there is none in the loop so far; -3:
 * unknown.
 */
static int64_t look_back(const struct rsc_search *search, const struct rsc_nest_node *leaf,
                         const struct rsc_nest_node *top, const int64_t *place, const struct rsc_target *target,
                         int64_t at, int64_t floor) {
    const struct rsc_nest_node *body = leaf->parent;
    int64_t left = 0, best = -1, count = body->child_count, first, child = 0;
    int loops = body != top && body->kind == RSC_NODE_LOOP, others = 0;
    for (int64_t i = 0; i < count; i++) {
        others |= body->child[i]->kind != RSC_NODE_REFERENCE;
        if (body->child[i] == leaf) child = i;
    }
    if (others) return look_at_neighbours(search, body, child, place, target, at, floor);
    if (loops) { /* iterations before this one */
        rsc_nest_trip(body, place, &first);
        left = (place[body->depth] - first) / body->step;
    }
    for (int64_t i = 0; i < count; i++) {
        const struct rsc_nest_node *node = body->child[i];
        int64_t stride = 0, least = i > child;
        if (least > left || !may_touch(search, node, target)) continue;
        for (uint32_t k = 0; left && k < node->address.count; k++)
            if (node->address.depth[k] == body->depth) stride = node->address.coefficient[k] * body->step;
        int64_t back = iterations_back(rsc_nest_affine_at(&node->address, place), stride, rsc_target_low(target, node),
                                       target->high, least);
        if (back < 0 || back > left) continue;
        int64_t found = at - (child - i) - back * count;
        if (found > best) best = found;
    }
    if (best > floor) return best;
    return best >= 0 || at - child - left * count <= floor + 1 ? -1 : -2;
}

int64_t rsc_last_touch(struct rsc_search *search, uint32_t segment, uint32_t thread, const struct rsc_target *target,
                       int64_t at, int64_t floor) {
    struct rsc_nest *nest = search->nest;
    const struct rsc_view *view = rsc_plan_view(search->plan, segment);
    if (!view) return -1;
    int64_t length = rsc_view_length(view, thread);
    if (at >= length) at = length - 1;
    if (at <= floor || at < 0) return -1;
    search->searches++;
    const struct rsc_nest_item *item = view->item;
    uint32_t base = item->node->depth, inner = base;
    const struct rsc_nest_node *top = item->node;
    int64_t place[RSC_LOOP_DEPTH_MAX] = {0}, began[RSC_LOOP_DEPTH_MAX], rest,
            m = rsc_view_find(view, thread, at, &rest);
    rsc_plan_values(search->plan, segment, place);
    if (view->who == RSC_RUN_SHARED) {
        rsc_nest_group_values(item, place, rsc_view_iteration(view, thread, m));
        inner = base + item->group;
        top = item->inner;
        began[base] = rest;
    }
    const struct rsc_nest_node *leaf = rsc_nest_unrank_body(nest, top, rest, place, began);
    if (!leaf) return -1;
    int64_t near = look_back(search, leaf, top, place, target, at, floor);
    if (near > -2) return near;
    const struct rsc_nest_node *done = near == -2 ? leaf->parent : NULL; /* nothing in its iterations so far */
    search->view = view;
    search->thread = thread;
    int64_t best = floor;
    uint32_t index = segment == UINT32_MAX ? 0 : nest->segment[segment].item;
    for (uint32_t i = search->item_first[index]; i < search->item_first[index + 1]; i++) {
        const struct rsc_nest_node *reference = nest->reference[search->by_item[i]];
        if (!rsc_can_touch(reference, target)) continue;
        if (target->which && (target->which == RSC_TARGET_ALIKE) != search->alike[reference->reference]) continue;
        uint32_t after = search->after[reference->reference];
        if (rsc_stands_for(search, after, reference, target) &&
            (nest->reference[after]->id <= leaf->id || reference->id > leaf->id))
            continue; /* it comes later in each iteration, and in this one if this does */
        rsc_lexmax_aim(search, reference, target);
        uint32_t common = inner;
        while (common < reference->path_length && common < leaf->path_length &&
               reference->path[common] == leaf->path[common])
            common++;
        int found = 0;
        search->m = m;
        search->limit_depth = UINT32_MAX;
        if (reference->parent == done) common -= done->kind == RSC_NODE_LOOP && common > inner;
        else if (reference->id <= leaf->id) found = rsc_lexmax_solve(search, place, common);
        for (uint32_t d = common; !found && d-- > inner;) {
            if (at - began[d] - 1 <= best) break;
            int64_t first;
            rsc_nest_trip(reference->path[d], place, &first);
            search->limit_depth = d;
            search->limit = (place[d] - first) / reference->path[d]->step - 1;
            if (search->limit >= 0) found = rsc_lexmax_solve(search, place, d);
        }
        if (!found && inner > base && m > 0 && at - began[base] - 1 > best) {
            search->limit_depth = base;
            search->limit = m - 1;
            found = rsc_lexmax_solve(search, place, base);
        }
        if (!found) continue;
        int64_t touched = rsc_view_before(view, thread, search->m) + rsc_nest_rank(nest, top, reference, search->value);
        if (touched > best) best = touched;
        if (best == at) break;
    }
    return best > floor ? best : -1;
}

int64_t rsc_find_segment(struct rsc_search *search, uint32_t index, const int64_t *value) {
    const struct rsc_nest *nest = search->nest;
    const struct rsc_nest_node *node = nest->item[index].node;
    const struct rsc_nest_node *outer[RSC_LOOP_DEPTH_MAX];
    for (const struct rsc_nest_node *at = node->parent; at; at = at->parent)
        if (at->kind == RSC_NODE_LOOP) outer[at->depth] = at;
    uint32_t low = search->segment_first[index], high = search->segment_first[index + 1], next = search->found + 1;
    int first = next >= low && next < high; /* whoever goes through segments in order looks at the next one */
    while (low < high) {
        uint32_t middle = first ? next : low + (high - low) / 2;
        first = 0;
        const int64_t *have = nest->segment_values + nest->segment[search->segments[middle]].values;
        int order = 0; /* of have against value */
        for (uint32_t d = 0; d < node->depth && !order; d++)
            if (have[d] != value[d]) order = (have[d] < value[d]) == (outer[d]->step > 0) ? -1 : 1;
        if (!order) return search->segments[search->found = middle];
        if (order < 0) low = middle + 1;
        else high = middle;
    }
    return -1;
}

int64_t rsc_last_segment(struct rsc_search *search, uint32_t segment, const struct rsc_target *target) {
    struct rsc_nest *nest = search->nest;
    int64_t place[RSC_LOOP_DEPTH_MAX] = {0}, best = -1;
    rsc_plan_values(search->plan, segment, place);
    const struct rsc_nest_node *here = nest->item[nest->segment[segment].item].node;
    const struct rsc_nest_node *outer[RSC_LOOP_DEPTH_MAX] = {0};
    for (const struct rsc_nest_node *at = here->parent; at; at = at->parent)
        if (at->kind == RSC_NODE_LOOP) outer[at->depth] = at;
    search->searches++;
    search->view = NULL;
    for (uint32_t index = 0; index < nest->item_count; index++)
        for (uint32_t i = search->item_first[index]; i < search->item_first[index + 1]; i++) {
            const struct rsc_nest_node *reference = nest->reference[search->by_item[i]];
            if (!rsc_can_touch(reference, target)) continue;
            rsc_lexmax_aim(search, reference, target);
            uint32_t common = 0, depth = nest->item[index].node->depth;
            while (common < here->depth && common < depth && outer[common] == reference->path[common]) common++;
            int found = 0;
            search->limit_depth = UINT32_MAX;
            if (nest->item[index].node->id < here->id) found = rsc_lexmax_solve(search, place, common);
            for (uint32_t d = common; !found && d-- > 0;) {
                int64_t first;
                rsc_nest_trip(reference->path[d], place, &first);
                search->limit_depth = d;
                search->limit = (place[d] - first) / reference->path[d]->step - 1;
                if (search->limit >= 0) found = rsc_lexmax_solve(search, place, d);
            }
            if (!found) continue;
            int64_t where = rsc_find_segment(search, index, search->value);
            if (where > best) best = where;
        }
    return best;
}

int rsc_ever_touches(struct rsc_search *search, const struct rsc_nest_node *reference,
                     const struct rsc_target *target) {
    int64_t place[RSC_LOOP_DEPTH_MAX] = {0};
    if (!rsc_can_touch(reference, target)) return 0;
    rsc_lexmax_aim(search, reference, target);
    search->view = NULL;
    search->limit_depth = UINT32_MAX;
    search->any = 1;
    int touches = rsc_lexmax_solve(search, place, 0);
    search->any = 0;
    return touches;
}

int rsc_touching_iterations(struct rsc_search *search, uint32_t segment, const struct rsc_nest_node *reference,
                            const struct rsc_target *target, int64_t *low, int64_t *high) {
    const struct rsc_nest_item *item = &search->nest->item[search->nest->segment[segment].item];
    uint32_t depth = item->node->depth;
    if (!rsc_can_touch(reference, target)) return 0;
    rsc_lexmax_aim(search, reference, target);
    search->pinned = 0;
    int64_t place[RSC_LOOP_DEPTH_MAX] = {0};
    rsc_plan_values(search->plan, segment, place);
    for (uint32_t d = 0; d < depth; d++) search->value[d] = search->from[d] = search->to[d] = place[d];
    if (!rsc_lexmax_narrow_group(search, item, low, high)) return 0;
    int depends = 0;
    for (uint32_t g = 0; g < item->group; g++) depends |= search->coefficient[depth + g] != 0;
    if (item->group == 1 && !depends && reference->inner_depths[depth] >> depth & 1) {
        /* Inner bounds move with the loop: drop halves without possible values, from either end. */
        int64_t first, from = *low, to = *high;
        rsc_nest_trip(item->node, search->value, &first);
        for (int end = 0; end < 2; end++)
            for (int64_t width = (to - from + 1) / 2; width > 0 && from < to; width /= 2) {
                int64_t a = first + (end ? to - width + 1 : from) * item->node->step;
                int64_t b = first + (end ? to : from + width - 1) * item->node->step;
                search->from[depth] = a < b ? a : b;
                search->to[depth] = a < b ? b : a;
                if (rsc_lexmax_possible(search, depth + 1)) continue;
                if (end) to -= width;
                else from += width;
            }
        *low = from;
        *high = to;
    }
    return depends ? 1 : 2;
}

/* The reference does not change with the iteration, and all iterations have equally many references. */
static int is_alike(const struct rsc_nest_item *item, const struct rsc_nest_node *reference) {
    if (item->who != RSC_RUN_SHARED) return item->who == RSC_RUN_BY_ALL;
    if (rsc_nest_group_uneven(item)) return 0;
    uint32_t moving = ((1u << item->group) - 1) << item->node->depth;
    for (uint32_t d = item->node->depth + item->group; d < reference->path_length; d++)
        if (reference->path[d]->bound_depths & moving) return 0;
    for (uint32_t i = 0; i < reference->check_count; i++)
        if (reference->check[i]->value.depths & moving) return 0;
    return !(reference->address.depths & moving);
}

/* Fills before and after for the references of item number `item`, the last so far, of `count` so far. */
static void find_covering(struct rsc_search *search, uint32_t item, uint32_t count) {
    struct rsc_nest_node **reference = search->nest->reference;
    for (uint32_t i = search->item_first[item]; i < count; i++) {
        uint32_t r = search->by_item[i];
        search->before[r] = search->after[r] = UINT32_MAX;
        for (uint32_t k = search->item_first[item]; k < count; k++) {
            uint32_t other = search->by_item[k];
            if (other == r || reference[other]->path_length != reference[r]->path_length ||
                !rsc_covers(reference[other], reference[r]))
                continue;
            if (reference[other]->id > reference[r]->id) search->after[r] = other;
            else if (search->before[r] == UINT32_MAX) search->before[r] = other;
        }
    }
}

int rsc_search_new(struct rsc_search **out, struct rsc_plan *plan, struct rsc_error *error) {
    struct rsc_nest *nest = plan->nest;
    struct rsc_search *search = calloc(1, sizeof *search);
    if (!search) return rsc_fail_memory(error, "search");
    search->plan = plan;
    search->nest = nest;
    search->by_item = calloc(nest->reference_count + 1, sizeof *search->by_item);
    search->item_first = calloc(nest->item_count + 2, sizeof *search->item_first);
    search->alike = calloc(nest->reference_count + 1, sizeof *search->alike);
    search->before = calloc(nest->reference_count + (size_t)1, sizeof *search->before);
    search->after = calloc(nest->reference_count + (size_t)1, sizeof *search->after);
    search->segments = calloc(nest->segment_count + 1, sizeof *search->segments);
    search->segment_first = calloc(nest->item_count + 2, sizeof *search->segment_first);
    if (!search->by_item || !search->item_first || !search->alike || !search->before || !search->after ||
        !search->segments || !search->segment_first) {
        rsc_search_free(search);
        return rsc_fail_memory(error, "search");
    }
    uint32_t count = 0;
    for (uint32_t i = 0; i < nest->item_count; i++) {
        search->item_first[i] = count;
        for (uint32_t r = 0; r < nest->reference_count; r++) {
            const struct rsc_nest_node *node = nest->reference[r];
            while (node && node != nest->item[i].node) node = node->parent;
            if (!node) continue;
            search->alike[r] = (uint8_t)is_alike(&nest->item[i], nest->reference[r]);
            search->by_item[count++] = r;
        }
        find_covering(search, i, count);
    }
    search->item_first[nest->item_count] = count;
    for (uint32_t s = 0; s < nest->segment_count; s++) search->segment_first[nest->segment[s].item + 1]++;
    for (uint32_t i = 0; i < nest->item_count; i++) search->segment_first[i + 1] += search->segment_first[i];
    for (uint32_t s = nest->segment_count; s--;) {
        uint32_t item = nest->segment[s].item;
        search->segments[--search->segment_first[item + 1]] = s;
    }
    /* Filling moved each start to the next one's start: shift back. */
    for (uint32_t i = 0; i < nest->item_count; i++) search->segment_first[i] = search->segment_first[i + 1];
    search->segment_first[nest->item_count] = nest->segment_count;
    *out = search;
    return 0;
}

void rsc_search_free(struct rsc_search *search) {
    if (!search) return;
    free(search->by_item);
    free(search->item_first);
    free(search->alike);
    free(search->before);
    free(search->after);
    free(search->segments);
    free(search->segment_first);
    free(search);
}
