/*
 * profile_rows.h - rows of code, pairs, objects and contexts: what the files of
 * this room share about them.
 */
#ifndef RSC_PROFILE_PROFILE_ROWS_H
#define RSC_PROFILE_PROFILE_ROWS_H

#include "base/json_writer.h"
#include "profile/profile_model.h"

/* Frees what a place owns and zeroes it. */
void rsc_place_clear(struct rsc_place *place);

/* Makes *to, which owns nothing yet, a copy. Returns 0 or RSC_ENOMEM; *to may be cleared in either case. */
int rsc_place_copy(struct rsc_place *to, const struct rsc_place *from);

/* The same for all of rows that were just set; the histogram's counts are added. */
int rsc_code_row_copy(struct rsc_code_row *to, const struct rsc_code_row *from);

/* The name of an object's kind as a constant; NULL if there is no such kind. */
const char *rsc_object_kind(const char *name);

/* Rows of all four sorts, gone. */
void rsc_profile_drop_rows(struct rsc_profile *profile);

/* Rows of both, joined where they mean the same, in the empty rows of `merged`, whose totals are set. */
int rsc_profile_join_rows(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);

/* Parts of the document that have more than one user. */
void rsc_json_bin(struct rsc_json *json, uint64_t lo, uint64_t hi, uint64_t count);
/* Ends an array that has its items on lines of their own. */
void rsc_json_end_lines(struct rsc_json *json, size_t count);
/* A row's histogram, on the row's own line. The bin of the cap (0: none) has no upper end. */
void rsc_json_histogram(struct rsc_json *json, const char *key, const struct rsc_histogram *histogram, uint64_t cap);
/* The keys code, pairs, objects, contexts, threads and phases. */
void rsc_json_rows(struct rsc_json *json, const struct rsc_profile *profile);

#endif
