/*
 * property_multicore.c - private stacks against brute force, bit for bit.
 *
 * Thousands of small traces of several threads: few lines, reads, writes, reads
 * followed by writes of the same bytes, accesses that cross lines, threads mapped to
 * shared stacks, one thread alone for a while. Every histogram, row, cell of the sharing matrix and falsely shared
 * line is compared; and, for every vector width and with bitmaps so small that they
 * are compacted all the time, every single distance.
 *
 * Half of the private engines lean on a shared one until a second stack comes; with
 * code, calls, heap blocks, files and variables, both make the profiles, byte for byte,
 * that they make alone.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "base/cpu.h"
#include "distance/count/accumulate.h"
#include "distance/exact/exact_state.h"
#include "engine/engine_spec.h"
#include "multicore/coherent_stacks.h"
#include "profile/profile_model.h"
#include "property/brute_stacks.h"
#include "property/random_traces.h"
#include "trace/variable_event.h"

#define ACCESSES_MAX 1500
#define REFERENCES_MAX (ACCESSES_MAX * 80)
#define THREADS_MAX BRUTE_STACKS

struct threads_trace {
    uint32_t count, threads;
    uint64_t addr[ACCESSES_MAX], meta[ACCESSES_MAX], pc[ACCESSES_MAX];
    char cores[400];
    int stack_of[THREADS_MAX]; /* by thread, in order of first reference */
    int first_of[THREADS_MAX]; /* by stack: its first thread */
    int stack_count;
};

/* ---- traces ---- */

/* Threads in groups of two or three, some left out; group_of says which, -1: none. */
static void draw_cores(struct threads_trace *trace, struct rsc_rng *rng, int *group_of) {
    int groups = 0;
    char *to = trace->cores;
    for (uint32_t t = 0; t < trace->threads;) {
        uint32_t size = 1 + (uint32_t)rsc_rng_below(rng, 3), skipped = rsc_rng_below(rng, 4) == 0;
        if (size > trace->threads - t) size = trace->threads - t;
        if (size == 3 && rsc_rng_below(rng, 2) && !skipped) { /* its ends together, its middle alone */
            to += sprintf(to, "%s%u+%u", groups ? "," : "", t, t + 2);
            group_of[t] = group_of[t + 2] = groups++;
        } else if (!skipped) {
            to += size > 1 ? sprintf(to, "%s%u-%u", groups ? "," : "", t, t + size - 1)
                           : sprintf(to, "%s%u", groups ? "," : "", t);
            for (uint32_t k = 0; k < size; k++) group_of[t + k] = groups;
            groups++;
        }
        t += size;
    }
}

static void draw_accesses(struct threads_trace *trace, struct rsc_rng *rng) {
    static const uint32_t sizes[] = {1, 4, 8, 16, 0, 60, 64, 200};
    static const uint64_t bases[] = {0, 0x10000, 0x7ffff0000000, UINT64_MAX - 8000};
    uint64_t base = bases[rsc_rng_below(rng, 4)], lines = 1 + rsc_rng_below(rng, rsc_rng_below(rng, 3) ? 12 : 90);
    uint32_t thread = 0, writes = (uint32_t)rsc_rng_below(rng, 5), longest = 1 + (uint32_t)rsc_rng_below(rng, 8);
    uint32_t stays = 1 + (uint32_t)rsc_rng_below(rng, 6), offset_step = 1u << rsc_rng_below(rng, 7);
    uint32_t alone = rsc_rng_below(rng, 2) ? 0 : (uint32_t)rsc_rng_below(rng, trace->count + 1); /* of one thread */
    for (uint32_t i = 0; i < trace->count; i++) {
        if (i >= alone && rsc_rng_below(rng, stays) == 0) thread = (uint32_t)rsc_rng_below(rng, trace->threads);
        uint32_t size = sizes[rsc_rng_below(rng, longest)];
        uint32_t kind = rsc_rng_below(rng, 8) < writes ? RSC_WRITE : rsc_rng_below(rng, 8) ? RSC_READ : RSC_FETCH;
        trace->addr[i] = base + 64 * rsc_rng_below(rng, lines) + rsc_rng_below(rng, 64) / offset_step * offset_step;
        trace->meta[i] = rsc_meta(size, (enum rsc_kind)kind, thread);
        trace->pc[i] = 0x1000 + 4 * rsc_rng_below(rng, 2);
        if (i && rsc_meta_kind(trace->meta[i - 1]) == RSC_READ && rsc_rng_below(rng, 6) == 0) {
            trace->addr[i] = trace->addr[i - 1]; /* read, then write the same */
            trace->meta[i] =
                rsc_meta(rsc_meta_size(trace->meta[i - 1]), RSC_WRITE, rsc_meta_thread(trace->meta[i - 1]));
        }
    }
}

