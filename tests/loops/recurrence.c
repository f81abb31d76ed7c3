/* A recurrence over pairs whose maxima depend on data, with branches of different lengths: its counts are periodic. */
#ifndef N
#define N 60
#endif
#define LARGER(a, b) ((a) >= (b) ? (a) : (b))

int best[N][N];

void fold(void) {
    for (int i = N - 1; i >= 0; i--)
        for (int j = i + 1; j < N; j++) {
            best[i][j] = LARGER(best[i][j], best[i + 1 < N ? i + 1 : i][j]);
            for (int k = i + 1; k < j; k++) best[i][j] = LARGER(best[i][j], best[i][k] + best[k + 1][j]);
        }
}
