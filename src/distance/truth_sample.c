/* truth_sample.c - see truth_sample.h. */
#include "distance/truth_sample.h"

#include <math.h>
#include <string.h>

#include "base/statistics.h"

#define PARTS RSC_SAMPLE_PARTS
#define LINES_SEEN_LEAST 8u /* sampled lines in a distance, for lines to judge it */

int rsc_truth_sample_init(struct rsc_truth_sample *sample, uint64_t seed) {
    memset(sample, 0, sizeof *sample);
    int status = rsc_line_sample_init(&sample->line, seed);
    if (status == 0) status = rsc_window_sample_init(&sample->window, seed);
    if (status < 0) rsc_truth_sample_free(sample);
    return status;
}

void rsc_truth_sample_free(struct rsc_truth_sample *sample) {
    rsc_line_sample_free(&sample->line);
    rsc_window_sample_free(&sample->window);
}

/* Sizes up to this are judged by random references. */
static uint64_t window_lines(const struct rsc_truth_sample *sample) {
    return (uint64_t)LINES_SEEN_LEAST << sample->line.rate_shift;
}

int rsc_truth_sample_take(struct rsc_truth_sample *sample, struct rsc_last_use *last, uint64_t distinct_before,
                          const uint64_t *lines, const struct rsc_intervals *found) {
    struct rsc_line_uses uses = {lines, found->sampled, found->sampled_count, NULL, last->now - found->count, found->count,
                                 (double)distinct_before, (double)last->distinct};
    rsc_line_sample_take(&sample->line, &uses);
    last->rate_shift = sample->line.rate_shift;
    return rsc_window_sample_take(&sample->window, lines, found->ri, found->count, window_lines(sample));
}

int rsc_truth_sample_take_watched(struct rsc_truth_sample *sample, struct rsc_use_watch *watch, double distinct_before,
                                  const uint64_t *lines, uint32_t count, const struct rsc_watch_found *found) {
    struct rsc_line_uses uses = {found->line, found->sampled, found->sampled_count, found->index, watch->now - count, count,
                                 distinct_before, rsc_use_watch_lines(watch)};
    rsc_line_sample_take(&sample->line, &uses);
    watch->rate_shift = sample->line.rate_shift;
    return rsc_window_sample_take_bursts(&sample->window, lines, count, window_lines(sample));
}

/* ---- estimates ---- */

/* From counts to counts of this bin and all above. */
static void sum_up(uint64_t *count, uint32_t bins) {
    for (uint32_t bin = bins - 1; bin-- > 0;) count[bin] += count[bin + 1];
}
static void sum_up_weighted(double *count, uint32_t bins) {
    for (uint32_t bin = bins - 1; bin-- > 0;) count[bin] += count[bin + 1];
}

/* A place in a histogram of tails: values >= some value, which falls into `bin` at `share` of its upper part. */
struct cut {
    uint32_t bin;
    double share;
};

static struct cut cut_at(uint64_t value) {
    uint32_t bin = rsc_bin_of_fine(value);
    uint64_t lo = rsc_bin_lo(RSC_BINS_FINE, bin), hi = rsc_bin_hi(RSC_BINS_FINE, bin);
    return (struct cut){bin, ((double)(hi - value) + 1) / ((double)(hi - lo) + 1)};
}

static double tail(const uint64_t *sums, struct cut cut) {
    double above = (double)sums[cut.bin + 1];
    return above + cut.share * ((double)sums[cut.bin] - above);
}
static double tail_weighted(const double *sums, struct cut cut) {
    return sums[cut.bin + 1] + cut.share * (sums[cut.bin] - sums[cut.bin + 1]);
}

struct estimate {
    double value, error; /* references; error NaN: nothing is known */
    double least;        /* what one sampled reference stands for */
    double freedom;
};

/* How many more of the trace's references their intervals say miss than do, by the lines. */
static struct estimate residual_by_lines(const struct rsc_line_sample *line, struct cut rd, struct cut ri) {
    double predicted = 0, by_part[PARTS], sum = 0, squares = 0;
    for (uint32_t part = 0; part < PARTS; part++)
        predicted += by_part[part] = tail(line->ri + (size_t)part * line->bin_count, ri);
    double value = predicted - tail(line->rd + (size_t)PARTS * line->bin_count, rd);
    double without[PARTS];
    for (uint32_t part = 0; part < PARTS; part++) {
        double true_misses = tail(line->rd + (size_t)part * line->bin_count, rd);
        without[part] = (predicted - by_part[part] - true_misses) * PARTS / (PARTS - 1);
        sum += without[part];
    }
    for (uint32_t part = 0; part < PARTS; part++) squares += pow(without[part] - sum / PARTS, 2);
    double missed = 1 - 1 / (double)(1ull << line->rate_shift); /* nothing is left to chance when all are sampled */
    double least = line->rate_shift ? (double)(1ull << line->rate_shift) : 0;
    return (struct estimate){value, sqrt(squares * (PARTS - 1) / PARTS * missed), least, PARTS - 1};
}

