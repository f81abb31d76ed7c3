/* hprda_plain.c - hprda_kernel.h compiled for any machine of this architecture. */
#include "distance/hprda_kernel.h"

int rsc_hprda_local_plain(struct rsc_hprda_work *work, const uint64_t *references, uint32_t count, uint32_t start) {
    return hprda_kernel(work, references, count, start);
}
