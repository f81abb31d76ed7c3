/* Stencils: electric and magnetic fields in turn, on staggered grids of different shapes. */
#ifndef NX
#define NX 66
#endif
#ifndef NY
#define NY 40
#endif
#ifndef STEPS
#define STEPS 3
#endif
double ex[NX][NY + 1], ey[NX + 1][NY], hz[NX][NY], source[STEPS];

void kernel(void) {
#pragma omp parallel
    for (int t = 0; t < STEPS; t++) {
#pragma omp for
        for (int j = 0; j < NY; j++) ey[0][j] = source[t];
#pragma omp for
        for (int i = 1; i < NX; i++)
            for (int j = 0; j < NY; j++) ey[i][j] -= 0.5 * (hz[i][j] - hz[i - 1][j]);
#pragma omp for
        for (int i = 0; i < NX; i++)
            for (int j = 1; j < NY; j++) ex[i][j] -= 0.5 * (hz[i][j] - hz[i][j - 1]);
#pragma omp for
        for (int i = 0; i < NX - 1; i++)
            for (int j = 0; j < NY - 1; j++) hz[i][j] -= 0.7 * (ex[i][j + 1] - ex[i][j] + ey[i + 1][j] - ey[i][j]);
    }
}
