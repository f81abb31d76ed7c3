/* Everything the front end follows, in a form that can be run: property_loops_source compares. */
#include <math.h>
#define N 23
#define MAX(a, b) ((a) > (b) ? (a) : (b))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define floord(n, d) floor(((double)(n)) / ((double)(d)))
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))

struct cell {
    char tag;
    short part[3];
    double weight;
};
static double a[4 * N], g[2][N][N];
static struct cell cells[N];
static struct {
    int pad;
    float row[N][4];
} box;

static int wrap(int i) {
    if (i < 0) return i + N;
    if (i >= N) return i - N;
    return i;
}
static int imin(int x, int y) { return x < y ? x : y; }
static double sum_of(const double *x, int n) {
    double sum = 0;
    int last = n - 1;
    for (int k = 0; k <= last; k++) sum += x[k];
    return sum;
}
static void clear(double *x, int n) {
    for (int k = n; k > 0; k -= 3) x[k - 1] = 0;
}

double walked[400];

void kernel(void) {
    for (int i = 0; i < N; i++) {
        g[0][i][wrap(i - 1)] = g[1][wrap(i + 5)][i];
        cells[i].part[i % 3] = cells[N - 1 - i].tag;
        cells[i / 2].weight += box.row[i][i & 3];
    }
    for (int t = -3; t <= floord(N, 4); t++)
        for (int i = MAX(4 * t, ceild(-t, 3)); i <= MIN(N - 1, 4 * t + 3); i++)
            if (i >= 0) a[i - t + 3] = a[(i * 5 + 2) / 3];
    for (int i = -7; i < 8; i++) a[i % 4 + 4] = a[i / 3 + 9] + a[(i >> 1) + 9] + a[i & 7];
    for (int i = 0; i < N; i++)
        for (int j = N - 1; j >= i; j -= 2) {
            int lo = imin(i, j - 4), hi = i + j;
            if (lo < 0) lo = 0;
            if (hi > N) hi = N;
            if ((i + j) % 5 == 2) continue;
            if (j == 7 || (i > 3 && j != i)) {
                a[lo] += 1;
            } else a[hi]--;
            if (i == 9) {
                a[2] = 0;
                continue;
            }
            double *row = g[i & 1][j], (*plane)[N] = g[0];
            row[lo] = j > 2 * i ? plane[i][j] : *(row + hi / 2);
        }
    for (int s = 0; s < 5; s++)
        for (int i = 1; i < N - 1; i++) g[(s + 1) % 2][0][i] = g[s % 2][0][i - 1] + g[s % 2][0][i + 1];
    for (int i = 1; i < 6; i++) {
        a[i] = sum_of(&g[0][i][2], 3 * i) + fabs(sum_of(a, imin(9, 6)));
        clear(g[1][i], N - i);
    }
    double *walk = a + 4;
    for (int i = 0, j = 2 * N; i < 9; i += 2, j -= 4, walk += 6) walk[i & 1] += a[j];
    int base = 3, step = 2;
    for (int i = base; i < N - base; i += step)
        a[i] = 0;
    for (double *p = walked; p < walked + 20; p++) *p = 0;
    for (double *p = walked + 19, *q = a; p >= walked; p -= 2) *q++ += *p;
    double *end = walked + 20;
    for (double *q = walked; q != end; ++q) *q = a[q == walked ? 0 : 1];
    int i = 0, m = 0, n = 20, z = 3, left = 12;
    while (i < 20) {
        walked[i] = 1;
        i++;
        a[i] = 2;
    }
    double *to = walked, *from = a + 1;
    while (n--) *to++ = *from++;
    do {
        a[m] = 0;
        m += 2;
    } while (m < 20);
    for (int k = 0, j = 0; k < 12; k++) {
        walked[j] = a[k];
        j += 3;
    }
    double *filled = walked;
    for (int r = 0; r < 10; r++) {
        for (int c = 0; c < 7; c++) *filled++ = a[r];
        if (r > 3) walked[r] = *filled;
    }
    for (int k = 0; k < 20; k++) {
        int j = k;
        while (j > 0) {
            walked[j] = walked[j - 1] + 1;
            j--;
        }
        walked[j] = a[k];
    }
    do walked[z] = 1;
    while (++z < 20);
    while (--left > 2) walked[left] += 1;
    while (left-- > 0) {
        int k = left;
        do a[k] = walked[left + 3];
        while (k++ < 9);
    }
}
