/* seconds.h - a clock that only goes forward, for how long something took. */
#ifndef RSC_BASE_SECONDS_H
#define RSC_BASE_SECONDS_H

#include <time.h>

static inline double rsc_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

#endif
