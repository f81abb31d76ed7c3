/*
 * profile_requests.c - the bytes of a profile of requests: creates, derives, writes
 * and joins them.
 *
 * Beside the histogram of requests by distance there is one of requested bytes, in
 * the same bins; it gives the byte miss ratio as the other gives the miss ratio
 * (mrc.c).
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"
#include "profile/profile_rows.h"

int rsc_profile_set_requests(struct rsc_profile *profile) {
    rsc_histogram_free(&profile->requests.rd);
    return rsc_histogram_init(&profile->requests.rd, RSC_BINS_FINE);
}

const double *rsc_profile_byte_miss_ratio(const struct rsc_profile *profile, size_t *count) {
    *count = profile->requests.miss_ratio ? profile->mrc_count : 0;
    return profile->requests.miss_ratio;
}

int rsc_requests_derive(struct rsc_profile *profile) {
    struct rsc_request_bytes *bytes = &profile->requests;
    free(bytes->miss_ratio);
    bytes->miss_ratio = NULL;
    if (!profile->mrc_count) return 0;
    bytes->miss_ratio = malloc(profile->mrc_count * sizeof *bytes->miss_ratio);
    if (!bytes->miss_ratio) return RSC_ENOMEM;
    uint64_t missed = bytes->cold;
    uint32_t bin = bytes->rd.bin_count;
    for (size_t i = profile->mrc_count; i-- > 0;) {
        /* sizes are lower edges of bins, except the last, which no distance in its bin reaches */
        while (bin && rsc_bin_lo(bytes->rd.bins, bin - 1) >= profile->mrc[i].lines) missed += bytes->rd.count[--bin];
        bytes->miss_ratio[i] = bytes->requested ? (double)missed / (double)bytes->requested : 0;
    }
    return 0;
}

/* The byte miss ratio and its bar at a size, even between points as rsc_profile_mrc_at() has it. */
static struct rsc_mrc_point byte_point(const struct rsc_profile *profile, uint64_t lines) {
    const struct rsc_request_bytes *bytes = &profile->requests;
    struct rsc_mrc_point at = {lines, lines, 1, 1, 1};
    size_t right = RSC_SEARCH(0, profile->mrc_count, i, profile->mrc[i].lines <= lines);
    if (!profile->mrc_count) at.miss_ratio = at.low = at.high = 0;
    if (!right) return at;
    size_t left = right - 1;
    double share = 0;
    if (right < profile->mrc_count)
        share =
            (double)(lines - profile->mrc[left].lines) / (double)(profile->mrc[right].lines - profile->mrc[left].lines);
    else right = left;
    const double *curves[] = {bytes->miss_ratio, bytes->low ? bytes->low : bytes->miss_ratio,
                              bytes->high ? bytes->high : bytes->miss_ratio};
    double *ends[] = {&at.miss_ratio, &at.low, &at.high};
    for (int i = 0; i < 3; i++) *ends[i] = curves[i][left] + share * (curves[i][right] - curves[i][left]);
    return at;
}

int rsc_requests_join_bars(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    struct rsc_request_bytes *bytes = &merged->requests;
    if (!rsc_profile_is_requests(merged) || (!a->requests.low && !b->requests.low) || !merged->mrc_count) return 0;
    bytes->low = malloc(merged->mrc_count * sizeof *bytes->low);
    bytes->high = malloc(merged->mrc_count * sizeof *bytes->high);
    if (!bytes->low || !bytes->high || rsc_requests_derive(merged)) return RSC_ENOMEM;
    double share = bytes->requested ? (double)a->requests.requested / (double)bytes->requested : 0, rest = 1 - share;
    for (size_t i = 0; i < merged->mrc_count; i++) {
        struct rsc_mrc_point at_a = byte_point(a, merged->mrc[i].lines), at_b = byte_point(b, merged->mrc[i].lines);
        double ratio = fmin(1, share * at_a.miss_ratio + rest * at_b.miss_ratio);
        bytes->miss_ratio[i] = ratio;
        bytes->low[i] =
            fmax(0, ratio - hypot(share * (at_a.miss_ratio - at_a.low), rest * (at_b.miss_ratio - at_b.low)));
        bytes->high[i] =
            fmin(1, ratio + hypot(share * (at_a.high - at_a.miss_ratio), rest * (at_b.high - at_b.miss_ratio)));
    }
    return 0;
}

void rsc_json_requests(struct rsc_json *json, const struct rsc_profile *profile) {
    const struct rsc_request_bytes *bytes = &profile->requests;
    rsc_json_newline(json);
    rsc_json_key_object(json, "requests");
    rsc_json_key_u64(json, "bytes", bytes->requested);
    rsc_json_key_u64(json, "cold_bytes", bytes->cold);
    rsc_json_key_u64(json, "footprint_bytes", bytes->footprint);
    rsc_json_histogram(json, "rd_bytes", &bytes->rd, 0);
    rsc_json_object_end(json);
}

int rsc_requests_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    struct rsc_request_bytes *to = &merged->requests;
    if (!rsc_profile_is_requests(a) || !rsc_profile_is_requests(b)) return 0;
    if (rsc_profile_set_requests(merged)) return RSC_ENOMEM;
    to->requested = a->requests.requested + b->requests.requested;
    to->cold = a->requests.cold + b->requests.cold;
    to->footprint = a->requests.footprint + b->requests.footprint;
    rsc_histogram_merge(&to->rd, &a->requests.rd);
    rsc_histogram_merge(&to->rd, &b->requests.rd);
    return 0;
}