static void draw(struct threads_trace *trace, struct rsc_rng *rng, int with_cores) {
    int group_of[THREADS_MAX], stack_of_group[THREADS_MAX];
    memset(trace, 0, sizeof *trace);
    memset(group_of, -1, sizeof group_of);
    memset(stack_of_group, -1, sizeof stack_of_group);
    memset(trace->stack_of, -1, sizeof trace->stack_of);
    trace->count = random_count(rng, 500);
    trace->threads =
        rsc_rng_below(rng, 8) ? 1 + (uint32_t)rsc_rng_below(rng, 6) : 1 + (uint32_t)rsc_rng_below(rng, THREADS_MAX);
    if (with_cores && trace->threads <= 40) draw_cores(trace, rng, group_of);
    draw_accesses(trace, rng);
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t thread = rsc_meta_thread(trace->meta[i]);
        if (trace->stack_of[thread] >= 0) continue;
        int group = group_of[thread], known = group >= 0 ? stack_of_group[group] : -1;
        if (known < 0) {
            known = trace->stack_count++;
            trace->first_of[known] = (int)thread;
            if (group >= 0) stack_of_group[group] = known;
        }
        trace->stack_of[thread] = known;
    }
}

/* ---- the truth ---- */

struct truth {
    struct brute *brute;
    uint64_t references, cold, invalidated, capped;
    uint64_t thread_references[THREADS_MAX], thread_cold[THREADS_MAX], thread_invalidated[THREADS_MAX];
    uint64_t kind_references[3], kind_cold[3], kind_invalidated[3];
    uint64_t pc_references[2], pc_cold[2], pc_invalidated[2];
    struct rsc_histogram rd, ri, thread_rd[THREADS_MAX], pc_rd[2];
    uint32_t count; /* references */
    uint32_t from[REFERENCES_MAX];
    uint64_t line[REFERENCES_MAX], part[REFERENCES_MAX], ri_each[REFERENCES_MAX];
    int64_t distance[REFERENCES_MAX];
};

static void count_reference(struct truth *truth, const struct threads_trace *trace, uint32_t i, int64_t distance,
                            uint64_t ri, uint64_t cap) {
    uint32_t thread = rsc_meta_thread(trace->meta[i]), kind = rsc_meta_kind(trace->meta[i]);
    uint32_t pc = trace->pc[i] == 0x1004;
    truth->references++;
    truth->thread_references[thread]++;
    truth->kind_references[kind]++;
    truth->pc_references[pc]++;
    if (distance == BRUTE_COLD) {
        truth->cold++, truth->thread_cold[thread]++, truth->kind_cold[kind]++, truth->pc_cold[pc]++;
    } else if (distance == BRUTE_INVALIDATED) {
        truth->invalidated++, truth->thread_invalidated[thread]++, truth->kind_invalidated[kind]++,
            truth->pc_invalidated[pc]++;
    } else {
        uint64_t d = (uint64_t)distance;
        if (d >= cap) truth->capped++, d = cap;
        else rsc_histogram_add(&truth->rd, d, 1);
        rsc_histogram_add(&truth->thread_rd[thread], d, 1);
        rsc_histogram_add(&truth->pc_rd[pc], d, 1);
        rsc_histogram_add(&truth->ri, ri, 1);
    }
}

