/* fft.c - a two-dimensional FFT there and back, pthreads: rows, a barrier, columns gathered into a row, a barrier. */
#include "program.h"

#define N 256
#define LOG_N 8
struct complex_number {
    double re, im;
};
static struct complex_number grid[N][N], roots[N / 2];
static pthread_barrier_t barrier;
static int rounds;

static void transform(struct complex_number *row, int back) {
    for (unsigned i = 0; i < N; i++) {
        unsigned j = 0;
        for (unsigned bit = 0; bit < LOG_N; bit++) j |= (i >> bit & 1) << (LOG_N - 1 - bit);
        if (j > i) {
            struct complex_number kept = row[i];
            row[i] = row[j];
            row[j] = kept;
        }
    }
    for (unsigned half = 1; half < N; half *= 2)
        for (unsigned first = 0; first < N; first += 2 * half)
            for (unsigned k = 0; k < half; k++) {
                struct complex_number root = roots[k * (N / 2 / half)], *a = &row[first + k], *b = a + half;
                double im = back ? -root.im : root.im;
                double re = b->re * root.re - b->im * im;
                im = b->re * im + b->im * root.re;
                b->re = a->re - re;
                b->im = a->im - im;
                a->re += re;
                a->im += im;
            }
}

static void *work(void *argument) {
    long from, to;
    struct complex_number row[N];
    share(N, (intptr_t)argument, &from, &to);
    for (int round = 0; round < 2 * rounds; round++) {
        for (long i = from; i < to; i++) transform(grid[i], round & 1);
        pthread_barrier_wait(&barrier);
        for (long j = from; j < to; j++) {
            for (int i = 0; i < N; i++) row[i] = grid[i][j];
            transform(row, round & 1);
            for (int i = 0; i < N; i++) {
                double scale = round & 1 ? 1.0 / (N * N) : 1;
                grid[i][j].re = row[i].re * scale;
                grid[i][j].im = row[i].im * scale;
            }
        }
        pthread_barrier_wait(&barrier);
    }
    return NULL;
}

int main(int argc, char **argv) {
    arguments(argc, argv);
    rounds = (int)(6 * size) + 1;
    for (int k = 0; k < N / 2; k++) roots[k] = (struct complex_number){cos(2 * M_PI * k / N), -sin(2 * M_PI * k / N)};
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) grid[i][j].re = (i * 31 + j * 17) % 101;
    pthread_barrier_init(&barrier, NULL, (unsigned)threads);
    in_threads(work);
    double worst = 0;
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) worst = fmax(worst, fabs(grid[i][j].re - (i * 31 + j * 17) % 101));
    return result("fft", worst < 1e-6, worst);
}
