/*
 * exact_replay_kernel.c - the loop of rsc_exact_take_out(); compiled once per
 * vector width. Bucket, unit and bit are prefetched one after the other, as in
 * exact_kernel.c.
 */
#include "base/cpu.h"
#include "distance/exact/exact_replay.h"

/* How far ahead the bucket, unit and bit of a line are prefetched. */
#define REPLAY_AHEAD 24u
#define REPLAY_AHEAD_UNIT 14u
#define REPLAY_AHEAD_BIT 7u

/* The prefetch state of a line to be taken out soon: first its bucket, then its entry, then its unit; 0: none. */
#define REPLAY_RING 32u

static inline __attribute__((always_inline)) void take_out_kernel(struct rsc_exact *exact, const uint64_t *lines,
                                                                  uint32_t count, struct rsc_replayed *replayed) {
    struct rsc_line_map *map = &exact->map;
    uint32_t ring[REPLAY_RING];
    for (uint32_t step = 0; step < count + REPLAY_AHEAD; step++) {
        if (step < count) {
            ring[step % REPLAY_RING] = rsc_line_map_home(map, lines[step]);
            __builtin_prefetch(map->buckets + ring[step % REPLAY_RING]);
        }
        uint32_t i = step - (REPLAY_AHEAD - REPLAY_AHEAD_UNIT);
        if (i < count) {
            uint32_t *known = &ring[i % REPLAY_RING];
            *known = rsc_line_map_where(map, lines[i], *known);
            __builtin_prefetch(map->units + rsc_line_map_first_unit(*known), 1);
        }
        i = step - (REPLAY_AHEAD - REPLAY_AHEAD_BIT);
        if (i < count) {
            uint32_t *known = &ring[i % REPLAY_RING];
            *known = rsc_line_map_unit(map, lines[i], *known);
            uint32_t slot = map->units[*known] - 1;
            if (slot < RSC_UNIT_OTHER - 1) rsc_rank_prefetch(&exact->rank, slot);
        }
        i = step - REPLAY_AHEAD;
        if (i >= count) continue; /* not yet */
        uint32_t unit = ring[i % REPLAY_RING], held = map->units[unit];
        if (!unit || !held) {
            replayed[i] = (struct rsc_replayed){.time = RSC_NOT_HELD, .above = (uint32_t)exact->rank.set};
            continue;
        }
        replayed[i].time = rsc_exact_time(exact, held - 1);
        replayed[i].tag = map->extra ? map->extra[unit] : 0;
        uint32_t before = rsc_rank_take(&exact->rank, held - 1);
        replayed[i].above = (uint32_t)exact->rank.set - before;
        map->units[unit] = 0;
    }
}

void RSC_WIDE(rsc_exact_take_out)(struct rsc_exact *exact, const uint64_t *lines, uint32_t count,
                                  struct rsc_replayed *replayed) {
    take_out_kernel(exact, lines, count, replayed);
}
