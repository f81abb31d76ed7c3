/* exact_avx512.c - exact_kernel.h compiled for AVX512. */
#if defined(__x86_64__)
#include "distance/exact_kernel.h"

const struct rsc_exact_kernel rsc_exact_avx512 = RSC_EXACT_KERNEL;
#else
typedef int rsc_no_avx512; /* an empty file is no C */
#endif
