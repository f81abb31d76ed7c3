/*
 * property_sampler.c - the sampler that programs and traces share, against stacks kept
 * slot by slot: with every reference sampled and nothing pruned, each distance must be
 * theirs, in order; in parallel order on real threads the sums must hold; sketched
 * distances must be as good as they say.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "base/pages.h"
#include "base/pool.h"
#include "random_traces.h"
#include "runtime/sampler/sampler.h"
#include "runtime/sampler/sampler_state.h"
#include "slot_stacks.h"

#define THREADS 8u

/* Finished samples of one model, in order. */
struct seen {
    struct rsc_sample_record *record;
    size_t count, room;
    uint64_t outcomes[RSC_SAMPLE_OUTCOMES];
};

static void take_record(void *context, const struct rsc_sample_record *record) {
    struct seen *seen = (struct seen *)context + (record->model == RSC_MODEL_SHARED);
    if (seen->count == seen->room) {
        seen->room = seen->room ? 2 * seen->room : 256;
        seen->record = realloc(seen->record, seen->room * sizeof *seen->record);
        assert_non_null(seen->record);
    }
    seen->record[seen->count++] = *record;
    seen->outcomes[record->outcome]++;
}

struct reference {
    uint64_t line;
    uint32_t thread;
    int is_write;
};

static void random_references(struct rsc_rng *rng, struct reference *out, uint32_t count, uint32_t threads) {
    uint64_t lines = 1 + rsc_rng_below(rng, 60), at[THREADS] = {0};
    unsigned shape[THREADS], writes = (unsigned)rsc_rng_below(rng, 5), burst = 1 + (unsigned)rsc_rng_below(rng, 12);
    int apart = rsc_rng_below(rng, 3) == 0; /* each thread mostly in lines of its own */
    uint32_t thread = 0;
    for (uint32_t t = 0; t < THREADS; t++) shape[t] = (unsigned)rsc_rng_below(rng, 8);
    for (uint32_t i = 0; i < count; i++) {
        if (rsc_rng_below(rng, burst) == 0) thread = (uint32_t)rsc_rng_below(rng, threads);
        uint64_t line = random_line(rng, shape[thread], &at[thread], lines, i);
        if (apart && rsc_rng_below(rng, 8)) line += 1000 * (thread + 1);
        out[i] = (struct reference){line, thread, writes && rsc_rng_below(rng, 2 * writes) == 0};
    }
}

static struct rsc_sampler *make_sampler_of(uint32_t threads, const struct rsc_sampler_options *options, void **memory,
                                           size_t *bytes) {
    *bytes = rsc_sampler_bytes(options, NULL);
    *memory = rsc_pages_new(*bytes);
    assert_non_null(*memory);
    struct rsc_sampler *sampler = rsc_sampler_init(options, *memory);
    for (uint32_t t = 0; t < threads; t++) assert_int_equal(rsc_sampler_thread_begin(sampler, t), t);
    return sampler;
}

static struct rsc_sampler *make_sampler(const struct rsc_sampler_options *options, void **memory, size_t *bytes) {
    return make_sampler_of(THREADS, options, memory, bytes);
}

static void use(struct rsc_sampler *sampler, const struct reference *reference, uint64_t pc) {
    struct rsc_sample_place place = {.pc = pc};
    rsc_sampler_use(sampler, reference->thread, reference->line, reference->is_write, &place);
}

/* Finds the next record that has a distance. */
static const struct rsc_sample_record *next_reused(const struct seen *seen, size_t *at) {
    while (*at < seen->count && seen->record[*at].outcome != RSC_SAMPLE_REUSED) ++*at;
    return *at < seen->count ? &seen->record[(*at)++] : NULL;
}

