/* Accesses: shapes, pointers, structures, linearised subscripts, scalars followed. */
#define N 10
#define M 12
struct grid {
    int size;
    double cell[N][M];
    double *halo;
};
typedef float row[M];
struct point { char tag; float at[3]; short kind : 4; };

row table[N];
struct point cloud[N];
struct grid world;
static double flat[N * M];

void shapes(int n, int m, double v[n][m], double (*p)[m], double *restrict q, struct grid *g, double **rows) {
    for (int i = 0; i < n; i++)
        for (int j = 0; j < m; j++) {
            v[i][j] = p[i][j] + q[i * m + j] + *(q + i);
            table[i][j] = cloud[i].at[j % 3];
            g->cell[i][j] += world.cell[j][i] * g->halo[j];
            flat[i * M + (j << 1)] = (&q[i])[j];
        }
    for (int i = 0; i < n; i++) rows[i][0] = 0;
}

void followed(double *a) {
    for (int i = 0; i < N; i++) {
        int d = 2 * i, row = i * M;
        double *line = flat + row, (*two)[M] = (double(*)[M])flat;
        int j = i + d;
        j += 1;
        line[3] = a[j];
        two[i][5] = a[j - d];
        if (i > 4) j = 4;
        a[j]++;
        int odd = i & 1, half = i >> 1, rest = i % 4, q = i / 4;
        a[odd] = a[half] + a[rest] + a[q];
    }
}

void layered(int t) {
    static double wave[2][N];
    for (int s = 0; s < 6; s++)
        for (int i = 1; i < N - 1; i++) wave[(s + 1) % 2][i] = wave[s % 2][i - 1] + wave[s % 2][i + 1];
}

void sized(struct grid *g) {
    for (int i = 0; i < g->size; i++) g->halo[i] = world.size;
}
