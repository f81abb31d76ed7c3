/* Matrix product in tiles, as a polyhedral compiler writes it. */
#ifndef N
#define N 64
#endif

#define TILE 16
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define min(x, y) ((x) < (y) ? (x) : (y))

static double a[N][N], b[N][N], c[N][N];

void kernel(void) {
#pragma omp parallel for
    for (int ti = 0; ti <= floord(N - 1, TILE); ti++)
        for (int tk = 0; tk <= floord(N - 1, TILE); tk++)
            for (int tj = 0; tj <= floord(N - 1, TILE); tj++)
                for (int i = TILE * ti; i <= min(N - 1, TILE * ti + TILE - 1); i++)
                    for (int k = TILE * tk; k <= min(N - 1, TILE * tk + TILE - 1); k++)
                        for (int j = TILE * tj; j <= min(N - 1, TILE * tj + TILE - 1); j++)
                            c[i][j] += a[i][k] * b[k][j];
}
