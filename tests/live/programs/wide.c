/*
 * wide.c - what AVX-512 has of accesses: masked, gathered, scattered, compressed,
 * expanded, broadcast, and what a compiler makes of loops with conditions.
 */
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>

#define N 200
static float x[N + 16], y[N + 16];
static double d[N + 16];
static int32_t index_of[N + 16], counts[64];
static int64_t far[N + 16];
static unsigned char bytes[256], other[256];

__attribute__((noinline)) static void conditional(int n) {
    for (int i = 0; i < n; i++)
        if (index_of[i] % 3) y[i] = x[i] * 2 + y[i];
}

__attribute__((noinline)) static float indirect(int n) {
    float sum = 0;
    for (int i = 0; i < n; i++) sum += x[index_of[i]];
    return sum;
}

__attribute__((noinline)) static void by_hand(__mmask16 m, __mmask8 half, __mmask64 each) {
    __m512i at = _mm512_loadu_si512(index_of), wide = _mm512_loadu_si512(far);
    __m512 v = _mm512_mask_loadu_ps(_mm512_setzero_ps(), m, x + 3);
    _mm512_mask_storeu_ps(y + 5, m, v);
    _mm512_mask_compressstoreu_ps(y + 40, m, v);
    v = _mm512_mask_expandloadu_ps(v, m, x + 60);
    v = _mm512_mask_i32gather_ps(v, m, at, x, 4);
    _mm512_mask_i32scatter_ps(y, m, at, v, 4);
    __m512d w = _mm512_mask_i64gather_pd(_mm512_setzero_pd(), half, wide, d, 8);
    w = _mm512_add_pd(w, _mm512_i32gather_pd(_mm512_castsi512_si256(at), d, 8));
    _mm512_mask_i64scatter_pd(d, half, wide, w, 8);
    __m256 narrow = _mm512_mask_i64gather_ps(_mm256_setzero_ps(), half, wide, x, 4);
    _mm256_mask_storeu_ps(y + 100, half, narrow);
    w = _mm512_mask_add_pd(w, half, w, _mm512_set1_pd(d[7]));
    w = _mm512_mask_mul_pd(w, half, w, _mm512_loadu_pd(d + 9));
    _mm512_storeu_pd(d + 30, w);
    __m512i text = _mm512_mask_loadu_epi8(_mm512_setzero_si512(), each, bytes + 1);
    _mm512_mask_storeu_epi8(other + 7, each, text);
    _mm_mask_storeu_epi16(other + 100, half, _mm512_castsi512_si128(text));
    __m256i old = _mm256_maskload_epi32(counts, _mm512_castsi512_si256(at));
    _mm256_maskstore_epi32(counts + 9, _mm512_castsi512_si256(wide), old);
    _mm512_storeu_ps(y + 120, v);
}

int main(void) {
    for (int i = 0; i < N + 16; i++) {
        x[i] = (float)i;
        d[i] = i / 2.0;
        index_of[i] = i * 7 % N;
        far[i] = i * 11 % N;
    }
    for (int i = 0; i < 256; i++) bytes[i] = (unsigned char)(i * 3);
    for (int n = 0; n < N; n += 23) conditional(n);
    float sum = indirect(N - 5);
    for (unsigned i = 0; i < 9; i++) {
        index_of[i] = i % 2 ? -index_of[i] / 4 - 1 : index_of[i]; /* for the upper bit */
        by_hand((__mmask16)(0x9d31u * (i + 1)), (__mmask8)(0x5bu >> i), 0x9e3779b97f4a7c15ull << i);
        index_of[i] = (int32_t)i;
    }
    double total = sum;
    for (int i = 0; i < N; i++) total += y[i] + d[i] + counts[i % 64] + other[i];
    printf("%.6g\n", total);
    return 0;
}
