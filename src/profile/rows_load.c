/*
 * rows_load.c - reads the rows of a profile from untrusted JSON.
 *
 * Loops and contexts come first: they form trees because a parent's index is less
 * than its child's, and other rows refer to them by index. All indices are checked
 * here, so no later code has to. The references of a table's rows sum to at most the
 * profile's (without `error`, which a bounded table may count twice), so that sums
 * over rows cannot overflow later.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/load_fields.h"
#include "profile/profile_rows.h"

/* ---- common fields of rows ---- */

struct counts {
    uint64_t *references;
    uint64_t *cold, *invalidated; /* NULL: the table has no such column */
    uint64_t *error;              /* the same */
    struct rsc_histogram *rd;
};

/* A count that some writers omit, or that the table does not have. */
static int load_optional(const struct rsc_loader *loader, const json_t *item, const char *key, uint64_t max,
                         uint64_t *out) {
    return out ? rsc_load_optional(loader, item, key, max, out) : 0;
}

static int load_counts(struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                       struct counts counts) {
    struct rsc_load_cap cap = {profile->rd_cap, NULL};
    unsigned __int128 sum;
    int rc;
    if ((rc = rsc_load_u64(loader, item, "references", profile->references, counts.references)) ||
        (counts.cold && (rc = rsc_load_u64(loader, item, "cold", *counts.references, counts.cold))) ||
        (rc = load_optional(loader, item, "invalidated", *counts.references, counts.invalidated)) ||
        (rc = load_optional(loader, item, "error", *counts.references, counts.error)) ||
        (rc = rsc_load_bins(loader, item, "rd", 0, cap, counts.rd, &sum)))
        return rc;
    if (counts.cold) sum += *counts.cold;
    if (counts.invalidated) sum += *counts.invalidated;
    return sum > *counts.references ? rsc_load_bad(loader, "rd sums to more than references") : 0;
}

/* The references of a table so far. */
struct table_sum {
    uint64_t all, certain; /* certain: without the rows' `error` */
};

static int add_to_sum(const struct rsc_loader *loader, const struct rsc_profile *profile, struct table_sum *sum,
                      uint64_t references, uint64_t error) {
    sum->all += references; /* both at most 2^63 - 1, so the sum cannot wrap before it is rejected */
    sum->certain += references - error;
    if (sum->all > RSC_LOAD_COUNT_MAX || sum->certain > profile->references)
        return rsc_load_bad(loader, "the rows up to this one have more references than the profile");
    return 0;
}

static int row_array(struct rsc_loader *loader, const json_t *root, const char *key, int with_histogram,
                     const json_t **list, size_t *count) {
    int rc = rsc_load_array(loader, root, key, list);
    if (rc) return rc;
    *count = json_array_size(*list);
    if (*count > RSC_PROFILE_ROWS_MAX || (with_histogram && *count > loader->rows_left))
        return rsc_fail(loader->error, RSC_ELIMIT, "%s: %s%s has %zu rows, more than the limit", loader->name,
                        loader->where, key, *count);
    if (with_histogram) loader->rows_left -= *count;
    return 0;
}

/* Sets the row's name for messages, after the `prefix` bytes that name the profile. */
static void name_row(struct rsc_loader *loader, size_t prefix, const char *key, size_t index) {
    snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s[%zu].", key, index);
}

/* ---- places ---- */

