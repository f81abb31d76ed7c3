/* private_avx512.c - private_kernel.h compiled for AVX-512. */
#if defined(__x86_64__)
#include "multicore/private_kernel.h"

int rsc_private_run_avx512(struct rsc_private_stacks *stacks, const struct rsc_private_references *references,
                         uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return private_block(stacks, references, rd, ri, last_tag);
}

void rsc_private_bytes_avx512(const struct rsc_private_columns *from, const uint64_t *lines, uint64_t *bytes, uint32_t count,
                         uint32_t line_shift) {
    private_bytes(from, lines, bytes, count, line_shift);
}

void rsc_private_renumber_avx512(struct rsc_private_stack *stack, const struct rsc_line_copies *copies,
                            struct rsc_private_stack *with) {
    private_renumber(stack, copies, with);
}
#else
typedef int rsc_no_private_avx512; /* an empty file is no C */
#endif
