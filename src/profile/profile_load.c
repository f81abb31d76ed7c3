/*
 * profile_load.c - JSON text back into profiles, believing none of it.
 *
 * The text may come from anywhere, so before anything is used every number is
 * checked for type and range, every bin against the layout of the contract, and
 * the counts against their sum. Keys that are not known are skipped: a newer
 * minor version may add some. What a file can make this code allocate is
 * bounded by constants below, not by what the file claims.
 */
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/profile_model.h"

/* jansson spends up to some 230 bytes on a value, so a document stays below 2 GB. A bin is four values. */
#define VALUES_MAX (8u << 20)
#define PROFILES_MAX 256
/* Thread and phase rows of all profiles in a file, each 2 KB. */
#define ROWS_MAX (2 * RSC_PROFILE_ROWS_MAX)
#define COUNT_MAX ((uint64_t)INT64_MAX) /* the largest integer jansson holds */

struct reader {
    const char *name; /* of the file, for messages */
    struct rsc_error *error;
    size_t rows_left;
    char where[64]; /* the object being read: "", "profiles[1].", "threads[3].", ... */
};

static int bad(const struct reader *reader, const char *format, ...) __attribute__((format(printf, 2, 3)));
static int bad(const struct reader *reader, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rsc_fail(reader->error, RSC_EFORMAT, "%s: %s%s", reader->name, reader->where, text);
}

static int no_memory(const struct reader *reader) { return rsc_fail_memory(reader->error, reader->name); }

/* Single values. */

static int get_u64(const struct reader *reader, const json_t *object, const char *key, uint64_t max, uint64_t *out) {
    const json_t *value = json_object_get(object, key);
    if (!value) return bad(reader, "%s is missing", key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > max)
        return bad(reader, "%s must be a whole number from 0 to %" PRIu64, key, max);
    *out = (uint64_t)json_integer_value(value);
    return 0;
}

static int get_double(const struct reader *reader, const json_t *object, const char *key, double max, double *out) {
    const json_t *value = json_object_get(object, key);
    if (!value) return bad(reader, "%s is missing", key);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0 && number <= max))
        return bad(reader, "%s must be a number from 0 to %g", key, max);
    *out = number;
    return 0;
}

static int get_double_or_null(const struct reader *reader, const json_t *object, const char *key, double max,
                              double *out) {
    *out = NAN;
    return json_is_null(json_object_get(object, key)) ? 0 : get_double(reader, object, key, max, out);
}

static int get_text(const struct reader *reader, const json_t *object, const char *key, int may_be_null, char **out) {
    const json_t *value = json_object_get(object, key);
    if (!value) return bad(reader, "%s is missing", key);
    if (!json_is_string(value) && !(may_be_null && json_is_null(value)))
        return bad(reader, "%s must be a string%s", key, may_be_null ? " or null" : "");
    return rsc_profile_set_text(out, json_string_value(value)) ? no_memory(reader) : 0;
}

static int get_array(const struct reader *reader, const json_t *object, const char *key, const json_t **out) {
    *out = json_object_get(object, key);
    if (!*out) return bad(reader, "%s is missing", key);
    return json_is_array(*out) ? 0 : bad(reader, "%s must be an array", key);
}

/* made */

static int read_command(const struct reader *reader, const json_t *made, struct rsc_profile *profile) {
    const json_t *words;
    int rc = get_array(reader, made, "command", &words);
    if (rc) return rc;
    size_t count = json_array_size(words);
    const char **argv = calloc(count + 1, sizeof *argv);
    if (!argv) return no_memory(reader);
    for (size_t i = 0; i < count && !rc; i++) {
        argv[i] = json_string_value(json_array_get(words, i));
        if (!argv[i]) rc = bad(reader, "command[%zu] must be a string", i);
    }
    if (!rc && rsc_profile_set_command(profile, (char *const *)argv)) rc = no_memory(reader);
    free(argv);
    return rc;
}

