/*
 * profile_requests.c - the bytes of a profile of requests: made, derived,
 * written, read and joined.
 *
 * Beside the histogram of requests by distance there is one of the bytes they
 * asked for, in the same bins; from it follows the byte miss ratio in the way the
 * miss ratio follows from the other (mrc.c).
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profile/load_fields.h"
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
        /* sizes are lower edges of bins, but the last, which no distance of its bin reaches */
        while (bin && rsc_bin_lo(bytes->rd.bins, bin - 1) >= profile->mrc[i].lines) missed += bytes->rd.count[--bin];
        bytes->miss_ratio[i] = bytes->requested ? (double)missed / (double)bytes->requested : 0;
    }
    return 0;
}

void rsc_json_requests(struct rsc_json *json, const struct rsc_profile *profile) {
    const struct rsc_request_bytes *bytes = &profile->requests;
    rsc_json_newline(json);
    rsc_json_key(json, "requests");
    rsc_json_object(json);
    rsc_json_key_u64(json, "bytes", bytes->requested);
    rsc_json_key_u64(json, "cold_bytes", bytes->cold);
    rsc_json_key_u64(json, "footprint_bytes", bytes->footprint);
    rsc_json_histogram(json, "rd_bytes", &bytes->rd, 0);
    rsc_json_object_end(json);
}

static int load_ratios(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list = json_object_get(root, "mrc");
    size_t prefix = strlen(loader->where);
    int rc = 0;
    if (!profile->mrc_count) return 0;
    profile->requests.miss_ratio = calloc(profile->mrc_count, sizeof *profile->requests.miss_ratio);
    if (!profile->requests.miss_ratio) return rsc_load_no_memory(loader);
    for (size_t i = 0; i < profile->mrc_count && !rc; i++) {
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "mrc[%zu].", i);
        rc = rsc_load_double(loader, json_array_get(list, i), "byte_miss_ratio", 1, &profile->requests.miss_ratio[i]);
    }
    loader->where[prefix] = 0;
    return rc;
}

int rsc_load_requests(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *object = json_object_get(root, "requests");
    struct rsc_request_bytes *bytes = &profile->requests;
    struct rsc_load_cap none = {0, NULL};
    unsigned __int128 sum;
    int rc, wanted = profile->made.model && !strcmp(profile->made.model, "requests");
    if (!wanted) return object ? rsc_load_bad(loader, "requests must not be there: made.model is not requests") : 0;
    if (!json_is_object(object)) return rsc_load_bad(loader, "requests is missing or no object");
    if (profile->made.line_bytes != 1)
        return rsc_load_bad(loader, "made.line must be 1: requests are counted in bytes");
    if (profile->rd_cap) return rsc_load_bad(loader, "max_distance must not be there: made.model is requests");
    if (rsc_profile_set_requests(profile)) return rsc_load_no_memory(loader);
    if ((rc = rsc_load_u64(loader, object, "bytes", RSC_LOAD_COUNT_MAX, &bytes->requested)) ||
        (rc = rsc_load_u64(loader, object, "cold_bytes", RSC_LOAD_COUNT_MAX, &bytes->cold)) ||
        (rc = rsc_load_u64(loader, object, "footprint_bytes", RSC_LOAD_COUNT_MAX, &bytes->footprint)) ||
        (rc = rsc_load_bins(loader, object, "rd_bytes", 0, none, &bytes->rd, &sum)))
        return rc;
    if (sum + bytes->cold != bytes->requested)
        return rsc_load_bad(loader, "requests: rd_bytes and cold_bytes do not sum to bytes");
    return load_ratios(loader, root, profile);
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
