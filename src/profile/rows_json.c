/*
 * rows_json.c - the rows of a profile as JSON: one row per line.
 *
 * Unknown fields of a place are null rather than absent, so that every row of a table
 * has the same keys; only `inlined`, `offset`, `loop`, `stride`, `ancestor`, `object`,
 * `latency`, `latency_samples` and `sources` are omitted when empty, and `cycles` without
 * a machine to estimate them for.
 */
#include <string.h>

#include "profile/cost.h"
#include "profile/pair_ancestor.h"
#include "profile/profile_rows.h"
#include "profile/row_tables.h"

void rsc_json_bin(struct rsc_json *json, uint64_t lo, uint64_t hi, uint64_t count) {
    rsc_json_object(json);
    rsc_json_key_u64(json, "lo", lo);
    rsc_json_key(json, "hi");
    if (hi == UINT64_MAX) rsc_json_null(json);
    else rsc_json_u64(json, hi);
    rsc_json_key_u64(json, "count", count);
    rsc_json_object_end(json);
}

void rsc_json_end_lines(struct rsc_json *json, size_t count) {
    if (count) rsc_json_newline(json);
    rsc_json_array_end(json);
}

void rsc_json_histogram(struct rsc_json *json, const char *key, const struct rsc_histogram *histogram, uint64_t cap) {
    rsc_json_key_array(json, key);
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) {
        if (!histogram->count[bin]) continue;
        uint64_t lo = rsc_bin_lo(histogram->bins, bin), hi = rsc_bin_hi(histogram->bins, bin);
        rsc_json_bin(json, lo, cap && hi >= cap ? UINT64_MAX : hi, histogram->count[bin]);
    }
    rsc_json_array_end(json);
}

/* ---- places ---- */

/* 1 + an index; 0 is null. */
static void put_index(struct rsc_json *json, const char *key, uint32_t index) {
    rsc_json_key(json, key);
    if (index) rsc_json_u64(json, index - 1);
    else rsc_json_null(json);
}

static void put_source(struct rsc_json *json, const struct rsc_place *place) {
    rsc_json_key_string(json, "function", place->function);
    rsc_json_key_string(json, "file", place->file);
    rsc_json_key(json, "line");
    if (place->line) rsc_json_u64(json, place->line);
    else rsc_json_null(json);
}

static void put_place(struct rsc_json *json, const struct rsc_place *place) {
    rsc_json_key_hex(json, "pc", place->pc);
    put_source(json, place);
    rsc_json_key_string(json, "module", place->module);
    if (place->offset && !(place->file && place->line)) {
        rsc_json_key_hex(json, "offset", place->offset);
    }
    if (place->loop) rsc_json_key_u64(json, "loop", place->loop - 1);
}

/* The common ancestor of the two paths, so that readers need not compute it. */
static void put_ancestor(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_pair_row *pair) {
    struct rsc_pair_ancestor common = rsc_pair_ancestor(profile, pair);
    if (common.context == RSC_NO_CONTEXT && !common.around) return;
    rsc_json_key_object(json, "ancestor");
    put_index(json, "context", common.context + 1); /* RSC_NO_CONTEXT + 1 is 0 */
    put_index(json, "loop", common.around);
    rsc_json_object_end(json);
}

static void put_sources(struct rsc_json *json, const double *sources) {
    double sum = 0;
    for (int i = 1; i < RSC_SOURCES; i++) sum += sources[i];
    if (!(sum > 0)) return;
    rsc_json_key_object(json, "sources");
    for (int i = 1; i < RSC_SOURCES; i++)
        if (sources[i] > 0) rsc_json_key_double(json, rsc_source_names[i], sources[i]);
    rsc_json_object_end(json);
}

static void put_build_id(struct rsc_json *json, const struct rsc_module_row *module) {
    char id[RSC_BUILD_ID_TEXT];
    rsc_module_id_text(module, id);
    rsc_json_key_string(json, "build_id", id[0] ? id : NULL);
}

/* ---- rows ---- */

static void put_row(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_row_table *table,
                    const char *row, size_t index);

static void put_text(struct rsc_json *json, const struct rsc_field *field, const char *text) {
    rsc_json_key_string(json, field->key, text || !field->not_null ? text : "");
}