static struct truth *find_truth(const struct threads_trace *trace, uint64_t line_bytes, uint64_t cap) {
    struct truth *truth = calloc(1, sizeof *truth);
    uint64_t part_bytes = line_bytes > 64 ? line_bytes / 64 : 1;
    truth->brute = calloc(1, sizeof *truth->brute);
    rsc_histogram_init(&truth->rd, RSC_BINS_FINE);
    rsc_histogram_init(&truth->ri, RSC_BINS_FINE);
    for (int t = 0; t < THREADS_MAX; t++) rsc_histogram_init(&truth->thread_rd[t], RSC_BINS_COARSE);
    for (int pc = 0; pc < 2; pc++) rsc_histogram_init(&truth->pc_rd[pc], RSC_BINS_COARSE);
    for (uint32_t i = 0; i < trace->count; i++) {
        uint64_t size = rsc_meta_size(trace->meta[i]) ? rsc_meta_size(trace->meta[i]) : 1;
        uint64_t first = trace->addr[i], last = first + (size - 1) < first ? UINT64_MAX : first + (size - 1);
        for (uint64_t line = first / line_bytes; line <= last / line_bytes; line++) {
            uint64_t start = line * line_bytes, low = first > start ? first - start : 0;
            uint64_t high = last - start < line_bytes ? last - start : line_bytes - 1;
            uint32_t n = truth->count++;
            int stack = trace->stack_of[rsc_meta_thread(trace->meta[i])];
            truth->from[n] = i;
            truth->line[n] = line;
            for (uint64_t byte = low; byte <= high; byte++) truth->part[n] |= 1ull << byte / part_bytes;
            truth->distance[n] =
                brute_reference(truth->brute, stack, line, rsc_meta_kind(trace->meta[i]) == RSC_WRITE,
                                (int)(low / part_bytes), (int)(high / part_bytes), trace->pc[i], &truth->ri_each[n]);
            count_reference(truth, trace, i, truth->distance[n], truth->ri_each[n], cap);
        }
    }
    return truth;
}

static void free_truth(struct truth *truth) {
    brute_free(truth->brute);
    rsc_histogram_free(&truth->rd);
    rsc_histogram_free(&truth->ri);
    for (int t = 0; t < THREADS_MAX; t++) rsc_histogram_free(&truth->thread_rd[t]);
    for (int pc = 0; pc < 2; pc++) rsc_histogram_free(&truth->pc_rd[pc]);
    free(truth);
}

/* ---- through the engine ---- */

/* Shows the engine its next batch; it leans while one stack is all that there is, and never again. */
static void stand(struct rsc_engine *engine, const struct rsc_batch *batch) {
    struct rsc_error error;
    const int leans = rsc_engine_stand(engine, batch, &error);
    assert_in_range(leans, 0, 1);
    if (!leans) assert_int_equal(rsc_engine_stand(engine, batch, &error), 0);
}

/* The shared engine that goes with a private one. */
static struct rsc_engine *beside(struct rsc_engine *engine, const struct rsc_engine_options *options,
                                 struct rsc_rng *rng) {
    struct rsc_engine_options shared_options = *options;
    struct rsc_engine *shared;
    struct rsc_error error;
    shared_options.engine = "exact";
    shared_options.model = "shared";
    shared_options.cores = NULL;
    assert_int_equal(rsc_engine_new(&shared, &shared_options, &error), 0);
    assert_int_equal(rsc_engine_lean_on(engine, shared), 1);
    if (rsc_rng_below(rng, 2)) rsc_engine_two_threads(shared);
    return shared;
}

static struct rsc_profile *by_engine(const struct threads_trace *trace, const struct rsc_engine_options *options,
                                     struct rsc_rng *rng) {
    struct rsc_engine *engine, *shared = NULL;
    struct rsc_profile *profile;
    struct rsc_error error;
    if (rsc_engine_new(&engine, options, &error) < 0) fail_msg("%s", error.message);
    if (rsc_rng_below(rng, 2)) shared = beside(engine, options, rng);
    for (uint32_t done = 0; done < trace->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, 700);
        if (part > trace->count - done) part = trace->count - done;
        struct rsc_batch batch = {.count = part,
                                  .addr = trace->addr + done,
                                  .meta = trace->meta + done,
                                  .pc = trace->pc + done,
                                  .instructions = RSC_UNKNOWN};
        if (shared) stand(engine, &batch);
        assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        if (shared) assert_int_equal(rsc_engine_push(shared, &batch, &error), 0);
        done += part;
    }
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    rsc_engine_free(shared);
    return profile;
}

static void same_counts(const struct rsc_histogram *a, const struct rsc_histogram *b) {
    assert_int_equal(a->bin_count, b->bin_count);
    assert_memory_equal(a->count, b->count, a->bin_count * sizeof *a->count);
}

