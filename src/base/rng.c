/*
 * rng.c - seeding, and the distributions that need more than arithmetic on
 * integers. Logarithms are portable_math.h's.
 *
 * Compile with -ffp-contract=off, as portable_math.c: fused operations would
 * change values on machines that have them.
 */
#include "base/rng.h"

#include "base/portable_math.h"

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

/* splitmix64 (Steele, Lea and Flood, 2014): a counter, mixed. */
static uint64_t splitmix(uint64_t *counter) {
    uint64_t z = *counter += 0x9e3779b97f4a7c15ull;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ z >> 27) * 0x94d049bb133111ebull;
    return z ^ z >> 31;
}

void rsc_rng_seed(struct rsc_rng *rng, uint64_t seed, uint64_t stream) {
    uint64_t counter = seed;
    if (stream) counter = splitmix(&counter) + stream * 0xd1342543de82ef95ull;
    for (int i = 0; i < 4; i++) rng->state[i] = splitmix(&counter);
}

uint64_t rsc_rng_geometric(struct rsc_rng *rng, double mean) {
    return mean > 1 ? rsc_rng_geometric_by(rng, rsc_rng_geometric_rate(mean)) : 1;
}

double rsc_rng_geometric_rate(double mean) { return rsc_portable_log1p(-1 / (mean > 0x1p53 ? 0x1p53 : mean)); }

uint64_t rsc_rng_geometric_by(struct rsc_rng *rng, double rate) {
    double u = 1 - rsc_rng_double(rng); /* (0, 1] */
    return 1 + (uint64_t)(rsc_portable_log(u) / rate);
}

/*
 * Zipf by rejection-inversion (Hoermann and Derflinger, 1996). Rank k gets the
 * stretch [k - 1/2, k + 1/2] under the curve x^-skew, whose area H has an
 * inverse; since the curve is convex, that stretch is at least as large as
 * k^-skew, and the excess is rejected. With t = 1 - skew,
 *     H(x) = (x^t - 1) / t        H^-1(a) = (1 + t a)^(1/t)
 * and log x, e^a in the limit t = 0. Both are evaluated so that they are smooth
 * at the limit (see rsc_portable_log1p). Rank 1 is drawn from exactly its own
 * area, so it is never rejected.
 */
static double area_to(double x, double skew) {
    double log_x = rsc_portable_log(x), exponent = (1 - skew) * log_x, power = rsc_portable_exp(exponent);
    if (exponent > 1 || exponent < -1) return (power - 1) / (1 - skew);
    return power == 1 ? log_x : (power - 1) * log_x / rsc_portable_log(power);
}

static double point_at(double area, double skew) {
    double w = 1 + (1 - skew) * area;
    return rsc_portable_exp(w == 1 ? area : rsc_portable_log(w) * area / (w - 1));
}

static double height_at(double x, double skew) { return rsc_portable_exp(-skew * rsc_portable_log(x)); }

void rsc_zipf_init(struct rsc_zipf *zipf, uint64_t n, double skew) {
    zipf->n = n;
    zipf->skew = skew;
    zipf->area_first = area_to(1.5, skew) - 1;
    zipf->area_last = area_to((double)n + 0.5, skew);
    zipf->sure = 2 - point_at(area_to(2.5, skew) - height_at(2, skew), skew);
}

uint64_t rsc_zipf_next(const struct rsc_zipf *zipf, struct rsc_rng *rng) {
    double skew = zipf->skew;
    if (skew == 0) return 1 + rsc_rng_below(rng, zipf->n);
    for (;;) {
        double area = zipf->area_last + rsc_rng_double(rng) * (zipf->area_first - zipf->area_last);
        double point = point_at(area, skew);
        uint64_t rank = zipf->n; /* rounding may push the point past the end, or make it infinite or NaN */
        if (point < (double)zipf->n) rank = point < 1 ? 1 : (uint64_t)(point + 0.5);
        if ((double)rank - point <= zipf->sure) return rank;
        if (area >= area_to((double)rank + 0.5, skew) - height_at((double)rank, skew)) return rank;
    }
}
