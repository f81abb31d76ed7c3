/* A layer of 3 x 3 filters over channels; every thread has its own filters. */
#ifndef S
#define S 18
#endif
#ifndef C
#define C 6
#endif
#ifndef F
#define F 8
#endif

static float in[C][S + 2][S + 2], filter[F][C][3][3], out[F][S][S];

void kernel(void) {
#pragma omp parallel for
    for (int f = 0; f < F; f++)
        for (int c = 0; c < C; c++)
            for (int y = 0; y < S; y++)
                for (int x = 0; x < S; x++)
                    for (int ky = 0; ky < 3; ky++)
                        for (int kx = 0; kx < 3; kx++) out[f][y][x] += filter[f][c][ky][kx] * in[c][y + ky][x + kx];
}
