/* cpu.c - run-time choice among vector widths; see cpu.h. */
#include "base/cpu.h"

#include <stdlib.h>
#include <string.h>

static const char *const simd_names[RSC_SIMD_COUNT] = {"plain", "avx2", "avx512"};

int rsc_simd_available(enum rsc_simd simd) {
    if (simd == RSC_SIMD_PLAIN) return 1;
#if defined(__x86_64__)
    __builtin_cpu_init();
    int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt");
    if (simd == RSC_SIMD_AVX2) return avx2;
    if (simd == RSC_SIMD_AVX512)
        return avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
               __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") &&
               __builtin_cpu_supports("avx512vpopcntdq") && __builtin_cpu_supports("avx512vbmi");
#endif
    return 0;
}

enum rsc_simd rsc_simd_best(void) {
    int limit = RSC_SIMD_COUNT - 1;
    const char *wanted = getenv("REUSESCOPE_SIMD");
    for (int i = 0; wanted && i < RSC_SIMD_COUNT; i++)
        if (!strcmp(wanted, simd_names[i])) limit = i;
    while (limit > RSC_SIMD_PLAIN && !rsc_simd_available((enum rsc_simd)limit)) limit--;
    return (enum rsc_simd)limit;
}

const char *rsc_simd_name(enum rsc_simd simd) { return simd_names[simd]; }
