/* ri_models.c - see ri_models.h for the formulas. */
#include "profile/ri_models.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/error.h>

#include "base/search.h"
#include "estimate/statistics.h"

/* Relative error allowed for sums of probabilities that should be whole numbers. */
#define ROUNDING 1e-9

/* ---- tails ---- */

/* Fills `above` and `excess`. */
static void tails_set_lean(struct rsc_tails *tails, double lean) {
    const struct rsc_histogram *histogram = tails->histogram;
    double above = 0, excess = 0;
    tails->lean = lean;
    for (uint32_t bin = tails->bins; bin-- > 0;) {
        double width = (double)(rsc_bin_hi(histogram->bins, bin) + 1 - rsc_bin_lo(histogram->bins, bin));
        double count = (double)histogram->count[bin];
        tails->above[bin] = above;
        tails->excess[bin] = excess;
        excess += above * width + count * (width > 1 ? lean * (width + 1) / 2 : 1);
        above += count;
    }
}

static int tails_init(struct rsc_tails *tails, const struct rsc_histogram *histogram) {
    memset(tails, 0, sizeof *tails);
    tails->histogram = histogram;
    if (!histogram) return 0;
    uint32_t bins = histogram->bin_count;
    while (bins && !histogram->count[bins - 1]) bins--;
    tails->bins = bins;
    if (!bins) return 0;
    tails->above = malloc(3 * (size_t)bins * sizeof *tails->above);
    if (!tails->above) return RSC_ENOMEM;
    tails->excess = tails->above + bins;
    tails->within = tails->excess + bins;

    tails_set_lean(tails, 1);
    double within = 0;
    /* Summed upwards, so that short intervals keep full precision. */
    for (uint32_t bin = 0; bin < bins; bin++) {
        uint64_t lo = rsc_bin_lo(histogram->bins, bin), hi = rsc_bin_hi(histogram->bins, bin);
        tails->within[bin] = within;
        if (lo > hi) continue; /* a bin that can hold nothing */
        double width = (double)(hi - lo) + 1, count = (double)histogram->count[bin];
        within += tails->above[bin] * width + count * (width - 1) / 2;
        if (lo == 0) within -= tails->above[bin] + count * (double)hi / width; /* the sum starts at k = 1 */
    }
    return 0;
}

/* Values above w. */
static double tails_above(const struct rsc_tails *tails, uint64_t w) {
    if (!tails->bins) return 0;
    const struct rsc_bins bins = tails->histogram->bins;
    uint32_t bin = rsc_bin_of(bins, w);
    if (bin >= tails->bins) return 0;
    uint64_t lo = rsc_bin_lo(bins, bin), hi = rsc_bin_hi(bins, bin);
    double share = (double)(hi - w) / ((double)(hi - lo) + 1);
    return tails->above[bin] + (double)tails->histogram->count[bin] * share;
}

/* Sum of (value - w) over values above w. */
static double tails_excess(const struct rsc_tails *tails, uint64_t w) {
    if (!tails->bins) return 0;
    const struct rsc_bins bins = tails->histogram->bins;
    uint32_t bin = rsc_bin_of(bins, w);
    if (bin >= tails->bins) return 0;
    uint64_t lo = rsc_bin_lo(bins, bin), hi = rsc_bin_hi(bins, bin);
    double left = (double)(hi - w), width = (double)(hi - lo) + 1;
    return tails->excess[bin] + tails->above[bin] * left +
           (double)tails->histogram->count[bin] * tails->lean * left * (left + 1) / 2 / width;
}

/* The sum of all values: the part known exactly, and the part added by an even spread within bins. */
static void tails_total(const struct rsc_tails *tails, double *exact, double *spread) {
    for (uint32_t bin = 0; bin < tails->bins; bin++) {
        uint64_t lo = rsc_bin_lo(tails->histogram->bins, bin), hi = rsc_bin_hi(tails->histogram->bins, bin);
        double count = (double)tails->histogram->count[bin];
        if (hi == lo) *exact += count * (double)lo;
        if (hi > lo) *exact += count * ((double)lo - 1), *spread += count * ((double)(hi - lo) + 2) / 2;
    }
}

