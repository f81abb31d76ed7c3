/* seconds.h - clocks that only go forward, for how long something took. */
#ifndef RSC_BASE_SECONDS_H
#define RSC_BASE_SECONDS_H

#include <stdint.h>
#include <time.h>

static inline double rsc_seconds_now(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* Processor time of the calling thread. */
static inline uint64_t rsc_thread_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

#endif
