/* rd_bars.c - error bars of the bins of a sampled profile's RD: kept beside the counts, in JSON within each bin. */
#include <stdio.h>
#include <string.h>

#include "profile/load_fields.h"
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
    if (bin->hi == UINT64_MAX) { /* what a cap leaves is no bin of the histogram */
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

static int read_bars(struct rsc_loader *loader, const json_t *item, struct rsc_profile *profile) {
    uint64_t lo, low, high;
    int rc;
    if (json_is_null(json_object_get(item, "hi"))) return 0;
    if ((rc = rsc_load_u64(loader, item, "lo", RSC_LOAD_COUNT_MAX, &lo)) ||
        (rc = rsc_load_u64(loader, item, "low", RSC_LOAD_COUNT_MAX, &low)) ||
        (rc = rsc_load_u64(loader, item, "high", RSC_LOAD_COUNT_MAX, &high)))
        return rc;
    uint32_t bin = rsc_bin_of_fine(lo);
    if (low > profile->rd.count[bin] || high < profile->rd.count[bin])
        return rsc_load_bad(loader, "count must lie between low and high");
    profile->rd_low.count[bin] = low;
    profile->rd_high.count[bin] = high;
    return 0;
}

int rsc_load_bars(struct rsc_loader *loader, const json_t *root, struct rsc_profile *profile) {
    const json_t *list = json_object_get(root, "rd");
    size_t prefix = strlen(loader->where);
    int rc = 0;
    if (!json_object_get(json_array_get(list, 0), "low")) return 0;
    if (rsc_profile_set_bars(profile)) return rsc_load_no_memory(loader);
    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        snprintf(loader->where + prefix, sizeof loader->where - prefix, "rd[%zu].", i);
        rc = read_bars(loader, json_array_get(list, i), profile);
    }
    loader->where[prefix] = 0;
    return rc;
}

/* Ends add, which is more than independent errors need: a bin holds few samples, and its errors are far from normal. */
int rsc_bars_join(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    if (!rsc_profile_has_bars(a) && !rsc_profile_has_bars(b)) return 0;
    if (rsc_profile_set_bars(merged)) return RSC_ENOMEM;
    rsc_histogram_merge(&merged->rd_low, rsc_profile_has_bars(a) ? &a->rd_low : &a->rd);
    rsc_histogram_merge(&merged->rd_low, rsc_profile_has_bars(b) ? &b->rd_low : &b->rd);
    rsc_histogram_merge(&merged->rd_high, rsc_profile_has_bars(a) ? &a->rd_high : &a->rd);
    rsc_histogram_merge(&merged->rd_high, rsc_profile_has_bars(b) ? &b->rd_high : &b->rd);
    return 0;
}
