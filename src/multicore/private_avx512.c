/* private_avx512.c - private_kernel.h compiled for AVX-512. */
#if defined(__x86_64__)
#include "multicore/private_kernel.h"

int rsc_private_run_avx512(struct rsc_private_stacks *stacks, const struct rsc_private_references *references,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return private_block(stacks, references, rd, ri, last_tag);
}
#else
typedef int rsc_no_private_avx512; /* an empty file is no C */
#endif
