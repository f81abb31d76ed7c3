/* finished_rows.c - see finished_samples.h: rows of code, pairs and objects, and the description of the sampling. */
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "base/grow.h"
#include "base/rounding.h"
#include "distance/count/accumulate.h"
#include "multicore/finished_samples.h"
#include "multicore/sharing.h"
#include "profile/profile_rows.h"

#define TIMES_MOST (1u << 29) /* that one reference counts */

/* Where lines were used again after the longest waits for a use. */
struct rsc_next_place {
    uint64_t distance; /* the longest so far */
    uint32_t tag;      /* RSC_TAG_NONE: none was */
};

void rsc_sample_places_free(struct rsc_sample_places *places) {
    free(places->next);
    places->next = NULL;
}

static int remember_next(struct rsc_sample_places *places, uint32_t use_tag, uint32_t tag, uint64_t distance) {
    if (RSC_GROW(places->next, places->next_room, use_tag + 1ull)) return RSC_ENOMEM;
    while (places->next_count <= use_tag) places->next[places->next_count++] = (struct rsc_next_place){0};
    struct rsc_next_place *next = &places->next[use_tag];
    if (distance >= next->distance / 2) next->tag = tag;
    if (distance > next->distance) next->distance = distance;
    return 0;
}

static uint32_t next_tag(const struct rsc_sample_places *places, uint32_t use_tag) {
    uint32_t tag = use_tag < places->next_count ? places->next[use_tag].tag : RSC_TAG_NONE;
    return tag != RSC_TAG_NONE ? tag : use_tag;
}

static uint32_t rd_of(const struct rsc_sample_record *record) {
    if (record->outcome == RSC_SAMPLE_INVALIDATED || record->outcome == RSC_SAMPLE_TAKEN) return RSC_RD_INVALIDATED;
    return record->distance < RSC_RD_INVALIDATED ? (uint32_t)record->distance : RSC_RD_INVALIDATED - 1;
}

/* A sample that was given up, at the next use that it would most likely have had. */
static int count_given_up(struct rsc_sample_places *places, const struct rsc_sample_record *record, uint32_t use_tag) {
    const uint64_t part = places->line_bytes > 64 ? places->line_bytes / 64 : 1, meta = 0;
    const uint64_t address = record->line * places->line_bytes + record->use.first * part;
    const struct rsc_batch one = {.count = 1, .addr = &address, .meta = &meta};
    const uint32_t first = 0, tag = next_tag(places, use_tag), rd = rd_of(record);
    return rsc_attribution_count(places->attribution, &one, 0, &first, &tag, &rd, &use_tag, 1);
}

int rsc_sample_places_count(struct rsc_sample_places *places, const struct rsc_sample_record *record,
                            const struct rsc_batch *batch, uint32_t access, const uint32_t *tags, uint32_t use_tag) {
    const double times = fmin(TIMES_MOST, fmax(1, round(record->weight / places->period)));
    const uint32_t rd = rd_of(record);
    switch (record->outcome) {
    case RSC_SAMPLE_REUSED:
        if (remember_next(places, use_tag, tags[access], record->distance) < 0) return RSC_ENOMEM;
        __attribute__((fallthrough));
    case RSC_SAMPLE_INVALIDATED:
        rsc_attribution_weigh(places->attribution, (uint32_t)times);
        return rsc_attribution_count(places->attribution, batch, 0, &access, &tags[access], &rd, &use_tag, 1);
    case RSC_SAMPLE_PRUNED:
    case RSC_SAMPLE_CENSORED:
    case RSC_SAMPLE_TAKEN:
        rsc_attribution_weigh(places->attribution, (uint32_t)times);
        return count_given_up(places, record, use_tag);
    default: return 0;
    }
}

/* The counts of a row of any table. */
struct row_counts {
    uint64_t *references, *invalidated, *error; /* invalidated: NULL if the row has none */
    struct rsc_histogram *rd;
};

static struct row_counts counts_of_code(struct rsc_profile *profile, size_t i) {
    struct rsc_code_row *row = &profile->code[i];
    return (struct row_counts){&row->references, &row->invalidated, &row->error, &row->rd};
}

static struct row_counts counts_of_pair(struct rsc_profile *profile, size_t i) {
    struct rsc_pair_row *row = &profile->pairs[i];
    return (struct row_counts){&row->references, NULL, &row->error, &row->rd};
}

