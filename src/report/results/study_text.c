/*
 * study_text.c - a study of sampling as text, in the tables of paper 001. Rows are caches; the paper's are traces,
 * but a study has only one trace.
 */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/fail.h"
#include "report/draw/text_buffer.h"
#include "report/results/results.h"

static const char *percent(double value, int sign, char *room) {
    if (isnan(value)) return "n/a";
    if (isinf(value)) return "inf";
    snprintf(room, 24, sign ? "%+.0f%%" : "%.1f%%", 100 * value);
    return room;
}

static void name_cache(struct rsc_text *text, const struct rsc_study_cache *cache) {
    rsc_text_put(text, "  %-26s %10.3f", cache->cache.text, 1000 * cache->mpi);
}

static void heading(struct rsc_text *text, const char *title, const char *columns) {
    rsc_text_put(text, "\n%s\n  %-26s %10s%s\n", title, "cache", "MPI*1000", columns);
}

/* ---- sets ---- */

/* Which address bits the samples below hold constant. */
static void table_constant(struct rsc_text *text, const struct rsc_study *study) {
    heading(text, "Constant bits: the address bits of samples of sets, one sample for each of their values",
            "        1/16        1/64");
    for (size_t i = 0; i < study->cache_count; i++) {
        name_cache(text, &study->caches[i]);
        for (int f = 0; f < RSC_STUDY_FRACTIONS; f++) {
            const struct rsc_study_sets *sets = &study->caches[i].sets[f];
            char bits[24] = "n/a";
            if (sets->available)
                snprintf(bits, sizeof bits, "%u-%u", sets->paper.low, sets->paper.low + sets->paper.width - 1);
            rsc_text_put(text, "  %10s", bits);
        }
        rsc_text_put(text, "\n");
    }
}

static void table_2(struct rsc_text *text, const struct rsc_study *study) {
    char a[24], b[24], c[24], d[24];
    heading(text, "Table 2: coefficient of variation, 1/16 of the sets, constant bits",
            "  fraction-instr  sampled-instr  sampled-refs  sampled-data");
    for (size_t i = 0; i < study->cache_count; i++) {
        const struct rsc_study_sets *sets = &study->caches[i].sets[0];
        name_cache(text, &study->caches[i]);
        if (!sets->available) rsc_text_put(text, "  %14s  %13s  %12s  %12s\n", "n/a", "n/a", "n/a", "n/a");
        else
            rsc_text_put(text, "  %14s  %13s  %12s  %12s\n", percent(sets->paper.cv, 0, a),
                         percent(sets->paper.cv_sampled, 0, b), percent(sets->paper.cv_references, 0, c),
                         percent(sets->paper.cv_data, 0, d));
    }
}

static void table_3(struct rsc_text *text, const struct rsc_study *study) {
    heading(
        text,
        "Table 3: variance of random samples over that of constant-bits samples (above 1: constant bits are better)",
        "        1/16        1/64");
    for (size_t i = 0; i < study->cache_count; i++) {
        name_cache(text, &study->caches[i]);
        for (int f = 0; f < RSC_STUDY_FRACTIONS; f++) {
            const struct rsc_study_sets *sets = &study->caches[i].sets[f];
            if (!sets->available || isnan(sets->paper.variance_ratio)) rsc_text_put(text, "  %10s", "n/a");
            else rsc_text_put(text, "  %10.2f", sets->paper.variance_ratio);
        }
        rsc_text_put(text, "\n");
    }
}

static void table_4(struct rsc_text *text, const struct rsc_study *study) {
    char a[24];
    heading(text,
            "Tables 4 and 10: precision of set samples, constant bits (+: fewer than 90% of the samples within 10%)",
            "     1/16 <=10%       CV     1/64 <=10%       CV");
    for (size_t i = 0; i < study->cache_count; i++) {
        name_cache(text, &study->caches[i]);
        for (int f = 0; f < RSC_STUDY_FRACTIONS; f++) {
            const struct rsc_study_sets *sets = &study->caches[i].sets[f];
            char within[24] = "n/a";
            if (sets->available)
                snprintf(within, sizeof within, "%llu/%llu%s", (unsigned long long)sets->paper.within,
                         (unsigned long long)sets->paper.samples,
                         10 * sets->paper.within < 9 * sets->paper.samples ? "+" : " ");
            rsc_text_put(text, "  %13s %8s", within, sets->available ? percent(sets->paper.cv, 0, a) : "n/a");
        }
        rsc_text_put(text, "\n");
    }
}

