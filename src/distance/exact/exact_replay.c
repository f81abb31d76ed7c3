/* exact_replay.c - see exact_replay.h. */
#include "distance/exact/exact_replay.h"

void rsc_exact_take_out(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, struct rsc_replayed *replayed) {
    RSC_WIDE_PICK(rsc_simd_best(), rsc_exact_take_out)(exact, lines, count, replayed);
}

int rsc_exact_settle(struct rsc_exact *exact) { return rsc_exact_shrink_recent(exact, 0); }

struct visit {
    const struct rsc_exact *exact;
    rsc_exact_visitor *take;
    void *context;
};

static void visit_unit(void *context, uint64_t line, uint32_t unit) {
    const struct visit *visit = context;
    uint32_t slot = visit->exact->map.units[unit] - 1;
    if (slot < RSC_UNIT_OTHER - 1) visit->take(visit->context, line, visit->exact, slot);
}

void rsc_exact_visit(const struct rsc_exact *exact, rsc_exact_visitor *take, void *context) {
    struct visit visit = {exact, take, context};
    if (exact->rank.set) rsc_line_map_visit(&exact->map, visit_unit, &visit);
}
