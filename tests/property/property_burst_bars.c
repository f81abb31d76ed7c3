/*
 * property_burst_bars.c - samples that come in bursts, of which some are waited for and the others dropped, as a running
 * program takes them by default (engine_live.c): their bars hold the exact result as often as they say. The traces are
 * the worst case for bursts: long phases of unlike behaviour, so that all samples of a burst are alike.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include <reusescope/reusescope.h>

#include "base/pages.h"
#include "multicore/finished_samples.h"
#include "multicore/program_samples.h"
#include "profile/profile_model.h"
#include "random_traces.h"
#include "trace/batch_columns.h"

#define THREADS 3u
#define REFERENCES 400000u
#define PHASE 4000u
#define BURST 16u
#define PERIOD 256.0
#define SEEDS 30u
#define SHORT 4u

static uint64_t addr[REFERENCES], meta[REFERENCES];

/* ---- a trace of phases ---- */

/* Sweeps of each thread's own lines; any of many lines, some of them written; one line that all write. */
static uint64_t line_of(struct rsc_rng *rng, uint32_t kind, uint32_t thread, uint32_t at, int *is_write) {
    *is_write = kind == 2 || (kind == 1 && rsc_rng_below(rng, 10) == 0);
    if (kind == 0) return 10000ull * (thread + 1) + at / THREADS % 300;
    return kind == 1 ? rsc_rng_below(rng, 1 + rsc_rng_below(rng, 1500)) : 90000;
}

static struct rsc_batch make_trace(struct rsc_rng *rng) {
    uint32_t kind = 0;
    for (uint32_t i = 0; i < REFERENCES; i++) {
        int is_write;
        if (i % PHASE == 0) kind = (uint32_t)rsc_rng_below(rng, 3);
        uint32_t thread = (uint32_t)rsc_rng_below(rng, THREADS);
        addr[i] = 64 * line_of(rng, kind, thread, i, &is_write) + 8 * thread;
        meta[i] = rsc_meta(8, is_write ? RSC_WRITE : RSC_READ, thread);
    }
    return (struct rsc_batch){.count = REFERENCES, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
}

static struct rsc_profile *exact_of(const struct rsc_batch *batch, const char *model) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = "exact", .model = model};
    struct rsc_engine *engine;
    struct rsc_profile *profile = NULL;
    struct rsc_error error;
    if (rsc_engine_new(&engine, &options, &error) < 0 || rsc_engine_push(engine, batch, &error) < 0 ||
        rsc_engine_finish(engine, &profile, &error) < 0)
        fail_msg("%s", error.message);
    rsc_engine_free(engine);
    return profile;
}

/* ---- samples in bursts ---- */

struct seen {
    struct rsc_sample_record *record;
    size_t count, room;
    double dropped, all;
};

static void take_record(void *context, const struct rsc_sample_record *record) {
    struct seen *seen = context;
    if (seen->count == seen->room) {
        seen->room = seen->room ? 2 * seen->room : 4096;
        seen->record = realloc(seen->record, seen->room * sizeof *seen->record);
        assert_non_null(seen->record);
    }
    seen->record[seen->count++] = *record;
    if (record->outcome == RSC_SAMPLE_DROPPED) seen->dropped += record->weight;
    if (record->outcome != RSC_SAMPLE_KEPT) seen->all += record->weight;
}

/* Samples the trace in memory; half way, samples are drawn half as often. */
static struct rsc_sampler_options sample(uint64_t seed, int only_footprint, int is_short, struct seen *seen) {
    struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                          .only_footprint = (uint32_t)only_footprint,
                                          .period = PERIOD,
                                          .seed = seed,
                                          .threads_most = THREADS,
                                          .samples_most = 4096,
                                          .burst = BURST,
                                          .burst_parts = 8,
                                          .burst_rounds = 3,
                                          .burst_from = 1,
                                          .burst_short = is_short ? SHORT : 0,
                                          .drop_from = is_short ? INFINITY : 1,
                                          .emit = take_record,
                                          .emit_context = seen};
    size_t bytes = rsc_sampler_bytes(&options, NULL);
    void *memory = rsc_pages_new(bytes);
    assert_non_null(memory);
    struct rsc_sampler *sampler = rsc_sampler_init(&options, memory);
    for (uint32_t t = 0; t < THREADS; t++) assert_int_equal(rsc_sampler_thread_begin(sampler, t), t);
    for (uint32_t i = 0; i < REFERENCES; i++) {
        const uint32_t thread = rsc_meta_thread(meta[i]);
        struct rsc_sample_place place = {.pc = i + 1};
        if (i == REFERENCES / 2) rsc_sampler_set_period(sampler, 2 * PERIOD);
        if (i % 64 == 0) rsc_sampler_judge(sampler, thread);
        if (rsc_sampler_is_quiet(sampler) && rsc_sampler_countdown(sampler, thread) > 1) {
            rsc_sampler_pass(sampler, thread, 1);
            continue;
        }
        rsc_sample_place_bytes(&place, addr[i], 8, addr[i] >> 6, 6);
        rsc_sampler_use(sampler, thread, addr[i] >> 6, rsc_meta_kind(meta[i]) == RSC_WRITE, &place);
    }
    rsc_sampler_finish(sampler);
    rsc_pages_free(memory, bytes);
    return options;
}