static int read_made(struct reader *reader, const json_t *root, struct rsc_profile *profile) {
    const json_t *object = json_object_get(root, "made");
    struct rsc_made *made = &profile->made;
    int rc;
    if (!json_is_object(object)) return bad(reader, "made is missing or no object");
    if ((rc = get_text(reader, object, "by", 0, &made->by)) ||
        (rc = get_text(reader, object, "source", 0, &made->source)) ||
        (rc = get_text(reader, object, "model", 0, &made->model)) ||
        (rc = get_text(reader, object, "sampling", 1, &made->sampling)) ||
        (rc = get_u64(reader, object, "line", 1u << 30, &made->line_bytes)) ||
        (rc = get_u64(reader, object, "threads", COUNT_MAX, &made->threads)) ||
        (rc = get_u64(reader, object, "workers", COUNT_MAX, &made->workers)) ||
        (rc = get_double(reader, object, "seconds", 1e12, &made->seconds)) ||
        (rc = get_double_or_null(reader, object, "overhead", 1e12, &made->overhead)) ||
        (rc = get_double_or_null(reader, object, "coverage", 1, &made->coverage)) ||
        (rc = read_command(reader, object, profile)))
        return rc;
    if (strcmp(made->model, "single") && strcmp(made->model, "private") && strcmp(made->model, "shared"))
        return bad(reader, "made.model must be single, private or shared");
    if (!made->line_bytes || made->line_bytes & (made->line_bytes - 1))
        return bad(reader, "made.line must be a power of two");
    return 0;
}

/* Histograms and the curve. */

/*
 * What becomes of distances from a cap on. The profile's own list is split at
 * the cap: the bin it falls into ends below it, and an open bin starts at it.
 * Other histograms keep them in the bin of the cap, which then is open.
 */
struct cap {
    uint64_t at;      /* 0: there is none */
    uint64_t *capped; /* receives the count of a split list's open bin; NULL: not split */
};

static int get_hi(const struct reader *reader, const json_t *item, uint64_t *hi) {
    *hi = UINT64_MAX;
    return json_is_null(json_object_get(item, "hi")) ? 0 : get_u64(reader, item, "hi", COUNT_MAX, hi);
}

static int read_bin(const struct reader *reader, const json_t *item, struct cap cap, struct rsc_histogram *histogram,
                    uint64_t *lo, uint64_t *count) {
    uint64_t hi;
    int rc;
    if ((rc = get_u64(reader, item, "lo", COUNT_MAX, lo)) || (rc = get_hi(reader, item, &hi)) ||
        (rc = get_u64(reader, item, "count", COUNT_MAX, count)))
        return rc;
    if (!*count) return bad(reader, "count is 0: only bins that hold something are listed");
    if (cap.capped && cap.at && *lo == cap.at && hi == UINT64_MAX) {
        *cap.capped = *count;
        return 0;
    }
    uint32_t bin = rsc_bin_of(histogram->bins, *lo);
    uint64_t first = rsc_bin_lo(histogram->bins, bin), end = rsc_bin_hi(histogram->bins, bin);
    if (cap.at && end >= cap.at) end = cap.capped ? cap.at - 1 : UINT64_MAX;
    if (*lo != first || hi != end || (cap.at && first >= cap.at && (cap.capped || first > cap.at)))
        return bad(reader, "not a bin of this layout");
    histogram->count[bin] = *count;
    return 0;
}

/*
 * Fills a zeroed histogram from the array `key` of `object`; `lowest` is the
 * smallest value it may hold. *total receives the sum of all counts.
 */