static struct row_counts counts_of_object(struct rsc_profile *profile, size_t i) {
    struct rsc_object_row *row = &profile->objects[i];
    return (struct row_counts){&row->references, &row->invalidated, &row->error, &row->rd};
}

/* Scales a row's parts, as its references become `references`. */
static void scale_row(struct row_counts row, uint64_t references, double factor) {
    struct rsc_running_round rounding = {0, factor, 0, references};
    *row.references = references;
    if (row.invalidated) *row.invalidated = rsc_round_next(&rounding, (double)*row.invalidated);
    for (uint32_t bin = 0; bin < row.rd->bin_count; bin++)
        row.rd->count[bin] = rsc_round_next(&rounding, (double)row.rd->count[bin]);
    *row.error = (uint64_t)ceil((double)*row.error * factor);
    if (*row.error > references) *row.error = references;
}

/*
 * Rows count samples that were given up as reuses at the distance they had reached. Of those, some are last touches: the
 * share that last touches have among all samples that got as far. Where nearly all of those were given up, nothing
 * speaks against reuses.
 */
static void share_of_reuses(const struct rsc_finished_samples *sum, uint32_t fine_bins,
                            double share[RSC_BINS_COARSE_COUNT]) {
    const double last = sum->tally.outcome[RSC_SAMPLE_LAST_TOUCH];
    double reused[RSC_BINS_COARSE_COUNT] = {0}, given_up[RSC_BINS_COARSE_COUNT] = {0}, got_here = sum->capped;
    for (uint32_t fine = 0; fine < fine_bins; fine++) {
        uint32_t bin = rsc_bin_of_coarse(rsc_bin_lo(RSC_BINS_FINE, fine));
        reused[bin] += sum->rd[fine];
        given_up[bin] += sum->given_up[fine];
    }
    for (uint32_t bin = RSC_BINS_COARSE_COUNT; bin-- > 0;) {
        got_here += reused[bin] + given_up[bin];
        double later = got_here + last > 0 ? got_here / (got_here + last) : 1, all = reused[bin] + given_up[bin];
        share[bin] = all > 0 ? (reused[bin] + later * given_up[bin]) / all : 1;
    }
}

static void leave_out_last_touches(struct row_counts row, const double share[RSC_BINS_COARSE_COUNT]) {
    uint64_t references = row.invalidated ? *row.invalidated : 0;
    double carried = 0;
    assert(row.rd->bin_count <= RSC_BINS_COARSE_COUNT);
    for (uint32_t bin = 0; bin < row.rd->bin_count; bin++) {
        double kept = (double)row.rd->count[bin] * share[bin] + carried;
        row.rd->count[bin] = (uint64_t)(kept > 0 ? kept + 0.5 : 0);
        carried = kept - (double)row.rd->count[bin];
        references += row.rd->count[bin];
    }
    *row.references = references;
}

/* Rows were counted in samples of the first period and are reported in references: at most the profile's. */
static int scale_table(struct rsc_profile *profile, size_t count, double factor,
                       const double share[RSC_BINS_COARSE_COUNT],
                       struct row_counts (*counts_of)(struct rsc_profile *, size_t)) {
    double *shares = malloc((count + 1) * sizeof *shares);
    uint64_t *whole = malloc((count + 1) * sizeof *whole);
    int status = shares && whole ? 0 : RSC_ENOMEM;
    for (size_t i = 0; !status && i < count; i++) leave_out_last_touches(counts_of(profile, i), share);
    for (size_t i = 0; !status && i < count; i++) shares[i] = (double)*counts_of(profile, i).references * factor;
    if (!status) status = rsc_round_rows(shares, count, profile->references, whole);
    for (size_t i = 0; !status && i < count; i++) scale_row(counts_of(profile, i), whole[i], factor);
    free(shares);
    free(whole);
    return status;
}

