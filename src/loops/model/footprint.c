/* footprint.c - see footprint.h. */
#include "loops/model/footprint.h"

#include <reusescope/error.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/search.h"

/* Bins of intervals: each value to 64, then 16 per octave to 2^62. */
#define BINS (64 + 56 * 16)
/* Among 0, 1, 1.36 and 2 this gave the smallest error on half the kernels: docs/measured/loops.md. */
#define KS_LIMIT 1.36
/* How the expected distance is rounded to a whole number: between nearest (0.5) and up (0). */
#define ROUND_DOWN 0.25

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
    uint32_t bins;    /* up to that of the longest interval */
    double *start;    /* [count + 1] */
    double *integral; /* [count][bins + 1]: of P(interval > y) dy up to each bin's low end */
    double low[BINS + 1];
};

static uint32_t slice_of(const struct slices *slices, double time) {
    return RSC_SEARCH(1, slices->count, i, slices->start[i] <= time) - 1;
}

/* Slices of about equal length, cut at the given times if there are not too many. */
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

/* Joins neighbouring slices whose intervals a Kolmogorov-Smirnov test cannot distinguish. */
static void join_alike(struct slices *slices, double *weight, double *sum, double *number) {
    uint32_t kept = 0, bins = slices->bins;
    for (uint32_t k = 1; k < slices->count; k++) {
        double *a = weight + (size_t)kept * bins, *b = weight + (size_t)k * bins, na = 0, nb = 0;
        for (uint32_t i = 0; i < bins; i++) {
            na += a[i];
            nb += b[i];
        }
        double apart = 0, sa = 0, sb = 0;
        for (uint32_t i = 0; i < bins && na > 0 && nb > 0; i++) {
            if (a[i] + b[i] <= 0) continue;
            sa += a[i] / na;
            sb += b[i] / nb;
            if (fabs(sa - sb) > apart) apart = fabs(sa - sb);
        }
        double limit = KS_LIMIT * sqrt(1 / (number[kept] + 1) + 1 / (number[k] + 1));
        if (apart > limit) {
            kept++;
            slices->start[kept] = slices->start[k];
            if (kept != k) {
                memcpy(weight + (size_t)kept * bins, b, bins * sizeof *weight);
                memcpy(sum + (size_t)kept * bins, sum + (size_t)k * bins, bins * sizeof *sum);
                number[kept] = number[k];
            }
            continue;
        }
        for (uint32_t i = 0; i < bins; i++) {
            a[i] += b[i];
            sum[(size_t)kept * bins + i] += sum[(size_t)k * bins + i];
        }
        number[kept] += number[k];
    }
    slices->start[kept + 1] = slices->start[slices->count];
    slices->count = kept + 1;
}

/* `last`: uses of the slice that are the last of their lines. */
static void integrate(struct slices *slices, uint32_t slice, const double *weight, const double *sum, double last) {
    double seen = 0;
    for (uint32_t b = 0; b < slices->bins; b++) seen += weight[b];
    double whole = seen + last > 0 ? seen + last : 1, left = whole, part = 1, total = 0;
    double *integral = slices->integral + (size_t)slice * (slices->bins + 1);
    for (uint32_t b = 0; b < slices->bins; b++) {
        integral[b] = total;
        double low = slices->low[b], width = slices->low[b + 1] - low;
        if (weight[b] > 0) {
            double mean = sum[b] / weight[b];
            total += part * (mean - low);
            left = left > weight[b] ? left - weight[b] : 0;
            part = left / whole;
            total += part * (low + width - mean);
        } else {
            total += part * width;
        }
    }
    integral[slices->bins] = total;
}

/* Lines whose last use lies y0 to y1 before the end, both within one slice. */
static double lines_between(const struct slices *slices, uint32_t slice, double y0, double y1) {
    const double *integral = slices->integral + (size_t)slice * (slices->bins + 1);
    uint32_t a = bin_of(y0), b = bin_of(y1);
    double at0 =
        integral[a] + (y0 - slices->low[a]) / (slices->low[a + 1] - slices->low[a]) * (integral[a + 1] - integral[a]);
    double at1 =
        integral[b] + (y1 - slices->low[b]) / (slices->low[b + 1] - slices->low[b]) * (integral[b + 1] - integral[b]);
    return at1 - at0;
}

int rsc_footprint_distances(struct rsc_reuse_sample *sample, size_t count, double length, double lines_in_all,
                            const double *cut, size_t cut_count, uint32_t wanted) {
    if (!(length > 0) || !count) return 0;
    uint32_t most = 2 * wanted + 2; /* slices */
    struct slices *slices = calloc(1, sizeof *slices);
    if (!slices) return RSC_ENOMEM;
    slices->start = malloc((most + 1) * sizeof *slices->start);
    double *weight = NULL, *number = NULL;
    int status = slices->start ? 0 : RSC_ENOMEM;
    if (status < 0) goto out;
    for (size_t i = 0; i < count; i++) {
        uint32_t bin = bin_of(sample[i].interval);
        if (bin + 1 >= slices->bins) slices->bins = bin + 2; /* rounding may take one more */
    }
    const uint32_t bins = slices->bins;
    for (uint32_t b = 0; b <= bins; b++) slices->low[b] = bin_low(b);
    cut_slices(slices, length, cut, cut_count, wanted);
    weight = calloc((size_t)slices->count * bins * 2, sizeof *weight);
    number = calloc(slices->count, sizeof *number);
    status = weight && number ? 0 : RSC_ENOMEM;
    if (status < 0) goto out;
    double *sum = weight + (size_t)slices->count * bins;
    for (size_t i = 0; i < count; i++) {
        if (sample[i].interval <= 0) continue;
        double from = sample[i].end - sample[i].interval;
        size_t at = (size_t)slice_of(slices, from > 0 ? from : 0) * bins + bin_of(sample[i].interval);
        number[at / bins]++;
        weight[at] += sample[i].weight;
        sum[at] += sample[i].weight * sample[i].interval;
    }
    join_alike(slices, weight, sum, number);
    slices->integral = malloc((size_t)slices->count * (bins + 1) * sizeof *slices->integral);
    status = slices->integral ? 0 : RSC_ENOMEM;
    if (status < 0) goto out;
    /* Every line has one last use: the missing reuses of all slices sum to the number of lines. */
    double lacking = 0;
    for (int pass = 0; pass < 2; pass++)
        for (uint32_t k = 0; k < slices->count; k++) {
            double seen = 0, length_k = slices->start[k + 1] - slices->start[k];
            for (uint32_t b = 0; b < bins; b++) seen += weight[(size_t)k * bins + b];
            double lack = length_k > seen ? length_k - seen : 0;
            if (!pass) lacking += lack;
            else
                integrate(slices, k, weight + (size_t)k * bins, sum + (size_t)k * bins,
                          lacking > 0 ? lack * lines_in_all / lacking : 0);
        }
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
        sample[i].distance = lines > 1 ? ceil(lines - 1 - ROUND_DOWN) : 0;
    }
out:
    free(slices->start);
    free(slices->integral);
    free(slices);
    free(weight);
    free(number);
    return status;
}