static void put_field(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_field *field,
                      const char *row, size_t index) {
    const void *at = row + field->at;
    switch (field->sort) {
    case RSC_FIELD_COUNT: rsc_json_key_u64(json, field->key, *(const uint64_t *)at); break;
    case RSC_FIELD_SMALL: rsc_json_key_u64(json, field->key, *(const uint32_t *)at); break;
    case RSC_FIELD_ADDRESS: rsc_json_key_hex(json, field->key, *(const uint64_t *)at); break;
    case RSC_FIELD_NUMBER: rsc_json_key_double(json, field->key, *(const double *)at); break;
    case RSC_FIELD_TEXT: put_text(json, field, *(char *const *)at); break;
    case RSC_FIELD_OBJECT_KIND:
    case RSC_FIELD_ACCESS_KIND: rsc_json_key_string(json, field->key, *(const char *const *)at); break;
    case RSC_FIELD_PLACE: put_place(json, at); break;
    case RSC_FIELD_SOURCE: put_source(json, at); break;
    case RSC_FIELD_CONTEXT:
    case RSC_FIELD_CONTEXT_PARENT: put_index(json, field->key, *(const uint32_t *)at + 1); break;
    case RSC_FIELD_LOOP_PARENT: put_index(json, field->key, *(const uint32_t *)at); break;
    case RSC_FIELD_ID: rsc_json_key_u64(json, field->key, index); break;
    case RSC_FIELD_SOURCES: put_sources(json, at); break;
    case RSC_FIELD_COARSE:
    case RSC_FIELD_FINE: rsc_json_histogram(json, field->key, at, profile->rd_cap); break;
    case RSC_FIELD_ANCESTOR: put_ancestor(json, profile, at); break;
    case RSC_FIELD_BUILD_ID: put_build_id(json, (const struct rsc_module_row *)row); break;
    case RSC_FIELD_ROWS:
        rsc_json_key_array(json, field->key);
        for (size_t i = 0; i < rsc_row_table_count(field->rows, row); i++) {
            rsc_json_object(json);
            put_row(json, profile, field->rows, rsc_row_table_row(field->rows, row, i), i);
        }
        rsc_json_array_end(json);
        break;
    case RSC_FIELD_OPEN: rsc_json_key_object(json, field->key); break;
    case RSC_FIELD_CLOSE: rsc_json_object_end(json); break;
    case RSC_FIELD_CONTEXT_UNSAVED: break;
    }
}

static int is_set(const struct rsc_field *field, const char *row) {
    uint64_t value = 1;
    if (field->only_if) memcpy(&value, row + field->only_if - 1, sizeof value);
    return value != 0;
}

/* The fields of a row, and the end of its object. */
static void put_row(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_row_table *table,
                    const char *row, size_t index) {
    for (size_t i = 0; i < table->field_count; i++) {
        const struct rsc_field *field = &table->fields[i];
        if (is_set(field, row)) put_field(json, profile, field, row, index);
        else if (field->sort == RSC_FIELD_OPEN)
            while (table->fields[i].sort != RSC_FIELD_CLOSE) i++;
    }
    if (profile->cost_machine && rsc_cost_has(table))
        rsc_json_key_double(json, "cycles",
                            rsc_cost_of_row(profile, rsc_row_counts(table, row), profile->cost_machine));
    rsc_json_object_end(json);
}

/* A table, on a line of its own or on that of the tables before it. */
static void put_table(struct rsc_json *json, const struct rsc_row_table *table, const struct rsc_profile *profile,
                      int is_new_line) {
    size_t count = rsc_row_table_count(table, profile);
    if (is_new_line) rsc_json_newline(json);
    rsc_json_key_array(json, table->key);
    for (size_t i = 0; i < count; i++) {
        rsc_json_row(json);
        put_row(json, profile, table, rsc_row_table_row(table, profile, i), i);
    }
    rsc_json_end_lines(json, count);
}

void rsc_json_rows(struct rsc_json *json, const struct rsc_profile *profile) {
    int any = profile->code_count || profile->pair_count || profile->object_count || profile->context_count;
    put_table(json, &rsc_row_table_code, profile, 1);
    put_table(json, &rsc_row_table_pairs, profile, any);
    put_table(json, &rsc_row_table_objects, profile, any);
    put_table(json, &rsc_row_table_contexts, profile, any);
    if (profile->loop_count) put_table(json, &rsc_row_table_loops, profile, 1);
    put_table(json, &rsc_row_table_threads, profile, 1);
    put_table(json, &rsc_row_table_phases, profile, 1);
    if (profile->kind_count) put_table(json, &rsc_row_table_kinds, profile, 1);
    if (profile->lines_at_bytes) {
        rsc_json_newline(json);
        rsc_json_key_u64(json, "lines_at", profile->lines_at_bytes);
        rsc_json_key_u64(json, "lines_asked", profile->lines_asked);
        put_table(json, &rsc_row_table_lines, profile, 0);
    }
    if (profile->module_count) put_table(json, &rsc_row_table_modules, profile, 1);
    put_table(json, &rsc_row_table_sharing, profile, 1);
    put_table(json, &rsc_row_table_false_sharing, profile, profile->sharing_count || profile->false_sharing_count);
}