static void table_5(struct rsc_text *text, const struct rsc_study *study) {
    char a[24];
    heading(text, "Table 5: 90% confidence intervals that contain the truth (constant bits; random sets)",
            "  normal?  hot sets    1/16: bits   random    1/64: bits   random");
    for (size_t i = 0; i < study->cache_count; i++) {
        const struct rsc_study_cache *cache = &study->caches[i];
        name_cache(text, cache);
        rsc_text_put(text, "  %7s  %8llu", cache->shape.normal ? "yes" : "no", (unsigned long long)cache->shape.hot);
        for (int f = 0; f < RSC_STUDY_FRACTIONS; f++) {
            const struct rsc_study_sets *sets = &cache->sets[f];
            char covered[24] = "n/a";
            if (sets->available)
                snprintf(covered, sizeof covered, "%llu/%llu", (unsigned long long)sets->paper.covered,
                         (unsigned long long)sets->paper.samples);
            rsc_text_put(text, "  %12s %8s", covered, percent(sets->random.covered, 0, a));
        }
        rsc_text_put(text, "\n");
    }
}

/* Which bits: the variance of every range of index bits, against random sets. */
static void table_bits(struct rsc_text *text, const struct rsc_study *study) {
    char a[24];
    rsc_text_put(
        text,
        "\nWhich bits: coefficient of variation of 1/16 of the sets by constant index bits from the one given up, and of\n"
        "random sets ((): hashed or translated, so no filter of addresses)\n");
    for (size_t i = 0; i < study->cache_count; i++) {
        const struct rsc_study_sets *sets = &study->caches[i].sets[0];
        if (!sets->range_count) continue;
        name_cache(text, &study->caches[i]);
        rsc_text_put(text, "  random %s;", percent(sets->random.cv, 0, a));
        for (size_t k = 0; k < sets->range_count; k++)
            rsc_text_put(text, sets->ranges[k].usable ? " %u: %s" : " (%u: %s)", sets->ranges[k].low,
                         percent(sets->ranges[k].cv, 0, a));
        rsc_text_put(text, "\n");
    }
}

/* Correlation of the misses of sets by their distance. */
static void table_alike(struct rsc_text *text, const struct rsc_study *study) {
    rsc_text_put(text, "\nSimilarity of sets: rank correlation of the misses of sets at this distance\n  %-26s %10s",
                 "cache", "MPI*1000");
    for (int d = 0; d < RSC_STUDY_DISTANCES; d++) rsc_text_put(text, " %6u", 1u << d);
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < study->cache_count; i++) {
        name_cache(text, &study->caches[i]);
        for (int d = 0; d < RSC_STUDY_DISTANCES; d++) {
            if (isnan(study->caches[i].alike[d])) rsc_text_put(text, " %6s", "n/a");
            else rsc_text_put(text, " %6.2f", study->caches[i].alike[d]);
        }
        rsc_text_put(text, "\n");
    }
}

/* ---- time ---- */

