/* auto_preview.c - see auto_preview.h. */
#include "engine/auto_preview.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/line_hash.h"
#include "distance/exact/exact_state.h"
#include "distance/shards/line_filter.h"
#include "engine/auto_curve.h"
#include "profile/metrics.h"

#define SIZES_MOST 512u

int rsc_auto_preview_init(struct rsc_auto_preview *preview, double rate, uint64_t seed) {
    assert(rate > 0 && rate < 1);
    *preview = (struct rsc_auto_preview){
        .rate = rate, .limit = (uint64_t)(rate * 0x1p64) - 1, .offset = rsc_line_offset(seed)};
    int failed = rsc_histogram_init(&preview->start_rd, RSC_BINS_FINE) < 0 ||
                 rsc_histogram_init(&preview->kept, RSC_BINS_FINE) < 0;
    return failed ? RSC_ENOMEM : 0;
}

void rsc_auto_preview_free(struct rsc_auto_preview *preview) {
    rsc_histogram_free(&preview->start_rd);
    rsc_histogram_free(&preview->kept);
}

void rsc_auto_preview_start(struct rsc_auto_preview *preview, const struct rsc_accumulator *sum) {
    assert(sum->rd.bin_count == preview->start_rd.bin_count);
    memset(preview->kept.count, 0, preview->kept.bin_count * sizeof *preview->kept.count);
    memcpy(preview->start_rd.count, sum->rd.count, sum->rd.bin_count * sizeof *sum->rd.count);
    preview->cold_kept = 0;
    preview->start_cold = sum->cold;
    preview->start_references = sum->references;
}

void rsc_auto_preview_take(struct rsc_auto_preview *preview, const uint64_t *lines, const uint32_t *rd,
                           uint32_t count) {
    for (uint32_t i = 0; i < count; i++) {
        if (rsc_line_hash(lines[i], preview->offset) > preview->limit) continue;
        if (rd[i] == RSC_RD_COLD) preview->cold_kept++;
        else preview->kept.count[rsc_bin_of_fine(rd[i])]++;
    }
}

double rsc_auto_preview_error(const struct rsc_auto_preview *preview, const struct rsc_accumulator *sum,
                              uint64_t small_lines, uint64_t distinct) {
    uint32_t bin = preview->kept.bin_count;
    double all = (double)(sum->references - preview->start_references);
    double off = 0, sampled = (double)preview->cold_kept, misses = (double)(sum->cold - preview->start_cold);
    uint64_t sizes[SIZES_MOST];
    size_t count = 0;
    for (uint64_t lines = 1; lines <= distinct && count < SIZES_MOST; lines = rsc_grid_next(lines, 8))
        sizes[count++] = lines;
    for (size_t i = count; i-- > 0;) {
        uint32_t at = rsc_bin_of_fine(sizes[i]); /* the bin's lower edge is the size, on both sides */
        while (bin > at) {
            bin--;
            sampled += (double)preview->kept.count[bin];
            misses += (double)(sum->rd.count[bin] - preview->start_rd.count[bin]);
        }
        double ratio = fmin(1, sampled / preview->rate / all);
        off += (1 - rsc_burst_weight(small_lines, (double)sizes[i])) * fabs(ratio - misses / all);
    }
    return count ? off / (double)count : 0;
}
