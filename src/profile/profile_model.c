/*
 * profile_model.c - creates, fills, seals and frees profiles, and has the public
 * getters.
 *
 * Until it is sealed, a profile is a set of histograms that an engine counts into.
 * Sealing converts the two fine histograms into lists of their non-empty bins, which
 * everything downstream reads, and derives the curve.
 */
#include "profile/profile_model.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/fail.h"
#include "profile/profile_rows.h"
#include "profile/row_tables.h"

static void drop_command(struct rsc_profile *profile) {
    for (char **word = profile->made.command; word && *word; word++) free(*word);
    free(profile->made.command);
    profile->made.command = NULL;
}

struct rsc_profile *rsc_profile_new(void) {
    struct rsc_profile *profile = calloc(1, sizeof *profile);
    if (!profile) return NULL;
    profile->made.line_bytes = 64;
    profile->made.overhead = NAN;
    profile->made.coverage = NAN;
    if (rsc_histogram_init(&profile->rd, RSC_BINS_FINE) || rsc_histogram_init(&profile->ri, RSC_BINS_FINE)) {
        rsc_profile_free(profile);
        return NULL;
    }
    return profile;
}

void rsc_profile_free(struct rsc_profile *profile) {
    if (!profile) return;
    free(profile->made.by);
    free(profile->made.source);
    free(profile->made.model);
    free(profile->made.sampling);
    free(profile->made.modelled);
    free(profile->made.loop);
    drop_command(profile);
    rsc_histogram_free(&profile->rd);
    rsc_histogram_free(&profile->ri);
    rsc_histogram_free(&profile->rd_binned);
    rsc_histogram_free(&profile->ri_binned);
    rsc_histogram_free(&profile->rd_low);
    rsc_histogram_free(&profile->rd_high);
    rsc_profile_drop_tables(profile);
    free(profile->rd_list);
    free(profile->ri_list);
    free(profile->mrc);
    rsc_histogram_free(&profile->requests.rd);
    free(profile->requests.miss_ratio);
    free(profile->requests.low);
    free(profile->requests.high);
    free(profile);
}

int rsc_profile_set_bins(struct rsc_profile *profile, uint32_t per_octave) {
    if (per_octave > 64) return RSC_EINVAL;
    rsc_histogram_free(&profile->rd_binned);
    rsc_histogram_free(&profile->ri_binned);
    profile->bins_per_octave = 0;
    if (!per_octave) return 0;
    if (rsc_histogram_init(&profile->rd_binned, rsc_bins_per_octave(per_octave)) ||
        rsc_histogram_init(&profile->ri_binned, rsc_bins_per_octave(per_octave))) {
        rsc_histogram_free(&profile->rd_binned);
        rsc_histogram_free(&profile->ri_binned);
        return RSC_ENOMEM;
    }
    profile->bins_per_octave = per_octave;
    return 0;
}

int rsc_profile_set_text(char **field, const char *text) {
    char *copy = NULL;
    if (text && !(copy = strdup(text))) return RSC_ENOMEM;
    free(*field);
    *field = copy;
    return 0;
}

int rsc_profile_set_command(struct rsc_profile *profile, char *const *argv) {
    drop_command(profile);
    size_t count = 0;
    while (argv && argv[count]) count++;
    if (!count) return 0;
    profile->made.command = calloc(count + 1, sizeof *profile->made.command);
    if (!profile->made.command) return RSC_ENOMEM;
    for (size_t i = 0; i < count; i++) {
        profile->made.command[i] = strdup(argv[i]);
        if (!profile->made.command[i]) {
            drop_command(profile);
            return RSC_ENOMEM;
        }
    }
    return 0;
}

/* The list of rsc_histogram_list() with room for one more entry at the end. */
static int list_bins(const struct rsc_histogram *histogram, uint64_t cap, struct rsc_bin **list, size_t *count) {
    size_t used = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) used += histogram->count[bin] != 0;
    struct rsc_bin *bins = malloc((used + 1) * sizeof *bins);
    if (!bins) return RSC_ENOMEM;
    used = 0;
    for (uint32_t bin = 0; bin < histogram->bin_count; bin++) {
        if (!histogram->count[bin]) continue;
        uint64_t lo = rsc_bin_lo(histogram->bins, bin), hi = rsc_bin_hi(histogram->bins, bin);
        if (lo < cap && hi >= cap) hi = cap - 1;
        bins[used++] = (struct rsc_bin){lo, hi, histogram->count[bin]};
    }
    *list = bins;
    *count = used;
    return 0;
}

