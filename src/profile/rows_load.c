/*
 * rows_load.c - reads the rows of a profile from untrusted JSON, as row_tables.h
 * describes them.
 *
 * Loops and contexts come first: they form trees because a parent's index is less
 * than its child's, and other rows refer to them by index. All indices are checked
 * here, so no later code has to. The references of a table's rows sum to at most the
 * profile's (without `error`, which a bounded table may count twice), so that sums
 * over rows cannot overflow later; the same holds for the misses of lines and sharing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/load_fields.h"
#include "profile/profile_rows.h"
#include "profile/row_tables.h"

/* ---- places ---- */

static int load_address(const struct rsc_loader *loader, const json_t *object, const char *key, uint64_t *address) {
    const char *text = json_string_value(json_object_get(object, key));
    size_t digits = text && !strncmp(text, "0x", 2) ? strspn(text + 2, "0123456789abcdef") : 0;
    if (digits < 1 || digits > 16 || text[2 + digits])
        return rsc_load_bad(loader, "%s must be a string like \"0x1139\", up to 16 digits", key);
    *address = strtoull(text + 2, NULL, 16);
    return 0;
}

static int load_line(const struct rsc_loader *loader, const json_t *object, uint32_t *line) {
    uint64_t number = 0;
    const json_t *value = json_object_get(object, "line");
    if (json_is_null(value)) return 0;
    int rc = rsc_load_u64(loader, object, "line", UINT32_MAX, &number);
    if (rc) return rc;
    if (!number) return rsc_load_bad(loader, "line must be from 1 up, or null");
    *line = (uint32_t)number;
    return 0;
}

/* Function, file and line. */
static int load_source(const struct rsc_loader *loader, const json_t *object, struct rsc_place *place) {
    int rc;
    if ((rc = rsc_load_text(loader, object, "function", 1, &place->function)) ||
        (rc = rsc_load_text(loader, object, "file", 1, &place->file)))
        return rc;
    return load_line(loader, object, &place->line);
}

/* 1 + an index below `end` of a `what`; 0 if the key is missing or null. */
static int load_index(const struct rsc_loader *loader, const json_t *object, const char *key, const char *what,
                      size_t end, uint32_t *out) {
    const json_t *value = json_object_get(object, key);
    uint64_t index;
    *out = 0;
    if (!value || json_is_null(value)) return 0;
    if (!end) return rsc_load_bad(loader, "%s must be null: there is no %s it could name", key, what);
    int rc = rsc_load_u64(loader, object, key, end - 1, &index);
    if (!rc) *out = (uint32_t)index + 1;
    return rc;
}

static int load_place(const struct rsc_loader *loader, const json_t *object, size_t loops, struct rsc_place *place) {
    int rc;
    if ((rc = load_address(loader, object, "pc", &place->pc)) || (rc = load_source(loader, object, place))) return rc;
    if (json_object_get(object, "offset") && (rc = load_address(loader, object, "offset", &place->offset))) return rc;
    if (json_object_get(object, "module") && (rc = rsc_load_text(loader, object, "module", 1, &place->module)))
        return rc;
    return load_index(loader, object, "loop", "loop", loops, &place->loop);
}

/* An index below `end`, or null; absent is null. */
static int load_context(const struct rsc_loader *loader, const json_t *object, const char *key, size_t end,
                        uint32_t *context) {
    int rc = load_index(loader, object, key, "context", end, context);
    *context -= 1; /* 0 becomes RSC_NO_CONTEXT */
    return rc;
}

/* ---- other fields ---- */

static int load_sources(const struct rsc_loader *loader, const json_t *item, double *sources) {
    const json_t *object = json_object_get(item, "sources");
    double sum = 0;
    if (!object) return 0;
    if (!json_is_object(object)) return rsc_load_bad(loader, "sources is not an object");
    for (int i = 1; i < RSC_SOURCES; i++) {
        if (!json_object_get(object, rsc_source_names[i])) continue;
        int rc = rsc_load_double(loader, object, rsc_source_names[i], 1, &sources[i]);
        if (rc) return rc;
        sum += sources[i];
    }
    return sum < 1.001 ? 0 : rsc_load_bad(loader, "sources sum to more than 1");
}

