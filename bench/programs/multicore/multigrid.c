/* multigrid.c - V-cycles for Poisson's equation on a square, OpenMP: grids of all sizes, each swept a few times. */
#include "program.h"

#define LEVELS 8
static long side[LEVELS];
static double *u[LEVELS], *f[LEVELS], *rest[LEVELS];

static void smooth(int level, int sweeps) {
    const long n = side[level];
    double *x = u[level], *b = f[level];
    for (int sweep = 0; sweep < 2 * sweeps; sweep++) /* red, then black */
#pragma omp parallel for num_threads(threads)
        for (long i = 1; i < n - 1; i++)
            for (long j = 1 + (i + sweep) % 2; j < n - 1; j += 2)
                x[i * n + j] = 0.25 * (x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] + x[i * n + j + 1] +
                                       b[i * n + j]);
}

static double residual(int level) {
    const long n = side[level];
    const double *x = u[level], *b = f[level];
    double sum = 0, *r = rest[level];
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            double d = b[i * n + j] - 4 * x[i * n + j] + x[(i - 1) * n + j] + x[(i + 1) * n + j] + x[i * n + j - 1] +
                       x[i * n + j + 1];
            r[i * n + j] = d;
            sum += d * d;
        }
    return sqrt(sum);
}

static void down(int level) {
    const long n = side[level], m = side[level + 1];
    residual(level);
    memset(u[level + 1], 0, (size_t)(m * m) * sizeof(double));
#pragma omp parallel for num_threads(threads)
    for (long i = 1; i < m - 1; i++)
        for (long j = 1; j < m - 1; j++) {
            const double *r = rest[level] + 2 * i * n + 2 * j;
            f[level + 1][i * m + j] =
                r[0] + 0.5 * (r[1] + r[-1] + r[n] + r[-n]) + 0.25 * (r[n + 1] + r[n - 1] + r[-n + 1] + r[-n - 1]);
        }
}

static void up(int level) {
    const long n = side[level], m = side[level + 1];
    const double *coarse = u[level + 1];
#pragma omp parallel for num_threads(threads)
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++) {
            const double *c = coarse + i / 2 * m + j / 2;
            double right = j & 1 ? c[1] : c[0], below = i & 1 ? c[m] : c[0], both = c[(i & 1 ? m : 0) + (j & 1)];
            u[level][i * n + j] += 0.25 * (c[0] + right + below + both);
        }
}

static void cycle(int level) {
    smooth(level, level == LEVELS - 1 ? 20 : 2);
    if (level == LEVELS - 1) return;
    down(level);
    cycle(level + 1);
    up(level);
    smooth(level, 2);
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    for (int level = 0; level < LEVELS; level++) {
        side[level] = (512 >> level) + 1;
        size_t bytes = (size_t)(side[level] * side[level]) * sizeof(double);
        u[level] = memory(bytes);
        f[level] = memory(bytes);
        rest[level] = memory(bytes);
    }
    const long n = side[0];
    for (long i = 1; i < n - 1; i++)
        for (long j = 1; j < n - 1; j++)
            f[0][i * n + j] = sin(3.0 * (double)i / (double)n) * cos(5.0 * (double)j / (double)n) / (double)(n * n);
    double before = residual(0);
    for (int i = 0; i < (int)(6 * size) + 1; i++) cycle(0);
    double after = residual(0);
    return result("multigrid", after < 0.1 * before, after / before);
}
