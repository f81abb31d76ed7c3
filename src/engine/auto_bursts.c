/* auto_bursts.c - see auto_bursts.h. */
#include "engine/auto_bursts.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/histogram.h"

#define COUNT_LEAST 1024u  /* references a burst counts ... */
#define COUNT_TIMES 2u     /* ... and per reference of its warm-up */
#define WARM_MOST 16u      /* references per wanted line, before a burst counts anyway */
#define PERIOD_FIRST 2u    /* references per reference of a burst: first ... */
#define PERIOD_LAST 16u    /* ... and later; one more for each past burst, or at once when ... */
#define SPENT_FREE 131072u /* ... this many were spent */

int rsc_burst_sample_init(struct rsc_burst_sample *sample, uint64_t seed, uint64_t wanted) {
    *sample = (struct rsc_burst_sample){.state = RSC_BURST_WAITS, .left = 1, .wanted = wanted};
    rsc_rng_seed(&sample->rng, seed, 2);
    sample->bin_count = rsc_bins_count(RSC_BINS_FINE);
    sample->rd = calloc(sample->bin_count, sizeof *sample->rd);
    sample->part_rd = calloc(RSC_BURST_PARTS * (size_t)sample->bin_count, sizeof *sample->part_rd);
    return sample->rd && sample->part_rd ? 0 : RSC_ENOMEM;
}

void rsc_burst_sample_free(struct rsc_burst_sample *sample) {
    rsc_exact_free(&sample->exact);
    free(sample->rd);
    free(sample->part_rd);
    memset(sample, 0, sizeof *sample);
}

static void wait_for_next(struct rsc_burst_sample *sample, uint64_t burst_length) {
    uint64_t times = PERIOD_FIRST + sample->bursts;
    sample->spent += burst_length;
    if (times > PERIOD_LAST || sample->spent > SPENT_FREE) times = PERIOD_LAST;
    double mean = (double)burst_length * (double)(times - 1);
    sample->left = 1 + (uint64_t)(mean * (0.5 + rsc_rng_double(&sample->rng)));
    sample->state = RSC_BURST_WAITS;
    rsc_exact_free(&sample->exact);
}

/* Adds the burst to its part, and clears it. */
static void end_burst(struct rsc_burst_sample *sample) {
    uint32_t part = sample->bursts % RSC_BURST_PARTS;
    double weight = (double)sample->period / (double)sample->taken;
    double *rd = sample->part_rd + (size_t)part * sample->bin_count;
    for (uint32_t bin = 0; bin < sample->bin_count; bin++) rd[bin] += weight * (double)sample->rd[bin];
    memset(sample->rd, 0, sample->bin_count * sizeof *sample->rd);
    sample->part_beyond[part] += weight * (double)sample->beyond;
    sample->part_references[part] += (double)sample->period;
    sample->beyond = 0;
    sample->bursts++;
    sample->period = 0;
    wait_for_next(sample, sample->taken + sample->taken / COUNT_TIMES);
}

static int end_state(struct rsc_burst_sample *sample) {
    int status = 0;
    switch (sample->state) {
    case RSC_BURST_WAITS:
        status = rsc_exact_init(&sample->exact, rsc_simd_best(), 0);
        sample->state = RSC_BURST_WARMS;
        sample->left = WARM_MOST * sample->wanted;
        break;
    case RSC_BURST_WARMS:
        sample->state = RSC_BURST_COUNTS;
        sample->left = COUNT_TIMES * sample->taken > COUNT_LEAST ? COUNT_TIMES * sample->taken : COUNT_LEAST;
        break;
    case RSC_BURST_COUNTS: end_burst(sample); break;
    }
    sample->taken = 0;
    return status;
}

int rsc_burst_sample_take(struct rsc_burst_sample *sample, const uint64_t *lines, uint32_t count) {
    assert(count <= RSC_BURST_RUN);
    int status = 0;
    for (uint32_t done = 0; !status && done < count;) {
        uint32_t part = count - done < sample->left ? count - done : (uint32_t)sample->left;
        if (sample->state != RSC_BURST_WAITS)
            status = rsc_exact_run(&sample->exact, lines + done, part, sample->rd_found, sample->ri_found);
        if (status < 0) return status;
        for (uint32_t i = 0; sample->state == RSC_BURST_COUNTS && i < part; i++)
            if (sample->rd_found[i] == RSC_RD_COLD) sample->beyond++;
            else sample->rd[rsc_bin_of_fine(sample->rd_found[i])]++;
        sample->left -= part;
        sample->taken += part;
        sample->period += part;
        done += part;
        if (sample->state == RSC_BURST_WARMS && rsc_exact_distinct(&sample->exact) >= sample->wanted) sample->left = 0;
        if (!sample->left) status = end_state(sample);
    }
    return status;
}