/* Whether it may be null is the field's; whether it may be missing, too. */
static int load_object_kind(const struct rsc_loader *loader, const json_t *item, const struct rsc_field *field,
                            const char **kind) {
    const json_t *value = json_object_get(item, field->key);
    *kind = rsc_object_kind(json_string_value(value));
    if (*kind || (json_is_null(value) && !field->not_null)) return 0;
    return rsc_load_bad(loader, "%s must be heap, global, stack, file%s", field->key,
                        field->not_null ? " or other" : ", other or null");
}

/* Kinds come in the order of rsc_kind_names: `before` is that of the row before, or NULL. */
static int load_access_kind(const struct rsc_loader *loader, const json_t *item, const char *const *before,
                            const char **kind) {
    const char *name = json_string_value(json_object_get(item, "kind"));
    int is_later = !before;
    for (unsigned i = 0; name && i < RSC_KIND_NAMES; i++) {
        if (is_later && !strcmp(rsc_kind_names[i], name)) {
            *kind = rsc_kind_names[i];
            return 0;
        }
        if (before && *before == rsc_kind_names[i]) is_later = 1;
    }
    return rsc_load_bad(loader, "kind must be read, write or fetch, in that order");
}

/* Pairs of lower-case digits, or null. */
static int load_build_id(const struct rsc_loader *loader, const json_t *item, struct rsc_module_row *row) {
    const json_t *value = json_object_get(item, "build_id");
    const char *text = json_string_value(value);
    size_t digits = text ? strspn(text, "0123456789abcdef") : 0;
    if (json_is_null(value)) return 0;
    if (!digits || digits % 2 || digits > 2 * sizeof row->build_id || text[digits])
        return rsc_load_bad(loader, "build_id must be null or 1 to %zu bytes as lower-case digits",
                            sizeof row->build_id);
    for (; text[2 * row->build_id_bytes]; row->build_id_bytes++) {
        char byte[3] = {text[2 * row->build_id_bytes], text[2 * row->build_id_bytes + 1], 0};
        row->build_id[row->build_id_bytes] = (uint8_t)strtoul(byte, NULL, 16);
    }
    return 0;
}

/* ---- rows ---- */

/* The row being read. */
struct reading {
    struct rsc_loader *loader;
    struct rsc_profile *profile;
    const struct rsc_row_table *table;
    char *row;
    size_t index;
    /* Of the table's rows so far. */
    uint64_t references, certain; /* certain: without the rows' `error` */
    uint64_t misses, least_misses;
};

static int load_table(struct rsc_loader *loader, const json_t *object, const struct rsc_row_table *table, void *holder,
                      struct rsc_profile *profile);

static uint64_t largest(const struct reading *reading, const struct rsc_field *field) {
    const char *of_row = reading->row + field->within - 1, *of_profile = (char *)reading->profile;
    int is_small = field->sort == RSC_FIELD_SMALL;
    if (field->within) return is_small ? *(const uint32_t *)of_row : *(const uint64_t *)of_row;
    if (field->within_profile) return *(const uint64_t *)(of_profile + field->within_profile - 1) - field->below;
    if (field->max) return field->max;
    return is_small ? UINT32_MAX : RSC_LOAD_COUNT_MAX;
}

static int load_number(const struct reading *reading, const json_t *item, const struct rsc_field *field) {
    void *at = reading->row + field->at;
    uint64_t value = 0;
    int rc = rsc_load_u64(reading->loader, item, field->key, largest(reading, field), &value);
    if (field->sort == RSC_FIELD_SMALL) *(uint32_t *)at = (uint32_t)value;
    else *(uint64_t *)at = value;
    return rc;
}

