/*
 * load_fields.h - functions shared by the files that read a profile's JSON.
 *
 * Functions return 0, or a negative code with the loader's error filled:
 * "FILE: threads[3].cold must be ...".
 */
#ifndef RSC_PROFILE_LOAD_FIELDS_H
#define RSC_PROFILE_LOAD_FIELDS_H

#include <jansson.h>

#include "profile/profile_model.h"

#define RSC_LOAD_COUNT_MAX ((uint64_t)INT64_MAX) /* the largest integer jansson holds */

struct rsc_loader {
    const char *name; /* of the file, for messages */
    struct rsc_error *error;
    size_t rows_left; /* rows with histograms that may still be allocated */
    char where[64];   /* the object being read: "", "profiles[1].", "threads[3].", ... */
};

/* Fails with a problem of the object being read. */
int rsc_load_bad(const struct rsc_loader *loader, const char *format, ...) __attribute__((format(printf, 2, 3)));
int rsc_load_no_memory(const struct rsc_loader *loader);

/* Reads the value of `key`, which is required. Numbers are from 0 to max. */
int rsc_load_u64(const struct rsc_loader *loader, const json_t *object, const char *key, uint64_t max, uint64_t *out);
int rsc_load_double(const struct rsc_loader *loader, const json_t *object, const char *key, double max, double *out);
/* NaN for null. */
int rsc_load_double_or_null(const struct rsc_loader *loader, const json_t *object, const char *key, double max,
                            double *out);
/* The caller owns *out; its old value is freed. */
int rsc_load_text(const struct rsc_loader *loader, const json_t *object, const char *key, int may_be_null, char **out);
int rsc_load_array(const struct rsc_loader *loader, const json_t *object, const char *key, const json_t **out);

/*
 * How distances from a cap on are stored. The profile's own list is split at the
 * cap: the bin it falls into ends below it, and an open bin starts at it. Other
 * histograms keep them in the bin of the cap, which is then open.
 */
struct rsc_load_cap {
    uint64_t at;      /* 0: no cap */
    uint64_t *capped; /* set to the count of a split list's open bin; NULL: not split */
};

/*
 * Fills a zeroed histogram from the array `key` of `object`; `lowest` is the
 * smallest value it may hold. *total is set to the sum of all counts.
 */
int rsc_load_bins(struct rsc_loader *loader, const json_t *object, const char *key, uint64_t lowest,
                  struct rsc_load_cap cap, struct rsc_histogram *histogram, unsigned __int128 *total);

/* The curve `key` of `object` into an owned list; `loader->where` names the object. (profile_load.c) */
int rsc_load_curve(struct rsc_loader *loader, const json_t *object, const char *key, uint64_t line_bytes,
                   struct rsc_mrc_point **points, size_t *count);

/* Results of `loops` as profiles (loops_load.c). */
int rsc_load_loops(struct rsc_loader *loader, const json_t *root, struct rsc_profile ***profiles, size_t *count);

/* All tables (rows_load.c). Call after reading the totals. */
int rsc_load_rows(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile);

#endif