static void table_7(struct rsc_text *text, const struct rsc_study *study, uint64_t length) {
    int any = 0;
    char a[24];
    for (size_t i = 0; i < study->cache_count; i++)
        for (size_t q = 0; q < study->caches[i].time_count; q++) any |= study->caches[i].times[q].length == length;
    if (!any) return;
    rsc_text_put(text,
                 "\nTables 7 and 11: bias of cold-start techniques, intervals of %g million instructions\n  %-26s %10s",
                 (double)length / 1e6, "cache", "MPIs*1000");
    for (int m = 0; m < RSC_STUDY_METHODS; m++) rsc_text_put(text, "  %8s", rsc_cold_start_names[m]);
    rsc_text_put(text, "\n");
    for (size_t i = 0; i < study->cache_count; i++) {
        const struct rsc_study_cache *cache = &study->caches[i];
        for (size_t q = 0; q < cache->time_count; q++) {
            const struct rsc_study_time *time = &cache->times[q];
            if (time->length != length) continue;
            rsc_text_put(text, "  %-26s %10.3f", cache->cache.text, 1000 * time->mpi);
            for (int m = 0; m < RSC_STUDY_METHODS; m++) rsc_text_put(text, "  %8s", percent(time->bias[m], 1, a));
            rsc_text_put(text, "\n");
        }
    }
}

struct score {
    unsigned within[RSC_STUDY_METHODS], wins[RSC_STUDY_METHODS];
};

static void add_score(struct score *score, const struct rsc_study_time *time) {
    double best = INFINITY;
    for (int m = 0; m < RSC_STUDY_METHODS; m++)
        if (fabs(time->bias[m]) < best) best = fabs(time->bias[m]); /* NAN compares false */
    for (int m = 0; m < RSC_STUDY_METHODS; m++) {
        score->within[m] += fabs(time->bias[m]) <= 0.1;
        score->wins[m] += fabs(time->bias[m]) == best;
    }
}

static void put_score(struct rsc_text *text, const char *name, const struct score *score) {
    rsc_text_put(text, "  %-20s", name);
    for (int m = 0; m < RSC_STUDY_METHODS; m++) rsc_text_put(text, "  %5u %5u", score->within[m], score->wins[m]);
    rsc_text_put(text, "\n");
}

static void table_8(struct rsc_text *text, const struct rsc_study *study) {
    static const uint64_t each[] = {100000, 1000000, 10000000, 100000000};
    struct score all = {{0}, {0}};
    rsc_text_put(text, "\nTable 8: scores over all caches: bias within 10%%, and nearest to none\n  %-20s",
                 "interval (million)");
    for (int m = 0; m < RSC_STUDY_METHODS; m++) rsc_text_put(text, "%13s", rsc_cold_start_names[m]);
    rsc_text_put(text, "\n  %-20s", "");
    for (int m = 0; m < RSC_STUDY_METHODS; m++) rsc_text_put(text, "    10%%   win");
    rsc_text_put(text, "\n");
    for (size_t l = 0; l < sizeof each / sizeof *each; l++) {
        struct score score = {{0}, {0}};
        int any = 0;
        char name[32];
        for (size_t i = 0; i < study->cache_count; i++)
            for (size_t q = 0; q < study->caches[i].time_count; q++)
                if (study->caches[i].times[q].length == each[l]) {
                    any = 1;
                    add_score(&score, &study->caches[i].times[q]);
                    add_score(&all, &study->caches[i].times[q]);
                }
        snprintf(name, sizeof name, "%g", (double)each[l] / 1e6);
        if (any) put_score(text, name, &score);
    }
    put_score(text, "all", &all);
}

static void table_9(struct rsc_text *text, const struct rsc_study *study) {
    char a[24];
    heading(
        text,
        "Table 9: bias of initmr by interval length (*: half the cache loaded, and at least as many misses to full sets)",
        "       0.1 M         1 M        10 M       100 M");
    for (size_t i = 0; i < study->cache_count; i++) {
        const struct rsc_study_cache *cache = &study->caches[i];
        name_cache(text, cache);
        for (size_t q = 0; q < cache->time_count; q++)
            rsc_text_put(text, "  %9s%s", percent(cache->times[q].bias[RSC_START_INITMR], 1, a),
                         cache->times[q].reliable ? "*" : " ");
        rsc_text_put(text, "\n");
    }
}

