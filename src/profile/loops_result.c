/* loops_result.c - see loops_result.h. */
#include "profile/loops_result.h"

#include <math.h>
#include <stdlib.h>

void rsc_loops_result_free(struct rsc_loops_result *result) {
    if (!result) return;
    rsc_histogram_free(&result->ri);
    for (size_t i = 0; result->rows && i < result->row_count; i++) rsc_histogram_free(&result->rows[i].rd);
    free(result->rows);
    free(result->mrc);
    free(result->own.mrc);
    free(result->own.arrays);
    free(result);
}

void rsc_loops_drop_variant(struct rsc_loops_found *loop) {
    struct rsc_loops_variant *variant = &loop->variant[--loop->variant_count];
    for (size_t r = 0; r < variant->result_count; r++) rsc_loops_result_free(variant->result[r]);
    free(variant->result);
    free(variant->what);
}

void rsc_loops_findings_free(struct rsc_loops_findings *findings) {
    for (size_t i = 0; i < findings->loop_count; i++) {
        struct rsc_loops_found *loop = &findings->loop[i];
        while (loop->variant_count) rsc_loops_drop_variant(loop);
        free(loop->variant);
        free(loop->gap);
        free(loop->assumed);
    }
    free(findings->loop);
}

struct rsc_mrc_point rsc_loops_result_at(const struct rsc_loops_result *result, uint64_t lines) {
    struct rsc_mrc_point all = {.miss_ratio = 1, .low = 1, .high = 1};
    if (!lines || !result->mrc_count) return all;
    size_t g = result->mrc_count;
    while (g > 1 && result->mrc[g - 1].lines > lines) g--;
    struct rsc_mrc_point point = result->mrc[g - 1];
    if (g < result->mrc_count && lines > point.lines) { /* interpolate linearly in the logarithm of the size */
        const struct rsc_mrc_point *next = &result->mrc[g];
        double part = log2((double)lines / (double)point.lines) / log2((double)next->lines / (double)point.lines);
        point.miss_ratio += part * (next->miss_ratio - point.miss_ratio);
        point.low += part * (next->low - point.low);
        point.high += part * (next->high - point.high);
    }
    point.lines = lines;
    return point;
}

/*
 * Rows have coarse bins, and samples of their own, so their sum is near the curve's misses, not equal. What is too many
 * is taken from reuses, what is missing given to references that hit, each row in proportion to those that it has.
 */
void rsc_loops_blame(const struct rsc_loops_result *result, uint64_t lines, double *misses) {
    double all = 0, cold = 0, references = 0;
    for (size_t r = 0; r < result->row_count; r++) {
        const struct rsc_loops_row *row = &result->rows[r];
        misses[r] = fmin(row->cold + (double)rsc_histogram_at_least(&row->rd, lines), (double)row->references);
        all += misses[r];
        cold += fmin(row->cold, misses[r]);
        references += (double)row->references;
    }
    double target = rsc_loops_result_at(result, lines).miss_ratio * (double)result->references, more = target - all;
    if (fabs(more) < 1e-9 * references) return;
    for (size_t r = 0; r < result->row_count; r++) {
        const struct rsc_loops_row *row = &result->rows[r];
        if (more > 0 && references > all)
            misses[r] += ((double)row->references - misses[r]) * more / (references - all);
        else if (more < 0 && target >= cold && all > cold)
            misses[r] += (misses[r] - fmin(row->cold, misses[r])) * more / (all - cold);
        else if (more < 0 && all > 0) misses[r] *= target / all; /* first uses were estimated too high */
    }
}
