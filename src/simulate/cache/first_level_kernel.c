/*
 * first_level_kernel.c - the two loops of first_level.h; compiled once per vector width.
 */
#include "base/cpu.h"
#include "simulate/cache/first_level_parts.h"

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

/*
 * ---- gathering ----
 *
 * `x` of a reference is block << 1 | write. A reference right after one to the same block
 * in the same cache changes nothing, unless it is the first write. So it is dropped if the
 * x before it is equal or, for a read, that of a write. The rest of a tile is then filtered
 * in the same way set by set.
 */
#define AHEAD 512u /* prefetch distance in accesses: the hardware prefetcher stops at page boundaries */

static inline int changes_nothing(uint64_t x, uint64_t before) { return before == x || before == (x | 1); }

/* One reference. */
static inline __attribute__((always_inline)) void gather_one(struct rsc_fast_gather *gather, uint64_t block,
                                                             uint64_t kind) {
    uint64_t *last = &gather->last[kind != RSC_FETCH && !gather->unified], x = block << 1 | (kind == RSC_WRITE);
    gather->tile[gather->tile_used] = block << 2 | kind;
    gather->tile_used += !changes_nothing(x, *last);
    *last = x;
    gather->counts.references++;
    gather->counts.fetches += kind == RSC_FETCH;
    gather->counts.writes += kind == RSC_WRITE;
}

/* Gathers one access. Returns 0 without doing anything if it spans too many blocks, or reaches the end of memory. */
static inline int gather_access(struct rsc_fast_gather *gather, uint64_t addr, uint64_t meta) {
    uint64_t room = gather->addr_mask - (addr & gather->addr_mask);
    addr = (addr & gather->addr_mask) | gather->addr_space;
    uint64_t block = addr >> gather->shift, size = (uint32_t)meta, kind = meta >> 32 & 0xff;
    uint64_t more =
        ((addr & ((1ull << gather->shift) - 1)) + size - (size != 0)) >> gather->shift; /* blocks beyond the first */
    if (kind >= RSC_KINDS || gather->skip >> kind & 1) {
        gather->counts.left_out++;
        return 1;
    }
    if (more >= RSC_FAST_SPAN || size > room) return 0;
    for (uint64_t i = 0; i <= more; i++) gather_one(gather, block + i, kind);
    return 1;
}

#if defined(__AVX512F__)

/* For each lane of `mine`, the x of the previous lane of `mine`; *last is the x before the first, in every lane. */
static inline __attribute__((always_inline)) __m512i gather_before(__m512i into, __m512i x, uint32_t mine,
                                                                   __m512i *last) {
    __m512i of = _mm512_maskz_compress_epi64((__mmask8)mine, x), shifted = _mm512_alignr_epi64(of, *last, 7);
    __m512i newest = _mm512_set1_epi64(31 - __builtin_clz(mine | 1));
    *last = _mm512_mask_permutexvar_epi64(*last, (__mmask8) - (mine != 0), newest, x);
    return _mm512_mask_expand_epi64(into, (__mmask8)mine, shifted);
}

static inline uint64_t lane_0(__m512i vector) { return (uint64_t)_mm_cvtsi128_si64(_mm512_castsi512_si128(vector)); }

/* The fields of `gather` that the loop keeps in registers. */
struct gather_state {
    __m512i fetch_last, data_last; /* in every lane */
    uint64_t *list;                /* where the next reference goes */
    uint64_t fetches, writes, references;
};

static inline __attribute__((always_inline)) void gather_load(struct gather_state *state,
                                                              const struct rsc_fast_gather *gather) {
    state->fetch_last = _mm512_set1_epi64((long long)gather->last[0]);
    state->data_last = _mm512_set1_epi64((long long)gather->last[1]);
    state->list = gather->tile + gather->tile_used;
}

static inline __attribute__((always_inline)) void gather_store(const struct gather_state *state,
                                                               struct rsc_fast_gather *gather) {
    gather->last[0] = lane_0(state->fetch_last);
    gather->last[1] = lane_0(state->data_last);
    gather->tile_used = (uint32_t)(state->list - gather->tile);
}

