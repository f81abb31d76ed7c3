/*
 * curve_draws.c - how much a curve differs from one draw of the interleaving to the next.
 *
 * Samples are divided among draws (leads.h). A draw's miss ratio at a size differs from the mean of draws by what its
 * own samples miss more than their strata do; what these differ by alone, because they are few, is subtracted:
 * neighbours in time of one stratum and draw, whose leads are almost the same, show how much that is.
 */
#include <stdlib.h>
#include <string.h>

#include "loops/model/region_analysis.h"

#define NEAR_SIZES 2u /* on each side, whose draws differ alike */

struct use {
    uint32_t stratum, draw;
    double end;
    size_t sizes; /* smaller ones than its distance */
};

static int by_stratum(const void *a, const void *b) {
    const struct use *x = a, *y = b;
    if (x->stratum != y->stratum) return x->stratum < y->stratum ? -1 : 1;
    if (x->draw != y->draw) return x->draw < y->draw ? -1 : 1;
    return x->end < y->end ? -1 : x->end > y->end;
}

/* The samples that depend on the draw, in order of stratum, draw and time. */
static size_t find_uses(const struct rsc_loops_samples *samples, const uint64_t *size, size_t sizes, struct use *use) {
    size_t count = 0;
    for (size_t i = 0; i < samples->count; i++)
        if (samples->draw[i] && samples->sample[i].interval > 0)
            use[count++] =
                (struct use){samples->strata ? samples->stratum[i] : samples->reference[i], samples->draw[i] - 1u,
                             samples->sample[i].end, rsc_loops_sizes_up_to(size, sizes, samples->sample[i].distance)};
    qsort(use, count, sizeof *use, by_stratum);
    return count;
}

static void sum_from_the_end(double *by, size_t sizes) {
    for (size_t g = sizes; g-- > 0;) by[g] += by[g + 1];
}

/*
 * Adds one stratum's uses: to more[draw][size] what each draw misses more than all do, to alone[size] what the variance
 * of one draw's would be if draws were alike.
 */
static void add_stratum(const struct use *use, size_t count, size_t sizes, double weight, uint32_t draws,
                        double *misses, double *changes, double *more, double *alone) {
    size_t pairs = 0;
    memset(misses, 0, (sizes + 1) * sizeof *misses);
    memset(changes, 0, (sizes + 1) * sizeof *changes);
    for (size_t i = 0; i < count; i++) {
        misses[use[i].sizes]++;
        if (!i || use[i].draw != use[i - 1].draw) continue;
        size_t a = use[i - 1].sizes, b = use[i].sizes;
        changes[a > b ? a : b]++;
        changes[a > b ? b : a]--;
        pairs++;
    }
    sum_from_the_end(misses, sizes); /* misses at size g are now misses[g + 1] */
    sum_from_the_end(changes, sizes);
    for (size_t g = 0; g < sizes; g++) {
        double p = misses[g + 1] / (double)count, drawn = p * (1 - p);
        double local = pairs ? changes[g + 1] / (2.0 * (double)pairs) : drawn;
        alone[g] += weight * weight * fmin(local, drawn) * (double)count / draws;
    }
    for (size_t i = 0; i < count; i++) {
        double *of = more + (size_t)use[i].draw * (sizes + 1);
        for (size_t g = 0; g < sizes; g++) of[g] += weight * ((g < use[i].sizes) - misses[g + 1] / (double)count);
    }
}

int rsc_loops_draws_variance(const struct rsc_loops_samples *samples, const struct rsc_loops_tally *tally,
                             const uint64_t *size, double *variance) {
    size_t sizes = tally->sizes, room = sizes + 1;
    uint32_t draws = samples->draws;
    struct use *use = malloc((samples->count + 1) * sizeof *use);
    double *more = calloc((draws + (size_t)4) * room, sizeof *more);
    int status = use && more ? 0 : RSC_ENOMEM;
    double *alone = status < 0 ? NULL : more + draws * room, *misses = alone + room, *changes = misses + room,
           *found = changes + room;
    size_t count = status < 0 ? 0 : find_uses(samples, size, sizes, use);
    for (size_t from = 0, end; from < count; from = end) {
        for (end = from; end < count && use[end].stratum == use[from].stratum;) end++;
        double of_stratum = tally->by[use[from].stratum * room];
        double weight = (1 - tally->cold) * tally->weight[use[from].stratum] / tally->all / of_stratum;
        add_stratum(use + from, end - from, sizes, weight, draws, misses, changes, more, alone);
    }
    for (size_t g = 0; count && g < sizes; g++) {
        double squares = 0;
        for (uint32_t k = 0; k < draws; k++) squares += more[k * room + g] * more[k * room + g];
        found[g] = (double)draws * draws * (squares / (draws - 1) - alone[g]);
    }
    for (size_t g = 0; count && g < sizes; g++) {
        size_t from = g < NEAR_SIZES ? 0 : g - NEAR_SIZES, near = 0;
        double sum = 0;
        for (size_t k = from; k < sizes && k <= g + NEAR_SIZES; k++, near++) sum += found[k];
        variance[g] += fmax(sum / (double)near, 0) * (1 + 1.0 / draws);
    }
    free(use);
    free(more);
    return status;
}
