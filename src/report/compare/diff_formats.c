/*
 * diff_formats.c - a comparison as JSON, SARIF 2.1.0 and GitHub workflow
 * annotations.
 *
 * SARIF and annotations hold findings only: an error for each broken rule, a
 * warning for each line that got worse. The JSON has all numbers.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "report/compare/diff.h"
#include "report/draw/text_buffer.h"

static const char *const verdicts[] = {"same", "worse", "better"};
static const char *const scope_names[] = {"run", "function", "line"};

/* ---- JSON ---- */

static void put_value(struct rsc_json *json, const char *key, const struct rsc_diff_value *value) {
    rsc_json_key_object(json, key);
    rsc_json_key_double(json, "value", value->value);
    rsc_json_key_double(json, "low", value->low);
    rsc_json_key_double(json, "high", value->high);
    rsc_json_object_end(json);
}

static void put_place(struct rsc_json *json, const struct rsc_diff_report *report, const struct rsc_diff_row *row) {
    const struct rsc_place *place = row->place;
    rsc_json_key_string(json, "function", place->function);
    rsc_json_key_string(json, "file", place->file ? rsc_diff_file_name(report, place->file) : NULL);
    if (row->has_line) rsc_json_key_u64(json, "line", place->line);
    if (!row->has_line) rsc_json_key_string(json, "module", place->module);
    if (row->by_offset) {
        rsc_json_key_hex(json, "offset", place->offset);
    }
}

