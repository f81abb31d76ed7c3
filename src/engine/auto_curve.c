/* auto_curve.c - see auto_curve.h. */
#include "engine/auto_curve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "estimate/jackknife.h"
#include "estimate/statistics.h"
#include "profile/metrics.h"

#define PARTS RSC_BURST_PARTS

/* ---- bursts ---- */

struct rsc_burst_curve rsc_burst_curve_new(struct rsc_burst_sample *burst, uint64_t small_lines) {
    struct rsc_burst_curve curve = {burst, small_lines, burst->bursts < PARTS ? burst->bursts : PARTS, 0};
    for (uint32_t part = 0; part < curve.parts; part++) {
        double *rd = burst->part_rd + (size_t)part * burst->bin_count;
        for (uint32_t bin = burst->bin_count - 1; bin-- > 0;) rd[bin] += rd[bin + 1];
        curve.references += burst->part_references[part];
    }
    return curve;
}

double rsc_burst_weight(uint64_t small_lines, double lines) {
    return fmin(1, fmax(0, log2((double)small_lines / lines)));
}

static double part_misses(const struct rsc_burst_curve *curve, uint32_t part, uint32_t bin) {
    return curve->burst->part_rd[(size_t)part * curve->burst->bin_count + bin] + curve->burst->part_beyond[part];
}

/* Miss ratio of a cache as large as the lower edge of a fine bin; *sd is its standard deviation by the jackknife. */
static double burst_ratio(const struct rsc_burst_curve *curve, uint32_t bin, double *sd) {
    double misses = 0, without[PARTS];
    for (uint32_t part = 0; part < curve->parts; part++) misses += part_misses(curve, part, bin);
    for (uint32_t part = 0; part < curve->parts; part++)
        without[part] =
            (misses - part_misses(curve, part, bin)) / (curve->references - curve->burst->part_references[part]);
    *sd = curve->parts > 1 ? rsc_jackknife_error(without, curve->parts) : 0;
    return misses / curve->references;
}

/* ---- one profile ---- */

void rsc_auto_mend(struct rsc_profile *sampled, const struct rsc_burst_curve *bursts, double confidence) {
    if (bursts->parts < 3 || !sampled->mrc_count) return;
    double all = (double)sampled->references, sd;
    double times = rsc_student_quantile(0.5 + confidence / 200, bursts->parts - 1.0);
    uint32_t end = rsc_bin_of_fine(bursts->small_lines);
    if (end > sampled->mrc_count) end = (uint32_t)sampled->mrc_count;
    uint64_t after = sampled->cold, ahead; /* misses at the next size */
    for (uint32_t bin = sampled->rd.bin_count; bin-- > end;) after += sampled->rd.count[bin];
    uint64_t before = after; /* as counted in the sampled lines */
    for (uint32_t bin = end; bin-- > 1;) {
        struct rsc_mrc_point *point = &sampled->mrc[bin - 1];
        before += sampled->rd.count[bin];
        double weight = rsc_burst_weight(bursts->small_lines, (double)point->lines),
               ratio = burst_ratio(bursts, bin, &sd);
        double misses = weight * ratio * all + (1 - weight) * (double)before;
        ahead = misses < (double)after ? after : misses < all ? (uint64_t)(misses + 0.5) : sampled->references;
        if (ahead > sampled->references) ahead = sampled->references;
        sampled->rd.count[bin] = ahead - after;
        after = ahead;
        point->miss_ratio = (double)ahead / all;
        point->low = weight * (ratio - times * sd) + (1 - weight) * point->low;
        point->high = weight * (ratio + times * sd) + (1 - weight) * point->high;
        point->low = fmin(point->miss_ratio, fmax(0, point->low));
        point->high = fmax(point->miss_ratio, fmin(1, point->high));
    }
    if (end > 1) sampled->rd.count[0] = sampled->references - after;
}

static void append_threads(struct rsc_profile *exact, struct rsc_profile *sampled) {
    if (sampled->thread_count > exact->thread_count) {
        struct rsc_thread_row *rows = exact->threads;
        size_t count = exact->thread_count;
        exact->threads = sampled->threads;
        exact->thread_count = sampled->thread_count;
        sampled->threads = rows;
        sampled->thread_count = count;
    }
    for (size_t i = 0; i < sampled->thread_count; i++) {
        exact->threads[i].references += sampled->threads[i].references;
        exact->threads[i].cold += sampled->threads[i].cold;
        rsc_histogram_merge(&exact->threads[i].rd, &sampled->threads[i].rd);
    }
    if (sampled->made.threads > exact->made.threads) exact->made.threads = sampled->made.threads;
}

int rsc_auto_append(struct rsc_profile *exact, struct rsc_profile *sampled) {
    if (rsc_profile_derive_mrc(exact) < 0) return RSC_ENOMEM;
    struct rsc_profile before = {.mrc = exact->mrc, .mrc_count = exact->mrc_count};
    double share = (double)sampled->references / (double)(exact->references + sampled->references);
    exact->mrc = NULL;
    exact->mrc_count = 0;
    append_threads(exact, sampled);
    exact->accesses += sampled->accesses;
    exact->references += sampled->references;
    exact->cold += sampled->cold;
    exact->distinct += sampled->cold; /* those of before are known */
    rsc_histogram_merge(&exact->rd, &sampled->rd);
    rsc_histogram_merge(&exact->ri, &sampled->ri);
    /* a sample does not count kinds separately */
    int status = rsc_profile_set_kinds(exact, 0);
    if (status == 0) status = rsc_profile_derive_mrc(exact);
    for (size_t i = 0; status == 0 && i < exact->mrc_count; i++) {
        struct rsc_mrc_point *point = &exact->mrc[i];
        double known = (1 - share) * rsc_profile_mrc_at(&before, point->lines).miss_ratio;
        struct rsc_mrc_point rest = rsc_profile_mrc_at(sampled, point->lines);
        point->low = fmin(point->miss_ratio, known + share * rest.low);
        point->high = fmax(point->miss_ratio, known + share * rest.high);
    }
    free(before.mrc);
    return status;
}
