/*
 * property_profiles_load.c - every profile that an engine makes can be written and read
 * back: each row of the engine table, on random traces of all shapes, with random options.
 *
 * The loader checks that parts do not exceed their whole (rows of a table, bins of a row),
 * so an engine that rounds badly is found here. What is read is written again and must be
 * the same text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/gpu/gpu_load.h"
#include "engine/engine_table.h"
#include "multicore/multicore_engines.h"
#include "profile/profile_model.h"
#include "property/random_traces.h"

#define ACCESSES_MAX 6000u
#define MERGED_ACCESSES_MAX 300u

/* Specifications of each engine; every engine of the table must be here. */
static const struct specification {
    const struct rsc_engine_kind *kind;
    const char *texts[13];
} specifications[] = {
    {&rsc_engine_auto, {"auto"}},
    {&rsc_engine_exact, {"exact"}},
    {&rsc_engine_parallel, {"parallel"}},
    {&rsc_engine_gpu, {"gpu"}},
    {&rsc_engine_mpi, {"mpi"}},
    {&rsc_engine_shards, {"shards:1/3", "shards:0.07", "shards:1"}},
    {&rsc_engine_shards_max, {"shards-max:64", "shards-max:200"}},
    {&rsc_engine_sampled, {"sampled", "sampled:period=3", "sampled:period=37"}},
    {&rsc_engine_time, {"hotl", "aet", "statstack", "shen", "aet:1/7", "statstack:0.3"}},
    {&rsc_engine_hprda, {"hp-rda", "hp-rda:local=8"}},
    {&rsc_engine_featherlight,
     {"featherlight", "featherlight:period=3", "featherlight:period=97", "featherlight:period=7,registers=1",
      "featherlight:period=11,attribution=proportional", "featherlight:period=5,attribution=since-last",
      "featherlight:period=3,attribution=inverse", "featherlight:period=5,attribution=none",
      "featherlight:period=13,rd=shen", "featherlight:period=17,rd=statstack,registers=16"}},
    {&rsc_engine_requests, {"requests"}},
    {&rsc_engine_requests_shards, {"requests-shards:0.3", "requests-shards:1"}},
};
#define SPECIFICATIONS (sizeof specifications / sizeof *specifications)

static void every_engine_is_tried(void **state) {
    (void)state;
    for (size_t i = 0; rsc_engine_kinds[i]; i++) {
        size_t at = 0;
        while (at < SPECIFICATIONS && specifications[at].kind != rsc_engine_kinds[i]) at++;
        if (at == SPECIFICATIONS) fail_msg("%s is not tried", rsc_engine_kinds[i]->name);
    }
}

/* A trace with places: few, some or many, not all in use from the start. */
static void random_places(struct rsc_rng *rng, const struct random_trace *trace, uint64_t *pc) {
    uint64_t places = 1 + rsc_rng_below(rng, rsc_rng_below(rng, 2) ? 7 : 900);
    for (uint32_t i = 0; i < trace->count; i++) pc[i] = 0x400000 + 4 * rsc_rng_below(rng, 1 + i % places);
}

