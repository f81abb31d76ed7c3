/*
 * exact_replay_kernel.h - the loop of rsc_exact_take_out(); included once per
 * vector width. Bucket, unit and bit are prefetched one after the other, as in
 * exact_kernel.h.
 */
#ifndef RSC_DISTANCE_EXACT_REPLAY_KERNEL_H
#define RSC_DISTANCE_EXACT_REPLAY_KERNEL_H

#include "distance/exact_replay.h"

#define REPLAY_AHEAD 24u
#define REPLAY_AHEAD_UNIT 14u
#define REPLAY_AHEAD_BIT 7u

static inline uint32_t unit_of_line(const struct rsc_line_map *map, uint64_t line) {
    return rsc_line_map_unit(map, line, rsc_line_map_where(map, line, rsc_line_map_home(map, line)));
}

static inline __attribute__((always_inline)) void take_out_kernel(struct rsc_exact *exact, const uint64_t *lines,
                                                                  uint32_t count, struct rsc_replayed *replayed) {
    struct rsc_line_map *map = &exact->map;
    for (uint32_t i = 0; i < count; i++) {
        if (i + REPLAY_AHEAD < count)
            __builtin_prefetch(map->buckets + rsc_line_map_home(map, lines[i + REPLAY_AHEAD]));
        if (i + REPLAY_AHEAD_UNIT < count) {
            uint64_t line = lines[i + REPLAY_AHEAD_UNIT];
            uint32_t where = rsc_line_map_where(map, line, rsc_line_map_home(map, line));
            __builtin_prefetch(map->units + rsc_line_map_first_unit(where), 1);
        }
        if (i + REPLAY_AHEAD_BIT < count) {
            uint32_t slot = map->units[unit_of_line(map, lines[i + REPLAY_AHEAD_BIT])] - 1;
            if (slot < RSC_UNIT_OTHER - 1) rsc_rank_prefetch(&exact->rank, slot);
        }
        uint32_t unit = unit_of_line(map, lines[i]), held = map->units[unit];
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

void rsc_exact_take_out_avx2(struct rsc_exact *, const uint64_t *, uint32_t, struct rsc_replayed *);
void rsc_exact_take_out_avx512(struct rsc_exact *, const uint64_t *, uint32_t, struct rsc_replayed *);

#endif
