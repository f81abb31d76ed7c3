/* A blur of seven pixels, along the rows and then down the columns. */
#ifndef H
#define H 90
#endif
#ifndef W
#define W 128
#endif

#define REACH 3

static float image[H][W], rows[H][W], out[H][W], weight[2 * REACH + 1];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int y = 0; y < H; y++)
            for (int x = REACH; x < W - REACH; x++) {
                float sum = 0;
                for (int k = -REACH; k <= REACH; k++) sum += weight[k + REACH] * image[y][x + k];
                rows[y][x] = sum;
            }
#pragma omp for
        for (int y = REACH; y < H - REACH; y++)
            for (int x = REACH; x < W - REACH; x++) {
                float sum = 0;
                for (int k = -REACH; k <= REACH; k++) sum += weight[k + REACH] * rows[y + k][x];
                out[y][x] = sum;
            }
    }
}
