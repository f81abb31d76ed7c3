/* The largest of each 2 x 2 pixels, then a sum over windows of 4 x 4. */
#ifndef S
#define S 64
#endif
#ifndef C
#define C 6
#endif

static float in[C][S][S], most[C][S / 2][S / 2], sums[C][S / 2 - 3][S / 2 - 3];

void kernel(void) {
#pragma omp parallel
    {
#pragma omp for
        for (int c = 0; c < C; c++)
            for (int y = 0; y < S / 2; y++)
                for (int x = 0; x < S / 2; x++) {
                    float best = in[c][2 * y][2 * x];
                    for (int k = 1; k < 4; k++) {
                        float other = in[c][2 * y + k / 2][2 * x + k % 2];
                        best = other > best ? other : best;
                    }
                    most[c][y][x] = best;
                }
#pragma omp for
        for (int c = 0; c < C; c++)
            for (int y = 0; y < S / 2 - 3; y++)
                for (int x = 0; x < S / 2 - 3; x++) {
                    float sum = 0;
                    for (int dy = 0; dy < 4; dy++)
                        for (int dx = 0; dx < 4; dx++) sum += most[c][y + dy][x + dx];
                    sums[c][y][x] = sum;
                }
    }
}
