/* test_merge.c - merging: how it is said, error bars, kinds, lines and requests. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>

#include "base/rng.h"
#include "sample_profiles.h"

#define assert_close(a, b) assert_true(fabs((a) - (b)) < 1e-12)

/* `references` of which half hit, with a curve of one value: ratio, from low to high. */
static struct rsc_profile *sampled(uint64_t references, double ratio, double below, double above, const char *by) {
    struct rsc_profile *profile = sample_empty();
    profile->accesses = profile->references = references;
    profile->cold = profile->distinct = references / 2;
    rsc_histogram_add(&profile->rd, 0, references - references / 2);
    rsc_profile_set_text(&profile->made.by, by);
    rsc_profile_set_text(&profile->made.sampling, "one line in 100 by hash");
    assert_int_equal(rsc_profile_derive_mrc(profile), 0);
    for (size_t i = 0; i < profile->mrc_count; i++) {
        profile->mrc[i].miss_ratio = ratio;
        profile->mrc[i].low = fmax(0, ratio - below);
        profile->mrc[i].high = fmin(1, ratio + above);
    }
    return sample_sealed(profile);
}

static void merge(struct rsc_profile *into, struct rsc_profile *from) {
    struct rsc_error error;
    if (rsc_profile_merge(into, from, &error)) fail_msg("%s", error.message);
    assert_int_equal(rsc_profile_check_sum(into, "merged", NULL), 0);
    rsc_profile_free(from);
}

/* Written and read again, it is the same. */
static void check_round_trip(struct rsc_profile *profile) {
    struct rsc_profile **loaded;
    struct rsc_error error;
    size_t count;
    char *text = sample_json(profile, NULL);
    if (rsc_profiles_parse(text, strlen(text), "x", &loaded, &count, &error)) fail_msg("%s", error.message);
    char *again = sample_json(loaded[0], NULL);
    assert_string_equal(text, again);
    rsc_profile_free(loaded[0]);
    free(loaded);
    free(text);
    free(again);
}

static void engines_are_named_once_each(void **state) {
    (void)state;
    struct rsc_profile *into = sample_cyclic(4, 2);
    merge(into, sample_cyclic(4, 2));
    assert_string_equal(into->made.by, "exact");
    assert_string_equal(into->made.source, "trace");
    assert_null(into->made.sampling);
    merge(into, sampled(100, 0.5, 0.1, 0.1, "shards:0.01"));
    assert_string_equal(into->made.by, "exact+shards:0.01");
    assert_string_equal(into->made.sampling, "one line in 100 by hash; merged, errors taken as independent");
    merge(into, sampled(100, 0.5, 0.1, 0.1, "shards:0.01"));
    assert_string_equal(into->made.by, "exact+shards:0.01");
    assert_string_equal(into->made.sampling, "one line in 100 by hash; merged, errors taken as independent");
    merge(into, sample_cyclic(4, 2));
    assert_string_equal(into->made.by, "exact+shards:0.01");
    /* what begins alike is not the same */
    merge(into, sampled(100, 0.5, 0.1, 0.1, "shards:0.0"));
    assert_string_equal(into->made.by, "exact+shards:0.01+shards:0.0");
    check_round_trip(into);
    char long_name[300];
    memset(long_name, 'x', sizeof long_name);
    long_name[299] = 0;
    merge(into, sampled(100, 0.5, 0.1, 0.1, long_name));
    assert_string_equal(into->made.by, "mixed");
    rsc_profile_free(into);
}