static void check_totals(const struct rsc_profile *profile, const struct truth *truth) {
    struct rsc_error error;
    assert_int_equal(profile->references, truth->references);
    assert_int_equal(profile->cold, truth->cold);
    assert_int_equal(profile->invalidated, truth->invalidated);
    assert_int_equal(profile->distinct, truth->brute->distinct);
    assert_int_equal(profile->rd_capped, truth->capped);
    assert_int_equal(rsc_profile_check_sum(profile, "profile", &error), 0);
    same_counts(&profile->rd, &truth->rd);
    same_counts(&profile->ri, &truth->ri);
}

static void check_rows(const struct rsc_profile *profile, const struct truth *truth) {
    for (size_t t = 0; t < profile->thread_count; t++) {
        const struct rsc_thread_row *row = &profile->threads[t];
        assert_int_equal(row->references, truth->thread_references[t]);
        assert_int_equal(row->cold, truth->thread_cold[t]);
        assert_int_equal(row->invalidated, truth->thread_invalidated[t]);
        same_counts(&row->rd, &truth->thread_rd[t]);
    }
    for (size_t k = 0; k < profile->kind_count; k++) {
        const struct rsc_kind_row *row = &profile->kinds[k];
        uint32_t kind = 0;
        while (strcmp(rsc_kind_names[kind], row->kind)) kind++;
        assert_int_equal(row->references, truth->kind_references[kind]);
        assert_int_equal(row->cold, truth->kind_cold[kind]);
        assert_int_equal(row->invalidated, truth->kind_invalidated[kind]);
    }
    for (size_t i = 0; i < profile->code_count; i++) {
        const struct rsc_code_row *row = &profile->code[i];
        uint32_t pc = row->place.pc == 0x1004;
        assert_int_equal(row->references, truth->pc_references[pc]);
        assert_int_equal(row->cold, truth->pc_cold[pc]);
        assert_int_equal(row->invalidated, truth->pc_invalidated[pc]);
        same_counts(&row->rd, &truth->pc_rd[pc]);
    }
    uint64_t sum = 0, invalidated = 0;
    for (size_t i = 0; i < profile->phase_count; i++) {
        sum += profile->phases[i].references;
        invalidated += profile->phases[i].invalidated;
    }
    if (profile->phase_count) assert_true(sum == truth->references && invalidated == truth->invalidated);
}

static int stack_named(const struct threads_trace *trace, uint64_t tid) { return trace->stack_of[tid]; }

static void check_matrix(const struct rsc_profile *profile, const struct threads_trace *trace,
                         const struct truth *truth) {
    size_t wanted = 0;
    uint64_t misses = 0;
    for (int by = 0; by < trace->stack_count; by++)
        for (int from = 0; from < trace->stack_count; from++) wanted += truth->brute->cells[by][from].taken != 0;
    assert_int_equal(profile->sharing_count, wanted);
    for (size_t i = 0; i < profile->sharing_count; i++) {
        const struct rsc_sharing_row *row = &profile->sharing[i];
        int by = stack_named(trace, row->by_tid), from = stack_named(trace, row->from_tid);
        assert_int_equal(row->by_tid, trace->first_of[by]);
        assert_int_equal(row->from_tid, trace->first_of[from]);
        const struct brute_cell *cell = &truth->brute->cells[by][from];
        assert_int_equal(row->taken, cell->taken);
        assert_int_equal(row->false_taken, cell->false_taken);
        assert_int_equal(row->misses, cell->misses);
        assert_int_equal(row->false_misses, cell->false_misses);
        assert_int_equal(row->error, 0);
        if (i) assert_true(profile->sharing[i - 1].misses >= row->misses);
        misses += row->misses;
    }
    assert_int_equal(misses, profile->invalidated);
}

