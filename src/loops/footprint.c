/* footprint.c - see footprint.h. */
#include "loops/footprint.h"

#include <reusescope/error.h>

#include <stdlib.h>
#include <string.h>

/* Bins of intervals: each value to 64, then 16 an octave to 2^62. */
#define BINS (64 + 56 * 16)

static uint32_t bin_of(double value) {
    if (value < 64) return value < 0 ? 0 : (uint32_t)value;
    uint64_t whole = value < 0x1p62 ? (uint64_t)value : UINT64_C(1) << 61;
    uint32_t octave = 63 - (uint32_t)__builtin_clzll(whole);
    return 64 + (octave - 6) * 16 + (uint32_t)(whole >> (octave - 4) & 15);
}

static double bin_low(uint32_t bin) {
    if (bin < 64) return bin;
    return (double)((uint64_t)(16 + (bin - 64) % 16) << ((bin - 64) / 16 + 2));
}

struct slices {
    uint32_t count;
    double *start;    /* [count + 1] */
    double *integral; /* [count][BINS + 1]: of P(interval > y) dy up to each bin's low end */
    double low[BINS + 1];
};

static uint32_t slice_of(const struct slices *slices, double time) {
    uint32_t low = 0, high = slices->count;
    while (high - low > 1) {
        uint32_t middle = (low + high) / 2;
        if (slices->start[middle] <= time) low = middle;
        else high = middle;
    }
    return low;
}

/* Slices of about equal length, cut at the given times where those are not too many. */
static void cut_slices(struct slices *slices, double length, const double *cut, size_t cut_count, uint32_t wanted) {
    slices->count = 0;
    if (cut_count >= wanted || !cut_count) {
        size_t next = 0;
        for (uint32_t k = 0; k < wanted; k++) {
            double at = length * k / wanted;
            if (k && cut_count) { /* the nearest given time */
                while (next + 1 < cut_count && cut[next] < at) next++;
                at = cut[next];
            }
            if (slices->count && at <= slices->start[slices->count - 1]) continue;
            slices->start[slices->count++] = k ? at : 0;
        }
    } else {
        double from = 0;
        for (size_t i = 0; i <= cut_count; i++) {
            double to = i < cut_count ? cut[i] : length;
            uint32_t parts = (uint32_t)(wanted * (to - from) / length + 0.5);
            if (to <= from) continue;
            if (!parts) parts = 1;
            for (uint32_t k = 0; k < parts; k++) slices->start[slices->count++] = from + (to - from) * k / parts;
            from = to;
        }
    }
    slices->start[slices->count] = length;
}

static void integrate(struct slices *slices, uint32_t slice, const double *weight, const double *sum) {
    double length = slices->start[slice + 1] - slices->start[slice], seen = 0;
    for (uint32_t b = 0; b < BINS; b++) seen += weight[b];
    double whole = length > seen ? length : seen, left = whole, total = 0;
    double *integral = slices->integral + (size_t)slice * (BINS + 1);
    for (uint32_t b = 0; b < BINS; b++) {
        integral[b] = total;
        double low = slices->low[b], width = slices->low[b + 1] - low;
        if (weight[b] > 0) {
            double mean = sum[b] / weight[b];
            total += left / whole * (mean - low);
            left = left > weight[b] ? left - weight[b] : 0;
            total += left / whole * (low + width - mean);
        } else {
            total += left / whole * width;
        }
    }
    integral[BINS] = total;
}

/* Lines whose last use lies y0 to y1 before the end, both within one slice. */
static double lines_between(const struct slices *slices, uint32_t slice, double y0, double y1) {
    const double *integral = slices->integral + (size_t)slice * (BINS + 1);
    uint32_t a = bin_of(y0), b = bin_of(y1);
    double at0 = integral[a] + (y0 - slices->low[a]) / (slices->low[a + 1] - slices->low[a]) * (integral[a + 1] - integral[a]);
    double at1 = integral[b] + (y1 - slices->low[b]) / (slices->low[b + 1] - slices->low[b]) * (integral[b + 1] - integral[b]);
    return at1 - at0;
}

int rsc_footprint_distances(struct rsc_reuse_sample *sample, size_t count, double length, const double *cut,
                            size_t cut_count, uint32_t wanted) {
    if (!(length > 0) || !count) return 0;
    uint32_t most = 2 * wanted + 2;
    struct slices *slices = calloc(1, sizeof *slices);
    if (!slices) return RSC_ENOMEM;
    slices->start = malloc((most + 1) * sizeof *slices->start);
    slices->integral = malloc((size_t)most * (BINS + 1) * sizeof *slices->integral);
    double *weight = calloc((size_t)most * BINS * 2, sizeof *weight);
    int status = slices->start && slices->integral && weight ? 0 : RSC_ENOMEM;
    if (status < 0) goto out;
    for (uint32_t b = 0; b <= BINS; b++) slices->low[b] = bin_low(b);
    cut_slices(slices, length, cut, cut_count, wanted);
    double *sum = weight + (size_t)most * BINS;
    for (size_t i = 0; i < count; i++) {
        if (sample[i].interval <= 0) continue;
        double from = sample[i].end - sample[i].interval;
        size_t at = (size_t)slice_of(slices, from > 0 ? from : 0) * BINS + bin_of(sample[i].interval);
        weight[at] += sample[i].weight;
        sum[at] += sample[i].weight * sample[i].interval;
    }
    for (uint32_t k = 0; k < slices->count; k++) integrate(slices, k, weight + (size_t)k * BINS, sum + (size_t)k * BINS);
    for (size_t i = 0; i < count; i++) {
        if (sample[i].interval <= 0) continue;
        /* The references strictly between the two uses: 1 .. interval - 1 before the later. */
        double end = sample[i].end, from = end - sample[i].interval, lines = 0, y = 0;
        if (from < 0) from = 0;
        for (uint32_t k = slice_of(slices, end < length ? end : length);; k--) {
            double reach = end - (slices->start[k] > from ? slices->start[k] : from);
            if (reach > y) {
                lines += lines_between(slices, k, y, reach);
                y = reach;
            }
            if (!k || slices->start[k] <= from) break;
        }
        sample[i].distance = lines > 1 ? lines - 1 : 0;
    }
out:
    free(slices->start);
    free(slices->integral);
    free(slices);
    free(weight);
    return status;
}
