/* last_use_plain.c - last_use_kernel.h for any machine. */
#include "distance/last_use_kernel.h"

int rsc_last_use_run_plain(struct rsc_last_use *last, const uint64_t *lines, uint32_t count,
                           struct rsc_intervals *found) {
    return last_use_kernel(last, lines, count, found);
}