/* `model`: such options that the profile can be merged with others of this model; NULL: any. */
static struct rsc_engine_options random_options(struct rsc_rng *rng, const struct rsc_engine_kind *kind,
                                                const char *model) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .seed = rsc_rng_below(rng, 1000)};
    unsigned can = kind->can;
    if ((can & RSC_CAN_PHASES) && !rsc_rng_below(rng, 3)) options.phases = 1 + (uint32_t)rsc_rng_below(rng, 5);
    if ((can & RSC_CAN_CAP) && !rsc_rng_below(rng, 3)) options.max_distance = 1 + rsc_rng_below(rng, 300);
    if ((can & RSC_CAN_BINS) && !rsc_rng_below(rng, 3)) options.bins_per_octave = 1 + (uint32_t)rsc_rng_below(rng, 64);
    if ((can & RSC_CAN_NO_RI) && !rsc_rng_below(rng, 4)) options.no_ri = 1;
    if ((can & RSC_CAN_TOP_LINES) && !rsc_rng_below(rng, 3)) options.top_lines = 1 + (uint32_t)rsc_rng_below(rng, 9);
    if ((can & RSC_CAN_WORKERS) && !rsc_rng_below(rng, 2)) options.workers = 2;
    if ((can & RSC_CAN_ERROR) && rsc_rng_below(rng, 2)) options.error = 0.05;
    if (can & RSC_WATCHES_WORDS) options.line_bytes = rsc_rng_below(rng, 2) ? 8 : 64;
    else if (!(can & RSC_TAKES_REQUESTS)) options.line_bytes = 1u << rsc_rng_below(rng, 13);
    if (can & RSC_CAN_PRIVATE && rsc_rng_below(rng, 2)) options.model = "private";
    else if (!(can & (RSC_TAKES_REQUESTS | RSC_WATCHES_WORDS)) && rsc_rng_below(rng, 2)) options.model = "shared";
    if (!model) return options;
    options.max_distance = 0;
    if (can & RSC_TAKES_REQUESTS) return options;
    options.line_bytes = 64;
    options.model = model;
    return options;
}

/* Only in builds with LeakSanitizer, which would take what MPI keeps, in threads of its own too, for our leaks. */
void __lsan_disable(void) __attribute__((weak));

/* NULL: the machine cannot run this engine. Options that exclude each other are drawn again. */
static struct rsc_profile *analyse(struct rsc_rng *rng, const struct rsc_engine_kind *kind, const char *text,
                                   const char *model, const struct random_trace *trace, const uint64_t *pc) {
    struct rsc_engine *engine;
    struct rsc_profile *profile = NULL;
    struct rsc_error error;
    int status = RSC_EINVAL;
    struct rsc_batch batch = {
        .count = trace->count, .addr = trace->addr, .meta = trace->meta, .pc = pc, .instructions = RSC_UNKNOWN};
    if (kind == &rsc_engine_mpi && __lsan_disable) return NULL;
    for (int tries = 0; tries < 30 && status == RSC_EINVAL; tries++) {
        struct rsc_engine_options options = random_options(rng, kind, model);
        options.engine = text;
        status = rsc_engine_new(&engine, &options, &error);
    }
    if (status == RSC_EUNSUPPORTED) return NULL;
    if (status < 0) fail_msg("%s: %s", text, error.message);
    if (rsc_engine_push(engine, &batch, &error) < 0 || rsc_engine_finish(engine, &profile, &error) < 0)
        fail_msg("%s: %s", text, error.message);
    rsc_engine_free(engine);
    return profile;
}

static void is_read_back(const char *engine, unsigned long number, const struct rsc_profile *profile) {
    struct rsc_error error;
    struct rsc_profile *loaded;
    char *written, *again;
    size_t bytes, bytes_again;
    assert_int_equal(rsc_profile_json(profile, &written, &bytes, &error), 0);
    if (rsc_profile_parse(&loaded, written, bytes, engine, &error) < 0)
        fail_msg("trace %lu: %s", number, error.message);
    assert_int_equal(rsc_profile_json(loaded, &again, &bytes_again, &error), 0);
    assert_int_equal(bytes, bytes_again);
    assert_memory_equal(written, again, bytes);
    rsc_text_free(written);
    rsc_text_free(again);
    rsc_profile_free(loaded);
}

static void every_profile_is_read_back(void **state) {
    (void)state;
    static uint64_t pc[ACCESSES_MAX];
    unsigned long traces = property_traces(60);
    struct rsc_rng rng;
    rsc_rng_seed(&rng, property_seed(), 0);
    for (unsigned long t = 0; t < traces; t++) {
        struct random_trace trace;
        random_trace_make(&trace, &rng, ACCESSES_MAX);
        random_places(&rng, &trace, pc);
        for (size_t i = 0; i < SPECIFICATIONS; i++)
            for (const char *const *text = specifications[i].texts; *text; text++) {
                struct rsc_profile *profile =
                    analyse(&rng, specifications[i].kind, *text, NULL, &trace, rsc_rng_below(&rng, 4) ? pc : NULL);
                if (profile) is_read_back(*text, t, profile);
                rsc_profile_free(profile);
            }
        random_trace_free(&trace);
    }
}

