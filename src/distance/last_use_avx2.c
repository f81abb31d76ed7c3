/* last_use_avx2.c - last_use_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "distance/last_use_kernel.h"

int rsc_last_use_run_avx2(struct rsc_last_use *last, const uint64_t *lines, uint32_t count,
                          struct rsc_intervals *found) {
    return last_use_kernel(last, lines, count, found);
}
#else
typedef int rsc_no_last_use_avx2; /* an empty file is no C */
#endif
