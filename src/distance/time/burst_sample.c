/* burst_sample.c - see burst_sample.h. */
#include "distance/time/burst_sample.h"

#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/histogram.h"

#define COUNT_LEAST 1024u  /* references a burst counts ... */
#define COUNT_TIMES 2u     /* ... and per reference of its warm-up */
#define WARM_MOST 16u      /* references per wanted line, before a burst counts anyway */
#define PERIOD_FIRST 2u    /* references per reference of a burst: first ... */
#define PERIOD_LAST 48u    /* ... and later; one more for each past burst, or at once when ... */
#define SPENT_FREE 131072u /* ... this many were spent */

int rsc_burst_sample_init(struct rsc_burst_sample *sample, uint64_t seed) {
    memset(sample, 0, sizeof *sample);
    rsc_rng_seed(&sample->rng, seed, 2);
    uint32_t bins = sample->bin_count = rsc_bins_count(RSC_BINS_FINE);
    sample->left = RSC_BURST_FIRST;
    sample->period_last = PERIOD_LAST;
    sample->first_ri = calloc(4 * (size_t)bins, sizeof *sample->ri);
    sample->part_ri = calloc(2 * RSC_SAMPLE_PARTS * (size_t)bins, sizeof *sample->part_ri);
    if (!sample->first_ri || !sample->part_ri || rsc_exact_init(&sample->exact, rsc_simd_best(), 0) < 0) {
        rsc_burst_sample_free(sample);
        return RSC_ENOMEM;
    }
    sample->first_rd = sample->first_ri + bins;
    sample->ri = sample->first_rd + bins;
    sample->rd = sample->ri + bins;
    sample->part_rd = sample->part_ri + RSC_SAMPLE_PARTS * (size_t)bins;
    return 0;
}

void rsc_burst_sample_free(struct rsc_burst_sample *sample) {
    rsc_exact_free(&sample->exact);
    free(sample->first_ri);
    free(sample->part_ri);
    memset(sample, 0, sizeof *sample);
}

static void wait_for_next(struct rsc_burst_sample *sample, uint64_t burst_length) {
    uint64_t times = PERIOD_FIRST + sample->bursts;
    sample->spent += burst_length;
    if (times > sample->period_last || sample->spent > SPENT_FREE) times = sample->period_last;
    double mean = (double)burst_length * (double)(times - 1);
    sample->left = 1 + (uint64_t)(mean * (0.5 + rsc_rng_double(&sample->rng)));
    sample->state = RSC_BURST_WAITS;
    rsc_exact_free(&sample->exact);
}

/* Adds the burst to its part, and clears it. */
static void end_burst(struct rsc_burst_sample *sample) {
    uint32_t part = sample->bursts % RSC_SAMPLE_PARTS;
    double weight = (double)sample->period / (double)sample->taken;
    if (weight > sample->heaviest) sample->heaviest = weight;
    double *ri = sample->part_ri + (size_t)part * sample->bin_count,
           *rd = sample->part_rd + (size_t)part * sample->bin_count;
    for (uint32_t bin = 0; bin < sample->bin_count; bin++) {
        ri[bin] += weight * (double)sample->ri[bin];
        rd[bin] += weight * (double)sample->rd[bin];
    }
    memset(sample->ri, 0, 2 * sample->bin_count * sizeof *sample->ri);
    sample->part_beyond[part] += weight * (double)sample->beyond;
    sample->part_references[part] += (double)sample->period;
    sample->beyond = 0;
    sample->bursts++;
    sample->period = 0;
    wait_for_next(sample, sample->taken + sample->taken / COUNT_TIMES);
}

static void count_burst(struct rsc_burst_sample *sample, const uint64_t *ri, uint32_t count, uint64_t *ri_sum,
                        uint64_t *rd_sum) {
    for (uint32_t i = 0; i < count; i++) {
        if (!ri[i]) continue;
        ri_sum[rsc_bin_of_fine(ri[i])]++;
        if (sample->rd_found[i] == RSC_RD_COLD) sample->beyond++;
        else rd_sum[rsc_bin_of_fine(sample->rd_found[i])]++;
    }
}

int rsc_burst_sample_take(struct rsc_burst_sample *sample, const uint64_t *lines, const uint64_t *ri, uint32_t count,
                          uint64_t wanted) {
    for (uint32_t done = 0; done < count;) {
        uint32_t part = count - done < sample->left ? count - done : (uint32_t)sample->left;
        int status = 0;
        if (sample->state != RSC_BURST_WAITS)
            status = rsc_exact_run(&sample->exact, lines + done, part, sample->rd_found, sample->ri_found);
        if (status < 0) return status;
        if (sample->state == RSC_BURST_BEGINS) count_burst(sample, ri + done, part, sample->first_ri, sample->first_rd);
        if (sample->state == RSC_BURST_COUNTS) count_burst(sample, ri + done, part, sample->ri, sample->rd);
        sample->left -= part;
        sample->taken += part;
        sample->period += part;
        done += part;
        if (sample->state == RSC_BURST_WARMS && rsc_exact_distinct(&sample->exact) >= sample->wanted) sample->left = 0;
        if (sample->left) continue;
        switch (sample->state) {
        case RSC_BURST_BEGINS:
            sample->first = sample->taken;
            sample->period = 0;
            wait_for_next(sample, 4 * COUNT_LEAST);
            break;
        case RSC_BURST_WAITS:
            status = rsc_exact_init(&sample->exact, rsc_simd_best(), 0);
            sample->state = RSC_BURST_WARMS;
            sample->wanted = wanted;
            sample->left = WARM_MOST * wanted;
            break;
        case RSC_BURST_WARMS:
            sample->state = RSC_BURST_COUNTS;
            sample->left = COUNT_TIMES * sample->taken > COUNT_LEAST ? COUNT_TIMES * sample->taken : COUNT_LEAST;
            break;
        case RSC_BURST_COUNTS: end_burst(sample); break;
        }
        if (status < 0) return status;
        sample->taken = 0;
    }
    return 0;
}
