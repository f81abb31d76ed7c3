/* Conditions that depend on data: assumed to hold in a share of the iterations. */
#define N 64
double a[N][N], b[N][N], mask[N];

void data(double limit) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            if (a[i][j] > limit) b[j][i] = a[i][j];
    for (int i = 0; i < N; i++) {
        if (mask[i] != 0)
            for (int j = 0; j < N; j += 2) b[i][j] += a[i][j] > 0 ? a[j][i] : 0;
        if (mask[i] == 1) continue;
        b[i][0] = 0;
    }
    double most = 0;
    for (int i = 0; i < N; i++) most = mask[i] > most ? mask[i] : most;
    for (int i = 0; i < N; i += 2)
        if (most > limit) mask[i] = 1;
    for (int i = 0; i < N; i++)
        if (mask[i] > most) most = limit;
}
