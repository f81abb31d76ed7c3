/*
 * clang_rotate.c - pointers that a loop exchanges: c = a; a = b; b = c, of two buffers or more; and now = 1 - now.
 *
 * After two, three or four iterations they point to where they did at first. What the body does in an iteration then
 * follows from the iteration's number modulo that period: the body is written once for each remainder, under a guard.
 * As with steps, a run of the body aside shows the guess, and another from each state that every state leads to the next.
 */
#include "loops/front/clang_loop.h"

static int same_affine(const struct rsc_affine *a, const struct rsc_affine *b) {
    struct rsc_affine difference = *a;
    return !rsc_affine_add(&difference, b, -1) && rsc_affine_is_number(&difference) && !difference.constant;
}

static int same_value(const struct value *a, const struct value *b) {
    int64_t x, y;
    if (a->kind != b->kind || a->kind == VALUE_OPAQUE) return 0;
    if (a->kind == VALUE_NUMBER) return value_is_constant(a, &x) && value_is_constant(b, &y) && x == y;
    return a->array == b->array && a->array != UINT32_MAX && same_affine(&a->offset, &b->offset) &&
           a->shape.rank == b->shape.rank && front_row_bytes(&a->shape) == front_row_bytes(&b->shape);
}

static int is_known(const struct value *value) { return same_value(value, value); }

/* The least number of iterations after which one of them has its first value; 0: none has. */
static unsigned period_of(const struct rotating *rotating, unsigned count) {
    for (unsigned period = 2; period <= ROTATION_MAX; period++)
        for (unsigned i = 0; i < count; i++)
            if (rotating[i].is_back[period]) return period;
    return 0;
}

void header_guess_rotation(struct front *front, struct header *header, const struct undo *changed, size_t count) {
    struct rotating *rotating = rsc_arena_alloc(&front->arena, (count + 1) * sizeof *rotating);
    unsigned candidates = 0;
    if (!rotating) {
        front_no_memory(front);
        return;
    }
    for (size_t i = 0; i < count; i++) {
        const struct binding *binding = &front->binding[changed[i].index];
        if (binding->counter || !is_known(&changed[i].value) || !is_known(&binding->value) ||
            same_value(&changed[i].value, &binding->value))
            continue;
        rotating[candidates] = (struct rotating){.variable = binding->variable, .index = changed[i].index};
        rotating[candidates].value[0] = changed[i].value;
        rotating[candidates++].value[1] = binding->value;
    }
    unsigned turns = 1;
    for (unsigned i = 0; i < candidates; i++) {
        if (rotating[i].value[0].kind == VALUE_NUMBER && turns < 2) turns = 2;
        for (unsigned k = 0; k < candidates; k++) /* a pointer that another variable had */
            if (i != k && rotating[i].value[0].kind == VALUE_POINTER &&
                same_value(&rotating[i].value[1], &rotating[k].value[0]))
                turns = ROTATION_MAX;
    }
    for (unsigned turn = 2; turn <= turns; turn++) {
        header_run_aside(front, header);
        for (unsigned i = 0; i < candidates; i++) {
            const struct value *now = &front->binding[rotating[i].index].value;
            rotating[i].is_back[turn] = same_value(now, &rotating[i].value[0]);
            if (turn < ROTATION_MAX) rotating[i].value[turn] = *now;
        }
    }
    unsigned period = period_of(rotating, candidates);
    for (unsigned i = 0; i < candidates && period; i++)
        if (rotating[i].is_back[period]) rotating[header->rotating_count++] = rotating[i];
    header->rotating = rotating;
    header->period = header->rotating_count ? period : 0;
}

static void bind_state(struct front *front, const struct header *header, unsigned state) {
    for (unsigned i = 0; i < header->rotating_count; i++) {
        struct binding *binding = front_variable(front, header->rotating[i].variable);
        if (binding) front_bind(front, binding, &header->rotating[i].value[state]);
    }
}

void header_verify_rotation(struct front *front, struct header *header) {
    int holds = 1;
    for (unsigned state = 0; state < header->period && holds; state++) {
        size_t mark = front->undo_count;
        bind_state(front, header, state);
        header_run_aside(front, header);
        for (unsigned i = 0; i < header->rotating_count; i++) {
            const struct binding *binding = front_variable(front, header->rotating[i].variable);
            holds &= binding && same_value(&binding->value, &header->rotating[i].value[(state + 1) % header->period]);
        }
        front_undo_to(front, mark);
    }
    const struct rsc_loop_term *first = &header->first.term[0];
    int64_t step = header->step < 0 ? -header->step : header->step;
    if (!holds || header->first.count != 1 || first->rounding != RSC_ROUND_NONE || step > RSC_LOOP_VALUE_MAX / 4)
        header->period = 0;
}

void header_run_rotation(struct front *front, struct header *header, const struct rsc_affine *variable) {
    struct rsc_loop_node *loop = front->at;
    int64_t step = header->step < 0 ? -header->step : header->step;
    for (unsigned state = 0; state < header->period; state++) {
        struct rsc_condition condition = {
            .kind = RSC_WHEN_DIVISIBLE, .value = *variable, .modulus = step * header->period};
        struct rsc_affine passed = rsc_affine_number(header->step * state);
        struct rsc_loop_node *guard = rsc_loop_add_node(front->program, loop, RSC_NODE_GUARD);
        if (!guard || rsc_affine_add(&condition.value, &header->first.term[0].value, -1) ||
            rsc_affine_add(&condition.value, &passed, -1) ||
            rsc_loop_add_condition(front->program, guard, &condition)) {
            front_no_memory(front);
            return;
        }
        size_t mark = front->undo_count, known = front->known_count;
        front->at = guard;
        bind_state(front, header, state);
        header_run_body(front, header);
        front_undo_to(front, mark);
        front->known_count = known;
    }
    front->at = loop;
}

void header_end_rotation(struct front *front, const struct header *header, const struct rsc_affine *end) {
    struct rsc_affine way = end ? *end : rsc_affine_number(0);
    if (!header->period || !end || rsc_affine_add(&way, &header->first.term[0].value, -1) ||
        !rsc_affine_is_number(&way) || way.constant % header->step)
        return;
    bind_state(front, header, (unsigned)(way.constant / header->step % header->period));
}
