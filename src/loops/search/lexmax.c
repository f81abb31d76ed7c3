/*
 * lexmax.c - chooses loop variables from the outside in, largest first; see
 * last_touch.h for the idea.
 */
#include "loops/search/lexmax.h"

#include <stdlib.h>
#include <string.h>

#define PIN_VALUES_MAX 64 /* more values than this are not tried one by one */
#define LINE_OF_VALUES 4  /* up to this many are tried without halving */

static int64_t floor_divide(int64_t a, int64_t b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }
static int64_t ceil_divide(int64_t a, int64_t b) { return -floor_divide(-a, b); }

/* ---- boxes ---- */

static void affine_range(const struct rsc_nest_affine *affine, const int64_t *from, const int64_t *to, int64_t *low,
                         int64_t *high) {
    int64_t least = affine->constant, most = affine->constant;
    for (uint32_t i = 0; i < affine->count; i++) {
        int64_t c = affine->coefficient[i];
        uint32_t d = affine->depth[i];
        least += c > 0 ? c * from[d] : c * to[d];
        most += c > 0 ? c * to[d] : c * from[d];
    }
    *low = least;
    *high = most;
}

static void term_range(const struct rsc_nest_term *term, const int64_t *from, const int64_t *to, int64_t *low,
                       int64_t *high) {
    affine_range(&term->value, from, to, low, high);
    if (term->rounding == RSC_ROUND_FLOOR) {
        *low = rsc_floor_divide(*low, term->divisor);
        *high = rsc_floor_divide(*high, term->divisor);
    } else if (term->rounding == RSC_ROUND_CEIL) {
        *low = rsc_ceil_divide(*low, term->divisor);
        *high = rsc_ceil_divide(*high, term->divisor);
    }
}

/* The values a loop's variable can take while the outer ones are in their boxes. Returns 0 for none. */
static int loop_range(const struct rsc_nest_node *loop, const int64_t *from, const int64_t *to, int64_t *low,
                      int64_t *high) {
    if (loop->fixed) {
        int64_t last = loop->fixed_first + (loop->fixed_trip - 1) * loop->step;
        *low = loop->step > 0 ? loop->fixed_first : last;
        *high = loop->step > 0 ? last : loop->fixed_first;
        return loop->fixed_trip > 0;
    }
    int up = loop->step > 0;
    int64_t least = loop->least, most = loop->most;
    for (int end = 0; end < 2; end++) {
        const struct rsc_nest_term *term = end ? loop->last : loop->first;
        uint32_t count = end ? loop->last_count : loop->first_count;
        for (uint32_t i = 0; i < count; i++) {
            int64_t a, b;
            term_range(&term[i], from, to, &a, &b);
            if ((end == 0) == up) { /* a lower bound */
                if (a > least) least = a;
            } else if (b < most) {
                most = b;
            }
        }
    }
    *low = least;
    *high = most;
    return least <= most;
}

/*
 * Computes the boxes of the variables from `depth` on (those before are set), and the
 * range of their part of the address. Returns 0 if it is empty.
 */
static int fill_boxes(struct rsc_search *search, uint32_t depth, int64_t *low, int64_t *high) {
    const struct rsc_nest_node *reference = search->reference;
    int64_t least = 0, most = 0;
    for (uint32_t d = depth; d < reference->path_length; d++) {
        if (!loop_range(reference->path[d], search->from, search->to, &search->from[d], &search->to[d])) return 0;
        if (search->pinned >> d & 1) {
            if (search->pin[d] < search->from[d] || search->pin[d] > search->to[d]) return 0;
            search->from[d] = search->to[d] = search->pin[d];
        }
        int64_t c = search->coefficient[d];
        if (!c) continue;
        least += c > 0 ? c * search->from[d] : c * search->to[d];
        most += c > 0 ? c * search->to[d] : c * search->from[d];
    }
    *low = least;
    *high = most;
    return 1;
}

/* Whether the box of the variables before `depth` and all that follow can contain a solution. */
int rsc_lexmax_possible(struct rsc_search *search, uint32_t depth) {
    const struct rsc_nest_node *reference = search->reference;
    int64_t low, high, least, most;
    if (!fill_boxes(search, depth, &low, &high)) return 0;
    affine_range(&reference->address, search->from, search->to, &least, &most);
    if (most < search->low || least > search->high) return 0;
    for (uint32_t i = 0; i < reference->check_count; i++) {
        const struct rsc_nest_condition *check = reference->check[i];
        if (check->kind != RSC_WHEN_AT_LEAST && check->kind != RSC_WHEN_ZERO) continue;
        affine_range(&check->value, search->from, search->to, &least, &most);
        if (most < 0 || (check->kind == RSC_WHEN_ZERO && least > 0)) return 0;
    }
    return 1;
}

