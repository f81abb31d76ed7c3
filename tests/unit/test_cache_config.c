/* test_cache_config.c - caches from text and back, what is refused, hierarchies, machine files. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "simulate/cache/cache.h"
#include "simulate/cache/machine_caches.h"

static void texts_come_back(void **state) {
    (void)state;
    static const char *const texts[][2] = {
        {"32K,8,64", "32K,8,64,lru"},
        {"4M,16,128,random", "4M,16,128,random"},
        {"48K,12,64,plru,wt,nwa", "48K,12,64,plru,wt,nwa"},
        {"1536,3,16,inclusive,fifo", "1536,3,16,fifo,inclusive"},
        {"0x8000,1,32,private,pid", "32K,1,32,lru,private,pid"},
        {"1G,16,64,per=4,pages,prefetch,victim=8,buffer=16", "1G,16,64,lru,per=4,pages,prefetch,victim=8,buffer=16"},
        {"64K,4,64,wt,wb,nwa,wa,private,shared", "64K,4,64,lru"},
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rsc_cache_config config, again;
        struct rsc_error error;
        char text[200], twice[200];
        if (rsc_cache_config_parse(&config, "l2", texts[i][0], &error) < 0) fail_msg("%s", error.message);
        assert_int_equal(rsc_cache_config_text(&config, text, sizeof text), strlen(texts[i][1]));
        assert_string_equal(text, texts[i][1]);
        assert_int_equal(rsc_cache_config_parse(&again, "l2", text, &error), 0);
        rsc_cache_config_text(&again, twice, sizeof twice);
        assert_string_equal(twice, text);
        assert_memory_equal(&config, &again, sizeof config);
        char little[8];
        size_t cut = rsc_cache_config_text(&config, little, sizeof little);
        assert_int_equal(cut, strlen(little));
    }
}

static void nonsense_is_refused(void **state) {
    (void)state;
    static const char *const texts[] = {
        "",
        "32K",
        "32K,8",
        "32K,8,",
        "32K,8,64,", /* a comma too many is let pass */
        "0,8,64",
        "32K,8,0",
        "32K,8,8",
        "32K,8,65",
        "32K,0,64",
        "33K,8,1024",
        "32K,70000,64",
        "32K,8,64,l",
        "32K,8,64,lru,,",
        "32K,8,64,per=x",
        "32K,8,64,victim=",
        "32K,8,64,buffer=0",
        "1,1,2M",
        "18446744073709551615,1,64",
        "64K,8,64,lrux",
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct rsc_cache_config config;
        struct rsc_error error;
        int status = rsc_cache_config_parse(&config, "l1d", texts[i], &error);
        if (!strcmp(texts[i], "32K,8,64,")) assert_int_equal(status, 0);
        else if (status != RSC_EINVAL) fail_msg("%s was taken", texts[i]);
    }
    struct rsc_cache_config config;
    assert_int_equal(rsc_cache_config_parse(&config, "l7", "32K,8,64", NULL), RSC_EINVAL);
}

static void order_is_by_level(void **state) {
    (void)state;
    static const char *const names[] = {"l3", "l1d", "l2", "l1i", "l2"};
    static const char *const sorted[] = {"l1i", "l1d", "l2", "l2", "l3"};
    struct rsc_sim_config sim = {0};
    struct rsc_cache_config cache;
    for (int i = 0; i < 5; i++) {
        char text[20];
        snprintf(text, sizeof text, "%dK,1,64", 1 << i);
        assert_int_equal(rsc_cache_config_parse(&cache, names[i], text, NULL), 0);
        assert_int_equal(rsc_sim_config_add(&sim, &cache, NULL), 0);
    }
    for (int i = 0; i < 5; i++) assert_string_equal(sim.caches[i].name, sorted[i]);
    assert_int_equal(rsc_sim_config_primary(&sim, "l2")->size_bytes, 4096); /* the first given */
    assert_int_equal(rsc_sim_config_check(&sim, NULL), 0);
    while (sim.count < RSC_SIM_CACHES_MAX) assert_int_equal(rsc_sim_config_add(&sim, &cache, NULL), 0);
    assert_int_equal(rsc_sim_config_add(&sim, &cache, NULL), RSC_ELIMIT);
}

