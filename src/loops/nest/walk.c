/* walk.c - see walk.h. The walk has an explicit stack, so that it can stop anywhere. */
#include "loops/nest/walk.h"

#include <stdlib.h>

#include "base/fail.h"

int rsc_walk_new(struct rsc_walk **out, struct rsc_plan *plan, uint32_t thread, uint64_t line_bytes,
                 int64_t *handed_out, struct rsc_error *error) {
    struct rsc_walk *walk = calloc(1, sizeof *walk);
    /* A path passes each node at most once, and every node can have a synthetic body around it. */
    if (walk) walk->step = malloc((2 * (size_t)plan->nest->region->node_count + 8) * sizeof *walk->step);
    if (!walk || !walk->step) {
        rsc_walk_free(walk);
        return rsc_fail_memory(error, "walk through a nest");
    }
    walk->plan = plan;
    walk->thread = thread;
    walk->line_shift = (uint32_t)__builtin_ctzll(line_bytes);
    walk->handed_out = handed_out;
    *out = walk;
    return 0;
}

void rsc_walk_free(struct rsc_walk *walk) {
    if (!walk) return;
    free(walk->step);
    free(walk);
}

void rsc_walk_start(struct rsc_walk *walk, uint32_t phase) {
    const struct rsc_nest_phase *at = &walk->plan->nest->phase[phase];
    walk->phase = phase;
    walk->segment = at->first;
    walk->segment_end = at->first + at->count;
    walk->view = NULL;
    walk->depth = 0;
}

static void enter(struct rsc_walk *walk, const struct rsc_nest_node *node, int64_t left) {
    walk->step[walk->depth++] = (struct rsc_walk_step){.node = node, .left = left};
}

/* Descends below the node entered last, up to `at` references into one pass over its children. */
static void descend(struct rsc_walk *walk, int64_t at) {
    struct rsc_nest *nest = walk->plan->nest;
    for (;;) {
        struct rsc_walk_step *top = &walk->step[walk->depth - 1];
        int64_t count = 0;
        for (; top->child < top->node->child_count; at -= count, top->child++) {
            count = rsc_nest_count(nest, top->node->child[top->child], walk->value);
            if (at < count) break;
        }
        if (top->child == top->node->child_count || !at) return; /* at 0 the normal walk continues */
        const struct rsc_nest_node *node = top->node->child[top->child++];
        int64_t left = 0;
        if (node->kind == RSC_NODE_LOOP) {
            int64_t first, trip = rsc_nest_trip(node, walk->value, &first), k;
            k = rsc_nest_iteration_at(nest, node, walk->value, first, trip, &at);
            if (k < 0) return; /* nest->status has the reason */
            walk->value[node->depth] = first + k * node->step;
            left = trip - 1 - k;
        }
        enter(walk, node, left);
    }
}

void rsc_walk_seek(struct rsc_walk *walk, uint32_t phase, int64_t place) {
    struct rsc_nest *nest = walk->plan->nest;
    rsc_walk_start(walk, phase);
    while (walk->segment < walk->segment_end) {
        uint32_t segment = walk->segment++;
        const struct rsc_view *view = rsc_plan_view(walk->plan, segment);
        int64_t length = view ? rsc_view_length(view, walk->thread) : 0, rest = place;
        if (place >= length) {
            place -= length;
            continue;
        }
        const struct rsc_nest_item *item = &nest->item[nest->segment[segment].item];
        const struct rsc_nest_node *node = item->node;
        rsc_plan_values(walk->plan, segment, walk->value);
        if (item->who == RSC_RUN_SHARED) {
            walk->view = view;
            walk->view_segment = segment;
            walk->chunk_start = -1;
            walk->m = rsc_view_find(view, walk->thread, place, &rest);
            walk->m_end = rsc_view_iterations(view, walk->thread);
            rsc_nest_group_values(item, walk->value, rsc_view_iteration(view, walk->thread, walk->m++));
            node = item->inner;
        }
        enter(walk, node, 0);
        descend(walk, rest);
        return;
    }
}

