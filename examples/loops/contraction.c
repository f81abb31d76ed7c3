/* A sum over the last index of a three-dimensional array with a matrix. */
#ifndef N
#define N 20
#endif
#ifndef P
#define P 24
#endif

static double t[N][N][P], m[P][P], out[N][N][P];

void kernel(void) {
#pragma omp parallel for schedule(dynamic, 2)
    for (int r = 0; r < N; r++)
        for (int q = 0; q < N; q++)
            for (int p = 0; p < P; p++) {
                out[r][q][p] = 0;
                for (int s = 0; s < P; s++) out[r][q][p] += t[r][q][s] * m[s][p];
            }
}
