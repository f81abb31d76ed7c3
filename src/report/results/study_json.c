/* study_json.c - a study as JSON, for plots: all data behind the tables. */
#include "base/json_writer.h"
#include "report/results/results.h"

static void put_bits(struct rsc_json *json, const struct rsc_study_bits *bits) {
    rsc_json_row(json);
    rsc_json_key_u64(json, "low", bits->low);
    rsc_json_key_u64(json, "high", bits->low + bits->width - 1);
    rsc_json_key_bool(json, "usable", bits->usable);
    rsc_json_key_u64(json, "samples", bits->samples);
    rsc_json_key_u64(json, "within", bits->within);
    rsc_json_key_u64(json, "covered", bits->covered);
    rsc_json_key_double(json, "cv", bits->cv);
    rsc_json_key_double(json, "cv_sampled_instructions", bits->cv_sampled);
    rsc_json_key_double(json, "cv_sampled_references", bits->cv_references);
    rsc_json_key_double(json, "cv_sampled_data", bits->cv_data);
    rsc_json_key_double(json, "random_over_systematic_variance", bits->variance_ratio);
    if (bits->mpi) {
        rsc_json_key_array(json, "mpi");
        for (uint64_t i = 0; i < bits->samples; i++) rsc_json_double(json, bits->mpi[i]);
        rsc_json_array_end(json);
    }
    rsc_json_object_end(json);
}

static void put_sets(struct rsc_json *json, const struct rsc_study_sets *sets) {
    rsc_json_row(json);
    rsc_json_key_double(json, "fraction", 1 / (double)sets->denominator);
    rsc_json_key(json, "constant_bits");
    if (sets->available) put_bits(json, &sets->paper);
    else rsc_json_null(json);
    rsc_json_key_object(json, "random");
    rsc_json_key_double(json, "cv", sets->random.cv);
    rsc_json_key_double(json, "within", sets->random.within);
    rsc_json_key_double(json, "covered", sets->random.covered);
    rsc_json_object_end(json);
    rsc_json_key_array(json, "ranges");
    for (size_t i = 0; i < sets->range_count; i++) put_bits(json, &sets->ranges[i]);
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

static void put_slice(struct rsc_json *json, const struct rsc_study_slice *slice) {
    static const char *const names[2] = {"initmr", "true_state"};
    rsc_json_row(json);
    rsc_json_key_u64(json, "intervals", slice->intervals);
    rsc_json_key_double(json, "fraction", slice->fraction);
    for (int i = 0; i < 2; i++) {
        rsc_json_key_object(json, names[i]);
        rsc_json_key_double(json, "low", slice->low[i]);
        rsc_json_key_double(json, "high", slice->high[i]);
        rsc_json_key_double(json, "within", slice->within[i]);
        rsc_json_key_double(json, "covered", slice->covered[i]);
        rsc_json_object_end(json);
    }
    rsc_json_object_end(json);
}

static void put_time(struct rsc_json *json, const struct rsc_study_time *time) {
    rsc_json_row(json);
    rsc_json_key_u64(json, "interval", time->length);
    rsc_json_key_u64(json, "intervals", time->count);
    rsc_json_key_u64(json, "sampled", time->sampled);
    rsc_json_key_double(json, "mpi_sample", time->mpi);
    rsc_json_key_bool(json, "reliable", time->reliable);
    rsc_json_key_object(json, "bias");
    for (int method = 0; method < RSC_STUDY_METHODS; method++)
        rsc_json_key_double(json, rsc_cold_start_names[method], time->bias[method]);
    rsc_json_object_end(json);
    rsc_json_key_array(json, "cone");
    for (size_t i = 0; i < time->slice_count; i++) put_slice(json, &time->slices[i]);
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

static void put_cache(struct rsc_json *json, const struct rsc_study_cache *cache) {
    rsc_json_row(json);
    rsc_json_key_string(json, "name", cache->cache.name);
    rsc_json_key_string(json, "config", cache->cache.text);
    rsc_json_key_u64(json, "references", cache->references);
    rsc_json_key_u64(json, "misses", cache->misses);
    rsc_json_key_double(json, "mpi", cache->mpi);
    rsc_json_key_object(json, "shape");
    rsc_json_key_bool(json, "normal", cache->shape.normal);
    rsc_json_key_double(json, "skewness", cache->shape.skewness);
    rsc_json_key_double(json, "normal_scores_correlation", cache->shape.scores);
    rsc_json_key_u64(json, "hot", cache->shape.hot);
    rsc_json_key_double(json, "hot_share", cache->shape.hot_share);
    rsc_json_object_end(json);
    rsc_json_key_array(json, "alike");
    for (int i = 0; i < RSC_STUDY_DISTANCES; i++) rsc_json_double(json, cache->alike[i]);
    rsc_json_array_end(json);
    rsc_json_key_array(json, "sets");
    for (int i = 0; i < RSC_STUDY_FRACTIONS; i++)
        if (cache->sets[i].range_count) put_sets(json, &cache->sets[i]);
    rsc_json_array_end(json);
    rsc_json_key_array(json, "time");
    for (size_t i = 0; i < cache->time_count; i++) put_time(json, &cache->times[i]);
    rsc_json_array_end(json);
    rsc_json_object_end(json);
}

int rsc_study_json(const struct rsc_result *of, const struct rsc_report_style *style, char **text, size_t *bytes,
                   struct rsc_error *error) {
    const struct rsc_study *study = of->study;
    (void)style;
    struct rsc_json json;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-sampling-study/1");
    rsc_json_key_string(&json, "trace", study->trace);
    rsc_json_key_u64(&json, "instructions", study->instructions);
    rsc_json_key_u64(&json, "accesses", study->accesses);
    rsc_json_key_u64(&json, "fetches", study->fetches);
    rsc_json_key_array(&json, "caches");
    for (size_t i = 0; i < study->cache_count; i++) put_cache(&json, &study->caches[i]);
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    return rsc_json_take(&json, "JSON", text, bytes, error);
}