/* ---- choosing values, outermost first, largest first ---- */

static int choose(struct rsc_search *search, uint32_t depth);

static void set_value(struct rsc_search *search, uint32_t depth, int64_t value) {
    search->value[depth] = search->from[depth] = search->to[depth] = value;
}

static int holds(const struct rsc_nest_condition *condition, const int64_t *value) {
    struct rsc_nest_node guard = {.condition = (struct rsc_nest_condition *)condition, .condition_count = 1};
    return rsc_nest_guard_holds(&guard, value);
}

/* Conditions that can be decided once `depth` has its value. */
static int checks_hold(const struct rsc_search *search, uint32_t depth) {
    const struct rsc_nest_node *reference = search->reference;
    for (uint32_t i = 0; i < reference->check_count; i++)
        if (reference->check[i]->deepest == depth && !holds(reference->check[i], search->value)) return 0;
    return 1;
}

static int take(struct rsc_search *search, uint32_t depth, int64_t value) {
    set_value(search, depth, value);
    return checks_hold(search, depth) && choose(search, depth + 1);
}

/* Chooses the largest possible k in low..high for the loop at `depth`; values are first + k * step. */
static int choose_between(struct rsc_search *search, uint32_t depth, int64_t first, int64_t step, int64_t low,
                          int64_t high) {
    if (take(search, depth, first + high-- * step)) return 1; /* the usual case */
    while (low <= high) {
        if (high - low < LINE_OF_VALUES) {
            for (int64_t k = high; k >= low; k--)
                if (take(search, depth, first + k * step)) return 1;
            return 0;
        }
        int64_t middle = low + (high - low) / 2;
        int64_t a = first + (middle + 1) * step, b = first + high * step;
        search->from[depth] = a < b ? a : b;
        search->to[depth] = a < b ? b : a;
        if (rsc_lexmax_possible(search, depth + 1) && choose_between(search, depth, first, step, middle + 1, high))
            return 1;
        high = middle;
        a = first + low * step, b = first + high * step;
        search->from[depth] = a < b ? a : b;
        search->to[depth] = a < b ? b : a;
        if (!rsc_lexmax_possible(search, depth + 1)) return 0;
    }
    return 0;
}

/*
 * Narrows low..high to where `constant + coefficient * x >= 0` holds, with
 * x = first + k * step. Returns 0 if nothing is left.
 */
static int keep_where(int64_t constant, int64_t coefficient, int64_t first, int64_t step, int64_t *low, int64_t *high) {
    int64_t c = coefficient * step;
    constant += coefficient * first;
    if (c > 0) {
        int64_t least = ceil_divide(-constant, c);
        if (least > *low) *low = least;
    } else {
        int64_t most = floor_divide(constant, -c);
        if (most < *high) *high = most;
    }
    return *low <= *high;
}

/* The largest (or least) value in the boxes of an affine sum without its term of `depth`. */
static int64_t rest_of(const struct rsc_search *search, const struct rsc_nest_affine *affine, uint32_t depth, int most,
                       int64_t *coefficient) {
    int64_t sum = affine->constant;
    *coefficient = 0;
    for (uint32_t i = 0; i < affine->count; i++) {
        uint32_t d = affine->depth[i];
        int64_t c = affine->coefficient[i];
        if (d == depth) *coefficient = c;
        else sum += (c > 0) == most ? c * search->to[d] : c * search->from[d];
    }
    return sum;
}

/* Narrows low..high to where the loop at `inner` can have values in its box. */
static int keep_for_loop(struct rsc_search *search, uint32_t depth, const struct rsc_nest_node *inner, int64_t first,
                         int64_t step, int64_t *low, int64_t *high) {
    int up = inner->step > 0;
    for (int end = 0; end < 2; end++) {
        const struct rsc_nest_term *term = end ? inner->last : inner->first;
        uint32_t count = end ? inner->last_count : inner->first_count;
        int below = (end == 0) == up; /* a lower bound */
        for (uint32_t i = 0; i < count; i++) {
            if (!(term[i].value.depths >> depth & 1)) continue;
            int64_t c, rest = rest_of(search, &term[i].value, depth, !below, &c), divisor = term[i].divisor;
            /* below: rounded(rest + c x) <= to; else rounded(rest + c x) >= from. One short of a whole step is allowed. */
            int64_t slack = divisor - 1;
            int kept = below
                           ? keep_where(search->to[inner->depth] * divisor + slack - rest, -c, first, step, low, high)
                           : keep_where(rest + slack - search->from[inner->depth] * divisor, c, first, step, low, high);
            if (!kept) return 0;
        }
    }
    return 1;
}

