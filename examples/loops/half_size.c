/* A picture of half the size, each pixel the mean of four; then back up. */
#ifndef H
#define H 120
#endif
#ifndef W
#define W 160
#endif

static float large[H][W], small[H / 2][W / 2], back[H][W];

void kernel(void) {
#pragma omp parallel for
    for (int y = 0; y < H / 2; y++)
        for (int x = 0; x < W / 2; x++)
            small[y][x] = 0.25f * (large[2 * y][2 * x] + large[2 * y][2 * x + 1] + large[2 * y + 1][2 * x] + large[2 * y + 1][2 * x + 1]);
#pragma omp parallel for
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) back[y][x] = small[y / 2][x / 2];
}