static void check_false_sharing(const struct rsc_profile *profile, const struct threads_trace *trace,
                                const struct truth *truth, uint64_t line_bytes) {
    struct brute *brute = truth->brute;
    int part_bytes = line_bytes > 64 ? (int)(line_bytes / 64) : 1;
    size_t wanted = brute->line_count < 256 ? brute->line_count : 256;
    assert_int_equal(profile->false_sharing_count, wanted);
    for (size_t i = 0; i < wanted; i++) {
        const struct rsc_false_sharing_row *row = &profile->false_sharing[i];
        const struct brute_false *line = brute_false_of(brute, row->address / line_bytes);
        assert_int_equal(row->taken, line->taken);
        assert_int_equal(row->misses, line->misses);
        assert_int_equal(row->error, 0);
        if (i) assert_true(profile->false_sharing[i - 1].misses >= row->misses);
        assert_int_equal(row->user_count, line->user_count);
        /* who comes first among many that lose the line at once is nobody's business */
        for (size_t u = 0; u < row->user_count && line->user_count < BRUTE_USERS; u++) {
            const struct rsc_sharing_user *user = &row->users[u];
            int at = 0;
            while (at < line->user_count && line->users[at].stack != stack_named(trace, user->tid)) at++;
            assert_true(at < line->user_count);
            assert_int_equal(user->first_byte, line->users[at].first * part_bytes);
            assert_int_equal(user->last_byte, (line->users[at].last + 1) * part_bytes - 1);
            assert_int_equal(user->taken, line->users[at].taken);
        }
        assert_int_equal(row->place_count, line->pair_count);
        for (size_t p = 0; p < row->place_count; p++) {
            int at = 0;
            while (line->pairs[at].writer != row->places[p].writer.pc ||
                   line->pairs[at].victim != row->places[p].victim.pc)
                at++;
            assert_int_equal(row->places[p].taken, line->pairs[at].taken);
        }
    }
    assert_int_equal(brute->line_count < 256 ? brute->line_count : 256, wanted); /* no row was made up */
}

/* What is kept of a file is what was put there. */
static void check_round_trip(const struct rsc_profile *profile) {
    struct rsc_profile *again;
    struct rsc_error error;
    char *text, *text_again;
    size_t bytes, bytes_again;
    assert_int_equal(rsc_profile_json(profile, &text, &bytes, &error), 0);
    if (rsc_profile_parse(&again, text, bytes, "profile", &error) < 0) fail_msg("%s", error.message);
    assert_int_equal(rsc_profile_json(again, &text_again, &bytes_again, &error), 0);
    assert_string_equal(text, text_again);
    rsc_text_free(text);
    rsc_text_free(text_again);
    rsc_profile_free(again);
}

static void engine_agrees(void **state) {
    (void)state;
    static struct threads_trace trace;
    unsigned long traces = property_traces(2000);
    uint64_t seed = property_seed();
    for (unsigned long n = 0; n < traces; n++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, n);
        draw(&trace, &rng, rsc_rng_below(&rng, 2) != 0);
        static const uint32_t line_sizes[] = {64, 64, 64, 8, 1, 128, 4096};
        uint32_t line_bytes = line_sizes[rsc_rng_below(&rng, 7)];
        uint64_t cap = rsc_rng_below(&rng, 4) ? 0 : 1 + rsc_rng_below(&rng, 6);
        struct truth *truth = find_truth(&trace, line_bytes, cap ? cap : UINT64_MAX);
        struct rsc_engine_options options = {.struct_bytes = sizeof options,
                                             .engine = rsc_rng_below(&rng, 2) ? "exact" : "auto",
                                             .model = "private",
                                             .line_bytes = line_bytes,
                                             .max_distance = cap,
                                             .phases = rsc_rng_below(&rng, 3) ? 0 : 5,
                                             .cores = *trace.cores ? trace.cores : NULL};
        struct rsc_profile *profile = by_engine(&trace, &options, &rng);
        assert_string_equal(profile->made.model, "private");
        check_totals(profile, truth);
        check_rows(profile, truth);
        check_matrix(profile, &trace, truth);
        check_false_sharing(profile, &trace, truth, line_bytes);
        if (n % 16 == 0) check_round_trip(profile);
        rsc_profile_free(profile);
        free_truth(truth);
    }
}

/* ---- leaning, with everything that is attributed ---- */

#define EVENTS_MAX 400

struct eventful_trace {
    struct threads_trace accesses;
    struct rsc_event events[EVENTS_MAX]; /* .at: among all accesses */
    uint32_t event_count;
    uint8_t map_data[64];
};

