/* clang_loop.c - for, while and do loops become loops of the tree. */
#include <stdio.h>
#include <string.h>

#include "loops/front/clang_loop.h"

/* Converts a value to a bound; a join of the wrong kind splits the statement. */
static int make_bound(struct front *front, struct header *header, struct value *value, enum value_join allowed) {
    struct rsc_affine affine;
    if (value->join != JOIN_ONE && value->join != allowed && value_affine(front, value, &affine))
        return refuse(header, "bound is not affine: %.120s", value->reason);
    return 0;
}

static int fits(struct front *front, const struct header *header, int64_t least, int64_t most) {
    CXType type = front_type(front, header->variable);
    long long bytes = front->clang.Type_getSizeOf(type);
    int bits = bytes >= 1 && bytes < 8 ? 8 * (int)bytes : 62;
    int64_t high = type_is_unsigned(type) ? (INT64_C(1) << bits) - 1 : (INT64_C(1) << (bits - 1)) - 1;
    int64_t low = type_is_unsigned(type) ? 0 : -high - 1;
    if (least > most || header->form == LOOP_RANGE || header->counts_iterations) return 1;
    if (header->step > 0) return least >= low && most <= high - header->step;
    return most <= high && least >= (header->wraps ? low : low - header->step);
}

static struct rsc_loop_node *add_loop(struct front *front, struct header *header, int64_t *least, int64_t *most) {
    int up = header->step > 0;
    uint32_t depth = front_depth(front);
    const char *file;
    unsigned line;
    int64_t low, high;
    if (depth >= RSC_LOOP_DEPTH_MAX) return refuse(header, "loops are nested too deep (16 at most)"), NULL;
    if (front_value_range(front, &header->first, least, &low) || front_value_range(front, &header->last, &high, most) ||
        (!up && (front_value_range(front, &header->last, least, &low) ||
                 front_value_range(front, &header->first, &high, most))))
        return refuse(header, "a bound passes 2^56"), NULL;
    if (!fits(front, header, *least, *most))
        return refuse(header, "the loop's variable could pass the end of its type"), NULL;
    struct rsc_loop_node *loop = rsc_loop_add_node(front->program, front->at, RSC_NODE_LOOP);
    if (!loop) return front_no_memory(front), NULL;
    for (uint32_t i = 0; i < header->first.count; i++)
        if (rsc_loop_add_term(front->program, &loop->first, &header->first.term[i]))
            return front_no_memory(front), NULL;
    for (uint32_t i = 0; i < header->last.count; i++)
        if (rsc_loop_add_term(front->program, &loop->last, &header->last.term[i])) return front_no_memory(front), NULL;
    loop->step = header->step;
    loop->variable = front_fresh_name(front, front_name(front, header->variable));
    front_place(front, header->statement, &file, &line);
    const char *region_file = front->program->region[front->region].file;
    loop->file = region_file && !strcmp(region_file, file) ? NULL : file;
    loop->line = line;
    return loop;
}

/* Inside the loop every plain term of its bounds limits the variable. */
static void know_bounds(struct front *front, const struct rsc_loop_node *loop) {
    int up = loop->step > 0;
    for (int side = 0; side < 2; side++) {
        const struct rsc_loop_bound *bound = side ? &loop->last : &loop->first;
        for (uint32_t i = 0; i < bound->count; i++) {
            struct rsc_affine way = rsc_affine_variable(loop->depth);
            if (bound->term[i].rounding != RSC_ROUND_NONE || rsc_affine_add(&way, &bound->term[i].value, -1)) continue;
            front_know(front, &way, (side == 0) == up ? 1 : -1, 0);
        }
    }
}

static int check_collapse(const struct rsc_loop_node *loop) {
    const struct rsc_loop_node *at = loop;
    for (uint32_t left = loop->collapse; left > 1; left--) {
        if (at->child_count != 1 || at->child[0]->kind != RSC_NODE_LOOP || rsc_loop_is_let(at->child[0])) return -1;
        at = at->child[0];
    }
    return 0;
}

static int share_loop(struct front *front, struct rsc_loop_node *loop, const struct rsc_omp *omp,
                      struct header *header) {
    int64_t number;
    if (omp->schedule == RSC_OMP_RUNTIME && !front->options->schedule_given)
        return refuse(header, "schedule(runtime) is not in the source (--schedule gives one)");
    loop->share = 1;
    loop->schedule = omp->schedule == RSC_OMP_DYNAMIC  ? RSC_SCHEDULE_DYNAMIC
                     : omp->schedule == RSC_OMP_GUIDED ? RSC_SCHEDULE_GUIDED
                                                       : RSC_SCHEDULE_STATIC;
    loop->nowait = omp->nowait && !omp->is_parallel;
    if (omp->chunk.text) {
        if (!front_omp_number(front, omp, &omp->chunk, &number) || number < 1)
            return refuse(header, "the schedule's chunk is not a positive number: %.60s", omp->chunk.text);
        loop->chunk = (uint64_t)number;
    }
    if (omp->collapse.text) {
        if (!front_omp_number(front, omp, &omp->collapse, &number) || number < 1 || number > RSC_LOOP_DEPTH_MAX)
            return refuse(header, "collapse is not a number from 1 to 16: %.60s", omp->collapse.text);
        loop->collapse = (uint32_t)number;
    }
    return 0;
}

