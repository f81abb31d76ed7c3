/* first_level_avx512.c - first_level_kernel.h compiled for AVX512. */
#if defined(__x86_64__)
#include "simulate/first_level_kernel.h"

uint32_t rsc_fast_gather_avx512(struct rsc_fast_gather *gather, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    return gather_kernel(gather, batch, first, end);
}
void rsc_fast_serve_avx512(struct rsc_fast_part *part, const uint64_t *references, uint32_t count) {
    serve_kernel(part, references, count);
}
#else
typedef int rsc_no_first_level_avx512; /* an empty file is no C */
#endif
