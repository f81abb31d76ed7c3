/* sampling_text.c - the result of a sampled simulation as text, and its warnings. */
#include <math.h>
#include <stdio.h>

#include "base/fail.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"
#include "report/results/results.h"

#define INTERVALS_LEAST 30u /* with fewer, the paper does not trust confidence intervals of time samples */

static void put_rate(struct rsc_text *text, unsigned end, double rate) {
    char number[40];
    if (isnan(rate)) snprintf(number, sizeof number, "n/a");
    else snprintf(number, sizeof number, "%.4f", 1000 * rate);
    rsc_text_right(text, end, number);
}

static void put_row(struct rsc_text *text, const struct rsc_sim_level_result *row) {
    const struct rsc_estimate *estimate = row->estimate;
    rsc_text_put(text, "%s", row->cache.name);
    rsc_text_pad_to(text, 5);
    rsc_text_put(text, "%s", row->cache.text);
    rsc_text_right(text, 36, rsc_show_short(rsc_kinds_sum(row->counts.accesses)).text);
    rsc_text_right(text, 45, rsc_show_short(rsc_kinds_sum(row->counts.misses)).text);
    put_rate(text, 56, estimate->mpi);
    put_rate(text, 67, estimate->low);
    put_rate(text, 78, estimate->high);
    rsc_text_put(text, "\n");
}

/* Samples by constant bits, one per value. */
static void put_all(struct rsc_text *text, const struct rsc_sim_level_result *row) {
    const struct rsc_estimate *estimate = row->estimate;
    if (estimate->method != RSC_ESTIMATE_SETS || !estimate->part_count) return;
    uint64_t within = 0;
    rsc_text_put(text, "\n%s: each sample's estimate (* 1000) and its error:\n", row->cache.name);
    for (size_t i = 0; i < estimate->part_count; i++) {
        double off = estimate->mpi > 0 ? estimate->parts[i].mpi / estimate->mpi - 1 : 0;
        within += fabs(off) <= 0.1;
        rsc_text_put(text, "  %3llu %9.4f %+6.1f %%%s", (unsigned long long)estimate->parts[i].at,
                     1000 * estimate->parts[i].mpi, 100 * off,
                     i % 3 == 2 || i + 1 == estimate->part_count ? "\n" : "   ");
    }
    rsc_text_put(
        text, "  %llu of %llu within 10 %%; coefficient of variation %.1f %%; variance of random samples over theirs",
        (unsigned long long)within, (unsigned long long)estimate->part_count, 100 * estimate->cv);
    if (isnan(estimate->variance_ratio)) rsc_text_put(text, " n/a\n");
    else rsc_text_put(text, " %.2f\n", estimate->variance_ratio);
}

static void put_sets_notes(struct rsc_text *text, const struct rsc_sim_result *result) {
    const struct rsc_estimate *first = result->levels[0].estimate;
    if (first->part_count) return;
    for (size_t i = 0; i < result->level_count; i++)
        if (!isnan(result->levels[i].estimate->sampled_instructions))
            rsc_text_put(text, "%s by sampled-instructions, which is less precise: %.4f\n",
                         result->levels[i].cache.name, 1000 * result->levels[i].estimate->sampled_instructions);
    rsc_text_put(text, "Estimates divide by the sets' share of all instructions (fraction-instructions).\n");
    if (first->observations == first->population) return;
    if (first->how[0] == 'c')
        rsc_text_put(text, "Confidence intervals assume a random sample; constant bits are not random.\n");
}

static void put_time_notes(struct rsc_text *text, const struct rsc_sim_result *result) {
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_estimate *estimate = result->levels[i].estimate;
        const char *name = result->levels[i].cache.name;
        if (!isnan(estimate->loaded))
            rsc_text_put(text, "%s: %.0f %% of it loaded in an interval", name, 100 * estimate->loaded);
        if (estimate->unreliable) {
            rsc_text_put(text, "; UNRELIABLE: %llu of %llu intervals too short",
                         (unsigned long long)estimate->unreliable, (unsigned long long)estimate->part_count);
            if (isfinite(estimate->length_needed))
                rsc_text_put(text, " (about %s %s needed)", rsc_show_short((uint64_t)estimate->length_needed).text,
                             estimate->per_access ? "accesses" : "instructions");
        }
        if (estimate->left_out)
            rsc_text_put(text, "; no estimate for %llu intervals", (unsigned long long)estimate->left_out);
        if (!isnan(estimate->loaded)) rsc_text_put(text, "\n");
    }
    const struct rsc_estimate *first = result->levels[0].estimate;
    if (first->method == RSC_ESTIMATE_WHOLE) return;
    if (first->cold_start != RSC_START_WARM)
        rsc_text_put(text, "Intervals around estimates exclude cold-start bias, and need 30 intervals or more.\n");
    else rsc_text_put(text, "Intervals around estimates need 30 intervals or more.\n");
}

