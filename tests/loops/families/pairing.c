/* Medley: the best pairing of a sequence, intervals from the end; no loop is parallel. */
#ifndef N
#define N 40
#endif
int best[N][N];
char base[N];

void kernel(void) {
    for (int i = N - 1; i >= 0; i--)
        for (int j = i + 1; j < N; j++) {
            best[i][j] = best[i][j] >= best[i][j - 1] ? best[i][j] : best[i][j - 1];
            if (i + 1 < N) best[i][j] = best[i][j] >= best[i + 1][j] ? best[i][j] : best[i + 1][j];
            if (i < j - 1) {
                int with = best[i + 1][j - 1] + (base[i] + base[j] == 3);
                best[i][j] = best[i][j] >= with ? best[i][j] : with;
            } else best[i][j] = best[i][j] >= best[i + 1][j - 1] ? best[i][j] : best[i + 1][j - 1];
            for (int k = i + 1; k < j; k++)
                best[i][j] = best[i][j] >= best[i][k] + best[k + 1][j] ? best[i][j] : best[i][k] + best[k + 1][j];
        }
}