static void compare(const struct reference *references, uint32_t count, const struct seen *seen) {
    struct slot_stack stack[THREADS] = {{0}}, shared = {0};
    uint64_t last[2][THREADS][64 + 9 * 1000], own[THREADS] = {0}, private_finite = 0, shared_finite = 0,
                                              invalidated = 0, cold = 0;
    size_t private_at = 0, shared_at = 0;
    memset(last, 0, sizeof last);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = references[i].line;
        uint32_t thread = references[i].thread;
        uint64_t d = slot_use(&stack[thread], line), s = slot_use(&shared, line);
        own[thread]++;
        if (d != SLOT_NEW) {
            const struct rsc_sample_record *record = next_reused(&seen[0], &private_at);
            assert_non_null(record);
            assert_int_equal(record->distance, d);
            assert_int_equal(record->line, line);
            assert_int_equal(record->use.thread, thread);
            assert_int_equal(record->reuse.pc, i + 1);
            assert_int_equal(record->interval, own[thread] - last[0][thread][line]);
            private_finite++;
        } else if (last[0][thread][line]) {
            invalidated++;
        } else {
            cold++;
        }
        if (s != SLOT_NEW) {
            const struct rsc_sample_record *record = next_reused(&seen[1], &shared_at);
            assert_non_null(record);
            assert_int_equal(record->distance, s);
            assert_int_equal(record->use.pc, last[1][0][line]);
            assert_int_equal(record->interval, i + 1 - last[1][0][line]);
            shared_finite++;
        }
        last[0][thread][line] = own[thread];
        last[1][0][line] = i + 1;
        for (uint32_t t = 0; references[i].is_write && t < THREADS; t++)
            if (t != thread) slot_take(&stack[t], line);
    }
    assert_int_equal(seen[0].outcomes[RSC_SAMPLE_REUSED], private_finite);
    assert_int_equal(seen[1].outcomes[RSC_SAMPLE_REUSED], shared_finite);
    assert_int_equal(seen[0].outcomes[RSC_SAMPLE_INVALIDATED], invalidated);
    assert_int_equal(seen[0].outcomes[RSC_SAMPLE_LAST_TOUCH], cold);
    assert_int_equal(seen[0].count, count);
    assert_int_equal(seen[1].count, count);
    assert_int_equal(seen[0].outcomes[RSC_SAMPLE_PRUNED] + seen[0].outcomes[RSC_SAMPLE_CENSORED], 0);
    assert_int_equal(seen[1].outcomes[RSC_SAMPLE_PRUNED] + seen[1].outcomes[RSC_SAMPLE_CENSORED], 0);
    for (uint32_t t = 0; t < THREADS; t++) slot_free(&stack[t]);
    slot_free(&shared);
}

static void test_every_reference(void **state) {
    (void)state;
    struct rsc_rng rng;
    unsigned long traces = property_traces(2000);
    struct reference *references = malloc(20000 * sizeof *references);
    assert_non_null(references);
    rsc_rng_seed(&rng, property_seed(), 0);
    for (unsigned long n = 0; n < traces; n++) {
        uint32_t count = n % 100 ? random_count(&rng, 300) : 20000 /* epochs are renumbered on the way */;
        struct seen seen[2] = {{0}};
        random_references(&rng, references, count, 1 + (uint32_t)rsc_rng_below(&rng, THREADS));
        struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                              .period = 1,
                                              .threads_most = THREADS,
                                              .exact_lines = 1024,
                                              .samples_most = 1000,
                                              .prune_quantile = 1,
                                              .seed = n,
                                              .emit = take_record,
                                              .emit_context = seen};
        void *memory;
        size_t bytes;
        struct rsc_sampler *sampler = make_sampler(&options, &memory, &bytes);
        for (uint32_t i = 0; i < count; i++) use(sampler, &references[i], i + 1);
        rsc_sampler_finish(sampler);
        compare(references, count, seen);
        rsc_pages_free(memory, bytes);
        free(seen[0].record);
        free(seen[1].record);
    }
    free(references);
}

/* Sampled now and then, a record must be one of those that sampling everything gives. */
static void test_some_references(void **state) {
    (void)state;
    enum { COUNT = 60000 };
    struct reference *references = malloc(COUNT * sizeof *references);
    uint64_t *truth = malloc(2 * (COUNT + 1) * sizeof *truth);
    assert_non_null(references);
    assert_non_null(truth);
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 7, 0);
    random_references(&rng, references, COUNT, 4);
    for (int period = 1; period <= 1000; period = period * 5 + 2) {
        struct seen seen[2] = {{0}};
        struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                              .period = period,
                                              .threads_most = THREADS,
                                              .exact_lines = 8192,
                                              .samples_most = 4096,
                                              .prune_quantile = 1,
                                              .seed = 3,
                                              .emit = take_record,
                                              .emit_context = seen};
        void *memory;
        size_t bytes;
        struct rsc_sampler *sampler = make_sampler(&options, &memory, &bytes);
        for (uint32_t i = 0; i < COUNT; i++) {
            const struct reference *reference = &references[i];
            if (rsc_sampler_is_quiet(sampler) && rsc_sampler_countdown(sampler, reference->thread) > 1)
                rsc_sampler_pass(sampler, reference->thread, 1);
            else use(sampler, reference, i + 1);
        }
        rsc_sampler_finish(sampler);
        struct rsc_sampler_counts counts;
        rsc_sampler_get_counts(sampler, &counts);
        assert_int_equal(counts.references, COUNT);
        assert_int_equal(counts.samples, seen[0].count);
        for (size_t model = 0; model < 2; model++)
            for (size_t i = 0; i < seen[model].count; i++) {
                const struct rsc_sample_record *record = &seen[model].record[i];
                uint64_t outcome =
                    record->outcome == RSC_SAMPLE_REUSED ? record->distance : UINT64_MAX - record->outcome;
                uint64_t *known = &truth[model * (COUNT + 1) + record->use.pc];
                if (period == 1) *known = outcome;
                assert_int_equal(outcome, *known);
            }
        double expected = (double)COUNT / period;
        assert_true(fabs((double)seen[0].count - expected) <= 5 * sqrt(expected) + 1);
        rsc_pages_free(memory, bytes);
        free(seen[0].record);
        free(seen[1].record);
    }
    free(truth);
    free(references);
}