static int load_id(const struct reading *reading, const json_t *item) {
    uint64_t id = 0;
    int rc = rsc_load_u64(reading->loader, item, "id", RSC_PROFILE_ROWS_MAX, &id);
    if (rc || id == reading->index) return rc;
    return rsc_load_bad(reading->loader, "id must be %zu: %s are numbered from 0", reading->index, reading->table->key);
}

static int load_field(const struct reading *reading, const json_t *item, const struct rsc_field *field) {
    struct rsc_loader *loader = reading->loader;
    const struct rsc_profile *profile = reading->profile;
    const struct rsc_load_cap cap = {profile->rd_cap, NULL};
    const char *key = field->key;
    void *at = reading->row + field->at;
    unsigned __int128 sum;
    if ((field->is_optional || field->only_if) && !json_object_get(item, key)) return 0;
    switch (field->sort) {
    case RSC_FIELD_COUNT:
    case RSC_FIELD_SMALL: return load_number(reading, item, field);
    case RSC_FIELD_ADDRESS: return load_address(loader, item, key, at);
    case RSC_FIELD_NUMBER: return rsc_load_double(loader, item, key, 1e15, at);
    case RSC_FIELD_TEXT: return rsc_load_text(loader, item, key, !field->not_null, at);
    case RSC_FIELD_OBJECT_KIND: return load_object_kind(loader, item, field, at);
    case RSC_FIELD_ACCESS_KIND:
        return load_access_kind(loader, item, reading->index ? (void *)((char *)at - reading->table->row_bytes) : NULL,
                                at);
    case RSC_FIELD_PLACE: /* loops are in no loop of their own table */
        return load_place(loader, item, reading->table == &rsc_row_table_loops ? 0 : profile->loop_count, at);
    case RSC_FIELD_SOURCE: return load_source(loader, item, at);
    case RSC_FIELD_CONTEXT: return load_context(loader, item, key, profile->context_count, at);
    case RSC_FIELD_CONTEXT_PARENT: return load_context(loader, item, key, reading->index, at);
    case RSC_FIELD_LOOP_PARENT: return load_index(loader, item, key, "loop", reading->index, at);
    case RSC_FIELD_ID: return load_id(reading, item);
    case RSC_FIELD_SOURCES: return load_sources(loader, item, at);
    case RSC_FIELD_COARSE:
    case RSC_FIELD_FINE: return rsc_load_bins(loader, item, key, 0, cap, at, &sum);
    case RSC_FIELD_BUILD_ID: return load_build_id(loader, item, (struct rsc_module_row *)reading->row);
    case RSC_FIELD_ROWS: return load_table(loader, item, field->rows, reading->row, reading->profile);
    default: return 0;
    }
}

/*
 * Reads the fields from `field` on, up to the end of the object they are in. Pass 0 reads
 * what has no limit within the row, pass 1 the rest.
 */
static int load_fields(const struct reading *reading, const json_t *item, const struct rsc_field *field,
                       const struct rsc_field *end, int pass) {
    struct rsc_loader *loader = reading->loader;
    size_t prefix = strlen(loader->where);
    int rc = 0;
    for (; field < end && field->sort != RSC_FIELD_CLOSE && !rc; field++) {
        if (field->sort != RSC_FIELD_OPEN) {
            if (pass == (field->within != 0)) rc = load_field(reading, item, field);
            continue;
        }
        const json_t *object = json_object_get(item, field->key);
        if (object || !field->only_if) {
            if (!json_is_object(object))
                return rsc_load_bad(loader, "%s is %snot an object", field->key, field->only_if ? "" : "missing or ");
            snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s.", field->key);
            rc = load_fields(reading, object, field + 1, end, pass);
            loader->where[prefix] = 0;
        }
        while (field->sort != RSC_FIELD_CLOSE) field++;
    }
    return rc;
}

/* ---- checks ---- */