/* The profile that `run` makes of them. */
static struct rsc_profile *profile_of(const struct seen *seen, const struct rsc_sampler_options *sampler,
                                      uint32_t model) {
    uint64_t references[THREADS] = {0};
    for (uint32_t i = 0; i < REFERENCES; i++) references[rsc_meta_thread(meta[i])]++;
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .line_bytes = 64, .attribute = 2};
    const struct rsc_whole_run whole = {.accesses = REFERENCES,
                                        .references = REFERENCES,
                                        .thread_references = references,
                                        .thread_count = THREADS,
                                        .analysed = REFERENCES};
    const struct rsc_batch batch = {.thread_count = THREADS};
    const struct rsc_batch_columns columns = {.samples = seen->record, .sample_count = seen->count, .whole = &whole};
    struct rsc_error error;
    struct rsc_profile *profile = NULL;
    void *state;
    if (rsc_program_samples_create(&state, &options, sampler, model, &error) < 0 ||
        rsc_program_samples.push_columns(state, &batch, &columns, &error) < 0 ||
        rsc_program_samples.finish(state, &profile, &error) < 0)
        fail_msg("%s", error.message);
    rsc_program_samples.destroy(state);
    return profile;
}

/* ---- how often bars hold ---- */

enum { CURVE, BINS, INVALIDATED, COLD, DISTINCT, SHARING, NAIVE, NUMBERS };
static const char *const names[NUMBERS] = {
    "curve", "bins", "invalidated", "cold", "distinct", "sharing", "curve, as if drawn singly"};

struct coverage {
    double asked, held, off;
};

static void see(struct coverage *number, int holds, double off) {
    number->asked++;
    number->held += holds;
    number->off += off;
}

static int is_in(const struct rsc_count_bar *bar, uint64_t truth) { return bar->low <= truth && truth <= bar->high; }

static void compare(struct coverage found[NUMBERS], const struct rsc_profile *exact, const struct rsc_profile *sampled,
                    double samples, int is_private) {
    const double all = (double)exact->references;
    for (double size = 1; size <= (double)exact->distinct; size *= exp2(1 / 8.0)) {
        const double truth = rsc_profile_mrc_at(exact, (uint64_t)size).miss_ratio;
        const struct rsc_mrc_point got = rsc_profile_mrc_at(sampled, (uint64_t)size);
        double low, high;
        if (truth <= 0.002 || truth >= 0.998) continue;
        see(&found[CURVE], got.low <= truth && truth <= got.high, got.miss_ratio - truth);
        rsc_wilson(got.miss_ratio, samples, 1.6449, &low, &high);
        see(&found[NAIVE], low <= truth && truth <= high, 0);
    }
    for (uint32_t bin = 0; bin < exact->rd.bin_count; bin++) {
        const uint64_t truth = exact->rd.count[bin];
        if (!sampled->rd.count[bin] || (double)truth < 0.004 * all) continue;
        see(&found[BINS], sampled->rd_low.count[bin] <= truth && truth <= sampled->rd_high.count[bin],
            ((double)sampled->rd.count[bin] - (double)truth) / all);
    }
    if (is_private)
        see(&found[INVALIDATED], is_in(&sampled->bars.invalidated, exact->invalidated),
            ((double)sampled->invalidated - (double)exact->invalidated) / all);
    see(&found[COLD], is_in(&sampled->bars.cold, exact->cold),
        ((double)(sampled->cold + sampled->last_touch) - (double)exact->cold) / all);
    see(&found[DISTINCT], is_in(&sampled->bars.distinct, exact->distinct), 0);
    for (size_t i = 0; is_private && i < exact->sharing_count; i++) {
        const struct rsc_sharing_row *truth = &exact->sharing[i];
        int holds = 0;
        for (size_t k = 0; k < sampled->sharing_count; k++) {
            const struct rsc_sharing_row *row = &sampled->sharing[k];
            if (row->by_tid != truth->by_tid || row->from_tid != truth->from_tid) continue;
            holds = row->bars.misses.low <= truth->misses && truth->misses <= row->bars.misses.high;
        }
        see(&found[SHARING], holds, 0);
    }
}

