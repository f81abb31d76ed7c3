/* Stencils: three points in one dimension, as a polyhedral compiler writes it: tiles of 4 points, minima and maxima as
 * statement expressions. */
#ifndef N
#define N 256
#endif
#ifndef STEPS
#define STEPS 8
#endif
#define min(x, y)                \
    ({                           \
        __typeof__(x) _x = (x);  \
        __typeof__(y) _y = (y);  \
        _x < _y ? _x : _y;       \
    })
#define max(x, y)                \
    ({                           \
        __typeof__(x) _x = (x);  \
        __typeof__(y) _y = (y);  \
        _x > _y ? _x : _y;       \
    })

double a[N], b[N];

void kernel(void) {
    for (int c0 = 0; c0 < STEPS; c0 += 1) {
#pragma omp parallel for
        for (int c1 = 0; c1 < N; c1 += 4)
            for (int c2 = max(0, 1 - c1); c2 <= min(3, N - c1 - 2); c2++)
                b[c1 + c2] = 0.33 * (a[c1 + c2 - 1] + a[c1 + c2] + a[c1 + c2 + 1]);
#pragma omp parallel for
        for (int c1 = 0; c1 < N; c1 += 4)
            for (int c2 = max(0, 1 - c1); c2 <= min(3, N - c1 - 2); c2++)
                a[c1 + c2] = 0.33 * (b[c1 + c2 - 1] + b[c1 + c2] + b[c1 + c2 + 1]);
    }
}
