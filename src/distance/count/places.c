/* places.c - see places.h. */
#include "distance/count/places.h"

#include <assert.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define NO_MEMORY UINT32_MAX

/* Those with a call path, one without for each chunk, and RSC_GROUP_NONE. */
static size_t groups_most(const struct rsc_places *places) { return places->group_limit + places->chunk_limit + 2ull; }

static size_t rows_bytes(const struct rsc_places *places) {
    return (places->chunk_limit + 1ull) * sizeof *places->rows << RSC_CHUNK_BITS;
}

int rsc_places_init(struct rsc_places *places, uint32_t groups, uint32_t rows) {
    memset(places, 0, sizeof *places);
    places->group_limit = groups < 1 ? 1 : groups < RSC_GROUPS_MOST / 2 ? groups : RSC_GROUPS_MOST / 2;
    places->row_limit = rows < 1 ? 1 : rows < RSC_GROUPS_MOST / 2 ? rows : RSC_GROUPS_MOST / 2;
    places->chunk_limit = places->row_limit / 2 + 1; /* most chunks have several rows */
    places->groups = rsc_pages_reserve(groups_most(places) * sizeof *places->groups);
    places->chunk_of_group = rsc_pages_reserve(groups_most(places) * sizeof *places->chunk_of_group);
    places->rows = rsc_pages_reserve(rows_bytes(places));
    places->row_pc = rsc_pages_reserve((places->row_limit + 1ull) * sizeof *places->row_pc);
    places->group_count = places->chunk_count = places->row_count = 1;
    if (places->groups && places->chunk_of_group && places->rows && places->row_pc &&
        rsc_u64_table_init(&places->group_of, 4096) == 0 && rsc_u64_table_init(&places->chunk_of, 4096) == 0)
        return 0;
    rsc_places_free(places);
    return RSC_ENOMEM;
}

void rsc_places_free(struct rsc_places *places) {
    rsc_pages_free(places->groups, groups_most(places) * sizeof *places->groups);
    rsc_pages_free(places->chunk_of_group, groups_most(places) * sizeof *places->chunk_of_group);
    rsc_pages_free(places->rows, rows_bytes(places));
    rsc_pages_free(places->row_pc, (places->row_limit + 1ull) * sizeof *places->row_pc);
    rsc_u64_table_free(&places->group_of);
    rsc_u64_table_free(&places->chunk_of);
    memset(places, 0, sizeof *places);
}

int rsc_places_copy(struct rsc_places *copy, const struct rsc_places *places) {
    if (rsc_places_init(copy, places->group_limit, places->row_limit) < 0) return RSC_ENOMEM;
    rsc_u64_table_free(&copy->group_of);
    rsc_u64_table_free(&copy->chunk_of);
    copy->group_count = places->group_count;
    copy->chunk_count = places->chunk_count;
    copy->row_count = places->row_count;
    memcpy(copy->groups, places->groups, places->group_count * sizeof *copy->groups);
    memcpy(copy->chunk_of_group, places->chunk_of_group, places->group_count * sizeof *copy->chunk_of_group);
    memcpy(copy->rows, places->rows, places->chunk_count * sizeof *copy->rows << RSC_CHUNK_BITS);
    memcpy(copy->row_pc, places->row_pc, places->row_count * sizeof *copy->row_pc);
    if (rsc_u64_table_copy(&copy->group_of, &places->group_of) == 0 &&
        rsc_u64_table_copy(&copy->chunk_of, &places->chunk_of) == 0)
        return 0;
    rsc_places_free(copy);
    return RSC_ENOMEM;
}

/* Adds a key that is not in the table. Returns 0 or RSC_ENOMEM. */
static int table_add(struct rsc_u64_table *table, uint64_t key, uint64_t value) {
    if (rsc_u64_table_needs_rebuild(table) && rsc_u64_table_rebuild(table) < 0) return RSC_ENOMEM;
    *rsc_u64_table_find(table, key) = (struct rsc_u64_entry){.key = key, .value = value};
    table->used++;
    return 0;
}

/* The chunk of a line, 0: no room; or NO_MEMORY. */
static uint32_t chunk_of(struct rsc_places *places, uint64_t line, int *is_new) {
    const struct rsc_u64_entry *known = rsc_u64_table_find(&places->chunk_of, line);
    if (known->value) return (uint32_t)known->value;
    *is_new = 1;
    if (places->chunk_count > places->chunk_limit) return 0;
    if (table_add(&places->chunk_of, line, places->chunk_count) < 0) return NO_MEMORY;
    return places->chunk_count++;
}

/* Makes a group that is not in the table. */
static uint32_t new_group(struct rsc_places *places, uint64_t key, uint64_t line, uint32_t node, int *is_new) {
    if (key == RSC_CALL_KEY_NONE) return RSC_GROUP_NONE;
    uint32_t chunk = chunk_of(places, line, is_new), group = places->group_count;
    if (!chunk || chunk == NO_MEMORY) return chunk;
    if (table_add(&places->group_of, key, group) < 0) return NO_MEMORY;
    assert(group <= places->group_limit + places->chunk_limit);
    places->groups[group] = (struct rsc_place_group){.line = line, .node = node};
    places->chunk_of_group[group] = chunk;
    return places->group_count++;
}

uint32_t rsc_places_group(struct rsc_places *places, struct rsc_call_paths *paths, uint64_t pc, uint32_t node,
                          int *is_new) {
    uint64_t key = rsc_call_paths_key(paths, node, pc & ~(uint64_t)RSC_CHUNK_MASK);
    const struct rsc_u64_entry *known = rsc_u64_table_find(&places->group_of, key);
    if (!known->value && places->group_count > places->group_limit && node != RSC_CALL_ROOT) {
        node = RSC_CALL_ROOT;
        key = rsc_call_paths_key(paths, node, pc & ~(uint64_t)RSC_CHUNK_MASK);
        known = rsc_u64_table_find(&places->group_of, key);
    }
    return known->value ? (uint32_t)known->value : new_group(places, key, pc >> RSC_CHUNK_BITS, node, is_new);
}

uint32_t rsc_places_new_row(struct rsc_places *places, uint32_t tag) {
    uint32_t chunk = places->chunk_of_group[tag >> RSC_CHUNK_BITS];
    if (!chunk || places->row_count > places->row_limit) return 0;
    places->row_pc[places->row_count] = rsc_places_pc(places, tag);
    places->rows[chunk << RSC_CHUNK_BITS | (tag & RSC_CHUNK_MASK)] = places->row_count;
    return places->row_count++;
}
