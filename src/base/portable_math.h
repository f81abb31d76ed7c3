/*
 * portable_math.h - log and exp whose last bit is the same on every machine.
 *
 * C libraries differ in the last bit of log() and exp(), which is enough for a
 * generated trace to differ. These use only + - * / and bit moves, all of which
 * IEEE 754 fixes; they are within 2 ulp of the true value.
 */
#ifndef RSC_BASE_PORTABLE_MATH_H
#define RSC_BASE_PORTABLE_MATH_H

/* Natural logarithm: -infinity at 0, NaN below. Subnormals are handled. */
double rsc_portable_log(double x);

/* e to the x: infinity past 709.78..., 0 below -745.13... */
double rsc_portable_exp(double x);

/* log(1 + x) for x > -1, accurate near 0 too. */
double rsc_portable_log1p(double x);

#endif