/* A profile of this model by an engine chosen at random. */
static struct rsc_profile *random_profile(struct rsc_rng *rng, const char *model) {
    static uint64_t pc[ACCESSES_MAX];
    struct rsc_profile *profile = NULL;
    struct random_trace trace;
    random_trace_make(&trace, rng, MERGED_ACCESSES_MAX);
    random_places(rng, &trace, pc);
    while (!profile) {
        const struct specification *specification = &specifications[rsc_rng_below(rng, SPECIFICATIONS)];
        unsigned can = specification->kind->can;
        size_t count = 0;
        while (specification->texts[count]) count++;
        if (!(can & RSC_TAKES_REQUESTS) != !!strcmp(model, "requests")) continue;
        if (!strcmp(model, "private") && !(can & RSC_CAN_PRIVATE)) continue;
        if (!strcmp(model, "shared") && (can & RSC_WATCHES_WORDS)) continue;
        profile = analyse(rng, specification->kind, specification->texts[rsc_rng_below(rng, count)], model, &trace,
                          rsc_rng_below(rng, 4) ? pc : NULL);
    }
    random_trace_free(&trace);
    return profile;
}

/* Adds one profile to another, which is unchanged if that is refused, in one line. Returns the status. */
static int merge(struct rsc_profile *into, const struct rsc_profile *from, unsigned long number) {
    struct rsc_error error = {0};
    char *before, *after;
    size_t bytes, bytes_after;
    assert_int_equal(rsc_profile_json(into, &before, &bytes, &error), 0);
    int status = rsc_profile_merge(into, from, &error);
    is_read_back("merged", number, into);
    if (status < 0) {
        assert_true(status == RSC_ELIMIT || status == RSC_EINVAL);
        assert_true(error.message[0] && !strchr(error.message, '\n'));
        assert_int_equal(rsc_profile_json(into, &after, &bytes_after, &error), 0);
        assert_int_equal(bytes, bytes_after);
        assert_memory_equal(before, after, bytes);
        rsc_text_free(after);
    }
    rsc_text_free(before);
    return status;
}

/* Profiles of different traces and engines, and now and then a copy of all so far, until the counts are too large. */
static void merged_profiles_are_read_back(void **state) {
    (void)state;
    static const char *const models[] = {"private", "shared", "requests"};
    unsigned long rounds = 1 + property_traces(60) / 30, others = 0;
    struct rsc_rng rng;
    rsc_rng_seed(&rng, property_seed(), 1);
    for (unsigned long t = 0; t < rounds; t++)
        for (int m = 0; m < 3; m++) {
            struct rsc_profile *into = random_profile(&rng, models[m]);
            into->accesses = (uint64_t)INT64_MAX >> (1 + rsc_rng_below(&rng, 7));
            int status = 0;
            for (int step = 0; step < 40 && status != RSC_ELIMIT; step++) {
                struct rsc_profile *from;
                int is_other = step % 3 != 2;
                if (is_other) {
                    from = random_profile(&rng, models[m]);
                } else {
                    char *text;
                    size_t bytes;
                    assert_int_equal(rsc_profile_json(into, &text, &bytes, NULL), 0);
                    assert_int_equal(rsc_profile_parse(&from, text, bytes, "copy", NULL), 0);
                    rsc_text_free(text);
                }
                status = merge(into, from, t);
                others += is_other && !status;
                rsc_profile_free(from);
            }
            assert_int_equal(status, RSC_ELIMIT);
            rsc_profile_free(into);
        }
    assert_true(others > 4 * rounds);
}

int main(void) {
#ifdef RSC_EMULATED_PLUGIN
    setenv(RSC_GPU_PLUGIN_VARIABLE, RSC_EMULATED_PLUGIN, 1);
#endif
    const struct CMUnitTest tests[] = {cmocka_unit_test(every_engine_is_tried),
                                       cmocka_unit_test(merged_profiles_are_read_back),
                                       cmocka_unit_test(every_profile_is_read_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
