/* line_map.c - adding lines to the map of line_map.h, and its growth. */
#include "base/line_map.h"

#include <assert.h>
#include <string.h>
#include <sys/random.h>

#include <reusescope/error.h>

#include "base/pages.h"

#define BUCKETS_MIN 512u
#define BUCKETS_MAX (1ull << 32)
#define GIVE_BACK_BUCKETS (1u << 16) /* 4 MiB at a time */
#define UNITS_MAX (1ull << 32)
/* Address space reserved for units. Pages are allocated on first use; a block that never moves keeps its huge pages. */
#define UNITS_RESERVED (1ull << 30)
#define UNITS_LEAST 4096u
#define FRESH_AHEAD \
    48u /* units: fresh ones are used cache line by cache line, but too rarely for the hardware prefetcher */

static uint64_t entries_before_growth(uint64_t buckets) { return buckets * RSC_BUCKET_ENTRIES * 7 / 8; }

/* Reserves the first sixteen units: no line has unit 0. */
static void hand_out_none(struct rsc_line_map *map) {
    map->unit_count = 16;
    if (map->looks_ahead) map->units[0] = RSC_UNIT_OTHER;
}

void rsc_line_map_look_ahead(struct rsc_line_map *map) {
    map->looks_ahead = 1;
    hand_out_none(map);
}

int rsc_line_map_init(struct rsc_line_map *map) {
    memset(map, 0, sizeof *map);
    if (getrandom(&map->multiplier, sizeof map->multiplier, 0) != (ssize_t)sizeof map->multiplier)
        map->multiplier = (uint64_t)(uintptr_t)map * 0xD1342543DE82EF95ull;
    map->multiplier |= 1;
    map->buckets = rsc_pages_new(BUCKETS_MIN * sizeof *map->buckets);
    if (!map->buckets) goto no_memory;
    map->bucket_count = BUCKETS_MIN;
    map->grow_at = entries_before_growth(BUCKETS_MIN);
    map->unit_room = UNITS_RESERVED;
    map->units = rsc_pages_reserve(map->unit_room * sizeof *map->units);
    if (!map->units) { /* address space is limited: start small and grow */
        map->unit_room = UNITS_LEAST;
        map->units = rsc_pages_new(map->unit_room * sizeof *map->units);
    }
    if (!map->units) goto no_memory;
    hand_out_none(map);
    return 0;

no_memory:
    rsc_line_map_free(map);
    return RSC_ENOMEM;
}

void rsc_line_map_free(struct rsc_line_map *map) {
    rsc_pages_free(map->buckets, map->bucket_count * sizeof *map->buckets);
    rsc_pages_free(map->units, map->unit_room * sizeof *map->units);
    rsc_pages_free(map->extra, map->unit_room * sizeof *map->extra);
    memset(map, 0, sizeof *map);
}

int rsc_line_map_add_extra(struct rsc_line_map *map) {
    map->extra = rsc_pages_reserve(map->unit_room * sizeof *map->extra);
    if (map->extra) return 0;
    /* address space is limited: keep only the part in use */
    uint64_t room = map->unit_count > UNITS_LEAST ? (map->unit_count + 15) / 16 * 16 : UNITS_LEAST;
    uint32_t *units = rsc_pages_grow(map->units, map->unit_room * sizeof *units, room * sizeof *units);
    if (!units) return RSC_ENOMEM;
    map->units = units;
    map->unit_room = room;
    map->extra = rsc_pages_new(room * sizeof *map->extra);
    return map->extra ? 0 : RSC_ENOMEM;
}

uint64_t rsc_line_map_bytes(const struct rsc_line_map *map) {
    return map->bucket_count * sizeof *map->buckets + map->unit_count * sizeof *map->units * (map->extra ? 2 : 1);
}

/* ---- units ---- */

static int grow_units(struct rsc_line_map *map) {
    uint64_t room = map->unit_room + map->unit_room / 4;
    if (room > UNITS_MAX) room = UNITS_MAX;
    if (room == map->unit_room) return RSC_ELIMIT;
    uint64_t bytes = map->unit_room * sizeof *map->units;
    uint32_t *units = rsc_pages_grow(map->units, bytes, room * sizeof *units);
    if (!units) return RSC_ENOMEM;
    map->units = units;
    if (map->extra) {
        uint32_t *extra = rsc_pages_grow(map->extra, bytes, room * sizeof *extra);
        if (!extra) {
            map->units = rsc_pages_grow(units, room * sizeof *units, bytes); /* shrinking cannot fail */
            return RSC_ENOMEM;
        }
        map->extra = extra;
    }
    map->unit_room = room;
    return 0;
}

