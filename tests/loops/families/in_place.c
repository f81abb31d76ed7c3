/* Stencils: nine points in place, each sweep after the one before it; no loop is parallel. */
#ifndef N
#define N 66
#endif
#ifndef STEPS
#define STEPS 4
#endif
double grid[N][N];

void kernel(void) {
    for (int t = 0; t < STEPS; t++)
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                grid[i][j] = (grid[i - 1][j - 1] + grid[i - 1][j] + grid[i - 1][j + 1] + grid[i][j - 1] + grid[i][j] +
                              grid[i][j + 1] + grid[i + 1][j - 1] + grid[i + 1][j] + grid[i + 1][j + 1]) / 9;
}