static void draw_events(struct eventful_trace *trace, struct rsc_rng *rng) {
    static const uint16_t types[] = {RSC_EVENT_CALL, RSC_EVENT_RETURN, RSC_EVENT_ALLOC,   RSC_EVENT_FREE,
                                     RSC_EVENT_MAP,  RSC_EVENT_CALL,   RSC_EVENT_VARIABLE};
    const uint32_t count = trace->accesses.count;
    memset(trace->map_data, 0, sizeof trace->map_data);
    trace->map_data[0] = 1; /* not the beginning of the file */
    memcpy(trace->map_data + 9, "/bin/prog", 10);
    trace->event_count = (uint32_t)rsc_rng_below(rng, EVENTS_MAX);
    for (uint32_t i = 0; i < trace->event_count; i++) {
        const uint64_t address = count ? trace->accesses.addr[rsc_rng_below(rng, count)] : 0x1000;
        struct rsc_event *event = &trace->events[i];
        *event = (struct rsc_event){.type = types[rsc_rng_below(rng, sizeof types / sizeof *types)],
                                    .at = (uint32_t)((uint64_t)i * count / trace->event_count),
                                    .a = address & ~63ull,
                                    .b = 64 + rsc_rng_below(rng, 4) * 64};
        if (event->type == RSC_EVENT_CALL || event->type == RSC_EVENT_RETURN) event->a = 0x1000 + rsc_rng_below(rng, 8);
        if (event->type != RSC_EVENT_MAP) continue;
        event->data = trace->map_data;
        event->data_bytes = 19;
    }
}

/* Gives all of it to the engines, in batches that are the same for the same seed; some have no access. */
static void push_events(const struct eventful_trace *trace, struct rsc_engine **engines, uint32_t engine_count,
                        int leans, uint64_t seed) {
    const struct threads_trace *accesses = &trace->accesses;
    struct rsc_event now[EVENTS_MAX];
    struct rsc_rng rng;
    struct rsc_error error;
    uint32_t done = 0, event = 0;
    rsc_rng_seed(&rng, seed, 1);
    while (done < accesses->count || event < trace->event_count) {
        uint32_t part = (uint32_t)rsc_rng_below(&rng, 200), events = 0;
        if (part > accesses->count - done) part = accesses->count - done;
        for (; event < trace->event_count && trace->events[event].at <= done + part; events++, event++) {
            now[events] = trace->events[event];
            now[events].at -= done;
        }
        const struct rsc_batch batch = {.count = part,
                                        .addr = accesses->addr + done,
                                        .meta = accesses->meta + done,
                                        .pc = accesses->pc + done,
                                        .events = now,
                                        .event_count = events,
                                        .instructions = RSC_UNKNOWN};
        if (leans) stand(engines[0], &batch);
        for (uint32_t i = 0; i < engine_count; i++) assert_int_equal(rsc_engine_push(engines[i], &batch, &error), 0);
        done += part;
    }
}

static char *text_of(struct rsc_engine *engine) {
    struct rsc_profile *profile;
    struct rsc_error error;
    char *text;
    size_t bytes;
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    profile->made.seconds = 0;
    assert_int_equal(rsc_profile_json(profile, &text, &bytes, &error), 0);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
    return text;
}

static void leaning_is_the_same(void **state) {
    (void)state;
    static struct eventful_trace trace;
    unsigned long traces = property_traces(200);
    uint64_t seed = property_seed();
    for (unsigned long n = 0; n < traces; n++) {
        struct rsc_rng rng;
        struct rsc_engine *leaning[2], *alone[2];
        struct rsc_error error;
        rsc_rng_seed(&rng, seed, 1000000 + n);
        draw(&trace.accesses, &rng, rsc_rng_below(&rng, 2) != 0);
        draw_events(&trace, &rng);
        struct rsc_engine_options options = {.struct_bytes = sizeof options,
                                             .engine = "exact",
                                             .model = "private",
                                             .phases = rsc_rng_below(&rng, 3) ? 0 : 5,
                                             .bins_per_octave = rsc_rng_below(&rng, 3) ? 0 : 10,
                                             .no_ri = rsc_rng_below(&rng, 3) == 0,
                                             .cores = *trace.accesses.cores ? trace.accesses.cores : NULL};
        assert_int_equal(rsc_engine_new(&leaning[0], &options, &error), 0);
        assert_int_equal(rsc_engine_new(&alone[0], &options, &error), 0);
        leaning[1] = beside(leaning[0], &options, &rng);
        options.model = "shared";
        options.cores = NULL;
        assert_int_equal(rsc_engine_new(&alone[1], &options, &error), 0);
        push_events(&trace, leaning, 2, 1, seed + n);
        push_events(&trace, alone, 2, 0, seed + n);
        for (int i = 0; i < 2; i++) {
            char *by_leaning = text_of(leaning[i]), *by_itself = text_of(alone[i]);
            assert_string_equal(by_leaning, by_itself);
            rsc_text_free(by_leaning);
            rsc_text_free(by_itself);
        }
    }
}

