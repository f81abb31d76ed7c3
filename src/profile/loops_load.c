/*
 * loops_load.c - reads what `loops` wrote as JSON (docs/schema/loops.schema.json), as profiles.
 *
 * The text is untrusted, as profile_load.c says. Findings are filled as the analysis fills
 * them, their strings owned by the document, and become profiles in the same way
 * (rsc_loops_profiles()). Private views and intervals are not in a profile of loops.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/load_fields.h"
#include "profile/loops_result.h"

/* A string of the document; NULL if it is missing, null or empty. */
static const char *text_of(const json_t *object, const char *key) {
    const char *text = json_string_value(json_object_get(object, key));
    return text && *text ? text : NULL;
}

static int read_row(struct rsc_loader *loader, const json_t *item, struct rsc_loops_row *row) {
    uint64_t line = 0;
    unsigned __int128 total;
    struct rsc_load_cap none = {0, NULL};
    int rc;
    if (!loader->rows_left--) return rsc_load_bad(loader, "too many references");
    row->file = text_of(item, "file");
    if ((rc = rsc_load_u64(loader, item, "line", UINT32_MAX, &line)) ||
        (rc = rsc_load_u64(loader, item, "references", RSC_LOAD_COUNT_MAX, &row->references)) ||
        (rc = rsc_load_double(loader, item, "cold", (double)RSC_LOAD_COUNT_MAX, &row->cold)))
        return rc;
    row->line = (uint32_t)line;
    if (rsc_histogram_init(&row->rd, RSC_BINS_COARSE)) return rsc_load_no_memory(loader);
    if ((rc = rsc_load_bins(loader, item, "rd", 0, none, &row->rd, &total))) return rc;
    return total > row->references ? rsc_load_bad(loader, "rd sums to more than references") : 0;
}

static int read_rows(struct rsc_loader *loader, const json_t *item, struct rsc_loops_result *result) {
    const json_t *list;
    size_t prefix = strlen(loader->where);
    uint64_t left = result->references;
    int rc = rsc_load_array(loader, item, "references", &list);
    if (rc) return rc;
    if (!(result->rows = calloc(json_array_size(list) + 1, sizeof *result->rows))) return rsc_load_no_memory(loader);
    while (!rc && result->row_count < json_array_size(list)) {
        size_t i = result->row_count++;
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "references[%zu].", i);
        rc = read_row(loader, json_array_get(list, i), &result->rows[i]);
        if (!rc && result->rows[i].references > left)
            rc = rsc_load_bad(loader, "references sum to more than the loop's");
        left -= result->rows[i].references;
    }
    loader->where[prefix] = 0;
    return rc;
}

static int read_result(struct rsc_loader *loader, const json_t *item, uint64_t line_bytes,
                       struct rsc_loops_result *result) {
    uint64_t threads = 0;
    const char *interleave = text_of(item, "interleave");
    int rc;
    if (!interleave) return rsc_load_bad(loader, "interleave is missing or not a string");
    snprintf(result->interleave, sizeof result->interleave, "%s", interleave);
    if ((rc = rsc_load_u64(loader, item, "t", UINT32_MAX, &threads)) ||
        (rc = rsc_load_u64(loader, item, "samples", RSC_LOAD_COUNT_MAX, &result->samples)) ||
        (rc = rsc_load_u64(loader, item, "executed", RSC_LOAD_COUNT_MAX, &result->references)) ||
        (rc = rsc_load_u64(loader, item, "distinct", RSC_LOAD_COUNT_MAX, &result->distinct)) ||
        (rc = rsc_load_curve(loader, item, "mrc", line_bytes, &result->mrc, &result->mrc_count)))
        return rc;
    result->threads = (uint32_t)threads;
    result->exact = json_is_true(json_object_get(item, "exact"));
    if (result->distinct > result->references || !result->mrc_count != !result->references)
        return rsc_load_bad(loader, "executed, distinct and mrc contradict each other");
    return read_rows(loader, item, result);
}

/* The results of a loop or of one of its what-ifs. */
static int read_variant(struct rsc_loader *loader, const json_t *object, uint64_t line_bytes,
                        struct rsc_loops_variant *variant) {
    const json_t *list;
    size_t prefix = strlen(loader->where);
    int rc = rsc_load_array(loader, object, "threads", &list);
    if (rc) return rc;
    variant->result = calloc(json_array_size(list) + 1, sizeof *variant->result);
    if (!variant->result) return rsc_load_no_memory(loader);
    while (!rc && variant->result_count < json_array_size(list)) {
        size_t i = variant->result_count;
        if (!(variant->result[i] = calloc(1, sizeof **variant->result))) return rsc_load_no_memory(loader);
        variant->result_count++;
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "threads[%zu].", i);
        rc = read_result(loader, json_array_get(list, i), line_bytes, variant->result[i]);
    }
    loader->where[prefix] = 0;
    return rc;
}

static int read_loop(struct rsc_loader *loader, const json_t *object, uint64_t line_bytes,
                     struct rsc_loops_found *loop) {
    const json_t *changes;
    size_t prefix = strlen(loader->where);
    int rc = rsc_load_array(loader, object, "what_if", &changes);
    if (rc) return rc;
    loop->file = text_of(object, "file");
    loop->function = text_of(object, "function");
    loop->name = text_of(object, "name");
    if (!loop->file || !loop->name) return rsc_load_bad(loader, "file or name is missing");
    if (!(loop->variant = calloc(json_array_size(changes) + 1, sizeof *loop->variant)))
        return rsc_load_no_memory(loader);
    loop->variant_count = 1;
    rc = read_variant(loader, object, line_bytes, &loop->variant[0]);
    while (!rc && loop->variant_count <= json_array_size(changes)) {
        size_t i = loop->variant_count++ - 1;
        struct rsc_loops_variant *variant = &loop->variant[i + 1];
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "what_if[%zu].", i);
        rc = rsc_load_text(loader, json_array_get(changes, i), "what", 0, &variant->what);
        if (!rc) rc = read_variant(loader, json_array_get(changes, i), line_bytes, variant);
    }
    loader->where[prefix] = 0;
    return rc;
}

int rsc_load_loops(struct rsc_loader *loader, const json_t *root, struct rsc_profile ***profiles, size_t *count) {
    struct rsc_loops_findings findings = {0};
    const json_t *list;
    int rc = rsc_load_array(loader, root, "loops", &list);
    if (!rc) rc = rsc_load_u64(loader, root, "line_bytes", 1u << 30, &findings.line_bytes);
    if (!rc && (!findings.line_bytes || findings.line_bytes & (findings.line_bytes - 1)))
        rc = rsc_load_bad(loader, "line_bytes must be a power of two");
    if (!rc && !(findings.loop = calloc(json_array_size(list) + 1, sizeof *findings.loop)))
        rc = rsc_load_no_memory(loader);
    while (!rc && findings.loop_count < json_array_size(list)) {
        size_t i = findings.loop_count++;
        snprintf(loader->where, sizeof loader->where, "loops[%zu].", i);
        rc = read_loop(loader, json_array_get(list, i), findings.line_bytes, &findings.loop[i]);
    }
    loader->where[0] = 0;
    if (!rc) rc = rsc_loops_profiles(&findings, profiles, count, loader->error);
    if (!rc && !*count) {
        free(*profiles);
        rc = rsc_load_bad(loader, "no loop was analysed");
    }
    rsc_loops_findings_free(&findings);
    return rc;
}
