/*
 * merge.c - merges the profiles of two runs that share no memory.
 *
 * Counts add, so the merged curve is the mean of the two weighted by their
 * references. A sampled curve may differ from the curve of its histogram, so there
 * the mean is taken of the curves themselves. If the errors of the two are
 * independent, the squares of their weighted bars add:
 *     half^2 = (w_a half_a)^2 + (w_b half_b)^2,  w_a + w_b = 1.
 * Everything that can fail is done on copies before `into` is modified.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/add_counts.h"
#include "base/fail.h"
#include "profile/profile_rows.h"

static int same_text(const char *a, const char *b) { return a && b ? !strcmp(a, b) : a == b; }

static int check_alike(const struct rsc_profile *into, const struct rsc_profile *from, struct rsc_error *error) {
    uint64_t sum;
    if (into->made.line_bytes != from->made.line_bytes)
        return rsc_fail(error, RSC_EINVAL, "cannot merge profiles of %llu and %llu byte lines",
                        (unsigned long long)into->made.line_bytes, (unsigned long long)from->made.line_bytes);
    if (!same_text(into->made.model, from->made.model))
        return rsc_fail(error, RSC_EINVAL, "cannot merge profiles of different models (%s and %s)",
                        into->made.model ? into->made.model : "none", from->made.model ? from->made.model : "none");
    if (into->rd_cap != from->rd_cap)
        return rsc_fail(error, RSC_EINVAL, "cannot merge profiles with different --max-distance");
    if (into->lines_at_bytes && from->lines_at_bytes && into->lines_at_bytes != from->lines_at_bytes)
        return rsc_fail(error, RSC_EINVAL, "cannot merge profiles whose --top-lines miss at %llu and at %llu bytes",
                        (unsigned long long)into->lines_at_bytes, (unsigned long long)from->lines_at_bytes);
    /* Only these counts of a profile can be larger than its references. */
    if (__builtin_add_overflow(into->references, from->references, &sum) || sum > INT64_MAX ||
        __builtin_add_overflow(into->accesses, from->accesses, &sum) || sum > INT64_MAX ||
        __builtin_add_overflow(into->distinct, from->distinct, &sum) || sum > INT64_MAX / into->made.line_bytes ||
        __builtin_add_overflow(into->requests.requested, from->requests.requested, &sum) || sum > INT64_MAX ||
        __builtin_add_overflow(into->requests.footprint, from->requests.footprint, &sum) || sum > INT64_MAX)
        return rsc_fail(error, RSC_ELIMIT, "the merged counts do not fit 63 bits");
    return 0;
}

/* Sums that only describe stop at what can be read, as rsc_add_counts() does. */
static double add_seconds(double a, double b) { return fmin(RSC_SECONDS_MAX, a + b); }

/* Adds the rows of both to `merged`. */
static int join_rows(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    int rc;
    if ((rc = rsc_threads_join(merged, a, b)) || (rc = rsc_kinds_join(merged, a, b)) ||
        (rc = rsc_lines_join(merged, a, b)) || (rc = rsc_sharing_join(merged, a, b)) ||
        (rc = rsc_requests_join(merged, a, b)) || (rc = rsc_modules_join(merged, a, b)))
        return rc;
    return rsc_profile_join_rows(merged, a, b);
}

static int join_histograms(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    rsc_histogram_merge(&merged->rd, &a->rd);
    rsc_histogram_merge(&merged->rd, &b->rd);
    rsc_histogram_merge(&merged->ri, &a->ri);
    rsc_histogram_merge(&merged->ri, &b->ri);
    if (rsc_bars_join(merged, a, b)) return RSC_ENOMEM;
    if (a->bins_per_octave != b->bins_per_octave || !a->bins_per_octave) return 0;
    if (rsc_profile_set_bins(merged, a->bins_per_octave)) return RSC_ENOMEM;
    rsc_histogram_merge(&merged->rd_binned, &a->rd_binned);
    rsc_histogram_merge(&merged->rd_binned, &b->rd_binned);
    rsc_histogram_merge(&merged->ri_binned, &a->ri_binned);
    rsc_histogram_merge(&merged->ri_binned, &b->ri_binned);
    return 0;
}

static int join_text(char **to, const char *a, const char *b, const char *otherwise) {
    return rsc_profile_set_text(to, same_text(a, b) ? a : otherwise);
}

