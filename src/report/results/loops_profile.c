/*
 * loops_profile.c - results of `loops` as profiles, for `report` and other verbs.
 *
 * The models give the curve, not every distance. The references between two points of
 * the curve are put at the largest distance in that range, so that the curve computed
 * from `rd` equals the model's at its points.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/fail.h"
#include "report/results/results.h"

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
    char by[400], sampling[200];
    int status;
    snprintf(by, sizeof by, "loops:%s:%.200s%s%.80s", result->interleave, loop->name, variant->what ? ":" : "",
             variant->what ? variant->what : "");
    snprintf(sampling, sizeof sampling, "%llu references sampled, distances from the curve's points",
             (unsigned long long)result->samples);
    status = rsc_profile_set_text(&profile->made.by, by);
    if (!status) status = rsc_profile_set_text(&profile->made.source, "loops");
    if (!status) status = rsc_profile_set_text(&profile->made.model, result->threads > 1 ? "shared" : "single");
    if (!status) status = rsc_profile_set_text(&profile->made.sampling, sampling);
    if (!status && command) status = rsc_profile_set_command(profile, command);
    profile->made.threads = result->threads;
    profile->made.workers = 1;
    profile->made.seconds = result->seconds;
    profile->made.overhead = profile->made.coverage = NAN;
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

int rsc_loops_save(const struct rsc_result *of, const char *path, int keep_old, struct rsc_error *error) {
    const struct rsc_loops_findings *findings = of->loops;
    struct rsc_profile **profiles = NULL;
    size_t count = 0, room = 0;
    int status = 0;
    for (size_t l = 0; l < findings->loop_count; l++)
        for (size_t v = 0; v < findings->loop[l].variant_count; v++) room += findings->loop[l].variant[v].result_count;
    if (!room) return 0;
    if (!(profiles = calloc(room, sizeof *profiles))) return rsc_fail_memory(error, path);
    for (size_t l = 0; l < findings->loop_count; l++)
        for (size_t v = 0; v < findings->loop[l].variant_count; v++) {
            const struct rsc_loops_variant *variant = &findings->loop[l].variant[v];
            for (size_t i = 0; i < variant->result_count && !status; i++) {
                profiles[count] = make_profile(findings, &findings->loop[l], variant, variant->result[i]);
                status = profiles[count] ? 0 : rsc_fail_memory(error, path);
                count += !status;
            }
        }
    if (!status) status = rsc_profiles_save(profiles, count, path, keep_old, error);
    for (size_t i = 0; i < count; i++) rsc_profile_free(profiles[i]);
    free(profiles);
    return status;
}