/*
 * Parallel order: uses that change nothing may be counted only, and nothing is found but the same. Those of lines that
 * the thread knows; or of lines that no set needs for its sketches.
 */
enum shortcut { NO_SHORTCUT, KNOWN_LINES_PASS, IGNORED_LINES_PASS };

static int changes_nothing(const struct rsc_sampler *sampler, const struct sampler_thread *thread,
                           const struct reference *reference, enum shortcut shortcut) {
    uint64_t hash = rsc_active_hash(sampler->hash_key, reference->line);
    if (thread->countdown < 2 || rsc_sampler_is_quiet(sampler)) return 0;
    if (shortcut == KNOWN_LINES_PASS) return rsc_sampler_knows(thread, reference->line, reference->is_write);
    return shortcut == IGNORED_LINES_PASS &&
           rsc_sampler_ignores(sampler, thread, reference->line, hash, reference->is_write);
}

static void drive_shortly(struct rsc_sampler *sampler, const struct reference *references, uint32_t count,
                          enum shortcut shortcut, uint64_t *passed) {
    for (uint32_t i = 0; i < count; i++) {
        const struct reference *reference = &references[i];
        struct sampler_thread *thread = &sampler->threads[reference->thread];
        if (i % 1000 == 0) rsc_sampler_sync(sampler, reference->thread);
        rsc_sampler_check_known(sampler, thread);
        if (changes_nothing(sampler, thread, reference, shortcut)) {
            rsc_sampler_pass_known(thread, 1);
            ++*passed;
            continue;
        }
        if (thread->countdown > 1) rsc_sampler_note_known(thread, reference->line, reference->is_write);
        use(sampler, reference, i + 1);
    }
    rsc_sampler_finish(sampler);
}

static void compare_records(struct seen seen[2][2], uint64_t seed) {
    for (int model = 0; model < 2; model++) {
        assert_int_equal(seen[0][model].count, seen[1][model].count);
        for (size_t i = 0; i < seen[0][model].count; i++) {
            const struct rsc_sample_record *a = &seen[0][model].record[i], *b = &seen[1][model].record[i];
            if (a->outcome != b->outcome || a->line != b->line || a->distance != b->distance ||
                a->interval != b->interval || a->use.pc != b->use.pc || a->reuse.pc != b->reuse.pc)
                fail_msg("seed %llu, model %d, sample %zu: distance %llu, outcome %u; %llu, %u",
                         (unsigned long long)seed, model, i, (unsigned long long)a->distance, a->outcome,
                         (unsigned long long)b->distance, b->outcome);
        }
        free(seen[0][model].record);
        free(seen[1][model].record);
    }
}

/* The records with and without the shortcut. */
static void compare_shortcut(const struct reference *references, uint32_t count, struct rsc_sampler_options options,
                             enum shortcut shortcut, uint64_t *passed) {
    struct seen seen[2][2] = {{{0}}};
    options.order = RSC_ORDER_PARALLEL;
    options.threads_most = THREADS;
    options.prune_quantile = 1;
    options.emit = take_record;
    for (int with = 0; with < 2; with++) {
        void *memory;
        size_t bytes;
        options.emit_context = seen[with];
        struct rsc_sampler *sampler = make_sampler(&options, &memory, &bytes);
        drive_shortly(sampler, references, count, with ? shortcut : NO_SHORTCUT, passed);
        rsc_pages_free(memory, bytes);
    }
    compare_records(seen, options.seed);
}

