/* subset_scale.h - the profile of sampled lines becomes one of the whole run: what line_subset.c leaves to subset_scale.c. */
#ifndef RSC_DISTANCE_SHARDS_SUBSET_SCALE_H
#define RSC_DISTANCE_SHARDS_SUBSET_SCALE_H

#include "distance/shards/line_subset.h"
#include "profile/profile_model.h"

struct rsc_subset_facts {
    double rate, confidence; /* confidence in percent */
    uint64_t seed, kept;
    const char *text;
    uint32_t bins_per_octave;
    int no_ri;
    const struct rsc_histogram *ri, *zero_ri; /* RSC_BINS_FINE; of the references kept */
    const struct rsc_subset_whole *whole;
    const struct rsc_profile *const *groups; /* [RSC_SUBSET_GROUPS] */
};

/* Changes a sealed profile, and seals it again. Returns 0 or RSC_ENOMEM: then only to be freed. */
int rsc_subset_scale(struct rsc_profile *profile, const struct rsc_subset_facts *facts);

#endif
