/*
 * u64_table.h - open-addressing hash table from u64 keys to non-zero u64 values.
 *
 * Linear probing over 16-byte entries, four to a cache line, at most 5/8 full.
 * The home of a key keeps its two low bits: neighbouring keys (the lines of an
 * array, say) share a cache line of the table, so a scan of memory is a scan of
 * the table. A value of 0 marks an empty entry, so zeroed pages are an empty table
 * and a new entry is recognised by its value.
 *
 * Keys of a hostile file could be chosen to collide: when a probe gets long, the
 * table is rebuilt under a random seed, and larger if it was more than 3/8 full.
 * Nothing a caller sees depends on the order of entries.
 */
#ifndef RSC_BASE_U64_TABLE_H
#define RSC_BASE_U64_TABLE_H

#include <stddef.h>
#include <stdint.h>

struct rsc_u64_entry {
    uint64_t key;
    uint64_t value; /* 0: empty */
};

struct rsc_u64_table {
    struct rsc_u64_entry *entries; /* capacity of them, zeroed when empty */
    uint64_t mask;                 /* capacity - 1 */
    uint64_t seed;
    uint64_t used;
    uint64_t grow_at;   /* when `used` reaches this, the table must grow before the next add */
    uint32_t shift;     /* 64 - log2(capacity / 4) */
    uint32_t long_probe; /* a probe passed RSC_PROBE_LONG since the last rebuild */
};

#define RSC_PROBE_LONG 192u

/* Room for `expected` keys before growing. Returns 0 or RSC_ENOMEM. */
int rsc_u64_table_init(struct rsc_u64_table *table, uint64_t expected);
void rsc_u64_table_free(struct rsc_u64_table *table);
int rsc_u64_table_copy(struct rsc_u64_table *copy, const struct rsc_u64_table *table); /* 0 or RSC_ENOMEM */
uint64_t rsc_u64_table_bytes(const struct rsc_u64_table *table);

/* Doubles the capacity, or reseeds when probes got long. Returns 0 or RSC_ENOMEM (the table is unchanged). */
int rsc_u64_table_rebuild(struct rsc_u64_table *table);

static inline int rsc_u64_table_needs_rebuild(const struct rsc_u64_table *table) {
    return table->used >= table->grow_at || table->long_probe;
}

static inline struct rsc_u64_entry *rsc_u64_table_home(const struct rsc_u64_table *table, uint64_t key) {
    unsigned __int128 product = (unsigned __int128)((key >> 2) ^ table->seed) * 0x9E3779B97F4A7C15ull;
    uint64_t mixed = (uint64_t)product ^ (uint64_t)(product >> 64);
    return table->entries + ((mixed >> table->shift) << 2 | (key & 3));
}

/* always_inline: gcc considers a function that only prefetches empty and drops calls to it. */
static inline __attribute__((always_inline)) void rsc_u64_table_prefetch(const struct rsc_u64_table *table,
                                                                         uint64_t key) {
    __builtin_prefetch(rsc_u64_table_home(table, key), 1);
}

/*
 * The entry of `key`, or the empty entry where it belongs (key not set, value 0).
 * To fill an empty entry, call rebuild first if needs_rebuild returns 1, then set
 * key and value and add one to `used`.
 */
static inline struct rsc_u64_entry *rsc_u64_table_find(struct rsc_u64_table *table, uint64_t key) {
    struct rsc_u64_entry *entry = rsc_u64_table_home(table, key);
    uint32_t probes = 0;
    while (entry->value && entry->key != key) {
        if (++entry == table->entries + table->mask + 1) entry = table->entries;
        probes++;
    }
    if (probes > RSC_PROBE_LONG) table->long_probe = 1;
    return entry;
}

#endif