int rsc_sampling_text(const struct rsc_sim_result *result, char **out, size_t *bytes, struct rsc_error *error) {
    int sets = result->sample == RSC_SIM_SETS;
    struct rsc_text text;
    const struct rsc_estimate *first = result->levels[0].estimate;
    char confidence[40];
    rsc_text_init(&text, 0, 0);
    if (result->trace_accesses != RSC_UNKNOWN)
        rsc_text_put(&text, "%s accesses", rsc_show_count(result->trace_accesses).text);
    else rsc_text_put(&text, "a trace");
    if (result->instructions != RSC_UNKNOWN)
        rsc_text_put(&text, ", %s instructions", rsc_show_count(result->instructions).text);
    rsc_text_put(&text, "\n%s", first->how);
    if (first->cold_start >= 0) rsc_text_put(&text, ", %s", rsc_cold_start_names[first->cold_start]);
    rsc_text_put(&text, ": %s %s simulated, %.4g %% of the %s\n\n     cache", rsc_show_count(result->simulated).text,
                 sets ? "accesses or parts" : "accesses", 100 * first->fraction,
                 sets                ? "sets"
                 : first->per_access ? "accesses"
                                     : "instructions");
    rsc_text_right(&text, 36, "accesses");
    rsc_text_right(&text, 45, "misses");
    rsc_text_right(&text, 56, first->per_access ? "/k acc." : "MPKI");
    snprintf(confidence, sizeof confidence, "%g %% from", first->confidence);
    rsc_text_right(&text, 67, confidence);
    rsc_text_right(&text, 78, "to");
    rsc_text_put(&text, "\n");
    for (size_t i = 0; i < result->level_count; i++) put_row(&text, &result->levels[i]);
    for (size_t i = 0; i < result->level_count; i++) put_all(&text, &result->levels[i]);
    rsc_text_put(&text, "\n");
    if (sets) put_sets_notes(&text, result);
    else put_time_notes(&text, result);
    return rsc_text_take(&text, out, bytes) < 0 ? rsc_fail_memory(error, "text") : 0;
}

static void warn_of_shape(const struct rsc_log *log, const char *name, const struct rsc_estimate *estimate) {
    if (estimate->shape.normal || estimate->observations < 3 || estimate->part_count) return;
    if (estimate->shape.hot)
        rsc_log_line(
            log, RSC_LOG_WARNING,
            "%s: %llu hot sets hold %.0f %% of the sample's misses: misses by set are far from normal, so its interval may not hold",
            name, (unsigned long long)estimate->shape.hot, 100 * estimate->shape.hot_share);
    else
        rsc_log_line(log, RSC_LOG_WARNING,
                     "%s: misses by set are too skewed for its interval to hold (%llu sets would be needed)", name,
                     (unsigned long long)estimate->shape.needed);
}

void rsc_sampling_warn(const struct rsc_log *log, const struct rsc_sim_result *result) {
    for (size_t i = 0; i < result->level_count; i++) {
        const struct rsc_estimate *estimate = result->levels[i].estimate;
        const char *name = result->levels[i].cache.name;
        if (estimate->method == RSC_ESTIMATE_SETS) warn_of_shape(log, name, estimate);
        if (estimate->method == RSC_ESTIMATE_TIME && !i && estimate->part_count < INTERVALS_LEAST)
            rsc_log_line(log, RSC_LOG_WARNING,
                         "%llu intervals: fewer than %u are too few for reliable confidence intervals",
                         (unsigned long long)estimate->part_count, INTERVALS_LEAST);
        if (estimate->unreliable)
            rsc_log_line(
                log, RSC_LOG_WARNING,
                "%s: unreliable: in %llu of %llu intervals less than half the cache is loaded, or most misses are cold-start misses",
                name, (unsigned long long)estimate->unreliable, (unsigned long long)estimate->part_count);
    }
}