static unsigned __int128 sum_of(const struct rsc_histogram *histogram) {
    unsigned __int128 sum = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) sum += histogram->count[bin];
    return sum;
}

/* A row's counts, and the references of the table so far. */
static int check_counts(struct reading *reading) {
    struct rsc_row_counts counts = rsc_row_counts(reading->table, reading->row);
    if (!counts.rd) return 0;
    unsigned __int128 sum = sum_of(counts.rd);
    if (counts.cold) sum += *counts.cold;
    if (counts.invalidated) sum += *counts.invalidated;
    if (sum > *counts.references) return rsc_load_bad(reading->loader, "rd sums to more than references");
    if (!reading->table->sums_up) return 0;
    reading->references += *counts.references; /* both at most 2^63 - 1, so the sum cannot wrap before it is rejected */
    reading->certain += *counts.references - (counts.error ? *counts.error : 0);
    if (reading->references > RSC_LOAD_COUNT_MAX || reading->certain > reading->profile->references)
        return rsc_load_bad(reading->loader, "the rows up to this one have more references than the profile");
    return 0;
}

static int check_loop(struct reading *reading) {
    const struct rsc_loop_row *row = (const void *)reading->row;
    uint32_t above = row->parent ? reading->profile->loops[row->parent - 1].depth : 0;
    return row->depth == 1 + above ? 0
                                   : rsc_load_bad(reading->loader, "depth must be 1, or one more than the parent's");
}

static int check_code(struct reading *reading) {
    struct rsc_code_row *row = (void *)reading->row;
    for (size_t i = 0; i < row->inlined_count; i++) row->inlined_into[i].pc = row->place.pc;
    return 0;
}

/* `rd` of a kind must be the coarse view of `rd_fine`. */
static int check_kind(struct reading *reading) {
    const struct rsc_kind_row *row = (const void *)reading->row;
    struct rsc_histogram coarse;
    int rc = 0;
    if (sum_of(&row->rd_fine) > row->references)
        return rsc_load_bad(reading->loader, "rd_fine sums to more than references");
    if (rsc_histogram_init(&coarse, RSC_BINS_COARSE)) return rsc_load_no_memory(reading->loader);
    rsc_histogram_merge(&coarse, &row->rd_fine);
    if (memcmp(coarse.count, row->rd.count, coarse.bin_count * sizeof *coarse.count))
        rc = rsc_load_bad(reading->loader, "rd and rd_fine do not agree");
    rsc_histogram_free(&coarse);
    return rc;
}

/* Misses descend, and sum to at most `all` (in both, each is at most 2^63 - 1, and so is the sum before it: no wrap). */
static int check_misses(struct reading *reading, uint64_t misses, const char *what, uint64_t all, const char *most) {
    reading->misses += misses;
    if (reading->index && misses > reading->least_misses) return rsc_load_bad(reading->loader, "%s must descend", what);
    reading->least_misses = misses;
    return reading->misses > all ? rsc_load_bad(reading->loader, "%s", most) : 0;
}

static int check_line(struct reading *reading) {
    const struct rsc_line_row *row = (const void *)reading->row;
    return check_misses(reading, row->misses - row->error, "misses less error", reading->profile->references,
                        "the rows up to this one have more references than the profile");
}

static int check_sharing(struct reading *reading) {
    const struct rsc_sharing_row *row = (const void *)reading->row;
    return check_misses(reading, row->misses, "misses", reading->profile->invalidated,
                        "misses sum to more than invalidated");
}

static int check_false_sharing(struct reading *reading) {
    const struct rsc_false_sharing_row *row = (const void *)reading->row;
    return check_misses(reading, row->misses, "misses", reading->profile->invalidated,
                        "misses sum to more than invalidated");
}

