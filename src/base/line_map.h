/*
 * line_map.h - maps line addresses to small numbers ("units"). It exploits spatial
 * locality: where a program uses a line, it uses the neighbours too.
 *
 * A unit is a u32 that belongs to one line; the caller decides what it holds (the
 * exact engine keeps the slot of the line's last use there). A new unit holds 0.
 * Units with the top bit set belong to no line, or the caller marked them busy: a
 * caller can therefore scan the units alone, by number. Lines are hashed in
 * *blocks* of 16 neighbours. A block's entry locates its units:
 *   single  one line of the block: one unit
 *   trio    two or three lines: a header unit (their offsets) and three units
 *   full    four lines or more: 16 units, one cache line, by offset
 * A dense range thus costs 4 bytes per line plus 1/16 of an entry, and a scan of
 * memory is a scan of the units. An isolated line costs an entry (12.8 bytes) and a
 * unit.
 *
 * A bucket of 64 bytes holds five entries; a full bucket overflows into the next.
 * At any size the table is ordered by hash, except within runs of overflow. It grows
 * by a quarter when 7/8 full: the old table is read and the new one written from
 * front to back, and the old pages are released on the way, so growth needs no extra
 * memory. The hash is drawn at random, so no file can force collisions; nothing a
 * caller sees depends on it. Entries are never removed.
 */
#ifndef RSC_BASE_LINE_MAP_H
#define RSC_BASE_LINE_MAP_H

#include <stdint.h>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#define RSC_BUCKET_ENTRIES 5u

struct rsc_line_bucket {
    uint64_t key[RSC_BUCKET_ENTRIES];   /* single: the line; else its block * 16 */
    uint32_t where[RSC_BUCKET_ENTRIES]; /* kind << 30 | index of its units in units of that kind; 0: empty */
    uint32_t used;                      /* entries in use, from the first */
};

#define RSC_UNIT_OTHER 0x80000000u

enum { RSC_UNITS_SINGLE = 1, RSC_UNITS_TRIO = 2, RSC_UNITS_FULL = 3 };

struct rsc_line_map {
    struct rsc_line_bucket *buckets;
    uint64_t bucket_count;
    uint64_t used, grow_at; /* entries */
    uint64_t multiplier; /* odd, drawn at random: multiply-shift hashing, universal for any keys */
    uint32_t *units;
    uint32_t *extra;     /* a second u32 per unit, or NULL: see rsc_line_map_add_extra() */
    uint64_t unit_count; /* allocated so far */
    uint64_t unit_room;
    int whole_blocks; /* set before the first line is added: every block is full from the start, and no unit ever moves */
    uint32_t free_single, free_trio; /* heads of lists through the units; 0: empty */
    /* If looks_ahead: the same lists for units freed since the last rsc_line_map_reuse(). */
    int looks_ahead;
    uint32_t later_single, later_trio;
    uint32_t moved_from[3], moved_to[3], moved_count; /* by the last rsc_line_map_add() */
};

/* Returns 0 or RSC_ENOMEM. A zeroed map may always be freed. */
int rsc_line_map_init(struct rsc_line_map *map);
void rsc_line_map_free(struct rsc_line_map *map);

/* Gives every unit a second number, `extra`, 0 at first. Returns 0 or RSC_ENOMEM. */
int rsc_line_map_add_extra(struct rsc_line_map *map);

uint64_t rsc_line_map_bytes(const struct rsc_line_map *map);

/*
 * The unit of `line`, created (holding 0) if there is none yet. Units of up to three
 * other lines of the block may move: moved_from and moved_to list them. Returns the
 * unit, or 0 when out of memory or unit numbers (*status: RSC_ENOMEM or RSC_ELIMIT).
 */
uint32_t rsc_line_map_add(struct rsc_line_map *map, uint64_t line, int *status);

/*
 * For callers that look lines up in advance; call before the first line is added. A result of
 * rsc_line_map_where() then stays usable while lines are added: if the line's unit has moved since,
 * rsc_line_map_unit() returns one that holds RSC_UNIT_OTHER or more, as unit 0 does. rsc_line_map_reuse() ends this:
 * units freed since the previous call may be allocated again.
 */
void rsc_line_map_look_ahead(struct rsc_line_map *map);
void rsc_line_map_reuse(struct rsc_line_map *map);

/*
 * Calls visit(context, line, unit) for the unit of every line added. Full blocks
 * are visited whole: lines that were never added have units holding 0.
 */