/* Gathers the references in the lanes of `valid`, which are the lowest lanes. */
static inline __attribute__((always_inline)) void gather_references(struct gather_state *state, __m512i reference,
                                                                    uint32_t valid, int split) {
    const __m512i one = _mm512_set1_epi64(1);
    uint32_t fetch = _mm512_mask_test_epi64_mask((__mmask8)valid, reference, _mm512_set1_epi64(RSC_FETCH));
    uint32_t write = _mm512_mask_test_epi64_mask((__mmask8)valid, reference, one);
    /* x: (reference >> 1 & ~1) | (reference & 1) */
    __m512i x = _mm512_ternarylogic_epi64(_mm512_srli_epi64(reference, 1), reference, one, 0xD8), before;
    if (split) {
        before = gather_before(x, x, fetch, &state->fetch_last);
        before = gather_before(before, x, valid & ~fetch, &state->data_last);
    } else {
        before = gather_before(x, x, valid, &state->fetch_last);
    }
    /* (before ^ x) & ~(before & 1) is 0 where x changes nothing */
    __m512i changes = _mm512_ternarylogic_epi64(before, x, one, 0x1C);
    uint32_t keep = _mm512_mask_test_epi64_mask((__mmask8)valid, changes, changes);
    _mm512_storeu_si512(state->list, _mm512_maskz_compress_epi64((__mmask8)keep, reference));
    state->list += __builtin_popcount(keep);
    state->fetches += (uint32_t)__builtin_popcount(fetch);
    state->writes += (uint32_t)__builtin_popcount(write);
    state->references += (uint32_t)__builtin_popcount(valid);
}

/*
 * Accesses whose lanes are in `cross` reach into the next block: each is followed by a
 * reference to that block. Gathers the first eight, then the rest of up to sixteen.
 */
static inline __attribute__((always_inline)) void gather_crossing(struct gather_state *state, __m512i reference,
                                                                  uint32_t cross, int split) {
    /* Bit 2i for lane i, bit 2i + 1 for its second reference if it has one; packed, the first ones are `firsts`. */
    uint32_t taken = 0x5555 | _pdep_u32(cross, 0xAAAA), firsts = _pext_u32(0x5555, taken);
    uint32_t low = firsts & 0xff, high = firsts >> 8, count = 8 + (uint32_t)__builtin_popcount(cross);
    uint32_t in_low = (uint32_t)__builtin_popcount(low), rest = (1u << (count - 8)) - 1;
    __m512i seconds = _mm512_maskz_compress_epi64((__mmask8)cross, _mm512_add_epi64(reference, _mm512_set1_epi64(4)));
    __m512i mixed =
        _mm512_mask_expand_epi64(_mm512_maskz_expand_epi64((__mmask8)low, reference), (__mmask8)~low, seconds);
    gather_references(state, mixed, 0xff, split);
    reference = _mm512_maskz_compress_epi64((__mmask8)(0xff << in_low), reference);
    seconds = _mm512_maskz_compress_epi64((__mmask8)(0xff << (8 - in_low)), seconds);
    mixed = _mm512_mask_expand_epi64(_mm512_maskz_expand_epi64((__mmask8)high, reference), (__mmask8)(~high & rest),
                                     seconds);
    gather_references(state, mixed, rest, split);
}

/* Gathers eight accesses at a time. One of many blocks, or of a kind no cache takes, ends the eight and is gathered
 * separately. */