static void test_known_lines(void **state) {
    (void)state;
    enum { COUNT = 20000, TRACES = 60 };
    struct reference *references = malloc(COUNT * sizeof *references);
    uint64_t passed = 0;
    assert_non_null(references);
    for (uint32_t trace = 0; trace < TRACES; trace++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, 11, trace);
        random_references(&rng, references, COUNT, 1 + trace % THREADS);
        compare_shortcut(
            references, COUNT,
            (struct rsc_sampler_options){.models = 1 + trace % 3, .period = 2 + trace % 7 * 40, .seed = trace},
            KNOWN_LINES_PASS, &passed);
    }
    assert_true(passed > TRACES * COUNT / 10); /* or this shows little */
    free(references);
}

/*
 * Whole runs of the references of a program that has one thread for a while: of one that uses the sets at once, and of
 * one that writes a log. From `alone` references on there are other threads, and both write logs.
 */
static void drive_alone(struct rsc_sampler *sampler, const struct reference *references, uint32_t count, uint32_t alone,
                        int at_once, uint64_t *used) {
    struct sampler_thread *thread = &sampler->threads[0];
    for (uint32_t i = 0; i < count; i++) {
        const struct reference *reference = &references[i];
        uint64_t hash = rsc_active_hash(sampler->hash_key, reference->line);
        if (i == alone) {
            rsc_sampler_let_go(sampler, thread);
            for (uint32_t t = 1; t < THREADS; t++) assert_int_equal(rsc_sampler_thread_begin(sampler, t), t);
        }
        if (at_once && i % 100 == 0) rsc_sampler_let_go(sampler, thread);
        if (at_once && i % 100 == 0) rsc_sampler_hold_alone(sampler, thread);
        assert_int_equal(thread->alone, at_once && i < alone);
        if (thread->alone && thread->countdown > 1 && rsc_sampler_use_alone(sampler, thread, reference->line, hash)) {
            rsc_sampler_pass_known(thread, 1);
            ++*used;
            continue;
        }
        use(sampler, reference, i + 1);
    }
    rsc_sampler_let_go(sampler, thread);
    rsc_sampler_finish(sampler);
}

static void test_alone(void **state) {
    (void)state;
    enum { COUNT = 20000, TRACES = 40 };
    struct reference *references = malloc(COUNT * sizeof *references);
    uint64_t used = 0;
    assert_non_null(references);
    for (uint32_t trace = 0; trace < TRACES; trace++) {
        struct seen seen[2][2] = {{{0}}};
        struct rsc_rng rng;
        const uint32_t alone = trace % 2 ? COUNT : COUNT / 4 * (trace % 3);
        rsc_rng_seed(&rng, 14, trace);
        random_references(&rng, references, COUNT, THREADS);
        for (uint32_t i = 0; i < alone; i++) references[i].thread = 0;
        struct rsc_sampler_options options = {.models = 1 + trace % 3,
                                              .order = RSC_ORDER_PARALLEL,
                                              .period = 2 + trace % 7 * 40,
                                              .seed = trace,
                                              .threads_most = THREADS,
                                              .prune_quantile = 1,
                                              .emit = take_record};
        for (int at_once = 0; at_once < 2; at_once++) {
            void *memory;
            size_t bytes;
            options.emit_context = seen[at_once];
            struct rsc_sampler *sampler = make_sampler_of(1, &options, &memory, &bytes);
            drive_alone(sampler, references, COUNT, alone, at_once, &used);
            rsc_pages_free(memory, bytes);
        }
        compare_records(seen, options.seed);
    }
    assert_true(used > TRACES * COUNT / 10);
    free(references);
}

/* Threads that sweep over thousands of lines each, some of them common, with sets that are soon sketched. */
static void test_ignored_lines(void **state) {
    (void)state;
    enum { COUNT = 60000, TRACES = 24, COMMON = 500 };
    struct reference *references = malloc(COUNT * sizeof *references);
    uint64_t passed = 0;
    assert_non_null(references);
    for (uint32_t trace = 0; trace < TRACES; trace++) {
        uint32_t threads = 1 + trace % THREADS, lines = 2000 + 500 * trace, at[THREADS] = {0};
        struct rsc_rng rng;
        rsc_rng_seed(&rng, 12, trace);
        for (uint32_t i = 0; i < COUNT; i++) {
            uint32_t thread = (uint32_t)rsc_rng_below(&rng, threads);
            int again = rsc_rng_below(&rng, 3) == 0, common = rsc_rng_below(&rng, 40) == 0;
            if (!again) at[thread] = (at[thread] + 1) % lines;
            uint64_t line = common ? rsc_rng_below(&rng, COMMON) : (uint64_t)(thread + 1) * 1000000 + at[thread];
            references[i] = (struct reference){.thread = thread, .line = line, .is_write = rsc_rng_below(&rng, 2) == 0};
        }
        compare_shortcut(
            references, COUNT,
            (struct rsc_sampler_options){
                .models = 1 + trace % 3, .period = 1000 + trace % 5 * 2000, .seed = trace, .exact_lines = 256},
            IGNORED_LINES_PASS, &passed);
    }
    assert_true(passed > TRACES * COUNT / 10);
    free(references);
}