/* Sum over k = 1 .. r-1 of the values above k; r >= 1. */
static double tails_within(const struct rsc_tails *tails, uint64_t r) {
    if (!tails->bins) return 0;
    const struct rsc_bins bins = tails->histogram->bins;
    uint32_t bin = rsc_bin_of(bins, r);
    if (bin >= tails->bins) { /* no values above the last bin */
        bin = tails->bins - 1;
        r = rsc_bin_hi(bins, bin);
        if (r == 0) return 0;
    }
    uint64_t lo = rsc_bin_lo(bins, bin), hi = rsc_bin_hi(bins, bin), from = lo ? lo : 1;
    double steps = (double)(r - from), width = (double)(hi - lo) + 1;
    /* above(k) falls linearly from k = from to k = r-1 */
    double first = (double)(hi - from) / width, last = (double)(hi - r + 1) / width;
    double share = steps > 0 ? steps * (first + last) / 2 : 0;
    return tails->within[bin] + tails->above[bin] * steps + (double)tails->histogram->count[bin] * share;
}

/* ---- the model ---- */

int rsc_ri_model_init(struct rsc_ri_model *model, enum rsc_ri_model_kind kind, const struct rsc_ri_counts *counts) {
    memset(model, 0, sizeof *model);
    model->kind = kind;
    model->counts = *counts;
    model->references = counts->cold + rsc_histogram_total(counts->ri);
    if (tails_init(&model->ri, counts->ri) < 0 || tails_init(&model->first, counts->last ? counts->first : NULL) < 0 ||
        tails_init(&model->last, counts->first ? counts->last : NULL) < 0) {
        rsc_ri_model_free(model);
        return RSC_ENOMEM;
    }
    model->lines = (double)counts->distinct;
    if (kind == RSC_RI_HOTL && model->first.bins) {
        /* first use + intervals + last use (from the end) = references + 1, for each line */
        double each = (double)model->references + 1, exact = 0, spread = 0;
        double sum = counts->sum > 0 ? counts->sum : (double)counts->distinct * each;
        struct rsc_tails *all[] = {&model->ri, &model->first, &model->last};
        for (int i = 0; i < 3; i++) tails_total(all[i], &exact, &spread);
        double lean = spread > 0 ? fmin(fmax((sum - exact) / spread, 0), 2) : 1;
        for (int i = 0; i < 3; i++) tails_set_lean(all[i], lean);
        if (counts->sum > 0) model->lines = (exact + lean * spread) / each;
    }
    if (model->ri.bins) model->longest = rsc_bin_hi(counts->ri->bins, model->ri.bins - 1);
    return 0;
}

void rsc_ri_model_free(struct rsc_ri_model *model) {
    free(model->ri.above);
    free(model->first.above);
    free(model->last.above);
    memset(model, 0, sizeof *model);
}

const char *const rsc_ri_model_names[] = {"statstack", "aet", "hotl", "shen", NULL};

double rsc_ri_model_lines_within(const struct rsc_ri_model *model, uint64_t interval) {
    if (interval < 2) return 0;
    double endless = (double)model->counts.cold * (double)(interval - 1);
    return (tails_within(&model->ri, interval) + endless) / (double)model->references;
}

double rsc_ri_model_footprint(const struct rsc_ri_model *model, uint64_t window) {
    double missing =
        tails_excess(&model->ri, window) + tails_excess(&model->first, window) + tails_excess(&model->last, window);
    return model->lines - missing / ((double)(model->references - window) + 1);
}

