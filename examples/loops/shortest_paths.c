/* All shortest paths: one round of the matrix for every vertex in between. */
#ifndef N
#define N 44
#endif

static int path[N][N];

void kernel(void) {
    for (int k = 0; k < N; k++)
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int way = path[i][k] + path[k][j], now = path[i][j];
                path[i][j] = way < now ? way : now;
            }
}
