/* Medley: a table over intervals, filled by the length of intervals: anti-diagonals of falling length. */
#ifndef N
#define N 66
#endif
int best[N][N];
char base[N];

void kernel(void) {
    for (int length = 1; length < 3; length++) {
#pragma omp parallel for schedule(static, 1)
        for (int i = 0; i < N - length; i++) {
            int score = base[i] + base[i + length] == 3;
            best[i][i + length] = best[i + 1][i + length - 1] + score;
            for (int k = i + 1; k < i + length; k++) best[i][i + length] += best[i][k] + best[k + 1][i + length];
        }
    }
#pragma omp parallel for schedule(dynamic, 1)
    for (int i = 0; i < N; i++)
        for (int k = i; k < N; k++) best[i][k] += best[k][i];
}
