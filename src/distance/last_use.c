/* last_use.c - see last_use.h. */
#include "distance/last_use.h"

#include <string.h>

#include <reusescope/error.h>

int rsc_last_use_init(struct rsc_last_use *last, enum rsc_simd simd, uint64_t seed, uint32_t time_bits) {
    memset(last, 0, sizeof *last);
    last->offset = rsc_line_offset(seed);
    last->time_bits = time_bits ? time_bits : RSC_TIME_BITS;
    last->run = rsc_last_use_run_plain;
#if defined(__x86_64__)
    if (simd == RSC_SIMD_AVX2) last->run = rsc_last_use_run_avx2;
    if (simd == RSC_SIMD_AVX512) last->run = rsc_last_use_run_avx512;
#else
    (void)simd;
#endif
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

struct visit_times {
    const struct rsc_last_use *last;
    void (*visit)(void *context, uint64_t line, uint64_t time);
    void *context;
};

static void visit_unit(void *context, uint64_t line, uint32_t unit) {
    const struct visit_times *visitor = context;
    const struct rsc_line_map *map = &visitor->last->map;
    uint64_t time = map->units[unit] & ~RSC_TIME_MARK;
    if (map->extra) time |= (uint64_t)map->extra[unit] << visitor->last->time_bits;
    if (map->units[unit]) visitor->visit(visitor->context, line, time);
}

void rsc_last_use_visit(const struct rsc_last_use *last, void (*visit)(void *context, uint64_t line, uint64_t time),
                        void *context) {
    struct visit_times visitor = {last, visit, context};
    rsc_line_map_visit(&last->map, visit_unit, &visitor);
}
