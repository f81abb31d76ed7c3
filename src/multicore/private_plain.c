/* private_plain.c - private_kernel.h compiled for any machine. */
#include "multicore/private_kernel.h"

int rsc_private_run_plain(struct rsc_private_stacks *stacks, const struct rsc_private_references *references,
                          uint32_t *rd, uint64_t *ri, uint32_t *last_tag) {
    return private_block(stacks, references, rd, ri, last_tag);
}
