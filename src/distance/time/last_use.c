/* last_use.c - see last_use.h. */
#include "distance/time/last_use.h"

#include <string.h>

#include <reusescope/error.h>

int rsc_last_use_init(struct rsc_last_use *last, enum rsc_simd simd, uint64_t seed, uint32_t time_bits) {
    memset(last, 0, sizeof *last);
    last->offset = rsc_line_offset(seed);
    last->time_bits = time_bits ? time_bits : RSC_TIME_BITS;
    last->run = RSC_WIDE_PICK(simd, rsc_last_use_run);
    int status = rsc_line_map_init(&last->map);
    last->map.whole_blocks = 1;
    return status;
}

void rsc_last_use_free(struct rsc_last_use *last) {
    rsc_line_map_free(&last->map);
    memset(last, 0, sizeof *last);
}

uint64_t rsc_last_use_bytes(const struct rsc_last_use *last) { return rsc_line_map_bytes(&last->map); }

int rsc_last_use_run(struct rsc_last_use *last, const uint64_t *lines, uint32_t count, struct rsc_intervals *found) {
    found->count = count;
    found->listed_count = found->sampled_count = 0;
    if (!count) return 0;
    if (!last->map.extra && (last->now + count) >> last->time_bits && rsc_line_map_add_extra(&last->map) < 0)
        return RSC_ENOMEM;
    return last->run(last, lines, count, found);
}

/* Not rsc_line_map_visit(): blocks are whole, and most lines of a block may never have been used. */
void rsc_last_use_visit(const struct rsc_last_use *last, void (*visit)(void *context, uint64_t line, uint64_t time),
                        void *context) {
    const struct rsc_line_map *map = &last->map;
    for (uint64_t bucket = 0; bucket < map->bucket_count; bucket++)
        for (uint32_t entry = 0; entry < map->buckets[bucket].used; entry++) {
            uint32_t unit = rsc_line_map_first_unit(map->buckets[bucket].where[entry]);
            for (uint32_t i = 0; i < 16; i++) {
                if (!map->units[unit + i]) continue;
                uint64_t time = map->units[unit + i] & ~RSC_TIME_MARK;
                if (map->extra) time |= (uint64_t)map->extra[unit + i] << last->time_bits;
                visit(context, map->buckets[bucket].key[entry] + i, time);
            }
        }
}
