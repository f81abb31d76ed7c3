/*
 * search.h - binary search in what is in order.
 *
 *     size_t above = RSC_SEARCH(0, count, i, list[i].start <= address);
 *     size_t at = RSC_SEARCH(1, count, i, list[i].start <= address) - 1;   (the last at or below it; at least 0)
 */
#ifndef RSC_BASE_SEARCH_H
#define RSC_BASE_SEARCH_H

/* The first i of first .. end for which `holds` is 0: it holds for all before, and for none after. `end` if there is none. */
#define RSC_SEARCH(first, end, i, holds)                                    \
    ({                                                                      \
        __typeof__((first) + (end)) rsc_low_ = (first), rsc_high_ = (end);  \
        while (rsc_low_ < rsc_high_) {                                      \
            __typeof__(rsc_low_) i = rsc_low_ + (rsc_high_ - rsc_low_) / 2; \
            if (holds) rsc_low_ = i + 1;                                    \
            else rsc_high_ = i;                                             \
        }                                                                   \
        rsc_low_;                                                           \
    })

#endif
