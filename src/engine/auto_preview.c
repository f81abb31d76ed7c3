/* auto_preview.c - see auto_preview.h. */
#include "engine/auto_preview.h"

#include <assert.h>
#include <math.h>
#include <string.h>

#include "base/line_hash.h"
#include "distance/exact/exact_state.h"
#include "distance/shards/line_choice.h"
#include "engine/auto_curve.h"
#include "estimate/statistics.h"
#include "profile/metrics.h"

#define SIZES_MOST 512u
#define BLOCK 256u
#define GROUPS RSC_LINE_GROUPS

int rsc_auto_preview_init(struct rsc_auto_preview *preview, double rate, uint64_t seed) {
    assert(rate > 0 && rate < 1);
    *preview = (struct rsc_auto_preview){
        .rate = rate, .limit = (uint64_t)(rate * 0x1p64) - 1, .offset = rsc_line_offset(seed)};
    int failed = rsc_histogram_init(&preview->all, RSC_BINS_FINE) < 0 ||
                 rsc_histogram_init(&preview->kept, RSC_BINS_FINE) < 0 || rsc_line_groups_init(&preview->groups) < 0;
    return failed ? RSC_ENOMEM : 0;
}

void rsc_auto_preview_free(struct rsc_auto_preview *preview) {
    rsc_histogram_free(&preview->all);
    rsc_histogram_free(&preview->kept);
    rsc_line_groups_free(&preview->groups);
}

void rsc_auto_preview_restart(struct rsc_auto_preview *preview) {
    memset(preview->all.count, 0, preview->all.bin_count * sizeof *preview->all.count);
    memset(preview->kept.count, 0, preview->kept.bin_count * sizeof *preview->kept.count);
    memset(preview->groups.rd, 0, RSC_LINE_GROUP_BINS * sizeof *preview->groups.rd);
    memset(preview->groups.cold, 0, sizeof preview->groups.cold);
    preview->references = preview->cold = preview->cold_kept = 0;
}

static void take_kept(struct rsc_auto_preview *preview, uint64_t line, uint32_t rd) {
    uint32_t group = rsc_hash_group(rsc_line_hash(line, preview->offset), GROUPS);
    if (rd == RSC_RD_COLD) {
        preview->cold_kept++;
        preview->groups.cold[group]++;
    } else {
        preview->kept.count[rsc_bin_of_fine(rd)]++;
        preview->groups.rd[rsc_line_group_bin(rd)][group]++;
    }
}

void rsc_auto_preview_take(struct rsc_auto_preview *preview, const uint64_t *lines, const uint32_t *rd,
                           uint32_t count) {
    uint32_t at[BLOCK + 1];
    preview->references += count;
    for (uint32_t first = 0; first < count; first += BLOCK) {
        uint32_t stop = count - first < BLOCK ? count : first + BLOCK, kept = 0;
        for (uint32_t i = first; i < stop; i++) { /* without a branch: which lines are kept cannot be predicted */
            at[kept] = i;
            kept += rsc_line_hash(lines[i], preview->offset) <= preview->limit;
        }
        for (uint32_t i = 0; i < kept; i++) take_kept(preview, lines[at[i]], rd[at[i]]);
        for (uint32_t i = first; i < stop; i++)
            if (rd[i] == RSC_RD_COLD) preview->cold++;
            else preview->all.count[rsc_bin_of_fine(rd[i])]++;
    }
}

/* Standard deviation of the kept references that miss, from how they are spread over the groups. */
static double misses_deviation(const double *misses, double rate) {
    double mean = 0, squares = 0;
    for (uint32_t g = 0; g < GROUPS; g++) mean += misses[g] / GROUPS;
    for (uint32_t g = 0; g < GROUPS; g++) squares += (misses[g] - mean) * (misses[g] - mean);
    return sqrt(squares * (1 - rate) * GROUPS / (GROUPS - 1));
}

/* Half width of a bar in standard deviations `times` at size i: of the ratio, and of the size as few lines measure it. */
static double half_width(const double *misses, const double *up, const uint64_t *sizes, size_t i, size_t count,
                         double rate, double times) {
    size_t before = i ? i - 1 : i, after = i + 1 < count ? i + 1 : i;
    double octaves = log2(1 + sqrt((1 - rate) / rate / (double)sizes[i]));
    double steps = after > before ? log2((double)sizes[after] / (double)sizes[before]) : 1;
    double across = (misses[before] - misses[after]) * octaves / steps;
    return times * sqrt(up[i] * up[i] + across * across);
}

struct rsc_auto_expected rsc_auto_preview_expect(const struct rsc_auto_preview *preview, uint64_t small_lines,
                                                 uint64_t distinct, double confidence_percent) {
    uint32_t bin = preview->kept.bin_count, group_bin = RSC_LINE_GROUP_BINS;
    double all = (double)preview->references, sampled = (double)preview->cold_kept, missed = (double)preview->cold;
    double groups[GROUPS], misses[SIZES_MOST], up[SIZES_MOST];
    double times = rsc_student_quantile(0.5 + confidence_percent / 200, GROUPS - 1);
    struct rsc_auto_expected expected = {0, 0};
    uint64_t sizes[SIZES_MOST];
    size_t count = 0;
    for (uint64_t lines = 1; lines <= distinct && count < SIZES_MOST; lines = rsc_grid_next(lines, 8))
        sizes[count++] = lines;
    memcpy(groups, preview->groups.cold, sizeof groups);
    for (size_t i = count; i-- > 0;) {
        uint32_t at = rsc_bin_of_fine(sizes[i]); /* the bin's lower edge is the size, on both sides */
        while (bin > at) {
            bin--;
            sampled += (double)preview->kept.count[bin];
            missed += (double)preview->all.count[bin];
        }
        while (group_bin > rsc_line_group_bin(sizes[i])) {
            group_bin--;
            for (uint32_t g = 0; g < GROUPS; g++) groups[g] += preview->groups.rd[group_bin][g];
        }
        misses[i] = missed / all;
        up[i] = misses_deviation(groups, preview->rate) / preview->rate / all;
        double ratio = fmin(1, sampled / preview->rate / all);
        expected.error += (1 - rsc_burst_weight(small_lines, (double)sizes[i])) * fabs(ratio - misses[i]);
    }
    for (size_t i = 0; i < count; i++)
        expected.stated += (1 - rsc_burst_weight(small_lines, (double)sizes[i])) *
                           half_width(misses, up, sizes, i, count, preview->rate, times);
    expected.error /= count ? (double)count : 1;
    expected.stated /= count ? (double)count : 1;
    return expected;
}
