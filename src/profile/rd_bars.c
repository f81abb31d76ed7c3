/* rd_bars.c - error bars of the bins of a sampled profile's RD: stored beside the counts; in JSON, inside each bin. */
#include <string.h>

#include "profile/profile_rows.h"

int rsc_profile_set_bars(struct rsc_profile *profile) {
    rsc_histogram_free(&profile->rd_low);
    rsc_histogram_free(&profile->rd_high);
    if (!rsc_histogram_init(&profile->rd_low, RSC_BINS_FINE) && !rsc_histogram_init(&profile->rd_high, RSC_BINS_FINE))
        return 0;
    rsc_histogram_free(&profile->rd_low);
    return RSC_ENOMEM;
}

void rsc_json_bars(struct rsc_json *json, const struct rsc_profile *profile, const struct rsc_bin *bin) {
    if (bin->hi == UINT64_MAX) { /* the open bin of a cap is not in the histogram */
        rsc_json_bin(json, bin->lo, bin->hi, bin->count);
        return;
    }
    uint32_t at = rsc_bin_of_fine(bin->lo);
    rsc_json_object(json);
    rsc_json_key_u64(json, "lo", bin->lo);
    rsc_json_key_u64(json, "hi", bin->hi);
    rsc_json_key_u64(json, "count", bin->count);
    rsc_json_key_u64(json, "low", profile->rd_low.count[at]);
    rsc_json_key_u64(json, "high", profile->rd_high.count[at]);
    rsc_json_object_end(json);
}

/* The ends add, wider than for independent errors: a bin holds few samples, and its errors are far from normal. */
int rsc_bars_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    if (!rsc_profile_has_bars(a) && !rsc_profile_has_bars(b)) return 0;
    if (rsc_profile_set_bars(merged)) return RSC_ENOMEM;
    rsc_histogram_merge(&merged->rd_low, rsc_profile_has_bars(a) ? &a->rd_low : &a->rd);
    rsc_histogram_merge(&merged->rd_low, rsc_profile_has_bars(b) ? &b->rd_low : &b->rd);
    rsc_histogram_merge(&merged->rd_high, rsc_profile_has_bars(a) ? &a->rd_high : &a->rd);
    rsc_histogram_merge(&merged->rd_high, rsc_profile_has_bars(b) ? &b->rd_high : &b->rd);
    return 0;
}
