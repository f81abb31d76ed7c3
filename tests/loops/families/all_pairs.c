/* Medley: shortest paths through the first K nodes. */
#ifndef N
#define N 64
#endif
#ifndef K
#define K 12
#endif
int path[N][N];

void kernel(void) {
    for (int k = 0; k < K; k++) {
#pragma omp parallel for
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                int through = path[i][k] + path[k][j];
                int now = path[i][j];
                path[i][j] = now < through ? now : through;
            }
    }
}
