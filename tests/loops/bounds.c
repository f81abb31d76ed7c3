/* Loop headers: steps, directions, minima, quotients, triangles, conjunctions. */
#include <math.h>
#define N 50
#define MAX(a, b) (((a) > (b)) ? (a) : (b))
#define MIN(a, b) (((a) < (b)) ? (a) : (b))
#define floord(n, d) floor(((double)(n)) / ((double)(d)))
#define ceild(n, d) ceil(((double)(n)) / ((double)(d)))
#define floord2(n, d) (((n) < 0) ? -((-(n) + (d)-1) / (d)) : (n) / (d))
enum { HALF = N / 2 };
static const int third = N / 3;
float x[4 * N];

void headers(void) {
    int i;
    for (i = 0; i < N; i = i + 3) x[i] = 0;
    for (i = N - 1; i >= 0; --i) x[i] = 0;
    for (i = N; i-- > 0;) x[i] = 0;
    for (int k = HALF; third <= k; k -= 2) x[k] = 0;
    for (int k = 0; k != N; k++) x[k] = 0;
    for (int k = 0; 3 * k + 1 <= N && k < third; k += 1) x[k] = 0;
    for (int k = 0; k < 0; k++) x[k] = 0;
    for (int k = 5; k < 2; k++) x[k] = 0;
    for (unsigned k = N - 1; k > 0; k--) x[k] = 0;
    for (long k = -3; k <= sizeof(x) / sizeof(x[0]) - 190; k++) x[k + 3] = 0;
}

void nested(void) {
    for (int i = 0; i < N; i++)
        for (int j = MAX(0, i - 3); j <= MIN(N - 1, i + 3); j++) x[j] = x[i];
    for (int t = 0; t <= floord(N, 8); t++)
        for (int i = MAX(8 * t, ceild(3 * t - N, 2)); i <= MIN(8 * t + 7, floord2(5 * t + 60, 2)); i++) x[i] = 0;
    for (int i = 0; i < N; i++)
        for (int j = i > 10 ? i - 10 : 0; j < (i < 40 ? i : 40); j++) x[j] = 0;
    for (int i = 0; i < N; i++) /* the least of two as a lower bound is two cases */
        for (int j = MIN(i, 20); j < 30; j++) x[j] = 0;
    for (int i = 0; i < N; i++)
        for (int i2 = i; i2 < N; i2++)
            for (int max = i2 - i; max < 2; max++) x[max] = 0;
}

void companions(float *p) {
    int w = 7;
    for (int i = 0, j = N; i < 10; i++, j -= 2) x[j] = x[i];
    for (int i = 2; i < 10; i += 2, w += 6) x[w] = 0;
    for (int i = 0; i < 10; ++i, p += 3) *p = x[i];
    for (int i = 0, j = 0; i < 10; i += 2, j++) x[j] = 0;
    for (int i = 0, j = 9; i < j; i++, j--) x[i] = 0;
}