static void cones(struct rsc_text *text, const struct rsc_study *study) {
    char a[24], b[24], c[24], d[24];
    rsc_text_put(
        text,
        "\nFigure 4: middle 90%% of time samples' estimates over the truth; within 10%%; 90%% intervals that contain the truth\n"
        "  %-26s %9s %6s %9s %16s %7s %7s   %16s %7s %7s\n",
        "cache", "interval", "number", "of trace", "initmr", "<=10%", "CI", "true state", "<=10%", "CI");
    for (size_t i = 0; i < study->cache_count; i++)
        for (size_t q = 0; q < study->caches[i].time_count; q++) {
            const struct rsc_study_time *time = &study->caches[i].times[q];
            for (size_t k = 0; k < time->slice_count; k++) {
                const struct rsc_study_slice *slice = &time->slices[k];
                if (slice->intervals != 1 && slice->intervals != 10 && slice->intervals != 30 &&
                    slice->intervals != 100)
                    continue;
                rsc_text_put(text, "  %-26s %7gM %6llu %9.4f  %6.2f to %5.2f %7s %7s   %6.2f to %5.2f %7s %7s\n",
                             study->caches[i].cache.text, (double)time->length / 1e6,
                             (unsigned long long)slice->intervals, slice->fraction, slice->low[0], slice->high[0],
                             percent(slice->within[0], 0, a), percent(slice->covered[0], 0, b), slice->low[1],
                             slice->high[1], percent(slice->within[1], 0, c), percent(slice->covered[1], 0, d));
            }
        }
}

/* The largest sample of at most a tenth of the trace. */
static const struct rsc_study_slice *tenth(const struct rsc_study_time *time) {
    const struct rsc_study_slice *found = NULL;
    for (size_t k = 0; k < time->slice_count; k++)
        if (time->slices[k].fraction <= 0.1) found = &time->slices[k];
    return found;
}

static void goal(struct rsc_text *text, const struct rsc_study *study) {
    char a[24], b[24];
    rsc_text_put(text, "\nThe 10%% goal: at least 90%% of the samples of at most 10%% of the trace within 10%%\n");
    for (size_t i = 0; i < study->cache_count; i++) {
        const struct rsc_study_cache *cache = &study->caches[i];
        const struct rsc_study_sets *sets = &cache->sets[0];
        name_cache(text, cache);
        if (sets->available)
            rsc_text_put(text, "  sets, constant bits: %s",
                         10 * sets->paper.within >= 9 * sets->paper.samples ? "yes" : "no");
        rsc_text_put(text, "  sets, random: %s (%s)", sets->random.within >= 0.9 ? "yes" : "no",
                     percent(sets->random.within, 0, a));
        int met = 0;
        const struct rsc_study_slice *best = NULL;
        for (size_t q = 0; q < cache->time_count; q++) {
            const struct rsc_study_slice *slice = tenth(&cache->times[q]);
            if (!slice) continue;
            met |= slice->within[0] >= 0.9;
            if (!best || slice->within[0] > best->within[0]) best = slice;
        }
        if (best)
            rsc_text_put(text, "  time, initmr: %s (at best %s)", met ? "yes" : "no", percent(best->within[0], 0, b));
        rsc_text_put(text, "\n");
    }
}

int rsc_study_text(const struct rsc_result *of, const struct rsc_report_style *style, char **out, size_t *bytes,
                   struct rsc_error *error) {
    static const uint64_t each[] = {100000, 1000000, 10000000, 100000000};
    const struct rsc_study *study = of->study;
    struct rsc_text text;
    (void)style;
    rsc_text_init(&text, 0, 0);
    rsc_text_put(&text, "%s: %llu instructions, %llu accesses, %llu of them fetches\n", study->trace,
                 (unsigned long long)study->instructions, (unsigned long long)study->accesses,
                 (unsigned long long)study->fetches);
    table_constant(&text, study);
    table_2(&text, study);
    table_3(&text, study);
    table_4(&text, study);
    table_5(&text, study);
    table_bits(&text, study);
    table_alike(&text, study);
    for (size_t i = 0; i < sizeof each / sizeof *each; i++) table_7(&text, study, each[i]);
    table_8(&text, study);
    table_9(&text, study);
    cones(&text, study);
    goal(&text, study);
    return rsc_text_take(&text, out, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}
