/*
 * kernels.c - the programs that bench_asm measures, one chosen by -DKERNEL_name: what
 * is common in numerical and other hot loops. Each runs some tenths of a second and
 * prints a number that depends on all it did.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 88172645463325252ull;
static inline uint64_t any(void) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

#if defined KERNEL_gemm
#define N 320
static double a[N][N], b[N][N], c[N][N];
static double kernel(void) {
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) a[i][j] = i + j, b[i][j] = i - j;
    for (int round = 0; round < 6; round++)
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
                double sum = c[i][j];
                for (int k = 0; k < N; k++) sum += a[i][k] * b[k][j];
                c[i][j] = sum;
            }
    return c[7][9];
}
#elif defined KERNEL_jacobi
#define N 1024
static double now[N][N], next[N][N];
static double kernel(void) {
    for (int i = 0; i < N; i++) now[i][0] = next[i][0] = i;
    for (int round = 0; round < 60; round++) {
        for (int i = 1; i < N - 1; i++)
            for (int j = 1; j < N - 1; j++)
                next[i][j] = 0.25 * (now[i - 1][j] + now[i + 1][j] + now[i][j - 1] + now[i][j + 1]);
        memcpy(now, next, sizeof now);
    }
    return now[N / 2][1];
}
#elif defined KERNEL_stencil
#define N 128
static float now[N][N][N], next[N][N][N];
static double kernel(void) {
    for (int i = 0; i < N * N * N; i++) (&now[0][0][0])[i] = (float)(i % 17);
    for (int round = 0; round < 16; round++) {
        for (int x = 1; x < N - 1; x++)
            for (int y = 1; y < N - 1; y++)
                for (int z = 1; z < N - 1; z++)
                    next[x][y][z] =
                        0.4f * now[x][y][z] + 0.1f * (now[x - 1][y][z] + now[x + 1][y][z] + now[x][y - 1][z] +
                                                      now[x][y + 1][z] + now[x][y][z - 1] + now[x][y][z + 1]);
        memcpy(now, next, sizeof now);
    }
    return now[5][6][7];
}
#elif defined KERNEL_chase
#define N (1u << 21)
static uint32_t follow[N];
static double kernel(void) {
    for (uint32_t i = 0; i < N; i++) follow[i] = i;
    for (uint32_t i = N - 1; i > 0; i--) {
        uint32_t other = (uint32_t)(any() % i), kept = follow[i];
        follow[i] = follow[other], follow[other] = kept;
    }
    uint32_t at = 0;
    for (uint32_t i = 0; i < 5000000; i++) at = follow[at];
    return at;
}
#elif defined KERNEL_histogram
#define N (1u << 20)
static unsigned char bytes[N];
static uint32_t counts[256];
static double kernel(void) {
    for (uint32_t i = 0; i < N; i++) bytes[i] = (unsigned char)(any() >> 20);
    for (int round = 0; round < 150; round++)
        for (uint32_t i = 0; i < N; i++) counts[bytes[i]]++;
    return counts[7];
}
#elif defined KERNEL_stream
#define N (1u << 20)
static double a[N], b[N], c[N];
static double kernel(void) {
    for (uint32_t i = 0; i < N; i++) a[i] = i, b[i] = 2, c[i] = 0;
    for (int round = 0; round < 60; round++) {
        for (uint32_t i = 0; i < N; i++) c[i] = a[i];
        for (uint32_t i = 0; i < N; i++) b[i] = 3 * c[i];
        for (uint32_t i = 0; i < N; i++) c[i] = a[i] + b[i];
        for (uint32_t i = 0; i < N; i++) a[i] = b[i] + 0.1 * c[i];
    }
    return a[77];
}
#elif defined KERNEL_cg
#define N 60000
#define ROW 12
static double value[N * ROW], x[N], r[N], p[N], q[N];
static int column[N * ROW], first[N + 1];
static double kernel(void) {
    for (int i = 0; i < N; i++) {
        first[i + 1] = (i + 1) * ROW;
        for (int k = 0; k < ROW; k++) {
            column[i * ROW + k] = k ? (int)(any() % N) : i;
            value[i * ROW + k] = k ? 0.01 : 2;
        }
        r[i] = p[i] = 1;
    }
    double rho = N;
    for (int round = 0; round < 60; round++) {
        double pq = 0, next = 0;
        for (int i = 0; i < N; i++) {
            double sum = 0;
            for (int k = first[i]; k < first[i + 1]; k++) sum += value[k] * p[column[k]];
            q[i] = sum;
        }
        for (int i = 0; i < N; i++) pq += p[i] * q[i];
        double alpha = rho / pq;
        for (int i = 0; i < N; i++) x[i] += alpha * p[i];
        for (int i = 0; i < N; i++) r[i] -= alpha * q[i];
        for (int i = 0; i < N; i++) next += r[i] * r[i];
        double beta = next / rho;
        rho = next + 1e-30;
        for (int i = 0; i < N; i++) p[i] = r[i] + beta * p[i];
    }
    return x[5];
}
#elif defined KERNEL_sort
#define N (1 << 19)
static uint32_t keys[N], other[N];
static void merge_sort(uint32_t *from, uint32_t *to, long count) {
    if (count <= 12) {
        for (long i = 1; i < count; i++) {
            uint32_t key = from[i];
            long j = i;
            for (; j > 0 && from[j - 1] > key; j--) from[j] = from[j - 1];
            from[j] = key;
        }
        return;
    }
    long half = count / 2, a = 0, b = half, n = 0;
    merge_sort(from, to, half);
    merge_sort(from + half, to + half, count - half);
    while (a < half && b < count) to[n++] = from[a] <= from[b] ? from[a++] : from[b++];
    while (a < half) to[n++] = from[a++];
    while (b < count) to[n++] = from[b++];
    memcpy(from, to, (size_t)count * sizeof *from);
}
static double kernel(void) {
    for (int round = 0; round < 4; round++) {
        for (int i = 0; i < N; i++) keys[i] = (uint32_t)any();
        merge_sort(keys, other, N);
    }
    return keys[N / 2];
}
#elif defined KERNEL_join
#define N (1u << 17)
#define SLOTS (N * 2)
static struct {
    uint64_t key, value;
} table[SLOTS];
static uint64_t probe[N * 4];
static double kernel(void) {
    uint64_t total = 0;
    memset(table, 0, sizeof table); /* each time as the first */
    for (uint32_t i = 0; i < N; i++) {
        uint64_t key = any() % (N * 2) + 1, at = key * 0x9e3779b97f4a7c15ull >> 46;
        while (table[at].key && table[at].key != key) at = (at + 1) % SLOTS;
        table[at].key = key, table[at].value = i;
    }
    for (uint32_t i = 0; i < N * 4; i++) probe[i] = any() % (N * 2) + 1;
    for (int round = 0; round < 12; round++)
        for (uint32_t i = 0; i < N * 4; i++) {
            uint64_t at = probe[i] * 0x9e3779b97f4a7c15ull >> 46;
            while (table[at].key && table[at].key != probe[i]) at = (at + 1) % SLOTS;
            total += table[at].value;
        }
    return (double)total;
}
#endif

/* An argument: so many times over. -DTHREADS=n: by so many threads at once, who race for nothing but equal values. */
static volatile int times = 1;
static double result;
static void *repeat(void *unused) {
    for (int i = 0; i < times; i++) result = kernel();
    return unused;
}
#ifdef THREADS
#include <pthread.h>
#endif
int main(int argc, char **argv) {
    if (argc > 1) times = atoi(argv[1]);
#ifdef THREADS
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, repeat, NULL) != 0) return 1;
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
#else
    repeat(NULL);
#endif
    printf("%.10g\n", result);
    return 0;
}
