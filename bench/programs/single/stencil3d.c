/* stencil3d.c - seven points in three dimensions, two arrays that change places. */
#include "program.h"

#define N 96

int main(int argc, char **argv) {
    long rounds = sized(argc, argv, 200);
    float(*now)[N][N] = memory(sizeof(float[N][N][N])), (*next)[N][N] = memory(sizeof(float[N][N][N])), (*other)[N][N];
    for (int i = 0; i < N; i++) now[i][i][N / 2] = (float)i;
    for (long round = 0; round < rounds; round++, other = now, now = next, next = other)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                for (int k = 1; k < N - 1; k++)
                    next[i][j][k] =
                        0.4f * now[i][j][k] + 0.1f * (now[i - 1][j][k] + now[i + 1][j][k] + now[i][j - 1][k] +
                                                      now[i][j + 1][k] + now[i][j][k - 1] + now[i][j][k + 1]);
    printf("%g\n", (double)now[N / 2][N / 2][N / 2]);
    return 0;
}
