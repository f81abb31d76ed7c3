/*
 * first_level_kernel.h - the two loops of first_level.h; included once per vector width.
 */
#ifndef RSC_SIMULATE_FIRST_LEVEL_KERNEL_H
#define RSC_SIMULATE_FIRST_LEVEL_KERNEL_H

#include "simulate/first_level_parts.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/* ---- gathering: a reference that leaves `last` as it is would change nothing in its cache ---- */

static inline __attribute__((always_inline)) uint32_t gather_tile(struct rsc_fast_gather *gather, const struct rsc_batch *batch,
                                                                  uint32_t first, uint32_t end, int many, int split) {
    const uint64_t *addr = batch->addr, *meta = batch->meta;
    const uint32_t shift = gather->shift, part_shift = gather->part_shift, part_mask = gather->part_mask;
    const uint64_t within = (1ull << shift) - 1;
    uint64_t fetch_last = gather->last[0], data_last = gather->last[1], fetches = 0, writes = 0, references = 0;
    uint64_t *list = gather->lists[0];
    uint32_t used = gather->used[0], i = first;
    for (; i < end; i++) {
        uint64_t block = addr[i] >> shift, size = (uint32_t)meta[i], kind = meta[i] >> 32 & 0xff;
        uint64_t is_fetch = kind == RSC_FETCH, is_write = kind == RSC_WRITE;
        uint64_t more = ((addr[i] & within) + size - (size != 0)) >> shift; /* blocks beyond the first */
        if (__builtin_expect(kind >= RSC_KINDS || (gather->skip >> kind & 1), 0)) {
            gather->left_out++;
            continue;
        }
        if (__builtin_expect(more >= RSC_FAST_SPAN || addr[i] + size < size, 0)) break;
        references += more + 1;
        fetches += is_fetch * (more + 1);
        writes += is_write * (more + 1);
        for (;; more--, block++) {
            uint64_t data_is = split && !is_fetch, last = data_is ? data_last : fetch_last;
            uint64_t now = block << 1 | is_write | ((last >> 1 == block) & last);
            if (many) {
                uint32_t part = (uint32_t)(block >> part_shift) & part_mask;
                gather->lists[part][gather->used[part]] = block << 2 | kind;
                gather->used[part] += now != last;
            } else {
                list[used] = block << 2 | kind;
                used += now != last;
            }
            fetch_last = data_is ? fetch_last : now;
            data_last = data_is ? now : data_last;
            if (__builtin_expect(!more, 1)) break;
        }
    }
    if (!many) gather->used[0] = used;
    gather->last[0] = fetch_last;
    gather->last[1] = data_last;
    gather->references += references;
    gather->fetches += fetches;
    gather->writes += writes;
    return i;
}

static inline uint32_t gather_kernel(struct rsc_fast_gather *gather, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    if (gather->part_mask)
        return gather->unified ? gather_tile(gather, batch, first, end, 1, 0) : gather_tile(gather, batch, first, end, 1, 1);
    return gather->unified ? gather_tile(gather, batch, first, end, 0, 0) : gather_tile(gather, batch, first, end, 0, 1);
}

/* ---- serving: a set's entries in order of use, VALID and DIRTY the only flags ---- */

#if defined(__AVX512F__)

/* Row i brings lane i to the front and moves those before it one back. */
static const uint64_t fronts[8][8] __attribute__((aligned(64))) = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 3, 4, 5, 6, 7}, {2, 0, 1, 3, 4, 5, 6, 7}, {3, 0, 1, 2, 4, 5, 6, 7},
    {4, 0, 1, 2, 3, 5, 6, 7}, {5, 0, 1, 2, 3, 4, 6, 7}, {6, 0, 1, 2, 3, 4, 5, 7}, {7, 0, 1, 2, 3, 4, 5, 6},
};

