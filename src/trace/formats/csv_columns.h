/*
 * csv_columns.h - the columns of a line of text, and their values.
 *
 * A header says which column holds what, or the user (--columns addr=3,size=4), or, in
 * a plain list, the shape of its first line. Values are separated by commas, semicolons,
 * tabs or blanks.
 */
#ifndef RSC_TRACE_FORMATS_CSV_COLUMNS_H
#define RSC_TRACE_FORMATS_CSV_COLUMNS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#define RSC_CSV_COLUMNS_MAX 256
#define RSC_CSV_NAME_MAX 64

enum rsc_csv_role {
    RSC_CSV_ADDR,
    RSC_CSV_SIZE,
    RSC_CSV_KIND,
    RSC_CSV_TID,
    RSC_CSV_PID,
    RSC_CSV_PC,
    RSC_CSV_ROLES,
    RSC_CSV_NONE = RSC_CSV_ROLES
};

struct rsc_csv_columns {
    char separator;    /* ' ': any number of blanks */
    uint8_t open_ended; /* a line may have more values than `count` */
    uint32_t count;
    uint32_t roles; /* bit set of the roles present */
    uint32_t hex;   /* bit set of roles whose numbers are hexadecimal without 0x too */
    uint8_t role[RSC_CSV_COLUMNS_MAX];
};

static inline int rsc_csv_has(const struct rsc_csv_columns *columns, enum rsc_csv_role role) {
    return columns->roles >> role & 1;
}

/* What --columns says. */
struct rsc_csv_spec {
    int named;      /* some columns are given by name: there must be a header */
    uint32_t roles; /* bit set of those given */
    uint32_t hex;
    struct {
        uint32_t number; /* from 1; 0: by name */
        char name[RSC_CSV_NAME_MAX];
    } of[RSC_CSV_ROLES];
};

/* Parses "addr=3,size=bytes,pc=5:hex". */
int rsc_csv_spec_parse(struct rsc_csv_spec *spec, const char *text, struct rsc_error *error);

/* Takes the names in [line, end) for columns. Returns the problem, or NULL. */
const char *rsc_csv_columns_named(struct rsc_csv_columns *columns, const char *line, const char *end);

/*
 * The columns that `spec` gives a file whose first line is [line, end). Sets *header if that
 * line has names instead of values. Returns the problem, or NULL.
 */
const char *rsc_csv_columns_given(struct rsc_csv_columns *columns, const struct rsc_csv_spec *spec, const char *line,
                                  const char *end, int *header);

/*
 * The columns of a plain list with this line: ADDR, KIND ADDR or KIND ADDR SIZE. Returns 1, 0 if it is none, or 2 if that
 * depends on other lines: its address, of letters from a to f, may be a word.
 */
int rsc_csv_columns_listed(struct rsc_csv_columns *columns, const char *line, const char *end);

/*
 * Parses one line into `values` by role; missing values stay unchanged. Returns the
 * problem, or NULL.
 */
const char *rsc_csv_values(const struct rsc_csv_columns *columns, const char *at, const char *end,
                           uint64_t values[RSC_CSV_ROLES + 1]);

/* The number of columns of a line, and in *number which of them looks most like an address (from 1; 0: none). */
uint32_t rsc_csv_count(const char *line, const char *end, uint32_t *number);

#endif
