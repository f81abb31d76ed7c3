/*
 * profile_load.c - reads profiles from untrusted JSON text.
 *
 * Before anything is used, every number is checked for type and range, every bin
 * against the layout of the contract, and the counts against their sum. Unknown keys
 * are skipped: a newer minor version may add some. Constants below bound what a file
 * can make this code allocate, whatever the file claims.
 */
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/json_read.h"
#include "profile/load_fields.h"
#include "profile/row_tables.h"

/* jansson uses up to about 230 bytes per value, so a document stays below 4 GB. A bin is four values. */
#define VALUES_MAX (16u << 20)
/* Rows with a histogram (2 KB) of all profiles in a file, so 2 GB; the count of values bounds those without. */
#define ROWS_MAX (8 * RSC_PROFILE_ROWS_MAX)
#define COUNT_MAX RSC_LOAD_COUNT_MAX

/* made */

static int read_command(const struct rsc_loader *loader, const json_t *made, struct rsc_profile *profile) {
    const json_t *words;
    int rc = rsc_load_array(loader, made, "command", &words);
    if (rc) return rc;
    size_t count = json_array_size(words);
    const char **argv = calloc(count + 1, sizeof *argv);
    if (!argv) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        argv[i] = json_string_value(json_array_get(words, i));
        if (!argv[i]) rc = rsc_load_bad(loader, "command[%zu] must be a string", i);
    }
    if (!rc && rsc_profile_set_command(profile, (char *const *)argv)) rc = rsc_load_no_memory(loader);
    free(argv);
    return rc;
}

/* A number or, for watched programs, an object that contains it. */
static int read_overhead(struct rsc_loader *loader, const json_t *object, struct rsc_made *made) {
    const json_t *watching = json_object_get(object, "overhead");
    struct rsc_watch_costs *costs = &made->watching;
    int rc;
    if (!json_is_object(watching)) return rsc_load_double_or_null(loader, object, "overhead", 1e12, &made->overhead);
    if ((rc = rsc_load_double_or_null(loader, watching, "slowdown", 1e12, &made->overhead)) ||
        (rc = rsc_load_double(loader, watching, "handler_seconds", RSC_SECONDS_MAX, &costs->handler_seconds)) ||
        (rc = rsc_load_u64(loader, watching, "samples", COUNT_MAX, &costs->samples)) ||
        (rc = rsc_load_u64(loader, watching, "traps", COUNT_MAX, &costs->traps)) ||
        (rc = rsc_load_u64(loader, watching, "dropped", COUNT_MAX, &costs->dropped)) ||
        (rc = rsc_load_u64(loader, watching, "censored", COUNT_MAX, &costs->censored)))
        return rc;
    costs->is_known = 1;
    return 0;
}

static int read_made(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *object = json_object_get(root, "made");
    struct rsc_made *made = &profile->made;
    int rc;
    if (!json_is_object(object)) return rsc_load_bad(loader, "made is missing or not an object");
    if ((rc = rsc_load_text(loader, object, "by", 0, &made->by)) ||
        (rc = rsc_load_text(loader, object, "source", 0, &made->source)) ||
        (rc = rsc_load_text(loader, object, "model", 0, &made->model)) ||
        (rc = rsc_load_text(loader, object, "sampling", 1, &made->sampling)) ||
        (json_object_get(object, "modelled") && (rc = rsc_load_text(loader, object, "modelled", 1, &made->modelled))) ||
        (json_object_get(object, "loop") && (rc = rsc_load_text(loader, object, "loop", 1, &made->loop))) ||
        (rc = rsc_load_u64(loader, object, "line", 1u << 30, &made->line_bytes)) ||
        (rc = rsc_load_u64(loader, object, "threads", COUNT_MAX, &made->threads)) ||
        (rc = rsc_load_u64(loader, object, "workers", COUNT_MAX, &made->workers)) ||
        (rc = rsc_load_double(loader, object, "seconds", RSC_SECONDS_MAX, &made->seconds)) ||
        (rc = read_overhead(loader, object, made)) ||
        (rc = rsc_load_double_or_null(loader, object, "coverage", 1, &made->coverage)) ||
        (json_object_get(object, "threads_unseen") &&
         (rc = rsc_load_u64(loader, object, "threads_unseen", COUNT_MAX, &made->threads_unseen))) ||
        (json_object_get(object, "instructions") &&
         (rc = rsc_load_u64(loader, object, "instructions", COUNT_MAX, &made->instructions))) ||
        (rc = read_command(loader, object, profile)))
        return rc;
    if (strcmp(made->model, "single") && strcmp(made->model, "private") && strcmp(made->model, "shared") &&
        strcmp(made->model, "requests"))
        return rsc_load_bad(loader, "made.model must be single, private, shared or requests");
    if (!made->line_bytes || made->line_bytes & (made->line_bytes - 1))
        return rsc_load_bad(loader, "made.line must be a power of two");
    return 0;
}