/* Up to 8 ways: the set is one vector. A hit needs no branch on where it was. Returns the entry that went, or 1 for a hit. */
static inline __attribute__((always_inline)) uint64_t serve_narrow(uint64_t *set, uint32_t ways, uint64_t entry) {
    const __mmask8 lanes = (__mmask8)(0xff >> (8 - ways));
    const __m512i dirty = _mm512_set1_epi64(RSC_ENTRY_DIRTY), wanted = _mm512_set1_epi64((long long)(entry | RSC_ENTRY_DIRTY));
    __m512i all = _mm512_maskz_loadu_epi64(lanes, set);
    uint32_t found = _mm512_mask_cmpeq_epi64_mask(lanes, _mm512_or_si512(all, dirty), wanted);
    uint32_t way = found ? (uint32_t)__builtin_ctz(found) : ways - 1;
    __m512i moved = _mm512_permutexvar_epi64(_mm512_load_si512(fronts[way]), all);
    if (__builtin_expect(found != 0, 1)) {
        moved = _mm512_mask_or_epi64(moved, 1, moved, _mm512_set1_epi64((long long)entry));
        _mm512_mask_storeu_epi64(set, lanes, moved);
        return 1;
    }
    uint64_t evicted = set[ways - 1];
    _mm512_mask_storeu_epi64(set, lanes, _mm512_mask_set1_epi64(moved, 1, (long long)entry));
    return evicted;
}

/* 9 to 16 ways: two vectors; what leaves the first enters the second. */
static inline __attribute__((always_inline)) uint64_t serve_wide(uint64_t *set, uint32_t ways, uint64_t entry) {
    const __mmask8 lanes = (__mmask8)(0xff >> (16 - ways));
    const __m512i dirty = _mm512_set1_epi64(RSC_ENTRY_DIRTY), wanted = _mm512_set1_epi64((long long)(entry | RSC_ENTRY_DIRTY));
    __m512i near = _mm512_loadu_si512(set), far = _mm512_maskz_loadu_epi64(lanes, set + 8);
    uint32_t found = _mm512_cmpeq_epi64_mask(_mm512_or_si512(near, dirty), wanted) |
                     (uint32_t)_mm512_mask_cmpeq_epi64_mask(lanes, _mm512_or_si512(far, dirty), wanted) << 8;
    uint32_t way = found ? (uint32_t)__builtin_ctz(found) : ways - 1;
    uint64_t was = set[way], between = set[7];
    uint64_t put = found ? was | entry : entry;
    near = _mm512_permutexvar_epi64(_mm512_load_si512(fronts[way < 8 ? way : 7]), near);
    _mm512_storeu_si512(set, _mm512_mask_set1_epi64(near, 1, (long long)put));
    if (way >= 8) {
        far = _mm512_permutexvar_epi64(_mm512_load_si512(fronts[way - 8]), far);
        _mm512_mask_storeu_epi64(set + 8, lanes, _mm512_mask_set1_epi64(far, 1, (long long)between));
    }
    return found ? 1 : was;
}

static inline __attribute__((always_inline)) uint64_t serve_set(uint64_t *set, uint32_t ways, uint64_t entry) {
    return ways <= 8 ? serve_narrow(set, ways, entry) : serve_wide(set, ways, entry);
}

#else

static inline __attribute__((always_inline)) uint64_t serve_set(uint64_t *set, uint32_t ways, uint64_t entry) {
    uint64_t wanted = entry | RSC_ENTRY_DIRTY, carried = set[0];
    if ((carried | RSC_ENTRY_DIRTY) == wanted) {
        set[0] = carried | entry;
        return 1;
    }
    for (uint32_t way = 1; way < ways; way++) {
        uint64_t here = set[way];
        set[way] = carried;
        carried = here;
        if ((here | RSC_ENTRY_DIRTY) == wanted) {
            set[0] = here | entry;
            return 1;
        }
    }
    set[0] = entry;
    return carried;
}

#endif

static inline __attribute__((always_inline)) void serve_kernel(struct rsc_fast_part *part, const uint64_t *references,
                                                               uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t block = references[i] >> 2, kind = references[i] & 3;
        struct rsc_fast_cache *cache = &part->caches[kind != RSC_FETCH];
        uint64_t *set = cache->entries + (block & cache->mask) * cache->ways;
        uint64_t entry = block << RSC_ENTRY_SHIFT | RSC_ENTRY_VALID | (kind == RSC_WRITE); /* dirty is bit 0 */
        uint64_t evicted = serve_set(set, cache->ways, entry);
        if (__builtin_expect(evicted != 1, 0)) rsc_fast_miss(part, cache, block, (unsigned)kind, evicted);
    }
}

#endif
