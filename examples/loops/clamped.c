/* A mean of 5 x 5 pixels where those beyond the border repeat it. */
#ifndef H
#define H 60
#endif
#ifndef W
#define W 80
#endif

static float image[H][W], out[H][W];

static int clamp(int at, int most) { return at < 0 ? 0 : at > most ? most : at; }

void kernel(void) {
#pragma omp parallel for
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) {
            float sum = 0;
            for (int dy = -2; dy <= 2; dy++)
                for (int dx = -2; dx <= 2; dx++) sum += image[clamp(y + dy, H - 1)][clamp(x + dx, W - 1)];
            out[y][x] = sum / 25;
        }
}