/* Without distances of the shared stack, private samples are the same, and shared ones end the same. */
static void compare_footprint(const struct seen *both, const struct seen *only) {
    assert_int_equal(both->count, only->count);
    for (size_t i = 0; i < both->count; i++) {
        const struct rsc_sample_record *a = &both->record[i], *b = &only->record[i];
        assert_int_equal(a->model, b->model);
        assert_int_equal(a->outcome, b->outcome);
        assert_int_equal(a->line, b->line);
        assert_int_equal(a->interval, b->interval);
        assert_true(a->weight == b->weight && a->kept == b->kept && a->burst == b->burst);
        assert_int_equal(b->distance, a->model == RSC_MODEL_SHARED ? 0 : a->distance);
    }
}

/* Private samples by the length of their burst: up to SHORT, and more. */
static void count_lengths(const struct seen *seen, double lengths[2]) {
    uint32_t last = 0, *length;
    for (size_t i = 0; i < seen->count; i++) last = seen->record[i].burst > last ? seen->record[i].burst : last;
    assert_non_null(length = calloc(last + 1, sizeof *length));
    for (size_t i = 0; i < seen->count; i++)
        length[seen->record[i].burst] += seen->record[i].model == RSC_MODEL_PRIVATE;
    for (uint32_t burst = 1; burst <= last; burst++) lengths[length[burst] > SHORT] += length[burst];
    for (uint32_t burst = 1; burst <= last; burst++) assert_true(length[burst] <= BURST);
    free(length);
}

static void bars_of_bursts(int is_short) {
    static const char *const models[2] = {"private", "shared"};
    struct coverage found[2][NUMBERS] = {{{0}}};
    const uint64_t first = property_seed();
    double dropped = 0, lengths[2] = {0};
    for (uint64_t n = 0; n < SEEDS; n++) {
        struct rsc_rng rng;
        struct seen seen = {0}, only = {0};
        rsc_rng_seed(&rng, first, n / 5); /* five samples of each trace */
        struct rsc_batch batch = make_trace(&rng);
        struct rsc_sampler_options sampler = sample(first * 1000 + n, 0, is_short, &seen);
        sample(first * 1000 + n, 1, is_short, &only);
        compare_footprint(&seen, &only);
        free(only.record);
        if (is_short) count_lengths(&seen, lengths);
        dropped += seen.dropped / seen.all / SEEDS;
        for (int m = 0; m < 2; m++) {
            struct rsc_profile *exact = exact_of(&batch, models[m]);
            struct rsc_profile *profile = profile_of(&seen, &sampler, m ? RSC_MODEL_SHARED : RSC_MODEL_PRIVATE);
            compare(found[m], exact, profile, (double)seen.count / 2, m == 0);
            rsc_profile_free(profile);
            rsc_profile_free(exact);
        }
        free(seen.record);
    }
    printf("%.1f %% of samples dropped\n", 100 * dropped);
    if (is_short) printf("%.0f samples in short bursts, %.0f in others\n", lengths[0], lengths[1]);
    if (is_short) assert_true(dropped == 0 && lengths[1] > 0 && lengths[0] > lengths[1]);
    else assert_true(dropped > 0.05); /* it is what is tested */
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < NUMBERS; i++) {
            const struct coverage *number = &found[m][i];
            if (number->asked == 0) continue;
            printf("%s, %s: %.1f %% of %.0f held, off by %+.4f in the mean\n", models[m], names[i],
                   100 * number->held / number->asked, number->asked, number->off / number->asked);
        }
    for (int m = 0; m < 2; m++)
        for (int i = 0; i < NUMBERS; i++) {
            const struct coverage *number = &found[m][i];
            if (number->asked == 0) continue;
            /* 90 %; points of a curve hold or miss together, so that 30 samples tell this much */
            if (i != NAIVE && number->held < 0.75 * number->asked)
                fail_msg("seed %llu: %s, %s: bars held %.1f %% of the time", (unsigned long long)first, models[m],
                         names[i], 100 * number->held / number->asked);
            if (fabs(number->off) > 0.03 * number->asked) fail_msg("%s, %s: off", models[m], names[i]);
        }
    /* the traces are as bad as they should be */
    for (int m = 0; m < 2 && !is_short; m++) assert_true(found[m][NAIVE].held < 0.85 * found[m][CURVE].held);
}

static void test_bars_of_bursts(void **state) {
    (void)state;
    bars_of_bursts(0);
}

static void test_bars_of_short_bursts(void **state) {
    (void)state;
    bars_of_bursts(1);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_bars_of_bursts),
                                       cmocka_unit_test(test_bars_of_short_bursts)};
    return cmocka_run_group_tests_name("burst bars", tests, NULL, NULL);
}