static void error_bars_add_by_their_squares(void **state) {
    (void)state;
    struct rsc_profile *into = sampled(300, 0.5, 0.04, 0.08, "shards:0.1");
    merge(into, sampled(100, 0.9, 0.12, 0.1, "shards:0.1"));
    struct rsc_mrc_point at = rsc_profile_mrc_at(into, 1);
    assert_close(at.miss_ratio, 0.75 * 0.5 + 0.25 * 0.9);
    assert_close(at.low, at.miss_ratio - hypot(0.75 * 0.04, 0.25 * 0.12));
    assert_close(at.high, at.miss_ratio + hypot(0.75 * 0.08, 0.25 * 0.1));
    check_round_trip(into);
    /* an exact one adds no error of its own; of many alike the bar shrinks with the root */
    merge(into, sample_cyclic(100, 4));
    assert_close(rsc_profile_mrc_at(into, 1).miss_ratio - rsc_profile_mrc_at(into, 1).low, hypot(0.03, 0.03) / 2);
    rsc_profile_free(into);
    into = sampled(100, 0.5, 0.1, 0.1, "s");
    for (int i = 1; i < 16; i++) merge(into, sampled(100, 0.5, 0.1, 0.1, "s"));
    at = rsc_profile_mrc_at(into, 1);
    assert_close(at.high - at.miss_ratio, 0.1 / 4);
    rsc_profile_free(into);
}

/* Of 90 % intervals merged from independent runs, 90 % hold the truth. */
static void merged_error_bars_cover_what_they_say(void **state) {
    (void)state;
    enum { ROUNDS = 3000 };
    struct rsc_rng rng;
    int covered = 0;
    rsc_rng_seed(&rng, 7, 0);
    for (int round = 0; round < ROUNDS; round++) {
        const double truth[3] = {0.3, 0.5, 0.6}, sigma[3] = {0.01, 0.03, 0.02};
        const uint64_t references[3] = {500, 300, 200};
        struct rsc_profile *into = NULL;
        double mean = 0;
        for (int i = 0; i < 3; i++) {
            double seen = truth[i] + sigma[i] * rsc_rng_normal(&rng), half = 1.6449 * sigma[i];
            struct rsc_profile *one = sampled(references[i], seen, half, half, "s");
            mean += truth[i] * (double)references[i] / 1000;
            if (into) merge(into, one);
            else into = one;
        }
        struct rsc_mrc_point at = rsc_profile_mrc_at(into, 1);
        covered += at.low <= mean && mean <= at.high;
        rsc_profile_free(into);
    }
    print_message("%.1f %% covered\n", 100.0 * covered / ROUNDS);
    assert_true(covered > ROUNDS * 0.88 && covered < ROUNDS * 0.92); /* 90 %, give or take 3.6 deviations */
}

static struct rsc_profile *with_kinds(uint64_t reads, uint64_t others, const char *other) {
    struct rsc_profile *profile = sample_empty();
    profile->accesses = profile->references = reads + others;
    profile->cold = profile->distinct = 1;
    rsc_histogram_add(&profile->rd, 5, reads + others - 1);
    assert_int_equal(rsc_profile_set_kinds(profile, 2), 0);
    profile->kinds[0].references = reads;
    profile->kinds[0].cold = 1;
    profile->kinds[1].kind = !strcmp(other, "write") ? rsc_kind_names[1] : rsc_kind_names[2];
    profile->kinds[1].references = others;
    for (int i = 0; i < 2; i++) {
        rsc_histogram_add(&profile->kinds[i].rd, 5, profile->kinds[i].references - profile->kinds[i].cold);
        rsc_histogram_add(&profile->kinds[i].rd_fine, 5, profile->kinds[i].references - profile->kinds[i].cold);
    }
    return sample_sealed(profile);
}

static void kinds_join_by_name(void **state) {
    (void)state;
    struct rsc_profile *into = with_kinds(10, 20, "fetch"), *from = with_kinds(1, 2, "write");
    assert_null(rsc_profile_merge_loses(into, from));
    merge(into, from);
    assert_int_equal(into->kind_count, 3);
    assert_string_equal(into->kinds[1].kind, "write");
    assert_int_equal(into->kinds[0].references, 11);
    assert_int_equal(into->kinds[0].cold, 2);
    assert_int_equal(into->kinds[1].references, 2);
    assert_int_equal(into->kinds[2].references, 20);
    assert_int_equal(rsc_histogram_total(&into->kinds[2].rd_fine), 20);
    check_round_trip(into);
    /* nothing is lost to a run that did nothing, all of it to one whose only kind nobody knows */
    from = sample_zero();
    assert_null(rsc_profile_merge_loses(into, from));
    merge(into, from);
    assert_int_equal(into->kind_count, 3);
    from = sample_cyclic(3, 2);
    assert_string_equal(rsc_profile_merge_loses(into, from), "kinds");
    merge(into, from);
    assert_int_equal(into->kind_count, 0);
    rsc_profile_free(into);
}