static int misses_interval(const struct rsc_ri_model *model, uint64_t interval, uint64_t lines) {
    double within = rsc_ri_model_lines_within(model, interval), size = (double)lines;
    if (model->kind == RSC_RI_AET) return within > (size - 1) * (1 + ROUNDING) + ROUNDING;
    return within >= (size - 0.5) * (1 - ROUNDING);
}

/* The least interval from `low` up that misses. */
static uint64_t threshold_from(const struct rsc_ri_model *model, uint64_t low, uint64_t lines) {
    return RSC_SEARCH(low, model->longest + 1, i, !misses_interval(model, i, lines));
}

uint64_t rsc_ri_model_threshold(const struct rsc_ri_model *model, uint64_t lines) {
    return lines ? threshold_from(model, 1, lines) : 1;
}

/*
 * Misses of a cache by the tangent of the footprint. *window is set to the longest
 * window whose footprint fits; it is not less than its old value.
 */
static double tangent_misses(const struct rsc_ri_model *model, uint64_t *window, uint64_t lines) {
    double size = (double)lines * (1 + ROUNDING); /* fits at *window */
    uint64_t low = RSC_SEARCH(*window + 1, model->references + 1, i, rsc_ri_model_footprint(model, i) <= size) - 1;
    *window = low;
    if (low == model->references) return (double)model->counts.cold;
    /* fp(w+1) - fp(w), computed without subtracting two nearly equal numbers */
    double gaps = tails_above(&model->ri, low) + tails_above(&model->first, low) + tails_above(&model->last, low);
    double rest = (double)(model->references - low);
    double missing = model->lines - rsc_ri_model_footprint(model, low + 1);
    double rate = (gaps - missing) / (rest + 1);
    return rsc_ri_model_footprint(model, low) + rest * rate;
}

/* ---- whole histograms ---- */

/* The bins of rd from misses[bin], reuses with RD >= lo of the bin: rounded sums, so that none is lost. */
static void counts_from_misses(struct rsc_histogram *rd, const double *misses, uint32_t bins, uint64_t total) {
    uint64_t left = total;
    memset(rd->count, 0, rd->bin_count * sizeof *rd->count);
    for (uint32_t bin = 0; bin < bins; bin++) {
        double next = bin + 1 < bins ? misses[bin + 1] : 0;
        uint64_t after = next > 0 ? (uint64_t)(next + 0.5) : 0;
        if (after > left) after = left;
        rd->count[bin] = left - after;
        left = after;
    }
}

/* Binomials up to this variance are summed term by term, wider ones approximated by normals: the leading term of that
 * error, |1 - 2p| / (6 sd sqrt(2 pi)), is then below a thousandth of the count. */
#define VARIANCE_SUMMED 10000.0

static double normal_below(double x, double mean, double sd) { return 0.5 * erfc((mean - x) / (sd * M_SQRT2)); }

/* Adds weight * Binomial(trials, p) to mass[bin of the value], bins below `bins`. */
static void add_binomial(double *mass, struct rsc_bins layout, uint32_t bins, double weight, uint64_t trials,
                         double p) {
    double mean = (double)trials * p, variance = mean * (1 - p);
    if (p <= 0 || p >= 1 || trials == 0) {
        mass[p > 0 && trials ? bins - 1 : 0] += weight;
        return;
    }
    double reach = 8 * sqrt(variance) + 8;
    uint64_t low = mean > reach ? (uint64_t)(mean - reach) : 0;
    uint64_t high = mean + reach < (double)trials ? (uint64_t)(mean + reach) : trials;
    if (variance > VARIANCE_SUMMED) {
        double sd = sqrt(variance), below = 0;
        uint32_t first = rsc_bin_of(layout, low), last = rsc_bin_of(layout, high);
        for (uint32_t bin = first; bin <= last; bin++) {
            double upto = bin == last ? 1 : normal_below((double)rsc_bin_hi(layout, bin) + 0.5, mean, sd);
            mass[bin < bins ? bin : bins - 1] += weight * (upto - below);
            below = upto;
        }
        return;
    }
    uint64_t middle = (uint64_t)mean;
    double odds = p / (1 - p), at_middle = weight * rsc_binomial_pmf(middle, trials, p), term = at_middle;
    for (uint64_t k = middle;; k++) {
        uint32_t bin = rsc_bin_of(layout, k);
        mass[bin < bins ? bin : bins - 1] += term;
        if (k >= high) break;
        term *= (double)(trials - k) / (double)(k + 1) * odds;
    }
    term = at_middle;
    for (uint64_t k = middle; k > low; k--) {
        term *= (double)k / ((double)(trials - k + 1) * odds);
        mass[rsc_bin_of(layout, k - 1)] += term;
    }
}

