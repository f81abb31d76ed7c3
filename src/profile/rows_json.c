/*
 * rows_json.c - the rows of a profile as JSON: one row per line.
 *
 * Unknown fields of a place are null rather than absent, so that every row of a table
 * has the same keys; only `inlined`, `offset`, `loop`, `stride`, `ancestor`, `object`,
 * `latency`, `latency_samples` and `sources` are omitted when empty.
 */
#include "profile/pair_ancestor.h"
#include "profile/profile_rows.h"

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

static void put_line(struct rsc_json *json, uint32_t line) {
    rsc_json_key(json, "line");
    if (line) rsc_json_u64(json, line);
    else rsc_json_null(json);
}

void rsc_json_place(struct rsc_json *json, const struct rsc_place *place) {
    rsc_json_key_hex(json, "pc", place->pc);
    rsc_json_key_string(json, "function", place->function);
    rsc_json_key_string(json, "file", place->file);
    put_line(json, place->line);
    rsc_json_key_string(json, "module", place->module);
    if (place->offset && !(place->file && place->line)) {
        rsc_json_key_hex(json, "offset", place->offset);
    }
    if (place->loop) rsc_json_key_u64(json, "loop", place->loop - 1);
}

static void put_context_id(struct rsc_json *json, const char *key, uint32_t context) {
    rsc_json_key(json, key);
    if (context == RSC_NO_CONTEXT) rsc_json_null(json);
    else rsc_json_u64(json, context);
}

static void put_end(struct rsc_json *json, const char *key, const struct rsc_place *place, uint32_t context) {
    rsc_json_key_object(json, key);
    rsc_json_place(json, place);
    put_context_id(json, "context", context);
    rsc_json_object_end(json);
}

/* The common ancestor of the two paths, so that readers need not compute it. */
static void put_ancestor(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_pair_row *pair) {
    struct rsc_pair_ancestor common = rsc_pair_ancestor(profile, pair);
    if (common.context == RSC_NO_CONTEXT && !common.around) return;
    rsc_json_key_object(json, "ancestor");
    put_context_id(json, "context", common.context);
    rsc_json_key(json, "loop");
    if (common.around) rsc_json_u64(json, common.around - 1);
    else rsc_json_null(json);
    rsc_json_object_end(json);
}

static void put_inlined(struct rsc_json *json, const struct rsc_code_row *row) {
    rsc_json_key_array(json, "inlined");
    for (size_t i = 0; i < row->inlined_count; i++) {
        rsc_json_object(json);
        rsc_json_key_string(json, "function", row->inlined_into[i].function);
        rsc_json_key_string(json, "file", row->inlined_into[i].file);
        put_line(json, row->inlined_into[i].line);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_stride(struct rsc_json *json, const struct rsc_stride *stride) {
    rsc_json_key_object(json, "stride");
    rsc_json_key_u64(json, "bytes", stride->bytes);
    rsc_json_key_u64(json, "same", stride->same);
    rsc_json_key_u64(json, "seen", stride->seen);
    rsc_json_key_u64(json, "access", stride->access_bytes);
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

/* ---- tables ---- */

static void put_code(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "code");
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        rsc_json_row(json);
        rsc_json_place(json, &row->place);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "cold", row->cold);
        rsc_json_key_u64(json, "invalidated", row->invalidated);
        rsc_json_key_u64(json, "error", row->error);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        if (row->inlined_count) put_inlined(json, row);
        if (row->stride.seen) put_stride(json, &row->stride);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->code_count);
}

static void put_pairs(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "pairs");
    for (size_t i = 0; i < profile->pair_count; i++) {
        const struct rsc_pair_row *row = &profile->pairs[i];
        rsc_json_row(json);
        put_end(json, "use", &row->use, row->use_context);
        put_end(json, "reuse", &row->reuse, row->reuse_context);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "error", row->error);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        put_ancestor(json, profile, row);
        if (row->object) {
            rsc_json_key_string(json, "object", row->object);
            rsc_json_key_string(json, "object_kind", row->object_kind);
        }
        if (row->latency > 0) rsc_json_key_double(json, "latency", row->latency);
        if (row->latency_samples) rsc_json_key_u64(json, "latency_samples", row->latency_samples);
        put_sources(json, row->sources);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->pair_count);
}