static int read_point(const struct rsc_loader *loader, const json_t *item, uint64_t line_bytes, uint64_t above,
                      struct rsc_mrc_point *point) {
    int rc;
    if ((rc = rsc_load_u64(loader, item, "lines", COUNT_MAX / line_bytes, &point->lines)) ||
        (rc = rsc_load_u64(loader, item, "bytes", COUNT_MAX, &point->bytes)) ||
        (rc = rsc_load_double(loader, item, "miss_ratio", 1, &point->miss_ratio)) ||
        (rc = rsc_load_double(loader, item, "low", 1, &point->low)) ||
        (rc = rsc_load_double(loader, item, "high", 1, &point->high)))
        return rc;
    if (point->lines <= above) return rsc_load_bad(loader, "lines must be more than %" PRIu64 ": sizes ascend", above);
    if (point->bytes != point->lines * line_bytes)
        return rsc_load_bad(loader, "bytes must be lines times the line size");
    if (point->low > point->miss_ratio || point->high < point->miss_ratio)
        return rsc_load_bad(loader, "miss_ratio must lie between low and high");
    return 0;
}

int rsc_load_curve(struct rsc_loader *loader, const json_t *object, const char *key, uint64_t line_bytes,
                   struct rsc_mrc_point **points, size_t *count) {
    const json_t *list;
    int rc = rsc_load_array(loader, object, key, &list);
    size_t wanted = json_array_size(list), prefix = strlen(loader->where);
    if (rc || !wanted) return rc;
    if (!(*points = calloc(wanted, sizeof **points))) return rsc_load_no_memory(loader);
    *count = wanted;
    for (size_t i = 0; i < wanted && !rc; i++) {
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s[%zu].", key, i);
        rc = read_point(loader, json_array_get(list, i), line_bytes, i ? (*points)[i - 1].lines : 0, &(*points)[i]);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int read_mrc(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    int rc = rsc_load_curve(loader, root, "mrc", profile->made.line_bytes, &profile->mrc, &profile->mrc_count);
    if (!rc && !profile->mrc_count != !profile->references)
        return rsc_load_bad(loader, "mrc must be empty if and only if there are no references");
    return rc;
}

static int read_extra_bins(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *object = json_object_get(root, "bins");
    if (!object) return 0;
    uint64_t per_octave = 0;
    unsigned __int128 total;
    int rc = rsc_load_u64(loader, object, "per_octave", 64, &per_octave);
    if (rc) return rc;
    if (!per_octave) return rsc_load_bad(loader, "bins.per_octave must be from 1 to 64");
    if (rsc_profile_set_bins(profile, (uint32_t)per_octave)) return rsc_load_no_memory(loader);
    struct rsc_load_cap cap = {profile->rd_cap, NULL}, none = {0, NULL};
    if ((rc = rsc_load_bins(loader, object, "rd", 0, cap, &profile->rd_binned, &total))) return rc;
    return rsc_load_bins(loader, object, "ri", 1, none, &profile->ri_binned, &total);
}

static int read_bar(struct rsc_loader *loader, const json_t *item, struct rsc_profile *profile) {
    uint64_t lo, low, high;
    int rc;
    if (json_is_null(json_object_get(item, "hi"))) return 0;
    if ((rc = rsc_load_u64(loader, item, "lo", COUNT_MAX, &lo)) ||
        (rc = rsc_load_u64(loader, item, "low", COUNT_MAX, &low)) ||
        (rc = rsc_load_u64(loader, item, "high", COUNT_MAX, &high)))
        return rc;
    uint32_t bin = rsc_bin_of_fine(lo);
    if (low > profile->rd.count[bin] || high < profile->rd.count[bin])
        return rsc_load_bad(loader, "count must lie between low and high");
    profile->rd_low.count[bin] = low;
    profile->rd_high.count[bin] = high;
    return 0;
}

/* Reads low and high of the bins of rd, which all have or none. Call after reading rd. */
static int read_bars(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list = json_object_get(root, "rd");
    size_t prefix = strlen(loader->where);
    int rc = 0;
    if (!json_object_get(json_array_get(list, 0), "low")) return 0;
    if (rsc_profile_set_bars(profile)) return rsc_load_no_memory(loader);
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "rd[%zu].", i);
        rc = read_bar(loader, json_array_get(list, i), profile);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int read_byte_ratios(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list = json_object_get(root, "mrc");
    size_t prefix = strlen(loader->where);
    int rc = 0;
    if (!profile->mrc_count) return 0;
    profile->requests.miss_ratio = calloc(profile->mrc_count, sizeof *profile->requests.miss_ratio);
    if (!profile->requests.miss_ratio) return rsc_load_no_memory(loader);
    if (json_object_get(json_array_get(list, 0), "byte_low")) {
        profile->requests.low = calloc(profile->mrc_count, sizeof *profile->requests.low);
        profile->requests.high = calloc(profile->mrc_count, sizeof *profile->requests.high);
        if (!profile->requests.low || !profile->requests.high) return rsc_load_no_memory(loader);
    }
    for (size_t i = 0; i < profile->mrc_count && !rc; i++) {
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "mrc[%zu].", i);
        rc = rsc_load_double(loader, json_array_get(list, i), "byte_miss_ratio", 1, &profile->requests.miss_ratio[i]);
        if (rc || !profile->requests.low) continue;
        rc = rsc_load_double(loader, json_array_get(list, i), "byte_low", 1, &profile->requests.low[i]);
        if (!rc) rc = rsc_load_double(loader, json_array_get(list, i), "byte_high", 1, &profile->requests.high[i]);
    }
    loader->where[prefix] = 0;
    return rc;
}

/* Reads the key requests and each point's byte_miss_ratio, if the model is requests. Call after totals, rd and mrc. */
static int read_requests(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *object = json_object_get(root, "requests");
    struct rsc_request_bytes *bytes = &profile->requests;
    struct rsc_load_cap none = {0, NULL};
    unsigned __int128 sum;
    int rc, wanted = profile->made.model && !strcmp(profile->made.model, "requests");
    if (!wanted) return object ? rsc_load_bad(loader, "requests must be absent: made.model is not requests") : 0;
    if (!json_is_object(object)) return rsc_load_bad(loader, "requests is missing or not an object");
    if (profile->made.line_bytes != 1)
        return rsc_load_bad(loader, "made.line must be 1: requests are counted in bytes");
    if (profile->rd_cap) return rsc_load_bad(loader, "max_distance must be absent: made.model is requests");
    if (rsc_profile_set_requests(profile)) return rsc_load_no_memory(loader);
    if ((rc = rsc_load_u64(loader, object, "bytes", COUNT_MAX, &bytes->requested)) ||
        (rc = rsc_load_u64(loader, object, "cold_bytes", COUNT_MAX, &bytes->cold)) ||
        (rc = rsc_load_u64(loader, object, "footprint_bytes", COUNT_MAX, &bytes->footprint)) ||
        (rc = rsc_load_bins(loader, object, "rd_bytes", 0, none, &bytes->rd, &sum)))
        return rc;
    if (sum + bytes->cold != bytes->requested)
        return rsc_load_bad(loader, "requests: rd_bytes and cold_bytes do not sum to bytes");
    return read_byte_ratios(loader, root, profile);
}

/* The document. */

static int read_total_bar(struct rsc_loader *loader, const json_t *bars, const char *name, struct rsc_count_bar *bar) {
    const json_t *object = json_object_get(bars, name);
    int rc;
    if (!object) return 0;
    bar->is_known = 1;
    if ((rc = rsc_load_u64(loader, object, "low", COUNT_MAX, &bar->low)) ||
        (rc = rsc_load_u64(loader, object, "high", COUNT_MAX, &bar->high)))
        return rc;
    return bar->low > bar->high ? rsc_load_bad(loader, "bars: %s: low is above high", name) : 0;
}

static int read_total_bars(struct rsc_loader *loader, const json_t *root, struct rsc_total_bars *bars) {
    const json_t *object = json_object_get(root, "bars");
    int rc;
    if ((rc = read_total_bar(loader, object, "cold", &bars->cold)) ||
        (rc = read_total_bar(loader, object, "invalidated", &bars->invalidated)))
        return rc;
    return read_total_bar(loader, object, "distinct", &bars->distinct);
}

/* Another version is one of a newer tool: what it says is left out. */
static int read_turns(struct rsc_loader *loader, const json_t *root, struct rsc_turns *turns) {
    const json_t *object = json_object_get(root, "turns");
    uint64_t version;
    int rc;
    if (!object) return 0;
    if ((rc = rsc_load_u64(loader, object, "version", COUNT_MAX, &version)) || version != 1) return rc;
    if ((rc = rsc_load_u64(loader, object, "accesses", COUNT_MAX, &turns->accesses)) ||
        (rc = rsc_load_u64(loader, object, "turns", turns->accesses, &turns->turns)) ||
        (rc = rsc_load_u64(loader, object, "others", turns->accesses, &turns->others)) ||
        (rc = rsc_load_u64(loader, object, "mixed", turns->accesses, &turns->mixed)) ||
        (rc = rsc_load_u64(loader, object, "mixed_turns", turns->turns, &turns->mixed_turns)) ||
        (rc = rsc_load_u64(loader, object, "threads", COUNT_MAX, &turns->threads)) ||
        (rc = rsc_load_u64(loader, object, "regular", turns->mixed_turns, &turns->regular)) ||
        (rc = rsc_load_u64(loader, object, "grain", COUNT_MAX, &turns->grain)))
        return rc;
    if (turns->threads / 2 < turns->mixed) return rsc_load_bad(loader, "turns.threads must be at least twice mixed");
    return 0;
}

static int read_totals(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    int rc;
    if ((rc = rsc_load_u64(loader, root, "accesses", COUNT_MAX, &profile->accesses)) ||
        (rc = rsc_load_u64(loader, root, "references", COUNT_MAX, &profile->references)) ||
        (rc = rsc_load_u64(loader, root, "cold", COUNT_MAX, &profile->cold)) ||
        (rc = rsc_load_u64(loader, root, "invalidated", COUNT_MAX, &profile->invalidated)) ||
        (rc = rsc_load_u64(loader, root, "distinct", COUNT_MAX, &profile->distinct)) ||
        (rc = rsc_load_u64(loader, root, "last_touch", COUNT_MAX, &profile->last_touch)) ||
        (rc = rsc_load_u64(loader, root, "pruned", COUNT_MAX, &profile->pruned)) ||
        (rc = rsc_load_u64(loader, root, "censored", COUNT_MAX, &profile->censored)) ||
        (rc = read_total_bars(loader, root, &profile->bars)) || (rc = read_turns(loader, root, &profile->turns)))
        return rc;
    if (json_object_get(root, "max_distance"))
        return rsc_load_u64(loader, root, "max_distance", COUNT_MAX, &profile->rd_cap);
    /* In files without max_distance, the open bin starts at the cap. */
    const json_t *rd = json_object_get(root, "rd"), *last = json_array_get(rd, json_array_size(rd) - 1);
    if (json_is_null(json_object_get(last, "hi"))) return rsc_load_u64(loader, last, "lo", COUNT_MAX, &profile->rd_cap);
    return 0;
}

static int check_schema(const struct rsc_loader *loader, const json_t *root, const char *wanted) {
    const char *schema = json_string_value(json_object_get(root, "schema"));
    size_t stem = strlen(wanted) - 1; /* without the version */
    if (!schema) return rsc_load_bad(loader, "schema is missing");
    if (!strcmp(schema, wanted)) return 0;
    if (!strncmp(schema, wanted, stem) && strtoul(schema + stem, NULL, 10) > 1)
        return rsc_fail(loader->error, RSC_EVERSION, "%s: written as %.64s, newer than this tool", loader->name,
                        schema);
    return rsc_load_bad(loader, "schema is '%.64s', not %s", schema, wanted);
}

static int read_profile(struct rsc_loader *loader, const json_t *root, struct rsc_profile **out) {
    unsigned __int128 total;
    int rc = check_schema(loader, root, "reusescope-profile/1");
    if (rc) return rc;
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return rsc_load_no_memory(loader);
    if ((rc = read_made(loader, root, profile)) || (rc = read_totals(loader, root, profile))) goto fail;
    struct rsc_load_cap cap = {profile->rd_cap, &profile->rd_capped}, none = {0, NULL};
    if ((rc = rsc_load_bins(loader, root, "rd", 0, cap, &profile->rd, &total)) ||
        (rc = rsc_profile_check_sum(profile, loader->name, loader->error)) ||
        (rc = rsc_load_bins(loader, root, "ri", 1, none, &profile->ri, &total)))
        goto fail;
    if (total > profile->references) {
        rc = rsc_load_bad(loader, "ri sums to more than references");
        goto fail;
    }
    if ((rc = read_bars(loader, root, profile)) || (rc = read_mrc(loader, root, profile)) ||
        (rc = read_requests(loader, root, profile)) || (rc = read_extra_bins(loader, root, profile)) ||
        (rc = rsc_load_rows(loader, root, profile)))
        goto fail;
    if (rsc_profile_seal(profile)) {
        rc = rsc_load_no_memory(loader);
        goto fail;
    }
    *out = profile;
    return 0;
fail:
    rsc_profile_free(profile);
    return rc;
}

static int read_document(struct rsc_loader *loader, const json_t *root, struct rsc_profile ***profiles, size_t *count) {
    const json_t *list = json_object_get(root, "profiles");
    size_t wanted = 1;
    int rc = 0;
    if (!json_is_object(root)) return rsc_load_bad(loader, "not a JSON object");
    const char *schema = json_string_value(json_object_get(root, "schema"));
    if (schema && !strncmp(schema, "reusescope-loops/", 17)) {
        rc = check_schema(loader, root, "reusescope-loops/1");
        return rc ? rc : rsc_load_loops(loader, root, profiles, count);
    }
    if (list) {
        if ((rc = check_schema(loader, root, "reusescope-profiles/1"))) return rc;
        wanted = json_array_size(list);
        if (wanted < 1 || wanted > RSC_PROFILES_MAX)
            return rsc_load_bad(loader, "profiles must be an array of 1 to %d profiles", RSC_PROFILES_MAX);
    }
    struct rsc_profile **all = calloc(wanted, sizeof *all);
    if (!all) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < wanted && !rc; i++) {
        if (list) snprintf(loader->where, sizeof loader->where, "profiles[%zu].", i);
        rc = read_profile(loader, list ? json_array_get(list, i) : root, &all[i]);
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

/* An upper bound on the number of values of a document, also for text that is not JSON. */
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

int rsc_profiles_check_size(const char *text, size_t bytes, const char *name, struct rsc_error *error) {
    if (count_values(text, bytes) <= VALUES_MAX) return 0;
    return rsc_fail(error, RSC_ELIMIT, "%s: more than %u million JSON values", name, VALUES_MAX >> 20);
}

int rsc_profiles_check_rows(struct rsc_profile *const *profiles, size_t count, struct rsc_error *error) {
    size_t rows = 0;
    for (size_t i = 0; i < count; i++) rows += rsc_profile_row_count(profiles[i]);
    if (rows <= ROWS_MAX) return 0;
    return rsc_fail(error, RSC_ELIMIT, "%zu profiles with %zu rows cannot be written: a file has at most %u", count,
                    rows, ROWS_MAX);
}

int rsc_profiles_parse(const char *text, size_t bytes, const char *name, struct rsc_profile ***profiles, size_t *count,
                       struct rsc_error *error) {
    struct rsc_loader loader = {.name = name, .error = error, .rows_left = ROWS_MAX};
    int rc = rsc_profiles_check_size(text, bytes, name, error);
    if (rc < 0) return rc;
    json_t *root;
    rc = rsc_json_read(&root, text, bytes, name, error);
    if (rc < 0) return rc;
    rc = read_document(&loader, root, profiles, count);
    json_decref(root);
    return rc;
}
