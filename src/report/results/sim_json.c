/* sim_json.c - a simulation as JSON (docs/schema/sim.schema.json). */
#include <math.h>
#include <string.h>

#include "base/json_writer.h"
#include "report/results/results.h"

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

static void put_kinds(struct rsc_json *json, const struct rsc_level_counts *counts, int classified) {
    static const char *const names[RSC_KINDS] = {"R", "W", "I"};
    rsc_json_key_object(json, "kinds");
    for (int kind = 0; kind < RSC_KINDS; kind++) {
        if (!counts->accesses[kind]) continue;
        rsc_json_key_object(json, names[kind]);
        rsc_json_key_u64(json, "accesses", counts->accesses[kind]);
        rsc_json_key_u64(json, "misses", counts->misses[kind]);
        if (classified) {
            rsc_json_key_u64(json, "cold", counts->cold[kind]);
            rsc_json_key_u64(json, "capacity", counts->capacity[kind]);
            rsc_json_key_u64(json, "conflict", counts->conflict[kind]);
            rsc_json_key_u64(json, "coherence", counts->coherence[kind]);
        }
        rsc_json_object_end(json);
    }
    rsc_json_object_end(json);
}

/* Misses by class, if classified, and counts that only some caches have. */
static void put_extras(struct rsc_json *json, const struct rsc_level_counts *counts, int classified) {
    const struct {
        const char *name;
        uint64_t count;
    } extras[] = {
        {"sector_misses", counts->sector_misses},     {"prefetches", counts->prefetches},
        {"prefetches_used", counts->prefetches_used}, {"prefetches_in", counts->prefetches_in},
        {"victim_hits", counts->victim_hits},         {"buffer_merged", counts->buffer_merged},
        {"invalidated", counts->invalidated},         {"back_invalidated", counts->back_invalidated},
    };
    if (classified) {
        rsc_json_key_u64(json, "cold", rsc_kinds_sum(counts->cold));
        rsc_json_key_u64(json, "capacity", rsc_kinds_sum(counts->capacity));
        rsc_json_key_u64(json, "conflict", rsc_kinds_sum(counts->conflict));
        rsc_json_key_u64(json, "coherence", rsc_kinds_sum(counts->coherence));
    }
    for (size_t i = 0; i < sizeof extras / sizeof *extras; i++)
        if (extras[i].count) rsc_json_key_u64(json, extras[i].name, extras[i].count);
}