/* Sixteen fresh units, aligned, zero. Returns the first, or 0. */
static uint32_t fresh_units(struct rsc_line_map *map, int *status) {
    if (map->unit_count + 16 > map->unit_room && (*status = grow_units(map)) < 0) return 0;
    uint32_t first = (uint32_t)map->unit_count;
    assert(first && first % 16 == 0 && map->unit_count + 16 <= map->unit_room);
    map->unit_count += 16;
    __builtin_prefetch(map->units + map->unit_count + FRESH_AHEAD, 1); /* beyond the end it does nothing */
    return first;
}

/* Takes `size` units (1 or 4) off a list; an empty list is first refilled with fresh ones. */
static uint32_t listed_units(struct rsc_line_map *map, uint32_t *head, uint32_t size, int *status) {
    if (!*head) {
        uint32_t first = fresh_units(map, status);
        if (!first) return 0;
        if (size == 1 && first + 15 > 0x3fffffff) {
            *status = RSC_ELIMIT; /* the index of a single unit has 30 bits */
            return 0;
        }
        for (uint32_t unit = first; unit < first + 16; unit += size)
            map->units[unit] = RSC_UNIT_OTHER | (unit + size < first + 16 ? (unit + size) / size : 0);
        *head = first;
    }
    uint32_t taken = *head;
    *head = (map->units[taken] & ~RSC_UNIT_OTHER) * size;
    map->units[taken] = 0;
    return taken;
}

/* Freed units hold RSC_UNIT_OTHER, which as the header of a trio means that it contains no line. */
static void free_units(struct rsc_line_map *map, uint32_t first, uint32_t size) {
    uint32_t *later = size == 1 ? &map->later_single : &map->later_trio;
    assert(first && first % size == 0 && first + size <= map->unit_count);
    for (uint32_t k = 0; k < size; k++) {
        map->units[first + k] = RSC_UNIT_OTHER;
        if (map->extra) map->extra[first + k] = 0;
    }
    map->units[first + size - 1] |= *later / size;
    *later = first;
    if (!map->looks_ahead) rsc_line_map_reuse(map);
}

static void reuse(struct rsc_line_map *map, uint32_t *later, uint32_t *head, uint32_t size) {
    while (*later) {
        uint32_t first = *later;
        *later = (map->units[first + size - 1] & ~RSC_UNIT_OTHER) * size;
        map->units[first + size - 1] = RSC_UNIT_OTHER;
        map->units[first] = RSC_UNIT_OTHER | *head / size;
        *head = first;
    }
}

void rsc_line_map_reuse(struct rsc_line_map *map) {
    reuse(map, &map->later_single, &map->free_single, 1);
    reuse(map, &map->later_trio, &map->free_trio, 4);
}

static void move_unit(struct rsc_line_map *map, uint32_t from, uint32_t to) {
    assert(from < map->unit_count && to < map->unit_count && map->moved_count < 3);
    map->units[to] = map->units[from];
    if (map->extra) map->extra[to] = map->extra[from];
    map->moved_from[map->moved_count] = from;
    map->moved_to[map->moved_count++] = to;
}

/* ---- entries ---- */

static void put_entry(struct rsc_line_map *map, uint64_t key, uint32_t where) {
    assert(where >> 30 && map->used < map->bucket_count * RSC_BUCKET_ENTRIES);
    struct rsc_line_bucket *bucket = map->buckets + rsc_line_map_home(map, key);
    while (bucket->used == RSC_BUCKET_ENTRIES)
        if (++bucket == map->buckets + map->bucket_count) bucket = map->buckets;
    bucket->key[bucket->used] = key;
    bucket->where[bucket->used++] = where;
}

static int grow_buckets(struct rsc_line_map *map) {
    struct rsc_line_bucket *old = map->buckets;
    uint64_t old_count = map->bucket_count, count = old_count + old_count / 4, given_back = 0;
    if (count > BUCKETS_MAX) return RSC_ELIMIT;
    struct rsc_line_bucket *buckets = rsc_pages_new(count * sizeof *buckets);
    if (!buckets) return RSC_ENOMEM;
    map->buckets = buckets;
    map->bucket_count = count;
    map->grow_at = entries_before_growth(count);
    for (uint64_t b = 0; b < old_count; b++) {
        for (uint32_t k = 0; k < old[b].used; k++) put_entry(map, old[b].key[k], old[b].where[k]);
        if (b + 1 - given_back == GIVE_BACK_BUCKETS) {
            rsc_pages_free(old + given_back, GIVE_BACK_BUCKETS * sizeof *old);
            given_back += GIVE_BACK_BUCKETS;
        }
    }
    if (given_back < old_count) rsc_pages_free(old + given_back, (old_count - given_back) * sizeof *old);
    return 0;
}