static void indices(void **state) {
    (void)state;
    struct rsc_cache_config config;
    struct rsc_cache cache;
    static const uint64_t pids[65536] = {0x1234, 0xff};
    /* 4 M of 128 bytes, direct-mapped: 15 index bits; the paper's process id goes into bits 14 to 7 of the index */
    assert_int_equal(rsc_cache_config_parse(&config, "l2", "4M,1,128,pid", NULL), 0);
    assert_int_equal(rsc_cache_init(&cache, &config, 0, pids, NULL), 0);
    assert_int_equal(rsc_cache_set_of(&cache, 5), 5 ^ 0x34 << 7);
    assert_int_equal(rsc_cache_set_of(&cache, 1ull << 41 | 5), 5 ^ 0xff << 7);
    rsc_cache_free(&cache);
    /* 3 x 5 sets: modulo */
    assert_int_equal(rsc_cache_config_parse(&config, "l2", "1920,2,64", NULL), 0);
    assert_int_equal(rsc_cache_init(&cache, &config, 0, NULL, NULL), 0);
    assert_int_equal(rsc_cache_set_of(&cache, 152), 2);
    rsc_cache_free(&cache);
    /* pages: what lies in one keeps its order, and pages spread evenly */
    assert_int_equal(rsc_cache_config_parse(&config, "l2", "1M,1,64,pages", NULL), 0);
    assert_int_equal(rsc_cache_init(&cache, &config, 7, NULL, NULL), 0);
    uint32_t colours[256] = {0}, most = 0;
    for (uint64_t page = 0; page < 256 * 64; page++) {
        uint64_t set = rsc_cache_set_of(&cache, page * 64);
        assert_int_equal(set % 64, 0);
        assert_int_equal(rsc_cache_set_of(&cache, page * 64 + 17), set + 17);
        if (++colours[set / 64] > most) most = colours[set / 64];
    }
    assert_true(most > 64 && most < 128); /* chance: 64 on average */
    rsc_cache_free(&cache);
}