static int read_bins(struct reader *reader, const json_t *object, const char *key, uint64_t lowest, struct cap cap,
                     struct rsc_histogram *histogram, unsigned __int128 *total) {
    const json_t *list;
    int rc = get_array(reader, object, key, &list);
    uint64_t next = lowest;
    size_t prefix = strlen(reader->where);
    *total = 0;
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        uint64_t lo = 0, count = 0;
        snprintf(reader->where + prefix, sizeof reader->where - prefix, "%s[%zu].", key, i);
        rc = read_bin(reader, json_array_get(list, i), cap, histogram, &lo, &count);
        if (!rc && lo < next) rc = bad(reader, "lo must be at least %" PRIu64 ": bins ascend", next);
        next = lo + 1;
        *total += count;
    }
    reader->where[prefix] = 0;
    return rc;
}

static int read_point(const struct reader *reader, const json_t *item, uint64_t line_bytes, uint64_t above,
                      struct rsc_mrc_point *point) {
    int rc;
    if ((rc = get_u64(reader, item, "lines", COUNT_MAX / line_bytes, &point->lines)) ||
        (rc = get_u64(reader, item, "bytes", COUNT_MAX, &point->bytes)) ||
        (rc = get_double(reader, item, "miss_ratio", 1, &point->miss_ratio)) ||
        (rc = get_double(reader, item, "low", 1, &point->low)) ||
        (rc = get_double(reader, item, "high", 1, &point->high)))
        return rc;
    if (point->lines <= above) return bad(reader, "lines must be more than %" PRIu64 ": sizes ascend", above);
    if (point->bytes != point->lines * line_bytes) return bad(reader, "bytes must be lines times the line size");
    if (point->low > point->miss_ratio || point->high < point->miss_ratio)
        return bad(reader, "miss_ratio must lie between low and high");
    return 0;
}

static int read_mrc(struct reader *reader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    int rc = get_array(reader, root, "mrc", &list);
    if (rc) return rc;
    size_t count = json_array_size(list), prefix = strlen(reader->where);
    if (!count != !profile->references) return bad(reader, "mrc must be empty just where there are no references");
    if (!count) return 0;
    profile->mrc = calloc(count, sizeof *profile->mrc);
    if (!profile->mrc) return no_memory(reader);
    profile->mrc_count = count;
    for (size_t i = 0; i < count && !rc; i++) {
        snprintf(reader->where + prefix, sizeof reader->where - prefix, "mrc[%zu].", i);
        rc = read_point(reader, json_array_get(list, i), profile->made.line_bytes, i ? profile->mrc[i - 1].lines : 0,
                        &profile->mrc[i]);
    }
    reader->where[prefix] = 0;
    return rc;
}

static int read_extra_bins(struct reader *reader, const json_t *root, struct rsc_profile *profile) {
    const json_t *object = json_object_get(root, "bins");
    if (!object) return 0;
    uint64_t per_octave = 0;
    unsigned __int128 total;
    int rc = get_u64(reader, object, "per_octave", 64, &per_octave);
    if (rc) return rc;
    if (!per_octave) return bad(reader, "bins.per_octave must be from 1 to 64");
    if (rsc_profile_set_bins(profile, (uint32_t)per_octave)) return no_memory(reader);
    struct cap cap = {profile->rd_cap, NULL}, none = {0, NULL};
    if ((rc = read_bins(reader, object, "rd", 0, cap, &profile->rd_binned, &total))) return rc;
    return read_bins(reader, object, "ri", 1, none, &profile->ri_binned, &total);
}

/* Rows. */

struct row {
    uint64_t *references, *cold, *invalidated;
    struct rsc_histogram *rd;
};

static int read_row(struct reader *reader, const json_t *item, const struct rsc_profile *profile, struct row row) {
    struct cap cap = {profile->rd_cap, NULL};
    unsigned __int128 sum;
    int rc;
    if ((rc = get_u64(reader, item, "references", profile->references, row.references)) ||
        (rc = get_u64(reader, item, "cold", *row.references, row.cold)) ||
        (rc = get_u64(reader, item, "invalidated", *row.references, row.invalidated)) ||
        (rc = read_bins(reader, item, "rd", 0, cap, row.rd, &sum)))
        return rc;
    if (sum + *row.cold + *row.invalidated > *row.references) return bad(reader, "rd sums to more than references");
    return 0;
}

