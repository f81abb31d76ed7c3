/* live_samples.c - see live_samples.h. */
#include "multicore/live_samples.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"
#include "distance/count/attribution.h"
#include "multicore/sampled_sum.h"

#define UNITS 64u /* counted at once by attribution */

struct rsc_live_samples {
    struct rsc_engine_options options;
    struct rsc_sampler_options sampler;
    uint32_t model;
    struct rsc_sampled_sum sum;
    struct rsc_attribution *attribution; /* NULL: not asked for */
    double last_period;
};

void rsc_live_samples_free(struct rsc_live_samples *live) {
    if (!live) return;
    rsc_sampled_sum_free(&live->sum);
    rsc_attribution_free(live->attribution);
    free(live);
}

int rsc_live_samples_new(struct rsc_live_samples **out, const struct rsc_engine_options *options,
                         const struct rsc_sampler_options *sampler, uint32_t model, struct rsc_error *error) {
    struct rsc_live_samples *live = calloc(1, sizeof *live);
    struct rsc_attribution_options wanted = {.rd_cap = options->max_distance};
    *out = NULL;
    if (!live) return rsc_fail_memory(error, "samples");
    live->options = *options;
    live->sampler = *sampler;
    live->model = model;
    live->last_period = sampler->period;
    if (!(live->options.confidence > 0)) live->options.confidence = 90;
    int status =
        rsc_sampled_sum_init(&live->sum, live->options.confidence, options->max_distance, options->bins_per_octave);
    if (status < 0) status = rsc_fail_memory(error, "samples");
    if (!status && options->attribute != 2) status = rsc_attribution_new(&live->attribution, &wanted, error);
    if (status < 0) {
        rsc_live_samples_free(live);
        return status;
    }
    *out = live;
    return 0;
}

/* ---- samples ---- */

/* The tag of a place, as an access there would have it. */
static int tag_of(struct rsc_live_samples *live, uint64_t address, uint64_t pc, uint32_t *tag) {
    uint64_t meta = 0;
    struct rsc_batch one = {.count = 1, .addr = &address, .meta = &meta, .pc = &pc};
    return rsc_attribution_tags(live->attribution, &one, tag);
}

/* Counts a sample as often as it is worth the first period: tables have no weights. */
static int count_place(struct rsc_live_samples *live, const struct rsc_sample_record *record) {
    int reused = record->outcome == RSC_SAMPLE_REUSED;
    uint64_t address = record->line << __builtin_ctz(live->options.line_bytes), meta = 0;
    uint64_t pc = reused ? record->reuse.pc : record->use.pc,
             units = (uint64_t)llround(record->weight / live->sampler.period);
    uint32_t rds[UNITS], last[UNITS], from[UNITS] = {0}, tag, use_tag = RSC_TAG_NONE;
    if (record->outcome != RSC_SAMPLE_INVALIDATED && !reused) return 0;
    if (tag_of(live, address, pc, &tag) < 0 || (reused && tag_of(live, address, record->use.pc, &use_tag) < 0))
        return RSC_ENOMEM;
    uint32_t rd = record->distance < RSC_RD_INVALIDATED ? (uint32_t)record->distance : RSC_RD_INVALIDATED - 1;
    struct rsc_batch one = {.count = 1, .addr = &address, .meta = &meta, .pc = &pc};
    for (uint32_t i = 0; i < UNITS; i++) {
        rds[i] = reused ? rd : RSC_RD_INVALIDATED;
        last[i] = use_tag;
    }
    for (units = units ? units : 1; units;) {
        uint32_t part = units < UNITS ? (uint32_t)units : UNITS;
        if (rsc_attribution_count(live->attribution, &one, from, &tag, rds, last, part) < 0) return RSC_ENOMEM;
        units -= part;
    }
    return 0;
}

int rsc_live_samples_push(struct rsc_live_samples *live, const struct rsc_batch *batch,
                          const struct rsc_sample_record *samples, size_t count, struct rsc_error *error) {
    uint32_t unused;
    if (live->attribution && batch->event_count && rsc_attribution_tags(live->attribution, batch, &unused) < 0)
        return rsc_fail_memory(error, "samples");
    if (batch->thread_count && rsc_sampled_sum_see_thread(&live->sum, batch->thread_count - 1) < 0)
        return rsc_fail_memory(error, "thread rows");
    for (uint32_t i = 0; batch->threads && i < batch->thread_count && i < live->sum.thread_count; i++) {
        live->sum.threads[i].pid = batch->threads[i].pid;
        live->sum.threads[i].tid = batch->threads[i].tid;
    }
    for (size_t i = 0; i < count; i++) {
        if (samples[i].model != live->model) continue;
        rsc_sampled_sum_take(&live->sum, &samples[i]);
        live->last_period = fmax(live->last_period, samples[i].weight);
        if (live->attribution && count_place(live, &samples[i]) < 0) return rsc_fail_memory(error, "samples");
    }
    return 0;
}

/* ---- the end ---- */

/* Rows are counted in units of the first period. */
static void scale_row(uint64_t *references, uint64_t *invalidated, uint64_t *error, struct rsc_histogram *rd,
                      double factor) {
    uint64_t sum = 0;
    for (uint32_t i = 0; i < rd->bin_count; i++) sum += rd->count[i] = (uint64_t)((double)rd->count[i] * factor);
    if (invalidated) sum += *invalidated = (uint64_t)((double)*invalidated * factor);
    *error = (uint64_t)ceil((double)*error * factor);
    *references = sum;
    if (*error > sum) *error = sum;
}

