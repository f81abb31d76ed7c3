/*
 * property_mpi.c - the engine of several ranks against the serial one: the same
 * profile to the last byte of its JSON, however the trace is cut.
 *
 * Ranks are threads here (thread_ranks.h); tests/live/live_mpi has real ones. Random
 * traces are cut at random places, so that parts are uneven and often empty, with few
 * touches in a message, so that messages are many and ranks hold each other back.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/ranks/engine_mpi.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"
#include "property/thread_ranks.h"
#include "trace/generate/generate.h"

#define RANKS_MAX 5u
#define FILES_MAX 3u
#define THREADS_MAX 16u

/* A stretch of the trace that has thread numbers of its own. */
struct piece {
    uint32_t count;
    const uint64_t *addr;
    uint64_t *meta;
    struct rsc_thread threads[THREADS_MAX];
    uint32_t thread_count;
};

struct job {
    struct thread_world world;
    uint32_t size;
    struct rsc_engine_options options;
    struct piece pieces[RANKS_MAX][FILES_MAX];
    uint64_t seed;
    uint32_t failing; /* this rank fails, having pushed some; RANKS_MAX: none */
    int status[RANKS_MAX];
    struct rsc_error errors[RANKS_MAX];
    struct rsc_profile *profiles[RANKS_MAX];
};

/* ---- threads have names: pid and tid by number in the whole trace ---- */

static struct rsc_thread name_of(uint32_t number) {
    return (struct rsc_thread){7 + number % 2, 100 + 3 * (uint64_t)number};
}

static void renumber(uint64_t *meta, uint32_t thread) { *meta = (*meta & ((1ull << 40) - 1)) | (uint64_t)thread << 40; }

/* Numbers in order of first access, as a file of its own would have them. */
static void number_alone(struct piece *piece) {
    for (uint32_t i = 0; i < piece->count; i++) {
        struct rsc_thread who = name_of(rsc_meta_thread(piece->meta[i]));
        uint32_t n = 0;
        while (n < piece->thread_count && piece->threads[n].tid != who.tid) n++;
        if (n == piece->thread_count) piece->threads[piece->thread_count++] = who;
        renumber(&piece->meta[i], n);
    }
}

/* Common numbers; names are known only of threads that are seen in this piece. */
static void number_in_common(struct piece *piece) {
    for (uint32_t i = 0; i < piece->count; i++) {
        uint32_t n = rsc_meta_thread(piece->meta[i]);
        while (piece->thread_count <= n) {
            piece->threads[piece->thread_count] = (struct rsc_thread){0, piece->thread_count};
            piece->thread_count++;
        }
        piece->threads[n] = name_of(n);
    }
}

static struct piece piece_of(const struct random_trace *trace, uint32_t first, uint32_t count, int own_traces) {
    struct piece piece = {.count = count, .addr = trace->addr + first};
    piece.meta = malloc((count + 1) * sizeof *piece.meta);
    if (count) memcpy(piece.meta, trace->meta + first, count * sizeof *piece.meta);
    if (own_traces) number_alone(&piece);
    else number_in_common(&piece);
    return piece;
}

/* ---- running ---- */

typedef int push_function(void *engine, const struct rsc_batch *batch, struct rsc_error *error);

static int push_piece(void *engine, push_function *push, const struct piece *piece, uint32_t most, struct rsc_rng *rng,
                      struct rsc_error *error) {
    for (uint32_t done = 0; done < piece->count;) {
        uint32_t part = 1 + (uint32_t)rsc_rng_below(rng, most);
        if (part > piece->count - done) part = piece->count - done;
        struct rsc_batch batch = {.count = part,
                                  .addr = piece->addr + done,
                                  .meta = piece->meta + done,
                                  .threads = piece->threads,
                                  .thread_count = piece->thread_count,
                                  .instructions = RSC_UNKNOWN};
        int status = push(engine, &batch, error);
        if (status < 0) return status;
        done += part;
    }
    return 0;
}

