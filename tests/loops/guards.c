/* Conditions: conjunctions, alternatives, divisibility, continue, what needs no memory. */
#define N 20
double a[N][N], b[N];

void guards(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            if (i == j) a[i][j] = 1;
            else a[i][j] = 0;
            if (i > 2 && (j < 5 || j >= 15)) b[i] = 2;
            if (!(i % 3 == 1) && i != 4) b[j] = 3;
            if (i < N) b[0] = 4;
            if (j < 0) b[1] = 5;
        }
    for (int i = 0; i < N; i++) {
        if (i == 7) continue;
        if (i % 2) {
            b[i] = i > 10 ? a[i][0] : a[0][i];
            continue;
        }
        b[i] = 0;
    }
    double most = 0;
    int at = 0;
    for (int i = 0; i < N; i++)
        if (b[i] > most) {
            most = b[i];
            at = i;
        }
}
