/* Medley: a recursive filter over a picture, along rows forth and back, then along columns. */
#ifndef W
#define W 64
#endif
#ifndef H
#define H 72
#endif
float in[W][H], out[W][H], forth[W][H], back[W][H];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int i = 0; i < W; i++) {
            float y1 = 0, y2 = 0, x1 = 0;
            for (int j = 0; j < H; j++) {
                forth[i][j] = 0.4f * in[i][j] + 0.3f * x1 + 0.2f * y1 + 0.1f * y2;
                x1 = in[i][j];
                y2 = y1;
                y1 = forth[i][j];
            }
        }
#pragma omp for
        for (int i = 0; i < W; i++) {
            float y1 = 0, y2 = 0, x1 = 0, x2 = 0;
            for (int j = H - 1; j >= 0; j--) {
                back[i][j] = 0.4f * x1 + 0.3f * x2 + 0.2f * y1 + 0.1f * y2;
                x2 = x1;
                x1 = in[i][j];
                y2 = y1;
                y1 = back[i][j];
            }
        }
#pragma omp for
        for (int i = 0; i < W; i++)
            for (int j = 0; j < H; j++) out[i][j] = 0.5f * (forth[i][j] + back[i][j]);
#pragma omp for
        for (int j = 0; j < H; j++) {
            float x1 = 0, y1 = 0, y2 = 0;
            for (int i = 0; i < W; i++) {
                forth[i][j] = 0.4f * out[i][j] + 0.3f * x1 + 0.2f * y1 + 0.1f * y2;
                x1 = out[i][j];
                y2 = y1;
                y1 = forth[i][j];
            }
        }
#pragma omp for
        for (int j = 0; j < H; j++) {
            float x1 = 0, x2 = 0, y1 = 0, y2 = 0;
            for (int i = W - 1; i >= 0; i--) {
                back[i][j] = 0.4f * x1 + 0.3f * x2 + 0.2f * y1 + 0.1f * y2;
                x2 = x1;
                x1 = out[i][j];
                y2 = y1;
                y1 = back[i][j];
            }
        }
#pragma omp for
        for (int i = 0; i < W; i++)
            for (int j = 0; j < H; j++) out[i][j] = 0.5f * (forth[i][j] + back[i][j]);
    }
}