/* Most references first, as rows stand: what scaling rounds away can put two in another order. */
#define BY_REFERENCES(name, type, least)                                                   \
    static int name(const void *a, const void *b) {                                        \
        const type *x = a, *y = b;                                                         \
        if (x->references != y->references) return x->references < y->references ? 1 : -1; \
        return (x->least > y->least) - (x->least < y->least);                              \
    }
BY_REFERENCES(compare_codes, struct rsc_code_row, place.pc)
BY_REFERENCES(compare_pairs, struct rsc_pair_row, reuse.pc)
BY_REFERENCES(compare_objects, struct rsc_object_row, context)

static void sort_rows(struct rsc_profile *profile) {
    if (profile->code_count) qsort(profile->code, profile->code_count, sizeof *profile->code, compare_codes);
    if (profile->pair_count) qsort(profile->pairs, profile->pair_count, sizeof *profile->pairs, compare_pairs);
    if (profile->object_count)
        qsort(profile->objects, profile->object_count, sizeof *profile->objects, compare_objects);
}

static int fill_rows(struct rsc_live_samples *live, struct rsc_profile *profile, uint64_t references) {
    if (!live->attribution) return 0;
    if (rsc_attribution_fill(live->attribution, profile) < 0) return RSC_ENOMEM;
    double factor = live->sum.weight > 0 ? live->sampler.period * (double)references / live->sum.weight : 0;
    for (size_t i = 0; i < profile->code_count; i++) {
        struct rsc_code_row *row = &profile->code[i];
        scale_row(&row->references, &row->invalidated, &row->error, &row->rd, factor);
    }
    for (size_t i = 0; i < profile->pair_count; i++)
        scale_row(&profile->pairs[i].references, NULL, &profile->pairs[i].error, &profile->pairs[i].rd, factor);
    for (size_t i = 0; i < profile->object_count; i++) {
        struct rsc_object_row *row = &profile->objects[i];
        scale_row(&row->references, &row->invalidated, &row->error, &row->rd, factor);
    }
    sort_rows(profile);
    return 0;
}

static void describe(const struct rsc_live_samples *live, const struct rsc_live_whole *whole, char *text, size_t room) {
    char order[40] = "sequential", period[64];
    if (live->sampler.order == RSC_ORDER_PARALLEL) snprintf(order, sizeof order, "parallel");
    if (live->sampler.skew) snprintf(order, sizeof order, "skew:%llu", (unsigned long long)live->sampler.skew);
    if (live->last_period > live->sampler.period)
        snprintf(period, sizeof period, "1 in %.0f to %.0f", live->sampler.period, live->last_period);
    else snprintf(period, sizeof period, "1 in %.0f", live->sampler.period);
    snprintf(
        text, room,
        "references at random, %s, seed %llu, %s order, in the program, %llu samples, %.4g %% pruned; %.3g %% analysed; %g %% bars",
        period, (unsigned long long)live->sampler.seed, order, (unsigned long long)live->sum.samples,
        live->sum.weight > 0 ? 100 * live->sum.outcome[RSC_SAMPLE_PRUNED] / live->sum.weight : 0,
        whole->references ? 100 * (double)whole->analysed / (double)whole->references : 0, live->options.confidence);
}

/* What began and was never finished, because the program ended. */
static void take_unfinished(struct rsc_live_samples *live, const struct rsc_live_whole *whole) {
    uint64_t count = whole->begun > live->sum.samples ? whole->begun - live->sum.samples : 0;
    double weight = whole->begun_weight - live->sum.weight;
    struct rsc_sample_record record = {.model = live->model,
                                       .outcome = RSC_SAMPLE_LAST_TOUCH,
                                       .use = {.thread = UINT32_MAX},
                                       .weight = live->last_period};
    if (count && weight > 0) record.weight = fmax(1, weight / (double)count);
    for (; count; count--) rsc_sampled_sum_take(&live->sum, &record);
}

int rsc_live_samples_finish(struct rsc_live_samples *live, const struct rsc_live_whole *whole, struct rsc_profile **out,
                            struct rsc_error *error) {
    char sampling[320];
    take_unfinished(live, whole);
    for (uint32_t i = 0; i < live->sum.thread_count; i++)
        live->sum.threads[i].references = whole->thread_references(whole->context, i);
    struct rsc_profile *profile =
        rsc_sampled_sum_profile(&live->sum, whole->references, whole->references, live->options.line_bytes);
    *out = NULL;
    if (!profile) return rsc_fail_memory(error, "profile");
    describe(live, whole, sampling, sizeof sampling);
    profile->made.threads = live->sum.thread_count;
    profile->made.line_bytes = live->options.line_bytes;
    profile->made.workers = 1;
    profile->made.overhead = profile->made.coverage = NAN;
    if (rsc_profile_set_text(&profile->made.by, "sampled") < 0 ||
        rsc_profile_set_text(&profile->made.sampling, sampling) < 0 ||
        rsc_profile_set_text(&profile->made.model, live->model == RSC_MODEL_PRIVATE ? "private" : "shared") < 0 ||
        fill_rows(live, profile, whole->references) < 0 || rsc_profile_seal(profile) < 0) {
        rsc_profile_free(profile);
        return rsc_fail_memory(error, "profile");
    }
    *out = profile;
    return 0;
}