static void run_rank(void *arg, uint32_t number) {
    struct job *job = arg;
    struct rsc_ranks *ranks = &job->world.rank[number].ranks;
    struct rsc_error *error = &job->errors[number];
    struct rsc_rng rng;
    void *engine = NULL;
    rsc_rng_seed(&rng, job->seed, 1000 + number);
    int status = rsc_ranked_create(&engine, &job->options, ranks, error);
    for (uint32_t f = 0; !status && f < FILES_MAX; f++) {
        if (f == 1 && number == job->failing) status = rsc_fail(error, RSC_EFORMAT, "made to fail");
        if (!status) status = push_piece(engine, rsc_ranked_push, &job->pieces[number][f], 3000, &rng, error);
    }
    if (!status) status = rsc_ranked_finish(engine, &job->profiles[number], error);
    if (status < 0) ranks->abort(ranks, 1);
    job->status[number] = status;
    rsc_ranked_destroy(engine);
}

static int engine_push(void *engine, const struct rsc_batch *batch, struct rsc_error *error) {
    return rsc_engine_push(engine, batch, error);
}

static struct rsc_profile *serial(const struct random_trace *trace, const struct job *job, int own_traces) {
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    struct rsc_rng rng;
    struct piece whole = piece_of(trace, 0, trace->count, own_traces);
    rsc_rng_seed(&rng, 1, 1);
    if (rsc_engine_new(&engine, &job->options, &error) < 0) fail_msg("%s", error.message);
    assert_int_equal(push_piece(engine, engine_push, &whole, 3000, &rng, &error), 0);
    if (rsc_engine_finish(engine, &profile, &error) < 0) fail_msg("%s", error.message);
    rsc_engine_free(engine);
    free(whole.meta);
    return profile;
}

static void assert_same_json(struct rsc_profile *got, struct rsc_profile *wanted, uint32_t ranks) {
    char *texts[2];
    size_t bytes[2];
    struct rsc_profile *both[2] = {got, wanted};
    struct rsc_error error;
    assert_string_equal(got->made.by, "mpi");
    assert_int_equal(got->made.workers, ranks);
    /* what may differ, and what the engine's public handle fills in */
    rsc_profile_set_text(&got->made.by, wanted->made.by);
    rsc_profile_set_text(&got->made.source, wanted->made.source);
    got->made.workers = wanted->made.workers;
    got->made.seconds = wanted->made.seconds;
    got->made.line_bytes = wanted->made.line_bytes;
    got->made.overhead = wanted->made.overhead;
    got->made.coverage = wanted->made.coverage;
    assert_int_equal(rsc_profile_seal(got), 0);
    for (int i = 0; i < 2; i++) assert_int_equal(rsc_profiles_json_text(&both[i], 1, &texts[i], &bytes[i], &error), 0);
    assert_int_equal(bytes[0], bytes[1]);
    assert_memory_equal(texts[0], texts[1], bytes[0]);
    free(texts[0]);
    free(texts[1]);
}

/* ---- cutting ---- */

static int by_value(const void *left, const void *right) {
    uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;
    return a < b ? -1 : a > b;
}

/* Cuts the trace into size x FILES_MAX pieces at random places, many of them the same. */
static void cut(struct job *job, const struct random_trace *trace, int own_traces, struct rsc_rng *rng) {
    uint32_t cuts[RANKS_MAX * FILES_MAX + 1], pieces = job->size * FILES_MAX;
    for (uint32_t i = 1; i < pieces; i++) {
        uint64_t at = rsc_rng_below(rng, (uint64_t)trace->count + 1);
        cuts[i] = rsc_rng_below(rng, 3) ? (uint32_t)at : (rsc_rng_below(rng, 2) ? trace->count : 0);
    }
    cuts[0] = 0;
    cuts[pieces] = trace->count;
    qsort(cuts, pieces + 1, sizeof *cuts, by_value);
    for (uint32_t i = 0; i < pieces; i++)
        job->pieces[i / FILES_MAX][i % FILES_MAX] = piece_of(trace, cuts[i], cuts[i + 1] - cuts[i], own_traces);
    /* Slices of one trace are read in one go: what was seen of threads stays known. */
    for (uint32_t r = 0; !own_traces && r < job->size; r++) {
        struct rsc_thread threads[THREADS_MAX];
        uint32_t count = 0;
        for (uint32_t f = 0; f < FILES_MAX; f++) {
            struct piece *piece = &job->pieces[r][f];
            for (uint32_t n = 0; n < piece->thread_count; n++)
                if (n >= count || piece->threads[n].pid) threads[n] = piece->threads[n];
            if (piece->thread_count > count) count = piece->thread_count;
            memcpy(piece->threads, threads, count * sizeof *threads);
            piece->thread_count = count;
        }
    }
}

