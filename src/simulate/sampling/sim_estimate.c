/* estimate.c - see estimate.h: JSON. */
#include "simulate/sampling/sim_estimate.h"

#include <math.h>
#include <stdlib.h>

double rsc_estimate_mpi(const struct rsc_estimate *estimate) { return estimate->per_access ? NAN : estimate->mpi; }

void rsc_estimate_free(struct rsc_estimate *estimate) {
    free(estimate->parts);
    estimate->parts = NULL;
    estimate->part_count = 0;
}

static void put_double(struct rsc_json *json, const char *key, double value) {
    rsc_json_key(json, key);
    if (isfinite(value)) rsc_json_double(json, value);
    else rsc_json_null(json);
}

static void put_sets(struct rsc_json *json, const struct rsc_estimate *estimate) {
    put_double(json, "sampled_instructions_mpi", estimate->sampled_instructions);
    rsc_json_key(json, "shape");
    rsc_json_object(json);
    rsc_json_key(json, "normal");
    rsc_json_bool(json, estimate->shape.normal);
    put_double(json, "skewness", estimate->shape.skewness);
    put_double(json, "normal_scores_correlation", estimate->shape.scores);
    rsc_json_key_u64(json, "hot", estimate->shape.hot);
    put_double(json, "hot_share", estimate->shape.hot_share);
    rsc_json_object_end(json);
    put_double(json, "cv", estimate->cv);
    put_double(json, "random_over_systematic_variance", estimate->variance_ratio);
}

static void put_time(struct rsc_json *json, const struct rsc_estimate *estimate) {
    rsc_json_key_u64(json, "interval", estimate->length);
    put_double(json, "loaded", estimate->loaded);
    rsc_json_key_u64(json, "unreliable", estimate->unreliable);
    rsc_json_key_u64(json, "left_out", estimate->left_out);
    put_double(json, "interval_needed", estimate->length_needed);
    rsc_json_key_string(json, "excludes", estimate->cold_start == RSC_START_WARM ? NULL : "cold-start bias");
}

static void put_parts(struct rsc_json *json, const struct rsc_estimate *estimate) {
    int sets = estimate->method == RSC_ESTIMATE_SETS;
    rsc_json_key(json, sets ? "samples" : "intervals");
    rsc_json_array(json);
    for (size_t i = 0; i < estimate->part_count; i++) {
        const struct rsc_estimate_part *part = &estimate->parts[i];
        rsc_json_newline(json);
        rsc_json_object(json);
        rsc_json_key_u64(json, sets ? "value" : "first_access", part->at);
        put_double(json, "mpi", part->mpi);
        if (!sets) {
            put_double(json, "loaded", part->loaded);
            rsc_json_key(json, "reliable");
            rsc_json_bool(json, part->reliable);
        }
        rsc_json_object_end(json);
    }
    rsc_json_array_end(json);
}

void rsc_estimate_json(struct rsc_json *json, const struct rsc_estimate *estimate) {
    static const char *const methods[] = {"sets", "time", "whole"};
    rsc_json_object(json);
    rsc_json_key_string(json, "method", methods[estimate->method]);
    rsc_json_key_string(json, "how", estimate->how);
    rsc_json_key_double(json, "fraction", estimate->fraction);
    rsc_json_key_string(json, "cold_start",
                        estimate->cold_start < 0 ? NULL : rsc_cold_start_names[estimate->cold_start]);
    rsc_json_key_string(json, "per", estimate->per_access ? "access" : "instruction");
    put_double(json, "mpi", rsc_estimate_mpi(estimate));
    put_double(json, "low", estimate->low);
    put_double(json, "high", estimate->high);
    put_double(json, "rate", estimate->mpi);
    put_double(json, "misses", estimate->misses);
    rsc_json_key_double(json, "confidence", estimate->confidence);
    rsc_json_key_u64(json, "observations", estimate->observations);
    rsc_json_key_u64(json, "population", estimate->population);
    if (estimate->method == RSC_ESTIMATE_SETS) put_sets(json, estimate);
    else put_time(json, estimate);
    put_parts(json, estimate);
    rsc_json_object_end(json);
}
