/*
 * test_gpu_device.c - what the gpu engine does when the device is not as it should
 * be: missing, full, lost at any moment; and when the engine goes before its end; of one stack and of private ones. The
 * device is emulated (gpu/emulated.h): no memory of it may be left in use.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include <reusescope/reusescope.h>

#include "distance/gpu/gpu_load.h"

#ifndef RSC_EMULATED_PLUGIN
int main(void) { return 77; } /* no C++ compiler, or a sanitizer that does not know fibers */
#else
#include "emulated.h"

#define PLENTY ((size_t)1 << 30)
#define ACCESSES 6000u

static void (*set_device)(int, size_t, long);
static struct rsc_emulated_use (*use)(void);
static const char *engine_name = "gpu"; /* or "hp-rda", on the device */
static const char *model_name = "single"; /* or "private" */
static uint64_t addr[ACCESSES], meta[ACCESSES];

static int open_emulated(void **state) {
    (void)state;
    setenv(RSC_GPU_PLUGIN_VARIABLE, RSC_EMULATED_PLUGIN, 1);
    void *library = dlopen(RSC_EMULATED_PLUGIN, RTLD_NOW | RTLD_NODELETE);
    if (!library) return -1;
    set_device = (void (*)(int, size_t, long))(uintptr_t)dlsym(library, "rsc_emulated_device");
    use = (struct rsc_emulated_use(*)(void))(uintptr_t)dlsym(library, "rsc_emulated_use");
    for (uint32_t i = 0; i < ACCESSES; i++) {
        addr[i] = (uint64_t)i * 7919 % 500 * 64;
        meta[i] =
            rsc_meta(8, i > ACCESSES / 2 && i % 3 ? RSC_WRITE : RSC_READ, 0); /* from there on outcomes come back */
    }
    return set_device && use ? 0 : -1;
}

static long calls_of_work; /* of the last analysis, without those that close the device */

/* A whole analysis of the first `count` accesses. Returns the engine's status and checks what it leaves behind. */
static int analyse(uint32_t count, struct rsc_error *error) {
    struct rsc_engine_options options = {.struct_bytes = sizeof options, .engine = engine_name, .model = model_name};
    struct rsc_engine *engine;
    struct rsc_profile *profile = NULL;
    struct rsc_batch batch = {.count = count, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
    memset(error, 0, sizeof *error);
    int status = rsc_engine_new(&engine, &options, error);
    if (status == 0) {
        status = rsc_engine_push(engine, &batch, error);
        if (status == 0) status = rsc_engine_finish(engine, &profile, error);
        if (status == 0) assert_non_null(profile);
        else assert_null(profile);
        calls_of_work = use().calls;
        rsc_profile_free(profile);
        rsc_engine_free(engine);
    } else {
        assert_null(engine);
    }
    assert_int_equal(use().memory, 0);
    if (status < 0) {
        assert_true(strlen(error->message) > 10);
        assert_null(strchr(error->message, '\n'));
    }
    return status;
}

static void test_missing(void **state) {
    struct rsc_error error;
    (void)state;
    set_device(-1, PLENTY, -1);
    assert_int_equal(analyse(10, &error), RSC_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "driver is missing"));
    set_device(0, PLENTY, -1);
    assert_int_equal(analyse(10, &error), RSC_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "no CUDA device"));
    setenv(RSC_GPU_PLUGIN_VARIABLE, "/nowhere/plugin.so", 1);
    assert_int_equal(analyse(10, &error), RSC_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "plugin cannot be loaded"));
    unsetenv(RSC_GPU_PLUGIN_VARIABLE);
    setenv(RSC_GPU_PLUGIN_VARIABLE, RSC_EMULATED_PLUGIN, 1);
}

/* The device is lost at the first call, the second, ...: always one line, nothing left behind. */
static void test_lost_at_any_call(void **state) {
    struct rsc_error error;
    (void)state;
    set_device(1, PLENTY, -1);
    assert_int_equal(analyse(ACCESSES, &error), 0);
    long calls = calls_of_work;
    assert_true(calls > 150);
    for (long at = 0; at < calls; at += at < 60 ? 1 : 17) {
        set_device(1, PLENTY, at);
        int status = analyse(ACCESSES, &error);
        assert_int_equal(status, RSC_EIO);
        assert_non_null(strstr(error.message, "gpu engine: the device failed"));
    }
    set_device(1, PLENTY, -1);
    assert_int_equal(analyse(ACCESSES, &error), 0);
}

/* From no memory to plenty: refused with the sizes, or done; what fits less must not succeed where more did not. */
static void test_little_memory(void **state) {
    struct rsc_error error;
    int refused = 0, done = 0;
    (void)state;
    for (size_t memory = 1 << 12; memory <= 64 << 20; memory *= 2) {
        set_device(1, memory, -1);
        int status = analyse(ACCESSES, &error);
        if (status == 0) {
            done++;
            continue;
        }
        assert_int_equal(done, 0);
        assert_true(status == RSC_ENOMEM || status == RSC_ELIMIT);
        assert_non_null(strstr(error.message, "device"));
        assert_true(strstr(error.message, "out of device memory") || strstr(error.message, " MiB"));
        refused++;
    }
    assert_true(refused > 0 && done > 0);
    set_device(1, PLENTY, -1);
}

