/*
 * kinds_of_access.c - accesses of every kind, in ordinary code: strings with a repeat prefix, gathers and masked vectors,
 * atomics, accesses across lines, faults, allocations, calls. With an argument it kills itself there.
 */
#include <immintrin.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char from[100000], to[100000];
static sigjmp_buf before;
static void on_fault(int number) { siglongjmp(before, number); }

__attribute__((target("avx2"))) static int gather(const int *p, int n) {
    __m256i sum = _mm256_setzero_si256();
    for (int i = 0; i < n; i++)
        sum = _mm256_add_epi32(sum, _mm256_i32gather_epi32(p, _mm256_set_epi32(1, 20, 300, i, 5, 6, 7, 8), 4));
    return _mm256_extract_epi32(sum, 0);
}

__attribute__((target("avx2"))) static void masked(int *p, int n) {
    const __m256i mask = _mm256_set_epi32(-1, 0, -1, -1, 0, 0, -1, -1);
    for (int i = 0; i < n; i += 3)
        _mm256_maskstore_epi32(p + i, mask, _mm256_add_epi32(_mm256_maskload_epi32(p + i, mask), mask));
}

static void strings(int k) {
    void *d = to + k * 7 + 3;
    const void *s = from + k * 13 + 1;
    size_t n = 3000 + (size_t)k;
    __asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(n)::"memory");
    d = to + k, n = 777;
    __asm__ volatile("rep stosb" : "+D"(d), "+c"(n) : "a"(3) : "memory");
    d = to, s = from, n = 500;
    __asm__ volatile("repe cmpsb" : "+D"(d), "+S"(s), "+c"(n)::"memory", "cc");
}

static __attribute__((noinline)) int depth(int n) { return n ? depth(n - 1) + from[n] : to[n]; }

int main(int argc, char **argv) {
    int *p = calloc(4096, sizeof *p), sum = 0;
    (void)argv;
    for (int k = 0; k < 30; k++) strings(k);
    for (int i = 0; i < 1000; i++) memcpy(to + i, from + i * 3, (size_t)i % 257);
    sum += gather(p, 300);
    masked(p, 3000);
    for (int i = 0; i < 2000; i++) {
        __atomic_fetch_add(&p[i], 1, __ATOMIC_SEQ_CST);
        __sync_val_compare_and_swap(&p[i], 1, 2);
        p[i] += 3;
    }
    for (int i = 0; i < 1000; i++) {
        int v;
        memcpy(&v, to + i * 7, 4);
        p[i] ^= v;
    }
    for (int i = 0; i < 200; i++) sum += depth(i % 17);
    if (argc > 1) raise(SIGKILL);
    signal(SIGSEGV, on_fault);
    for (volatile int i = 0; i < 20; i++)
        if (!sigsetjmp(before, 1)) {
            volatile int *nowhere = (int *)8;
            p[i] += p[i + 1];
            *nowhere = p[i];
        }
    for (size_t i = 0; i < 3000; i++) {
        char *volatile block = malloc(i + 1);
        block[i] = 1;
        free(block);
    }
    printf("%d\n", sum);
    return 0;
}
