/*
 * top_lines.h - the cache lines that miss most in a cache of one size, in bounded
 * memory.
 *
 * A reference misses in a fully associative LRU cache of c lines if it is cold or has
 * RD >= c. Misses are counted by the space-saving rule (space_saving.h) with the line
 * as key. So of n misses in all, at most n / RSC_TOP_LINES_TABLE of a row's belong to
 * other lines, and every line with more than that has a row. Hits are counted for
 * lines that have a row, but do not create one: a row's histogram holds every
 * reference to its line since it got the row. The first reference to a line misses,
 * so a row without an error has seen all of them.
 */
#ifndef RSC_DISTANCE_COUNT_TOP_LINES_H
#define RSC_DISTANCE_COUNT_TOP_LINES_H

#include "distance/count/space_saving.h"
#include "profile/profile_model.h"

#define RSC_TOP_LINES_TABLE 16384u
/* The most rows that may be requested: a small part of the table, so that counts are well above their error. */
#define RSC_TOP_LINES_MAX 1024u

struct rsc_top_lines {
    struct rsc_space_saving table;
    uint64_t *object; /* by row: the object at its last miss, as numbered by objects.h; 0: not known. Owned */
    uint64_t at_bytes;
    uint32_t misses_from; /* RD in lines */
    uint32_t cap;         /* distances from here on are counted as this */
    uint32_t line_shift;
    uint32_t wanted;
};

/* Finds the `wanted` worst at `at_bytes`; rd_cap 0: no cap. Returns 0 or RSC_ENOMEM. A zeroed struct may always be
 * freed. */
int rsc_top_lines_init(struct rsc_top_lines *top, uint32_t wanted, uint64_t at_bytes, uint32_t line_shift,
                       uint64_t rd_cap);
void rsc_top_lines_free(struct rsc_top_lines *top);

/* Counts references: to lines[i] at distance rd[i] (UINT32_MAX: cold), in objects[i]; objects may be NULL. */
void rsc_top_lines_count(struct rsc_top_lines *top, const uint64_t *lines, const uint32_t *rd, const uint64_t *objects,
                         uint32_t count);

/*
 * Fills the lines of a profile, without names: the object of row i is objects[i]
 * (room for RSC_TOP_LINES_MAX). Returns 0 or RSC_ENOMEM.
 */
int rsc_top_lines_fill(struct rsc_top_lines *top, struct rsc_profile *profile, uint64_t *objects);

#endif