/* Sweeps over more and more lines with one sample at the front, and a small loop in between: sketched and exact. */
static void test_sketch(void **state) {
    (void)state;
    enum { SEEDS = 60, EXACT = 256, LOOP = 100 };
    double squares = 0, sum = 0, worst = 0;
    int count = 0;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        struct rsc_active_options options = {EXACT, 64, seed};
        struct rsc_active_samples set;
        size_t bytes = rsc_active_bytes(&options);
        void *memory = rsc_pages_new(bytes);
        assert_non_null(memory);
        rsc_active_init(&set, &options, memory);
        uint32_t old = rsc_active_begin(&set, 1);
        uint64_t lines = 0;
        for (uint64_t target = 100; target < 200000; target *= 3) {
            for (; lines < target; lines++) rsc_active_use(&set, 1000 + lines, set.now);
            for (int again = 0; again < 3; again++) /* what was there before changes nothing */
                for (uint64_t i = 0; i < lines; i += 1 + lines / 3000) rsc_active_use(&set, 1000 + i, set.now);
            struct rsc_active_distance distance = rsc_active_distance(&set, old);
            if (target <= EXACT) {
                assert_int_equal(distance.lines, lines);
                assert_true(distance.variance == 0);
                continue;
            }
            assert_false(distance.too_far);
            double off = (double)distance.lines - (double)lines;
            if (distance.variance > 0) {
                squares += off * off / distance.variance;
                sum += off / sqrt(distance.variance);
                count++;
            } else {
                assert_true(off == 0);
            }
            worst = fmax(worst, sqrt(distance.variance) / (double)distance.lines);
            /* a young sample is exact beside it */
            uint32_t young = rsc_active_begin(&set, 2);
            for (int i = 0; i < 5 * LOOP; i++) rsc_active_use(&set, 1000 + (uint64_t)(i % LOOP), set.now);
            distance = rsc_active_distance(&set, young);
            assert_int_equal(distance.lines, LOOP);
            assert_true(distance.variance == 0);
            rsc_active_end(&set, young);
            rsc_active_take(&set, 2); /* leaves a hole, which the next new line fills */
        }
        rsc_pages_free(memory, bytes);
    }
    printf("sketch: error %.2f of what is stated, bias %+.2f, worst stated %.1f%%, %d distances\n",
           sqrt(squares / count), sum / count, 100 * worst, count);
    assert_true(count > 150);
    assert_true(squares / count > 0.6 && squares / count < 1.6);
    assert_true(fabs(sum / count) < 0.3);
    assert_true(worst <= 1 / sqrt(EXACT / 2.0));
}

/* Few distances are long: those are given up, the rest is as it was. */
static void test_pruning(void **state) {
    (void)state;
    struct seen seen[2] = {{0}}, whole[2] = {{0}};
    for (int pass = 0; pass < 2; pass++) {
        struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE,
                                              .period = 50,
                                              .threads_most = THREADS,
                                              .seed = 5,
                                              .prune_quantile = pass ? 1 : 0,
                                              .emit = take_record,
                                              .emit_context = pass ? whole : seen};
        void *memory;
        size_t bytes;
        struct rsc_sampler *sampler = make_sampler(&options, &memory, &bytes);
        for (uint32_t i = 0; i < 400000; i++) {
            struct reference reference = {i % 1000 ? i % 7 : 100 + i / 1000 % 200, 0, 0};
            use(sampler, &reference, i + 1);
        }
        rsc_sampler_finish(sampler);
        rsc_pages_free(memory, bytes);
    }
    assert_int_equal(seen[0].count, whole[0].count);
    assert_int_equal(whole[0].outcomes[RSC_SAMPLE_PRUNED], 0);
    uint64_t pruned = seen[0].outcomes[RSC_SAMPLE_PRUNED];
    assert_in_range(pruned, 1, whole[0].count / 100);
    for (size_t i = 0; i < seen[0].count; i++)
        if (seen[0].record[i].outcome == RSC_SAMPLE_PRUNED) assert_true(seen[0].record[i].distance > 6);
    free(seen[0].record);
    free(whole[0].record);
}

