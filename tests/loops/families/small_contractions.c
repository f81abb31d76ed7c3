/* Kernels: each slab of a cube times a small matrix, through a row of its own. */
#ifndef R
#define R 64
#endif
#ifndef Q
#define Q 10
#endif
#ifndef P
#define P 10
#endif
double cube[R][Q][P], c4[P][P], row[R][P];

void kernel(void) {
#pragma omp parallel for
    for (int r = 0; r < R; r++)
        for (int q = 0; q < Q; q++) {
            for (int p = 0; p < P; p++) {
                row[r][p] = 0;
                for (int s = 0; s < P; s++) row[r][p] += cube[r][q][s] * c4[s][p];
            }
            for (int p = 0; p < P; p++) cube[r][q][p] = row[r][p];
        }
}
