/* loops_json.c - results of `loops` as JSON (docs/schema/loops.schema.json) and CSV. */
#include <stdlib.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "profile/profile_rows.h"
#include "report/draw/text_buffer.h"
#include "report/results/results.h"

static const char *or_empty(const char *text) { return text ? text : ""; }

static void put_curve(struct rsc_json *json, const char *key, const struct rsc_mrc_point *point, size_t count) {
    rsc_json_key_array(json, key);
    for (size_t i = 0; i < count; i++) {
        rsc_json_row(json);
        rsc_json_key_u64(json, "lines", point[i].lines);
        rsc_json_key_u64(json, "bytes", point[i].bytes);
        rsc_json_key_double(json, "miss_ratio", point[i].miss_ratio);
        rsc_json_key_double(json, "low", point[i].low);
        rsc_json_key_double(json, "high", point[i].high);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_rows(struct rsc_json *json, const struct rsc_loops_findings *findings,
                     const struct rsc_loops_result *result) {
    uint64_t lines = findings->at_bytes / findings->line_bytes;
    double *misses = calloc(result->row_count + 1, sizeof *misses), all = 0;
    if (!misses) {
        json->failed = RSC_ENOMEM;
        return;
    }
    rsc_loops_blame(result, lines, misses);
    for (size_t i = 0; i < result->row_count; i++) all += misses[i];
    rsc_json_key_u64(json, "at_bytes", findings->at_bytes);
    rsc_json_key_double(json, "fetched_bytes", all * (double)findings->line_bytes);
    rsc_json_key_array(json, "references");
    for (size_t i = 0; i < result->row_count; i++) {
        const struct rsc_loops_row *row = &result->rows[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "file", or_empty(row->file));
        rsc_json_key_u64(json, "line", row->line);
        rsc_json_key_string(json, "array", row->array);
        rsc_json_key_string(json, "kind", row->is_write ? "write" : "read");
        rsc_json_key_string(json, "text", or_empty(row->text));
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "samples", row->samples);
        rsc_json_key_double(json, "cold", row->cold);
        rsc_json_key_double(json, "misses", misses[i]);
        rsc_json_histogram(json, "rd", &row->rd, 0);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    free(misses);
}

static void put_private(struct rsc_json *json, const struct rsc_loops_private *own) {
    rsc_json_key(json, "private");
    if (!own->mrc) {
        rsc_json_null(json);
        return;
    }
    rsc_json_object(json);
    rsc_json_key_double(json, "cold", own->cold);
    rsc_json_key_double(json, "invalidated", own->invalidated);
    rsc_json_key_double(json, "invalidated_low", own->invalidated_low);
    rsc_json_key_double(json, "invalidated_high", own->invalidated_high);
    rsc_json_key_double(json, "false_sharing", own->false_sharing);
    rsc_json_key_array(json, "arrays");
    for (size_t i = 0; i < own->array_count; i++) {
        rsc_json_row(json);
        rsc_json_key_string(json, "array", own->arrays[i].array);
        rsc_json_key_double(json, "references", own->arrays[i].references);
        rsc_json_key_double(json, "coherence", own->arrays[i].coherence);
        rsc_json_key_double(json, "false_sharing", own->arrays[i].false_sharing);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    put_curve(json, "mrc", own->mrc, own->mrc_count);
    rsc_json_object_end(json);
}

static void put_levels(struct rsc_json *json, const struct rsc_loops_result *result, const char *machine) {
    rsc_json_key_object(json, "machine");
    rsc_json_key_string(json, "name", machine);
    rsc_json_key_string(json, "made", result->levels_simulated ? "simulated" : "estimated");
    rsc_json_key_array(json, "levels");
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_loops_level *level = &result->level[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "name", level->name);
        rsc_json_key_u64(json, "bytes", level->size_bytes);
        rsc_json_key_u64(json, "ways", level->ways);
        rsc_json_key_bool(json, "per_thread", level->per_thread);
        rsc_json_key_double(json, "miss_ratio", level->miss_ratio);
        rsc_json_key_double(json, "low", level->low);
        rsc_json_key_double(json, "high", level->high);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

static void put_results(struct rsc_json *json, const struct rsc_loops_findings *findings,
                        const struct rsc_loops_variant *variant) {
    rsc_json_key_array(json, "threads");
    for (size_t i = 0; variant && i < variant->result_count; i++) {
        const struct rsc_loops_result *result = variant->result[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "t", result->threads);
        rsc_json_key_string(json, "interleave", result->interleave);
        rsc_json_key_bool(json, "exact", result->exact);
        rsc_json_key_u64(json, "samples", result->samples);
        rsc_json_key_u64(json, "executed", result->references);
        rsc_json_key_u64(json, "distinct", result->distinct);
        put_curve(json, "mrc", result->mrc, result->mrc_count);
        put_rows(json, findings, result);
        put_private(json, &result->own);
        if (findings->machine && result->level_count) put_levels(json, result, findings->machine);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_gaps(struct rsc_json *json, const char *key, const struct rsc_loops_gap *gaps, size_t count) {
    rsc_json_key_array(json, key);
    for (size_t i = 0; i < count; i++) {
        const struct rsc_loops_gap *gap = &gaps[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "file", or_empty(gap->file));
        rsc_json_key_u64(json, "line", gap->line);
        rsc_json_key_string(json, "reason", gap->reason);
        rsc_json_key_string(json, "text", or_empty(gap->text));
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_loop(struct rsc_json *json, const struct rsc_loops_findings *findings,
                     const struct rsc_loops_found *loop) {
    const struct rsc_loops_variant *plain = loop->variant_count ? &loop->variant[0] : NULL;
    rsc_json_row(json);
    rsc_json_key_string(json, "file", loop->file);
    rsc_json_key_u64(json, "line", loop->line);
    rsc_json_key_string(json, "function", or_empty(loop->function));
    rsc_json_key_string(json, "name", loop->name);
    rsc_json_key_string(json, "schedule", loop->schedule);
    rsc_json_key(json, "references");
    if (plain) rsc_json_u64(json, plain->references);
    else rsc_json_null(json);
    rsc_json_key(json, "distinct");
    if (plain) rsc_json_u64(json, plain->distinct);
    else rsc_json_null(json);
    put_gaps(json, "nonaffine", loop->gap, loop->gap_count);
    put_gaps(json, "assumptions", loop->assumed, loop->assumed_count);
    if (*loop->left_out) rsc_json_key_string(json, "left_out", loop->left_out);
    put_results(json, findings, plain);
    rsc_json_key_array(json, "what_if");
    for (size_t i = 1; i < loop->variant_count; i++) {
        const struct rsc_loops_variant *variant = &loop->variant[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "what", variant->what);
        rsc_json_key_string(json, "note", variant->note);
        rsc_json_key_u64(json, "references", variant->references);
        rsc_json_key_u64(json, "distinct", variant->distinct);
        put_results(json, findings, variant);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

int rsc_loops_json(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                   struct rsc_error *error) {
    const struct rsc_loops_findings *findings = of->loops;
    (void)style;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-loops/1");
    rsc_json_key_u64(&json, "line_bytes", findings->line_bytes);
    rsc_json_key_array(&json, "loops");
    for (size_t i = 0; i < findings->loop_count; i++) put_loop(&json, findings, &findings->loop[i]);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    return rsc_json_take(&json, "JSON", text, bytes, error);
}

static void put_csv_rows(struct rsc_text *to, const struct rsc_loops_found *loop,
                         const struct rsc_loops_variant *variant) {
    for (size_t i = 0; i < variant->result_count; i++) {
        const struct rsc_loops_result *result = variant->result[i];
        for (size_t p = 0; p < result->mrc_count; p++) {
            const struct rsc_mrc_point *point = &result->mrc[p];
            rsc_text_put(to, "\"");
            rsc_text_in_quotes(to, loop->file);
            rsc_text_put(to, "\",%u,\"", loop->line);
            rsc_text_in_quotes(to, or_empty(loop->function));
            rsc_text_put(to, "\",\"");
            rsc_text_in_quotes(to, or_empty(variant->what));
            rsc_text_put(to, "\",%u,%s,%llu,%llu,%.10g,%.10g,%.10g\n", result->threads, result->interleave,
                         (unsigned long long)point->lines, (unsigned long long)point->bytes, point->miss_ratio,
                         point->low, point->high);
        }
    }
}

int rsc_loops_csv(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                  struct rsc_error *error) {
    const struct rsc_loops_findings *findings = of->loops;
    struct rsc_text to;
    (void)style;
    rsc_text_init(&to, 1, 0);
    rsc_text_put(&to, "file,line,function,what_if,threads,interleave,lines,bytes,miss_ratio,low,high\n");
    for (size_t i = 0; i < findings->loop_count; i++)
        for (size_t v = 0; v < findings->loop[i].variant_count; v++)
            put_csv_rows(&to, &findings->loop[i], &findings->loop[i].variant[v]);
    return rsc_text_take(&to, text, bytes) < 0 ? rsc_fail_memory(error, "CSV") : 0;
}
