/*
 * attribution_kernel.c - counts references: finds each one's object, and adds it to the
 * sums of pair_sums.h; compiled once per vector width. Small chunks of references are
 * prefetched first, then counted.
 */
#include <string.h>

#include "base/cpu.h"
#include "distance/count/attribution_state.h"

#define CHUNK 128u /* references looked up together: their cache lines fit L1 */

struct chunk {
    uint8_t bin[CHUNK];
    uint32_t object[CHUNK];
    uint64_t key[CHUNK]; /* of pair_sums.h */
    uint32_t set[CHUNK];
};

/*
 * As rsc_tally_bin() for all of them. A coarse bin is the exponent of a distance and two more bits, which
 * are the top of its float. Masks, not conditions: the compiler makes vectors of this.
 */
static void bins_of(const uint32_t *restrict rd, uint32_t cap, uint8_t *restrict bin, uint32_t count) {
    uint32_t large = cap < UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        const union {
            float value;
            uint32_t bits;
        } top = {.value = (float)(int32_t)rd[i]};
        uint32_t low = 0u - (rd[i] < 4), none = 0u - (rd[i] >= UINT32_MAX - 1), taken = 0u - (rd[i] == UINT32_MAX - 1);
        uint32_t at = (((top.bits >> 21) - 511) & ~low) | ((1 + rd[i]) & low);
        bin[i] = (uint8_t)((at & ~none) | (RSC_TALLY_INVALIDATED & taken)); /* RSC_TALLY_COLD is 0 */
        large |= (rd[i] + 2) >> 24; /* floats are exact below */
    }
    if (!large) return;
    for (uint32_t i = 0; i < count; i++) bin[i] = (uint8_t)rsc_tally_bin(rd[i], cap);
}

/* ---- objects ---- */

/* Returns how many it found, fewer if there are no more numbers. `has_fetches` is a constant where this is inlined. */
static inline __attribute__((always_inline)) uint32_t find_in_batch(struct rsc_attribution *a,
                                                                    const struct rsc_batch *batch, const uint32_t *from,
                                                                    uint32_t *object, uint32_t count, int has_fetches) {
    const uint64_t *addr = batch->addr, *meta = batch->meta;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = addr[from[i]];
        int is_fetch = has_fetches && rsc_meta_kind(meta[from[i]]) == RSC_FETCH;
        uint32_t mark = is_fetch ? 0 : rsc_objects_mark(&a->objects, address);
        object[i] = mark ? mark : rsc_attribution_number_object(a, address, is_fetch);
        if (__builtin_expect(!object[i], 0)) return i;
    }
    return count;
}

static uint32_t find_objects(struct rsc_attribution *a, const struct rsc_batch *batch, const uint32_t *from,
                             uint32_t *object, uint32_t count) {
    return a->has_fetches ? find_in_batch(a, batch, from, object, count, 1)
                          : find_in_batch(a, batch, from, object, count, 0);
}

/* The same, as of each reference's place among the changes. Or RSC_ENOMEM. */
static int find_objects_among_changes(struct rsc_attribution *a, const struct rsc_batch *batch, uint32_t first,
                                      const uint32_t *from, uint32_t *object, uint32_t count) {
    for (uint32_t done = 0; done < count;) {
        uint32_t part = done;
        if (rsc_attribution_make_changes(a, first + from[done]) < 0) return RSC_ENOMEM;
        uint32_t until = a->change_at;
        if (first + from[count - 1] < until) part = count;
        while (part < count && first + from[part] < until) part++;
        if (a->objects.known) {
            uint32_t found = find_objects(a, batch, from + done, object + done, part - done);
            if (found < part - done) return (int)(done + found);
        }
        done = part;
    }
    return (int)count;
}

/* ---- sums ---- */

static void look_up(struct rsc_attribution *a, struct chunk *restrict chunk, const uint32_t *restrict tags,
                    const uint32_t *restrict rd, const uint32_t *restrict last_tag, uint32_t count) {
    const struct rsc_sum_set *sums = a->sums;
    const uint32_t shift = 64 - a->sum_bits;
    bins_of(rd, a->cap, chunk->bin, count);
    for (uint32_t i = 0; i < count; i++) /* without a distance: no pair */
        chunk->key[i] = rsc_sum_key(rd[i] >= UINT32_MAX - 1 ? 0 : last_tag[i], tags[i], chunk->bin[i]);
    for (uint32_t i = 0; i < count; i++) chunk->set[i] = rsc_sum_set_of(chunk->key[i], chunk->object[i], shift);
    for (uint32_t i = 0; i < count; i++) __builtin_prefetch(&sums[chunk->set[i]], 1);
}

static __attribute__((noinline)) void replace(struct rsc_attribution *a, struct rsc_sum_set *set, uint64_t key,
                                              uint32_t object) {
    uint32_t way = a->sums_replaced++ % RSC_SUM_WAYS;
    rsc_attribution_take_sum(a, &(struct rsc_sum){set->key[way], set->object[way], set->count[way]});
    set->key[way] = key;
    set->object[way] = object;
    set->count[way] = a->times;
}

static void count_chunk(struct rsc_attribution *a, const struct chunk *chunk, uint32_t count) {
    const uint32_t times = a->times;
    for (uint32_t i = 0; i < count; i++) {
        struct rsc_sum_set *set = &a->sums[chunk->set[i]];
        uint32_t match = rsc_sum_match(set, chunk->key[i], chunk->object[i]);
        if (__builtin_expect(!match, 0)) {
            replace(a, set, chunk->key[i], chunk->object[i]);
            continue;
        }
        uint32_t way = (uint32_t)__builtin_ctz(match);
        if (__builtin_expect((set->count[way] += times) >> 31, 0)) {
            rsc_attribution_take_sum(a, &(struct rsc_sum){chunk->key[i], chunk->object[i], set->count[way]});
            set->count[way] = 0;
        }
    }
}

int RSC_WIDE(rsc_attribution_run)(struct rsc_attribution *a, const struct rsc_batch *batch, uint32_t first,
                                  const uint32_t *from, const uint32_t *tags, const uint32_t *rd,
                                  const uint32_t *last_tag, uint32_t count) {
    struct chunk chunk;
    for (uint32_t done = 0, part; done < count; done += part) {
        part = count - done < CHUNK ? count - done : CHUNK;
        memset(chunk.object, 0, sizeof chunk.object);
        if (a->objects.known || a->change_at != UINT32_MAX) {
            int found = find_objects_among_changes(a, batch, first, from + done, chunk.object, part);
            if (found < 0 || (!found && rsc_attribution_renumber(a) < 0)) return RSC_ENOMEM;
            part = (uint32_t)found;
        }
        if (a->kept_objects)
            for (uint32_t i = 0; i < part; i++) a->kept_objects[done + i] = a->numbered[chunk.object[i]].key;
        look_up(a, &chunk, tags + done, rd + done, last_tag + done, part);
        count_chunk(a, &chunk, part);
    }
    return a->code.failed || a->pairs.tally.failed || a->things.tally.failed ? RSC_ENOMEM : 0;
}