static void put_objects(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "objects");
    for (size_t i = 0; i < profile->object_count; i++) {
        const struct rsc_object_row *row = &profile->objects[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "name", row->name ? row->name : "");
        rsc_json_key_string(json, "kind", row->kind ? row->kind : "other");
        rsc_json_key_u64(json, "bytes", row->bytes);
        rsc_json_key_u64(json, "blocks", row->blocks);
        put_context_id(json, "context", row->context);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "cold", row->cold);
        rsc_json_key_u64(json, "invalidated", row->invalidated);
        rsc_json_key_u64(json, "error", row->error);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->object_count);
}

static void put_contexts(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "contexts");
    for (size_t i = 0; i < profile->context_count; i++) {
        rsc_json_row(json);
        rsc_json_key_u64(json, "id", i);
        put_context_id(json, "parent", profile->contexts[i].parent);
        rsc_json_place(json, &profile->contexts[i].place);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->context_count);
}

static void put_loops(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "loops");
    for (size_t i = 0; i < profile->loop_count; i++) {
        const struct rsc_loop_row *row = &profile->loops[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "id", i);
        rsc_json_key(json, "parent");
        if (row->parent) rsc_json_u64(json, row->parent - 1);
        else rsc_json_null(json);
        rsc_json_key_u64(json, "depth", row->depth);
        rsc_json_place(json, &row->place);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->loop_count);
}

static void put_threads(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "threads");
    for (size_t i = 0; i < profile->thread_count; i++) {
        const struct rsc_thread_row *row = &profile->threads[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "tid", row->tid);
        rsc_json_key_u64(json, "pid", row->pid);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "cold", row->cold);
        rsc_json_key_u64(json, "invalidated", row->invalidated);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->thread_count);
}

static void put_phases(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_key_array(json, "phases");
    for (size_t i = 0; i < profile->phase_count; i++) {
        const struct rsc_phase_row *row = &profile->phases[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, "first", row->first);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "cold", row->cold);
        rsc_json_key_u64(json, "invalidated", row->invalidated);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->phase_count);
}

static void put_kinds(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "kinds");
    for (size_t i = 0; i < profile->kind_count; i++) {
        const struct rsc_kind_row *row = &profile->kinds[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "kind", row->kind);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "cold", row->cold);
        rsc_json_key_u64(json, "invalidated", row->invalidated);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        rsc_json_histogram(json, "rd_fine", &row->rd_fine, profile->rd_cap);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->kind_count);
}

static void put_lines(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_u64(json, "lines_at", profile->lines_at_bytes);
    rsc_json_key_u64(json, "lines_asked", profile->lines_asked);
    rsc_json_key_array(json, "lines");
    for (size_t i = 0; i < profile->line_count; i++) {
        const struct rsc_line_row *row = &profile->lines[i];
        rsc_json_row(json);
        rsc_json_key_hex(json, "address", row->address);
        rsc_json_key_string(json, "object", row->object);
        rsc_json_key_string(json, "kind", row->object_kind);
        rsc_json_key_u64(json, "misses", row->misses);
        rsc_json_key_u64(json, "error", row->error);
        rsc_json_key_u64(json, "references", row->references);
        rsc_json_key_u64(json, "cold", row->cold);
        rsc_json_histogram(json, "rd", &row->rd, profile->rd_cap);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->line_count);
}

static void put_modules(struct rsc_json *json, const struct rsc_profile *profile) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "modules");
    for (size_t i = 0; i < profile->module_count; i++) {
        char id[RSC_BUILD_ID_TEXT];
        rsc_module_id_text(&profile->modules[i], id);
        rsc_json_row(json);
        rsc_json_key_string(json, "path", profile->modules[i].path);
        rsc_json_key_string(json, "build_id", id[0] ? id : NULL);
        rsc_json_object_end(json);
    }
    rsc_json_end_lines(json, profile->module_count);
}

void rsc_json_rows(struct rsc_json *json, const struct rsc_profile *profile) {
    int any = profile->code_count || profile->pair_count || profile->object_count || profile->context_count;
    rsc_json_newline(json);
    put_code(json, profile);
    if (any) rsc_json_newline(json);
    put_pairs(json, profile);
    if (any) rsc_json_newline(json);
    put_objects(json, profile);
    if (any) rsc_json_newline(json);
    put_contexts(json, profile);
    if (profile->loop_count) put_loops(json, profile);
    rsc_json_newline(json);
    put_threads(json, profile);
    rsc_json_newline(json);
    put_phases(json, profile);
    if (profile->kind_count) put_kinds(json, profile);
    if (profile->lines_at_bytes) put_lines(json, profile);
    if (profile->module_count) put_modules(json, profile);
}
