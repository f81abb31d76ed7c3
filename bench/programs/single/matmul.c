/* matmul.c - a product of matrices, first in plain order, then in tiles. */
#include "program.h"

#define N 256
#define TILE 32

static double a[N][N], b[N][N], c[N][N];

static void plain(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            double sum = c[i][j];
            for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
            c[i][j] = sum;
        }
}

static void tiled(void) {
    for (int ii = 0; ii < N; ii += TILE)
        for (int kk = 0; kk < N; kk += TILE)
            for (int jj = 0; jj < N; jj += TILE)
                for (int i = ii; i < ii + TILE; i++)
                    for (int k = kk; k < kk + TILE; k++)
                        for (int j = jj; j < jj + TILE; j++) c[i][j] += a[i][k] * b[k][j];
}

int main(int argc, char **argv) {
    long rounds = sized(argc, argv, 20);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = i - j;
    for (long round = 0; round < rounds; round++) plain(), tiled();
    printf("%g\n", c[7][9]);
    return 0;
}
