/*
 * objects_results.c - simulated caches of whole objects as text, as a CSV table with one
 * row per cache, and as JSON (docs/schema/objects.schema.json).
 */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"
#include "report/results/results.h"

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

static struct rsc_shown show_ratio(double value) {
    return isfinite(value) ? rsc_show_percent(value) : (struct rsc_shown){"-"};
}

int rsc_objects_text(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                     struct rsc_error *error) {
    const struct rsc_objects_result *result = of->objects;
    static const char *const heads[] = {"size", "misses", "miss ratio", "byte misses", "evictions", "too large"};
    struct rsc_text out;
    rsc_text_init(&out, style && style->unicode, style && style->colour);
    rsc_text_put(&out, "requests    %s", rsc_show_count(result->requests).text);
    rsc_text_put(&out, ", %s", rsc_show_bytes(result->requested_bytes).text);
    if (result->warm_requests)
        rsc_text_put(&out, "; not counted: the first %s", rsc_show_count(result->warm_requests).text);
    rsc_text_put(&out, "\nobjects     %s", rsc_show_count(result->objects).text);
    rsc_text_put(&out, ", %s\n\npolicy", rsc_show_bytes(result->objects_bytes).text);
    for (unsigned i = 0; i < 6; i++) rsc_text_right(&out, 20 + 12 * i, heads[i]);
    rsc_text_put(&out, "\n");
    for (size_t i = 0; i < result->row_count; i++) {
        const struct rsc_object_cache_row *row = &result->rows[i];
        if (i && strcmp(row->policy, row[-1].policy)) rsc_text_put(&out, "\n");
        rsc_text_put(&out, "%s", row->policy);
        rsc_text_right(&out, 20, rsc_show_bytes(row->bytes).text);
        rsc_text_right(&out, 32, rsc_show_short(row->misses).text);
        rsc_text_right(&out, 44, show_ratio(ratio(row->misses, result->requests)).text);
        rsc_text_right(&out, 56, show_ratio(ratio(row->missed_bytes, result->requested_bytes)).text);
        rsc_text_right(&out, 68, rsc_show_short(row->evictions).text);
        rsc_text_right(&out, 80, rsc_show_short(row->too_large).text);
        rsc_text_put(&out, "\n");
    }
    return rsc_text_take(&out, text, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}

int rsc_objects_csv(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                    struct rsc_error *error) {
    const struct rsc_objects_result *result = of->objects;
    struct rsc_text out;
    (void)style;
    rsc_text_init(&out, 1, 0);
    rsc_text_put(&out, "policy,bytes,requests,misses,miss_ratio,requested_bytes,missed_bytes,byte_miss_ratio,too_large,"
                       "evictions,objects_at_end,bytes_at_end\n");
    for (size_t i = 0; i < result->row_count; i++) {
        const struct rsc_object_cache_row *row = &result->rows[i];
        double missed = ratio(row->misses, result->requests),
               missed_bytes = ratio(row->missed_bytes, result->requested_bytes);
        rsc_text_put(&out, "%s,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",", row->policy, row->bytes, result->requests,
                     row->misses);
        if (isfinite(missed)) rsc_text_put(&out, "%.10g", missed);
        rsc_text_put(&out, ",%" PRIu64 ",%" PRIu64 ",", result->requested_bytes, row->missed_bytes);
        if (isfinite(missed_bytes)) rsc_text_put(&out, "%.10g", missed_bytes);
        rsc_text_put(&out, ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", row->too_large, row->evictions,
                     row->objects_at_end, row->bytes_at_end);
    }
    return rsc_text_take(&out, text, bytes) < 0 ? rsc_fail_memory(error, "CSV") : 0;
}

int rsc_objects_json(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                     struct rsc_error *error) {
    const struct rsc_objects_result *result = of->objects;
    struct rsc_json json;
    (void)style;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-objects/1");
    rsc_json_newline(&json);
    rsc_json_key_object(&json, "made");
    rsc_json_key_u64(&json, "workers", result->workers);
    rsc_json_key_array(&json, "command");
    for (char **word = result->command; word && *word; word++) rsc_json_string(&json, *word);
    rsc_json_array_end(&json);
    rsc_json_key_double(&json, "seconds", result->seconds);
    rsc_json_object_end(&json);
    rsc_json_newline(&json);
    rsc_json_key_u64(&json, "requests", result->requests);
    rsc_json_key_u64(&json, "requested_bytes", result->requested_bytes);
    rsc_json_key_u64(&json, "warm_requests", result->warm_requests);
    rsc_json_key_u64(&json, "objects", result->objects);
    rsc_json_key_u64(&json, "objects_bytes", result->objects_bytes);
    rsc_json_newline(&json);
    rsc_json_key_array(&json, "caches");
    for (size_t i = 0; i < result->row_count; i++) {
        const struct rsc_object_cache_row *row = &result->rows[i];
        rsc_json_row(&json);
        rsc_json_key_string(&json, "policy", row->policy);
        rsc_json_key_u64(&json, "bytes", row->bytes);
        rsc_json_key_u64(&json, "misses", row->misses);
        rsc_json_key_double(&json, "miss_ratio", ratio(row->misses, result->requests));
        rsc_json_key_u64(&json, "missed_bytes", row->missed_bytes);
        rsc_json_key_double(&json, "byte_miss_ratio", ratio(row->missed_bytes, result->requested_bytes));
        rsc_json_key_u64(&json, "too_large", row->too_large);
        rsc_json_key_u64(&json, "evictions", row->evictions);
        rsc_json_key_u64(&json, "objects_at_end", row->objects_at_end);
        rsc_json_key_u64(&json, "bytes_at_end", row->bytes_at_end);
        rsc_json_object_end(&json);
    }
    rsc_json_newline(&json);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    return rsc_json_take(&json, "object caches", text, bytes, error);
}
