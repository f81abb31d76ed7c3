/* cg.c - conjugate gradients on a sparse symmetric matrix with random columns, OpenMP: indirect reads of one vector. */
#include "program.h"

#define ROW 13 /* entries of a row, the diagonal first */

static long n;
static int32_t *column;
static double *value;

static void multiply(const double *x, double *y) {
#pragma omp parallel for num_threads(threads)
    for (long i = 0; i < n; i++) {
        double sum = 0;
        for (long k = i * ROW; k < (i + 1) * ROW; k++) sum += value[k] * x[column[k]];
        y[i] = sum;
    }
}

static double dot(const double *x, const double *y) {
    double sum = 0;
#pragma omp parallel for num_threads(threads) reduction(+ : sum)
    for (long i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    n = 30000;
    column = memory((size_t)n * ROW * sizeof *column);
    value = memory((size_t)n * ROW * sizeof *value);
    double *x = memory((size_t)n * sizeof *x), *r = memory((size_t)n * sizeof *r), *p = memory((size_t)n * sizeof *p),
           *q = memory((size_t)n * sizeof *q);
    uint64_t seed = 1;
    /* row i and i ^ k share an entry: symmetric whatever the random masks are */
    uint64_t masks[ROW];
    for (int k = 1; k < ROW; k++) masks[k] = next_random(&seed) % (uint64_t)n;
    for (long i = 0; i < n; i++) {
        column[i * ROW] = (int32_t)i;
        value[i * ROW] = ROW + 1;
        for (int k = 1; k < ROW; k++) {
            uint64_t other = (uint64_t)i ^ masks[k];
            int inside = other < (uint64_t)n;
            column[i * ROW + k] = inside ? (int32_t)other : (int32_t)i;
            value[i * ROW + k] = inside ? -1 : 0;
        }
        r[i] = p[i] = next_fraction(&seed);
    }
    double rho = dot(r, r), first = rho;
    const int steps = (int)(25 * size) + 1;
    int since = 0; /* steps of this right-hand side */
    for (int step = 0; step < steps; step++) {
        since++;
        multiply(p, q);
        double alpha = rho / dot(p, q);
#pragma omp parallel for num_threads(threads)
        for (long i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        double next = dot(r, r), beta = next / rho;
        rho = next;
#pragma omp parallel for num_threads(threads)
        for (long i = 0; i < n; i++) p[i] = r[i] + beta * p[i];
        if (rho < 1e-250 && step + 1 < steps) { /* solved: another one */
            for (long i = 0; i < n; i++) {
                x[i] = 0;
                r[i] = p[i] = next_fraction(&seed);
            }
            rho = first = dot(r, r);
            since = 0;
        }
    }
    return result("cg", rho < (since < 10 ? 2 : 0.01) * first, rho);
}
