/* test_parallel.c - the parallel engine given up in the middle, out of memory, and asked for from outside. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include <cmocka.h>

#include <reusescope/reusescope.h>

#include "distance/engine_kind.h"
#include "distance/parallel/engine_parallel.h"
#include "profile/profile_model.h"
#include "unit/address_limit.h"

#define BATCH 4000u

static uint64_t addr[BATCH], meta[BATCH], pc[BATCH];

static struct rsc_batch distinct_lines(uint64_t first) {
    for (uint32_t i = 0; i < BATCH; i++) {
        addr[i] = (first + i) * 64;
        meta[i] = rsc_meta(1, RSC_READ, 0);
        pc[i] = 0x1000 + i % 64;
    }
    return (struct rsc_batch){.count = BATCH, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
}

static void destroyed_at_any_moment(void **state) {
    (void)state;
    for (uint32_t turn = 0; turn < 24; turn++) {
        const struct rsc_engine_kind *way = turn % 2 ? &rsc_parallel_rounds : &rsc_parallel_stages;
        uint32_t pushes = turn / 2;
        struct rsc_engine_options options = {
            .struct_bytes = sizeof options, .line_bytes = 64, .workers = 1 + pushes % 4};
        void *engine;
        assert_int_equal(way->create(&engine, &options, NULL, NULL), 0);
        if (way == &rsc_parallel_rounds) rsc_rounds_set_slice(engine, 20 + 700 * (pushes % 3));
        for (uint32_t i = 0; i < pushes; i++) {
            struct rsc_batch batch = distinct_lines(i * BATCH / 2);
            if (pushes % 2) batch.pc = pc;
            assert_int_equal(way->push(engine, &batch, NULL), 0);
        }
        way->destroy(engine); /* workers are busy */
    }
    rsc_engine_parallel.destroy(NULL);
}

static void by_its_name(void **state) {
    struct rsc_engine_options options = {
        .struct_bytes = sizeof options, .engine = "parallel", .workers = 3, .phases = 2};
    struct rsc_engine *engine;
    struct rsc_profile *profile;
    struct rsc_error error;
    (void)state;
    for (uint32_t turn = 0; turn < 6; turn++) { /* nothing, then something, in each of the ways */
        static const uint32_t workers[] = {3, 5, 9};
        uint32_t batches = turn / 3 * 2;
        options.workers = workers[turn % 3];
        assert_int_equal(rsc_engine_new(&engine, &options, &error), 0);
        for (uint32_t i = 0; i < batches; i++) {
            struct rsc_batch batch = distinct_lines(0);
            assert_int_equal(rsc_engine_push(engine, &batch, &error), 0);
        }
        assert_int_equal(rsc_engine_finish(engine, &profile, &error), 0);
        assert_int_equal(profile->references, batches * BATCH);
        assert_int_equal(profile->cold, batches / 2 * BATCH);
        assert_string_equal(profile->made.by, "parallel");
        assert_int_equal(profile->made.workers, options.workers);
        rsc_profile_free(profile);
        rsc_engine_free(engine);
    }
    options.engine = "parallel:4";
    assert_int_equal(rsc_engine_new(&engine, &options, &error), RSC_EINVAL);
}

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* In a process that may not grow: an error with its reason, then a clean end. */
static int end_without_memory(uint32_t workers, uint64_t limit) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = "parallel", .workers = workers};
    char wanted[80];
    struct rsc_engine *engine;
    struct rsc_profile *profile = NULL;
    struct rsc_error error = {0};
    if (address_limit_set(limit)) return ADDRESS_LIMIT_IGNORED;
    if (rsc_engine_new(&engine, &options, &error) < 0) return 10;
    int status = 0;
    for (uint64_t i = 0; i < 100000 && !status; i++) { /* 400 million lines */
        struct rsc_batch batch = distinct_lines(i * BATCH);
        status = rsc_engine_push(engine, &batch, &error);
    }
    if (!status) status = rsc_engine_finish(engine, &profile, &error);
    rsc_profile_free(profile);
    rsc_engine_free(engine);
    if (status != RSC_ENOMEM) return 11;
    snprintf(wanted, sizeof wanted, "out of memory (parallel engine, %u workers", workers);
    return strstr(error.message, wanted) ? 0 : 12;
}

static void out_of_memory(void **state) {
    static const struct {
        uint32_t workers;
        uint64_t limit;
    } ways[] = {{2, 200u << 20}, {6, 500u << 20}, {8, 600u << 20}}; /* stages, rounds */
    (void)state;
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        int status;
        pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) _exit(end_without_memory(ways[i].workers, ways[i].limit));
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status));
        if (WEXITSTATUS(status) == ADDRESS_LIMIT_IGNORED) skip();
        assert_int_equal(WEXITSTATUS(status), 0);
    }
}
#else
static void out_of_memory(void **state) {
    (void)state;
    skip(); /* sanitizers need the address space */
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(out_of_memory), /* first: threads that ended leave address space taken */
        cmocka_unit_test(destroyed_at_any_moment),
        cmocka_unit_test(by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