/*
 * Narrows k to where address, inner bounds and conditions can be met, each by itself
 * and whatever the inner variables do. Returns 0 for nowhere.
 */
static int narrow(struct rsc_search *search, uint32_t depth, int64_t first, int64_t step, int64_t *low, int64_t *high) {
    const struct rsc_nest_node *reference = search->reference;
    int64_t c = search->coefficient[depth], rest_low, rest_high;
    int64_t a = first + *low * step, b = first + *high * step;
    search->from[depth] = a < b ? a : b;
    search->to[depth] = a < b ? b : a;
    if (!fill_boxes(search, depth + 1, &rest_low, &rest_high)) return 0;
    int64_t fixed = reference->address.constant;
    for (uint32_t d = 0; d < depth; d++) fixed += search->coefficient[d] * search->value[d];
    int64_t from = search->low - fixed - rest_high, to = search->high - fixed - rest_low;
    if (!c) {
        if (from > 0 || to < 0) return 0;
    } else if (!keep_where(-from, c, first, step, low, high) || !keep_where(to, -c, first, step, low, high)) {
        return 0;
    }
    if (!(reference->inner_depths[depth] >> depth & 1)) return 1;
    /* The range of the address left to the inner variables limits this variable's values. */
    a = first + *low * step, b = first + *high * step;
    int64_t own_low = c > 0 ? c * (a < b ? a : b) : c * (a < b ? b : a);
    int64_t own_high = c > 0 ? c * (a < b ? b : a) : c * (a < b ? a : b);
    for (uint32_t d = depth + 1; d < reference->path_length; d++) {
        int64_t k = search->coefficient[d];
        if (k) {
            int64_t least = k > 0 ? k * search->from[d] : k * search->to[d],
                    most = k > 0 ? k * search->to[d] : k * search->from[d];
            int64_t x = search->low - fixed - (rest_high - most) - own_high,
                    y = search->high - fixed - (rest_low - least) - own_low;
            int64_t value_low = k > 0 ? ceil_divide(x, k) : ceil_divide(y, k);
            int64_t value_high = k > 0 ? floor_divide(y, k) : floor_divide(x, k);
            if (value_low > search->from[d]) search->from[d] = value_low;
            if (value_high < search->to[d]) search->to[d] = value_high;
            if (search->from[d] > search->to[d]) return 0;
        }
        if (reference->path[d]->bound_depths >> depth & 1 &&
            !keep_for_loop(search, depth, reference->path[d], first, step, low, high))
            return 0;
    }
    for (uint32_t i = 0; i < reference->check_count; i++) {
        const struct rsc_nest_condition *check = reference->check[i];
        if (!(check->value.depths >> depth & 1) || (check->kind != RSC_WHEN_AT_LEAST && check->kind != RSC_WHEN_ZERO))
            continue;
        int64_t k, most = rest_of(search, &check->value, depth, 1, &k);
        if (!keep_where(most, k, first, step, low, high)) return 0;
        if (check->kind != RSC_WHEN_ZERO) continue;
        int64_t least = rest_of(search, &check->value, depth, 0, &k);
        if (!keep_where(-least, -k, first, step, low, high)) return 0;
    }
    return 1;
}

static int decides_nothing(const struct rsc_search *search, uint32_t depth) {
    const struct rsc_nest_node *reference = search->reference;
    if (search->coefficient[depth] || reference->inner_depths[depth] >> depth & 1) return 0;
    for (uint32_t i = 0; i < reference->check_count; i++)
        if (reference->check[i]->value.depths >> depth & 1) return 0;
    return 1;
}

/* The same where the inner loop's bounds have the outer variable: if that changes, the inner one may have any value. */
static void triangular_boxes(struct rsc_search *search, const struct rsc_nest_item *item, int64_t start, int64_t end) {
    uint32_t d = item->node->depth, e = item->inner->depth;
    int64_t a[RSC_LOOP_DEPTH_MAX], b[RSC_LOOP_DEPTH_MAX];
    memcpy(a, search->value, sizeof a);
    memcpy(b, search->value, sizeof b);
    rsc_nest_group_values(item, a, start);
    rsc_nest_group_values(item, b, end);
    int same = a[d] == b[d];
    search->from[d] = a[d] < b[d] ? a[d] : b[d];
    search->to[d] = a[d] < b[d] ? b[d] : a[d];
    search->from[e] = !same ? item->inner->from->least : a[e] < b[e] ? a[e] : b[e];
    search->to[e] = !same ? item->inner->from->most : a[e] < b[e] ? b[e] : a[e];
}