static int row_array(struct reader *reader, const json_t *root, const char *key, const json_t **list, size_t *count) {
    int rc = get_array(reader, root, key, list);
    if (rc) return rc;
    *count = json_array_size(*list);
    if (*count > RSC_PROFILE_ROWS_MAX || *count > reader->rows_left)
        return rsc_fail(reader->error, RSC_ELIMIT, "%s: %s%s has %zu rows, more than can be read", reader->name,
                        reader->where, key, *count);
    reader->rows_left -= *count;
    return 0;
}

static int read_threads(struct reader *reader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(reader->where);
    int rc = row_array(reader, root, "threads", &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_threads(profile, count)) return no_memory(reader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_thread_row *row = &profile->threads[i];
        snprintf(reader->where + prefix, sizeof reader->where - prefix, "threads[%zu].", i);
        if (!(rc = get_u64(reader, item, "tid", COUNT_MAX, &row->tid)) &&
            !(rc = get_u64(reader, item, "pid", COUNT_MAX, &row->pid)))
            rc = read_row(reader, item, profile,
                          (struct row){&row->references, &row->cold, &row->invalidated, &row->rd});
    }
    reader->where[prefix] = 0;
    return rc;
}

static int read_phases(struct reader *reader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(reader->where);
    int rc = row_array(reader, root, "phases", &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_phases(profile, count)) return no_memory(reader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_phase_row *row = &profile->phases[i];
        snprintf(reader->where + prefix, sizeof reader->where - prefix, "phases[%zu].", i);
        if (!(rc = get_u64(reader, item, "first", profile->references, &row->first)))
            rc = read_row(reader, item, profile,
                          (struct row){&row->references, &row->cold, &row->invalidated, &row->rd});
    }
    reader->where[prefix] = 0;
    return rc;
}

/* The document. */

static int read_totals(struct reader *reader, const json_t *root, struct rsc_profile *profile) {
    int rc;
    if ((rc = get_u64(reader, root, "accesses", COUNT_MAX, &profile->accesses)) ||
        (rc = get_u64(reader, root, "references", COUNT_MAX, &profile->references)) ||
        (rc = get_u64(reader, root, "cold", COUNT_MAX, &profile->cold)) ||
        (rc = get_u64(reader, root, "invalidated", COUNT_MAX, &profile->invalidated)) ||
        (rc = get_u64(reader, root, "distinct", COUNT_MAX, &profile->distinct)) ||
        (rc = get_u64(reader, root, "last_touch", COUNT_MAX, &profile->last_touch)) ||
        (rc = get_u64(reader, root, "pruned", COUNT_MAX, &profile->pruned)) ||
        (rc = get_u64(reader, root, "censored", COUNT_MAX, &profile->censored)))
        return rc;
    if (json_object_get(root, "max_distance"))
        return get_u64(reader, root, "max_distance", COUNT_MAX, &profile->rd_cap);
    /* Files that only have the open bin say the same by where it starts. */
    const json_t *rd = json_object_get(root, "rd"), *last = json_array_get(rd, json_array_size(rd) - 1);
    if (json_is_null(json_object_get(last, "hi"))) return get_u64(reader, last, "lo", COUNT_MAX, &profile->rd_cap);
    return 0;
}

static int check_schema(const struct reader *reader, const json_t *root, const char *wanted) {
    const char *schema = json_string_value(json_object_get(root, "schema"));
    size_t stem = strlen(wanted) - 1; /* without the version */
    if (!schema) return bad(reader, "schema is missing");
    if (!strcmp(schema, wanted)) return 0;
    if (!strncmp(schema, wanted, stem) && strtoul(schema + stem, NULL, 10) > 1)
        return rsc_fail(reader->error, RSC_EVERSION, "%s: written as %.64s, newer than this tool", reader->name,
                        schema);
    return bad(reader, "schema is '%.64s', not %s", schema, wanted);
}

