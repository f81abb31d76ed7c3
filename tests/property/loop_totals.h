/*
 * loop_totals.h - what the numbers of one result of loops have to do with each other.
 */
#ifndef RSC_TESTS_PROPERTY_LOOP_TOTALS_H
#define RSC_TESTS_PROPERTY_LOOP_TOTALS_H

#include <math.h>
#include <stdlib.h>

#include "loops/model/loops_model.h"

/*
 * A cache that holds every line has first uses alone, no bar is below them, references' misses add up to the
 * loop's, and threads' first uses are at least the lines.
 */
__attribute__((unused)) static void check_totals(const struct rsc_loops_result *result, const char *name,
                                                 const char *way) {
    const struct rsc_mrc_point *last = &result->mrc[result->mrc_count - 1];
    double all = (double)result->references, cold = (double)result->distinct / all;
    double *misses = calloc(result->row_count + 1, sizeof *misses);
    assert_non_null(misses);
    if (last->miss_ratio != cold || last->low != cold || last->high != cold)
        fail_msg("%s %s T=%u: %g (%g to %g) where %g", name, way, result->threads, last->miss_ratio, last->low,
                 last->high, cold);
    for (size_t g = 0; g < result->mrc_count; g++) {
        const struct rsc_mrc_point *at = &result->mrc[g];
        double rows = 0;
        if (at->low < cold * (1 - 1e-12) || at->low > at->miss_ratio || at->miss_ratio > at->high)
            fail_msg("%s %s T=%u, %llu lines: %.17g (%.17g to %.17g), first uses %.17g", name, way, result->threads,
                     (unsigned long long)at->lines, at->miss_ratio, at->low, at->high, cold);
        rsc_loops_blame(result, at->lines, misses);
        for (size_t r = 0; r < result->row_count; r++) {
            rows += misses[r];
            assert_true(misses[r] >= 0 && misses[r] <= (double)result->rows[r].references * (1 + 1e-9));
        }
        if (fabs(rows - at->miss_ratio * all) > 1e-6 * all)
            fail_msg("%s %s T=%u, %llu lines: references miss %.0f times, the loop %.0f", name, way, result->threads,
                     (unsigned long long)at->lines, rows, at->miss_ratio * all);
    }
    free(misses);
    if (result->own.mrc)
        assert_true(result->own.cold_low >= (double)result->distinct && result->own.cold >= result->own.cold_low &&
                    result->own.cold <= result->own.cold_high);
}

#endif