static inline __attribute__((always_inline)) uint32_t gather_tile(struct rsc_fast_gather *gather,
                                                                  const struct rsc_batch *batch, uint32_t first,
                                                                  uint32_t end, int split) {
    const __m128i shift = _mm_cvtsi32_si128((int)gather->shift);
    const __m512i within = _mm512_set1_epi64((1ll << gather->shift) - 1), low32 = _mm512_set1_epi64(UINT32_MAX);
    const __m512i block_size = _mm512_set1_epi64(1ll << gather->shift), three = _mm512_set1_epi64(3);
    const __m512i kind_bits = _mm512_set1_epi64(0xffll << 32), other_bits = _mm512_set1_epi64(0xfcll << 32);
    const __m512i addr_mask = _mm512_set1_epi64((long long)gather->addr_mask),
                  not_addr = _mm512_set1_epi64((long long)~gather->addr_mask),
                  addr_space = _mm512_set1_epi64((long long)gather->addr_space);
    struct gather_state state = {.fetches = 0};
    uint32_t i = first;
    gather_load(&state, gather);
    while (i + 8 <= end) {
        __m512i addr = _mm512_loadu_si512(batch->addr + i), meta = _mm512_loadu_si512(batch->meta + i);
        addr = _mm512_ternarylogic_epi64(addr, addr_mask, addr_space, 0xEA); /* (addr & mask) | space */
        __m512i reach = _mm512_add_epi64(_mm512_and_si512(addr, within), _mm512_and_si512(meta, low32));
        uint32_t cross = _mm512_cmpgt_epu64_mask(reach, block_size);
        uint32_t apart = _mm512_test_epi64_mask(meta, other_bits) |
                         _mm512_cmpeq_epi64_mask(_mm512_and_si512(meta, kind_bits), _mm512_set1_epi64(3ll << 32));
        /* block << 2 | (meta >> 32 & 3) */
        __m512i reference = _mm512_ternarylogic_epi64(_mm512_slli_epi64(_mm512_srl_epi64(addr, shift), 2),
                                                      _mm512_srli_epi64(meta, 32), three, 0xF8);
        __builtin_prefetch(batch->addr + i + AHEAD);
        __builtin_prefetch(batch->meta + i + AHEAD);
        if (__builtin_expect((cross | apart | gather->skip) == 0, 1)) {
            gather_references(&state, reference, 0xff, split);
            i += 8;
            continue;
        }
        /* more than two blocks, or past the end of memory, or of the process's part of it */
        __m512i after = _mm512_add_epi64(addr, _mm512_and_si512(meta, low32));
        apart |= _mm512_cmpgt_epu64_mask(reach, _mm512_add_epi64(block_size, block_size)) |
                 _mm512_mask_cmplt_epu64_mask((__mmask8)cross, after, addr) |
                 _mm512_mask_test_epi64_mask((__mmask8)cross, _mm512_xor_si512(after, addr), not_addr);
        for (unsigned kind = 0; gather->skip && kind < RSC_KINDS; kind++)
            if (gather->skip >> kind & 1)
                apart |= _mm512_cmpeq_epi64_mask(_mm512_and_si512(meta, kind_bits),
                                                 _mm512_set1_epi64((long long)kind << 32));
        if (!apart) {
            gather_crossing(&state, reference, cross, split);
            i += 8;
            continue;
        }
        uint32_t whole = (uint32_t)__builtin_ctz(apart | cross); /* accesses before the first that is not simple */
        gather_references(&state, reference, (1u << whole) - 1, split);
        i += whole;
        gather_store(&state, gather);
        if (!gather_access(gather, batch->addr[i], batch->meta[i])) {
            end = i; /* no more of this tile */
            break;
        }
        gather_load(&state, gather);
        i++;
    }
    gather_store(&state, gather);
    gather->counts.fetches += state.fetches;
    gather->counts.writes += state.writes;
    gather->counts.references += state.references;
    while (i < end && gather_access(gather, batch->addr[i], batch->meta[i])) i++;
    return i;
}

#else

static inline __attribute__((always_inline)) uint32_t gather_tile(struct rsc_fast_gather *gather,
                                                                  const struct rsc_batch *batch, uint32_t first,
                                                                  uint32_t end, int split) {
    const uint64_t *addr = batch->addr, *meta = batch->meta;
    const uint32_t shift = gather->shift;
    const uint64_t within = (1ull << shift) - 1, addr_mask = gather->addr_mask, addr_space = gather->addr_space;
    uint64_t fetch_last = gather->last[0], data_last = gather->last[1], fetches = 0, writes = 0;
    uint64_t *list = gather->tile;
    uint32_t used = gather->tile_used, i = first, apart = 0;
    for (; i < end; i++) {
        uint64_t block = ((addr[i] & addr_mask) | addr_space) >> shift, size = (uint32_t)meta[i],
                 kind = meta[i] >> 32 & 0xff;
        if (__builtin_expect(kind >= RSC_KINDS || gather->skip >> kind & 1 || (addr[i] & within) + size > within + 1,
                             0)) {
            gather->last[0] = fetch_last;
            gather->last[1] = data_last;
            gather->tile_used = used;
            if (!gather_access(gather, addr[i], meta[i])) break;
            fetch_last = gather->last[0];
            data_last = gather->last[1];
            used = gather->tile_used;
            apart++;
            continue;
        }
        uint64_t is_fetch = kind == RSC_FETCH, is_write = kind == RSC_WRITE, is_data = split && !is_fetch;
        uint64_t x = block << 1 | is_write, before = is_data ? data_last : fetch_last;
        uint32_t kept = !changes_nothing(x, before);
        list[used] = block << 2 | kind;
        used += kept;
        fetch_last = is_data ? fetch_last : x;
        data_last = is_data ? x : data_last;
        fetches += is_fetch;
        writes += is_write;
        if (i % 8 == 0) {
            __builtin_prefetch(addr + i + AHEAD);
            __builtin_prefetch(meta + i + AHEAD);
        }
    }
    gather->tile_used = used;
    gather->last[0] = fetch_last;
    gather->last[1] = data_last;
    gather->counts.references += i - first - apart;
    gather->counts.fetches += fetches;
    gather->counts.writes += writes;
    return i;
}