static int read_profile(struct reader *reader, const json_t *root, struct rsc_profile **out) {
    unsigned __int128 total;
    int rc = check_schema(reader, root, "reusescope-profile/1");
    if (rc) return rc;
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return no_memory(reader);
    if ((rc = read_made(reader, root, profile)) || (rc = read_totals(reader, root, profile))) goto fail;
    struct cap cap = {profile->rd_cap, &profile->rd_capped}, none = {0, NULL};
    if ((rc = read_bins(reader, root, "rd", 0, cap, &profile->rd, &total)) ||
        (rc = rsc_profile_check_sum(profile, reader->name, reader->error)) ||
        (rc = read_bins(reader, root, "ri", 1, none, &profile->ri, &total)))
        goto fail;
    if (total > profile->references) {
        rc = bad(reader, "ri sums to more than references");
        goto fail;
    }
    if ((rc = read_mrc(reader, root, profile)) || (rc = read_extra_bins(reader, root, profile)) ||
        (rc = read_threads(reader, root, profile)) || (rc = read_phases(reader, root, profile)))
        goto fail;
    if (rsc_profile_seal(profile)) {
        rc = no_memory(reader);
        goto fail;
    }
    *out = profile;
    return 0;
fail:
    rsc_profile_free(profile);
    return rc;
}

static int read_document(struct reader *reader, const json_t *root, struct rsc_profile ***profiles, size_t *count) {
    const json_t *list = json_object_get(root, "profiles");
    size_t wanted = 1;
    int rc = 0;
    if (!json_is_object(root)) return bad(reader, "not a JSON object");
    if (list) {
        if ((rc = check_schema(reader, root, "reusescope-profiles/1"))) return rc;
        wanted = json_array_size(list);
        if (wanted < 1 || wanted > PROFILES_MAX)
            return bad(reader, "profiles must be an array of 1 to %d profiles", PROFILES_MAX);
    }
    struct rsc_profile **all = calloc(wanted, sizeof *all);
    if (!all) return no_memory(reader);
    for (size_t i = 0; i < wanted && !rc; i++) {
        if (list) snprintf(reader->where, sizeof reader->where, "profiles[%zu].", i);
        rc = read_profile(reader, list ? json_array_get(list, i) : root, &all[i]);
    }
    if (rc) {
        for (size_t i = 0; i < wanted; i++) rsc_profile_free(all[i]);
        free(all);
        return rc;
    }
    *profiles = all;
    *count = wanted;
    return 0;
}

/* An upper bound on the values of a document, for text that may not even be JSON. */
static size_t count_values(const char *text, size_t bytes) {
    size_t values = 1;
    int quoted = 0;
    for (size_t i = 0; i < bytes; i++) {
        if (quoted && text[i] == '\\') i++;
        else if (text[i] == '"') quoted = !quoted;
        else if (!quoted) values += text[i] == ',' || text[i] == '[' || text[i] == '{';
    }
    return values;
}

int rsc_profiles_parse(const char *text, size_t bytes, const char *name, struct rsc_profile ***profiles,
                       size_t *count, struct rsc_error *error) {
    struct reader reader = {.name = name, .error = error, .rows_left = ROWS_MAX};
    json_error_t problem;
    if (count_values(text, bytes) > VALUES_MAX)
        return rsc_fail(error, RSC_ELIMIT, "%s: more than %u million JSON values", name, VALUES_MAX >> 20);
    json_t *root = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &problem);
    if (!root) {
        if (json_error_code(&problem) == json_error_out_of_memory) return no_memory(&reader);
        int rc = rsc_fail_at(error, RSC_EFORMAT, (uint64_t)problem.position, "%s: line %d: %s", name, problem.line,
                             problem.text);
        if (error) error->line = problem.line > 0 ? (uint32_t)problem.line : 0;
        return rc;
    }
    int rc = read_document(&reader, root, profiles, count);
    json_decref(root);
    return rc;
}