/* The same by random references, for a trace of so many. */
static struct estimate residual_by_windows(const struct rsc_window_sample *window, struct cut rd, struct cut ri,
                                           uint64_t references) {
    double first = tail(window->first_ri, ri) - tail(window->first_rd, rd);
    if (window->first == references) return (struct estimate){first, 0, 0, PARTS - 1};
    uint32_t parts = window->samples < PARTS ? (uint32_t)window->samples : PARTS;
    if (parts < 3) return (struct estimate){0, NAN, 0, 1};
    double residual = 0, of = 0, by_part[PARTS], without[PARTS], sum = 0, squares = 0;
    for (uint32_t part = 0; part < parts; part++) {
        by_part[part] = tail_weighted(window->part_ri + (size_t)part * window->bin_count, ri) -
                        tail_weighted(window->part_rd + (size_t)part * window->bin_count, rd);
        residual += by_part[part];
        of += window->part_references[part];
    }
    double rest = (double)(references - window->first);
    for (uint32_t part = 0; part < parts; part++)
        sum += without[part] = rest * (residual - by_part[part]) / (of - window->part_references[part]);
    for (uint32_t part = 0; part < parts; part++) squares += pow(without[part] - sum / parts, 2);
    /* what a reference stands for that is met by chance, as the one that is wrong would be */
    double least = rest / of * window->squares / of;
    return (struct estimate){first + rest * residual / of, sqrt(squares * (parts - 1) / parts), least, parts - 1.0};
}

/*
 * The interval around value that holds the truth with `confidence` (0 to 1), and
 * point too. If point is further off than the interval's end, the interval is
 * stretched to it, and its other end placed so that what lies between still has
 * that probability. reach: of Student's t with that confidence.
 */
static void stretch(double point, struct estimate truth, double confidence, double reach, double *low, double *high) {
    if (!(truth.error > 0)) {
        *low = fmin(point, truth.value);
        *high = fmax(point, truth.value);
        return;
    }
    double off = (point - truth.value) / truth.error, below = reach, above = reach;
    if (fabs(off) > reach) {
        /* covered: from the point (far, on one side) to -x on the other */
        double other = -rsc_student_quantile(rsc_student_cdf(fabs(off), truth.freedom) - confidence, truth.freedom);
        below = off < 0 ? -off : other;
        above = off < 0 ? other : off;
    }
    *low = truth.value - below * truth.error;
    *high = truth.value + above * truth.error;
}

/* Intervals at or above a value, asked for in descending order. */
struct descent {
    const struct rsc_histogram *histogram;
    uint32_t at; /* bins from here on are in the sum */
    uint64_t sum;
};

static double descend_to(struct descent *descent, struct cut cut) {
    while (descent->at > cut.bin + 1) descent->sum += descent->histogram->count[--descent->at];
    return (double)descent->sum + cut.share * (double)descent->histogram->count[cut.bin];
}

/* Distances are counted in sampled lines and scaled to all lines, whose number may be off by this share. */
static double error_sideways(const struct rsc_line_sample *line, uint64_t lines, double share) {
    const uint64_t *rd = line->rd + (size_t)PARTS * line->bin_count;
    uint64_t off = (uint64_t)((double)lines * share + 0.5);
    return off && off < lines ? (tail(rd, cut_at(lines - off)) - tail(rd, cut_at(lines + off))) / 2 : 0;
}

void rsc_truth_sample_bands(struct rsc_truth_sample *sample, const struct rsc_ri_model *model,
                            const struct rsc_interval_chance *chance, double confidence, struct rsc_profile *profile) {
    struct rsc_line_sample *line = &sample->line;
    struct rsc_window_sample *window = &sample->window;
    uint32_t bins = line->bin_count;
    for (uint32_t part = 0; part <= PARTS; part++) {
        sum_up(line->rd + (size_t)part * bins, bins);
        if (part == PARTS) break;
        sum_up(line->ri + (size_t)part * bins, bins);
        sum_up_weighted(window->part_ri + (size_t)part * bins, bins);
        sum_up_weighted(window->part_rd + (size_t)part * bins, bins);
    }
    sum_up(window->first_ri, bins);
    sum_up(window->first_rd, bins);

    double references = (double)profile->references, cold = (double)profile->cold;
    double cold_spread = chance ? rsc_normal_quantile(0.5 + confidence / 200) * chance->cold_error : 0;
    double cold_low = chance ? fmax(cold - cold_spread, chance->cold_known) : cold;
    double reach = 0, reach_for = 0; /* Student's t for so many degrees of freedom */
    struct descent whole = {model->counts.ri, model->counts.ri->bin_count, 0};
    for (size_t i = profile->mrc_count; i-- > 0;) {
        struct rsc_mrc_point *point = &profile->mrc[i];
        if (point->lines >= profile->distinct) { /* cold ones only */
            point->low = cold_low / references;
            point->high = fmin(cold + cold_spread, references) / references;
            continue;
        }
        struct cut rd = cut_at(point->lines), ri = cut_at(rsc_ri_model_threshold(model, point->lines));
        double predicted = cold + descend_to(&whole, ri);
        int by_windows = window->first == profile->references || point->lines <= window_lines(sample);
        struct estimate truth = by_windows ? residual_by_windows(window, rd, ri, profile->references)
                                           : residual_by_lines(line, rd, ri);
        truth.value = predicted - truth.value;
        /* That no sampled reference was predicted wrongly does not mean that none is: the next one might be. A
         * distance of 0 or not is told by the interval alone, so there nothing can be wrong. */
        if (point->lines > 1) truth.error = hypot(truth.error, truth.least);
        if (chance) {
            truth.error = hypot(truth.error, sqrt(chance->variance[ri.share < 0.5 ? ri.bin + 1 : ri.bin]));
            if (!by_windows) truth.error = hypot(truth.error, error_sideways(line, point->lines, chance->cold_error / cold));
        }
        double low = cold_low, high = references;
        if (truth.freedom != reach_for) reach = rsc_student_quantile(0.5 + confidence / 200, reach_for = truth.freedom);
        if (!isnan(truth.error)) stretch(point->miss_ratio * references, truth, confidence / 100, reach, &low, &high);
        point->low = fmin(fmax(low, cold_low) / references, point->miss_ratio);
        point->high = fmax(fmin(high, references) / references, point->miss_ratio);
    }
}
