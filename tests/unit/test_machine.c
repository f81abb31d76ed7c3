/* test_machine.c - caches read from made-up and missing sysfs folders. */
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

#include "base/machine.h"

static char root[256];

static int make_root(void **state) {
    (void)state;
    const char *parent = getenv("TMPDIR");
    snprintf(root, sizeof root, "%s/reusescope-test-XXXXXX", parent ? parent : "/tmp");
    return mkdtemp(root) ? 0 : -1;
}

static int remove_root(void **state) {
    (void)state;
    char command[512];
    snprintf(command, sizeof command, "rm -rf '%s'", root);
    return system(command);
}

static void put_property(unsigned index, const char *name, const char *value) {
    char path[512];
    snprintf(path, sizeof path, "%s/index%u", root, index);
    mkdir(path, 0777);
    snprintf(path, sizeof path, "%s/index%u/%s", root, index, name);
    FILE *file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", value);
    fclose(file);
}

static void put_cache(unsigned index, const char *level, const char *type, const char *size) {
    put_property(index, "level", level);
    put_property(index, "type", type);
    put_property(index, "size", size);
}

static void data_caches_are_found(void **state) {
    (void)state;
    struct rsc_machine machine;
    put_cache(0, "1", "Data", "48K");
    put_cache(1, "1", "Instruction", "32K");
    put_cache(2, "3", "Unified", "36M");
    put_cache(3, "2", "Unified", "1280K");
    rsc_machine_read(&machine, root);
    assert_int_equal(machine.level_count, 3);
    assert_string_equal(machine.levels[0].name, "L1d");
    assert_int_equal(machine.levels[0].size_bytes, 48 << 10);
    assert_string_equal(machine.levels[1].name, "L2");
    assert_int_equal(machine.levels[1].size_bytes, 1280 << 10);
    assert_string_equal(machine.levels[2].name, "L3");
    assert_int_equal(machine.levels[2].size_bytes, 36 << 20);
}

/* Latencies: typical ones by level; all of a file's, or none. */
static void latencies_are_known(void **state) {
    (void)state;
    struct rsc_machine machine;
    char path[300];
    rsc_machine_read(&machine, root); /* L1d 48K, L2 1280K, L3 36M */
    assert_int_equal(machine.latencies, RSC_LATENCIES_TYPICAL);
    assert_true(rsc_machine_cycles_beyond(&machine, 32 << 10) == machine.levels[0].cycles);
    assert_true(rsc_machine_cycles_beyond(&machine, 48 << 10) == machine.levels[1].cycles);
    assert_true(rsc_machine_cycles_beyond(&machine, 36 << 20) == machine.memory_cycles);
    double typical = machine.memory_cycles;
    snprintf(path, sizeof path, "%s/this.latency", root);
    FILE *file = fopen(path, "w");
    fputs("# measured\nl1d 4.5\nL2 13\nl3 70\nl9 9\n", file);
    fclose(file);
    assert_false(rsc_machine_read_latencies(&machine, path)); /* memory is missing */
    assert_true(machine.memory_cycles == typical && machine.levels[0].cycles != 4.5);
    file = fopen(path, "a");
    fputs("memory 311.5\n", file);
    fclose(file);
    assert_true(rsc_machine_read_latencies(&machine, path));
    assert_int_equal(machine.latencies, RSC_LATENCIES_MEASURED);
    assert_true(machine.levels[0].cycles == 4.5 && machine.levels[2].cycles == 70 && machine.memory_cycles == 311.5);
    unlink(path);
}

static void nonsense_is_left_out(void **state) {
    (void)state;
    static const char *const sizes[] = {"", "K", "-5K", "5Q", "0K", "99999999999999999999K", "18014398509481984K"};
    struct rsc_machine machine;
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        put_cache(0, "1", "Data", sizes[i]);
        rsc_machine_read(&machine, root);
        assert_int_equal(machine.level_count, 2);
    }
    put_cache(0, "0", "Data", "32K");
    rsc_machine_read(&machine, root);
    assert_int_equal(machine.level_count, 2);
}

static void no_folder_no_levels(void **state) {
    (void)state;
    struct rsc_machine machine;
    rsc_machine_read(&machine, "/nonexistent");
    assert_int_equal(machine.level_count, 0);
}

static void this_machine_can_be_read(void **state) {
    (void)state;
    struct rsc_machine machine;
    rsc_machine_read(&machine, NULL);
    for (size_t i = 0; i < machine.level_count; i++) {
        assert_true(machine.levels[i].size_bytes > 0);
        if (i) assert_true(machine.levels[i].size_bytes >= machine.levels[i - 1].size_bytes);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(data_caches_are_found),    cmocka_unit_test(latencies_are_known),
        cmocka_unit_test(nonsense_is_left_out),     cmocka_unit_test(no_folder_no_levels),
        cmocka_unit_test(this_machine_can_be_read),
    };
    return cmocka_run_group_tests(tests, make_root, remove_root);
}
