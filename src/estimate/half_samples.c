/* half_samples.c - see half_samples.h. */
#include "estimate/half_samples.h"

#include <assert.h>
#include <math.h>

void rsc_half_sample(struct rsc_rng *rng, double *times, size_t count) {
    uint32_t blocks = count < RSC_HALF_BLOCKS ? (uint32_t)count & ~1u : RSC_HALF_BLOCKS;
    double tilt[RSC_HALF_BLOCKS];
    for (uint32_t i = 0; i + 1 < blocks; i += 2) {
        tilt[i] = rsc_rng_u64(rng) >> 63 ? 1 + RSC_HALF_TILT : 1 - RSC_HALF_TILT;
        tilt[i + 1] = 2 - tilt[i];
    }
    for (size_t i = 0; i < count; i++) times[i] = blocks ? tilt[i * blocks / count] : 1;
}

double rsc_half_sample_variance(const double *replicates, uint32_t count) {
    double sum = 0, squares = 0;
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++) {
        if (isnan(replicates[i])) continue;
        sum += replicates[i];
        squares += replicates[i] * replicates[i];
        used++;
    }
    if (used < 2) return 0;
    return fmax(0, (squares - sum * sum / used) / (used - 1) / (RSC_HALF_TILT * RSC_HALF_TILT));
}

void rsc_wilson_bar(double p, double n, double z, double *low, double *high) {
    assert(p >= 0 && p <= 1 && n > 0);
    double over = z * z / n, middle = (p + over / 2) / (1 + over);
    double half = z * sqrt(p * (1 - p) / n + over / n / 4) / (1 + over);
    *low = fmin(p, fmax(0, middle - half));
    *high = fmax(p, fmin(1, middle + half));
}
