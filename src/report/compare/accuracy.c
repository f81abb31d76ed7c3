/* accuracy.c - see accuracy.h. */
#include "report/compare/accuracy.h"

#include <math.h>
#include <string.h>

#include "base/fail.h"
#include "base/json_writer.h"
#include "profile/metrics.h"
#include "report/draw/text_buffer.h"
#include "report/draw/units.h"

#define SIZES_PER_OCTAVE 8
#define NAME_COLUMNS 40

/* One stack for all threads, whatever it is called; of one thread, every model is that. */
static int is_one_stack(const struct rsc_profile *profile) {
    return profile->made.threads < 2 || !profile->made.model || strcmp(profile->made.model, "private");
}

const char *rsc_accuracy_refusal(const struct rsc_profile *a, const struct rsc_profile *b) {
    if (rsc_profile_is_requests(a) != rsc_profile_is_requests(b)) return "one is of requests for whole objects";
    if (a->made.line_bytes != b->made.line_bytes) return "their line sizes differ";
    if (is_one_stack(a) != is_one_stack(b)) return "one is of private stacks, the other of one stack";
    if (a->rd_cap || b->rd_cap) return "--max-distance cut off distances";
    if (!rsc_histogram_total(&a->rd) || !rsc_histogram_total(&b->rd)) return "one has no reuses";
    return NULL;
}

static struct rsc_octave_measures measure(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    double shares_a[RSC_OCTAVE_SHARES], shares_b[RSC_OCTAVE_SHARES];
    rsc_histogram_octave_shares(a, shares_a);
    rsc_histogram_octave_shares(b, shares_b);
    return (struct rsc_octave_measures){rsc_octave_accuracy(shares_a, shares_b),
                                        rsc_octave_accuracy_windowed(shares_a, shares_b),
                                        rsc_octave_emd(shares_a, shares_b)};
}

struct rsc_accuracy rsc_accuracy_of(const struct rsc_profile *a, const struct rsc_profile *b) {
    struct rsc_accuracy accuracy = {.sides = {a, b}, .within_bars = NAN};
    uint64_t last =
        rsc_profile_footprint(a) > rsc_profile_footprint(b) ? rsc_profile_footprint(a) : rsc_profile_footprint(b);
    size_t within = 0, barred = 0;
    accuracy.rd = measure(&a->rd, &b->rd);
    accuracy.has_ri = rsc_histogram_total(&a->ri) && rsc_histogram_total(&b->ri);
    if (accuracy.has_ri) accuracy.ri = measure(&a->ri, &b->ri);
    accuracy.overlap = rsc_profile_overlap(a, b);
    for (uint64_t lines = 1; lines <= last; lines = rsc_grid_next(lines, SIZES_PER_OCTAVE), accuracy.sizes++) {
        struct rsc_mrc_point one = rsc_profile_mrc_at(a, lines), other = rsc_profile_mrc_at(b, lines);
        double apart = fabs(one.miss_ratio - other.miss_ratio);
        accuracy.mae += apart;
        if (apart > accuracy.worst) accuracy.worst = apart;
        barred += one.low < one.high || other.low < other.high;
        within += one.low <= other.high && other.low <= one.high;
    }
    accuracy.mae /= (double)accuracy.sizes;
    if (barred) accuracy.within_bars = (double)within / (double)accuracy.sizes;
    return accuracy;
}

/* ---- text ---- */

static void put_measures(struct rsc_text *text, const char *name, const struct rsc_octave_measures *measures) {
    if (measures) rsc_text_put(text, "   %-18s%10.4f%10.4f%10.4f\n", name, measures->s, measures->s_hat, measures->emd);
    else rsc_text_put(text, "   %-18s%10s%10s%10s\n", name, "-", "-", "-");
}

static void put_accuracy(struct rsc_text *text, const struct rsc_accuracy *accuracy) {
    rsc_text_tint(text, RSC_DIM);
    rsc_text_put(text, "   %-18s%10s%10s%10s\n", "", "S", "S-hat", "EMD");
    rsc_text_tint(text, RSC_PLAIN);
    put_measures(text, "reuse intervals", accuracy->has_ri ? &accuracy->ri : NULL);
    put_measures(text, "reuse distances", &accuracy->rd);
    rsc_text_put(text, "   distances in the profile's bins, references without one included: overlap %.4f\n",
                 accuracy->overlap);
    rsc_text_put(text, "   miss ratio: MAE %.5f, at most %.5f, over %zu size%s\n", accuracy->mae, accuracy->worst,
                 accuracy->sizes, accuracy->sizes == 1 ? "" : "s");
    if (!isnan(accuracy->within_bars))
        rsc_text_put(text, "   the error bars meet at %s of these sizes\n",
                     rsc_show_percent(accuracy->within_bars).text);
}

