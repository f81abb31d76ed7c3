/* use_watch_avx512.c - use_watch_kernel.h compiled for AVX512. */
#if defined(__x86_64__)
#include "distance/use_watch_kernel.h"

int rsc_use_watch_run_avx512(struct rsc_use_watch *watch, const uint64_t *lines, uint32_t count,
                           struct rsc_watch_found *found) {
    return use_watch_kernel(watch, lines, count, found);
}
#else
typedef int rsc_no_use_watch_avx512; /* an empty file is no C */
#endif