static void put_windows(struct rsc_json *json, const struct rsc_sim_result *result) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "windows");
    for (size_t w = 0; w < result->window_count; w++) {
        const struct rsc_sim_window *window = &result->windows[w];
        rsc_json_row(json);
        rsc_json_key_u64(json, "first", window->first);
        rsc_json_key_u64(json, "accesses", window->accesses);
        rsc_json_key(json, "instructions");
        if (window->instructions == RSC_UNKNOWN) rsc_json_null(json);
        else rsc_json_u64(json, window->instructions);
        rsc_json_key_array(json, "levels");
        for (size_t row = 0; row < result->level_count; row++) {
            rsc_json_object(json);
            rsc_json_key_u64(json, "accesses", result->window_accesses[w * result->level_count + row]);
            rsc_json_key_u64(json, "misses", result->window_misses[w * result->level_count + row]);
            rsc_json_object_end(json);
        }
        rsc_json_array_end(json);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_made(struct rsc_json *json, const struct rsc_sim_result *result) {
    if (!result->command) return;
    rsc_json_newline(json);
    rsc_json_key_object(json, "made");
    rsc_json_key_u64(json, "workers", result->workers);
    rsc_json_key_array(json, "command");
    for (char *const *word = result->command; *word; word++) rsc_json_string(json, *word);
    rsc_json_array_end(json);
    rsc_json_key_double(json, "seconds", result->seconds);
    rsc_json_object_end(json);
}

static void put_sets_estimate(struct rsc_json *json, const struct rsc_estimate *estimate) {
    rsc_json_key_double(json, "sampled_instructions_mpi", estimate->sampled_instructions);
    rsc_json_key_object(json, "shape");
    rsc_json_key_bool(json, "normal", estimate->shape.normal);
    rsc_json_key_double(json, "skewness", estimate->shape.skewness);
    rsc_json_key_double(json, "normal_scores_correlation", estimate->shape.scores);
    rsc_json_key_u64(json, "hot", estimate->shape.hot);
    rsc_json_key_double(json, "hot_share", estimate->shape.hot_share);
    rsc_json_object_end(json);
    rsc_json_key_double(json, "cv", estimate->cv);
    rsc_json_key_double(json, "random_over_systematic_variance", estimate->variance_ratio);
}

static void put_time_estimate(struct rsc_json *json, const struct rsc_estimate *estimate) {
    rsc_json_key_u64(json, "interval", estimate->length);
    rsc_json_key_double(json, "loaded", estimate->loaded);
    rsc_json_key_u64(json, "unreliable", estimate->unreliable);
    rsc_json_key_u64(json, "left_out", estimate->left_out);
    rsc_json_key_double(json, "interval_needed", estimate->length_needed);
    rsc_json_key_string(json, "excludes", estimate->cold_start == RSC_START_WARM ? NULL : "cold-start bias");
}

static void put_parts(struct rsc_json *json, const struct rsc_estimate *estimate) {
    int sets = estimate->method == RSC_ESTIMATE_SETS;
    rsc_json_key_array(json, sets ? "samples" : "intervals");
    for (size_t i = 0; i < estimate->part_count; i++) {
        const struct rsc_estimate_part *part = &estimate->parts[i];
        rsc_json_row(json);
        rsc_json_key_u64(json, sets ? "value" : "first_access", part->at);
        rsc_json_key_double(json, "mpi", part->mpi);
        if (!sets) {
            rsc_json_key_double(json, "loaded", part->loaded);
            rsc_json_key_bool(json, "reliable", part->reliable);
        }
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_estimate(struct rsc_json *json, const struct rsc_estimate *estimate) {
    static const char *const methods[] = {"sets", "time", "whole"};
    rsc_json_object(json);
    rsc_json_key_string(json, "method", methods[estimate->method]);
    rsc_json_key_string(json, "how", estimate->how);
    rsc_json_key_double(json, "fraction", estimate->fraction);
    rsc_json_key_string(json, "cold_start",
                        estimate->cold_start < 0 ? NULL : rsc_cold_start_names[estimate->cold_start]);
    rsc_json_key_string(json, "per", estimate->per_access ? "access" : "instruction");
    rsc_json_key_double(json, "mpi", rsc_estimate_mpi(estimate));
    rsc_json_key_double(json, "low", estimate->low);
    rsc_json_key_double(json, "high", estimate->high);
    rsc_json_key_double(json, "rate", estimate->mpi);
    rsc_json_key_double(json, "misses", estimate->misses);
    rsc_json_key_double(json, "confidence", estimate->confidence);
    rsc_json_key_u64(json, "observations", estimate->observations);
    rsc_json_key_u64(json, "population", estimate->population);
    if (estimate->method == RSC_ESTIMATE_SETS) put_sets_estimate(json, estimate);
    else put_time_estimate(json, estimate);
    put_parts(json, estimate);
    rsc_json_object_end(json);
}

static void put_level(struct rsc_json *json, const struct rsc_sim_result *result,
                      const struct rsc_sim_level_result *level) {
    const struct rsc_level_counts *counts = &level->counts;
    uint64_t accesses = rsc_kinds_sum(counts->accesses), misses = rsc_kinds_sum(counts->misses);
    rsc_json_row(json);
    rsc_json_key_string(json, "name", level->cache.name);
    rsc_json_key_string(json, "config", level->cache.text);
    rsc_json_key_u64(json, "alternative", (uint64_t)level->alternative);
    rsc_json_key_u64(json, "accesses", accesses);
    rsc_json_key_u64(json, "misses", misses);
    rsc_json_key_u64(json, "writebacks", counts->writebacks);
    rsc_json_key_u64(json, "dirty_at_end", counts->dirty_at_end);
    rsc_json_key_double(json, "mpi", level->estimate ? rsc_estimate_mpi(level->estimate) : rsc_sim_mpi(result, level));
    rsc_json_key_double(json, "mpkr", 1000 * ratio(misses, result->references));
    rsc_json_key_double(json, "local_miss_ratio", ratio(misses, accesses));
    rsc_json_key_double(json, "global_miss_ratio", ratio(misses, result->references));
    rsc_json_key_u64(json, "writes_in", counts->writes_in);
    rsc_json_key_u64(json, "writes_in_missed", counts->writes_in_missed);
    rsc_json_key_u64(json, "writethroughs", counts->writethroughs);
    rsc_json_key_u64(json, "blocks", counts->blocks);
    rsc_json_key_u64(json, "blocks_at_end", counts->blocks_at_end);
    put_extras(json, counts, result->classified && !level->from_family);
    put_kinds(json, counts, result->classified && !level->from_family);
    rsc_json_key(json, "estimate");
    if (level->estimate) put_estimate(json, level->estimate);
    else rsc_json_null(json);
    rsc_json_object_end(json);
}

/* TLBs by page size. */
static void put_pages(struct rsc_json *json, const struct rsc_sim_result *result) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "pages");
    for (size_t i = 0; i < result->page_count; i++) {
        const struct rsc_sim_pages_result *pages = &result->pages[i];
        uint64_t walks = rsc_kinds_sum(pages->walks);
        rsc_json_row(json);
        rsc_json_key_u64(json, "page", pages->page_bytes);
        rsc_json_key_u64(json, "walks", walks);
        rsc_json_key_double(json, "walks_per_instruction",
                            result->instructions == RSC_UNKNOWN ? NAN : ratio(walks, result->instructions));
        rsc_json_key_double(json, "walks_per_access", ratio(walks, result->accesses));
        rsc_json_key_array(json, "tlbs");
        for (size_t k = 0; k < pages->tlb_count; k++) {
            const struct rsc_sim_tlb_result *tlb = &pages->tlbs[k];
            struct rsc_level_counts counts = {0};
            memcpy(counts.accesses, tlb->accesses, sizeof counts.accesses);
            memcpy(counts.misses, tlb->misses, sizeof counts.misses);
            rsc_json_row(json);
            rsc_json_key_string(json, "name", tlb->tlb.name);
            rsc_json_key_string(json, "config", tlb->tlb.text);
            rsc_json_key_u64(json, "accesses", rsc_kinds_sum(tlb->accesses));
            rsc_json_key_u64(json, "misses", rsc_kinds_sum(tlb->misses));
            put_kinds(json, &counts, 0);
            rsc_json_object_end(json);
        }
        rsc_json_array_end(json);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_blame_misses(struct rsc_json *json, const struct rsc_sim_result *result,
                             const struct rsc_sim_blame_row *row) {
    int primary = 0;
    rsc_json_key_object(json, "misses");
    for (size_t i = 0; i < result->level_count; i++)
        if (!result->levels[i].alternative)
            rsc_json_key_u64(json, result->levels[i].cache.name, row->misses[primary++]);
    rsc_json_object_end(json);
}

static void put_code(struct rsc_json *json, const struct rsc_sim_result *result) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "code");
    for (size_t i = 0; i < result->code.count; i++) {
        const struct rsc_sim_blame_row *row = &result->code.row[i];
        rsc_json_row(json);
        rsc_json_key_hex(json, "pc", row->key);
        rsc_json_key_string(json, "function", row->name);
        rsc_json_key_string(json, "file", row->file);
        rsc_json_key_u64(json, "line", row->line);
        put_blame_misses(json, result, row);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

static void put_objects(struct rsc_json *json, const struct rsc_sim_result *result) {
    rsc_json_newline(json);
    rsc_json_key_array(json, "objects");
    for (size_t i = 0; i < result->objects.count; i++) {
        const struct rsc_sim_blame_row *row = &result->objects.row[i];
        rsc_json_row(json);
        rsc_json_key_string(json, "name", row->name);
        rsc_json_key_string(json, "kind", row->kind);
        put_blame_misses(json, result, row);
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

/* Requests to memory are not counted in samples. */
static void put_memory(struct rsc_json *json, const struct rsc_sim_result *result) {
    const struct {
        const char *name;
        uint64_t count;
    } requests[] = {{"memory_reads", result->memory_reads}, {"memory_writes", result->memory_writes}};
    for (size_t i = 0; i < sizeof requests / sizeof *requests; i++) {
        rsc_json_key(json, requests[i].name);
        if (result->level_count && result->levels[0].estimate) rsc_json_null(json);
        else rsc_json_u64(json, requests[i].count);
    }
}

int rsc_sim_json(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                 struct rsc_error *error) {
    const struct rsc_sim_result *result = of->sim;
    (void)style;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-sim/1");
    put_made(&json, result);
    rsc_json_newline(&json);
    rsc_json_key(&json, "instructions");
    if (result->instructions == RSC_UNKNOWN) rsc_json_null(&json);
    else rsc_json_u64(&json, result->instructions);
    rsc_json_key_u64(&json, "references", result->references);
    rsc_json_newline(&json);
    rsc_json_key_u64(&json, "accesses", result->accesses);
    rsc_json_key_u64(&json, "warm_accesses", result->warm_accesses);
    rsc_json_key_u64(&json, "left_out", result->left_out);
    put_memory(&json, result);
    rsc_json_newline(&json);
    rsc_json_key_array(&json, "levels");
    for (size_t i = 0; i < result->level_count; i++) put_level(&json, result, &result->levels[i]);
    rsc_json_array_end(&json);
    if (result->page_count) put_pages(&json, result);
    if (result->window_count) put_windows(&json, result);
    if (result->blamed) {
        put_code(&json, result);
        put_objects(&json, result);
    }
    rsc_json_object_end(&json);
    return rsc_json_take(&json, "JSON", text, bytes, error);
}
