/*
 * statistics.h - distributions and survival curves.
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

/* Successes in n trials of probability p: P(X = k), P(X <= k). */
double rsc_binomial_pmf(uint64_t k, uint64_t n, double p);
double rsc_binomial_cdf(uint64_t k, uint64_t n, double p);

/* Failures before success number r (any real r > 0) in trials of probability p: P(X = k), P(X <= k). */
double rsc_negative_binomial_pmf(uint64_t k, double r, double p);
double rsc_negative_binomial_cdf(uint64_t k, double r, double p);

/* incomplete.c */

/* Regularised incomplete beta function I_x(a, b); a, b > 0, 0 <= x <= 1. */
double rsc_beta_regularised(double a, double b, double x);

/* The same where the caller knows 1 - x better than it can be had from x. */
double rsc_beta_regularised_xy(double a, double b, double x, double one_minus_x);

/* Regularised incomplete gamma functions P(a, x) and Q = 1 - P; a > 0, x >= 0. P(chi-square_k > x) is Q(k/2, x/2). */
double rsc_gamma_lower(double a, double x);
double rsc_gamma_upper(double a, double x);

/* x^a y^b Gamma(a+b+1) / (Gamma(a+1) Gamma(b+1)): a binomial probability for real counts; a, b > 0, y = 1 - x. */
double rsc_binomial_term(double a, double b, double x, double y);

/* x^a y^b / B(a, b), y = 1 - x: x y times the density of the beta distribution. */
double rsc_beta_term(double a, double b, double x, double y);

#endif