/* Is `part` one of the parts of a text? */
static int has_part(const char *text, const char *part, size_t length, const char *between) {
    for (;;) {
        const char *end = strstr(text, between);
        size_t here = end ? (size_t)(end - text) : strlen(text);
        if (here == length && !memcmp(text, part, length)) return 1;
        if (!end) return 0;
        text = end + strlen(between);
    }
}

/* Joins the parts of a and those only in b, separated by `between`; "mixed" if the text gets too long. */
static int join_parts(char **to, const char *a, const char *b, const char *between) {
    enum { READABLE = 256 };
    char joined[READABLE];
    if (!a || !*a || !b || !*b) return rsc_profile_set_text(to, a && *a ? a : b);
    if (strlen(a) >= READABLE) return rsc_profile_set_text(to, "mixed");
    strcpy(joined, a);
    for (const char *part = b; part;) {
        const char *end = strstr(part, between);
        size_t length = end ? (size_t)(end - part) : strlen(part), used = strlen(joined);
        if (!has_part(joined, part, length, between)) {
            if (used + strlen(between) + length >= READABLE) return rsc_profile_set_text(to, "mixed");
            snprintf(joined + used, READABLE - used, "%s%.*s", between, (int)length, part);
        }
        part = end ? end + strlen(between) : NULL;
    }
    return rsc_profile_set_text(to, joined);
}

/* Joins the sampling of both, and notes how the error bars were combined. */
static int join_sampling(char **to, const char *a, const char *b) {
    static const char note[] = "merged, errors taken as independent";
    char *joined = NULL;
    int rc = 0;
    if (!a && !b) return rsc_profile_set_text(to, NULL);
    if (join_parts(&joined, a, b, "; ") || join_parts(to, joined, note, "; ")) rc = RSC_ENOMEM;
    free(joined);
    return rc;
}

static int same_command(char *const *a, char *const *b) {
    if (!a || !b) return a == b;
    while (*a && *b && !strcmp(*a, *b)) a++, b++;
    return *a == *b; /* both at the end */
}

static int join_made(struct rsc_profile *merged, const struct rsc_made *a, const struct rsc_made *b) {
    struct rsc_made *made = &merged->made;
    if (join_parts(&made->by, a->by, b->by, "+") || join_parts(&made->source, a->source, b->source, "+") ||
        join_text(&made->model, a->model, b->model, NULL) ||
        ((a->modelled || b->modelled) && join_parts(&made->modelled, a->modelled, b->modelled, "; ")) ||
        join_sampling(&made->sampling, a->sampling, b->sampling))
        return RSC_ENOMEM;
    if (same_command(a->command, b->command) && rsc_profile_set_command(merged, a->command)) return RSC_ENOMEM;
    made->line_bytes = a->line_bytes;
    made->threads = rsc_add_counts(a->threads, b->threads);
    made->workers = a->workers > b->workers ? a->workers : b->workers;
    made->seconds = add_seconds(a->seconds, b->seconds);
    made->overhead = a->overhead == b->overhead ? a->overhead : NAN;
    made->coverage = a->coverage == b->coverage ? a->coverage : NAN;
    if (a->instructions && b->instructions) made->instructions = rsc_add_counts(a->instructions, b->instructions);
    made->threads_unseen = rsc_add_counts(a->threads_unseen, b->threads_unseen);
    if (a->watching.is_known && b->watching.is_known) {
        const struct rsc_watch_costs *one = &a->watching, *other = &b->watching;
        made->watching = (struct rsc_watch_costs){1,
                                                  add_seconds(one->handler_seconds, other->handler_seconds),
                                                  rsc_add_counts(one->samples, other->samples),
                                                  rsc_add_counts(one->traps, other->traps),
                                                  rsc_add_counts(one->dropped, other->dropped),
                                                  rsc_add_counts(one->censored, other->censored)};
    }
    return 0;
}

/* The sum of two totals, each within its bar. */
static struct rsc_count_bar join_bars(const struct rsc_count_bar *a, uint64_t exact_a, const struct rsc_count_bar *b,
                                      uint64_t exact_b) {
    if (!a->is_known && !b->is_known) return (struct rsc_count_bar){0};
    return (struct rsc_count_bar){1, rsc_add_counts(a->is_known ? a->low : exact_a, b->is_known ? b->low : exact_b),
                                  rsc_add_counts(a->is_known ? a->high : exact_a, b->is_known ? b->high : exact_b)};
}

