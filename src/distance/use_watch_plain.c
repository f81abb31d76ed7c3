/* use_watch_plain.c - use_watch_kernel.h for any machine. */
#include "distance/use_watch_kernel.h"

int rsc_use_watch_run_plain(struct rsc_use_watch *watch, const uint64_t *lines, uint32_t count,
                            struct rsc_watch_found *found) {
    return use_watch_kernel(watch, lines, count, found);
}
