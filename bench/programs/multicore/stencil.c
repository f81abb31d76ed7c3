/* stencil.c - Jacobi's method on a square with fixed edges, OpenMP: every sweep reads one grid and writes the other. */
#include "program.h"

int main(int argc, char **argv) {
    arguments(argc, argv);
    const long n = 768, sweeps = (long)(40 * size) + 1;
    double *from = memory((size_t)(n * n) * sizeof *from), *to = memory((size_t)(n * n) * sizeof *to);
    for (long i = 0; i < n; i++) from[i * n] = to[i * n] = from[i] = to[i] = 1;
    double before = 0, after = 0;
    for (long sweep = 0; sweep < sweeps; sweep++) {
#pragma omp parallel for num_threads(threads)
        for (long i = 1; i < n - 1; i++)
            for (long j = 1; j < n - 1; j++)
                to[i * n + j] =
                    0.25 * (from[(i - 1) * n + j] + from[(i + 1) * n + j] + from[i * n + j - 1] + from[i * n + j + 1]);
        double *swap = from;
        from = to;
        to = swap;
        before = after;
        after = from[n + 1];
    }
    return result("stencil", after >= before && after <= 1, after);
}
