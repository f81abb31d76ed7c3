/*
 * portable_math.c - log and exp from IEEE 754's exactly rounded operations.
 *
 * Each reduces its argument so that a short Taylor series is accurate to below
 * half an ulp; ln 2 is split in two so that multiples of its high part are exact.
 *
 * Compile with -ffp-contract=off: a fused multiply-add rounds once instead of
 * twice, and only some machines have it.
 */
#include "base/portable_math.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#endif

#define LN2_HIGH 0x1.62e42fefap-1           /* 37 bits: k * LN2_HIGH is exact for |k| < 2^16 */
#define LN2_LOW 0x1.cf79abc9e3b3ap-40       /* ln 2 - LN2_HIGH */
#define LN2_INVERSE 0x1.71547652b82fep+0    /* 1 / ln 2 */
#define SQRT_HALF_BITS 0x3fe6a09e667f3bcdull /* of the double nearest to sqrt(1/2) */

static uint64_t bits_of(double x) {
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static double double_of(uint64_t bits) {
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/*
 * x = 2^k * m with m in [sqrt(1/2), sqrt(2)), and log m = 2 atanh(s) with
 * s = (m - 1) / (m + 1), |s| < 0.172: the series in s^2 ends at s^21, the next
 * term being below 2^-61 of the result.
 */
double rsc_portable_log(double x) {
    int64_t k = 0;
    if (!(x > 0)) return x == 0 ? -INFINITY : NAN;
    if (x == INFINITY) return x;
    if (x < 0x1p-1022) {
        x *= 0x1p54;
        k = -54;
    }
    uint64_t bits = bits_of(x);
    int64_t shift = (int64_t)(bits - SQRT_HALF_BITS) >> 52;
    k += shift;
    double m = double_of(bits - ((uint64_t)shift << 52));

    double f = m - 1, s = f / (2 + f), z = s * s, z2 = z * z, z4 = z2 * z2;
    double low = (2.0 / 3 + z * (2.0 / 5)) + z2 * (2.0 / 7 + z * (2.0 / 9));
    double high = (2.0 / 11 + z * (2.0 / 13)) + z2 * (2.0 / 15 + z * (2.0 / 17));
    double top = 2.0 / 19 + z * (2.0 / 21);
    double tail = s * (z * (low + z4 * (high + z4 * top)));
    return (double)k * LN2_HIGH + (2 * s + (tail + (double)k * LN2_LOW));
}

/* 2^k for k in the range of normal numbers. */
static double power_of_two(int64_t k) { return double_of((uint64_t)(k + 1023) << 52); }

/*
 * x = k ln 2 + r with |r| <= ln(2)/2, and e^r by its series to r^13, the next
 * term being below 2^-57. 2^k is multiplied on in two halves, since k reaches
 * past the exponents of normal numbers at both ends.
 */
double rsc_portable_exp(double x) {
    if (x != x) return x;
    if (x > 709.79) return INFINITY;
    if (x < -745.14) return 0;
    double scaled = x * LN2_INVERSE;
    int64_t k = (int64_t)(scaled + (scaled < 0 ? -0.5 : 0.5));
    double r = (x - (double)k * LN2_HIGH) - (double)k * LN2_LOW;

    double r2 = r * r, r4 = r2 * r2, r8 = r4 * r4;
    double low = (1.0 / 2 + r * (1.0 / 6)) + r2 * (1.0 / 24 + r * (1.0 / 120));
    double high = (1.0 / 720 + r * (1.0 / 5040)) + r2 * (1.0 / 40320 + r * (1.0 / 362880));
    double top = (1.0 / 3628800 + r * (1.0 / 39916800)) + r2 * (1.0 / 479001600 + r * (1.0 / 6227020800.0));
    double value = 1 + (r + r2 * ((low + r4 * high) + r8 * top));
    return value * power_of_two(k / 2) * power_of_two(k - k / 2);
}

/* The quotient cancels the rounding error of 1 + x (W. Kahan's method). */
double rsc_portable_log1p(double x) {
    double w = 1 + x;
    return w == 1 ? x : rsc_portable_log(w) * x / (w - 1);
}
