/* first_level_plain.c - first_level_kernel.h compiled for the plain machine. */
#include "simulate/first_level_kernel.h"

uint32_t rsc_fast_gather_plain(struct rsc_fast_gather *gather, const struct rsc_batch *batch, uint32_t first, uint32_t end) {
    return gather_kernel(gather, batch, first, end);
}
void rsc_fast_serve_plain(struct rsc_fast_part *part, const uint64_t *references, uint32_t count) {
    serve_kernel(part, references, count);
}
