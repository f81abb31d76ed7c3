/*
 * row_tables.h - the tables of a profile, described once: which fields a row has, where
 * they are in its struct, and their keys in JSON.
 *
 * Making, freeing, copying, merging, writing (rows_json.c) and reading (rows_load.c) rows
 * all follow these descriptions: a new field is one line of row_tables.c, a new table one
 * list of fields and one row of the list of tables.
 */
#ifndef RSC_PROFILE_ROW_TABLES_H
#define RSC_PROFILE_ROW_TABLES_H

#include "profile/profile_model.h"

enum rsc_field_sort {
    RSC_FIELD_COUNT,          /* uint64_t */
    RSC_FIELD_SMALL,          /* uint32_t */
    RSC_FIELD_ADDRESS,        /* uint64_t; in JSON "0x1139" */
    RSC_FIELD_NUMBER,         /* double, 0 or more */
    RSC_FIELD_TEXT,           /* char *, owned */
    RSC_FIELD_OBJECT_KIND,    /* const char *, one of rsc_object_kind() */
    RSC_FIELD_ACCESS_KIND,    /* const char *, one of rsc_kind_names; ascending from row to row */
    RSC_FIELD_PLACE,          /* struct rsc_place: all its keys */
    RSC_FIELD_SOURCE,         /* the same: function, file and line */
    RSC_FIELD_CONTEXT,        /* uint32_t: an index or RSC_NO_CONTEXT, which is null */
    RSC_FIELD_CONTEXT_PARENT, /* the same, of an earlier row of the table */
    RSC_FIELD_CONTEXT_UNSAVED, /* the same, neither written nor copied */
    RSC_FIELD_LOOP_PARENT,    /* uint32_t: 1 + the index of an earlier row of the table; 0 is null */
    RSC_FIELD_ID,             /* the index of the row; not stored */
    RSC_FIELD_SOURCES,        /* double[RSC_SOURCES]; left out if all are 0 */
    RSC_FIELD_COARSE,         /* struct rsc_histogram of RSC_BINS_COARSE */
    RSC_FIELD_FINE,           /* the same of RSC_BINS_FINE */
    RSC_FIELD_ANCESTOR,       /* of a pair: derived, only written */
    RSC_FIELD_BUILD_ID,       /* of a module */
    RSC_FIELD_ROWS,           /* a table within the row */
    RSC_FIELD_OPEN,           /* an object of the fields up to the next RSC_FIELD_CLOSE */
    RSC_FIELD_CLOSE,
};

/* Offsets marked + 1 are 0 if there is none. */
struct rsc_field {
    const char *key;
    enum rsc_field_sort sort;
    uint16_t at;             /* offset in the row */
    uint16_t only_if;        /* + 1: written only if the 8 bytes there are not all 0, so it may be missing */
    uint16_t within;         /* + 1: a value of the same sort in the row that this one cannot exceed */
    uint16_t within_profile; /* + 1: the same, a uint64_t of the profile */
    uint8_t below;           /* within_profile is one too many */
    uint8_t is_optional;     /* may be missing; then it is 0 */
    uint8_t not_null;        /* text or kind */
    uint32_t max;            /* 0: no other limit than the type's */
    const struct rsc_row_table *rows;
};

struct rsc_row_table {
    const char *key;
    const struct rsc_field *fields;
    size_t field_count;
    size_t rows_at, count_at; /* offsets of the pointer and the count in the profile, or in the row around it */
    size_t row_bytes;
    size_t rows_max;
    uint8_t is_optional; /* may be missing; then it is empty */
    uint8_t sums_up;     /* the rows' references, less their errors, sum to at most the profile's */
    const char *marker;  /* items without this key are not rows of this table and are skipped; NULL: all are */
    /* Offsets + 1 of what every row with a histogram counts. */
    uint16_t references, cold, invalidated, error, rd;
};

extern const struct rsc_row_table rsc_row_table_threads, rsc_row_table_phases, rsc_row_table_kinds, rsc_row_table_lines,
    rsc_row_table_code, rsc_row_table_pairs, rsc_row_table_objects, rsc_row_table_contexts, rsc_row_table_loops,
    rsc_row_table_modules, rsc_row_table_sharing, rsc_row_table_false_sharing, rsc_row_table_users,
    rsc_row_table_places;

/* Replaces the table of a profile (or row) by `count` rows, zeroed but for their histograms and defaults. */
int rsc_row_table_set(const struct rsc_row_table *table, void *holder, size_t count);

/* How many rows with a histogram a profile has. */
size_t rsc_profile_row_count(const struct rsc_profile *profile);

/* Frees all tables of a profile. */
void rsc_profile_drop_tables(struct rsc_profile *profile);

/* Frees what a row owns, not the row. */
void rsc_row_clear(const struct rsc_row_table *table, void *row);

/* Row `index`, and the number of rows. */
void *rsc_row_table_row(const struct rsc_row_table *table, const void *holder, size_t index);
size_t rsc_row_table_count(const struct rsc_row_table *table, const void *holder);

/* Makes a row that was just set a copy. Returns 0 or RSC_ENOMEM; what was copied is freed with the table. */
int rsc_row_copy(const struct rsc_row_table *table, void *to, const void *from);

/* Pointers to what a row counts; NULL where its table has no such field. */
struct rsc_row_counts {
    uint64_t *references, *cold, *invalidated, *error;
    struct rsc_histogram *rd;
};
struct rsc_row_counts rsc_row_counts(const struct rsc_row_table *table, const void *row);

/* Adds the counts, and the histogram, of one row to another. */
void rsc_row_add_counts(const struct rsc_row_table *table, void *to, const void *from);

#endif