/* ---- by hand: every distance, every vector width, bitmaps as small as they get ---- */

static void run_by_hand(const struct threads_trace *trace, const struct truth *truth, enum rsc_simd simd, int no_ri,
                        struct rsc_rng *rng) {
    static struct rsc_coherent_stacks stacks;
    static uint32_t who[RSC_PRIVATE_BLOCK], rd[RSC_PRIVATE_BLOCK];
    static uint64_t ri[RSC_PRIVATE_BLOCK];
    assert_int_equal(rsc_coherent_stacks_init(&stacks, simd, no_ri, 1), 0);
    for (int i = 0; i < trace->stack_count; i++) assert_int_equal(rsc_coherent_stacks_add(&stacks), i);
    for (uint32_t done = 0; done < truth->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, RSC_PRIVATE_BLOCK);
        if (part > truth->count - done) part = truth->count - done;
        for (uint32_t i = 0; i < part; i++) {
            uint64_t meta = trace->meta[truth->from[done + i]];
            who[i] = (uint32_t)trace->stack_of[rsc_meta_thread(meta)] |
                     (rsc_meta_kind(meta) == RSC_WRITE ? RSC_PRIVATE_WRITES : 0);
        }
        struct rsc_private_references block = {truth->line + done, who, truth->part + done, NULL, part};
        assert_int_equal(rsc_coherent_stacks_run(&stacks, &block, rd, no_ri ? NULL : ri, NULL), 0);
        rsc_sharing_name(&stacks.sharing, NULL);
        for (uint32_t i = 0; i < part; i++) {
            int64_t wanted = truth->distance[done + i];
            if (wanted == BRUTE_COLD) assert_int_equal(rd[i], RSC_RD_COLD);
            else if (wanted == BRUTE_INVALIDATED) assert_int_equal(rd[i], RSC_RD_INVALIDATED);
            else assert_int_equal(rd[i], wanted);
            if (!no_ri) assert_int_equal(ri[i], truth->ri_each[done + i]);
        }
        done += part;
    }
    assert_int_equal(stacks.copies.lines, truth->brute->distinct);
    rsc_coherent_stacks_free(&stacks);
}

/* Many references over few lines, so that even the smallest bitmap is full again and again. */
static void long_trace(struct threads_trace *trace, struct rsc_rng *rng) {
    draw(trace, rng, 0);
    trace->count = ACCESSES_MAX;
    for (uint32_t i = 0; i < trace->count; i++) {
        uint32_t thread = (uint32_t)rsc_rng_below(rng, 3), kind = rsc_rng_below(rng, 12) ? RSC_READ : RSC_WRITE;
        trace->addr[i] = 64 * rsc_rng_below(rng, 40);
        trace->meta[i] = rsc_meta(64 * (1 + (uint32_t)rsc_rng_below(rng, 79)), (enum rsc_kind)kind, thread);
        trace->stack_of[thread] = (int)thread;
    }
    trace->stack_count = 3;
}

static void every_distance_agrees(void **state) {
    (void)state;
    static struct threads_trace trace;
    unsigned long traces = property_traces(250);
    uint64_t seed = property_seed();
    for (unsigned long n = 0; n < traces; n++) {
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, n);
        if (n % 80 == 79) long_trace(&trace, &rng);
        else draw(&trace, &rng, 0);
        struct truth *truth = find_truth(&trace, 64, UINT64_MAX);
        for (int simd = RSC_SIMD_PLAIN; simd <= (int)rsc_simd_best(); simd++)
            run_by_hand(&trace, truth, (enum rsc_simd)simd, n % 3 == 0, &rng);
        free_truth(truth);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(engine_agrees),
        cmocka_unit_test(leaning_is_the_same),
        cmocka_unit_test(every_distance_agrees),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