static void put_file(const char *where, const char *name, const char *text) {
    char path[1000];
    snprintf(path, sizeof path, "%s/%s", where, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static char folder[256];

static int make_folder(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/reusescope-test-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

static void machines(void **state) {
    (void)state;
    struct rsc_sim_config sim = {0};
    struct rsc_error error;
    char path[700], text[160];
    put_file(folder, "m.caches", "# a machine\n\n l1d\t8K,2,64,fifo  # small\nl2 64K,4,64\r\n");
    assert_int_equal(rsc_machine_caches_add(&sim, "m", folder, &error), 0);
    assert_int_equal(sim.count, 2);
    rsc_cache_config_text(&sim.caches[0], text, sizeof text);
    assert_string_equal(text, "8K,2,64,fifo");
    put_file(folder, "bad.caches", "l1d 8K,2,64\nl2\n");
    assert_int_equal(rsc_machine_caches_add(&sim, "bad", folder, &error), RSC_EFORMAT);
    assert_non_null(strstr(error.message, "line 2"));
    assert_int_equal(rsc_machine_caches_add(&sim, "none", folder, &error), RSC_EINVAL);
    /* a sysfs of one core: ways that do not divide the size are made to */
    static const char *const properties[][4] = {{"index0", "1", "Data", "48K"},
                                                {"index1", "1", "Instruction", "32K"},
                                                {"index2", "2", "Unified", "1280K"},
                                                {"index3", "3", "Unified", "48M"}};
    static const char *const ways[] = {"12", "8", "20", "13"};
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, properties[i][0]);
        mkdir(path, 0777);
        put_file(path, "level", properties[i][1]);
        put_file(path, "type", properties[i][2]);
        put_file(path, "size", properties[i][3]);
        put_file(path, "ways_of_associativity", ways[i]);
        put_file(path, "coherency_line_size", "64");
    }
    memset(&sim, 0, sizeof sim);
    assert_int_equal(rsc_machine_caches_add_this(&sim, folder, &error), 0);
    static const char *const wanted[] = {"32K,8,64,lru", "48K,12,64,lru", "1280K,20,64,lru", "48M,12,64,lru"};
    assert_int_equal(sim.count, 4);
    for (int i = 0; i < 4; i++) {
        rsc_cache_config_text(&sim.caches[i], text, sizeof text);
        assert_string_equal(text, wanted[i]);
    }
    memset(&sim, 0, sizeof sim);
    assert_int_equal(rsc_machine_caches_add_this(&sim, "/nowhere", &error), RSC_EUNSUPPORTED);
}

/* Machine files for reports: data caches by size, and latencies of all of them, or typical ones. */
static void machines_for_reports(void **state) {
    (void)state;
    struct rsc_machine machine;
    struct rsc_error error;
    static const struct {
        const char *text, *message; /* refused with this */
    } refused[] = {
        {"l1d 8K,2,64\nlatencies l1d=4 memory=200\n", "line 2: not latencies published|measured"},
        {"l1d 8K,2,64\nlatencies published l1d=4 memory=-3\n", "line 2: not latencies"},
        {"l1d 8K,2,64\nlatencies published l1d=4 memory=nan\n", "line 2: not latencies"},
        {"l1d 8K,2,64\nlatencies published l1d=4 =3\n", "line 2: not latencies"},
        {"l1d 8K,2,64\nl2 64K,4,64\nlatencies published l1d=4 memory=200\n", "no L2"},
        {"l1d 8K,2,64\nlatencies measured l1d=4\n", "no memory"},
        {"latencies published memory=200\n", "no caches listed"},
        {"l1i 8K,2,64\n", "no caches for data"},
    };
    put_file(folder, "m.caches", "l2 64K,4,64\nl1i 8K,2,64\nl1d 8K,2,64\nl2 1M,4,64 # an alternative\n");
    assert_int_equal(rsc_machine_named(&machine, "m", folder, &error), 0);
    assert_int_equal(machine.level_count, 2);
    assert_string_equal(machine.levels[0].name, "L1d");
    assert_string_equal(machine.levels[1].name, "L2");
    assert_int_equal(machine.levels[1].size_bytes, 64 << 10);
    assert_int_equal(machine.latencies, RSC_LATENCIES_TYPICAL);
    assert_true(machine.levels[1].cycles > 0 && machine.memory_cycles > 0);
    put_file(folder, "m.caches", "l1d 8K,2,64\nl2 64K,4,64\nlatencies published memory=201.5 l2=13 L1D=4 l1i=4\n");
    assert_int_equal(rsc_machine_named(&machine, "m", folder, &error), 0);
    assert_int_equal(machine.latencies, RSC_LATENCIES_PUBLISHED);
    assert_true(machine.levels[0].cycles == 4 && machine.levels[1].cycles == 13 && machine.memory_cycles == 201.5);
    assert_string_equal(machine.name, "m");
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        put_file(folder, "m.caches", refused[i].text);
        assert_int_equal(rsc_machine_named(&machine, "m", folder, &error), RSC_EFORMAT);
        if (!strstr(error.message, refused[i].message)) fail_msg("%s: %s", refused[i].text, error.message);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_come_back),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(order_is_by_level),
        cmocka_unit_test(indices),
        cmocka_unit_test_setup_teardown(machines, make_folder, remove_folder),
        cmocka_unit_test_setup_teardown(machines_for_reports, make_folder, remove_folder),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