/* ---- parallel order ---- */

struct parallel_run {
    struct rsc_sampler *sampler;
    uint32_t references; /* of each thread */
    uint32_t lines;
    uint64_t outcomes[2][RSC_SAMPLE_OUTCOMES]; /* atomic */
    uint32_t started; /* atomic */
};

static void count_record(void *context, const struct rsc_sample_record *record) {
    struct parallel_run *run = context;
    __atomic_add_fetch(&run->outcomes[record->model == RSC_MODEL_SHARED][record->outcome], 1, __ATOMIC_RELAXED);
}

static void drive(void *context, size_t index) {
    struct parallel_run *run = context;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, 99, index);
    __atomic_add_fetch(&run->started, 1, __ATOMIC_RELAXED);
    while (__atomic_load_n(&run->started, __ATOMIC_RELAXED) < 4) sched_yield(); /* all at once */
    for (int life = 0; life < 5; life++) { /* threads end, and others take their slots */
        uint32_t slot = rsc_sampler_thread_begin(run->sampler, (uint32_t)index * 5 + (uint32_t)life);
        if (slot == RSC_NO_THREAD) abort();
        for (uint32_t i = 0; i < run->references / 5; i++) {
            struct rsc_sample_place place = {.pc = i};
            uint64_t line = rsc_rng_below(&rng, 4) ? 1000 * index + i % run->lines : rsc_rng_below(&rng, 50);
            struct sampler_thread *thread = &run->sampler->threads[slot];
            int is_write = rsc_rng_below(&rng, 8) == 0, samples = rsc_sampler_countdown(run->sampler, slot) == 1;
            rsc_sampler_check_known(run->sampler, thread);
            if (rsc_sampler_is_quiet(run->sampler) && !samples) rsc_sampler_pass(run->sampler, slot, 1);
            else if (index % 2 && !samples && rsc_sampler_knows(thread, line, is_write))
                rsc_sampler_pass_known(thread, 1);
            else {
                if (!samples) rsc_sampler_note_known(thread, line, is_write);
                rsc_sampler_use(run->sampler, slot, line, is_write, &place);
            }
            if (i % 5000 == 4999) {
                rsc_sampler_park(run->sampler, slot);
                rsc_sampler_unpark(run->sampler, slot);
                rsc_sampler_sync(run->sampler, slot);
            }
        }
        rsc_sampler_thread_end(run->sampler, slot);
    }
}

static void test_threads(void **state) {
    (void)state;
    uint64_t invalidated = 0;
    for (int pass = 0; pass < 4; pass++) {
        struct parallel_run run = {.references = 100000, .lines = 300};
        struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                              .order = RSC_ORDER_PARALLEL,
                                              .period = pass == 0 ? 3 : 200,
                                              .threads_most = THREADS,
                                              .exact_lines = 1024,
                                              .samples_most = 1024,
                                              .log_entries = pass == 1 ? 64 : 4096,
                                              .seed = (uint64_t)pass,
                                              .emit = count_record,
                                              .emit_context = &run};
        size_t bytes = rsc_sampler_bytes(&options, NULL);
        void *memory = rsc_pages_new(bytes);
        struct rsc_pool *pool;
        struct rsc_error error;
        assert_non_null(memory);
        run.sampler = rsc_sampler_init(&options, memory);
        assert_int_equal(rsc_pool_new(&pool, 4, &error), 0);
        rsc_pool_for(pool, 4, drive, &run);
        rsc_pool_free(pool);
        rsc_sampler_finish(run.sampler);
        struct rsc_sampler_counts counts;
        rsc_sampler_get_counts(run.sampler, &counts);
        assert_int_equal(counts.references, 4 * run.references);
        assert_true(rsc_sampler_is_quiet(run.sampler));
        for (int model = 0; model < 2; model++) {
            uint64_t all = 0;
            for (int outcome = 0; outcome < RSC_SAMPLE_OUTCOMES; outcome++) all += run.outcomes[model][outcome];
            assert_int_equal(all, counts.samples); /* every sample ends, and just once */
            assert_true(run.outcomes[model][RSC_SAMPLE_REUSED] > counts.samples / 2);
        }
        assert_int_equal(run.outcomes[1][RSC_SAMPLE_INVALIDATED], 0);
        printf("pass %d: %llu samples, private: %llu reused, %llu invalidated, %llu censored\n", pass,
               (unsigned long long)counts.samples, (unsigned long long)run.outcomes[0][RSC_SAMPLE_REUSED],
               (unsigned long long)run.outcomes[0][RSC_SAMPLE_INVALIDATED],
               (unsigned long long)run.outcomes[0][RSC_SAMPLE_CENSORED]);
        invalidated += run.outcomes[0][RSC_SAMPLE_INVALIDATED];
        rsc_pages_free(memory, bytes);
    }
    assert_true(invalidated > 0);
}

