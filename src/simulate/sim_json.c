/* sim_json.c - see sim_json.h. */
#include "simulate/sim_json.h"

#include <math.h>

#include "base/fail.h"
#include "simulate/estimate.h"

static double ratio(uint64_t part, uint64_t whole) { return whole ? (double)part / (double)whole : NAN; }

static void put_kinds(struct rsc_json *json, const struct rsc_level_counts *counts) {
    static const char *const names[RSC_KINDS] = {"R", "W", "I"};
    rsc_json_key(json, "kinds");
    rsc_json_object(json);
    for (int kind = 0; kind < RSC_KINDS; kind++) {
        if (!counts->accesses[kind]) continue;
        rsc_json_key(json, names[kind]);
        rsc_json_object(json);
        rsc_json_key_u64(json, "accesses", counts->accesses[kind]);
        rsc_json_key_u64(json, "misses", counts->misses[kind]);
        rsc_json_object_end(json);
    }
    rsc_json_object_end(json);
}

static void put_level(struct rsc_json *json, const struct rsc_sim_result *result,
                      const struct rsc_sim_level_result *level) {
    const struct rsc_level_counts *counts = &level->counts;
    uint64_t accesses = rsc_kinds_sum(counts->accesses), misses = rsc_kinds_sum(counts->misses);
    char config[160];
    rsc_cache_config_text(&level->config, config, sizeof config);
    rsc_json_newline(json);
    rsc_json_object(json);
    rsc_json_key_string(json, "name", level->config.name);
    rsc_json_key_string(json, "config", config);
    rsc_json_key(json, "alternative");
    rsc_json_u64(json, (uint64_t)level->alternative);
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
    put_kinds(json, counts);
    rsc_json_key(json, "estimate");
    if (level->estimate) rsc_estimate_json(json, level->estimate);
    else rsc_json_null(json);
    rsc_json_object_end(json);
}

int rsc_sim_json(const struct rsc_sim_result *result, char **text, size_t *bytes, struct rsc_error *error) {
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-sim/1");
    rsc_json_key(&json, "instructions");
    if (result->instructions == RSC_UNKNOWN) rsc_json_null(&json);
    else rsc_json_u64(&json, result->instructions);
    rsc_json_key_u64(&json, "references", result->references);
    rsc_json_newline(&json);
    rsc_json_key_u64(&json, "accesses", result->accesses);
    rsc_json_key_u64(&json, "warm_accesses", result->warm_accesses);
    rsc_json_key_u64(&json, "left_out", result->left_out);
    rsc_json_newline(&json);
    rsc_json_key(&json, "levels");
    rsc_json_array(&json);
    for (size_t i = 0; i < result->level_count; i++) put_level(&json, result, &result->levels[i]);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    int status = rsc_json_finish(&json);
    if (status < 0) {
        rsc_json_free(&json);
        return status == RSC_ENOMEM ? rsc_fail_memory(error, "JSON") : rsc_fail(error, status, "JSON: nested too deep");
    }
    *text = json.text;
    *bytes = json.used;
    return 0;
}