static void run(struct job *job, const struct random_trace *trace, int own_traces, uint32_t per_message,
                struct rsc_rng *rng) {
    thread_world_init(&job->world, job->size);
    for (uint32_t r = 0; r < job->size; r++) {
        job->world.rank[r].ranks.own_traces = own_traces;
        job->world.rank[r].ranks.touches_per_message = per_message;
    }
    job->seed = rsc_rng_below(rng, 1u << 30);
    cut(job, trace, own_traces, rng);
    thread_world_run(job->size, run_rank, job);
    for (uint32_t r = 0; r < job->size; r++)
        for (uint32_t f = 0; f < FILES_MAX; f++) free(job->pieces[r][f].meta);
    thread_world_free(&job->world);
}

/* Rank 0 has it all, the others nothing. */
static void check_job(struct job *job, const struct random_trace *trace, int own_traces) {
    for (uint32_t r = 0; r < job->size; r++)
        if (job->status[r] < 0) fail_msg("rank %u: %s", r, job->errors[r].message);
    struct rsc_profile *wanted = serial(trace, job, own_traces);
    assert_same_json(job->profiles[0], wanted, job->size);
    rsc_profile_free(wanted);
    for (uint32_t r = 0; r < job->size; r++) {
        if (r) assert_int_equal(job->profiles[r]->references, 0);
        rsc_profile_free(job->profiles[r]);
    }
}

static struct rsc_engine_options random_options(struct rsc_rng *rng) {
    static const uint32_t line_sizes[] = {1, 8, 64, 64, 64, 4096};
    return (struct rsc_engine_options){
        .struct_bytes = sizeof(struct rsc_engine_options),
        .line_bytes = line_sizes[rsc_rng_below(rng, 6)],
        .max_distance = rsc_rng_below(rng, 4) ? 0 : 1 + rsc_rng_below(rng, 3000),
        .bins_per_octave = rsc_rng_below(rng, 3) ? 0 : 1 + (uint32_t)rsc_rng_below(rng, 64),
        .attribute = 2,
        .no_ri = rsc_rng_below(rng, 4) == 0,
    };
}

/* ---- the tests ---- */

static void any_cut_gives_the_serial_profile(void **state) {
    unsigned long traces = property_traces(200);
    uint64_t seed = property_seed();
    (void)state;
    for (unsigned long i = 0; i < traces; i++) {
        static const uint32_t per_message[] = {1, 3, 40, 0};
        struct random_trace trace;
        struct rsc_rng rng;
        rsc_rng_seed(&rng, seed, i);
        struct job job = {.size = 1 + (uint32_t)(i % RANKS_MAX), .failing = RANKS_MAX};
        random_trace_make(&trace, &rng, i % 50 == 0 ? 20000 : 2000);
        random_trace_kinds(&trace, &rng);
        job.options = random_options(&rng);
        if (job.options.line_bytes == 1 && trace.count > 200) trace.count = 200; /* 4 KiB accesses are many lines */
        int own_traces = (int)rsc_rng_below(&rng, 2);
        run(&job, &trace, own_traces, per_message[rsc_rng_below(&rng, 4)], &rng);
        check_job(&job, &trace, own_traces);
        random_trace_free(&trace);
    }
    printf("%lu traces\n", traces);
}