/* Boxes of the group's variables for the thread's iterations low..high. */
static void group_boxes(struct rsc_search *search, const struct rsc_nest_item *item, int64_t low, int64_t high) {
    int64_t start = rsc_view_iteration(search->view, search->thread, low);
    int64_t end = rsc_view_iteration(search->view, search->thread, high);
    if (item->starts) {
        triangular_boxes(search, item, start, end);
        return;
    }
    int same = 1; /* outer collapsed loops are in the same iteration at both ends */
    int64_t inside = 1;
    const struct rsc_nest_node *loop[RSC_LOOP_DEPTH_MAX];
    int64_t first[RSC_LOOP_DEPTH_MAX], trip[RSC_LOOP_DEPTH_MAX];
    loop[0] = item->node;
    for (uint32_t g = 1; g < item->group; g++) loop[g] = loop[g - 1]->child[0];
    for (uint32_t g = item->group; g--;) trip[g] = rsc_nest_trip(loop[g], search->value, &first[g]);
    for (uint32_t g = 1; g < item->group; g++) inside *= trip[g];
    for (uint32_t g = 0; g < item->group; g++) {
        uint32_t d = loop[g]->depth;
        int64_t a = same ? start / inside % trip[g] : 0, b = same ? end / inside % trip[g] : trip[g] - 1;
        if (start / inside != end / inside) same = 0;
        a = first[g] + a * loop[g]->step;
        b = first[g] + b * loop[g]->step;
        search->from[d] = a < b ? a : b;
        search->to[d] = a < b ? b : a;
        if (g + 1 < item->group) inside /= trip[g + 1];
    }
}

/* Takes iteration m of the thread: all variables of the group at once. */
static int take_iteration(struct rsc_search *search, const struct rsc_nest_item *item, int64_t m) {
    uint32_t depth = item->node->depth;
    rsc_nest_group_values(item, search->value, rsc_view_iteration(search->view, search->thread, m));
    search->m = m;
    for (uint32_t g = 0; g < item->group; g++) {
        search->from[depth + g] = search->to[depth + g] = search->value[depth + g];
        if (!checks_hold(search, depth + g)) return 0;
    }
    return choose(search, depth + item->group);
}

static int choose_iteration_between(struct rsc_search *search, const struct rsc_nest_item *item, int64_t low,
                                    int64_t high) {
    uint32_t after = item->node->depth + item->group;
    if (take_iteration(search, item, high--)) return 1;
    while (low <= high) {
        if (high - low < LINE_OF_VALUES) {
            for (int64_t m = high; m >= low; m--)
                if (take_iteration(search, item, m)) return 1;
            return 0;
        }
        int64_t middle = low + (high - low) / 2;
        group_boxes(search, item, middle + 1, high);
        if (rsc_lexmax_possible(search, after) && choose_iteration_between(search, item, middle + 1, high)) return 1;
        high = middle;
        group_boxes(search, item, low, high);
        if (!rsc_lexmax_possible(search, after)) return 0;
    }
    return 0;
}