static void join_totals(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    merged->accesses = a->accesses + b->accesses;
    merged->references = a->references + b->references;
    merged->cold = a->cold + b->cold;
    merged->invalidated = a->invalidated + b->invalidated;
    merged->distinct = a->distinct + b->distinct;
    merged->last_touch = a->last_touch + b->last_touch;
    merged->pruned = a->pruned + b->pruned;
    merged->censored = a->censored + b->censored;
    merged->rd_cap = a->rd_cap;
    merged->rd_capped = a->rd_capped + b->rd_capped;
    merged->bars.cold = join_bars(&a->bars.cold, a->cold + a->last_touch, &b->bars.cold, b->cold + b->last_touch);
    merged->bars.invalidated = join_bars(&a->bars.invalidated, a->invalidated, &b->bars.invalidated, b->invalidated);
    merged->bars.distinct = join_bars(&a->bars.distinct, a->distinct, &b->bars.distinct, b->distinct);
}

/* The turns of both runs, which were apart. */
static void join_turns(struct rsc_turns *to, const struct rsc_turns *a, const struct rsc_turns *b) {
    if (!a->others || !b->others) {
        *to = a->others ? *a : *b;
        return;
    }
    *to = (struct rsc_turns){rsc_add_counts(a->accesses, b->accesses),       rsc_add_counts(a->turns, b->turns),
                             rsc_add_counts(a->others, b->others),           rsc_add_counts(a->mixed, b->mixed),
                             rsc_add_counts(a->mixed_turns, b->mixed_turns), rsc_add_counts(a->threads, b->threads),
                             rsc_add_counts(a->regular, b->regular),         a->grain > b->grain ? a->grain : b->grain};
}

static int has_error_bars(const struct rsc_profile *profile) {
    for (size_t i = 0; i < profile->mrc_count; i++)
        if (profile->mrc[i].low < profile->mrc[i].high) return 1;
    return 0;
}

static void join_curves(struct rsc_profile *merged, const struct rsc_profile *a, const struct rsc_profile *b) {
    double share = merged->references ? (double)a->references / (double)merged->references : 0, rest = 1 - share;
    for (size_t i = 0; i < merged->mrc_count; i++) {
        struct rsc_mrc_point *point = &merged->mrc[i];
        struct rsc_mrc_point at_a = rsc_profile_mrc_at(a, point->lines), at_b = rsc_profile_mrc_at(b, point->lines);
        point->miss_ratio = fmin(1, share * at_a.miss_ratio + rest * at_b.miss_ratio);
        double below = hypot(share * (at_a.miss_ratio - at_a.low), rest * (at_b.miss_ratio - at_b.low));
        double above = hypot(share * (at_a.high - at_a.miss_ratio), rest * (at_b.high - at_b.miss_ratio));
        point->low = fmax(0, point->miss_ratio - below);
        point->high = fmin(1, point->miss_ratio + above);
    }
}

int rsc_profile_merge(struct rsc_profile *into, const struct rsc_profile *from, struct rsc_error *error) {
    int rc = check_alike(into, from, error);
    if (rc) return rc;
    struct rsc_profile *merged = rsc_profile_new();
    if (!merged) return rsc_fail_memory(error, "merged profile");
    join_totals(merged, into, from);
    join_turns(&merged->turns, &into->turns, &from->turns);
    if ((rc = join_made(merged, &into->made, &from->made)) || (rc = join_histograms(merged, into, from)) ||
        (rc = join_rows(merged, into, from)) || (rc = rsc_profile_derive_mrc(merged)))
        goto out;
    if (merged->made.sampling || has_error_bars(into) || has_error_bars(from)) join_curves(merged, into, from);
    rc = rsc_requests_join_bars(merged, into, from);
    if (!rc) rc = rsc_profile_seal(merged);
    if (rc) goto out;
    struct rsc_profile old = *into;
    *into = *merged;
    *merged = old;
out:
    rsc_profile_free(merged);
    if (rc == RSC_ELIMIT)
        return rsc_fail(error, rc, "the merged profile has more than %u rows of one sort", RSC_PROFILE_ROWS_MAX);
    return rc ? rsc_fail_memory(error, "merged profile") : 0;
}