/* Whether chunks of the segment are handed out as threads come for them. */
static int comes_for_chunks(struct rsc_walk *walk, const struct rsc_nest_item *item, int64_t *chunk,
                            enum rsc_schedule *schedule) {
    uint64_t size;
    rsc_plan_schedule(walk->plan, item, schedule, &size);
    *chunk = (int64_t)size;
    return walk->handed_out && *schedule != RSC_SCHEDULE_STATIC;
}

/* Takes the next chunk of a dynamic or guided loop. Returns 0 when there is none left. */
static int take_chunk(struct rsc_walk *walk) {
    enum rsc_schedule schedule;
    int64_t chunk, *given = &walk->handed_out[walk->view_segment], left = walk->view->trip - *given;
    comes_for_chunks(walk, walk->view->item, &chunk, &schedule);
    if (left <= 0) return 0;
    int64_t take = schedule == RSC_SCHEDULE_GUIDED ? rsc_guided_next(left, walk->view->threads, chunk)
                   : left < chunk                  ? left
                                                   : chunk;
    walk->chunk_start = *given;
    walk->m = 0;
    walk->m_end = take;
    *given += take;
    return 1;
}

/* Starts the next iteration of the current shared loop, or the next segment. Returns 0 at the end of the phase. */
static int start_next(struct rsc_walk *walk) {
    struct rsc_nest *nest = walk->plan->nest;
    for (;;) {
        if (walk->view) {
            if (walk->m == walk->m_end && (walk->chunk_start < 0 || !take_chunk(walk))) {
                walk->view = NULL;
                continue;
            }
            int64_t iteration = walk->chunk_start >= 0 ? walk->chunk_start + walk->m
                                                       : rsc_view_iteration(walk->view, walk->thread, walk->m);
            walk->m++;
            rsc_nest_group_values(walk->view->item, walk->value, iteration);
            enter(walk, walk->view->item->inner, 0);
            return 1;
        }
        if (walk->segment == walk->segment_end) return 0;
        uint32_t segment = walk->segment++;
        const struct rsc_nest_item *item = &nest->item[nest->segment[segment].item];
        const struct rsc_view *view = rsc_plan_view(walk->plan, segment);
        if (!view || walk->thread >= view->threads || !nest->segment[segment].total) continue;
        rsc_plan_values(walk->plan, segment, walk->value);
        if (item->who != RSC_RUN_SHARED) {
            enter(walk, item->node, 0);
            return 1;
        }
        int64_t chunk;
        enum rsc_schedule schedule;
        walk->view = view;
        walk->view_segment = segment;
        walk->m = walk->m_end = 0;
        walk->chunk_start = 0;
        if (comes_for_chunks(walk, item, &chunk, &schedule)) continue;
        walk->chunk_start = -1;
        walk->m_end = rsc_view_iterations(view, walk->thread);
    }
}

uint32_t rsc_walk_next(struct rsc_walk *walk, uint64_t *line, uint32_t *reference, uint32_t count) {
    uint32_t made = 0;
    int64_t own = (int64_t)(walk->thread * walk->plan->nest->program->private_stride);
    while (made < count) {
        if (!walk->depth) {
            if (made && walk->handed_out && walk->view && walk->chunk_start >= 0 && walk->m == walk->m_end) break;
            if (!start_next(walk)) break;
        }
        struct rsc_walk_step *top = &walk->step[walk->depth - 1];
        if (top->child == top->node->child_count) {
            if (!top->left) {
                walk->depth--;
                continue;
            }
            top->left--;
            top->child = 0;
            walk->value[top->node->depth] += top->node->step;
            continue;
        }
        const struct rsc_nest_node *node = top->node->child[top->child++];
        if (node->kind == RSC_NODE_REFERENCE) {
            int64_t address = rsc_nest_affine_at(&node->address, walk->value);
            if (node->is_private) address += own;
            line[made] = (uint64_t)(address >> walk->line_shift);
            if (reference) reference[made] = node->reference;
            made++;
        } else if (node->kind == RSC_NODE_LOOP) {
            int64_t first, trip = rsc_nest_trip(node, walk->value, &first);
            if (trip <= 0) continue;
            walk->value[node->depth] = first;
            enter(walk, node, trip - 1);
        } else if (node->kind != RSC_NODE_GUARD || rsc_nest_guard_holds(node, walk->value)) {
            enter(walk, node, 0);
        }
    }
    return made;
}