/* "shared by sampled". */
static void put_maker(struct rsc_text *text, const struct rsc_profile *profile) {
    rsc_text_foreign(text, profile->made.model ? profile->made.model : "?", NAME_COLUMNS);
    rsc_text_put(text, " by ");
    rsc_text_foreign(text, profile->made.by ? profile->made.by : "?", NAME_COLUMNS);
}

int rsc_accuracy_text(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                      struct rsc_error *error) {
    const struct rsc_accuracy_report *report = result->accuracy;
    struct rsc_text out;
    rsc_text_init(&out, style && style->unicode, style && style->colour);
    rsc_text_put(&out, "%s against %s\n", report->names[1], report->names[0]);
    for (size_t i = 0; i < report->count; i++) {
        const struct rsc_profile *const *sides = report->items[i].sides;
        rsc_text_put(&out, " ");
        put_maker(&out, sides[1]);
        rsc_text_put(&out, " against ");
        put_maker(&out, sides[0]);
        rsc_text_put(&out, ", lines of %s\n", rsc_show_bytes(sides[0]->made.line_bytes).text);
        put_accuracy(&out, &report->items[i]);
    }
    if (report->unmatched)
        rsc_text_put(&out, " %zu profile%s without a partner in the other file\n", report->unmatched,
                     report->unmatched == 1 ? "" : "s");
    return rsc_text_take(&out, text, bytes) < 0 ? rsc_fail_memory(error, "comparison") : 0;
}

/* ---- JSON ---- */

static void put_json_measures(struct rsc_json *json, const char *key, const struct rsc_octave_measures *measures) {
    rsc_json_key(json, key);
    if (!measures) {
        rsc_json_null(json);
        return;
    }
    rsc_json_object(json);
    rsc_json_key_double(json, "s", measures->s);
    rsc_json_key_double(json, "s_hat", measures->s_hat);
    rsc_json_key_double(json, "emd", measures->emd);
    rsc_json_object_end(json);
}

static void put_json_side(struct rsc_json *json, const char *key, const struct rsc_profile *profile) {
    rsc_json_key(json, key);
    rsc_json_object(json);
    rsc_json_key_string(json, "by", profile->made.by);
    rsc_json_key_string(json, "model", profile->made.model);
    rsc_json_key_u64(json, "references", profile->references);
    rsc_json_object_end(json);
}

int rsc_accuracy_json(const struct rsc_result *result, const struct rsc_report_style *style, char **text, size_t *bytes,
                      struct rsc_error *error) {
    const struct rsc_accuracy_report *report = result->accuracy;
    struct rsc_json json;
    (void)style;
    rsc_json_init(&json);
    rsc_json_object(&json);
    rsc_json_key_string(&json, "schema", "reusescope-accuracy/1");
    rsc_json_key_string(&json, "old", report->names[0]);
    rsc_json_key_string(&json, "new", report->names[1]);
    rsc_json_key_u64(&json, "unmatched", report->unmatched);
    rsc_json_key_array(&json, "comparisons");
    for (size_t i = 0; i < report->count; i++) {
        const struct rsc_accuracy *accuracy = &report->items[i];
        rsc_json_row(&json);
        put_json_side(&json, "old", accuracy->sides[0]);
        put_json_side(&json, "new", accuracy->sides[1]);
        rsc_json_key_u64(&json, "line_bytes", accuracy->sides[0]->made.line_bytes);
        put_json_measures(&json, "ri", accuracy->has_ri ? &accuracy->ri : NULL);
        put_json_measures(&json, "rd", &accuracy->rd);
        rsc_json_key_double(&json, "overlap", accuracy->overlap);
        rsc_json_key_double(&json, "mae", accuracy->mae);
        rsc_json_key_double(&json, "worst", accuracy->worst);
        rsc_json_key_u64(&json, "sizes", accuracy->sizes);
        rsc_json_key(&json, "within_bars");
        if (isnan(accuracy->within_bars)) rsc_json_null(&json);
        else rsc_json_double(&json, accuracy->within_bars);
        rsc_json_object_end(&json);
    }
    rsc_json_array_end(&json);
    rsc_json_object_end(&json);
    return rsc_json_take(&json, "comparison", text, bytes, error);
}