/* In the order in which they are read. */
static const struct {
    const struct rsc_row_table *table;
    int (*check)(struct reading *reading);
} tables[] = {
    {&rsc_row_table_loops, check_loop},      {&rsc_row_table_contexts, NULL},
    {&rsc_row_table_code, check_code},       {&rsc_row_table_pairs, NULL},
    {&rsc_row_table_objects, NULL},          {&rsc_row_table_threads, NULL},
    {&rsc_row_table_phases, NULL},           {&rsc_row_table_kinds, check_kind},
    {&rsc_row_table_lines, check_line},      {&rsc_row_table_modules, NULL},
    {&rsc_row_table_sharing, check_sharing}, {&rsc_row_table_false_sharing, check_false_sharing},
};

/* ---- tables ---- */

static int check_row(struct reading *reading) {
    int rc = check_counts(reading);
    for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++)
        if (tables[i].table == reading->table && tables[i].check) rc = tables[i].check(reading);
    return rc;
}

static int is_row(const struct rsc_row_table *table, const json_t *item) {
    return !table->marker || json_object_get(item, table->marker);
}

/* Finds the items of the table; there are none if it is optional and missing. */
static int find_items(struct rsc_loader *loader, const json_t *object, const struct rsc_row_table *table,
                      const json_t **list, size_t *count) {
    *count = 0;
    if (table->is_optional && !json_object_get(object, table->key)) return 0;
    int rc = rsc_load_array(loader, object, table->key, list);
    if (rc) return rc;
    *count = json_array_size(*list);
    if (*count > table->rows_max && table->rows_max < RSC_PROFILE_ROWS_MAX)
        return rsc_load_bad(loader, "%s has more than %zu rows", table->key, table->rows_max);
    if (*count > table->rows_max || (table->rd && *count > loader->rows_left))
        return rsc_fail(loader->error, RSC_ELIMIT, "%s: %s%s has %zu rows, more than the limit", loader->name,
                        loader->where, table->key, *count);
    if (table->rd) loader->rows_left -= *count;
    return 0;
}

static int load_table(struct rsc_loader *loader, const json_t *object, const struct rsc_row_table *table, void *holder,
                      struct rsc_profile *profile) {
    const struct rsc_field *fields = table->fields, *end = fields + table->field_count;
    struct reading reading = {.loader = loader, .profile = profile, .table = table};
    const json_t *list;
    size_t count, rows = 0, prefix = strlen(loader->where);
    int rc = find_items(loader, object, table, &list, &count);
    if (rc) return rc;
    for (size_t i = 0; i < count; i++) rows += is_row(table, json_array_get(list, i));
    if (rsc_row_table_set(table, holder, rows)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        if (!is_row(table, item)) continue;
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s[%zu].", table->key, i);
        reading.row = rsc_row_table_row(table, holder, reading.index);
        if (!(rc = load_fields(&reading, item, fields, end, 0)) && !(rc = load_fields(&reading, item, fields, end, 1)))
            rc = check_row(&reading);
        reading.index++;
    }
    loader->where[prefix] = 0;
    return rc;
}

/* What precedes the lines. */
static int load_lines_at(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *lines = json_object_get(root, "lines");
    int rc;
    if (!lines) return 0;
    if ((rc = rsc_load_u64(loader, root, "lines_at", RSC_LOAD_COUNT_MAX, &profile->lines_at_bytes)) ||
        (rc = rsc_load_u64(loader, root, "lines_asked", RSC_PROFILE_ROWS_MAX, &profile->lines_asked)))
        return rc;
    if (!profile->lines_at_bytes) return rsc_load_bad(loader, "lines_at must be from 1 up");
    return json_array_size(lines) > profile->lines_asked ? rsc_load_bad(loader, "lines has more rows than lines_asked")
                                                         : 0;
}

int rsc_load_rows(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    int rc = load_lines_at(loader, root, profile);
    for (size_t i = 0; !rc && i < sizeof tables / sizeof *tables; i++)
        rc = load_table(loader, root, tables[i].table, profile, profile);
    return rc;
}