struct sharing {
    CXCursor statement;
    const struct rsc_omp *share;
    struct header *header; /* of a while loop, already read; else NULL */
};

static void left_out(struct front *front, struct header *header) {
    if (!front->out_of_memory) front_gap(front, header->statement, "loop left out: %s", header->reason);
    front_skip(front, header->statement, "changes in a loop that is not affine");
}

/* The value that ends the loop, if it is affine and the loop cannot end before its first iteration. */
static int end_value(struct front *front, const struct header *header, struct rsc_affine *end) {
    struct rsc_affine trip = rsc_affine_number(1), one = rsc_affine_number(1);
    int up = header->step > 0;
    int64_t first, last;
    if (header->first.count != 1 || header->last.count != 1 || header->first.term[0].divisor != 1 ||
        header->last.term[0].divisor != 1)
        return -1;
    *end = header->last.term[0].value;
    if (value_is_constant(&header->first, &first) && value_is_constant(&header->last, &last)) {
        int64_t trips = up ? last - first : first - last, width = up ? header->step : -header->step;
        *end = rsc_affine_number(trips < 0 ? first : first + (trips / width + 1) * header->step);
        return 0;
    }
    if (header->step != 1 && header->step != -1) return -1;
    if (rsc_affine_add(&trip, end, header->step) ||
        rsc_affine_add(&trip, &header->first.term[0].value, -header->step) || !front_proved(front, &trip))
        return -1;
    return rsc_affine_add(end, &one, header->step);
}

static void bind_variable(struct front *front, const struct header *header, const struct rsc_affine *variable) {
    struct binding *binding = front_variable(front, header->variable);
    struct value value;
    value_number(&value, variable);
    for (unsigned i = 0; i < header->moving_count && header->counts_iterations; i++)
        if (front->clang.equalCursors(header->moving[i].variable, header->variable))
            header_companion(front, header, &header->moving[i], variable, &value);
    if (header->is_pointer) {
        value = header->pointer;
        if (rsc_affine_add(&value.offset, variable, front_row_bytes(&value.shape)))
            value_opaque(&value, "an offset passes 2^56 bytes");
    }
    if (!binding) return;
    front_bind(front, binding, &value);
    binding->in_parallel = front->in_parallel;
}

/* The body under the loop's node. -1: a while loop's variable does not change as it seemed to. */
static int build_body(struct front *front, struct header *header, struct rsc_loop_node *loop) {
    struct rsc_affine variable = rsc_affine_variable(loop->depth);
    front->at = loop;
    if (header->form == LOOP_FOR) {
        bind_variable(front, header, &variable);
        if (!loop->share) header_guess_steps(front, header); /* there, a variable that steps along is a race */
    }
    front_forget_assigned(front, header->body, "changes in the loop");
    bind_variable(front, header, &variable);
    if (header_verify_steps(front, header, &variable)) return -1;
    header_bind_companions(front, header, &variable, 0);
    bind_variable(front, header, &variable);
    if (header->form == LOOP_RANGE) header_start_range(front, header);
    struct binding *binding = front_variable(front, header->variable);
    if (!binding) return 0;
    int counts = header->form == LOOP_FOR;
    binding->counter += counts;
    header_verify_rotation(front, header);
    if (header->period) header_run_rotation(front, header, &variable);
    else header_run_body(front, header);
    if ((binding = front_variable(front, header->variable))) binding->counter -= counts;
    return 0;
}

