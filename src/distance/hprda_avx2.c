/* hprda_avx2.c - hprda_kernel.h compiled for AVX2. */
#if defined(__x86_64__)
#include "distance/hprda_kernel.h"

int rsc_hprda_local_avx2(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count, uint32_t start) {
    return hprda_kernel(work, references, count, start);
}
#else
typedef int rsc_no_hprda_avx2; /* an empty file is no C */
#endif
