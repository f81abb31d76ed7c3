/* BLAS: a product as a polyhedral compiler tiles it, minima as statement expressions. */
#ifndef N
#define N 64
#endif
#ifndef K
#define K 16
#endif
#define min(x, y)                \
    ({                           \
        __typeof__(x) _x = (x);  \
        __typeof__(y) _y = (y);  \
        _x < _y ? _x : _y;       \
    })

double a[N][K], b[K][N], c[N][N];

void kernel(void) {
#pragma omp parallel for
    for (int c0 = 0; c0 < N; c0 += 1)
        for (int c1 = 0; c1 < N; c1 += 12)
            for (int c2 = 0; c2 < K; c2 += 5)
                for (int c3 = 0; c3 <= min(4, K - c2 - 1); c3++)
                    for (int c4 = 0; c4 <= min(11, N - c1 - 1); c4++)
                        c[c0][c1 + c4] += a[c0][c2 + c3] * b[c2 + c3][c1 + c4];
}
