/*
 * exact_replay.c - see exact_replay.h.
 *
 * The time of a line that was put is not told by its place: all places of a state
 * that was put to are "old" ones, whose times are remembered one by one.
 */
#include "distance/exact/exact_replay.h"

#include <string.h>

#include "base/pages.h"

/* Places used before a state that is put to is compacted, per line held and at least. Compaction costs about as
 * much as putting every line held: it follows three times as many puts. */
#define PLACES_PER_LINE 4u
#define PLACES_LEAST 65536u

void rsc_exact_take_out(struct rsc_exact *exact, const uint64_t *lines, uint32_t count, struct rsc_replayed *replayed) {
    RSC_WIDE_PICK(rsc_simd_best(), rsc_exact_take_out)(exact, lines, count, replayed);
}

int rsc_exact_settle(struct rsc_exact *exact) { return rsc_exact_shrink_recent(exact, 0); }

uint64_t rsc_exact_held(const struct rsc_exact *exact) { return exact->rank.set + exact->recent.count; }

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

void rsc_exact_empty(struct rsc_exact *exact) {
    rsc_line_map_empty(&exact->map);
    rsc_rank_fill(&exact->rank, 0);
    memset(&exact->recent, 0, sizeof exact->recent);
    exact->now = 0;
    exact->distinct = 0;
    exact->compacted = 0;
    exact->compacted_slot = 0;
    exact->time_of_place = 0;
}

/* Room to remember the time of `place`. */
static int reserve_time(struct rsc_exact *exact, uint64_t place) {
    uint64_t bytes = exact->old_time_bytes, wanted = 2 * (place + 1) * sizeof *exact->old_time + 65536;
    if (exact->no_ri || place < bytes / sizeof *exact->old_time) return 0;
    uint64_t *old_time = bytes ? rsc_pages_grow(exact->old_time, bytes, wanted) : rsc_pages_new(wanted);
    if (!old_time) return RSC_ENOMEM;
    exact->old_time = old_time;
    exact->old_time_bytes = wanted;
    return 0;
}

int rsc_exact_put(struct rsc_exact *exact, const struct rsc_held_line *list, uint64_t count) {
    struct rsc_line_map *map = &exact->map;
    int status = rsc_exact_settle(exact);
    if (!status && count) status = rsc_exact_compact(exact, 0);
    for (uint64_t i = 0; !status && i < count; i++) {
        if (exact->compacted >= exact->places || exact->compacted >= PLACES_PER_LINE * exact->rank.set + PLACES_LEAST)
            status = rsc_exact_compact(exact, 0);
        uint64_t place = exact->compacted;
        if (!status) status = reserve_time(exact, place);
        if (!status && list[i].tag && !map->extra) status = rsc_line_map_add_extra(map);
        uint32_t unit = status < 0 ? 0 : rsc_line_map_add(map, list[i].line, &status);
        if (!unit) return status;
        rsc_line_map_reuse(map);
        if (i + REPLAY_AHEAD < count)
            __builtin_prefetch(map->buckets + rsc_line_map_home(map, list[i + REPLAY_AHEAD].line));
        uint32_t slot = rsc_rank_slot((uint32_t)place);
        rsc_rank_set(&exact->rank, slot);
        map->units[unit] = slot + 1;
        if (map->extra) map->extra[unit] = list[i].tag;
        if (!exact->no_ri) exact->old_time[place] = list[i].time;
        exact->compacted = place + 1;
        exact->compacted_slot = rsc_rank_slot((uint32_t)place + 1);
    }
    return status;
}