/* Every access a line of its own: the lines carried from chunk to chunk outgrow the device. */
static void test_too_many_lines(void **state) {
    struct rsc_gpu_options options = {
        .struct_bytes = sizeof options, .stack_count = 1, .memory_bytes = 600 << 10, .chunk_words = 64};
    const struct rsc_gpu_plugin *plugin;
    char message[RSC_GPU_MESSAGE_BYTES] = "";
    struct rsc_error error;
    uint64_t next = 0;
    void *session;
    (void)state;
    set_device(1, PLENTY, -1);
    assert_int_equal(rsc_gpu_load(&plugin, &error), 0);
    assert_int_equal(plugin->open(&session, &options, message), 0);
    int status = 0;
    while (status == 0 && next < 200000) {
        struct rsc_gpu_block *block;
        status = plugin->block(session, &block, message);
        for (size_t i = 0; status == 0 && i < block->room; i++) block->words[i] = next++;
        if (status == 0) status = plugin->send(session, block, block->room, message);
    }
    assert_int_equal(status, RSC_ELIMIT);
    assert_non_null(strstr(message, "too many distinct lines for the device: "));
    assert_non_null(strstr(message, "do not fit 0.6 MiB"));
    plugin->close(session);
    assert_int_equal(use().memory, 0);
}

/* As after Ctrl-C in a program that uses the library: freed after any part of the work. */
static void test_freed_in_the_middle(void **state) {
    (void)state;
    set_device(1, PLENTY, -1);
    for (uint32_t count = 0; count <= ACCESSES; count += 613) {
        struct rsc_engine_options options = {
            .struct_bytes = sizeof options, .engine = engine_name, .model = model_name};
        struct rsc_batch batch = {.count = count, .addr = addr, .meta = meta, .instructions = RSC_UNKNOWN};
        struct rsc_engine *engine;
        assert_int_equal(rsc_engine_new(&engine, &options, NULL), 0);
        assert_int_equal(rsc_engine_push(engine, &batch, NULL), 0);
        rsc_engine_free(engine);
        assert_int_equal(use().memory, 0);
    }
}

/* All of this with HP-RDA on the device. */
static void test_hprda(void **state) {
    engine_name = "hp-rda:local=8,device=0";
    test_missing(state);
    test_lost_at_any_call(state);
    test_little_memory(state);
    test_freed_in_the_middle(state);
    engine_name = "gpu";
    struct rsc_engine_options wanted = {.struct_bytes = sizeof wanted, .engine = "shards-max:64,device=0"};
    struct rsc_engine *engine;
    struct rsc_error error;
    assert_int_equal(rsc_engine_new(&engine, &wanted, &error), RSC_EINVAL);
    assert_string_equal(error.message, "engine 'shards-max:64,device=0': not a number of lines from 64 to 268435456");
}

/* And with private stacks, which take lines from each other. */
static void test_private(void **state) {
    model_name = "private";
    for (uint32_t i = 0; i < ACCESSES; i++) meta[i] = rsc_meta(8, i % 3 ? RSC_READ : RSC_WRITE, i / 5 % 4);
    test_lost_at_any_call(state);
    test_little_memory(state);
    test_freed_in_the_middle(state);
    struct rsc_error error;
    set_device(1, 2 << 20, -1);
    for (uint32_t i = 0; i < ACCESSES; i++) addr[i] = (uint64_t)i << 12;
    assert_int_equal(analyse(ACCESSES, &error), RSC_ELIMIT);
    assert_non_null(strstr(error.message, "too many lines in private stacks for the device: "));
    set_device(1, PLENTY, -1);
    model_name = "single";
}

static void test_refused_wishes(void **state) {
    struct rsc_error error;
    struct rsc_engine *engine;
    (void)state;
    set_device(1, PLENTY, -1);
    struct rsc_engine_options device = {.struct_bytes = sizeof device, .engine = "gpu:device=3"};
    assert_int_equal(rsc_engine_new(&engine, &device, &error), RSC_EUNSUPPORTED);
    assert_non_null(strstr(error.message, "no device 3; this machine has 1"));
    device.engine = "exact:device=3";
    assert_int_equal(rsc_engine_new(&engine, &device, &error), RSC_EINVAL);
    assert_string_equal(error.message, "engine 'exact:device=3': exact takes no parameter");
    struct rsc_engine_options lines = {.struct_bytes = sizeof lines, .engine = "gpu", .top_lines = 4};
    assert_int_equal(rsc_engine_new(&engine, &lines, &error), RSC_EINVAL);
    assert_string_equal(error.message, "the gpu engine cannot do top lines");
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_missing),
        cmocka_unit_test(test_lost_at_any_call),
        cmocka_unit_test(test_little_memory),
        cmocka_unit_test(test_too_many_lines),
        cmocka_unit_test(test_freed_in_the_middle),
        cmocka_unit_test(test_hprda),
        cmocka_unit_test(test_private),
        cmocka_unit_test(test_refused_wishes),
    };
    return cmocka_run_group_tests(tests, open_emulated, NULL);
}
#endif