static uint32_t add_entry(struct rsc_line_map *map, uint64_t line, int *status) {
    if (map->used >= map->grow_at && (*status = grow_buckets(map)) < 0) return 0;
    uint32_t unit = map->whole_blocks ? fresh_units(map, status) : listed_units(map, &map->free_single, 1, status);
    if (!unit) return 0;
    map->used++;
    if (map->whole_blocks) {
        put_entry(map, line & ~15ull, (uint32_t)RSC_UNITS_FULL << 30 | unit >> 4);
        return unit + (uint32_t)(line & 15);
    }
    put_entry(map, line, (uint32_t)RSC_UNITS_SINGLE << 30 | unit);
    return unit;
}

/* A second line in a block of one. */
static uint32_t single_to_trio(struct rsc_line_map *map, struct rsc_line_bucket *bucket, uint32_t entry, uint64_t line,
                               int *status) {
    uint32_t trio = listed_units(map, &map->free_trio, 4, status);
    if (!trio) return 0;
    uint32_t single = rsc_line_map_first_unit(bucket->where[entry]), first_offset = (uint32_t)(bucket->key[entry] & 15);
    map->units[trio] = RSC_UNIT_OTHER | 2u << 12 | (uint32_t)(line & 15) << 4 | first_offset;
    map->units[trio + 1] = map->units[trio + 2] = map->units[trio + 3] = 0;
    move_unit(map, single, trio + 1);
    free_units(map, single, 1);
    bucket->key[entry] &= ~15ull;
    bucket->where[entry] = (uint32_t)RSC_UNITS_TRIO << 30 | trio >> 2;
    return trio + 2;
}

/* A fourth line in a block of three. */
static uint32_t trio_to_full(struct rsc_line_map *map, struct rsc_line_bucket *bucket, uint32_t entry, uint64_t line,
                             int *status) {
    uint32_t full = fresh_units(map, status);
    if (!full) return 0;
    uint32_t trio = rsc_line_map_first_unit(bucket->where[entry]), header = map->units[trio];
    for (uint32_t k = 0; k < 3; k++) move_unit(map, trio + 1 + k, full + (header >> 4 * k & 15));
    free_units(map, trio, 4);
    bucket->where[entry] = (uint32_t)RSC_UNITS_FULL << 30 | full >> 4;
    return full + (uint32_t)(line & 15);
}

uint32_t rsc_line_map_add(struct rsc_line_map *map, uint64_t line, int *status) {
    struct rsc_line_bucket *bucket;
    uint32_t entry;
    map->moved_count = 0;
    if (!rsc_line_map_find(map, line, rsc_line_map_home(map, line), &bucket, &entry))
        return add_entry(map, line, status);
    uint32_t where = bucket->where[entry], kind = where >> 30;
    if (kind == RSC_UNITS_SINGLE && bucket->key[entry] != line) return single_to_trio(map, bucket, entry, line, status);
    uint32_t unit = rsc_line_map_unit(map, line, where);
    if (unit) return unit;
    uint32_t trio = rsc_line_map_first_unit(where), header = map->units[trio], count = header >> 12 & 3;
    if (count == 3) return trio_to_full(map, bucket, entry, line, status);
    map->units[trio] = RSC_UNIT_OTHER | (count + 1) << 12 | (header & 0xfff) | (uint32_t)(line & 15) << 4 * count;
    return trio + 1 + count;
}

/* ---- all of them ---- */

static void visit_entry(const struct rsc_line_map *map, uint64_t key, uint32_t where,
                        void (*visit)(void *context, uint64_t line, uint32_t unit), void *context) {
    uint32_t first = rsc_line_map_first_unit(where);
    switch (where >> 30) {
    case RSC_UNITS_SINGLE: visit(context, key, first); return;
    case RSC_UNITS_TRIO:
        for (uint32_t header = map->units[first], k = 0; k < (header >> 12 & 3); k++)
            visit(context, key | (header >> 4 * k & 15), first + 1 + k);
        return;
    default:
        for (uint32_t k = 0; k < 16; k++) visit(context, key | k, first + k);
    }
}

void rsc_line_map_visit(const struct rsc_line_map *map, void (*visit)(void *context, uint64_t line, uint32_t unit),
                        void *context) {
    for (uint64_t b = 0; b < map->bucket_count; b++)
        for (uint32_t k = 0; k < map->buckets[b].used; k++)
            visit_entry(map, map->buckets[b].key[k], map->buckets[b].where[k], visit, context);
}
