/* u64_table.c - building and growing the table of u64_table.h. */
#include "base/u64_table.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define CAPACITY_MIN 1024u

static int allocate(struct rsc_u64_table *table, uint64_t capacity, uint64_t seed) {
    memset(table, 0, sizeof *table);
    assert(capacity >= CAPACITY_MIN && (capacity & (capacity - 1)) == 0);
    if (capacity > 1ull << 48) return RSC_ENOMEM;
    table->entries = rsc_pages_new(capacity * sizeof *table->entries);
    if (!table->entries) return RSC_ENOMEM;
    table->mask = capacity - 1;
    table->seed = seed;
    table->grow_at = capacity / 8 * 5;
    table->shift = 64 - (uint32_t)__builtin_ctzll(capacity / 4);
    return 0;
}

int rsc_u64_table_init(struct rsc_u64_table *table, uint64_t expected) {
    uint64_t capacity = CAPACITY_MIN;
    while (capacity / 8 * 5 < expected && capacity <= 1ull << 48) capacity *= 2;
    return allocate(table, capacity, 0);
}

int rsc_u64_table_copy(struct rsc_u64_table *copy, const struct rsc_u64_table *table) {
    const uint64_t bytes = rsc_u64_table_bytes(table);
    *copy = *table;
    if (!bytes) return 0;
    copy->entries = rsc_pages_copy(table->entries, bytes, bytes);
    if (copy->entries) return 0;
    memset(copy, 0, sizeof *copy);
    return RSC_ENOMEM;
}

void rsc_u64_table_free(struct rsc_u64_table *table) {
    rsc_pages_free(table->entries, rsc_u64_table_bytes(table));
    memset(table, 0, sizeof *table);
}

uint64_t rsc_u64_table_bytes(const struct rsc_u64_table *table) {
    return table->entries ? (table->mask + 1) * sizeof *table->entries : 0;
}

int rsc_u64_table_rebuild(struct rsc_u64_table *table) {
    uint64_t capacity = table->mask + 1, seed = table->seed;
    assert(table->used < capacity); /* an empty entry ends every probe */
    /* In a table that is half full, probes may get long by chance (keys come in groups of four), and growing helps.
     * Only long probes in an emptier table suggest keys chosen to collide. */
    if (table->used >= table->grow_at || (table->long_probe && table->used > capacity / 8 * 3)) capacity *= 2;
    if (table->long_probe && getrandom(&seed, sizeof seed, 0) != (ssize_t)sizeof seed)
        seed = seed * 0xD1342543DE82EF95ull + (uint64_t)(uintptr_t)table->entries;
    struct rsc_u64_table larger;
    int status = allocate(&larger, capacity, seed);
    if (status < 0) return status;
    for (uint64_t i = 0; i <= table->mask; i++) {
        if (!table->entries[i].value) continue;
        *rsc_u64_table_find(&larger, table->entries[i].key) = table->entries[i];
    }
    larger.used = table->used;
    larger.long_probe = 0;
    rsc_u64_table_free(table);
    *table = larger;
    return 0;
}
