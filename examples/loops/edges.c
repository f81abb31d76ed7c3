/* Sobel's gradients of a picture with three bytes a pixel, made grey first. */
#ifndef H
#define H 100
#endif
#ifndef W
#define W 120
#endif

static unsigned char picture[H][W][3];
static short grey[H][W];
static short edge[H][W];

void kernel(void) {
#pragma omp parallel for
    for (int y = 0; y < H; y++)
        for (int x = 0; x < W; x++) grey[y][x] = (short)((picture[y][x][0] * 5 + picture[y][x][1] * 9 + picture[y][x][2] * 2) / 16);
#pragma omp parallel for
    for (int y = 1; y < H - 1; y++)
        for (int x = 1; x < W - 1; x++) {
            int gx = grey[y - 1][x + 1] + 2 * grey[y][x + 1] + grey[y + 1][x + 1] - grey[y - 1][x - 1] - 2 * grey[y][x - 1] - grey[y + 1][x - 1];
            int gy = grey[y + 1][x - 1] + 2 * grey[y + 1][x] + grey[y + 1][x + 1] - grey[y - 1][x - 1] - 2 * grey[y - 1][x] - grey[y - 1][x + 1];
            edge[y][x] = (short)((gx < 0 ? -gx : gx) + (gy < 0 ? -gy : gy));
        }
}
