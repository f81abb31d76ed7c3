/* BLAS: c = beta c + alpha a b, rows shared. */
#ifndef NI
#define NI 64
#endif
#ifndef NJ
#define NJ 20
#endif
#ifndef NK
#define NK 18
#endif
double a[NI][NK], b[NK][NJ], c[NI][NJ];

void kernel(void) {
    const double alpha = 1.5, beta = 1.2;
#pragma omp parallel for
    for (int i = 0; i < NI; i++) {
        for (int j = 0; j < NJ; j++) c[i][j] *= beta;
        for (int k = 0; k < NK; k++)
            for (int j = 0; j < NJ; j++) c[i][j] += alpha * a[i][k] * b[k][j];
    }
}
