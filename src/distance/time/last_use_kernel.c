/*
 * last_use_kernel.c - the loop of last_use.h; compiled once per vector width.
 *
 * Repeats of a line have interval 1 and need no lookup. Other references need two
 * dependent memory accesses, bucket and unit: each is prefetched for later references
 * while earlier ones are processed.
 */
#include "base/cpu.h"
#include "distance/time/last_use.h"
#include "distance/exact/line_runs.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define AHEAD_BUCKET RSC_LAST_USE_AHEAD
#define AHEAD_UNIT 32u

/* Lists the references to lines of the sample. */
static inline __attribute__((always_inline)) uint32_t list_sampled(const struct rsc_last_use *last,
                                                                   const uint64_t *lines, uint32_t count,
                                                                   uint32_t *sampled) {
    uint32_t listed = 0, i = 0;
    if (!last->rate_shift) {
        for (; i < count; i++) sampled[i] = i;
        return count;
    }
    const uint64_t most = UINT64_MAX >> last->rate_shift;
#if defined(__AVX512DQ__)
    const __m512i offset = _mm512_set1_epi64((int64_t)last->offset), limit = _mm512_set1_epi64((int64_t)most);
    for (; i + 8 <= count; i += 8) {
        __mmask8 has = _mm512_cmple_epu64_mask(rsc_line_hash_8(_mm512_loadu_si512(lines + i), offset), limit);
        for (uint32_t left = has; left; left &= left - 1) sampled[listed++] = i + (uint32_t)__builtin_ctz(left);
    }
#endif
    for (; i < count; i++) {
        sampled[listed] = i;
        listed += rsc_line_hash(lines[i], last->offset) <= most;
    }
    return listed;
}

/* Lists references whose line differs from the one before, and sets all intervals to 1. */
static inline __attribute__((always_inline)) uint32_t list_changes(struct rsc_last_use *last, const uint64_t *lines,
                                                                   uint32_t count, struct rsc_intervals *found) {
    last->line[0] = lines[0];
    found->index[0] = 0;
    uint32_t listed = rsc_line_runs(lines, count, 1, last->line, found->index);
    for (uint32_t i = 0; i < count; i++) found->ri[i] = 1;
    return listed;
}

/* always_inline, here and below: gcc drops calls of functions that only prefetch. */
static inline __attribute__((always_inline)) void find_bucket(struct rsc_last_use *last, uint32_t k) {
    last->unit[k] = rsc_line_map_home(&last->map, last->line[k]);
    __builtin_prefetch(last->map.buckets + last->unit[k]);
}

/* Blocks are whole: a known block has a unit for each of its lines. */
static inline __attribute__((always_inline)) void find_unit(struct rsc_last_use *last, uint32_t k, int wide) {
    uint64_t line = last->line[k];
    uint32_t where = rsc_line_map_where(&last->map, line, last->unit[k]);
    uint32_t unit = where ? where << 4 | (uint32_t)(line & 15) : 0;
    last->unit[k] = unit;
    __builtin_prefetch(last->map.units + unit, 1);
    if (wide) __builtin_prefetch(last->map.extra + unit, 1);
}

static inline __attribute__((always_inline)) int exchange_times(struct rsc_last_use *last, struct rsc_intervals *found,
                                                                int wide) {
    const uint32_t listed = found->listed_count, bits = last->time_bits, low_bits = (1u << bits) - 1;
    const uint64_t start = last->now + 1;
    int status = 0;
    uint64_t distinct = 0;
    for (uint32_t k = listed; k < listed + RSC_LAST_USE_AHEAD; k++) last->line[k] = last->line[listed - 1];
    for (uint32_t k = 0; k < AHEAD_BUCKET; k++) find_bucket(last, k);
    for (uint32_t k = 0; k < AHEAD_UNIT; k++) find_unit(last, k, wide);
    for (uint32_t k = 0; k < listed; k++) {
        find_bucket(last, k + AHEAD_BUCKET);
        find_unit(last, k + AHEAD_UNIT, wide);
        uint32_t unit = last->unit[k];
        if (__builtin_expect(!unit, 0) && !(unit = rsc_line_map_add(&last->map, last->line[k], &status))) return status;
        /* repeats of the line follow until the next listed one: the last of them is its last use */
        uint64_t now = start + found->index[k], until = start + found->index[k + 1] - 1;
        uint64_t then = last->map.units[unit];
        uint64_t time = then & low_bits;
        last->map.units[unit] = (uint32_t)(until & low_bits) | RSC_TIME_MARK;
        if (wide) {
            time |= (uint64_t)last->map.extra[unit] << bits;
            last->map.extra[unit] = (uint32_t)(until >> bits);
        }
        uint64_t interval = then ? now - time : 0;
        found->listed_ri[k] = found->ri[found->index[k]] = interval;
        distinct += !then;
    }
    last->distinct += distinct;
    return 0;
}

static inline __attribute__((always_inline)) int last_use_kernel(struct rsc_last_use *last, const uint64_t *lines,
                                                                 uint32_t count, struct rsc_intervals *found) {
    found->sampled_count = list_sampled(last, lines, count, found->sampled);
    found->listed_count = list_changes(last, lines, count, found);
    int status = last->map.extra ? exchange_times(last, found, 1) : exchange_times(last, found, 0);
    last->now += count;
    return status;
}

int RSC_WIDE(rsc_last_use_run)(struct rsc_last_use *last, const uint64_t *lines, uint32_t count,
                               struct rsc_intervals *found) {
    return last_use_kernel(last, lines, count, found);
}
