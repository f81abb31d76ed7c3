/*
 * cpu.h - which of the builds of a vectorised loop this machine should run.
 *
 * A hot loop is written once in a header and compiled several times: plain
 * (which is NEON on AArch64), *_avx2.c and *_avx512.c. The choice is made when
 * an object that uses the loop is created.
 */
#ifndef RSC_BASE_CPU_H
#define RSC_BASE_CPU_H

enum rsc_simd { RSC_SIMD_PLAIN, RSC_SIMD_AVX2, RSC_SIMD_AVX512, RSC_SIMD_COUNT };

/* Whether this machine and build can run that variant. Plain always can. */
int rsc_simd_available(enum rsc_simd simd);

/* The widest available; the environment variable REUSESCOPE_SIMD (plain, avx2, avx512) caps it. */
enum rsc_simd rsc_simd_best(void);

const char *rsc_simd_name(enum rsc_simd simd);

/* To be called between two looks at what another thread may have changed. */
static inline void rsc_cpu_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