/* Like narrow, but tries the few values that the address leaves to inner variables of larger stride. */
static int narrow_pinning(struct rsc_search *search, uint32_t depth, int64_t first, int64_t step, int64_t *low,
                          int64_t *high) {
    const struct rsc_nest_node *reference = search->reference;
    int64_t own = search->coefficient[depth], c = own;
    uint32_t widest = depth;
    for (uint32_t d = depth + 1; d < reference->path_length; d++)
        if (!(search->pinned >> d & 1) && llabs(search->coefficient[d]) > llabs(c))
            widest = d, c = search->coefficient[d];
    if (widest == depth || !own) return narrow(search, depth, first, step, low, high);
    int64_t a = first + *low * step, b = first + *high * step, least, most;
    search->from[depth] = a < b ? a : b;
    search->to[depth] = a < b ? b : a;
    if (!fill_boxes(search, depth + 1, &least, &most)) return 0;
    least += own > 0 ? own * search->from[depth] : own * search->to[depth];
    most += own > 0 ? own * search->to[depth] : own * search->from[depth];
    least -= c > 0 ? c * search->from[widest] : c * search->to[widest];
    most -= c > 0 ? c * search->to[widest] : c * search->from[widest];
    int64_t fixed = reference->address.constant;
    for (uint32_t d = 0; d < depth; d++) fixed += search->coefficient[d] * search->value[d];
    int64_t from = search->low - fixed - most, to = search->high - fixed - least;
    int64_t value = c > 0 ? ceil_divide(from, c) : ceil_divide(to, c),
            last = c > 0 ? floor_divide(to, c) : floor_divide(from, c);
    if (value < search->from[widest]) value = search->from[widest];
    if (last > search->to[widest]) last = search->to[widest];
    if (last - value >= LINE_OF_VALUES) return narrow(search, depth, first, step, low, high);
    int64_t union_low = INT64_MAX, union_high = INT64_MIN;
    search->pinned |= 1u << widest;
    for (; value <= last; value++) {
        int64_t part_low = *low, part_high = *high;
        search->pin[widest] = value;
        if (!narrow_pinning(search, depth, first, step, &part_low, &part_high)) continue;
        if (part_low < union_low) union_low = part_low;
        if (part_high > union_high) union_high = part_high;
    }
    search->pinned &= ~(1u << widest);
    *low = union_low;
    *high = union_high;
    return union_low <= union_high;
}

int rsc_lexmax_narrow_group(struct rsc_search *search, const struct rsc_nest_item *item, int64_t *from, int64_t *to) {
    const struct rsc_nest_node *loop = item->node;
    int64_t inside = rsc_nest_group_trip(item, search->value), base = 0, first;
    if (item->starts) {
        int64_t low = 0, high = item->start_count - 1;
        rsc_nest_trip(loop, search->value, &first);
        if (high < 0 || !narrow(search, loop->depth, first, loop->step, &low, &high)) return 0;
        base = item->starts[low];
        *from = base;
        *to = item->starts[high + 1] - 1;
        if (low < high || *from > *to) return *from <= *to;
        set_value(search, loop->depth, first + low * loop->step);
        low = 0;
        high = rsc_nest_trip(item->inner, search->value, &first) - 1;
        if (!narrow(search, item->inner->depth, first, item->inner->step, &low, &high)) return 0;
        *from = base + low;
        *to = base + high;
        return 1;
    }
    for (uint32_t g = 0; g < item->group; g++, loop = loop->child[0]) {
        int64_t trip = rsc_nest_trip(loop, search->value, &first), low = 0, high = trip - 1;
        if (trip <= 0 || !narrow_pinning(search, loop->depth, first, loop->step, &low, &high)) return 0;
        inside /= trip;
        *from = base + low * inside;
        *to = base + (high + 1) * inside - 1;
        if (low < high) break; /* inner loops wrap around more than once */
        base = *from;
        set_value(search, loop->depth, first + low * loop->step);
    }
    return 1;
}

static int choose_iteration(struct rsc_search *search) {
    const struct rsc_nest_item *item = search->view->item;
    uint32_t depth = item->node->depth;
    int64_t low = 0, high = rsc_view_iterations(search->view, search->thread) - 1;
    if (search->limit_depth == depth && search->limit < high) high = search->limit;
    if (high < 0) return 0;
    int matters = 0;
    for (uint32_t g = 0; g < item->group; g++) matters |= !decides_nothing(search, depth + g);
    if (!matters) return take_iteration(search, item, high);
    int64_t from, to;
    if (!rsc_lexmax_narrow_group(search, item, &from, &to)) return 0;
    int64_t last = rsc_view_not_after(search->view, search->thread, to);
    if (last < high) high = last;
    if (from > 0) low = rsc_view_not_after(search->view, search->thread, from - 1) + 1;
    if (low > high) return 0;
    return choose_iteration_between(search, item, low, high);
}

static int choose(struct rsc_search *search, uint32_t depth) {
    const struct rsc_nest_node *reference = search->reference;
    if (depth == reference->path_length) {
        int64_t address = rsc_nest_affine_at(&reference->address, search->value);
        return address >= search->low && address <= search->high;
    }
    if (search->view && search->view->who == RSC_RUN_SHARED && depth == search->view->item->node->depth)
        return choose_iteration(search);
    const struct rsc_nest_node *loop = reference->path[depth];
    int64_t first, trip = rsc_nest_trip(loop, search->value, &first), low = 0, high = trip - 1;
    if (search->limit_depth == depth && search->limit < high) high = search->limit;
    if (high < 0) return 0;
    if (search->pinned >> depth & 1) {
        int64_t k = (search->pin[depth] - first) / loop->step;
        if (k < 0 || k > high || first + k * loop->step != search->pin[depth]) return 0;
        return take(search, depth, search->pin[depth]);
    }
    if (decides_nothing(search, depth)) return take(search, depth, first + high * loop->step);
    if (!narrow(search, depth, first, loop->step, &low, &high)) return 0;
    return choose_between(search, depth, first, loop->step, low, high);
}