static struct rsc_profile *with_lines(uint64_t first_misses, uint64_t at_bytes) {
    struct rsc_profile *profile = sample_cyclic(100, 10);
    assert_int_equal(rsc_profile_set_lines(profile, 3), 0);
    profile->lines_at_bytes = at_bytes;
    profile->lines_asked = 3;
    for (size_t i = 0; i < 3; i++) {
        struct rsc_line_row *row = &profile->lines[i];
        row->address = 0x1000 + 64 * i;
        row->misses = first_misses - i + (i == 1);
        row->error = i == 1;
        row->references = 10;
        row->cold = 1;
        rsc_histogram_add(&row->rd, 99, 9);
        if (i) continue;
        rsc_profile_set_text(&row->object, "grid");
        row->object_kind = "global";
    }
    return profile;
}

static void the_worst_lines_of_both_stay(void **state) {
    (void)state;
    struct rsc_profile *into = with_lines(9, 4096), *from = with_lines(8, 4096);
    check_round_trip(into);
    merge(into, from);
    assert_int_equal(into->line_count, 3); /* 9, 8 + 1 - 1, 8 of 9 8 7 and 8 7 6 */
    assert_int_equal(into->lines[0].misses, 9);
    assert_string_equal(into->lines[0].object, "grid");
    assert_int_equal(into->lines[1].misses, 9);
    assert_int_equal(into->lines[1].error, 1);
    assert_int_equal(into->lines[2].misses, 8);
    assert_int_equal(into->lines[2].error, 0);
    assert_int_equal(rsc_histogram_total(&into->lines[2].rd), 9);
    check_round_trip(into);
    struct rsc_error error;
    from = with_lines(8, 8192);
    assert_int_equal(rsc_profile_merge(into, from, &error), RSC_EINVAL);
    assert_non_null(strstr(error.message, "--top-lines"));
    assert_int_equal(into->line_count, 3);
    rsc_profile_free(from);
    from = sample_cyclic(3, 2);
    assert_string_equal(rsc_profile_merge_loses(into, from), "lines");
    merge(into, from);
    assert_int_equal(into->line_count, 0);
    assert_int_equal(into->lines_at_bytes, 0);
    rsc_profile_free(into);
}

static void requests_join(void **state) {
    (void)state;
    struct rsc_profile *into = sample_requests(100, 1), *from = sample_requests(5000000000, 3);
    size_t count;
    check_round_trip(into);
    merge(into, from);
    assert_int_equal(into->requests.requested, 200 + 20000000000);
    assert_int_equal(into->requests.footprint, 100 + 5000000000);
    assert_int_equal(into->mrc[into->mrc_count - 1].bytes, 5000000100);
    const double *ratio = rsc_profile_byte_miss_ratio(into, &count);
    assert_int_equal(count, into->mrc_count);
    assert_close(ratio[0], 1);
    assert_close(ratio[99], 20000000100 / 20000000200.0); /* at 100 bytes one of the small ones hits */
    assert_close(into->mrc[99].miss_ratio, 5 / 6.0);
    assert_close(ratio[count - 1], 5000000100 / 20000000200.0);
    check_round_trip(into);
    from = sample_cyclic(3, 2);
    struct rsc_error error;
    assert_int_equal(rsc_profile_merge(into, from, &error), RSC_EINVAL);
    assert_null(rsc_profile_byte_miss_ratio(from, &count));
    assert_int_equal(count, 0);
    rsc_profile_free(from);
    rsc_profile_free(into);
}

