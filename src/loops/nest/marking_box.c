/*
 * marking_box.c - marks boxes: loops none of which decides the bounds of another. Their addresses are the sums of one
 * multiple of each stride, so rows that lie a line apart or less are one run, however the loops are nested, and what is
 * left are runs at regular distances.
 */
#include <stdlib.h>

#include "loops/nest/marking.h"

/* Iterations whose addresses are `stride` apart: > 0. */
struct side {
    int64_t stride, trip;
};

static void add_side(struct side *side, uint32_t *count, struct side added) {
    uint32_t at = (*count)++;
    for (; at && side[at - 1].stride > added.stride; at--) side[at] = side[at - 1];
    side[at] = added;
}

/* Joins sides whose multiples are those of one: 0 10 20 and 0 30 are 0 10 20 .. 50. */
static uint32_t join_sides(struct side *side, uint32_t count) {
    uint32_t kept = 0;
    for (uint32_t i = 1; i < count; i++) {
        struct side *before = &side[kept];
        int64_t times = side[i].stride / before->stride;
        if (side[i].stride % before->stride == 0 && times <= before->trip) before->trip += times * (side[i].trip - 1);
        else side[++kept] = side[i];
    }
    return count ? kept + 1 : 0;
}

static int mark_sides(struct rsc_marking *marking, int64_t address, int64_t extent, const struct side *side,
                      uint32_t count) {
    int status = 0;
    if (!count) return rsc_mark_rows(marking, address, extent, 0, 1);
    if (count == 1) return rsc_mark_rows(marking, address, extent, side->stride, side->trip);
    const struct side *widest = &side[count - 1];
    for (int64_t k = 0; k < widest->trip && status >= 0; k++) {
        if (rsc_nest_stopped(marking->search->nest)) return RSC_ELIMIT;
        status = mark_sides(marking, address + k * widest->stride, extent, side, count - 1);
    }
    return status;
}

int rsc_mark_box(struct rsc_marking *marking, uint32_t depth, uint32_t given, int64_t first, int64_t trip,
                 int *status) {
    const struct rsc_nest_node *reference = marking->reference;
    struct side side[RSC_LOOP_DEPTH_MAX];
    uint32_t count = 0;
    for (uint32_t d = depth; d < reference->path_length; d++)
        if (marking->matters >> d & 1 && reference->inner_depths[d] >> d & 1) return 0;
    for (uint32_t i = 0; i < reference->check_count; i++)
        if (reference->check[i]->value.depths >> depth) return 0;
    *status = 0;
    for (uint32_t d = depth; d < reference->path_length; d++) {
        const struct rsc_nest_node *loop = reference->path[d];
        int64_t from = first, times = trip, stride = 0;
        if (d != given) times = rsc_nest_trip(loop, marking->value, &from);
        if (times <= 0) return 1;
        for (uint32_t i = 0; i < reference->address.count; i++)
            if (reference->address.depth[i] == d) stride = reference->address.coefficient[i] * loop->step;
        if (stride < 0 || (!stride && marking->at_last >> d & 1)) { /* from the lowest address on */
            from += (times - 1) * loop->step;
            stride = -stride;
        }
        marking->value[d] = from;
        if (stride && times > 1) add_side(side, &count, (struct side){stride, times});
    }
    int64_t line = (int64_t)1 << marking->line_shift, extent = 0;
    uint32_t in_run = 0;
    for (; in_run < count && side[in_run].stride <= extent + line; in_run++)
        extent += side[in_run].stride * (side[in_run].trip - 1);
    *status = mark_sides(marking, rsc_nest_affine_at(&reference->address, marking->value), extent, side + in_run,
                         join_sides(side + in_run, count - in_run));
    return 1;
}