/* Many lines that are used once: everything goes to rank 0, through ranks that must hold each other back. */
static void big_traces_too(void **state) {
    static const char *const specs[] = {"uniform,lines=30K", "cyclic,lines=1M", "zipf,lines=100K,skew=0.8",
                                        "mix,lines=20K,threads=3", "chase,lines=64K"};
    const uint32_t count = 200000;
    (void)state;
    for (uint32_t s = 0; s < sizeof specs / sizeof *specs; s++) {
        struct random_trace trace = {.count = count};
        struct rsc_generator *generator;
        struct rsc_error error;
        struct rsc_rng rng;
        rsc_rng_seed(&rng, 5, s);
        trace.addr = malloc(count * sizeof *trace.addr);
        trace.meta = malloc(count * sizeof *trace.meta);
        assert_int_equal(rsc_generator_new(&generator, specs[s], 42 + s, &error), 0);
        rsc_generator_fill(generator, trace.addr, trace.meta, count);
        rsc_generator_free(generator);
        for (uint32_t size = 2; size <= RANKS_MAX; size += 3) {
            struct job job = {.size = size, .failing = RANKS_MAX};
            job.options =
                (struct rsc_engine_options){.struct_bytes = sizeof job.options, .line_bytes = 64, .attribute = 2};
            run(&job, &trace, 0, s % 2 ? 100 : 0, &rng);
            check_job(&job, &trace, 0);
        }
        random_trace_free(&trace);
    }
}

/* One fails: all end, with an error, and nobody has a profile. */
static void a_failure_ends_all(void **state) {
    (void)state;
    for (uint32_t i = 0; i < 40; i++) {
        struct random_trace trace;
        struct rsc_rng rng;
        rsc_rng_seed(&rng, 9, i);
        struct job job = {.size = 1 + i % RANKS_MAX};
        job.failing = (uint32_t)rsc_rng_below(&rng, job.size);
        random_trace_make(&trace, &rng, 3000);
        job.options = (struct rsc_engine_options){.struct_bytes = sizeof job.options, .line_bytes = 64, .attribute = 2};
        run(&job, &trace, (int)(i & 1), 2, &rng);
        assert_int_equal(job.world.abort_status, 1);
        for (uint32_t r = 0; r < job.size; r++) {
            /* a rank behind that one may have done all that was its to do */
            if (r <= job.failing) assert_true(job.status[r] < 0);
            if (r == job.failing) assert_string_equal(job.errors[r].message, "made to fail");
            if (r == 0) assert_null(job.profiles[r]);
            rsc_profile_free(job.profiles[r]);
        }
        random_trace_free(&trace);
    }
}

/* ---- agreeing ---- */

struct agreement {
    struct thread_world world;
    int status[RANKS_MAX];
    struct rsc_error errors[RANKS_MAX];
};

static void agree(void *arg, uint32_t number) {
    struct agreement *agreement = arg;
    if (rsc_ranks_agree(&agreement->world.rank[number].ranks, &agreement->status[number], &agreement->errors[number]) <
        0)
        agreement->status[number] = 1;
}

static void all_hear_of_the_first_failure(void **state) {
    (void)state;
    for (uint32_t size = 1; size <= RANKS_MAX; size++)
        for (uint32_t failing = 0; failing < 1u << size; failing++) {
            struct agreement agreement = {0};
            uint32_t first = failing ? (uint32_t)__builtin_ctz(failing) : 0;
            char wanted[64];
            thread_world_init(&agreement.world, size);
            for (uint32_t r = 0; r < size; r++)
                if (failing >> r & 1)
                    agreement.status[r] =
                        rsc_fail(&agreement.errors[r], r % 2 ? RSC_EIO : RSC_EFORMAT, "trouble %u", r);
            thread_world_run(size, agree, &agreement);
            snprintf(wanted, sizeof wanted, size > 1 ? "rank %u of %u: trouble %u" : "trouble 0", first, size, first);
            for (uint32_t r = 0; r < size; r++) {
                assert_int_equal(agreement.status[r], !failing ? 0 : first % 2 ? RSC_EIO : RSC_EFORMAT);
                if (failing) assert_string_equal(agreement.errors[r].message, wanted);
            }
            thread_world_free(&agreement.world);
        }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_cut_gives_the_serial_profile),
        cmocka_unit_test(big_traces_too),
        cmocka_unit_test(a_failure_ends_all),
        cmocka_unit_test(all_hear_of_the_first_failure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
