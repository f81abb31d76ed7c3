/*
 * observed.c - small programs in one file, chosen by -DWHICH=n: all that
 * compilers make of loops, calls, structures, strings, switches, floating point of
 * all kinds, atomics, thread-local and variable-length data.
 */
#include <complex.h>
#include <math.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if WHICH == 1 /* matrices */
static double a[24][24], b[24][24], c[24][24];
static double work(void) {
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++) a[i][j] = i + j, b[i][j] = i - j;
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++)
            for (int k = 0; k < 24; k++) c[i][j] += a[i][k] * b[k][j];
    return c[3][4];
}
#elif WHICH == 2 /* recursion, and a comparison called from libc */
static int fib(int n) { return n < 2 ? n : fib(n - 1) + fib(n - 2); }
static int compare(const void *x, const void *y) { return (*(const int *)x > *(const int *)y) - (*(const int *)x < *(const int *)y); }
static double work(void) {
    int values[200];
    for (int i = 0; i < 200; i++) values[i] = i * 7919 % 200;
    qsort(values, 200, sizeof *values, compare);
    return values[7] + fib(12);
}
#elif WHICH == 3 /* lists and trees on the heap */
struct node {
    struct node *left, *right;
    long key;
    char name[12];
};
static struct node *insert(struct node *tree, long key) {
    if (!tree) {
        tree = calloc(1, sizeof *tree);
        tree->key = key;
        tree->name[3] = 'x';
    } else if (key < tree->key) tree->left = insert(tree->left, key);
    else tree->right = insert(tree->right, key);
    return tree;
}
static long sum(const struct node *tree) { return tree ? sum(tree->left) + tree->key + tree->name[3] + sum(tree->right) : 0; }
static double work(void) {
    struct node *tree = NULL;
    for (long i = 0; i < 200; i++) tree = insert(tree, i * 7919 % 211);
    return (double)sum(tree);
}
#elif WHICH == 4 /* structures by value, bit fields, unions */
struct big {
    int many[20];
    unsigned low : 3, high : 13;
    union {
        float f;
        uint32_t u;
    } both;
};
static __attribute__((noinline)) struct big change(struct big big, int i) {
    big.many[i % 20] += i;
    big.low++;
    big.high += 5;
    big.both.f += 1.5f;
    return big;
}
static double work(void) {
    struct big big = {{0}, 0, 0, {0}};
    for (int i = 0; i < 100; i++) big = change(big, i);
    return big.many[3] + big.low + big.high + big.both.u % 1000;
}
#elif WHICH == 5 /* text: a switch in a loop, tables */
static double work(void) {
    static const char text[] = "the quick (brown) fox + jumps * over - the 123 lazy dogs / 45";
    long counts[128] = {0}, value = 0, depth = 0;
    for (int round = 0; round < 20; round++)
        for (const char *at = text; *at; at++) {
            counts[(unsigned char)*at & 127]++;
            switch (*at) {
            case '0' ... '9': value = value * 10 + *at - '0'; break;
            case '(': depth++; break;
            case ')': depth--; break;
            case '+': value += 7; break;
            case '-': value -= 3; break;
            case '*': value ^= 5; break;
            case '/': value /= 2; break;
            case ' ': value %= 1000003; break;
            default: value++;
            }
        }
    return (double)(value + depth + counts['o']);
}
#elif WHICH == 6 /* long double and complex: x87 and pairs */
static double work(void) {
    long double sum = 0, values[50];
    double complex product = 1;
    for (int i = 0; i < 50; i++) values[i] = sqrtl(i) / (i + 1);
    for (int i = 0; i < 50; i++) sum += values[i] * values[49 - i];
    for (int i = 0; i < 50; i++) product *= 1 + I * (double)values[i] / 10;
    return (double)sum + creal(product) + cimag(product);
}
#elif WHICH == 7 /* atomics and read-modify-write of all sizes */
static _Atomic long shared;
static _Atomic unsigned char small;
static double work(void) {
    volatile short here[16] = {0};
    long expected = 3;
    for (int i = 0; i < 300; i++) {
        atomic_fetch_add(&shared, i);
        atomic_compare_exchange_strong(&shared, &expected, i);
        atomic_exchange(&small, (unsigned char)i);
        here[i % 16] += i;
        here[(i + 3) % 16]--;
        here[i % 7] <<= 1;
    }
    return shared + small + here[5];
}
#elif WHICH == 8 /* thread-local, variable length, varargs, function pointers */
static _Thread_local int local[32];
static long add(int count, ...) {
    va_list list;
    long total = 0;
    va_start(list, count);
    for (int i = 0; i < count; i++) total += i % 2 ? va_arg(list, int) : (long)va_arg(list, double);
    va_end(list);
    return total;
}
static long twice(long x) { return 2 * x; }
static long negative(long x) { return -x; }
static double work(void) {
    long (*volatile functions[])(long) = {twice, negative, labs};
    long total = 0;
    for (int n = 1; n < 60; n++) {
        int values[n];
        for (int i = 0; i < n; i++) values[i] = local[i % 32] += i;
        total += functions[n % 3](values[n / 2]) + add(4, 1.5, n, 2.5, 7);
    }
    return (double)total;
}
#elif WHICH == 9 /* vectors: bytes, conversions, reductions */
static unsigned char bytes[1000];
static float floats[1000];
static int ints[1000];
static double work(void) {
    long total = 0;
    float most = 0;
    for (int i = 0; i < 1000; i++) bytes[i] = (unsigned char)(i * 37);
    for (int i = 0; i < 1000; i++) floats[i] = bytes[i] * 0.5f;
    for (int i = 0; i < 1000; i++) ints[i] = (int)floats[i] + bytes[999 - i];
    for (int i = 0; i < 1000; i++) total += ints[i];
    for (int i = 0; i < 1000; i++) most = floats[i] > most ? floats[i] : most;
    for (int i = 0; i < 1000; i++)
        if (ints[i] & 1) floats[i] = 0;
    return (double)total + most + floats[10];
}
#elif WHICH == 10 /* sorting by hand, hashing, 128 bits */
static uint64_t keys[256], table[512];
static double work(void) {
    uint64_t state = 88172645463325252ull, total = 0;
    for (int i = 0; i < 256; i++) {
        state ^= state << 13, state ^= state >> 7, state ^= state << 17;
        keys[i] = state;
    }
    for (int i = 1; i < 256; i++)
        for (int j = i; j > 0 && keys[j - 1] > keys[j]; j--) {
            uint64_t other = keys[j];
            keys[j] = keys[j - 1], keys[j - 1] = other;
        }
    for (int i = 0; i < 256; i++) {
        unsigned __int128 product = (unsigned __int128)keys[i] * 0x9e3779b97f4a7c15ull;
        uint32_t at = (uint32_t)(product >> 119);
        while (table[at & 511]) at++;
        table[at & 511] = keys[i];
        total += at;
    }
    return (double)total;
}
#elif WHICH == 11 /* a stencil in three dimensions */
static float now[10][12][14], next[10][12][14];
static double work(void) {
    for (int i = 0; i < 10 * 12 * 14; i++) (&now[0][0][0])[i] = (float)(i % 17);
    for (int step = 0; step < 3; step++) {
        for (int x = 1; x < 9; x++)
            for (int y = 1; y < 11; y++)
                for (int z = 1; z < 13; z++)
                    next[x][y][z] = now[x][y][z] + 0.1f * (now[x - 1][y][z] + now[x + 1][y][z] + now[x][y - 1][z] + now[x][y + 1][z] +
                                                          now[x][y][z - 1] + now[x][y][z + 1] - 6 * now[x][y][z]);
        memcpy(now, next, sizeof now);
    }
    return now[5][5][5];
}
#elif WHICH == 12 /* strings by instruction, and a small interpreter */
static void copy(void *to, const void *from, size_t bytes) {
    __asm__ volatile("" ::: "memory");
    memcpy(to, from, bytes);
}
enum { PUSH, ADD, MULTIPLY, LESS, JUMP_IF, DUPLICATE, DROP, STOP };
static double work(void) {
    static const int program[] = {PUSH, 0, PUSH, 1, ADD, DUPLICATE, PUSH, 150, LESS, JUMP_IF, 2, STOP};
    static const void *const where[] = {&&push, &&add, &&multiply, &&less, &&jump_if, &&duplicate, &&drop, &&stop};
    long stack[32], *top = stack;
    const int *at = program;
    char here[100], there[100] = "x";
    copy(here, there, sizeof here);
    goto *where[*at];
push: *top++ = at[1]; at += 2; goto *where[*at];
add: top--; top[-1] += top[0]; at++; goto *where[*at];
multiply: top--; top[-1] *= top[0]; at++; goto *where[*at];
less: top--; top[-1] = top[-1] < top[0]; at++; goto *where[*at];
jump_if: at = *--top ? program + at[1] : at + 2; goto *where[*at];
duplicate: *top = top[-1]; top++; at++; goto *where[*at];
drop: top--; at++; goto *where[*at];
stop:
    return (double)top[-1] + here[0];
}
#elif WHICH == 13 /* loops of one piece, shorter and longer than what is recorded of one at once */
#define N 2300
static uint32_t counts[64], follow[N];
static unsigned char bytes[N];
static double x[N], y[N], sums[4];
static struct {
    long key;
    int32_t left, right;
} pairs[N];
__attribute__((noinline)) static void spread(unsigned seed) {
    for (unsigned i = 0; i < N; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (unsigned char)(seed >> 26);
        follow[i] = (i + 601) % N;
        x[i] = i;
        pairs[i].left = (int)(seed % N), pairs[i].right = (int)i;
    }
}
__attribute__((noinline)) static void histogram(const unsigned char *at, long n, uint32_t *into) {
    for (long i = 0; i < n; i++) into[at[i]]++;
}
__attribute__((noinline)) static double gather(long n) {
    double sum = 0;
    for (long i = 0; i < n; i++) sum += x[pairs[i].left] * y[pairs[i].right] + counts[bytes[i]];
    return sum;
}
__attribute__((noinline)) static void backwards(long n, double by) {
    for (long i = n; i-- > 0;) y[i] = x[i] * by + y[(i + 1) / 2];
}
__attribute__((noinline)) static uint32_t chase(uint32_t at, int n) {
    while (n--) at = follow[at];
    return at;
}
static double work(void) {
    double total = 0;
    spread(7);
    for (long n = 0; n < N; n += 1 + n / 3) { /* 0, 1, 2, ... 2055 turns */
        histogram(bytes, n, counts);
        backwards(n, 0.5);
        total += gather(n);
        sums[n % 4] += (double)chase((uint32_t)n, (int)n);
    }
    histogram(bytes, N, counts);
    return total + counts[5] + sums[1];
}
#endif

int main(void) {
    printf("%.6g\n", work());
    return 0;
}
