/* last_use_avx512.c - last_use_kernel.h compiled for AVX512. */
#if defined(__x86_64__)
#include "distance/last_use_kernel.h"

int rsc_last_use_run_avx512(struct rsc_last_use *last, const uint64_t *lines, uint32_t count,
                          struct rsc_intervals *found) {
    return last_use_kernel(last, lines, count, found);
}
#else
typedef int rsc_no_last_use_avx512; /* an empty file is no C */
#endif
