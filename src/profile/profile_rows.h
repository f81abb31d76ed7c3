/*
 * profile_rows.h - functions for rows of code, pairs, objects and contexts that
 * several files of this room use.
 */
#ifndef RSC_PROFILE_PROFILE_ROWS_H
#define RSC_PROFILE_PROFILE_ROWS_H

#include "base/json_writer.h"
#include "profile/profile_model.h"

/* Frees what a place owns and zeroes it. */
void rsc_place_clear(struct rsc_place *place);

/* Makes *to, which owns nothing yet, a copy. Returns 0 or RSC_ENOMEM; *to may be cleared in either case. */
int rsc_place_copy(struct rsc_place *to, const struct rsc_place *from);

/* The name of an object's kind as a constant; NULL if there is no such kind. */
const char *rsc_object_kind(const char *name);

/* Compare rows for qsort(): most references first, the row of other code last. */
int rsc_code_order(const void *left, const void *right);
int rsc_pair_order(const void *left, const void *right);
int rsc_object_order(const void *left, const void *right);

/* Merges the rows of both into the empty tables of `merged`, whose totals are set. */
int rsc_profile_join_rows(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);

/* Parts of the document that have more than one user. */
void rsc_json_bin(struct rsc_json *json, uint64_t lo, uint64_t hi, uint64_t count);

/* The keys low and high of a bin of rd, if the profile has bars; merging them (rd_bars.c). */
void rsc_json_bars(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_bin *bin);
int rsc_bars_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);
/* Ends an array with one item per line. */
void rsc_json_end_lines(struct rsc_json *json, size_t count);
/* A row's histogram, on the row's own line. The bin of the cap (0: none) has no upper end. */
void rsc_json_histogram(struct rsc_json *json, const char *key, const struct rsc_histogram *histogram, uint64_t cap);
/* The keys of all tables; loops, kinds, lines and modules only where there are any. */
void rsc_json_rows(struct rsc_json *json, const struct rsc_profile *profile);
/* The key requests. */
void rsc_json_requests(struct rsc_json *json, const struct rsc_profile *profile);

/* Derives requests.miss_ratio at the sizes of mrc. Returns 0 or RSC_ENOMEM. */
int rsc_requests_derive(struct rsc_profile *profile);
/* The bytes of both, in the empty `merged`. Returns 0 or RSC_ENOMEM. */
int rsc_requests_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);

/* Error bars of the byte miss ratio of two merged profiles, which are independent. Call when mrc is known. */
int rsc_requests_join_bars(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);
/* Modules of both, each once. */
int rsc_modules_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);
/* Threads and phases of both; kinds, sharing and lines (merge_parts.c). */
int rsc_threads_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);
int rsc_kinds_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);
int rsc_sharing_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);
int rsc_lines_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b);

#endif
