/*
 * reusescope/profile.h - what every analysis produces.
 *
 * A profile holds histograms of reuse distance (RD) and reuse interval (RI),
 * the miss ratio curve computed from them, totals, and how they were obtained.
 * Returned arrays belong to the profile and live as long as it does.
 */
#ifndef REUSESCOPE_PROFILE_H
#define REUSESCOPE_PROFILE_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

#ifdef __cplusplus
extern "C" {
#endif

struct rsc_profile;

/* Distances lo..hi, both included. hi is UINT64_MAX for a capped tail. */
struct rsc_bin {
    uint64_t lo, hi, count;
};

struct rsc_mrc_point {
    uint64_t lines;    /* cache size in lines */
    uint64_t bytes;    /* the same in bytes */
    double miss_ratio; /* of a fully associative LRU cache of that size */
    double low, high;  /* error bar; both equal miss_ratio for exact results */
};

struct rsc_profile_totals {
    uint64_t line_bytes;
    uint64_t accesses, references;
    uint64_t cold, invalidated, distinct;
    uint64_t last_touch, pruned, censored; /* sampled results only */
    uint64_t threads;
};

/* Fills in the counts of the whole profile. */
RSC_API void rsc_profile_get_totals(const struct rsc_profile *profile, struct rsc_profile_totals *totals);

/* Non-empty bins in ascending order; *count is set to their number. */
RSC_API const struct rsc_bin *rsc_profile_rd(const struct rsc_profile *profile, size_t *count);
RSC_API const struct rsc_bin *rsc_profile_ri(const struct rsc_profile *profile, size_t *count);

/* Points in ascending size; empty for a profile without references. */
RSC_API const struct rsc_mrc_point *rsc_profile_mrc(const struct rsc_profile *profile, size_t *count);

/*
 * For a profile of requests: bytes missed / bytes requested at each of the *count
 * points of the curve. NULL, with *count 0, for any other profile.
 */
RSC_API const double *rsc_profile_byte_miss_ratio(const struct rsc_profile *profile, size_t *count);

/* Miss ratio of a cache of `lines` lines (0 lines: 1.0), from the curve. */
RSC_API double rsc_profile_miss_ratio(const struct rsc_profile *profile, uint64_t lines);

/*
 * Smallest distance d such that at least `fraction` of the reuses (references
 * that are not cold) have RD <= d, as the upper end of its bin. UINT64_MAX when
 * there are no reuses.
 */
RSC_API uint64_t rsc_profile_rd_quantile(const struct rsc_profile *profile, double fraction);

/*
 * Writes the profile as JSON (docs/schema/profile.schema.json) or as the
 * compact container that rsc_profile_load() and `reusescope report` read. Both
 * are written under a temporary name first; path "-" is standard output.
 */
RSC_API int rsc_profile_write_json(const struct rsc_profile *profile, const char *path, struct rsc_error *error);
RSC_API int rsc_profile_save(const struct rsc_profile *profile, const char *path, struct rsc_error *error);

/*
 * The text of rsc_profile_write_json() in memory: *text is *bytes long, followed by
 * a NUL. Free it with rsc_text_free().
 */
RSC_API int rsc_profile_json(const struct rsc_profile *profile, char **text, size_t *bytes, struct rsc_error *error);

/* Frees text returned by the library. NULL is allowed. */
RSC_API void rsc_text_free(char *text);

/* Reads a container or a JSON profile: the first one if the file holds several. */
RSC_API int rsc_profile_load(struct rsc_profile **out, const char *path, struct rsc_error *error);

/*
 * Reads every profile of a container or JSON file ("-": standard input) into
 * (*profiles)[0] to (*profiles)[*count - 1]; *count is at least 1. Free all with
 * rsc_profiles_free(). To keep one, take its pointer and set the entry to NULL.
 * On failure neither *profiles nor *count is set.
 */
RSC_API int rsc_profiles_load(const char *path, struct rsc_profile ***profiles, size_t *count, struct rsc_error *error);

/*
 * Reads a profile (the first one if there are several) from JSON text in memory.
 * Messages use `name` as the file name; NULL: "profile".
 */
RSC_API int rsc_profile_parse(struct rsc_profile **out, const char *text, size_t bytes, const char *name,
                              struct rsc_error *error);

/* Frees the profiles and the array. NULL is allowed. */
RSC_API void rsc_profiles_free(struct rsc_profile **profiles, size_t count);

/* Frees a profile. NULL is allowed. */
RSC_API void rsc_profile_free(struct rsc_profile *profile);

#ifdef __cplusplus
}
#endif
#endif
