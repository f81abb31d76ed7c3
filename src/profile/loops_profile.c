/*
 * loops_profile.c - results of `loops` as profiles, for `report` and other verbs.
 *
 * The models give the curve, not every distance. The references between two points of
 * the curve are put at the largest distance in that range, so that the curve computed
 * from `rd` equals the model's at its points. References of the source are rows of code,
 * whose pc is their number.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "profile/loops_result.h"
#include "profile/profile_model.h"

static uint64_t misses_at(const struct rsc_loops_result *result, size_t point) {
    double misses = result->mrc[point].miss_ratio * (double)result->references;
    uint64_t rounded = misses > 0 ? (uint64_t)llround(misses) : 0;
    return rounded < result->distinct ? result->distinct : rounded > result->references ? result->references : rounded;
}

static void fill_distances(struct rsc_profile *profile, const struct rsc_loops_result *result) {
    uint64_t before = result->references;
    for (size_t i = 0; i < result->mrc_count; i++) {
        uint64_t now = i + 1 == result->mrc_count ? result->distinct : misses_at(result, i);
        if (now > before) now = before; /* a curve from samples may rise a little */
        rsc_histogram_add(&profile->rd, result->mrc[i].lines - 1, before - now);
        before = now;
    }
}

static int describe(struct rsc_profile *profile, const struct rsc_loops_variant *variant,
                    const struct rsc_loops_found *loop, const struct rsc_loops_result *result, char *const *command) {
    char by[400], sampling[200], name[300];
    int status;
    snprintf(by, sizeof by, "loops:%s:%.200s%s%.80s", result->interleave, loop->name, variant->what ? ":" : "",
             variant->what ? variant->what : "");
    snprintf(sampling, sizeof sampling, "%llu references sampled, distances from the curve's points",
             (unsigned long long)result->samples);
    status = rsc_profile_set_text(&profile->made.by, by);
    if (!status) status = rsc_profile_set_text(&profile->made.source, "loops");
    if (!status) status = rsc_profile_set_text(&profile->made.model, result->threads > 1 ? "shared" : "single");
    if (!status) status = rsc_profile_set_text(&profile->made.sampling, sampling);
    snprintf(name, sizeof name, "%.200s%s%.80s", loop->function && *loop->function ? loop->function : loop->name,
             variant->what ? " with " : "", variant->what ? variant->what : "");
    if (!status) status = rsc_profile_set_text(&profile->made.loop, name);
    if (!status && command) status = rsc_profile_set_command(profile, command);
    profile->made.threads = result->threads;
    profile->made.workers = 1;
    profile->made.seconds = result->seconds;
    profile->made.overhead = profile->made.coverage = NAN;
    return status;
}

/* Estimates of a reference may sum to a little more than its executions, which are exact. */
static int fill_code(struct rsc_profile *profile, const struct rsc_loops_found *loop,
                     const struct rsc_loops_result *result) {
    int status = rsc_profile_set_code(profile, result->row_count);
    for (size_t i = 0; i < result->row_count && !status; i++) {
        const struct rsc_loops_row *from = &result->rows[i];
        struct rsc_code_row *row = &profile->code[i];
        const char *file = from->file && *from->file ? from->file : loop->file;
        row->place = (struct rsc_place){.pc = i + 1, .line = from->line};
        row->references = from->references;
        rsc_histogram_merge(&row->rd, &from->rd);
        uint64_t reuses = rsc_histogram_total(&row->rd), cold = (uint64_t)llround(from->cold > 0 ? from->cold : 0);
        if (reuses > row->references) status = rsc_histogram_scale_to(&row->rd, reuses = row->references);
        row->cold = cold < row->references - reuses ? cold : row->references - reuses;
        if (!status) status = rsc_profile_set_text(&row->place.file, file);
        if (!status)
            status = rsc_profile_set_text(&row->place.function,
                                          loop->function && *loop->function ? loop->function : loop->name);
    }
    return status;
}

static struct rsc_profile *make_profile(const struct rsc_loops_findings *findings, const struct rsc_loops_found *loop,
                                        const struct rsc_loops_variant *variant,
                                        const struct rsc_loops_result *result) {
    struct rsc_profile *profile = rsc_profile_new();
    if (!profile) return NULL;
    profile->made.line_bytes = findings->line_bytes;
    profile->accesses = profile->references = result->references;
    profile->cold = profile->distinct = result->distinct;
    if (result->ri.count) rsc_histogram_merge(&profile->ri, &result->ri);
    fill_distances(profile, result);
    int status = describe(profile, variant, loop, result, findings->command);
    if (!status) status = fill_code(profile, loop, result);
    if (!status) status = rsc_profile_derive_mrc(profile);
    for (size_t i = 0; i < profile->mrc_count && !status && result->mrc_count; i++) {
        struct rsc_mrc_point at = rsc_loops_result_at(result, profile->mrc[i].lines);
        profile->mrc[i].miss_ratio = at.miss_ratio;
        profile->mrc[i].low = at.low;
        profile->mrc[i].high = at.high;
    }
    if (!status) status = rsc_profile_seal(profile);
    if (!status) return profile;
    rsc_profile_free(profile);
    return NULL;
}

int rsc_loops_profiles(const struct rsc_loops_findings *findings, struct rsc_profile ***profiles, size_t *count,
                       struct rsc_error *error) {
    size_t room = 0;
    *count = 0;
    for (size_t l = 0; l < findings->loop_count; l++)
        for (size_t v = 0; v < findings->loop[l].variant_count; v++) room += findings->loop[l].variant[v].result_count;
    if (room > RSC_PROFILES_MAX)
        return rsc_fail(error, RSC_ELIMIT,
                        "%zu results, of loops times thread counts: a file holds at most %d profiles", room,
                        RSC_PROFILES_MAX);
    if (!(*profiles = calloc(room + 1, sizeof **profiles))) return rsc_fail_memory(error, "profiles");
    for (size_t l = 0; l < findings->loop_count; l++)
        for (size_t v = 0; v < findings->loop[l].variant_count; v++) {
            const struct rsc_loops_variant *variant = &findings->loop[l].variant[v];
            for (size_t i = 0; i < variant->result_count; i++) {
                (*profiles)[*count] = make_profile(findings, &findings->loop[l], variant, variant->result[i]);
                if (!(*profiles)[(*count)++]) {
                    rsc_profiles_free(*profiles, *count);
                    *profiles = NULL;
                    return rsc_fail_memory(error, "profiles");
                }
            }
        }
    return 0;
}