/* Points of a wide bin at which Shen's p3 is evaluated. */
#define POINTS 4u

static void shen_misses(const struct rsc_ri_model *model, const struct rsc_histogram *part, struct rsc_bins layout,
                        double *misses, uint32_t bins) {
    uint64_t others = model->counts.distinct - 1;
    double reuses = (double)rsc_histogram_total(model->counts.ri);
    for (uint32_t bin = 0; bin < bins; bin++) misses[bin] = 0;
    for (uint32_t bin = 0; bin < part->bin_count; bin++) {
        if (!part->count[bin]) continue;
        uint64_t lo = rsc_bin_lo(part->bins, bin), width = rsc_bin_hi(part->bins, bin) - lo + 1;
        uint32_t points = width >= POINTS ? POINTS : 1;
        for (uint32_t i = 0; i < points; i++) {
            uint64_t interval = lo + (uint64_t)(((double)i + 0.5) * (double)width / points);
            double p3 = interval > 1 && others ? tails_within(&model->ri, interval) / reuses / (double)others : 0;
            add_binomial(misses, layout, bins, (double)part->count[bin] / points, others, fmin(p3, 1));
        }
    }
    for (uint32_t bin = bins - 1; bin-- > 0;) misses[bin] += misses[bin + 1]; /* from counts to tails */
}

int rsc_ri_model_rd_of(const struct rsc_ri_model *model, const struct rsc_histogram *part, struct rsc_histogram *rd) {
    uint64_t total = rsc_histogram_total(part);
    memset(rd->count, 0, rd->bin_count * sizeof *rd->count);
    if (!total) return 0;
    uint32_t bins = model->counts.distinct ? rsc_bin_of(rd->bins, model->counts.distinct - 1) + 1 : 1;
    double *misses = malloc(bins * sizeof *misses);
    struct rsc_tails tails = {0};
    if (!misses || tails_init(&tails, part) < 0) {
        free(misses);
        return RSC_ENOMEM;
    }
    if (model->kind == RSC_RI_SHEN) {
        shen_misses(model, part, rd->bins, misses, bins);
    } else {
        int tangent = model->kind == RSC_RI_HOTL && model->first.histogram && part == model->counts.ri;
        uint64_t threshold = 1, window = 0;
        double before = (double)total;
        misses[0] = before;
        for (uint32_t bin = 1; bin < bins; bin++) {
            uint64_t lines = rsc_bin_lo(rd->bins, bin);
            if (tangent) {
                misses[bin] = tangent_misses(model, &window, lines) - (double)model->counts.cold;
            } else {
                threshold = threshold_from(model, threshold, lines);
                misses[bin] = tails_above(&tails, threshold - 1);
            }
            /* fp is not quite concave near the trace's ends: a larger cache never misses more */
            before = misses[bin] = fmax(0, fmin(misses[bin], before));
        }
    }
    counts_from_misses(rd, misses, bins, total);
    free(tails.above);
    free(misses);
    return 0;
}

int rsc_ri_model_rd(const struct rsc_ri_model *model, struct rsc_histogram *rd) {
    return rsc_ri_model_rd_of(model, model->counts.ri, rd);
}
