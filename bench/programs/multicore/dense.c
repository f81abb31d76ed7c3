/* dense.c - LU factorisation of a dense matrix in tiles, pthreads with a barrier a step, checked with a solution. */
#include "program.h"

#define TILE 32
static long n, tiles;
static double *a, *kept;
static pthread_barrier_t barrier;

#define AT(i, j) a[(i) * n + (j)]

static void factor_column(long k) { /* the tiles of column k from k on */
    for (long p = k * TILE; p < (k + 1) * TILE; p++)
        for (long i = p + 1; i < n; i++) {
            double by = AT(i, p) /= AT(p, p);
            for (long j = p + 1; j < (k + 1) * TILE; j++) AT(i, j) -= by * AT(p, j);
        }
}

static void solve_row(long k, long t) { /* tile (k, t) */
    for (long p = k * TILE; p < (k + 1) * TILE; p++)
        for (long i = p + 1; i < (k + 1) * TILE; i++)
            for (long j = t * TILE; j < (t + 1) * TILE; j++) AT(i, j) -= AT(i, p) * AT(p, j);
}

static void update(long k, long s, long t) { /* tile (s, t) */
    for (long i = s * TILE; i < (s + 1) * TILE; i++)
        for (long p = k * TILE; p < (k + 1) * TILE; p++) {
            double by = AT(i, p);
            for (long j = t * TILE; j < (t + 1) * TILE; j++) AT(i, j) -= by * AT(p, j);
        }
}

static void *work(void *argument) {
    long me = (intptr_t)argument;
    for (long k = 0; k < tiles; k++) {
        if (me == k % threads) factor_column(k);
        pthread_barrier_wait(&barrier);
        for (long t = k + 1; t < tiles; t++)
            if (t % threads == me) solve_row(k, t);
        pthread_barrier_wait(&barrier);
        for (long s = k + 1; s < tiles; s++)
            for (long t = k + 1; t < tiles; t++)
                if ((s + t) % threads == me) update(k, s, t);
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    tiles = (long)(13 * cbrt(size)) + 1;
    n = tiles * TILE;
    a = memory((size_t)(n * n) * sizeof *a);
    kept = memory((size_t)(n * n) * sizeof *kept);
    uint64_t seed = 1;
    for (long i = 0; i < n * n; i++) a[i] = kept[i] = next_fraction(&seed) + (i / n == i % n ? (double)n : 0);
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    double *x = memory((size_t)n * sizeof *x), worst = 0; /* of a x = 1 */
    for (long i = 0; i < n; i++) {
        x[i] = 1;
        for (long j = 0; j < i; j++) x[i] -= AT(i, j) * x[j];
    }
    for (long i = n; i-- > 0;) {
        for (long j = i + 1; j < n; j++) x[i] -= AT(i, j) * x[j];
        x[i] /= AT(i, i);
    }
    for (long i = 0; i < n; i++) {
        double sum = -1;
        for (long j = 0; j < n; j++) sum += kept[i * n + j] * x[j];
        worst = fmax(worst, fabs(sum));
    }
    return result("dense", worst < 1e-9, worst);
}
