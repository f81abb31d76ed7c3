/* exact_plain.c - exact_kernel.h compiled for the plain machine. */
#include "distance/exact_kernel.h"

int rsc_exact_run_plain(struct rsc_exact *exact, const uint64_t *lines, const uint32_t *tags, uint32_t count, uint32_t *rd,
                        uint64_t *ri, uint32_t *last_tag) {
    return exact_kernel_for(exact, lines, tags, count, rd, ri, last_tag);
}

void rsc_exact_renumber_plain(struct rsc_exact *exact, uint64_t *new_time) { exact_renumber(exact, new_time); }
