/* The same layer with rows of pixels in parallel and channels stored last. */
#ifndef S
#define S 20
#endif
#ifndef C
#define C 6
#endif
#ifndef F
#define F 8
#endif

static float in[S + 2][S + 2][C], filter[3][3][C][F], out[S][S][F];

void kernel(void) {
#pragma omp parallel for schedule(static, 1)
    for (int y = 0; y < S; y++)
        for (int x = 0; x < S; x++)
            for (int ky = 0; ky < 3; ky++)
                for (int kx = 0; kx < 3; kx++)
                    for (int c = 0; c < C; c++) {
                        float pixel = in[y + ky][x + kx][c];
                        for (int f = 0; f < F; f++) out[y][x][f] += filter[ky][kx][c][f] * pixel;
                    }
}