static void loop_path(struct front *front, void *data) {
    const struct sharing *sharing = data;
    struct header header = {.statement = sharing->statement};
    int64_t least, most;
    struct rsc_loop_node *loop = NULL, *at;
    int bad = 0, up;
    if (sharing->header) header = *sharing->header;
    front->in_subscript++; /* scalars in a header are in registers, even with --count-scalars */
    bad = header.form == LOOP_FOR     ? header_read_for(front, &header)
          : header.form == LOOP_RANGE ? header_read_range(front, &header)
                                      : header_read_while(front, &header);
    front->in_subscript--;
    up = header.step > 0;
    if (!bad)
        bad = make_bound(front, &header, &header.first, up ? JOIN_MAX : JOIN_MIN) ||
              make_bound(front, &header, &header.last, up ? JOIN_MIN : JOIN_MAX);
    front_flush(front);
    at = front->at;
    if (!bad) loop = add_loop(front, &header, &least, &most);
    if (loop && sharing->share && share_loop(front, loop, sharing->share, &header)) {
        loop->parent->child_count--;
        loop = NULL;
    }
    if (!loop) return left_out(front, &header);
    size_t known = front->known_count;
    front->variable[loop->depth] = loop->variable;
    front->least[loop->depth] = least;
    front->most[loop->depth] = most;
    know_bounds(front, loop);
    int in_share = front->in_share;
    if (sharing->share) front->in_share = 1;
    struct header unread = header;
    unsigned stores = front->stores;
    size_t mark = front->undo_count, bounds = front->known_count;
    int failed = build_body(front, &header, loop);
    if (front->stores != stores) { /* what the first iterations load, later ones may have stored */
        front_undo_to(front, mark);
        front->known_count = bounds;
        header = unread;
        loop->child_count = 0;
        failed = build_body(front, &header, loop);
    }
    front->in_share = in_share;
    front->known_count = known;
    front->at = at;
    if (failed) {
        loop->parent->child_count--;
        return left_out(front, &header);
    }
    if (sharing->share && check_collapse(loop)) {
        front_gap(front, sharing->statement,
                  "collapse(%u): the loops are not perfectly nested, or their bounds need a quotient", loop->collapse);
        loop->collapse = 1;
    }
    struct rsc_affine end;
    int ends = !sharing->share && !header.wraps && !end_value(front, &header, &end);
    front_forget_assigned(front, header.body, "changes in a loop");
    header_bind_companions(front, &header, ends ? &end : NULL, 1);
    header_end_rotation(front, &header, ends ? &end : NULL);
    struct value value;
    if (ends) {
        bind_variable(front, &header, &end);
        front->in_subscript++;
        if (header.form == LOOP_WHILE)
            front_eval(front, header.condition, &value); /* while (n--): also the last time */
        front->in_subscript--;
        return;
    }
    struct binding *binding = front_variable(front, header.variable);
    value_opaque(&value, "%.60s is used after its loop", front_name(front, header.variable));
    if (binding) front_bind(front, binding, &value);
}

/* A loop with a condition alone; its variables have their first values. Returns 0, or -1 with the reason. */
static int run_while(struct front *front, struct header *header, char *reason, size_t room) {
    front_flush(front);
    header_guess_steps(front, header);
    struct header trial = *header;
    if (header_read_while(front, &trial)) return snprintf(reason, room, "%s", trial.reason), -1;
    struct sharing sharing = {header->statement, NULL, header};
    front_paths(front, loop_path, &sharing);
    return 0;
}

/* for (i = n; i-- > 0;), whose step is in the condition or the body. */
static void for_without_step(struct front *front, CXCursor statement, const struct for_parts *parts) {
    struct header *header = rsc_arena_alloc(&front->arena, sizeof *header);
    if (!header) {
        front_no_memory(front);
        return;
    }
    *header =
        (struct header){.form = LOOP_WHILE, .statement = statement, .body = parts->body, .condition = parts->condition};
    front->in_subscript++;
    if (!front->clang.Cursor_isNull(parts->start)) front_simple(front, parts->start);
    front->in_subscript--;
    if (run_while(front, header, header->reason, sizeof header->reason)) left_out(front, header);
}

void front_for(struct front *front, CXCursor statement, const struct rsc_omp *share) {
    struct header range = {.form = LOOP_RANGE, .statement = statement};
    struct sharing sharing = {statement, share, front_kind(front, statement) == CXCursor_ForStmt ? NULL : &range};
    struct for_parts parts;
    if (!front_is_for(front, statement)) {
        front_gap(front, statement, "the directive is not followed by a for loop");
        front_skip(front, statement, "changes");
        return;
    }
    if (!sharing.header && !share) {
        front_for_parts(front, statement, &parts);
        if (front->clang.Cursor_isNull(parts.step) && !front->clang.Cursor_isNull(parts.condition))
            return for_without_step(front, statement, &parts);
    }
    front_paths(front, loop_path, &sharing);
}

int front_while(struct front *front, CXCursor statement, char *reason, size_t room) {
    struct kids kids = front_kids(front, statement);
    int is_do = front_kind(front, statement) == CXCursor_DoStmt;
    struct header *header = rsc_arena_alloc(&front->arena, sizeof *header);
    if (!header) return front_no_memory(front);
    if (kids.count != 2) return snprintf(reason, room, "a while loop that cannot be read"), -1;
    *header = (struct header){.form = is_do ? LOOP_DO : LOOP_WHILE,
                              .statement = statement,
                              .body = kids.item[!is_do],
                              .condition = kids.item[is_do]};
    return run_while(front, header, reason, room);
}