/* Half the bytes each: with bars of 0.03 and 0.04 that is 0.025; with an exact one, half of the other's. */
static void byte_bars_join(void **state) {
    (void)state;
    for (int exact = 0; exact < 2; exact++) {
        struct rsc_profile *into = sample_requests(100, 1), *from = sample_requests(100, 1);
        struct rsc_profile *both[] = {into, from};
        for (int k = 0; k < 2 - exact; k++) {
            struct rsc_request_bytes *bytes = &both[k]->requests;
            bytes->low = calloc(both[k]->mrc_count, sizeof *bytes->low);
            bytes->high = calloc(both[k]->mrc_count, sizeof *bytes->high);
            for (size_t i = 0; i < both[k]->mrc_count; i++) {
                bytes->miss_ratio[i] = 0.5;
                bytes->low[i] = 0.5 - (k ? 0.04 : 0.03);
                bytes->high[i] = 0.5 + (k ? 0.04 : 0.03);
            }
        }
        double other = exact ? from->requests.miss_ratio[0] : 0.5, half = exact ? 0.015 : 0.025;
        merge(into, from);
        assert_non_null(into->requests.low);
        assert_close(into->requests.miss_ratio[0], (0.5 + other) / 2);
        assert_close(into->requests.low[0], (0.5 + other) / 2 - half);
        assert_close(into->requests.high[0], (0.5 + other) / 2 + half);
        check_round_trip(into);
        rsc_profile_free(into);
    }
}

/* ---- JSON that is not to be believed ---- */

static void expect_refused(struct rsc_profile *profile, const char *old, const char *now, const char *wanted) {
    struct rsc_profile **loaded;
    struct rsc_error error;
    size_t count;
    char *text = sample_json(profile, NULL), *at = strstr(text, old);
    if (!at) fail_msg("'%s' is not in\n%s", old, text);
    char *changed = malloc(strlen(text) + strlen(now) + 1);
    assert_non_null(changed);
    sprintf(changed, "%.*s%s%s", (int)(at - text), text, now, at + strlen(old));
    assert_int_equal(rsc_profiles_parse(changed, strlen(changed), "x", &loaded, &count, &error), RSC_EFORMAT);
    if (!strstr(error.message, wanted)) fail_msg("'%s' is not in: %s", wanted, error.message);
    free(changed);
    free(text);
}

static void parts_are_checked(void **state) {
    (void)state;
    struct rsc_profile *kinds = with_kinds(10, 20, "write"), *lines = with_lines(9, 4096);
    struct rsc_profile *requests = sample_requests(100, 3);
    expect_refused(kinds, "\"kind\":\"write\"", "\"kind\":\"read\"", "kinds[1].kind must be read, write or fetch");
    expect_refused(kinds, "\"kind\":\"write\"", "\"kind\":7", "kinds[1].kind must be");
    expect_refused(kinds, "\"kinds\":[", "\"kinds\":[1,2,", "more than 3 rows");
    expect_refused(kinds, "\"rd_fine\":[{\"lo\":5,\"hi\":5", "\"rd_fine\":[{\"lo\":3,\"hi\":3", "do not agree");
    expect_refused(kinds, "\"rd_fine\":[{\"lo\":5,\"hi\":5,\"count\":9", "\"rd_fine\":[{\"lo\":5,\"hi\":5,\"count\":99",
                   "sums to more");
    expect_refused(kinds, "{\"kind\":\"read\",\"references\":10", "{\"kind\":\"read\",\"references\":30",
                   "more references");
    expect_refused(lines, "\"lines_at\":4096", "\"lines_at\":0", "lines_at must be");
    expect_refused(lines, "\"lines_asked\":3", "\"lines_asked\":2", "more rows than");
    expect_refused(lines, "\"misses\":9", "\"misses\":6", "must descend");
    expect_refused(lines, "\"error\":1", "\"error\":11", "error must be");
    expect_refused(lines, "\"address\":\"0x1000\"", "\"address\":\"1000\"", "address must be");
    expect_refused(lines, "\"kind\":\"global\"", "\"kind\":\"cosmic\"", "kind must be heap");
    expect_refused(requests, "\"byte_miss_ratio\":1", "\"byte_miss_ratio\":2", "mrc[0].byte_miss_ratio must be");
    expect_refused(requests, "\"cold_bytes\":100", "\"cold_bytes\":101", "do not sum");
    expect_refused(requests, "\"model\":\"requests\"", "\"model\":\"single\"", "must be absent");
    expect_refused(requests, "\"requests\":{", "\"no\":{", "requests is missing");
    expect_refused(kinds, "\"model\":\"single\"", "\"model\":\"requests\"", "requests is missing");
    rsc_profile_free(kinds);
    rsc_profile_free(lines);
    rsc_profile_free(requests);
}