static int fill_rows(const struct rsc_finished_samples *sum, const struct rsc_sample_places *places,
                     struct rsc_profile *profile) {
    if (!places->attribution) return 0;
    if (rsc_attribution_fill(places->attribution, profile) < 0) return RSC_ENOMEM;
    double factor = sum->tally.weight > 0 ? places->period * (double)profile->references / sum->tally.weight : 0;
    double share[RSC_BINS_COARSE_COUNT];
    share_of_reuses(sum, profile->rd.bin_count, share);
    int status = scale_table(profile, profile->code_count, factor, share, counts_of_code);
    if (!status) status = scale_table(profile, profile->pair_count, factor, share, counts_of_pair);
    if (!status) status = scale_table(profile, profile->object_count, factor, share, counts_of_object);
    if (status < 0) return status;
    if (profile->code_count) qsort(profile->code, profile->code_count, sizeof *profile->code, rsc_code_order);
    if (profile->pair_count) qsort(profile->pairs, profile->pair_count, sizeof *profile->pairs, rsc_pair_order);
    if (profile->object_count)
        qsort(profile->objects, profile->object_count, sizeof *profile->objects, rsc_object_order);
    return 0;
}

/* ---- sharing ---- */

int rsc_finished_samples_share(struct rsc_finished_samples *sum, const struct rsc_sample_record *record,
                               struct rsc_attribution *attribution, uint32_t line_bytes, uint64_t writer,
                               uint64_t victim) {
    struct rsc_sampled_code code = {writer, victim, 0};
    const uint64_t part = line_bytes > 64 ? line_bytes / 64 : 1;
    if (attribution && record->taker.is_known)
        code.object = rsc_attribution_object(attribution, record->line * line_bytes + record->taker.first * part);
    return rsc_sampled_sharing_take(&sum->sharing, record, &code);
}

static void name_stack(void *owner, uint32_t stack, uint64_t *pid, uint64_t *tid) {
    const struct rsc_finished_samples *sum = owner;
    *pid = stack < sum->thread_count ? sum->threads[stack].pid : 0;
    *tid = stack < sum->thread_count ? sum->threads[stack].tid : stack;
}

static int fill_sharing(struct rsc_finished_samples *sum, const struct rsc_attribution *attribution,
                        struct rsc_profile *profile) {
    uint64_t objects[RSC_SHARING_LINES_KEPT];
    const double size = rsc_finished_samples_size(sum);
    const struct rsc_sampled_sharing_scale scale = {
        .weight = sum->tally.weight,
        .size = size / rsc_burst_effect(&sum->groups, RSC_SAMPLE_INVALIDATED, size),
        .z = sum->z,
        .line_shift = (uint32_t)__builtin_ctzll(profile->made.line_bytes),
        .owner = sum,
        .stack = name_stack};
    if (!sum->is_private || !profile->references) return 0;
    if (rsc_sampled_sharing_fill(&sum->sharing, &scale, profile, objects) < 0) return RSC_ENOMEM;
    return attribution ? rsc_attribution_name_false_sharing(attribution, profile, objects) : 0;
}

static void describe(const struct rsc_finished_samples *sum, const struct rsc_sampling_facts *facts, char *text,
                     size_t room) {
    const struct rsc_sampler_options *sampler = facts->sampler;
    char order[40] = "sequential", period[64], sketch[64] = "", pruned[64] = "";
    if (sampler->order == RSC_ORDER_PARALLEL) snprintf(order, sizeof order, "parallel");
    if (facts->last_period == sampler->period) snprintf(period, sizeof period, "1 in %.0f", sampler->period);
    else snprintf(period, sizeof period, "1 in %.0f to %.0f", sampler->period, facts->last_period);
    if (sum->sketched) snprintf(sketch, sizeof sketch, ", %llu of them sketched", (unsigned long long)sum->sketched);
    if (facts->in_program)
        snprintf(pruned, sizeof pruned, ", %.4g %% pruned",
                 sum->tally.weight > 0 ? 100 * sum->tally.outcome[RSC_SAMPLE_PRUNED] / sum->tally.weight : 0);
    snprintf(text, room,
             "references at random, %s, seed %llu, %s order%s, %llu samples%s%s; %.3g %% analysed; %g %% bars", period,
             (unsigned long long)sampler->seed, order, facts->in_program ? ", in the program" : "",
             (unsigned long long)sum->tally.samples, sketch, pruned,
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
        rsc_profile_set_text(&profile->made.sampling, sampling) < 0 ||
        fill_sharing(sum, places->attribution, profile) < 0 || fill_rows(sum, places, profile) < 0) {
        rsc_profile_free(profile);
        return rsc_fail_memory(error, "profile");
    }
    *out = profile;
    return 0;
}
