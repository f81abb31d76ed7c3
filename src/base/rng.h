/*
 * rng.h - random numbers that are the same from the same seed on every machine.
 *
 *     struct rsc_rng rng;
 *     rsc_rng_seed(&rng, seed, 0);
 *     uint64_t line = rsc_rng_below(&rng, lines);
 *
 * The generator is xoshiro256++ (Blackman and Vigna, 2019), seeded through
 * splitmix64. One seed gives any number of independent streams. `gen` promises
 * the values of every function here; tests/unit/test_rng.c checks them.
 */
#ifndef RSC_BASE_RNG_H
#define RSC_BASE_RNG_H

#include <stdint.h>

struct rsc_rng {
    uint64_t state[4]; /* never all zero */
};

void rsc_rng_seed(struct rsc_rng *rng, uint64_t seed, uint64_t stream);

static inline uint64_t rsc_rng_u64(struct rsc_rng *rng) {
    uint64_t *s = rng->state, sum = s[0] + s[3], result = (sum << 23 | sum >> 41) + s[0], shifted = s[1] << 17;
    s[2] ^= s[0];
    s[3] ^= s[1];
    s[1] ^= s[2];
    s[0] ^= s[3];
    s[2] ^= shifted;
    s[3] = s[3] << 45 | s[3] >> 19;
    return result;
}

/*
 * Uniform over 0 .. n-1, without bias; n >= 1. The high half of n * random is
 * the value; random numbers whose low half falls in the uneven rest are drawn
 * again (Lemire, 2019).
 */
static inline uint64_t rsc_rng_below(struct rsc_rng *rng, uint64_t n) {
    unsigned __int128 product = (unsigned __int128)rsc_rng_u64(rng) * n;
    if ((uint64_t)product < n) {
        uint64_t rest = -n % n; /* 2^64 mod n */
        while ((uint64_t)product < rest) product = (unsigned __int128)rsc_rng_u64(rng) * n;
    }
    return (uint64_t)(product >> 64);
}

/* Uniform over [0, 1): a multiple of 2^-53. */
static inline double rsc_rng_double(struct rsc_rng *rng) { return (double)(rsc_rng_u64(rng) >> 11) * 0x1p-53; }

/* Number of trials including the first success: 1 or more, `mean` on average; mean is clipped to 1 .. 2^53. */
uint64_t rsc_rng_geometric(struct rsc_rng *rng, double mean);
/* The same for many of one mean, which is more than 1: what depends on the mean is computed once. */
double rsc_rng_geometric_rate(double mean);
uint64_t rsc_rng_geometric_by(struct rsc_rng *rng, double rate);

/* Normal with mean 0 and variance 1. */
double rsc_rng_normal(struct rsc_rng *rng);

/* Zipf over ranks 1 .. n: P(k) in proportion to k^-skew. Everything here is set once, by rsc_zipf_init(). */
struct rsc_zipf {
    uint64_t n;
    double skew;
    double area_first, area_last; /* ends of the range in which areas are drawn */
    double sure;                  /* a point at most this far below its rank is accepted without a test */
};

/* n from 1 to 2^53, skew from 0 (uniform) to 100. */
void rsc_zipf_init(struct rsc_zipf *zipf, uint64_t n, double skew);
uint64_t rsc_zipf_next(const struct rsc_zipf *zipf, struct rsc_rng *rng);

#endif