#endif

/*
 * ---- dropping references that change nothing ----
 *
 * Within one set, only a reference to another block than the previous one, or the first
 * write to it, changes anything: the rest are hits on the block used last. `recent` holds
 * that block for each set, as the reference without its fetch bit. There may be fewer slots
 * than sets, never more: the block used last in several sets was used last in its own set.
 * No branch depends on the data, and hits in different sets do not wait for each other.
 */
static inline __attribute__((always_inline)) void keep_changes(struct rsc_fast_gather *gather) {
    const uint64_t *tile = gather->tile, places = (uint64_t)gather->recent_mask << 1 | !gather->unified;
    const uint32_t count = gather->tile_used;
    uint64_t *recent = gather->recent, *list = gather->list.references + gather->list.used;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t reference = tile[i], x = reference & ~2ull, *slot = &recent[reference >> 1 & places], before = *slot;
        *slot = x | (before == (x | 1)); /* the next reference to this slot waits for this: keep it short */
        *list = reference;
        list += (before != x) & (before != (x | 1));
    }
    gather->list.used = (uint32_t)(list - gather->list.references);
    gather->tile_used = 0;
}

/* Appends the references of one part to its list, in order. Both lists have room for one more vector. */
static inline void deal_part(const struct rsc_fast_list *from, struct rsc_fast_list *list, uint64_t mask,
                             uint64_t mine) {
    const uint64_t *references = from->references;
    uint64_t *to = list->references + list->used;
#if defined(__AVX512F__)
    const __m512i bits = _mm512_set1_epi64((long long)mask), wanted = _mm512_set1_epi64((long long)mine);
    for (uint32_t i = 0; i < from->used; i += 8) {
        const uint32_t there = from->used - i < 8 ? (1u << (from->used - i)) - 1 : 0xff;
        __m512i eight = _mm512_loadu_si512(references + i);
        uint32_t found = _mm512_mask_cmpeq_epi64_mask((__mmask8)there, _mm512_and_si512(eight, bits), wanted);
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi64((__mmask8)found, eight));
        to += __builtin_popcount(found);
    }
#else
    for (uint32_t i = 0; i < from->used; i++) {
        *to = references[i];
        to += (references[i] & mask) == mine;
    }
#endif
    list->used = (uint32_t)(to - list->references);
}

static inline void deal_out(struct rsc_fast_gather *gather) {
    const uint32_t shift = gather->part_shift + 2;
    for (uint64_t part = 0; part <= gather->part_mask; part++) {
        deal_part(&gather->list, &gather->dealt[part], (uint64_t)gather->part_mask << shift, part << shift);
        if (gather->dealt[part].used > gather->fullest) gather->fullest = gather->dealt[part].used;
    }
    gather->list.used = 0;
}

/* Whether the first level is split is a constant inside. */
static inline uint32_t gather_kernel(struct rsc_fast_gather *gather, const struct rsc_batch *batch, uint32_t first,
                                     uint32_t end) {
    uint32_t stop =
        gather->unified ? gather_tile(gather, batch, first, end, 0) : gather_tile(gather, batch, first, end, 1);
    keep_changes(gather);
    if (gather->dealt) deal_out(gather);
    return stop;
}

/* ---- serving: a set's entries in order of use, VALID and DIRTY the only flags ---- */

#if defined(__AVX512F__)

/* Row i brings lane i to the front and shifts those before it back by one. */
static const uint64_t fronts[8][8] __attribute__((aligned(64))) = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {1, 0, 2, 3, 4, 5, 6, 7}, {2, 0, 1, 3, 4, 5, 6, 7}, {3, 0, 1, 2, 4, 5, 6, 7},
    {4, 0, 1, 2, 3, 5, 6, 7}, {5, 0, 1, 2, 3, 4, 6, 7}, {6, 0, 1, 2, 3, 4, 5, 7}, {7, 0, 1, 2, 3, 4, 5, 6},
};

/* Up to 8 ways: the set is one vector. A hit needs no branch on its position. Returns the evicted entry, or 1 for a
 * hit. */
