/* One sweep over nine points with weights, rows dealt out in pairs. */
#ifndef N
#define N 120
#endif

static float in[N][N], out[N][N], weight[3][3];

void kernel(void) {
#pragma omp parallel for schedule(static, 2)
    for (int i = 1; i < N - 1; i++)
        for (int j = 1; j < N - 1; j++) {
            float sum = 0;
            for (int di = -1; di <= 1; di++)
                for (int dj = -1; dj <= 1; dj++) sum += weight[di + 1][dj + 1] * in[i + di][j + dj];
            out[i][j] = sum;
        }
}