void rsc_line_map_visit(const struct rsc_line_map *map, void (*visit)(void *context, uint64_t line, uint32_t unit),
                        void *context);

/* ---- looking up, in three steps, so that a caller can prefetch between them ---- */

/* The number of the bucket where the line's block belongs. */
static inline uint32_t rsc_line_map_home(const struct rsc_line_map *map, uint64_t line) {
    return (uint32_t)(((line >> 4) * map->multiplier >> 32) * map->bucket_count >> 32);
}

/* The index of the block's entry in the bucket; RSC_BUCKET_ENTRIES if it is not there. */
static inline uint32_t rsc_line_bucket_match(const struct rsc_line_bucket *bucket, uint64_t line) {
#if defined(__AVX512F__)
    __m512i apart = _mm512_xor_si512(_mm512_load_si512(bucket), _mm512_set1_epi64((long long)line));
    uint32_t match = _mm512_mask_cmplt_epu64_mask((__mmask8)((1u << bucket->used) - 1), apart, _mm512_set1_epi64(16));
    return match ? (uint32_t)__builtin_ctz(match) : RSC_BUCKET_ENTRIES;
#else
    uint32_t match = 0; /* compare all: an early exit would be an unpredictable branch */
    for (uint32_t k = 0; k < RSC_BUCKET_ENTRIES; k++) match |= (uint32_t)((bucket->key[k] ^ line) < 16) << k;
    match &= (1u << bucket->used) - 1;
    return match ? (uint32_t)__builtin_ctz(match) : RSC_BUCKET_ENTRIES;
#endif
}

/* Finds the bucket and entry of the line's block, searching from its home. Returns 0 if there is none. */
static inline int rsc_line_map_find(const struct rsc_line_map *map, uint64_t line, uint32_t home,
                                    struct rsc_line_bucket **found, uint32_t *entry) {
    struct rsc_line_bucket *bucket = map->buckets + home;
    for (;;) {
        *entry = rsc_line_bucket_match(bucket, line);
        *found = bucket;
        if (*entry < RSC_BUCKET_ENTRIES) return 1;
        if (bucket->used < RSC_BUCKET_ENTRIES) return 0;
        if (++bucket == map->buckets + map->bucket_count) bucket = map->buckets;
    }
}

/*
 * Where the units of the line's block are; 0 if there are none. A home from before
 * the table grew is allowed: it may return 0, never another line's units.
 */
static inline uint32_t rsc_line_map_where(const struct rsc_line_map *map, uint64_t line, uint32_t home) {
    struct rsc_line_bucket *bucket;
    uint32_t entry;
    if (!rsc_line_map_find(map, line, home, &bucket, &entry)) return 0;
    uint32_t where = bucket->where[entry];
    return where >> 30 == RSC_UNITS_SINGLE && bucket->key[entry] != line ? 0 : where;
}

/* Units are allocated in ones, fours and sixteens; returns 0 for a `where` of 0. */
static inline uint32_t rsc_line_map_first_unit(uint32_t where) {
    return (where & 0x3fffffff) << ((2 * (where >> 30) - 2) & 31);
}

/* Which of a trio's units (1 to 3) belongs to the line with this offset in its block; 0: none. */
static inline uint32_t rsc_line_trio_unit(uint32_t header, uint32_t offset) {
    /* The lowest nibble that equals the offset has its top bit left in `same`, if it is in use. */
    uint32_t differs = header ^ offset * 0x111;
    uint32_t same = (differs - 0x111) & ~differs & 0x888 & ((1u << 4 * (header >> 12 & 3)) - 1);
    return same ? (uint32_t)__builtin_ctz(same) / 4 + 1 : 0;
}

/*
 * The line's unit, given the result of rsc_line_map_where(); 0: none. There is no branch because the kind of the next
 * block is unpredictable: of 18 M references of zipf over 10 M lines, half were to full blocks, a third to trios, a
 * ninth to singles.
 */
static inline uint32_t rsc_line_map_unit(const struct rsc_line_map *map, uint64_t line, uint32_t where) {
    uint32_t first = rsc_line_map_first_unit(where), kind = where >> 30, offset = (uint32_t)(line & 15);
    uint32_t of_trio = rsc_line_trio_unit(map->units[first], offset);
    uint32_t unit = first + (kind == RSC_UNITS_FULL ? offset : kind == RSC_UNITS_TRIO ? of_trio : 0);
    return kind == RSC_UNITS_TRIO && !of_trio ? 0 : unit;
}

#endif
