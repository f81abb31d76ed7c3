/* last_use.c - see last_use.h. */
#include "distance/last_use.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define LEAVES_FIRST 4096u
#define LEAVES_MAX (1ull << 32)
#define LEAF_OF(value) (((value)&0xffffffffffffull) - 1)
/* How many references ahead an entry is asked for; not tuned further. */
#define AHEAD 32u

static size_t leaf_bytes(const struct rsc_last_use *last) {
    return 16 * (last->wide ? sizeof *last->wide : sizeof *last->narrow);
}

int rsc_last_use_init(struct rsc_last_use *last, uint64_t seed, uint64_t narrow_most) {
    memset(last, 0, sizeof *last);
    last->seed = seed;
    last->narrow_most = narrow_most ? narrow_most : UINT32_MAX;
    last->leaf_room = LEAVES_FIRST;
    last->narrow = rsc_pages_new(LEAVES_FIRST * 16 * sizeof *last->narrow);
    if (last->narrow && rsc_u64_table_init(&last->blocks, LEAVES_FIRST) == 0) return 0;
    rsc_last_use_free(last);
    return RSC_ENOMEM;
}

void rsc_last_use_free(struct rsc_last_use *last) {
    rsc_u64_table_free(&last->blocks);
    rsc_pages_free(last->wide ? (void *)last->wide : (void *)last->narrow, last->leaf_room * leaf_bytes(last));
    memset(last, 0, sizeof *last);
}

uint64_t rsc_last_use_bytes(const struct rsc_last_use *last) {
    return rsc_u64_table_bytes(&last->blocks) + last->leaf_room * leaf_bytes(last);
}

static int more_leaves(struct rsc_last_use *last) {
    if (last->leaf_room >= LEAVES_MAX) return RSC_ELIMIT;
    size_t bytes = last->leaf_room * leaf_bytes(last);
    void *old = last->wide ? (void *)last->wide : (void *)last->narrow, *larger = rsc_pages_new(2 * bytes);
    if (!larger) return RSC_ENOMEM;
    memcpy(larger, old, bytes);
    rsc_pages_free(old, bytes);
    if (last->wide) last->wide = larger;
    else last->narrow = larger;
    last->leaf_room *= 2;
    return 0;
}

/* From 32-bit to 64-bit times. */
static int widen(struct rsc_last_use *last) {
    uint64_t *wide = rsc_pages_new(last->leaf_room * 16 * sizeof *wide);
    if (!wide) return RSC_ENOMEM;
    for (uint64_t i = 0; i < last->leaf_count * 16; i++) wide[i] = last->narrow[i];
    rsc_pages_free(last->narrow, last->leaf_room * 16 * sizeof *last->narrow);
    last->narrow = NULL;
    last->wide = wide;
    return 0;
}

static uint64_t sampled_lines(const struct rsc_last_use *last, uint64_t block) {
    uint64_t bits = 0;
    for (uint64_t i = 0; i < 16; i++)
        if (rsc_sample_has(rsc_sample_hash(block << 4 | i, last->seed), last->rate_shift)) bits |= 1ull << (48 + i);
    return bits;
}

void rsc_last_use_sample_less(struct rsc_last_use *last, uint32_t rate_shift) {
    last->rate_shift = rate_shift;
    for (uint64_t i = 0; i <= last->blocks.mask; i++) {
        struct rsc_u64_entry *entry = &last->blocks.entries[i];
        if (entry->value >> 48) entry->value &= 0xffffffffffffull | sampled_lines(last, entry->key);
    }
}

/* Probes are short in a table that is nearly empty, and it is small beside the leaves. */
static void grow_early(struct rsc_u64_table *table) { table->grow_at = (table->mask + 1) / 8 * 3; }

/* A block not seen before gets an empty leaf. Returns its entry's value, or 0 with *status set. */
static __attribute__((noinline)) uint64_t add_block(struct rsc_last_use *last, uint64_t block, int *status) {
    if (last->leaf_count == last->leaf_room && (*status = more_leaves(last)) < 0) return 0;
    if (rsc_u64_table_needs_rebuild(&last->blocks)) {
        if ((*status = rsc_u64_table_rebuild(&last->blocks)) < 0) return 0;
        grow_early(&last->blocks);
    }
    struct rsc_u64_entry *entry = rsc_u64_table_find(&last->blocks, block);
    entry->key = block;
    entry->value = sampled_lines(last, block) | ++last->leaf_count;
    last->blocks.used++;
    return entry->value;
}

static inline __attribute__((always_inline)) void exchange_times(struct rsc_last_use *last, uint32_t count,
                                                                 uint64_t *ri, int wide) {
    uint64_t now = last->now, cold = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t then = wide ? last->wide[last->where[i]] : last->narrow[last->where[i]];
        now++;
        if (wide) last->wide[last->where[i]] = now;
        else last->narrow[last->where[i]] = (uint32_t)now;
        ri[i] = then ? now - then : 0;
        cold += !then;
    }
    last->now = now;
    last->distinct += cold;
}

int rsc_last_use_run(struct rsc_last_use *last, const uint64_t *lines, uint32_t count, uint64_t *ri, uint32_t *sampled,
                     uint32_t *sampled_count) {
    uint32_t found = 0;
    int status = 0;
    if (!last->wide && last->now + count > last->narrow_most && (status = widen(last)) < 0) return status;
    for (uint32_t i = 0; i < count && i < AHEAD; i++) rsc_u64_table_prefetch(&last->blocks, lines[i] >> 4);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = lines[i];
        if (i + AHEAD < count) rsc_u64_table_prefetch(&last->blocks, lines[i + AHEAD] >> 4);
        uint64_t value = rsc_u64_table_find(&last->blocks, line >> 4)->value;
        if (__builtin_expect(!value, 0) && !(value = add_block(last, line >> 4, &status))) return status;
        uint64_t where = LEAF_OF(value) << 4 | (line & 15);
        last->where[i] = where;
        __builtin_prefetch(last->wide ? (void *)&last->wide[where] : (void *)&last->narrow[where], 1);
        sampled[found] = i;
        found += (uint32_t)(value >> (48 + (line & 15)) & 1);
    }
    if (last->wide) exchange_times(last, count, ri, 1);
    else exchange_times(last, count, ri, 0);
    *sampled_count = found;
    return 0;
}

void rsc_last_use_visit(const struct rsc_last_use *last, void (*visit)(void *context, uint64_t time), void *context) {
    for (uint64_t i = 0; i < last->leaf_count * 16; i++) {
        uint64_t time = last->wide ? last->wide[i] : last->narrow[i];
        if (time) visit(context, time);
    }
}