static inline __attribute__((always_inline)) uint64_t serve_narrow(uint64_t *set, uint32_t ways, uint64_t entry) {
    const __mmask8 lanes = ways == 8 ? 0xff : (__mmask8)(0xff >> (8 - ways)); /* known where this is inlined for 8 */
    const __m512i dirty = _mm512_set1_epi64(RSC_ENTRY_DIRTY),
                  wanted = _mm512_set1_epi64((long long)(entry | RSC_ENTRY_DIRTY));
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
    const __m512i dirty = _mm512_set1_epi64(RSC_ENTRY_DIRTY),
                  wanted = _mm512_set1_epi64((long long)(entry | RSC_ENTRY_DIRTY));
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

/*
 * Sends a request for `bytes` at addr to the level below: a block (back 0) or a write-
 * back. Levels like the first are served in the same way, others one request at a time.
 */
static void ask_below(struct rsc_fast_part *part, int above, uint64_t addr, uint32_t bytes, unsigned kind,
                      unsigned back) {
    struct rsc_hierarchy *hierarchy = part->hierarchy;
    int number = hierarchy->levels[above].below;
    struct rsc_fast_cache *cache = number >= 0 ? &part->lower[number] : NULL;
    if (!cache || !cache->entries) {
        struct rsc_request request = {
            .addr = addr, .bytes = bytes, .op = back ? RSC_OP_WRITE_BACK : RSC_OP_READ, .kind = (uint8_t)kind};
        if (number >= 0) rsc_hierarchy_request(hierarchy, number, &request);
        else rsc_hierarchy_to_memory(hierarchy, &request);
        return;
    }
    struct rsc_level *level = &hierarchy->levels[number];
    struct rsc_level_counts *counts = &level->counts;
    uint64_t block = addr >> cache->shift, entry = block << RSC_ENTRY_SHIFT | RSC_ENTRY_VALID | back;
    uint64_t evicted = serve_set(cache->entries + (block & cache->mask) * cache->ways, cache->ways, entry);
    if (back) counts->writes_in++;
    else counts->accesses[kind]++;
    if (evicted == 1) return;
    if (back) counts->writes_in_missed++;
    else counts->misses[kind]++;
    if (level->set_misses && !back) level->set_misses[block & cache->mask]++;
    if (!evicted) {
        cache->cache->used[block & cache->mask]++;
        cache->cache->filled++;
    }
    if (!back) ask_below(part, number, block << cache->shift, 1u << cache->shift, kind, 0);
    if (!(evicted & RSC_ENTRY_DIRTY)) return;
    counts->writebacks++;
    ask_below(part, number, rsc_entry_block(evicted) << cache->shift, 1u << cache->shift, kind, 1);
}

static __attribute__((noinline)) void missed(struct rsc_fast_part *part, struct rsc_fast_cache *cache, uint64_t block,
                                             unsigned kind, uint64_t evicted) {
    struct rsc_level *level = &part->hierarchy->levels[cache->level];
    struct rsc_level_counts *counts = &level->counts;
    counts->misses[kind]++;
    if (level->set_misses) level->set_misses[block & cache->mask]++;
    if (!evicted) {
        cache->cache->used[block & cache->mask]++;
        cache->cache->filled++;
    }
    ask_below(part, cache->level, block << cache->shift, 1u << cache->shift, kind, 0);
    if (!(evicted & RSC_ENTRY_DIRTY)) return;
    counts->writebacks++;
    ask_below(part, cache->level, rsc_entry_block(evicted) << cache->shift, 1u << cache->shift, kind, 1);
}

static inline __attribute__((always_inline)) void
serve_references(struct rsc_fast_part *part, const uint64_t *references, uint32_t count, uint32_t all_ways) {
    for (uint32_t i = 0; i < count; i++) {
        uint64_t block = references[i] >> 2, kind = references[i] & 3;
        struct rsc_fast_cache *cache = &part->caches[kind != RSC_FETCH];
        uint32_t ways = all_ways ? all_ways : cache->ways;
        uint64_t *set = cache->entries + (block & cache->mask) * ways;
        uint64_t entry = block << RSC_ENTRY_SHIFT | RSC_ENTRY_VALID | (kind == RSC_WRITE); /* dirty is bit 0 */
        uint64_t evicted = serve_set(set, ways, entry);
        if (__builtin_expect(evicted != 1, 0)) missed(part, cache, block, (unsigned)kind, evicted);
    }
}

static inline void serve_kernel(struct rsc_fast_part *part, const uint64_t *references, uint32_t count) {
    if (part->all_ways == 8) serve_references(part, references, count, 8);
    else serve_references(part, references, count, 0);
}

uint32_t RSC_WIDE(rsc_fast_gather)(struct rsc_fast_gather *gather, const struct rsc_batch *batch, uint32_t first,
                                   uint32_t end) {
    return gather_kernel(gather, batch, first, end);
}
void RSC_WIDE(rsc_fast_serve)(struct rsc_fast_part *part, const uint64_t *references, uint32_t count) {
    serve_kernel(part, references, count);
}
