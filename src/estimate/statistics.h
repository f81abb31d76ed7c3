/*
 * statistics.h - distributions.
 *
 * Distribution functions are good to about 1e-12 relative in both tails for
 * parameters up to a million and 1e-10 well past that; arguments outside a
 * distribution's domain (NaN, negative degrees of freedom, p above 1) give NaN.
 * None of them allocates; all are safe from any thread.
 */
#ifndef RSC_ESTIMATE_STATISTICS_H
#define RSC_ESTIMATE_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

#include <reusescope/error.h>

/* distributions.c */

/* Standard normal: P(X <= x), and the x with P(X <= x) = p. */
double rsc_normal_cdf(double x);
double rsc_normal_quantile(double p);

/* Student's t with df > 0 degrees of freedom (infinity: normal). */
double rsc_student_cdf(double t, double df);
double rsc_student_quantile(double p, double df);

/* Successes in n trials of probability p: P(X = k). */
double rsc_binomial_pmf(uint64_t k, uint64_t n, double p);

/* incomplete.c */

/* Regularised incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1. The caller may know 1 - x better than x has it. */
double rsc_beta_regularised_xy(double a, double b, double x, double one_minus_x);

/* x^a y^b Gamma(a+b+1) / (Gamma(a+1) Gamma(b+1)): a binomial probability for real counts; a, b > 0, y = 1 - x. */
double rsc_binomial_term(double a, double b, double x, double y);

/* x^a y^b / B(a, b), y = 1 - x: x y times the density of the beta distribution. */
double rsc_beta_term(double a, double b, double x, double y);

#endif
