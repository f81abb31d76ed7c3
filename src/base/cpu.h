/*
 * cpu.h - selects which build of a vectorised loop this machine runs.
 *
 * A hot loop is written once, in a file *_kernel.c, which the build compiles once per
 * width: plain (NEON on AArch64) and, on x86-64, avx2 and avx512. The choice is made
 * when an object that uses the loop is created:
 *
 *     typedef int rsc_run(struct rsc_thing *);          thing.h
 *     RSC_WIDE_DECLARE(rsc_run, rsc_thing_run);
 *     int RSC_WIDE(rsc_thing_run)(struct ...) {...}      thing_kernel.c
 *     thing->run = RSC_WIDE_PICK(simd, rsc_thing_run);   thing.c
 */
#ifndef RSC_BASE_CPU_H
#define RSC_BASE_CPU_H

enum rsc_simd { RSC_SIMD_PLAIN, RSC_SIMD_AVX2, RSC_SIMD_AVX512, RSC_SIMD_COUNT };

#define RSC_WIDE_JOIN(name, width) name##_##width
#define RSC_WIDE_NAME(name, width) RSC_WIDE_JOIN(name, width)
#define RSC_WIDE(name) RSC_WIDE_NAME(name, RSC_WIDTH) /* in *_kernel.c: the build sets RSC_WIDTH */
#define RSC_WIDE_DECLARE(type, name) type name##_plain, name##_avx2, name##_avx512
#if defined(__x86_64__)
#define RSC_WIDE_PICK(simd, name) \
    ((simd) == RSC_SIMD_AVX512 ? name##_avx512 : (simd) == RSC_SIMD_AVX2 ? name##_avx2 : name##_plain)
#else
#define RSC_WIDE_PICK(simd, name) ((void)(simd), name##_plain)
#endif

/* Whether this machine and build can run that variant. Plain always can. */
int rsc_simd_available(enum rsc_simd simd);

/* The widest available; the environment variable REUSESCOPE_SIMD (plain, avx2, avx512) caps it. */
enum rsc_simd rsc_simd_best(void);

const char *rsc_simd_name(enum rsc_simd simd);

/* Call between two polls of a variable that another thread changes. */
static inline void rsc_cpu_pause(void) {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

#endif
