/* exact_replay.c - see exact_replay.h. */
#include "distance/exact/exact_replay.h"

void rsc_exact_take_out(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, struct rsc_replayed *replayed) {
    RSC_WIDE_PICK(rsc_simd_best(), rsc_exact_take_out)(exact, lines, count, replayed);
}

int rsc_exact_settle(struct rsc_exact *exact) { return rsc_exact_shrink_recent(exact, 0); }

struct listing {
    const struct rsc_exact *exact;
    struct rsc_held_line *list;
};

static void list_line(void *context, uint64_t line, uint32_t unit) {
    const struct listing *listing = context;
    const struct rsc_exact *exact = listing->exact;
    uint32_t slot = exact->map.units[unit] - 1;
    if (slot >= RSC_UNIT_OTHER - 1) return;
    listing->list[rsc_rank_before(&exact->rank, slot)] =
        (struct rsc_held_line){line, rsc_exact_time(exact, slot), exact->map.extra ? exact->map.extra[unit] : 0};
}

void rsc_exact_list(struct rsc_exact *exact, struct rsc_held_line *list) {
    struct listing listing = {exact, list};
    if (exact->rank.set) rsc_line_map_visit(&exact->map, list_line, &listing);
}