static void put_rows(struct rsc_json *json, const struct rsc_diff_report *report, const struct rsc_diff *diff,
                     const char *key, const struct rsc_diff_row *rows, size_t count) {
    rsc_json_key_array(json, key);
    for (size_t i = 0; i < count; i++) {
        rsc_json_row(json);
        put_place(json, report, &rows[i]);
        rsc_json_key_array(json, "references");
        rsc_json_u64(json, rows[i].references[RSC_DIFF_OLD]);
        rsc_json_u64(json, rows[i].references[RSC_DIFF_NEW]);
        rsc_json_array_end(json);
        rsc_json_key_array(json, "misses");
        for (size_t s = 0; s < diff->size_count; s++) {
            const struct rsc_diff_value sides[2] = {rows[i].misses[0][s], rows[i].misses[1][s]};
            rsc_json_object(json);
            rsc_json_key_u64(json, "bytes", diff->sizes[s].bytes);
            put_value(json, "old", &sides[0]);
            put_value(json, "new", &sides[1]);
            rsc_json_key_string(json, "verdict", verdicts[rsc_diff_verdict(sides)]);
            rsc_json_object_end(json);
        }
        rsc_json_array_end(json);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_total(struct rsc_json *json, const char *name, const struct rsc_diff_value sides[2]) {
    rsc_json_key_object(json, name);
    put_value(json, "old", &sides[0]);
    put_value(json, "new", &sides[1]);
    rsc_json_key_string(json, "verdict", verdicts[rsc_diff_run_verdict(sides)]);
    rsc_json_object_end(json);
}

static void put_sizes(struct rsc_json *json, const struct rsc_diff *diff) {
    rsc_json_key_array(json, "sizes");
    for (size_t i = 0; i < diff->size_count; i++) {
        const struct rsc_diff_size *size = &diff->sizes[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "bytes", size->bytes);
        rsc_json_key_string(json, "name", size->name[0] ? size->name : NULL);
        put_total(json, "misses", size->misses);
        if (diff->has_mpki) put_total(json, "mpki", size->mpki);
        put_total(json, "miss_ratio", size->miss_ratio);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_rebuilt(struct rsc_json *json, const struct rsc_diff *diff) {
    rsc_json_key_array(json, "rebuilt");
    for (size_t i = 0; i < diff->rebuilt_count; i++) {
        char id[2][RSC_BUILD_ID_TEXT];
        for (int side = 0; side < 2; side++) rsc_module_id_text(diff->rebuilt[i].sides[side], id[side]);
        rsc_json_object(json);
        rsc_json_key_string(json, "module", diff->rebuilt[i].sides[RSC_DIFF_NEW]->path);
        rsc_json_key_string(json, "old", id[RSC_DIFF_OLD]);
        rsc_json_key_string(json, "new", id[RSC_DIFF_NEW]);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_totals(struct rsc_json *json, const char *key, uint64_t old_count, uint64_t new_count) {
    rsc_json_key_array(json, key);
    rsc_json_u64(json, old_count);
    rsc_json_u64(json, new_count);
    rsc_json_array_end(json);
}

static void put_findings(struct rsc_json *json, const struct rsc_diff_report *report) {
    rsc_json_key_array(json, "regressions");
    for (size_t i = 0; i < report->findings->broken; i++) {
        const struct rsc_diff_finding *finding = &report->findings->items[i];
        const struct rsc_diff_row *row = finding->row ? finding->row : finding->where;
        rsc_json_row(json);
        rsc_json_key_string(json, "rule", finding->rule->text);
        rsc_json_key_string(json, "scope", scope_names[finding->scope]);
        rsc_json_key(json, "bytes");
        if (finding->sized) rsc_json_u64(json, finding->diff->sizes[finding->size].bytes);
        else rsc_json_null(json);
        put_value(json, "old", &finding->sides[0]);
        put_value(json, "new", &finding->sides[1]);
        if (row) put_place(json, report, row);
        rsc_json_key_string(json, "message", rsc_diff_finding_words(finding).text);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

int rsc_diff_json(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                  struct rsc_error *error) {
    const struct rsc_diff_report *report = result->diff;
    (void)style;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-diff/1");
    rsc_json_key_string(&json, "old", report->names[RSC_DIFF_OLD]);
    rsc_json_key_string(&json, "new", report->names[RSC_DIFF_NEW]);
    rsc_json_key_bool(&json, "failed", report->findings->broken > 0);
    put_findings(&json, report);
    rsc_json_key_array(&json, "comparisons");
    for (size_t i = 0; i < report->count; i++) {
        const struct rsc_diff *diff = &report->diffs[i];
        const struct rsc_profile *before = diff->sides[0], *after = diff->sides[1];
        rsc_json_row(&json);
        if (after->made.loop) {
            rsc_json_key_string(&json, "loop", after->made.loop);
            rsc_json_key_u64(&json, "threads", after->made.threads);
        }
        rsc_json_key_string(&json, "model", before->made.model);
        rsc_json_key_u64(&json, "line_bytes", before->made.line_bytes);
        put_totals(&json, "references", before->references, after->references);
        if (diff->lengths_differ) rsc_json_key_double(&json, "old_scaled_by", diff->scale[RSC_DIFF_OLD]);
        put_totals(&json, "cold", before->cold, after->cold);
        put_totals(&json, "footprint", rsc_profile_footprint(before), rsc_profile_footprint(after));
        if (diff->sides[0]->module_count && diff->sides[1]->module_count) put_rebuilt(&json, diff);
        put_sizes(&json, diff);
        put_rows(&json, report, diff, "functions", diff->functions, diff->function_count);
        put_rows(&json, report, diff, "lines", diff->lines, diff->line_count);
        rsc_json_object_end(&json);
    }
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    return rsc_json_take(&json, "text of the comparison", text, bytes, error);
}

/* ---- SARIF ---- */

/* A file name as a URI reference: all but unreserved characters and slashes are percent-encoded. */
static char *uri_of(const char *name) {
    static const char hex[] = "0123456789ABCDEF";
    int absolute = name[0] == '/';
    char *uri = malloc(3 * strlen(name) + 8), *to = uri;
    if (!uri) return NULL;
    if (absolute) to += sprintf(to, "file://");
    for (; *name; name++) {
        unsigned char c = (unsigned char)*name;
        if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || strchr("/-._~", c))
            *to++ = (char)c;
        else *to++ = '%', *to++ = hex[c >> 4], *to++ = hex[c & 15];
    }
    *to = 0;
    return uri;
}

static void put_text(struct rsc_json *json, const char *key, const char *value) {
    rsc_json_key_object(json, key);
    rsc_json_key_string(json, "text", value);
    rsc_json_object_end(json);
}

static void put_rules(struct rsc_json *json, const struct rsc_diff_report *report) {
    rsc_json_key_array(json, "rules");
    for (size_t i = 0; i <= report->rule_count; i++) {
        char words[96];
        rsc_json_object(json);
        rsc_json_key_string(json, "id", i < report->rule_count ? report->rules[i].text : "more-misses");
        if (i < report->rule_count) snprintf(words, sizeof words, "Fails where %s", report->rules[i].text);
        else snprintf(words, sizeof words, "A line misses more often than it did");
        put_text(json, "shortDescription", words);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static int put_location(struct rsc_json *json, const struct rsc_diff_report *report, const struct rsc_place *place) {
    char *uri = uri_of(rsc_diff_file_name(report, place->file));
    if (!uri) return RSC_ENOMEM;
    rsc_json_key_array(json, "locations");
    rsc_json_object(json);
    rsc_json_key_object(json, "physicalLocation");
    rsc_json_key_object(json, "artifactLocation");
    rsc_json_key_string(json, "uri", uri);
    rsc_json_object_end(json);
    rsc_json_key_object(json, "region");
    rsc_json_key_u64(json, "startLine", place->line);
    rsc_json_object_end(json);
    rsc_json_object_end(json);
    if (place->function) {
        rsc_json_key_array(json, "logicalLocations");
        rsc_json_object(json);
        rsc_json_key_string(json, "fullyQualifiedName", place->function);
        rsc_json_key_string(json, "kind", "function");
        rsc_json_object_end(json);
        rsc_json_array_end(json);
    }
    rsc_json_object_end(json);
    rsc_json_array_end(json);
    free(uri);
    return 0;
}

static int put_result(struct rsc_json *json, const struct rsc_diff_report *report,
                      const struct rsc_diff_finding *finding) {
    int status = 0;
    size_t rule = finding->rule ? (size_t)(finding->rule - report->rules) : report->rule_count;
    rsc_json_row(json);
    rsc_json_key_string(json, "ruleId", finding->rule ? finding->rule->text : "more-misses");
    rsc_json_key_u64(json, "ruleIndex", rule);
    rsc_json_key_string(json, "level", finding->rule ? "error" : "warning");
    put_text(json, "message", rsc_diff_finding_words(finding).text);
    if (finding->where) status = put_location(json, report, finding->where->place);
    rsc_json_key_object(json, "properties");
    rsc_json_key_double(json, "old", finding->sides[0].value);
    rsc_json_key_double(json, "new", finding->sides[1].value);
    if (finding->sized) rsc_json_key_u64(json, "cacheBytes", finding->diff->sizes[finding->size].bytes);
    rsc_json_object_end(json);
    rsc_json_object_end(json);
    return status;
}

int rsc_diff_sarif(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                   struct rsc_error *error) {
    const struct rsc_diff_report *report = result->diff;
    (void)style;
    struct rsc_json json;
    int status = 0;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "$schema", "https://json.schemastore.org/sarif-2.1.0.json");
    rsc_json_key_string(&json, "version", "2.1.0");
    rsc_json_key_array(&json, "runs");
    rsc_json_object(&json);
    rsc_json_key_object(&json, "tool");
    rsc_json_key_object(&json, "driver");
    rsc_json_key_string(&json, "name", "reusescope");
    rsc_json_key_string(&json, "version", rsc_version());
    put_rules(&json, report);
    rsc_json_object_end(&json);
    rsc_json_object_end(&json);
    rsc_json_key_array(&json, "results");
    for (size_t i = 0; !status && i < report->findings->count; i++)
        status = put_result(&json, report, &report->findings->items[i]);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    if (status < 0) {
        rsc_json_free(&json);
        return rsc_fail_memory(error, "text of the comparison");
    }
    return rsc_json_take(&json, "text of the comparison", text, bytes, error);
}

/* ---- annotations ---- */

/* Percent-encodes the special characters of workflow commands; in a property also ':' and ','. */
static void put_escaped(struct rsc_text *out, const char *words, int property) {
    for (; *words; words++) {
        unsigned char c = (unsigned char)*words;
        if (c == '%' || c < ' ' || (property && (c == ':' || c == ','))) rsc_text_put(out, "%%%02X", c);
        else rsc_text_put(out, "%c", c);
    }
}

int rsc_diff_github(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                    struct rsc_error *error) {
    const struct rsc_diff_report *report = result->diff;
    (void)style;
    struct rsc_text out;
    rsc_text_init(&out, 1, 0);
    for (size_t i = 0; i < report->findings->count; i++) {
        const struct rsc_diff_finding *finding = &report->findings->items[i];
        rsc_text_put(&out, finding->rule ? "::error " : "::warning ");
        if (finding->where) {
            rsc_text_put(&out, "file=");
            put_escaped(&out, rsc_diff_file_name(report, finding->where->place->file), 1);
            rsc_text_put(&out, ",line=%u,", finding->where->place->line);
        }
        rsc_text_put(&out, "title=");
        put_escaped(&out, finding->rule ? finding->rule->text : "more misses", 1);
        rsc_text_put(&out, "::");
        put_escaped(&out, rsc_diff_finding_words(finding).text, 0);
        rsc_text_put(&out, "\n");
    }
    return rsc_text_take(&out, text, bytes) ? rsc_fail_memory(error, "text of the comparison") : 0;
}
