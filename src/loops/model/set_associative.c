/* set_associative.c - see set_associative.h. */
#include "loops/model/set_associative.h"

#include <math.h>

#include "estimate/statistics.h"

/* P(Binomial(d, 1/sets) >= ways). */
static double chance_of_miss(double distance, uint64_t sets, uint32_t ways) {
    if (distance < ways) return 0;
    if (sets == 1) return 1;
    double p = 1 / (double)sets;
    return rsc_beta_regularised_xy(ways, distance - ways + 1, p, 1 - p);
}

struct rsc_mrc_point rsc_set_associative_at(const struct rsc_mrc_point *mrc, size_t count, uint64_t sets,
                                            uint32_t ways) {
    struct rsc_mrc_point sum = {.lines = sets * ways};
    if (!count) return sum;
    /* A miss ratio is the sum over sizes of the chance that a distance of that size adds, times the ratio there. */
    double before = 0;
    for (size_t i = 0; i < count; i++) {
        double to = i + 1 < count ? (double)mrc[i + 1].lines : INFINITY;
        /* Distances from this size up to below the next: their middle, in the logarithm. */
        double chance = i + 1 < count ? chance_of_miss(sqrt((double)mrc[i].lines * (to - 1)), sets, ways) : 1;
        if (chance < before) chance = before;
        sum.miss_ratio += (chance - before) * mrc[i].miss_ratio;
        sum.low += (chance - before) * mrc[i].low;
        sum.high += (chance - before) * mrc[i].high;
        before = chance;
    }
    return sum;
}
