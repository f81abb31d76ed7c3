/* finished_rows.c - see finished_samples.h: rows of code, pairs and objects, and the description of the sampling. */
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "distance/count/accumulate.h"
#include "multicore/finished_samples.h"

#define UNITS 64u /* counted at once by attribution */

int rsc_sample_places_count(const struct rsc_sample_places *places, const struct rsc_sample_record *record,
                            const struct rsc_batch *batch, uint32_t access, const uint32_t *tags, uint32_t use_tag) {
    uint32_t rds[UNITS], last[UNITS], from[UNITS], rd = RSC_RD_INVALIDATED;
    int reused = record->outcome == RSC_SAMPLE_REUSED;
    if (!reused && record->outcome != RSC_SAMPLE_INVALIDATED) return 0;
    if (reused) rd = record->distance < RSC_RD_INVALIDATED ? (uint32_t)record->distance : RSC_RD_INVALIDATED - 1;
    for (uint32_t i = 0; i < UNITS; i++) rds[i] = rd, last[i] = reused ? use_tag : RSC_TAG_NONE, from[i] = access;
    uint64_t units = (uint64_t)llround(record->weight / places->period);
    for (units = units ? units : 1; units; units -= units < UNITS ? units : UNITS)
        if (rsc_attribution_count(places->attribution, batch, from, tags, rds, last,
                                  units < UNITS ? (uint32_t)units : UNITS) < 0)
            return RSC_ENOMEM;
    return 0;
}

/*
 * Rows were counted in samples of the first period and are reported in references. Rows
 * keep their order, and no part may exceed the whole: where rounding made a bin or an
 * error larger than its row, or the rows of a table together larger than the profile
 * (`table_left`: what its later rows may have), the excess is removed.
 */
static void scale_row(uint64_t *references, uint64_t *invalidated, uint64_t *error, struct rsc_histogram *rd,
                      double factor, uint64_t *table_left) {
    *references = (uint64_t)llround((double)*references * factor);
    if (*references > *table_left) *references = *table_left;
    *table_left -= *references;
    uint64_t left = *references;
    if (invalidated) {
        *invalidated = (uint64_t)llround((double)*invalidated * factor);
        if (*invalidated > left) *invalidated = left;
        left -= *invalidated;
    }
    for (uint32_t bin = 0; bin < rd->bin_count; bin++) {
        rd->count[bin] = (uint64_t)llround((double)rd->count[bin] * factor);
        if (rd->count[bin] > left) rd->count[bin] = left;
        left -= rd->count[bin];
    }
    *error = (uint64_t)ceil((double)*error * factor);
    if (*error > *references) *error = *references;
}

static int fill_rows(const struct rsc_finished_samples *sum, const struct rsc_sample_places *places,
                     struct rsc_profile *profile) {
    if (!places->attribution) return 0;
    if (rsc_attribution_fill(places->attribution, profile) < 0) return RSC_ENOMEM;
    double factor = sum->weight > 0 ? places->period * (double)profile->references / sum->weight : 0;
    uint64_t left = profile->references;
    for (size_t i = 0; i < profile->code_count; i++) {
        struct rsc_code_row *row = &profile->code[i];
        scale_row(&row->references, &row->invalidated, &row->error, &row->rd, factor, &left);
    }
    left = profile->references;
    for (size_t i = 0; i < profile->pair_count; i++)
        scale_row(&profile->pairs[i].references, NULL, &profile->pairs[i].error, &profile->pairs[i].rd, factor, &left);
    left = profile->references;
    for (size_t i = 0; i < profile->object_count; i++) {
        struct rsc_object_row *row = &profile->objects[i];
        scale_row(&row->references, &row->invalidated, &row->error, &row->rd, factor, &left);
    }
    return 0;
}

static void describe(const struct rsc_finished_samples *sum, const struct rsc_sampling_facts *facts, char *text,
                     size_t room) {
    const struct rsc_sampler_options *sampler = facts->sampler;
    char order[40] = "sequential", period[64], sketch[64] = "", pruned[64] = "";
    if (sampler->order == RSC_ORDER_PARALLEL) snprintf(order, sizeof order, "parallel");
    if (sampler->skew) snprintf(order, sizeof order, "skew:%llu", (unsigned long long)sampler->skew);
    if (facts->last_period == sampler->period) snprintf(period, sizeof period, "1 in %.0f", sampler->period);
    else snprintf(period, sizeof period, "1 in %.0f to %.0f", sampler->period, facts->last_period);
    if (sum->sketched) snprintf(sketch, sizeof sketch, ", %llu of them sketched", (unsigned long long)sum->sketched);
    if (facts->in_program)
        snprintf(pruned, sizeof pruned, ", %.4g %% pruned",
                 sum->weight > 0 ? 100 * sum->outcome[RSC_SAMPLE_PRUNED] / sum->weight : 0);
    snprintf(text, room,
             "references at random, %s, seed %llu, %s order%s, %llu samples%s%s; %.3g %% analysed; %g %% bars", period,
             (unsigned long long)sampler->seed, order, facts->in_program ? ", in the program" : "",
             (unsigned long long)sum->samples, sketch, pruned,
             facts->references ? 100 * (double)facts->analysed / (double)facts->references : 0, sum->confidence);
}

int rsc_finished_samples_finish(struct rsc_finished_samples *sum, const struct rsc_sample_places *places,
                                const struct rsc_sampling_facts *facts, uint64_t accesses, uint64_t line_bytes,
                                struct rsc_profile **out, struct rsc_error *error) {
    char sampling[400];
    struct rsc_profile *profile = rsc_finished_samples_profile(sum, accesses, facts->references, line_bytes);
    *out = NULL;
    if (!profile) return rsc_fail_memory(error, "profile");
    describe(sum, facts, sampling, sizeof sampling);
    profile->made.threads = sum->thread_count;
    if (rsc_profile_set_text(&profile->made.by, "sampled") < 0 ||
        rsc_profile_set_text(&profile->made.sampling, sampling) < 0 || fill_rows(sum, places, profile) < 0) {
        rsc_profile_free(profile);
        return rsc_fail_memory(error, "profile");
    }
    *out = profile;
    return 0;
}