/*
 * All memory is the block that was asked for: it ends at a page that may not be touched.
 * Samples that never end, more lines than any table has room for, more samples than fit,
 * and thousands of threads that come and go.
 */
static void test_memory_is_bounded(void **state) {
    (void)state;
    for (int order = 0; order < 2; order++) {
        struct seen seen[2] = {{0}};
        struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                              .order = (uint32_t)order,
                                              .period = 40,
                                              .threads_most = 3,
                                              .exact_lines = 256,
                                              .samples_most = 64,
                                              .log_entries = 256,
                                              .prune_quantile = order ? 1 : 0.99,
                                              .seed = 1,
                                              .emit = take_record,
                                              .emit_context = seen};
        size_t bytes = rsc_sampler_bytes(&options, NULL), page = 4096, room = (bytes + page - 1) / page * page;
        char *block = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        assert_true(block != MAP_FAILED);
        assert_int_equal(mprotect(block + room, page, PROT_NONE), 0);
        struct rsc_sampler *sampler = rsc_sampler_init(&options, block + (room - bytes) / 64 * 64);
        uint64_t fresh = 0;
        for (uint32_t life = 0; life < 3000; life++) {
            uint32_t slots[3];
            for (uint32_t t = 0; t < 3; t++) slots[t] = rsc_sampler_thread_begin(sampler, life * 3 + t);
            assert_int_equal(rsc_sampler_thread_begin(sampler, 0), RSC_NO_THREAD);
            for (uint32_t i = 0; i < (life % 300 ? 30u : 60000u); i++) {
                struct reference reference = {i % 7 ? 1 + (i * 2654435761u >> 20) % 900 : 10000 + fresh++, i % 3,
                                              i % 5 == 0};
                reference.thread = slots[reference.thread];
                use(sampler, &reference, i);
            }
            for (uint32_t t = 0; t < 3; t++) rsc_sampler_thread_end(sampler, slots[t]);
        }
        rsc_sampler_finish(sampler);
        struct rsc_sampler_counts counts;
        rsc_sampler_get_counts(sampler, &counts);
        assert_int_equal(counts.samples, seen[0].count);
        assert_int_equal(counts.samples, seen[1].count);
        assert_true(counts.period > 40); /* it backed off, */
        assert_true(seen[1].outcomes[RSC_SAMPLE_LAST_TOUCH] <= 64);
        assert_true(rsc_sampler_is_quiet(sampler));
        munmap(block, room + page);
        free(seen[0].record);
        free(seen[1].record);
    }
}

/*
 * A thread is in step with others: of what they did since its sample began it sees as many references as it made
 * itself, even if they ran on; after it waited, all.
 */
static void test_in_step(void **state) {
    (void)state;
    for (uint64_t before = 1; before < 130; before++) {
        const int waits = before % 2 == 0;
        struct seen seen[2] = {{0}, {0}};
        struct rsc_sampler_options options = {.models = RSC_MODEL_SHARED,
                                              .order = RSC_ORDER_PARALLEL,
                                              .period = 1e9,
                                              .in_step = before % 3 > 0,
                                              .prune_quantile = 1,
                                              .threads_most = THREADS,
                                              .emit = take_record,
                                              .emit_context = seen};
        void *memory;
        size_t bytes;
        struct rsc_sampler *sampler = make_sampler(&options, &memory, &bytes);
        for (uint64_t i = 0; i < before; i++) use(sampler, &(struct reference){1000, 0, 0}, 1);
        sampler->threads[0].countdown = 1;
        for (uint64_t line = 1; line <= 3; line++) use(sampler, &(struct reference){line, 0, 0}, 2);
        if (waits) rsc_sampler_park(sampler, 0);
        rsc_sampler_check_known(sampler, &sampler->threads[1]);
        for (uint64_t line = 100; line < 110; line++) use(sampler, &(struct reference){line, 1, 0}, 3);
        if (waits) rsc_sampler_unpark(sampler, 0);
        use(sampler, &(struct reference){1, 0, 0}, 4);
        assert_int_equal(seen[1].count, 1);
        assert_int_equal(seen[1].record[0].distance, waits || !options.in_step ? 2 + 10 : 2 + 3);
        rsc_sampler_finish(sampler);
        rsc_pages_free(memory, bytes);
        free(seen[1].record);
    }
}

