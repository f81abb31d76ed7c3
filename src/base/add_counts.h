/* add_counts.h - adds counts that files or watched programs gave, which may be any number. */
#ifndef RSC_BASE_ADD_COUNTS_H
#define RSC_BASE_ADD_COUNTS_H

#include <stdint.h>

/* The sum; it stops at INT64_MAX, the largest count that a profile can hold. */
static inline uint64_t rsc_add_counts(uint64_t a, uint64_t b) {
    uint64_t sum;
    return __builtin_add_overflow(a, b, &sum) || sum > INT64_MAX ? INT64_MAX : sum;
}

#endif