int rsc_load_address(const struct rsc_loader *loader, const json_t *object, const char *key, uint64_t *address) {
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

/* 1 + an index below `end`; 0 if the key is missing or null. */
static int load_loop(const struct rsc_loader *loader, const json_t *object, const char *key, size_t end,
                     uint32_t *loop) {
    const json_t *value = json_object_get(object, key);
    uint64_t index;
    *loop = 0;
    if (!value || json_is_null(value)) return 0;
    if (!end) return rsc_load_bad(loader, "%s must be null: there is no loop it could name", key);
    int rc = rsc_load_u64(loader, object, key, end - 1, &index);
    if (!rc) *loop = (uint32_t)index + 1;
    return rc;
}

int rsc_load_place(const struct rsc_loader *loader, const json_t *object, size_t loops, struct rsc_place *place) {
    int rc;
    if ((rc = rsc_load_address(loader, object, "pc", &place->pc)) || (rc = load_source(loader, object, place)))
        return rc;
    if (json_object_get(object, "offset") && (rc = rsc_load_address(loader, object, "offset", &place->offset)))
        return rc;
    if (json_object_get(object, "module") && (rc = rsc_load_text(loader, object, "module", 1, &place->module)))
        return rc;
    return load_loop(loader, object, "loop", loops, &place->loop);
}

/* An index below `end`, or null; absent is null. */
static int load_context(const struct rsc_loader *loader, const json_t *object, const char *key, size_t end,
                        uint32_t *context) {
    const json_t *value = json_object_get(object, key);
    uint64_t index;
    *context = RSC_NO_CONTEXT;
    if (!value || json_is_null(value)) return 0;
    if (!end) return rsc_load_bad(loader, "%s must be null: there is no context it could name", key);
    int rc = rsc_load_u64(loader, object, key, end - 1, &index);
    if (!rc) *context = (uint32_t)index;
    return rc;
}

/* ---- tables ---- */

static int load_loops(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    if (!json_object_get(root, "loops")) return 0;
    int rc = row_array(loader, root, "loops", 0, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_loops(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_loop_row *row = &profile->loops[i];
        uint64_t id = 0, depth = 0;
        name_row(loader, prefix, "loops", i);
        if ((rc = rsc_load_u64(loader, item, "id", RSC_PROFILE_ROWS_MAX, &id)) ||
            (rc = load_loop(loader, item, "parent", i, &row->parent)) ||
            (rc = rsc_load_u64(loader, item, "depth", RSC_PROFILE_ROWS_MAX, &depth)) ||
            (rc = rsc_load_place(loader, item, 0, &row->place)))
            continue;
        row->depth = (uint32_t)depth;
        if (id != i) rc = rsc_load_bad(loader, "id must be %zu: loops are numbered from 0", i);
        else if (depth != 1 + (row->parent ? profile->loops[row->parent - 1].depth : 0))
            rc = rsc_load_bad(loader, "depth must be 1, or one more than the parent's");
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_contexts(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    int rc = row_array(loader, root, "contexts", 0, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_contexts(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        uint64_t id = 0;
        name_row(loader, prefix, "contexts", i);
        if ((rc = rsc_load_u64(loader, item, "id", RSC_PROFILE_ROWS_MAX, &id))) continue;
        if (id != i) rc = rsc_load_bad(loader, "id must be %zu: contexts are numbered from 0", i);
        else if (!(rc = load_context(loader, item, "parent", i, &profile->contexts[i].parent)))
            rc = rsc_load_place(loader, item, profile->loop_count, &profile->contexts[i].place);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_inlined(struct rsc_loader *loader, const json_t *item, struct rsc_code_row *row) {
    const json_t *list;
    if (!json_object_get(item, "inlined")) return 0;
    int rc = rsc_load_array(loader, item, "inlined", &list);
    if (rc || !json_array_size(list)) return rc;
    row->inlined_into = calloc(json_array_size(list), sizeof *row->inlined_into);
    if (!row->inlined_into) return rsc_load_no_memory(loader);
    row->inlined_count = json_array_size(list);
    size_t prefix = strlen(loader->where);
    for (size_t i = 0; i < row->inlined_count && !rc; i++) {
        name_row(loader, prefix, "inlined", i);
        row->inlined_into[i].pc = row->place.pc;
        rc = load_source(loader, json_array_get(list, i), &row->inlined_into[i]);
    }
    if (!rc) loader->where[prefix] = 0;
    return rc;
}

static int load_stride(struct rsc_loader *loader, const json_t *item, struct rsc_stride *stride) {
    const json_t *object = json_object_get(item, "stride");
    uint64_t access = 0;
    int rc;
    if (!object) return 0;
    if (!json_is_object(object)) return rsc_load_bad(loader, "stride is not an object");
    if ((rc = rsc_load_u64(loader, object, "bytes", RSC_LOAD_COUNT_MAX, &stride->bytes)) ||
        (rc = rsc_load_u64(loader, object, "seen", RSC_LOAD_COUNT_MAX, &stride->seen)) ||
        (rc = rsc_load_u64(loader, object, "same", stride->seen, &stride->same)) ||
        (rc = rsc_load_optional(loader, object, "access", UINT32_MAX, &access)))
        return rc;
    stride->access_bytes = (uint32_t)access;
    return 0;
}

static int load_code(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    struct table_sum sum = {0};
    int rc = row_array(loader, root, "code", 1, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_code(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_code_row *row = &profile->code[i];
        name_row(loader, prefix, "code", i);
        if ((rc = rsc_load_place(loader, item, profile->loop_count, &row->place)) ||
            (rc = load_inlined(loader, item, row)) || (rc = load_stride(loader, item, &row->stride)) ||
            (rc = load_counts(loader, item, profile,
                              (struct counts){&row->references, &row->cold, &row->invalidated, &row->error, &row->rd})))
            continue;
        rc = add_to_sum(loader, profile, &sum, row->references, row->error);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_end(struct rsc_loader *loader, const json_t *item, const char *key, const struct rsc_profile *profile,
                    struct rsc_place *place, uint32_t *context) {
    const json_t *end = json_object_get(item, key);
    size_t prefix = strlen(loader->where);
    if (!json_is_object(end)) return rsc_load_bad(loader, "%s is missing or not an object", key);
    snprintf(loader->where + prefix, sizeof loader->where - prefix, "%s.", key);
    int rc = rsc_load_place(loader, end, profile->loop_count, place);
    if (!rc) rc = load_context(loader, end, "context", profile->context_count, context);
    loader->where[prefix] = 0;
    return rc;
}

static int load_sources(struct rsc_loader *loader, const json_t *item, double *sources) {
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

/* The object of the data, and the latency and sources of the reuse. */
static int load_pair_extras(struct rsc_loader *loader, const json_t *item, struct rsc_pair_row *row) {
    const json_t *kind = json_object_get(item, "object_kind");
    int rc = 0;
    if (json_object_get(item, "latency") && (rc = rsc_load_double(loader, item, "latency", 1e15, &row->latency)))
        return rc;
    if ((rc = load_optional(loader, item, "latency_samples", RSC_LOAD_COUNT_MAX, &row->latency_samples)) ||
        (rc = load_sources(loader, item, row->sources)))
        return rc;
    if (!json_object_get(item, "object")) return 0;
    if ((rc = rsc_load_text(loader, item, "object", 1, &row->object))) return rc;
    row->object_kind = rsc_object_kind(json_string_value(kind));
    if (!row->object_kind && kind && !json_is_null(kind))
        return rsc_load_bad(loader, "object_kind must be heap, global, stack, file, other or null");
    return 0;
}

static int load_pairs(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    struct table_sum sum = {0};
    int rc = row_array(loader, root, "pairs", 1, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_pairs(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_pair_row *row = &profile->pairs[i];
        name_row(loader, prefix, "pairs", i);
        if ((rc = load_end(loader, item, "use", profile, &row->use, &row->use_context)) ||
            (rc = load_end(loader, item, "reuse", profile, &row->reuse, &row->reuse_context)) ||
            (rc = load_pair_extras(loader, item, row)) ||
            (rc = load_counts(loader, item, profile,
                              (struct counts){&row->references, NULL, NULL, &row->error, &row->rd})))
            continue;
        rc = add_to_sum(loader, profile, &sum, row->references, row->error);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_object(struct rsc_loader *loader, const json_t *item, struct rsc_profile *profile,
                       struct rsc_object_row *row) {
    int rc;
    if ((rc = rsc_load_text(loader, item, "name", 0, &row->name)) ||
        (rc = rsc_load_u64(loader, item, "bytes", RSC_LOAD_COUNT_MAX, &row->bytes)) ||
        (rc = load_optional(loader, item, "blocks", RSC_LOAD_COUNT_MAX, &row->blocks)) ||
        (rc = load_context(loader, item, "context", profile->context_count, &row->context)))
        return rc;
    row->kind = rsc_object_kind(json_string_value(json_object_get(item, "kind")));
    if (!row->kind) return rsc_load_bad(loader, "kind must be heap, global, stack, file or other");
    return load_counts(loader, item, profile,
                       (struct counts){&row->references, &row->cold, &row->invalidated, &row->error, &row->rd});
}

static int load_objects(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    struct table_sum sum = {0};
    int rc = row_array(loader, root, "objects", 1, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_objects(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        struct rsc_object_row *row = &profile->objects[i];
        name_row(loader, prefix, "objects", i);
        if (!(rc = load_object(loader, json_array_get(list, i), profile, row)))
            rc = add_to_sum(loader, profile, &sum, row->references, row->error);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_threads(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    int rc = row_array(loader, root, "threads", 1, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_threads(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_thread_row *row = &profile->threads[i];
        name_row(loader, prefix, "threads", i);
        if (!(rc = rsc_load_u64(loader, item, "tid", RSC_LOAD_COUNT_MAX, &row->tid)) &&
            !(rc = rsc_load_u64(loader, item, "pid", RSC_LOAD_COUNT_MAX, &row->pid)))
            rc = load_counts(loader, item, profile,
                             (struct counts){&row->references, &row->cold, &row->invalidated, NULL, &row->rd});
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_phases(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    int rc = row_array(loader, root, "phases", 1, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_phases(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_phase_row *row = &profile->phases[i];
        name_row(loader, prefix, "phases", i);
        if (!(rc = rsc_load_u64(loader, item, "first", profile->references, &row->first)))
            rc = load_counts(loader, item, profile,
                             (struct counts){&row->references, &row->cold, &row->invalidated, NULL, &row->rd});
    }
    loader->where[prefix] = 0;
    return rc;
}

/* Reads a kind's fine histogram; `rd` must be its coarse view. */
static int load_fine(struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                     struct rsc_kind_row *row) {
    struct rsc_load_cap cap = {profile->rd_cap, NULL};
    struct rsc_histogram coarse;
    unsigned __int128 sum;
    int rc = rsc_load_bins(loader, item, "rd_fine", 0, cap, &row->rd_fine, &sum);
    if (rc) return rc;
    if (sum > row->references) return rsc_load_bad(loader, "rd_fine sums to more than references");
    if (rsc_histogram_init(&coarse, RSC_BINS_COARSE)) return rsc_load_no_memory(loader);
    rsc_histogram_merge(&coarse, &row->rd_fine);
    if (memcmp(coarse.count, row->rd.count, coarse.bin_count * sizeof *coarse.count))
        rc = rsc_load_bad(loader, "rd and rd_fine do not agree");
    rsc_histogram_free(&coarse);
    return rc;
}

static int load_kinds(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    struct table_sum sum = {0};
    unsigned next = 0;
    if (!json_object_get(root, "kinds")) return 0;
    int rc = row_array(loader, root, "kinds", 1, &list, &count);
    if (rc) return rc;
    if (count > RSC_KIND_NAMES) return rsc_load_bad(loader, "kinds has more than %u rows", RSC_KIND_NAMES);
    if (rsc_profile_set_kinds(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        struct rsc_kind_row *row = &profile->kinds[i];
        const char *name = json_string_value(json_object_get(item, "kind"));
        name_row(loader, prefix, "kinds", i);
        while (name && next < RSC_KIND_NAMES && strcmp(rsc_kind_names[next], name)) next++;
        if (!name || next == RSC_KIND_NAMES) {
            rc = rsc_load_bad(loader, "kind must be read, write or fetch, in that order");
            continue;
        }
        row->kind = rsc_kind_names[next++];
        if ((rc = load_counts(loader, item, profile,
                              (struct counts){&row->references, &row->cold, &row->invalidated, NULL, &row->rd})) ||
            (rc = load_fine(loader, item, profile, row)))
            continue;
        rc = add_to_sum(loader, profile, &sum, row->references, 0);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int load_line_row(struct rsc_loader *loader, const json_t *item, const struct rsc_profile *profile,
                         struct rsc_line_row *row) {
    const char *kind = json_string_value(json_object_get(item, "kind"));
    int rc;
    if ((rc = rsc_load_address(loader, item, "address", &row->address)) ||
        (rc = rsc_load_text(loader, item, "object", 1, &row->object)) ||
        (rc = rsc_load_u64(loader, item, "misses", profile->references, &row->misses)) ||
        (rc = rsc_load_optional(loader, item, "error", row->misses, &row->error)) ||
        (rc = load_counts(loader, item, profile, (struct counts){&row->references, &row->cold, NULL, NULL, &row->rd})))
        return rc;
    row->object_kind = rsc_object_kind(kind);
    if (!row->object_kind && !json_is_null(json_object_get(item, "kind")))
        return rsc_load_bad(loader, "kind must be heap, global, stack, file, other or null");
    return 0;
}

static int load_lines(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    struct table_sum sum = {0};
    if (!json_object_get(root, "lines")) return 0;
    int rc = row_array(loader, root, "lines", 1, &list, &count);
    if (rc || (rc = rsc_load_u64(loader, root, "lines_at", RSC_LOAD_COUNT_MAX, &profile->lines_at_bytes)) ||
        (rc = rsc_load_u64(loader, root, "lines_asked", RSC_PROFILE_ROWS_MAX, &profile->lines_asked)))
        return rc;
    if (!profile->lines_at_bytes) return rsc_load_bad(loader, "lines_at must be from 1 up");
    if (count > profile->lines_asked) return rsc_load_bad(loader, "lines has more rows than lines_asked");
    if (rsc_profile_set_lines(profile, count)) return rsc_load_no_memory(loader);
    uint64_t most = profile->references;
    for (size_t i = 0; i < count && !rc; i++) {
        struct rsc_line_row *row = &profile->lines[i];
        name_row(loader, prefix, "lines", i);
        if ((rc = load_line_row(loader, json_array_get(list, i), profile, row))) continue;
        if (row->misses - row->error > most) rc = rsc_load_bad(loader, "misses less error must descend");
        if (rc) continue;
        most = row->misses - row->error;
        rc = add_to_sum(loader, profile, &sum, row->misses - row->error, 0);
    }
    loader->where[prefix] = 0;
    return rc;
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

static int load_modules(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list;
    size_t count, prefix = strlen(loader->where);
    if (!json_object_get(root, "modules")) return 0;
    int rc = row_array(loader, root, "modules", 0, &list, &count);
    if (rc) return rc;
    if (rsc_profile_set_modules(profile, count)) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < count && !rc; i++) {
        const json_t *item = json_array_get(list, i);
        name_row(loader, prefix, "modules", i);
        if (!(rc = rsc_load_text(loader, item, "path", 0, &profile->modules[i].path)))
            rc = load_build_id(loader, item, &profile->modules[i]);
    }
    loader->where[prefix] = 0;
    return rc;
}

int rsc_load_rows(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    int rc;
    if ((rc = load_loops(loader, root, profile)) || (rc = load_contexts(loader, root, profile)) ||
        (rc = load_code(loader, root, profile)) || (rc = load_pairs(loader, root, profile)) ||
        (rc = load_objects(loader, root, profile)) || (rc = load_threads(loader, root, profile)) ||
        (rc = load_phases(loader, root, profile)) || (rc = load_kinds(loader, root, profile)) ||
        (rc = load_lines(loader, root, profile)))
        return rc;
    rc = load_modules(loader, root, profile);
    return rc ? rc : rsc_load_sharing(loader, root, profile);
}