int rsc_histogram_list(const struct rsc_histogram *histogram, uint64_t cap, struct rsc_bin **list, size_t *count) {
    return list_bins(histogram, cap, list, count);
}

/* Whether bins are in order and apart from each other, as every reader of a list expects. */
static __attribute__((unused)) int bins_ascend(const struct rsc_bin *list, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (list[i].lo > list[i].hi || !list[i].count || (i && list[i].lo <= list[i - 1].hi)) return 0;
    return 1;
}

int rsc_profile_seal(struct rsc_profile *profile) {
    free(profile->rd_list);
    free(profile->ri_list);
    profile->rd_list = profile->ri_list = NULL;
    profile->rd_list_count = profile->ri_list_count = 0;
    profile->sealed = 0;
    if (list_bins(&profile->rd, profile->rd_cap, &profile->rd_list, &profile->rd_list_count)) return RSC_ENOMEM;
    if (profile->rd_capped)
        profile->rd_list[profile->rd_list_count++] = (struct rsc_bin){profile->rd_cap, UINT64_MAX, profile->rd_capped};
    if (list_bins(&profile->ri, 0, &profile->ri_list, &profile->ri_list_count)) return RSC_ENOMEM;
    if (!profile->mrc && rsc_profile_derive_mrc(profile)) return RSC_ENOMEM;
    if (rsc_profile_is_requests(profile) && !profile->requests.miss_ratio && rsc_requests_derive(profile))
        return RSC_ENOMEM;
    assert(bins_ascend(profile->rd_list, profile->rd_list_count));
    assert(bins_ascend(profile->ri_list, profile->ri_list_count));
    profile->sealed = 1;
    return 0;
}

int rsc_profile_check_sum(const struct rsc_profile *profile, const char *name, struct rsc_error *error) {
    unsigned __int128 sum = (unsigned __int128)profile->rd_capped + profile->cold + profile->invalidated +
                            profile->last_touch + profile->pruned + profile->censored;
    for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++) sum += profile->rd.count[bin];
    if (sum == profile->references) return 0;
    int more = sum > profile->references;
    unsigned __int128 off = more ? sum - profile->references : profile->references - sum;
    return rsc_fail(error, RSC_EFORMAT,
                    "%s: rd, cold and other references without a distance sum to %llu %s than references", name,
                    (unsigned long long)(off > UINT64_MAX ? UINT64_MAX : off), more ? "more" : "fewer");
}

void rsc_profile_get_totals(const struct rsc_profile *profile, struct rsc_profile_totals *totals) {
    *totals = (struct rsc_profile_totals){
        .line_bytes = profile->made.line_bytes,
        .accesses = profile->accesses,
        .references = profile->references,
        .cold = profile->cold,
        .invalidated = profile->invalidated,
        .distinct = profile->distinct,
        .last_touch = profile->last_touch,
        .pruned = profile->pruned,
        .censored = profile->censored,
        .threads = profile->made.threads,
    };
}

const struct rsc_bin *rsc_profile_rd(const struct rsc_profile *profile, size_t *count) {
    *count = profile->rd_list_count;
    return profile->rd_list;
}

const struct rsc_bin *rsc_profile_ri(const struct rsc_profile *profile, size_t *count) {
    *count = profile->ri_list_count;
    return profile->ri_list;
}

const struct rsc_mrc_point *rsc_profile_mrc(const struct rsc_profile *profile, size_t *count) {
    *count = profile->mrc_count;
    return profile->mrc;
}

uint64_t rsc_profile_rd_quantile(const struct rsc_profile *profile, double fraction) {
    uint64_t total = 0, sum = 0;
    for (size_t i = 0; i < profile->rd_list_count; i++) total += profile->rd_list[i].count;
    if (!total) return UINT64_MAX;
    if (!(fraction > 0)) fraction = 0;
    if (fraction > 1) fraction = 1;
    /* In floating point 0.1 * 10 is slightly more than 1; treat it as 1. */
    long double wanted = (long double)fraction * total;
    wanted = ceill(wanted - wanted * 1e-15L);
    for (size_t i = 0; i < profile->rd_list_count; i++) {
        sum += profile->rd_list[i].count;
        if ((long double)sum >= wanted) return profile->rd_list[i].hi;
    }
    return UINT64_MAX;
}