/*
 * Sweeps over 5,000 lines, each used four times in a row: three references in four have distance 0, the fourth 4,999. In
 * bursts, of which one in 6 is waited for.
 */
static void test_bursts(void **state) {
    (void)state;
    const uint32_t lines = 5000, sweeps = 300, burst = 128, parts = 64, rounds = 6;
    const double period = 2048;
    struct seen seen[2] = {{0}, {0}};
    struct rsc_sampler_options options = {.models = RSC_MODEL_PRIVATE | RSC_MODEL_SHARED,
                                          .order = RSC_ORDER_PARALLEL,
                                          .period = period,
                                          .threads_most = THREADS,
                                          .seed = 11,
                                          .prune_quantile = 1,
                                          .samples_most = 4096,
                                          .burst = burst,
                                          .burst_parts = parts,
                                          .burst_rounds = rounds,
                                          .drop_from = 1024,
                                          .emit = take_record,
                                          .emit_context = seen};
    void *memory;
    size_t bytes;
    struct rsc_sampler *sampler = make_sampler(&options, &memory, &bytes);
    const uint64_t references = 4ull * lines * sweeps;
    uint64_t analysed_on = 0;
    for (uint64_t i = 0; i < references; i++) {
        use(sampler, &(struct reference){i / 4 % lines, 0, 0}, i + 1);
        if (i % 64 == 0) rsc_sampler_judge(sampler, 0);
        analysed_on += !rsc_sampler_is_quiet(sampler);
    }
    rsc_sampler_finish(sampler);
    for (int model = 0; model < 2; model++) {
        double total = 0, kept = 0, dropped = 0, first[256], last[256];
        uint32_t bursts = 0, kept_bursts = 0, samples[256] = {0};
        uint8_t is_kept[256] = {0};
        for (size_t i = 0; i < seen[model].count; i++) {
            const struct rsc_sample_record *record = &seen[model].record[i];
            const double at = (double)record->use.pc;
            assert_in_range(record->burst, 1, 255);
            assert_true(record->weight == period);
            if (record->outcome == RSC_SAMPLE_KEPT) {
                kept += record->weight;
                is_kept[record->burst] = 1;
                continue;
            }
            total += record->weight;
            if (record->outcome == RSC_SAMPLE_DROPPED) dropped += record->weight;
            if (record->outcome == RSC_SAMPLE_REUSED)
                assert_int_equal(record->distance, record->interval == 1 ? 0 : lines - 1);
            if (record->outcome == RSC_SAMPLE_REUSED) assert_int_equal(record->kept, record->interval != 1);
            if (!samples[record->burst]++) first[record->burst] = last[record->burst] = at;
            first[record->burst] = fmin(first[record->burst], at);
            last[record->burst] = fmax(last[record->burst], at);
        }
        for (uint32_t b = 1; b < 256; b++) { /* the other threads drew one each, and used none */
            if (!samples[b]) continue;
            if (b + 1 < 256 && samples[b + 1]) assert_int_equal(samples[b], burst);
            assert_true(last[b] - first[b] < burst * period / parts);
            kept_bursts += is_kept[b];
            bursts++;
        }
        /* a burst for each stretch of its periods, and one of each round of them kept */
        assert_in_range(bursts, references / (burst * (uint64_t)period) - 1,
                        references / (burst * (uint64_t)period) + 1);
        assert_in_range(kept_bursts, bursts / rounds - 2, bursts / rounds + 2);
        assert_true(fabs(total / (double)references - 1) < 0.06);
        assert_true(fabs((kept + dropped) / total - 0.25) < 0.03);
        free(seen[model].record);
    }
    /* 23 bursts of a thirtieth of a sweep each are analysed, and 4 of them are waited for: a sweep each */
    assert_true((double)analysed_on < 0.2 * (double)references);
    rsc_pages_free(memory, bytes);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_reference),
        cmocka_unit_test(test_some_references),
        cmocka_unit_test(test_known_lines),
        cmocka_unit_test(test_ignored_lines),
        cmocka_unit_test(test_alone),
        cmocka_unit_test(test_sketch),
        cmocka_unit_test(test_pruning),
        cmocka_unit_test(test_in_step),
        cmocka_unit_test(test_bursts),
        cmocka_unit_test(test_threads),
        cmocka_unit_test(test_memory_is_bounded),
    };
    return cmocka_run_group_tests_name("sampler", tests, NULL, NULL);
}