/* ---- fixing variables of large stride first ---- */

/* Whether a comes after b in the order of execution, from `depth` on. */
static int is_after(const struct rsc_nest_node *reference, uint32_t depth, const int64_t *a, const int64_t *b) {
    for (uint32_t d = depth; d < reference->path_length; d++)
        if (a[d] != b[d]) return (a[d] > b[d]) == (reference->path[d]->step > 0);
    return 0;
}

static int choose_pinning(struct rsc_search *search, uint32_t depth) {
    const struct rsc_nest_node *reference = search->reference;
    uint32_t widest = UINT32_MAX, outermost = UINT32_MAX, free_from = depth;
    if (search->view && search->view->who == RSC_RUN_SHARED && depth == search->view->item->node->depth)
        free_from = depth + search->view->item->group; /* a thread's iterations are chosen as a whole */
    for (uint32_t d = depth; d < reference->path_length; d++) {
        int64_t c = search->coefficient[d];
        if (!c || search->pinned >> d & 1) continue;
        if (outermost == UINT32_MAX) outermost = d;
        if (d >= free_from && (widest == UINT32_MAX || llabs(c) > llabs(search->coefficient[widest]))) widest = d;
    }
    if (widest == UINT32_MAX || widest == outermost ||
        llabs(search->coefficient[widest]) <= llabs(search->coefficient[outermost]))
        return choose(search, depth);
    int64_t low, high, c = search->coefficient[widest];
    if (!fill_boxes(search, depth, &low, &high)) return 0;
    low -= c > 0 ? c * search->from[widest] : c * search->to[widest];
    high -= c > 0 ? c * search->to[widest] : c * search->from[widest];
    int64_t fixed = reference->address.constant;
    for (uint32_t d = 0; d < depth; d++) fixed += search->coefficient[d] * search->value[d];
    int64_t from = search->low - fixed - high, to = search->high - fixed - low;
    int64_t first = c > 0 ? ceil_divide(from, c) : ceil_divide(to, c);
    int64_t last = c > 0 ? floor_divide(to, c) : floor_divide(from, c);
    if (first < search->from[widest]) first = search->from[widest];
    if (last > search->to[widest]) last = search->to[widest];
    if (last - first >= PIN_VALUES_MAX) return choose(search, depth);
    int found = 0;
    int64_t best[RSC_LOOP_DEPTH_MAX], best_m = 0;
    search->pinned |= 1u << widest;
    for (int64_t value = last; value >= first; value--) {
        search->pin[widest] = value;
        if (!choose_pinning(search, depth)) continue;
        if (found && !is_after(reference, depth, search->value, best)) continue;
        found = 1;
        memcpy(best, search->value, sizeof best);
        best_m = search->m;
        if (search->any) break;
    }
    search->pinned &= ~(1u << widest);
    if (!found) return 0;
    memcpy(search->value, best, sizeof best);
    search->m = best_m;
    return 1;
}

void rsc_lexmax_aim(struct rsc_search *search, const struct rsc_nest_node *reference, const struct rsc_target *target) {
    search->reference = reference;
    search->low = rsc_target_low(target, reference);
    search->high = target->high;
    memset(search->coefficient, 0, reference->path_length * sizeof *search->coefficient);
    for (uint32_t i = 0; i < reference->address.count; i++)
        search->coefficient[reference->address.depth[i]] = reference->address.coefficient[i];
}

/* The last instance with the variables before `depth` as in `place`, and less at `limit_depth` if that is set. */
int rsc_lexmax_solve(struct rsc_search *search, const int64_t *place, uint32_t depth) {
    for (uint32_t d = 0; d < depth; d++) set_value(search, d, place[d]);
    for (uint32_t i = 0; i < search->reference->check_count; i++) {
        const struct rsc_nest_condition *check = search->reference->check[i];
        if ((!check->value.depths || check->deepest < depth) && !holds(check, place)) return 0;
    }
    return choose_pinning(search, depth);
}
