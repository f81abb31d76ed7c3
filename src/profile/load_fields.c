/*
 * load_fields.c - reads single values and histograms from untrusted JSON: each is
 * checked for type, range and layout before it is used.
 */
#include "profile/load_fields.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"

int rsc_load_bad(const struct rsc_loader *loader, const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    return rsc_fail(loader->error, RSC_EFORMAT, "%s: %s%s", loader->name, loader->where, text);
}

int rsc_load_no_memory(const struct rsc_loader *loader) { return rsc_fail_memory(loader->error, loader->name); }

int rsc_load_u64(const struct rsc_loader *loader, const json_t *object, const char *key, uint64_t max, uint64_t *out) {
    const json_t *value = json_object_get(object, key);
    if (!value) return rsc_load_bad(loader, "%s is missing", key);
    if (!json_is_integer(value) || json_integer_value(value) < 0 || (uint64_t)json_integer_value(value) > max)
        return rsc_load_bad(loader, "%s must be a whole number from 0 to %" PRIu64, key, max);
    *out = (uint64_t)json_integer_value(value);
    return 0;
}

int rsc_load_double(const struct rsc_loader *loader, const json_t *object, const char *key, double max, double *out) {
    const json_t *value = json_object_get(object, key);
    if (!value) return rsc_load_bad(loader, "%s is missing", key);
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0 && number <= max))
        return rsc_load_bad(loader, "%s must be a number from 0 to %g", key, max);
    *out = number;
    return 0;
}

int rsc_load_double_or_null(const struct rsc_loader *loader, const json_t *object, const char *key, double max,
                            double *out) {
    *out = NAN;
    return json_is_null(json_object_get(object, key)) ? 0 : rsc_load_double(loader, object, key, max, out);
}

int rsc_load_text(const struct rsc_loader *loader, const json_t *object, const char *key, int may_be_null, char **out) {
    const json_t *value = json_object_get(object, key);
    if (!value) return rsc_load_bad(loader, "%s is missing", key);
    if (!json_is_string(value) && !(may_be_null && json_is_null(value)))
        return rsc_load_bad(loader, "%s must be a string%s", key, may_be_null ? " or null" : "");
    return rsc_profile_set_text(out, json_string_value(value)) ? rsc_load_no_memory(loader) : 0;
}

int rsc_load_array(const struct rsc_loader *loader, const json_t *object, const char *key, const json_t **out) {
    *out = json_object_get(object, key);
    if (!*out) return rsc_load_bad(loader, "%s is missing", key);
    return json_is_array(*out) ? 0 : rsc_load_bad(loader, "%s must be an array", key);
}

static int get_hi(const struct rsc_loader *loader, const json_t *item, uint64_t *hi) {
    *hi = UINT64_MAX;
    return json_is_null(json_object_get(item, "hi")) ? 0 : rsc_load_u64(loader, item, "hi", RSC_LOAD_COUNT_MAX, hi);
}

static int read_bin(const struct rsc_loader *loader, const json_t *item, struct rsc_load_cap cap,
                    struct rsc_histogram *histogram, uint64_t *lo, uint64_t *count) {
    uint64_t hi;
    int rc;
    if ((rc = rsc_load_u64(loader, item, "lo", RSC_LOAD_COUNT_MAX, lo)) || (rc = get_hi(loader, item, &hi)) ||
        (rc = rsc_load_u64(loader, item, "count", RSC_LOAD_COUNT_MAX, count)))
        return rc;
    if (!*count) return rsc_load_bad(loader, "count is 0: only non-empty bins are listed");
    if (cap.capped && cap.at && *lo == cap.at && hi == UINT64_MAX) {
        *cap.capped = *count;
        return 0;
    }
    uint32_t bin = rsc_bin_of(histogram->bins, *lo);
    uint64_t first = rsc_bin_lo(histogram->bins, bin), end = rsc_bin_hi(histogram->bins, bin);
    if (cap.at && end >= cap.at) end = cap.capped ? cap.at - 1 : UINT64_MAX;
    if (*lo != first || hi != end || (cap.at && first >= cap.at && (cap.capped || first > cap.at)))
        return rsc_load_bad(loader, "not a bin of this layout");
    histogram->count[bin] = *count;
    return 0;
}

int rsc_load_bins(struct rsc_loader *loader, const json_t *object, const char *key, uint64_t lowest,
                  struct rsc_load_cap cap, struct rsc_histogram *histogram, unsigned __int128 *total) {
    const json_t *list;
    int rc = rsc_load_array(loader, object, key, &list);
    uint64_t next = lowest;
    size_t prefix = strlen(loader->where);
    *total = 0;
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        uint64_t lo = 0, count = 0;
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s[%zu].", key, i);
        rc = read_bin(loader, json_array_get(list, i), cap, histogram, &lo, &count);
        if (!rc && lo < next) rc = rsc_load_bad(loader, "lo must be at least %" PRIu64 ": bins ascend", next);
        next = lo + 1;
        *total += count;
    }
    loader->where[prefix] = 0;
    return rc;
}