/* Counts that only describe, which may be any number in a file, next to the largest that can be read. */
static void set_largest(struct rsc_profile *profile) {
    const uint64_t largest = (uint64_t)INT64_MAX - 5;
    profile->made.seconds = 1e11;
    profile->made.threads = profile->made.threads_unseen = profile->made.instructions = largest;
    profile->made.watching = (struct rsc_watch_costs){1, 1e11, largest, largest, largest, largest};
    for (size_t i = 0; i < profile->pair_count; i++) profile->pairs[i].latency_samples = largest;
    for (size_t i = 0; i < profile->object_count; i++) profile->objects[i].blocks = largest;
    if (profile->bins_per_octave) {
        const uint32_t bin = rsc_bin_of(profile->rd_binned.bins, 1000);
        profile->rd_binned.count[bin] = profile->ri_binned.count[bin] = largest;
    }
    assert_int_equal(rsc_profile_set_bars(profile), 0);
    for (uint32_t bin = 0; bin < profile->rd.bin_count; bin++)
        if (profile->rd.count[bin]) profile->rd_high.count[bin] = largest;
    assert_int_equal(rsc_profile_set_sharing(profile, 1), 0);
    profile->sharing[0].taken = profile->sharing[0].false_taken = profile->sharing[0].error = largest;
}

/* Merged with itself again and again, a profile can be read until a merge is refused in one line. */
static void doubled_until_the_limits(void **state) {
    (void)state;
    struct rsc_profile *(*const samples[])(void) = {sample_rich, sample_rows, sample_kinds_and_lines, sample_loops};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct rsc_profile *into = samples[i]();
        struct rsc_error error = {0};
        int doublings = 0, status = 0;
        set_largest(into);
        for (; doublings < 70 && !status; doublings++) {
            struct rsc_profile **copy;
            size_t count;
            char *text = sample_json(into, NULL);
            if (rsc_profiles_parse(text, strlen(text), "x", &copy, &count, &error)) fail_msg("%s", error.message);
            free(text);
            status = rsc_profile_merge(into, copy[0], &error);
            rsc_profiles_free(copy, count);
        }
        assert_int_equal(status, RSC_ELIMIT);
        assert_true(doublings > 5 && doublings < 64);
        assert_non_null(strstr(error.message, "merged"));
        assert_true(into->made.seconds <= 1e12 && into->made.threads <= INT64_MAX);
        rsc_profile_free(into);
    }
}

/* As many threads as 1,024 ranks of 64 have: the first ones keep their rows, and the result can be read. */
static void threads_of_many_ranks(void **state) {
    (void)state;
    struct rsc_profile *into = sample_cyclic(4, 2);
    assert_int_equal(rsc_profile_set_threads(into, 64), 0);
    into->made.threads = 64;
    for (int i = 0; i < 10; i++) {
        struct rsc_profile **copy;
        size_t count;
        char *text = sample_json(into, NULL);
        assert_int_equal(rsc_profiles_parse(text, strlen(text), "x", &copy, &count, NULL), 0);
        free(text);
        assert_int_equal(rsc_profile_merge(into, copy[0], NULL), 0);
        rsc_profiles_free(copy, count);
    }
    assert_int_equal(into->thread_count, RSC_THREAD_ROWS_MAX);
    assert_int_equal(into->made.threads, 64 << 10);
    check_round_trip(into);
    rsc_profile_free(into);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(doubled_until_the_limits),
        cmocka_unit_test(threads_of_many_ranks),
        cmocka_unit_test(engines_are_named_once_each),
        cmocka_unit_test(error_bars_add_by_their_squares),
        cmocka_unit_test(merged_error_bars_cover_what_they_say),
        cmocka_unit_test(kinds_join_by_name),
        cmocka_unit_test(the_worst_lines_of_both_stay),
        cmocka_unit_test(requests_join),
        cmocka_unit_test(byte_bars_join),
        cmocka_unit_test(parts_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
